{{/* What runs: the supervisor and every agent without a url, over the defaults. As YAML: {components: […]}. */}}

{{- define "pe.components" -}}
{{- $all := list (mergeOverwrite (deepCopy .Values.defaults) (deepCopy .Values.supervisor) (dict "name" "supervisor")) -}}
{{- range .Values.agents -}}
{{- if not .url -}}{{- $all = append $all (mergeOverwrite (deepCopy $.Values.defaults) (deepCopy .)) -}}{{- end -}}
{{- end -}}
{{- toYaml (dict "components" $all) -}}
{{- end -}}

{{/* Whether a component may have more than one pod; empty where not. */}}
{{- define "pe.several" -}}
{{- if or .autoscaling.enabled (gt (int .replicas) 1) -}}true{{- end -}}
{{- end -}}

{{/* Where the supervisor reaches an agent of the chart. Arguments: root, it. */}}
{{- define "pe.agentUrl" -}}
{{- printf "%s://%s:%d" (ternary "https" "http" (ne "" (include "pe.mtls" .root))) (include "pe.name" (dict "root" .root "name" .it.name)) (int .it.port) -}}
{{- end -}}

{{/* The Secret's name with the certificate that pods show each other; empty without mutual TLS. */}}
{{- define "pe.mtls" -}}
{{- (.Values.mtls | default dict).existingSecret -}}
{{- end -}}

{{/* Whether a component lets in only who has a certificate: an agent does, people reach the supervisor. Arguments: root, it. */}}
{{- define "pe.wantsCertificate" -}}
{{- if and (include "pe.mtls" .root) (ne .it.name "supervisor") -}}true{{- end -}}
{{- end -}}

{{/* name=url of every agent, for SUB_AGENTS. */}}
{{- define "pe.subAgents" -}}
{{- $pairs := list -}}
{{- range .Values.agents -}}
{{- $url := .url | default (include "pe.agentUrl" (dict "root" $ "it" .)) -}}
{{- $pairs = append $pairs (printf "%s=%s" .name $url) -}}
{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{/* name=shares of every agent, for SUB_AGENTS_SHARES: results for our own pods, nothing for those that run elsewhere. */}}
{{- define "pe.shares" -}}
{{- $pairs := list -}}
{{- range .Values.agents -}}
{{- $pairs = append $pairs (printf "%s=%s" .name (.shares | default (ternary "nothing" "results" (hasKey . "url")))) -}}
{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{/* name=trust of every agent, for SUB_AGENTS_TRUST: our own pods, and those that run elsewhere. */}}
{{- define "pe.trust" -}}
{{- $pairs := list -}}
{{- range .Values.agents -}}
{{- $pairs = append $pairs (printf "%s=%s" .name (ternary "foreign" "own" (hasKey . "url"))) -}}
{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{/* name=audience scope … of every agent that is asked with an exchanged token, for SUB_AGENTS_EXCHANGE. */}}
{{- define "pe.exchange" -}}
{{- $pairs := list -}}
{{- range .Values.agents -}}
{{- if hasKey . "exchange" -}}
{{- $pairs = append $pairs (printf "%s=%s" .name (printf "%s %s" (.exchange.audience | default "") (.exchange.scope | default "") | trim)) -}}
{{- end -}}
{{- end -}}
{{- join "," $pairs -}}
{{- end -}}

{{/* The address that clients reach the supervisor at; its card names it. */}}
{{- define "pe.publicUrl" -}}
{{- if .Values.supervisor.publicUrl -}}
{{- .Values.supervisor.publicUrl | trimSuffix "/" -}}
{{- else if .Values.ingress.enabled -}}
{{- printf "%s://%s" (ternary "https" "http" (ne .Values.ingress.tlsSecret "")) .Values.ingress.host -}}
{{- else -}}
{{- printf "http://%s.%s.svc:%d" (include "pe.name" (dict "root" . "name" "supervisor")) .Release.Namespace (int .Values.supervisor.port) -}}
{{- end -}}
{{- end -}}

{{/* Names of a service besides its public URL. */}}
{{- define "pe.hosts" -}}
{{- $name := include "pe.name" . -}}
{{- $space := .root.Release.Namespace -}}
{{- $hosts := list $name (printf "%s.%s" $name $space) (printf "%s.%s.svc" $name $space) (printf "%s.%s.svc.cluster.local" $name $space) -}}
{{- join "," (concat $hosts (.extra | default list)) -}}
{{- end -}}

{{/* The Secret's name of a set of secrets; empty when there is none. Arguments: root, secrets, name. */}}
{{- define "pe.secretName" -}}
{{- $secrets := .secrets | default dict -}}
{{- if $secrets.existing -}}
{{- $secrets.existing -}}
{{- else if or $secrets.values (($secrets.external | default dict).store) -}}
{{- printf "%s-secrets" .name -}}
{{- end -}}
{{- end -}}

