{{/* Checks that a schema cannot express: values that require or exclude each other. */}}
{{- define "sinkd.check" -}}
{{- with .Values -}}
{{- range $key, $value := .config -}}
{{- if hasKey (dict "listen" 1 "http-listen" 1 "insecure-listen" 1 "port-file" 1 "config" 1 "print-config" 1) $key -}}
{{- fail (printf "config.%s is set by the chart; ports of the services are service.grpcPort and service.httpPort" $key) -}}
{{- else if eq $key "model-root" -}}
{{- fail "config.model-root is set by the chart; give models.existingClaim, models.claim or models.copy" -}}
{{- else if or (hasPrefix "store" $key) (eq $key "state-dir") -}}
{{- fail (printf "config.%s is set by the chart; give store.kind and what stands below store" $key) -}}
{{- else if hasPrefix "tls-" $key -}}
{{- fail (printf "config.%s is set by the chart; give tls.existingSecret" $key) -}}
{{- else if eq $key "token-file" -}}
{{- fail "config.token-file is set by the chart; give tokens.existingSecret" -}}
{{- end -}}
{{- end -}}
{{- if not (or .models.existingClaim .models.claim.create .models.copy.image) -}}
{{- fail "there are no models: give models.existingClaim, models.claim.create or models.copy.image" -}}
{{- end -}}
{{- if and .models.existingClaim .models.claim.create -}}
{{- fail "models.existingClaim and models.claim.create both name a claim: give one" -}}
{{- end -}}
{{- if and .models.copy.fromClaim (not .models.copy.image) -}}
{{- fail "models.copy.fromClaim needs models.copy.image, an image that has a shell and cp" -}}
{{- end -}}
{{- $many := or (gt (int .replicas) 1) (ne .autoscaling.kind "none") -}}
{{- if and $many (eq .store.kind "sqlite") -}}
{{- fail "several servers cannot keep runs in sqlite: set store.kind to postgres, or to off" -}}
{{- end -}}
{{- if and $many .models.claim.create (has "ReadWriteOnce" .models.claim.accessModes) -}}
{{- fail "several servers cannot share a ReadWriteOnce claim: set models.claim.accessModes to [ReadWriteMany]" -}}
{{- end -}}
{{- if and (eq .store.kind "postgres") (not .store.postgres.existingSecret) -}}
{{- fail "store.kind is postgres: store.postgres.existingSecret must name the secret with its URL" -}}
{{- end -}}
{{- if and .store.sqlite.existingClaim .store.sqlite.claim.create -}}
{{- fail "store.sqlite.existingClaim and store.sqlite.claim.create both name a claim: give one" -}}
{{- end -}}
{{- if and (eq .store.kind "sqlite") (eq .strategy.type "RollingUpdate") (or .store.sqlite.existingClaim .store.sqlite.claim.create) -}}
{{- fail "strategy.type RollingUpdate would let two servers write one sqlite file: use Recreate" -}}
{{- end -}}
{{- if and .tls.clientCa (not .tls.existingSecret) -}}
{{- fail "tls.clientCa needs tls.existingSecret, whose ca.crt vouches for clients" -}}
{{- end -}}
{{- if and .proxy.enabled .tls.clientCa -}}
{{- fail "proxy.enabled: the proxy does not forward client certificates, which tls.clientCa requires; use tokens.existingSecret instead" -}}
{{- end -}}
{{- if and .proxy.enabled (eq .probes.protocol "grpc") -}}
{{- fail "probes.protocol grpc would ask the proxy instead of sinkd; use auto or http" -}}
{{- end -}}
{{- if and (eq .probes.protocol "grpc") .tls.existingSecret -}}
{{- fail "probes.protocol grpc: the kubelet's gRPC probe speaks no TLS; use auto or http" -}}
{{- end -}}
{{- if and .serviceMonitor.enabled (not (index .config "metrics-open")) -}}
{{- if and .tokens.existingSecret (not .serviceMonitor.token.existingSecret) -}}
{{- fail "tokens are asked for, of Prometheus too: serviceMonitor.token.existingSecret must name a secret with one, or config.metrics-open be true" -}}
{{- end -}}
{{- if and .tls.clientCa (not .serviceMonitor.tls.existingSecret) -}}
{{- fail "certificates are asked for, of Prometheus too: serviceMonitor.tls.existingSecret must name a secret with one, or config.metrics-open be true" -}}
{{- end -}}
{{- end -}}
{{- if gt (int .autoscaling.minReplicas) (int .autoscaling.maxReplicas) -}}
{{- fail (printf "autoscaling.minReplicas %v is over autoscaling.maxReplicas %v" .autoscaling.minReplicas .autoscaling.maxReplicas) -}}
{{- end -}}
{{- with .shardedJob -}}
{{- if .enabled -}}
{{- if not .model }}{{ fail "shardedJob.model must name the model to run on" }}{{ end -}}
{{- if not .run }}{{ fail "shardedJob.run must name the run that takes the records" }}{{ end -}}
{{- if not .corpus.existingClaim }}{{ fail "shardedJob.corpus.existingClaim must name the claim with the corpus" }}{{ end -}}
{{- if and $.Values.tls.clientCa (not $.Values.client.tls.existingSecret) -}}
{{- fail "tls.clientCa asks clients for certificates: client.tls.existingSecret must name that of shardedJob" -}}
{{- end -}}
{{- if and $.Values.tokens.existingSecret (not $.Values.client.token.existingSecret) -}}
{{- fail "tokens are asked for: client.token.existingSecret must name the secret with that of shardedJob" -}}
{{- end -}}
{{- if eq $.Values.store.kind "off" }}{{ fail "shardedJob needs a store: set store.kind to postgres or sqlite" }}{{ end -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- end -}}
