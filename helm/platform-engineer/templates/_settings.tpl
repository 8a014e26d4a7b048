{{/* What a component is given by `settings` and `env`, resolved in one place. */}}

{{/* A value as the text that a process reads. A whole number of a values file arrives as a float, which would print as 4.194304e+06. */}}
{{- define "pe.text" -}}
{{- if and (kindIs "float64" .) (eq . (floor .)) -}}{{- printf "%.0f" . -}}{{- else -}}{{- toString . -}}{{- end -}}
{{- end -}}

{{/* A map of settings without those that are null, which are not set: YAML of {NAME: "text"}. */}}
{{- define "pe.told" -}}
{{- $told := dict -}}
{{- range $name, $value := . -}}
{{- if not (kindIs "invalid" $value) -}}{{- $_ := set $told $name (include "pe.text" $value) -}}{{- end -}}
{{- end -}}
{{- toYaml $told -}}
{{- end -}}

{{/* The settings of a component, its own over those of every pod; null takes away what every pod has. As YAML. Arguments: root, it. */}}
{{- define "pe.env" -}}
{{- $own := .it.env | default dict -}}
{{- $all := mergeOverwrite (include "pe.told" .root.Values.settings | fromYaml) (include "pe.told" $own | fromYaml) -}}
{{- range $name, $value := $own -}}
{{- if kindIs "invalid" $value -}}{{- $_ := unset $all $name -}}{{- end -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* What a setting of a component is, as text; empty where it is not set. Arguments: root, it, name. */}}
{{- define "pe.valueOf" -}}
{{- with .name -}}{{- get (include "pe.env" $ | fromYaml) . | trim -}}{{- end -}}
{{- end -}}

{{/* All variables of a component's ConfigMap: its settings, and what the chart decides. Arguments: root, it. */}}
{{- define "pe.settings" -}}
{{- range $name, $value := mergeOverwrite (include "pe.env" . | fromYaml) (include "pe.wiring" . | fromYaml) }}
{{ $name }}: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* Every place of settings: as YAML a list of `where` it stands, what is `given` there, and `way`, where its secrets belong. */}}
{{- define "pe.levels" -}}
{{- $levels := list (dict "where" "settings" "given" .Values.settings "way" "secrets") -}}
{{- $levels = append $levels (dict "where" "defaults.env" "given" .Values.defaults.env "way" "secrets") -}}
{{- $levels = append $levels (dict "where" "supervisor.env" "given" .Values.supervisor.env "way" "supervisor.secrets") -}}
{{- range .Values.agents -}}{{- $levels = append $levels (dict "where" (printf "env of agent %s" .name) "given" .env "way" (printf "secrets of agent %s" .name)) -}}{{- end -}}
{{- range $level := $levels -}}{{- $_ := set $level "given" (include "pe.told" $level.given | fromYaml) -}}{{- end -}}
{{- toYaml $levels -}}
{{- end -}}
