#!/usr/bin/env bash
# Makes what tls.yaml needs in deploy/compose/secrets, where there is none yet: an authority of its own, a
# certificate for the service, this machine and each HOST, and tokens for Prometheus and for you.
#
#   deploy/compose/tls.sh [HOST...]
#
# A certificate of another authority goes to secrets/tls.crt, tls.key and ca.crt, and names `sinkd` as well.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

mkdir -p -m 700 secrets
cd secrets
# As secrets.sh: readable by the containers' users, in a folder that is this user's alone.
umask 022

if [[ ! -s tls.crt ]]; then
  names=DNS:sinkd,DNS:localhost,IP:127.0.0.1
  for host in "$@"; do names+=,DNS:$host; done
  key=(-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes)
  openssl req -x509 "${key[@]}" -days 3650 -subj "/CN=sinkd's authority" -keyout ca.key -out ca.crt 2>/dev/null
  openssl req "${key[@]}" -subj /CN=sinkd -keyout tls.key -out tls.csr 2>/dev/null
  openssl x509 -req -in tls.csr -CA ca.crt -CAkey ca.key -CAcreateserial -days 825 -out tls.crt \
    -extfile <(printf 'subjectAltName=%s\n' "$names") 2>/dev/null
  # Nobody but the authority needs its key.
  chmod 600 ca.key tls.csr
  chmod 644 tls.key
fi

# token NAME ROLE: a new one, to NAME-token, and its line, as `sinkctl token new` makes them.
token() {
  [[ ! -s $1-token ]] || return 0
  printf 'sinkd_%s' "$(od -An -N32 -tx1 /dev/urandom | tr -d ' \n')" >"$1-token"
  printf '%s %s %s\n' "$1" "$2" "$(sha256sum <"$1-token" | cut -d' ' -f1)" >>tokens
}

token prometheus read
token admin admin
printf 'Call with: --tls-ca %s/ca.crt --token-file %s/admin-token\n' "$PWD" "$PWD"
