#!/bin/sh
# Runs a command that trusts the certificates in the build's secret `ca`, if there is one: for networks with a proxy that
# uses a private certificate authority.
set -eu
ca=/run/secrets/ca
if [ -s "$ca" ]; then
  export SSL_CERT_FILE="$ca" PIP_CERT="$ca" CARGO_HTTP_CAINFO="$ca" NODE_EXTRA_CA_CERTS="$ca"
fi
exec "$@"
