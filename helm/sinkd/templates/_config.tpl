{{/* A duration in sinkd's notation, 500ms or 2m, in whole seconds, rounded up. */}}
{{- define "sinkd.seconds" -}}
{{- $number := regexFind "^[0-9]+" . | int64 -}}
{{- $unit := regexFind "[a-z]+$" . -}}
{{- if eq $unit "ms" -}}
{{- div (add $number 999) 1000 -}}
{{- else -}}
{{- mul $number (get (dict "s" 1 "m" 60 "h" 3600) $unit) -}}
{{- end -}}
{{- end -}}

{{/* A value in the notation of sinkd's configuration file. Helm reads all numbers as floats. */}}
{{- define "sinkd.toml" -}}
{{- if kindIs "slice" . -}}
[{{ range $index, $each := . }}{{ if $index }}, {{ end }}{{ include "sinkd.toml" $each }}{{ end }}]
{{- else if kindIs "string" . -}}
"{{ . | replace "\\" "\\\\" | replace "\"" "\\\"" }}"
{{- else if kindIs "float64" . -}}
{{ int64 . }}
{{- else -}}
{{ . }}
{{- end -}}
{{- end -}}

{{/* The settings that the chart manages. */}}
{{- define "sinkd.ownConfig" -}}
listen: {{ if .Values.proxy.enabled }}127.0.0.1:{{ include "sinkd.proxyPort" . }}{{ else }}0.0.0.0:50051{{ end }}
http-listen: 0.0.0.0:9464
model-root: /models
state-dir: /var/lib/sinkd
{{- if .Values.tls.existingSecret }}
tls-cert: /etc/sinkd/tls/tls.crt
tls-key: /etc/sinkd/tls/tls.key
{{- if .Values.tls.clientCa }}
tls-client-ca: /etc/sinkd/tls/ca.crt
{{- end }}
{{- end }}
{{- if not (and .Values.tls.existingSecret (or .Values.tls.clientCa .Values.tokens.existingSecret)) }}
insecure-listen: true
{{- end }}
{{- if .Values.tokens.existingSecret }}
token-file: /etc/sinkd/tokens/{{ .Values.tokens.key }}
{{- end }}
{{- if eq .Values.store.kind "postgres" }}
store-url-file: /etc/sinkd/store/{{ .Values.store.postgres.key }}
{{- else }}
store: {{ .Values.store.kind | quote }}
{{- end }}
{{- end -}}

{{- define "sinkd.config" -}}
{{- $own := include "sinkd.ownConfig" . | fromYaml -}}
{{- $defaults := ternary (dict "device" "auto") (dict) (gt (int .Values.gpu.count) 0) -}}
{{- if .Values.proxy.enabled -}}
{{- /* All connections come from the address of the proxy. */ -}}
{{- $_ := set $defaults "max-connections-per-address" (default 1024 (get .Values.config "max-connections")) -}}
{{- end -}}
{{- range $key, $value := merge $own .Values.config $defaults }}
{{ $key }} = {{ include "sinkd.toml" $value }}
{{- end }}
{{- end -}}

{{- define "sinkd.gracePeriod" -}}
{{- $delay := include "sinkd.seconds" (get .Values.config "drain-delay") | int -}}
{{- $timeout := include "sinkd.seconds" (get .Values.config "drain-timeout") | int -}}
{{- add $delay $timeout .Values.terminationMarginSeconds -}}
{{- end -}}

{{- define "sinkd.probesByHttp" -}}
{{- with .Values -}}
{{- if or (eq .probes.protocol "http") (and (eq .probes.protocol "auto") (or .tls.existingSecret .proxy.enabled)) -}}
true
{{- end -}}
{{- end -}}
{{- end -}}
