{{/* What Pod Security's level `restricted` asks of pods and containers, and a bit more. */}}
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

{{/* Service links would make variables SINKD_* out of the names of services. */}}
{{- define "sinkd.podBasics" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .Values.imagePullSecrets }}
imagePullSecrets: {{ toYaml . | nindent 2 }}
{{- end }}
securityContext: {{ include "sinkd.podSecurity" . | nindent 2 }}
{{- end -}}

{{/* (root, path). The kubelet takes any certificate, and shows none: sinkd asks for none there. */}}
{{- define "sinkd.probe" -}}
{{- if include "sinkd.probesByHttp" (index . 0) -}}
httpGet: {path: {{ index . 1 }}, port: http{{ if (index . 0).Values.tls.existingSecret }}, scheme: HTTPS{{ end }}}
{{- else -}}
grpc: {port: 50051}
{{- end -}}
{{- end -}}

{{/* Where sinkctl calls: every server's own address behind one name. */}}
{{- define "sinkd.target" -}}
dns:///{{ include "sinkd.host" . }}:50051
{{- end -}}

{{/* The name that certificates of servers hold. */}}
{{- define "sinkd.host" -}}
{{ include "sinkd.fullname" . }}-headless.{{ .Release.Namespace }}.svc
{{- end -}}
