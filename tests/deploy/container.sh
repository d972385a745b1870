#!/usr/bin/env bash
# The inside of new mount, network and process namespaces: an image's root read-only, its state folder and
# /tmp in memory, loopback up. Becomes the program, as process 1.
#
#   container.sh ROOT MODELS USER:GROUP NAME=VALUE... -- PROGRAM ARGUMENT...
set -euo pipefail

root=$1 models=$2 user=$3
shift 3
environment=()
while [[ $1 != -- ]]; do
  environment+=("$1")
  shift
done
shift

ip link set lo up
mount --make-rprivate /
mount --bind "$root" "$root"
if [[ -d $root/models ]]; then
  mount --bind -o ro "$models" "$root/models"
  mount -t tmpfs -o "uid=${user%:*},gid=${user#*:},mode=750" tmpfs "$root/var/lib/sinkd"
fi
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
mount -o remount,bind,ro "$root"
exec env -i "${environment[@]}" chroot --userspec="$user" --groups="" "$root" "$@"
