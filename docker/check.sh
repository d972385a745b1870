#!/usr/bin/env bash
# Builds the images with buildah on a base made by debootstrap, and tests them: the server runs as process 1 in separate
# namespaces, on a read-only root, as the image's user, and the client connects to it. Needs root and Debian's buildah,
# debootstrap, util-linux and iproute2, but no container engine and no image registry.
#
#   docker/check.sh [TARGET...]     default: sinkd sinkctl; sinkd-cuda runs without a GPU
#
# WORK: folder of the images, default build/images; BUILT, BASE, PRESET, JOBS, CA, CCACHE: see build.sh. With
# BUILT=build/dev, after `make build`, nothing is compiled again.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

skip() {
  printf 'check: skipped: %s\n' "$*"
  exit 77
}

[[ $(id -u) == 0 ]] || skip "this needs root"
for program in buildah debootstrap unshare nsenter chroot ip; do
  command -v "$program" >/dev/null || skip "there is no $program"
done
[[ -x .venv/bin/python ]] || skip "there is no .venv; run \`make oracles\`"
unshare --mount --net --pid --fork true 2>/dev/null || skip "namespaces cannot be made here"

[[ $# -gt 0 ]] || set -- sinkd sinkctl
mkdir -p "${WORK:=build/images}"
work=$(realpath "$WORK")
# Without overlays, every layer is a copy of all layers below it.
driver=vfs
mkdir -p "$work"/try/{lower,upper,inner,all}
if mount -t overlay -o "lowerdir=$work/try/lower,upperdir=$work/try/upper,workdir=$work/try/inner" try "$work/try/all" \
  2>/dev/null; then
  umount "$work/try/all"
  driver=overlay
fi
rm -rf "$work/try"
cat >"$work/storage.conf" <<END
[storage]
driver = "$driver"
graphroot = "$work/store"
runroot = "$work/run"
END
export CONTAINERS_STORAGE_CONF=$work/storage.conf BUILDAH_ISOLATION=chroot
export BUILDER=buildah TAG=check BASE=${BASE:-localhost/sinkd-base:bookworm}

if [[ $BASE == localhost/* ]] && ! buildah inspect --type image "$BASE" >/dev/null 2>&1; then
  printf 'check: making the base %s\n' "$BASE"
  docker/base.sh "$BASE"
fi
docker/build.sh "$@"

container=''
trap '[[ -z $container ]] || buildah rm "$container" >/dev/null' EXIT
for target in "$@"; do
  name=localhost/${target%-cuda}:check
  [[ $target != *-cuda ]] || name+=-cuda
  container=$(buildah from "$name")
  root=$(buildah mount "$container")
  buildah inspect --type image "$name" >"$work/$target.json"
  printf 'check: %s, %s\n' "$target" "$(du -sh --apparent-size "$root" | cut -f1)"
  .venv/bin/python -m tests.deploy.image_check "$target" "$root" "$work/$target.json"
  buildah rm "$container" >/dev/null
  container=''
done
# Remove what an earlier check of a build tree left behind.
[[ -z ${BUILT:-} ]] || buildah rmi --prune >/dev/null 2>&1 || true
buildah images
