#!/bin/sh
# Runs a command that trusts the certificates of the build's secret `ca`, if there is one: for networks
# whose proxy signs with an authority of its own.
set -eu
ca=/run/secrets/ca
if [ -s "$ca" ]; then
  export SSL_CERT_FILE="$ca" PIP_CERT="$ca" CARGO_HTTP_CAINFO="$ca" NODE_EXTRA_CA_CERTS="$ca"
fi
exec "$@"
