{{/* The pod of one component. Arguments: root, it. */}}

{{- define "pe.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "pe.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{- define "pe.pod" -}}
{{- $probed := ternary "metrics" "http" (ne "" (include "pe.wantsCertificate" .)) -}}
serviceAccountName: {{ include "pe.serviceAccount" .root }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .it.terminationGracePeriodSeconds | int }}
securityContext: {{- include "pe.podSecurity" . | nindent 2 }}
{{- with .root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
containers:
  - name: {{ ternary "caipe-supervisor" "agent" (eq .it.name "supervisor") }}
    image: {{ .it.image | default (include "pe.image" .root) | quote }}
    imagePullPolicy: {{ .root.Values.image.pullPolicy }}
    args: {{ .it.args | default (list "serve" .it.name) | toJson }}
    envFrom: {{- include "pe.envFrom" . | nindent 6 }}
    ports:
      - {name: http, containerPort: {{ .it.port | int }}, protocol: TCP}
      {{- with include "pe.metricsPort" . }}
      - {name: metrics, containerPort: {{ . }}, protocol: TCP}
      {{- end }}
    startupProbe:
      httpGet: {path: /healthz, port: {{ $probed }}}
      periodSeconds: 2
      failureThreshold: 60
    livenessProbe:
      httpGet: {path: /healthz, port: {{ $probed }}}
      periodSeconds: 10
      timeoutSeconds: 5
    readinessProbe:
      httpGet: {path: /readyz, port: {{ $probed }}}
      periodSeconds: 5
      timeoutSeconds: 5
    resources: {{- toYaml .it.resources | nindent 6 }}
    securityContext: {{- include "pe.containerSecurity" . | nindent 6 }}
    volumeMounts:
      - {name: data, mountPath: /data}
      - {name: tmp, mountPath: /tmp}
      {{- if include "pe.mtls" .root }}
      - {name: tls, mountPath: /tls, readOnly: true}
      {{- end }}
      {{- if .it.documents }}
      - {name: documents, mountPath: /documents, readOnly: true}
      {{- end }}
{{- if include "pe.several" .it }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{- include "pe.selector" (dict "root" .root "name" .it.name) | nindent 8 }}
{{- end }}
volumes: {{- include "pe.volumes" . | nindent 2 }}
{{- include "pe.placement" .it }}
{{- end -}}

{{/* Where a pod runs, and before which others. Argument: a component, or the defaults. */}}
{{- define "pe.placement" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{/* How a pod that runs to its end reaches others: the proxies and authorities of the pods' settings and secrets, as its env. */}}
{{- define "pe.reach" -}}
{{- $secret := include "pe.secretName" (dict "secrets" .Values.secrets "name" (include "pe.fullname" .)) -}}
{{- range $name := list "HTTP_PROXY" "HTTPS_PROXY" "ALL_PROXY" "SSL_CERT_FILE" "SSL_CERT_DIR" -}}
{{- $value := include "pe.valueOf" (dict "root" $ "it" dict "name" $name) }}
{{- if $value }}
- {name: {{ $name }}, value: {{ $value | quote }}}
{{- else if and $secret (hasSuffix "_PROXY" $name) }}
- {name: {{ $name }}, valueFrom: {secretKeyRef: {name: {{ $secret }}, key: {{ $name }}, optional: true}}}
{{- end }}
{{- end }}
- {name: NO_PROXY, value: {{ include "pe.noProxy" (dict "root" . "it" .Values.defaults) | quote }}}
{{- end -}}

{{- define "pe.envFrom" -}}
{{- $name := include "pe.name" (dict "root" .root "name" .it.name) -}}
- configMapRef: {name: {{ $name }}}
{{- with include "pe.database" .root }}
- secretRef: {name: {{ . }}}
{{- end }}
{{- with include "pe.encryption" .root }}
- secretRef: {name: {{ . }}}
{{- end }}
{{- with include "pe.secretName" (dict "secrets" .root.Values.secrets "name" (include "pe.fullname" .root)) }}
- secretRef: {name: {{ . }}}
{{- end }}
{{- with include "pe.secretName" (dict "secrets" .it.secrets "name" $name) }}
- secretRef: {name: {{ . }}}
{{- end }}
{{- end -}}

{{- define "pe.volumes" -}}
- name: data
  {{- if .it.storage.enabled }}
  persistentVolumeClaim:
    claimName: {{ .it.storage.existingClaim | default (include "pe.name" (dict "root" .root "name" .it.name)) }}
  {{- else }}
  emptyDir: {sizeLimit: {{ .it.storage.size }}}
  {{- end }}
- name: tmp
  emptyDir: {sizeLimit: 256Mi}
{{- with include "pe.mtls" .root }}
- name: tls
  secret: {secretName: {{ . }}, defaultMode: 0440}
{{- end }}
{{- with .it.documents }}
- name: documents
  {{- if .configMap }}
  configMap: {name: {{ .configMap }}}
  {{- else }}
  persistentVolumeClaim: {claimName: {{ .claim }}, readOnly: true}
  {{- end }}
{{- end }}
{{- end -}}
