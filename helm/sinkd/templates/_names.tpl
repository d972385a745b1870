{{- define "sinkd.fullname" -}}
{{- $name := default .Chart.Name .Values.nameOverride -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 48 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 48 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 48 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{/* (root, component): labels that select pods; Prometheus selects sinkd by the name label. */}}
{{- define "sinkd.selector" -}}
app.kubernetes.io/name: sinkd
app.kubernetes.io/instance: {{ (index . 0).Release.Name }}
app.kubernetes.io/component: {{ index . 1 }}
{{- end -}}

{{/* (root, component). Not for pods: a new chart version would then replace them. */}}
{{- define "sinkd.labels" -}}
{{- $root := index . 0 -}}
helm.sh/chart: {{ printf "%s-%s" $root.Chart.Name $root.Chart.Version | replace "+" "_" }}
app.kubernetes.io/managed-by: {{ $root.Release.Service }}
app.kubernetes.io/version: {{ $root.Chart.AppVersion | quote }}
{{ include "sinkd.selector" . }}
{{- end -}}

{{/* (root, image, suffix of the default version) */}}
{{- define "sinkd.image" -}}
{{- $root := index . 0 -}}
{{- with index . 1 -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ default (print $root.Chart.AppVersion (index $ 2)) .tag }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "sinkd.serviceAccount" -}}
{{- $made := ternary (include "sinkd.fullname" .) "default" .Values.serviceAccount.create -}}
{{- default $made .Values.serviceAccount.name -}}
{{- end -}}

{{- define "sinkd.modelClaim" -}}
{{- default (ternary (printf "%s-models" (include "sinkd.fullname" .)) "" .Values.models.claim.create) .Values.models.existingClaim -}}
{{- end -}}

{{- define "sinkd.stateClaim" -}}
{{- with .Values.store.sqlite -}}
{{- default (ternary (printf "%s-state" (include "sinkd.fullname" $)) "" .claim.create) .existingClaim -}}
{{- end -}}
{{- end -}}

{{/* (root, protocol): the port's protocol for service meshes and gateways. */}}
{{- define "sinkd.appProtocol" -}}
{{- ternary "https" (index . 1) (not (empty (index . 0).Values.tls.existingSecret)) -}}
{{- end -}}

{{/* The label that lets a pod through the network policy. */}}
{{- define "sinkd.clientLabel" -}}
{{ include "sinkd.fullname" . }}-client: "true"
{{- end -}}
