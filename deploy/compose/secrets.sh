#!/usr/bin/env bash
# Creates the passwords of compose.yaml in deploy/compose/secrets, unless they exist.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

mkdir -p -m 700 secrets
# make NAME TEXT: the file is readable by the containers' users, in a folder that only this user can open.
make() {
  [[ -s secrets/$1 ]] || (umask 022 && printf '%s' "$2" >"secrets/$1")
}
password() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }

make postgres-password "$(password)"
make grafana-password "$(password)"
make store-url "postgresql://sinkd:$(<secrets/postgres-password)@postgres/runs"
printf 'Grafana: admin, %s\n' "$(<secrets/grafana-password)"
