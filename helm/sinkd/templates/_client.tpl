{{/* How sinkctl connects: address, certificates and token. */}}
{{- define "sinkd.clientFlags" -}}
- --server={{ include "sinkd.target" . }}
- --quiet
{{- if .Values.tls.existingSecret }}
- --tls-ca=/etc/sinkctl/tls/ca.crt
{{- if .Values.client.tls.existingSecret }}
- --tls-cert=/etc/sinkctl/tls/tls.crt
- --tls-key=/etc/sinkctl/tls/tls.key
{{- end }}
{{- end }}
{{- if .Values.client.token.existingSecret }}
- {{ printf "--token-file=/etc/sinkctl/token/%s" .Values.client.token.key | quote }}
{{- if not .Values.tls.existingSecret }}
- --insecure-token
{{- end }}
{{- end }}
{{- end -}}

{{- define "sinkd.clientMounts" -}}
- {name: tmp, mountPath: /tmp}
{{- if .Values.tls.existingSecret }}
- {name: tls, mountPath: /etc/sinkctl/tls, readOnly: true}
{{- end }}
{{- if .Values.client.token.existingSecret }}
- {name: token, mountPath: /etc/sinkctl/token, readOnly: true}
{{- end }}
{{- end -}}

{{/* From the servers' secret, clients get only the certificate that verifies servers, not the key. */}}
{{- define "sinkd.clientVolumes" -}}
- name: tmp
  emptyDir: {}
{{- if .Values.tls.existingSecret }}
- name: tls
  secret:
    defaultMode: 0440
    {{- if .Values.client.tls.existingSecret }}
    secretName: {{ .Values.client.tls.existingSecret | quote }}
    {{- else }}
    secretName: {{ .Values.tls.existingSecret | quote }}
    items: [{key: ca.crt, path: ca.crt}]
    {{- end }}
{{- end }}
{{- if .Values.client.token.existingSecret }}
- name: token
  secret: {secretName: {{ .Values.client.token.existingSecret | quote }}, defaultMode: 0440}
{{- end }}
{{- end -}}
