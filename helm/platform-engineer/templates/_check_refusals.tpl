{{/* The rows of refusals.yaml that hold for the values, the first one refused with its sentence. */}}

{{- define "pe.checkRefusals" -}}
{{- $rows := .Files.Get "refusals.yaml" | required "The chart is not whole: refusals.yaml is missing." | fromYamlArray -}}
{{- range $it := (include "pe.components" . | fromYaml).components -}}
{{- $one := dict "root" $ "it" $it -}}
{{- $facts := include "pe.facts" $one | splitList " " -}}
{{- range $row := $rows -}}
{{- $value := include "pe.valueOf" (dict "root" $ "it" $it "name" $row.setting) -}}
{{- $concerns := or (not $row.of) (eq ($row.of | default "") $it.name) (hasKey (include "pe.told" $it.env | fromYaml) ($row.setting | default "")) -}}
{{- $set := or (not $row.setting) (and $value (or (not $row.values) (has (lower $value) $row.values))) -}}
{{- $mended := and $row.unless (include "pe.given" (dict "root" $ "it" $it "name" $row.unless)) -}}
{{- $missing := without ($row.when | default list) -}}
{{- range $fact := $facts -}}{{- $missing = without $missing $fact -}}{{- end -}}
{{- if and $concerns $set (not $mended) (not $missing) -}}{{- fail ($row.says | replace "{it}" $it.name | replace "{value}" $value) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What holds of a component, with spaces: the facts of refusals.yaml. Arguments: root, it. */}}
{{- define "pe.facts" -}}
{{- $facts := list (ternary "database" "files" (ne "" (include "pe.database" .root))) -}}
{{- if include "pe.several" .it -}}{{- $facts = append $facts "several" -}}{{- end -}}
{{- if not .it.storage.enabled -}}{{- $facts = append $facts "no-storage" -}}{{- end -}}
{{- if not (include "pe.encryption" .root) -}}{{- $facts = append $facts "no-encryption" -}}{{- end -}}
{{- if not (include "pe.known" .) -}}{{- $facts = append $facts "anonymous" -}}{{- end -}}
{{- if not (include "pe.valueOf" (dict "root" .root "it" .it "name" "AUTH_MODE")) -}}{{- $facts = append $facts "no-mode" -}}{{- end -}}
{{- range .root.Values.agents -}}{{- if hasKey . "exchange" -}}{{- $facts = append $facts "exchange" -}}{{- end -}}{{- end -}}
{{- join " " $facts -}}
{{- end -}}
