{{/* nginx in front of the gRPC port: it terminates TLS and limits the calls of each address. */}}
{{- define "sinkd.proxyPort" -}}
50052
{{- end -}}

{{- define "sinkd.proxyConfig" -}}
{{- $tls := .Values.tls.existingSecret -}}
# nginx in front of the gRPC port: it {{ if $tls }}terminates TLS and {{ end }}limits the calls of each address. Generated from
# helm/sinkd by tests/helm/plain_manifests.py --write.
daemon off;
pid /tmp/nginx.pid;
error_log stderr error;
worker_processes 2;
worker_rlimit_nofile 8192;
worker_shutdown_timeout {{ include "sinkd.seconds" (get .Values.config "drain-timeout") }}s;
events { worker_connections 4096; }

http {
  access_log off;
  server_tokens off;
  client_body_temp_path /tmp/body;
  proxy_temp_path /tmp/proxy;
  fastcgi_temp_path /tmp/fastcgi;
  uwsgi_temp_path /tmp/uwsgi;
  scgi_temp_path /tmp/scgi;

  # For each address: open calls, and new calls per second.
  limit_conn_zone $binary_remote_addr zone=open:10m;
  limit_req_zone $binary_remote_addr zone=begun:10m rate={{ .Values.proxy.callsPerSecond }}r/s;
  limit_conn_status 429;
  limit_req_status 429;
  limit_conn_log_level info;
  limit_req_log_level info;

  upstream sinkd {
    server 127.0.0.1:{{ include "sinkd.proxyPort" . }};
    keepalive 64;
  }

  server {
    listen 50051{{ if $tls }} ssl{{ end }} http2;
    {{- if $tls }}
    ssl_certificate /etc/sinkd/tls/tls.crt;
    ssl_certificate_key /etc/sinkd/tls/tls.key;
    ssl_protocols TLSv1.2 TLSv1.3;
    ssl_ciphers ECDHE+AESGCM:ECDHE+CHACHA20;
    ssl_session_tickets off;
    {{- end }}

    http2_max_concurrent_streams 128;
    # After this many calls a client must reconnect; this bounds how many it can reset at once.
    keepalive_requests 10000;
    keepalive_timeout 10m;
    client_header_timeout 10s;
    large_client_header_buffers 4 16k;
    # A stream may be silent while its samples run. --max-message-bytes of sinkd limits messages.
    client_max_body_size 0;
    client_body_timeout 1h;
    send_timeout 1m;
    grpc_read_timeout 1h;
    grpc_send_timeout 1m;
    grpc_socket_keepalive on;

    location / {
      limit_conn open {{ .Values.proxy.callsAtOnce }};
      limit_req zone=begun burst={{ .Values.proxy.callsPerSecond }} nodelay;
      grpc_pass {{ if $tls }}grpcs{{ else }}grpc{{ end }}://sinkd;
    }

    # Errors of nginx itself as gRPC statuses: RESOURCE_EXHAUSTED and UNAVAILABLE.
    default_type application/grpc;
    error_page 429 = @too_many;
    error_page 500 502 503 504 = @unavailable;
    location @too_many {
      add_header grpc-status 8 always;
      add_header grpc-message "too many calls from this address; retry later" always;
      return 204;
    }
    location @unavailable {
      add_header grpc-status 14 always;
      add_header grpc-message "the proxy cannot reach sinkd" always;
      return 204;
    }
  }
}
{{- end -}}
