{{/* Mistakes that a schema cannot see, each refused with a sentence. */}}

{{- define "pe.check" -}}
{{- if not .Values.agents -}}{{- fail "`agents` is empty: the supervisor needs at least one agent to delegate to." -}}{{- end -}}
{{- include "pe.checkClear" . -}}
{{- $names := dict -}}
{{- range .Values.agents -}}
{{- if hasKey $names .name -}}{{- fail (printf "Two agents are called %q; each name may stand once in `agents`." .name) -}}{{- end -}}
{{- $_ := set $names .name true -}}
{{- if has .name (list "migrate" "test") -}}{{- fail (printf "An agent cannot be called %q: that is the name of a pod of the chart's own." .name) -}}{{- end -}}
{{- if eq .name "supervisor" -}}{{- fail "An agent cannot be called \"supervisor\": that is the name of the pod that delegates to it." -}}{{- end -}}
{{- if and .url .port -}}{{- fail (printf "Agent %q has a url and a port: one with a url runs elsewhere and gets no pod; remove one of them." .name) -}}{{- end -}}
{{- if not (or .url .port) -}}{{- fail (printf "Agent %q needs a port, or the url of one that runs elsewhere." .name) -}}{{- end -}}
{{- if and (hasKey . "exchange") (not .url) -}}{{- fail (printf "Agent %q has exchange and no url: the supervisor signs tokens for the agents that the chart runs." .name) -}}{{- end -}}
{{- include "pe.checkSecrets" (dict "secrets" .secrets "where" (printf "agent %s" .name)) -}}
{{- with .documents -}}{{- if and .configMap .claim -}}{{- fail "`documents` takes a configMap or a claim, not both." -}}{{- end -}}{{- end -}}
{{- end -}}
{{- include "pe.checkSecrets" (dict "secrets" .Values.secrets "where" "every pod") -}}
{{- include "pe.checkSecrets" (dict "secrets" .Values.supervisor.secrets "where" "the supervisor") -}}
{{- include "pe.checkValues" . -}}
{{- range $it := (include "pe.components" . | fromYaml).components -}}
{{- if and (gt (int $it.replicas) 1) (not (include "pe.database" $)) -}}{{- fail (printf "%s cannot have %d replicas: its tasks and conversations are in files of one pod, and a second one would not see them. Set database.existing or database.url, or leave replicas at 1." $it.name (int $it.replicas)) -}}{{- end -}}
{{- if and (gt (int $it.replicas) 1) $it.storage.enabled -}}{{- fail (printf "%s cannot have %d replicas on one volume: each needs a folder of its own, which holds nothing that the database does not hold or that is not made again. Set storage.enabled to false for it." $it.name (int $it.replicas)) -}}{{- end -}}
{{- with $it.autoscaling -}}{{- if .enabled -}}
{{- if not (include "pe.database" $) -}}{{- fail (printf "%s cannot be scaled: its tasks and conversations are in files of one pod, and a second one would not see them. Set database.existing or database.url, or autoscaling.enabled to false." $it.name) -}}{{- end -}}
{{- if $it.storage.enabled -}}{{- fail (printf "%s cannot be scaled on one volume: each replica needs a folder of its own. Set storage.enabled to false for it." $it.name) -}}{{- end -}}
{{- if gt (int .minReplicas) (int .maxReplicas) -}}{{- fail (printf "%s has autoscaling.minReplicas (%v) over autoscaling.maxReplicas (%v); raise the second one." $it.name .minReplicas .maxReplicas) -}}{{- end -}}
{{- end -}}{{- end -}}
{{- include "pe.checkEnd" (dict "root" $ "it" $it) -}}
{{- $told := mergeOverwrite (include "pe.told" $.Values.settings | fromYaml) (include "pe.told" $it.env | fromYaml) -}}
{{- range $name := list "HOST" "PORT" "PUBLIC_URL" "SUB_AGENTS" "SUB_AGENTS_SHARES" "SUB_AGENTS_TRUST" "SUB_AGENTS_EXCHANGE" "ALLOWED_HOSTS" "PLATFORM_ENGINEER_HOME" "TLS_CERT_FILE" "TLS_KEY_FILE" "TLS_CLIENT_CA_FILE" "TLS_CLIENT_CERT_FILE" "TLS_CLIENT_KEY_FILE" "TLS_CA_FILE" -}}
{{- if hasKey $told $name -}}{{- fail (printf "%s cannot be set by hand: the chart sets it for each pod, from names, ports, the ingress and mtls." $name) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- if and .Values.database.existing .Values.database.url -}}{{- fail "The database is given in two ways (existing, url); choose one." -}}{{- end -}}
{{- if and .Values.encryption.existing .Values.encryption.keys -}}{{- fail "The keys of encryption are given in two ways (existing, keys); choose one." -}}{{- end -}}
{{- include "pe.checkCallers" . -}}
{{- include "pe.checkRefusals" . -}}
{{- include "pe.checkPorts" . -}}
{{- $scraped := or .Values.metrics.annotations .Values.metrics.serviceMonitor.enabled -}}
{{- if and .Values.metrics.annotations .Values.metrics.serviceMonitor.enabled -}}{{- fail "Metrics are announced in two ways (annotations, serviceMonitor), and would be counted twice; choose one." -}}{{- end -}}
{{- if and $scraped .Values.networkPolicy.enabled (not .Values.metrics.from) (not .Values.networkPolicy.agentsFrom) -}}{{- fail "Metrics are announced, but the network policies let nobody but the supervisor reach the agents: set metrics.from to your Prometheus." -}}{{- end -}}
{{- if and .Values.ingress.enabled (not .Values.ingress.host) -}}{{- fail "The ingress needs a host: set ingress.host to the name that clients use." -}}{{- end -}}
{{- $known := include "pe.known" (dict "root" . "it" (mergeOverwrite (deepCopy .Values.defaults) (deepCopy .Values.supervisor))) -}}
{{- if and .Values.ingress.enabled (not $known) (not .Values.ingress.allowUnauthenticated) -}}{{- fail "The ingress would let everybody in who reaches it, since AUTH_MODE is none. Set settings.AUTH_MODE to api-key or oidc, or ingress.allowUnauthenticated to true where something before it knows its callers." -}}{{- end -}}
{{- if and (not .Values.ingress.enabled) .Values.ingress.host -}}{{- fail "ingress.host is set but the ingress is off: set ingress.enabled=true, or remove the host." -}}{{- end -}}
{{- end -}}

