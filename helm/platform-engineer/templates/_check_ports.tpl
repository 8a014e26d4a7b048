{{/* Ports that nobody could listen at or reach, each refused with a sentence. */}}

{{- define "pe.checkPorts" -}}
{{- range $it := (include "pe.components" . | fromYaml).components -}}
{{- $metrics := include "pe.metricsPort" (dict "root" $ "it" $it) -}}
{{- if eq $metrics (toString (int $it.port)) -}}{{- fail (printf "metrics.port is %s, where %s has its own port: a pod cannot listen there twice. Set another metrics.port." $metrics $it.name) -}}{{- end -}}
{{- $grpc := include "pe.valueOf" (dict "root" $ "it" $it "name" "GRPC_PORT") -}}
{{- if and $grpc $.Values.networkPolicy.enabled -}}{{- fail (printf "GRPC_PORT is set for %s, and nothing leads to it: the chart's services and network policies know the HTTP port alone, where JSON-RPC and HTTP+JSON are answered. Remove it, or set networkPolicy.enabled to false and make a Service for it." $it.name) -}}{{- end -}}
{{- end -}}
{{- if and .Values.database.url .Values.networkPolicy.enabled .Values.networkPolicy.restrictEgress -}}
{{- $open := list -}}
{{- range .Values.networkPolicy.egressPorts -}}{{- $open = append $open (toString (int .)) -}}{{- end -}}
{{- range $port := splitList " " (include "pe.databasePorts" .) -}}
{{- if and $port (not (has $port $open)) -}}{{- fail (printf "The database is at port %s, which networkPolicy.egressPorts does not name, so that no pod would reach it. Add it there." $port) -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}

{{/* The ports of database.url, one for each host. A socket, and hosts and ports that stand in its query, are not looked at. */}}
{{- define "pe.databasePorts" -}}
{{- $url := .Values.database.url -}}
{{- $hosts := regexReplaceAll "^[a-z]+://([^@/?]*@)?([^/?]*).*$" $url "${2}" -}}
{{- $ports := list -}}
{{- if and $hosts (not (regexMatch "[?&](host|hostaddr|port)=" $url)) -}}
{{- range splitList "," $hosts -}}{{- $ports = append $ports (regexFind ":[0-9]+$" . | default ":5432" | trimPrefix ":") -}}{{- end -}}
{{- end -}}
{{- join " " (uniq $ports) -}}
{{- end -}}
