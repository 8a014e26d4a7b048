{{/* Names that are one letter away from a setting, each with a sentence. They may be settings of an agent of one's own, so that none is refused: for the same
reason values.schema.json takes any name here, and the service itself would warn only in the log of a pod that runs. */}}

{{- define "pe.slips" -}}
{{- $table := .Files.Get "setting-values.yaml" | fromYaml -}}
{{- $known := dict "NO_PROXY" "" "HTTP_PROXY" "" "HTTPS_PROXY" "" "ALL_PROXY" "" "SSL_CERT_FILE" "" "SSL_CERT_DIR" "" -}}
{{- $near := dict -}}
{{- range $rule := $table.settings -}}
{{- $_ := set $known $rule.name "" -}}
{{- range $form := include "pe.shortened" $rule.name | splitList " " -}}{{- $_ := set $near $form $rule.name -}}{{- end -}}
{{- end -}}
{{- range $level := include "pe.levels" . | fromYamlArray -}}
{{- range $name, $_ := $level.given -}}
{{- if not (hasKey $known $name) -}}
{{- $meant := "" -}}
{{- range $form := include "pe.shortened" $name | splitList " " -}}{{- $meant = get $near $form | default $meant -}}{{- end -}}
{{- if $meant }}
{{ $name }} in {{ $level.where }} is no setting of the service: {{ $meant }} was probably meant.
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* A name of six letters or more, and what is left of it without one of its letters: names that share one of these are a slip apart. */}}
{{- define "pe.shortened" -}}
{{- $name := . -}}
{{- $name -}}
{{- if ge (len $name) 6 -}}
{{- range $at := until (len $name) }} {{ substr 0 $at $name }}{{ substr (int (add1 $at)) (len $name) $name }}{{- end -}}
{{- end -}}
{{- end -}}