{{/* Kubernetes kills a pod that has not ended by itself; the last part is CLEANUP_SECONDS of utils/processes/last_moment.py. */}}
{{- define "pe.checkEnd" -}}
{{- $pause := include "pe.valueOf" (dict "root" .root "it" .it "name" "SHUTDOWN_PAUSE_SECONDS") | default "1" | replace "_" "" | float64 -}}
{{- $grace := include "pe.valueOf" (dict "root" .root "it" .it "name" "SHUTDOWN_GRACE_SECONDS") | default "5" | replace "_" "" | float64 -}}
{{- $last := 10.0 -}}
{{- $longest := addf $pause $grace $last -}}
{{- if le (float64 .it.terminationGracePeriodSeconds) $longest -}}{{- fail (printf "%s is killed after terminationGracePeriodSeconds (%v), while it may need SHUTDOWN_PAUSE_SECONDS, SHUTDOWN_GRACE_SECONDS and %v more (%v, %v and %v) to stop in order. Set terminationGracePeriodSeconds higher than %v." .it.name .it.terminationGracePeriodSeconds $last $pause $grace $last $longest) -}}{{- end -}}
{{- end -}}

{{- define "pe.checkCallers" -}}
{{- range $name := list "AUTH_SERVICE_KEY" "AUTH_EXCHANGE_CLIENT_SECRET" -}}
{{- if or (hasKey ($.Values.secrets.values | default dict) $name) (hasKey (dig "external" "keys" dict $.Values.secrets) $name) -}}{{- fail (printf "%s would reach every agent: set it under supervisor.secrets." $name) -}}{{- end -}}
{{- end -}}
{{- $all := (include "pe.components" . | fromYaml).components -}}
{{- if gt (len $all) 1 -}}
{{- range $it := $all -}}
{{- $variable := ternary "AUTH_SERVICE_KEY" "AUTH_SERVICE_PUBLIC_KEY" (eq $it.name "supervisor") -}}
{{- $mode := include "pe.known" (dict "root" $ "it" $it) -}}
{{- if and $mode (not (include "pe.given" (dict "root" $ "it" $it "name" $variable))) -}}{{- fail (printf "AUTH_MODE is %s, and %s has no %s, so that the agents would refuse the supervisor. `platform-engineer keys service` prints AUTH_SERVICE_KEY for supervisor.secrets and AUTH_SERVICE_PUBLIC_KEY for settings." $mode $it.name $variable) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* Settings and env become ConfigMaps, so that no secret may stand there. secret-settings.yaml is made from the settings classes. */}}
{{- define "pe.checkClear" -}}
{{- $secret := .Files.Get "secret-settings.yaml" | required "The chart is not whole: secret-settings.yaml is missing." | fromYamlArray -}}
{{- $ways := dict "DATABASE_URL" "database.existing or database.url" "ENCRYPTION_KEYS" "encryption.existing or encryption.keys" "AUTH_SERVICE_KEY" "supervisor.secrets" "AUTH_EXCHANGE_CLIENT_SECRET" "supervisor.secrets" -}}
{{- range $level := include "pe.levels" . | fromYamlArray -}}
{{- if hasKey $level.given "ENCRYPTION_KEYS_FILE" -}}{{- fail (printf "ENCRYPTION_KEYS_FILE cannot stand in %s: set encryption.existing or encryption.keys." $level.where) -}}{{- end -}}
{{- range $name := list "HTTP_PROXY" "HTTPS_PROXY" "ALL_PROXY" -}}
{{- if regexMatch "^([a-zA-Z0-9+.-]+://)?[^/@]*:[^/@]*@" (get $level.given $name) -}}{{- fail (printf "%s has a password and cannot stand in %s, which everybody reads who may read a ConfigMap: set %s (existing, values or external)." $name $level.where $level.way) -}}{{- end -}}
{{- end -}}
{{- range $name := $secret -}}
{{- if hasKey $level.given $name -}}{{- fail (printf "%s cannot stand in %s, which everybody reads who may read a ConfigMap: set %s." $name $level.where (get $ways $name | default (printf "%s (existing, values or external)" $level.way))) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "pe.checkSecrets" -}}
{{- $secrets := .secrets | default dict -}}
{{- $external := $secrets.external | default dict -}}
{{- $ways := list -}}
{{- if $secrets.existing -}}{{- $ways = append $ways "existing" -}}{{- end -}}
{{- if $secrets.values -}}{{- $ways = append $ways "values" -}}{{- end -}}
{{- if or $external.store $external.keys -}}{{- $ways = append $ways "external" -}}{{- end -}}
{{- if gt (len $ways) 1 -}}{{- fail (printf "The secrets of %s are given in two ways (%s); choose one." .where (join ", " $ways)) -}}{{- end -}}
{{- if and $external.keys (not $external.store) -}}{{- fail (printf "The external secrets of %s name keys but no store; set external.store to your SecretStore." .where) -}}{{- end -}}
{{- if and $external.store (not $external.keys) -}}{{- fail (printf "The external secrets of %s name a store but no keys; say which variables come from it." .where) -}}{{- end -}}
{{- end -}}
