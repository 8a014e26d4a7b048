{{/* Names. Each resource is called RELEASE-scoped, so that two releases stand in one namespace. */}}

{{- define "pe.fullname" -}}
{{- $name := .Release.Name -}}
{{- if not (contains .Chart.Name $name) -}}{{- $name = printf "%s-%s" $name .Chart.Name -}}{{- end -}}
{{- /* An agent's name of up to 32 characters follows; a cut name stays unique by its hash. */ -}}
{{- if gt (len $name) 29 -}}{{- $name = printf "%s-%s" (trunc 20 $name | trimSuffix "-") (sha256sum $name | trunc 8) -}}{{- end -}}
{{- $name -}}
{{- end -}}

{{- define "pe.name" -}}
{{- printf "%s-%s" (include "pe.fullname" .root) .name -}}
{{- end -}}

{{- define "pe.selector" -}}
app.kubernetes.io/name: {{ .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end -}}

{{- define "pe.labels" -}}
{{ include "pe.selector" . }}
app.kubernetes.io/part-of: platform-engineer
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end -}}

{{- define "pe.serviceAccount" -}}
{{- if .Values.serviceAccount.create -}}
{{- .Values.serviceAccount.name | default (include "pe.fullname" .) -}}
{{- else -}}
{{- .Values.serviceAccount.name | default "default" -}}
{{- end -}}
{{- end -}}

{{- define "pe.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}
