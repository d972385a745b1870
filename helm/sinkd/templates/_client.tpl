{{/* How sinkctl calls: address, certificates and token, as flags. */}}
{{- define "sinkd.clientFlags" -}}
- --server={{ include "sinkd.target" . }}
- --quiet
{{- end -}}

{{- define "sinkd.clientMounts" -}}
- {name: tmp, mountPath: /tmp}
{{- end -}}

{{- define "sinkd.clientVolumes" -}}
- name: tmp
  emptyDir: {}
{{- end -}}
