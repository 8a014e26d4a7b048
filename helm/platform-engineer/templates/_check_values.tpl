{{/* Values that the settings classes refuse, by setting-values.yaml, which is made from them. All that are wrong are named at once. */}}

{{- define "pe.checkValues" -}}
{{- $table := .Files.Get "setting-values.yaml" | required "The chart is not whole: setting-values.yaml is missing." | fromYaml -}}
{{- $wrong := list -}}
{{- range $it := (include "pe.components" . | fromYaml).components -}}
{{- $one := dict "root" $ "it" $it -}}
{{- $env := include "pe.env" $one | fromYaml -}}
{{- $places := include "pe.places" $one | fromYaml -}}
{{- $replaced := include "pe.replaced" $one | fromYaml -}}
{{- range $rule := $table.settings -}}
{{- $text := get $env $rule.name | trim -}}
{{- $read := and (not $it.image) (or (not $rule.of) (has $rule.of ($it.args | default (list $it.name)))) -}}
{{- if and $rule.must $read $text (not (hasKey $replaced $rule.name)) -}}
{{- if include "pe.isWrong" (dict "rule" $rule "forms" $table.forms "text" $text) -}}
{{- $wrong = append $wrong (printf "%s is %q in %s, which the service refuses: it must be %s." $rule.name $text (get $places $rule.name | default "settings") $rule.must) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- with uniq $wrong -}}{{- fail (join "\n" .) -}}{{- end -}}
{{- end -}}

{{/* Whether a rule refuses a text; empty where not. Arguments: rule, forms, text. */}}
{{- define "pe.isWrong" -}}
{{- $rule := .rule -}}
{{- if or (not $rule.only) (mustRegexMatch $rule.only .text) -}}
{{- if not (mustRegexMatch ($rule.matches | default (get .forms ($rule.form | default ""))) .text) -}}true
{{- else -}}
{{- $number := .text | replace "_" "" | float64 -}}
{{- if and (hasKey $rule "ge") (lt $number (float64 $rule.ge)) -}}true{{- end -}}
{{- if and (hasKey $rule "gt") (le $number (float64 $rule.gt)) -}}true{{- end -}}
{{- if and (hasKey $rule "le") (gt $number (float64 $rule.le)) -}}true{{- end -}}
{{- if and (hasKey $rule "lt") (ge $number (float64 $rule.lt)) -}}true{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* What the pod of a component gets in place of its settings: what the chart decides, and its secrets. As YAML. Arguments: root, it. */}}
{{- define "pe.replaced" -}}
{{- $all := include "pe.wiring" . | fromYaml -}}
{{- range $secrets := list .root.Values.secrets .it.secrets -}}
{{- $secrets = $secrets | default dict -}}
{{- range $name, $_ := merge dict ($secrets.values | default dict) (dig "external" "keys" dict $secrets) -}}{{- $_ := set $all $name "" -}}{{- end -}}
{{- end -}}
{{- toYaml $all -}}
{{- end -}}

{{/* Where the settings of a component stand in the values, by name; those that are not here stand in `settings`. As YAML. Arguments: root, it. */}}
{{- define "pe.places" -}}
{{- $level := ternary "supervisor.env" (printf "env of agent %s" .it.name) (eq .it.name "supervisor") -}}
{{- $own := .root.Values.supervisor.env -}}
{{- range .root.Values.agents -}}{{- if eq .name $.it.name -}}{{- $own = .env -}}{{- end -}}{{- end -}}
{{- $places := dict -}}
{{- range $name, $value := .root.Values.defaults.env | default dict -}}{{- if not (kindIs "invalid" $value) -}}{{- $_ := set $places $name "defaults.env" -}}{{- end -}}{{- end -}}
{{- range $name, $value := $own | default dict -}}{{- if not (kindIs "invalid" $value) -}}{{- $_ := set $places $name $level -}}{{- end -}}{{- end -}}
{{- toYaml $places -}}
{{- end -}}
