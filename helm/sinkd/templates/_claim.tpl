{{/* (root, name, values) */}}
{{- define "sinkd.claim" -}}
{{- $root := index . 0 -}}
{{- with index . 2 -}}
apiVersion: v1
kind: PersistentVolumeClaim
metadata:
  name: {{ include "sinkd.fullname" $root }}-{{ index $ 1 }}
  labels: {{ include "sinkd.labels" (list $root "server") | nindent 4 }}
  annotations:
    helm.sh/resource-policy: keep
spec:
  accessModes: {{ toYaml (default (list "ReadWriteOnce") .accessModes) | nindent 4 }}
  {{- with .storageClass }}
  storageClassName: {{ quote . }}
  {{- end }}
  resources:
    requests:
      storage: {{ quote .size }}
{{- end -}}
{{- end -}}
