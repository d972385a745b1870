#!/usr/bin/env bash
# Creates the files of tls.yaml in deploy/compose/secrets, unless they exist: a certificate authority, a certificate
# for the service, this machine and each HOST, and tokens for Prometheus and for you.
#
#   deploy/compose/tls.sh [HOST...]
#
# To use a certificate of another authority, put it into secrets/tls.crt, tls.key and ca.crt. It must also contain
# the name `sinkd`.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

mkdir -p -m 700 secrets
cd secrets
# As in secrets.sh: readable by the containers' users, in a folder that only this user can open.
umask 022

if [[ ! -s tls.crt ]]; then
  names=DNS:sinkd,DNS:localhost,IP:127.0.0.1
  for host in "$@"; do names+=,DNS:$host; done
  key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
  openssl req -x509 "${key[@]}" -days 3650 -subj "/CN=sinkd's authority" -keyout ca.key -out ca.crt 2>/dev/null
  openssl req "${key[@]}" -subj /CN=sinkd -keyout tls.key -out tls.csr 2>/dev/null
  openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 825 -out tls.crt \
    -extfile <(printf 'subjectAltName=%s\n' "$names") 2>/dev/null
  # Only the authority itself needs its key.
  chmod 600 ca.key tls.csr
  chmod 644 tls.key
fi

# token NAME ROLE: writes a new token to NAME-token and appends its line to tokens, as `sinkctl token new` does.
token() {
  [[ ! -s $1-token ]] || return 0
  printf 'sinkd_%s' "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" >"$1-token"
  printf '%s %s %s\n' "$1" "$2" "$(sha256sum <"$1-token" | cut -d' ' -f1)" >>tokens
}

token prometheus read
token admin admin
printf 'Call with: --tls-ca %s/ca.crt --token-file %s/admin-token\n' "$PWD" "$PWD"