{{/* NO_PROXY of a pod: what its settings say, and the services of the release. Arguments: root, it. */}}
{{- define "pe.noProxy" -}}
{{- $given := include "pe.valueOf" (dict "root" .root "it" .it "name" "NO_PROXY") -}}
{{- $supervisor := include "pe.name" (dict "root" .root "name" "supervisor") -}}
{{- $hosts := list (printf "%s.%s.svc" $supervisor .root.Release.Namespace) -}}
{{- range (include "pe.components" .root | fromYaml).components -}}
{{- $hosts = append $hosts (include "pe.name" (dict "root" $.root "name" .name)) -}}
{{- end -}}
{{- join "," (concat (without (list $given) "") $hosts) -}}
{{- end -}}

{{/* Variables that the chart decides. Arguments: root, it. */}}
{{- define "pe.wiring" -}}
HOST: "0.0.0.0"
PORT: {{ .it.port | int | quote }}
PLATFORM_ENGINEER_HOME: /data
NO_PROXY: {{ include "pe.noProxy" . | quote }}
{{- with include "pe.metricsPort" . }}
METRICS_PORT: {{ . | quote }}
{{- end }}
{{- if not .it.web.enabled }}
WEB_PAGE: "false"
{{- end }}
{{- if eq .it.name "supervisor" }}
PUBLIC_URL: {{ include "pe.publicUrl" .root | quote }}
ALLOWED_HOSTS: {{ include "pe.hosts" (dict "root" .root "name" "supervisor" "extra" .it.allowedHosts) | quote }}
SUB_AGENTS: {{ include "pe.subAgents" .root | quote }}
SUB_AGENTS_SHARES: {{ include "pe.shares" .root | quote }}
SUB_AGENTS_TRUST: {{ include "pe.trust" .root | quote }}
{{- with include "pe.exchange" .root }}
SUB_AGENTS_EXCHANGE: {{ . | quote }}
{{- end }}
{{- if include "pe.mtls" .root }}
TLS_CLIENT_CERT_FILE: /tls/tls.crt
TLS_CLIENT_KEY_FILE: /tls/tls.key
TLS_CA_FILE: /tls/ca.crt
{{- end }}
{{- else }}
PUBLIC_URL: {{ include "pe.agentUrl" . | quote }}
{{- if include "pe.mtls" .root }}
TLS_CERT_FILE: /tls/tls.crt
TLS_KEY_FILE: /tls/tls.key
TLS_CLIENT_CA_FILE: /tls/ca.crt
{{- end }}
{{- if and .it.documents (not (hasKey (include "pe.told" .it.env | fromYaml) "RAG_SOURCES")) }}
RAG_SOURCES: /documents
{{- end }}
{{- end }}
{{- end -}}

{{/* How a component knows its callers; empty where everybody may call. Arguments: root, it. */}}
{{- define "pe.known" -}}
{{- $mode := include "pe.valueOf" (dict "root" .root "it" .it "name" "AUTH_MODE") -}}
{{- if ne $mode "none" -}}{{- $mode -}}{{- end -}}
{{- end -}}

{{/*
The port that serves the metrics and the probes alone, in plain HTTP: where Prometheus looks for metrics and callers have to be
known, and with mutual TLS, since neither it nor the kubelet has a certificate. Else empty. Arguments: root, it.
*/}}
{{- define "pe.metricsPort" -}}
{{- $metrics := .root.Values.metrics -}}
{{- $scraped := or $metrics.annotations $metrics.serviceMonitor.enabled -}}
{{- if or (include "pe.mtls" .root) (and $scraped (include "pe.known" .)) -}}{{- $metrics.port | int -}}{{- end -}}
{{- end -}}

{{/* Whether a component is given a variable, or may be: a Secret of yours cannot be seen. Arguments: root, it, name. */}}
{{- define "pe.given" -}}
{{- $given := ne "" (include "pe.valueOf" .) -}}
{{- $name := .name -}}
{{- range $secrets := list .root.Values.secrets .it.secrets -}}
{{- $secrets = $secrets | default dict -}}
{{- if or $secrets.existing (hasKey ($secrets.values | default dict) $name) (hasKey (dig "external" "keys" dict $secrets) $name) -}}{{- $given = true -}}{{- end -}}
{{- end -}}
{{- if $given -}}true{{- end -}}
{{- end -}}

{{/* The Secret's name with DATABASE_URL; empty where pods keep files. */}}
{{- define "pe.database" -}}
{{- if .Values.database.existing -}}
{{- .Values.database.existing -}}
{{- else if .Values.database.url -}}
{{- printf "%s-database" (include "pe.fullname" .) -}}
{{- end -}}
{{- end -}}

{{/* The Secret's name with ENCRYPTION_KEYS; empty where nothing is encrypted. */}}
{{- define "pe.encryption" -}}
{{- if .Values.encryption.existing -}}
{{- .Values.encryption.existing -}}
{{- else if .Values.encryption.keys -}}
{{- printf "%s-encryption" (include "pe.fullname" .) -}}
{{- end -}}
{{- end -}}
