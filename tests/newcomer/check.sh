#!/usr/bin/env bash
# The newcomer's path, timed: a bare Debian root with its package sources and nothing else, then README's
# commands up to the first result. Needs root and, from Debian, debootstrap and util-linux; takes what git
# tracks here, as a clone would, and nothing of what was built.
#
#   tests/newcomer/check.sh [ROOT]     default: build/newcomer; a folder that is there already is removed
#
# SSL_CERT_FILE: certificates that downloads trust, for networks whose proxy signs with its own authority.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

root=$(realpath -m "${1:-build/newcomer}")
readonly root suite=bookworm mirror=http://deb.debian.org
readonly commands=('apt-get update && apt-get install --yes make git' 'make demo')

fail() {
  printf 'newcomer: %s\n' "$*" >&2
  exit 1
}

[[ $(id -u) == 0 ]] || fail "this needs root"
for program in debootstrap unshare chroot; do
  command -v "$program" >/dev/null || fail "there is no $program; \`apt-get install debootstrap util-linux\`"
done
[[ ! -e $root || -e $root/.newcomer ]] || fail "$root is there and is not of this script; name another folder"

printf 'newcomer: making a bare root\n'
rm -rf "$root"
mkdir -p "$root"
touch "$root/.newcomer"
debootstrap --variant=minbase "$suite" "$root" "$mirror/debian" >"$root.log"
cat >"$root/etc/apt/sources.list" <<END
deb $mirror/debian $suite main
deb $mirror/debian $suite-updates main
deb $mirror/debian-security $suite-security main
END
cp /etc/resolv.conf "$root/etc/resolv.conf"
mkdir -p "$root/sinkd" "$root/run/secrets"
git archive HEAD | tar -x -C "$root/sinkd"
[[ -z ${SSL_CERT_FILE:-} ]] || cp "$SSL_CERT_FILE" "$root/run/secrets/ca"

# Bytes that came over all interfaces but loopback.
received() {
  awk -F'[: ]+' 'NR > 2 && $2 != "lo" { sum += $3 } END { printf "%.0f", sum }' /proc/net/dev
}

inside() {
  # shellcheck disable=SC2016  # what is expanded inside
  ROOT=$root unshare --mount --pid --fork --kill-child bash -c '
    set -e
    mount --rbind /dev "$ROOT/dev"
    mount --rbind /sys "$ROOT/sys"
    mount -t proc proc "$ROOT/proc"
    exec chroot "$ROOT" /usr/bin/env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
      DEBIAN_FRONTEND=noninteractive /bin/sh -c "cd /sinkd && exec docker/trusting.sh sh -c \"\$1\"" sh "$1"
  ' bash "$1"
}

before_all=$(received) began=$SECONDS
lines=()
for command in "${commands[@]}"; do
  before=$(received) start=$SECONDS
  inside "$command" >>"$root.log" 2>&1 || fail "\`$command\` failed; $root.log ends with
$(tail -n 20 "$root.log")"
  lines+=("$(printf '%4d s  %6.1f MB  %s' $((SECONDS - start)) \
    "$(awk -v n=$(($(received) - before)) 'BEGIN { print n / 1e6 }')" "$command")")
  printf '%s\n' "${lines[-1]}"
done
printf '%4d s  %6.1f MB  in all, %s cores; %s on disk\n' $((SECONDS - began)) \
  "$(awk -v n=$(($(received) - before_all)) 'BEGIN { print n / 1e6 }')" "$(nproc)" \
  "$(du -sh --apparent-size "$root" | cut -f1)"
tail -n 12 "$root.log"
