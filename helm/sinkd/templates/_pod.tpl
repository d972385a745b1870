{{/* What Pod Security's level `restricted` requires of pods and containers, and a bit more. */}}
{{- define "sinkd.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
fsGroupChangePolicy: OnRootMismatch
seccompProfile: {type: RuntimeDefault}
{{- end -}}

{{- define "sinkd.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: {drop: [ALL]}
{{- end -}}

{{/* Service links would create variables SINKD_* from the names of services. */}}
{{- define "sinkd.podBasics" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext: {{ include "sinkd.podSecurity" . | nindent 2 }}
{{- end -}}

{{/* (root, path). The kubelet accepts any certificate and presents none; sinkd requires none on this path. */}}
{{- define "sinkd.probe" -}}
{{- if include "sinkd.probesByHttp" (index . 0) -}}
httpGet: {path: {{ index . 1 }}, port: http{{ if (index . 0).Values.tls.existingSecret }}, scheme: HTTPS{{ end }}}
{{- else -}}
grpc: {port: 50051}
{{- end -}}
{{- end -}}

{{/* The name that sinkctl connects to; it resolves to every server's address. */}}
{{- define "sinkd.target" -}}
dns:///{{ include "sinkd.host" . }}:50051
{{- end -}}

{{/* The name in the servers' certificates. */}}
{{- define "sinkd.host" -}}
{{ include "sinkd.fullname" . }}-headless.{{ .Release.Namespace }}.svc
{{- end -}}
