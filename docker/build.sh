#!/usr/bin/env bash
# Builds the images, with docker, podman or buildah, whichever is there and works.
#
#   docker/build.sh [TARGET...]     sinkd (CPU), sinkd-cuda, sinkctl; default: sinkd sinkctl
#
# Variables:
#   BUILDER   docker, podman or buildah; default: the first that works
#   BASE      image to build on, as docker/Dockerfile's; pin a digest here: debian:12-slim@sha256:...
#   PREFIX    put before names, with its slash: registry.example.org/team/
#   TAG       default: the version
#   PRESET    release or dev
#   JOBS      compilers at once; default: one a core
#   CA        file of certificates that downloads trust; default: SSL_CERT_FILE
#   BUILT     build tree to take programs from, with sinkctl_static in it, instead of compiling: build/dev
#   CCACHE    folder with a compiler cache to share (podman and buildah)
#   FLAGS     more flags for the builder
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'build: %s\n' "$*" >&2
  exit 1
}

find_builder() {
  local builder
  for builder in ${BUILDER:-docker podman buildah}; do
    # docker's client may be there without its engine.
    "$builder" info >/dev/null 2>&1 && printf '%s' "$builder" && return
  done
  fail "none of docker, podman and buildah works here; \`apt-get install buildah\` is the smallest"
}

version=$(sed -n 's/^project(sinkd VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
revision=$(git rev-parse HEAD 2>/dev/null || echo unknown)
created=$(date -u -d "@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2>/dev/null || echo 0)}" +%Y-%m-%dT%H:%M:%SZ)
builder=$(find_builder)
ca=${CA:-${SSL_CERT_FILE:-}}

arguments=(--build-arg "VERSION=$version" --build-arg "REVISION=$revision" --build-arg "CREATED=$created")
for name in BASE PRESET JOBS; do
  [[ -z ${!name:-} ]] || arguments+=(--build-arg "$name=${!name}")
done
[[ -z $ca ]] || arguments+=(--secret "id=ca,src=$ca")
context=. dockerfile=docker/Dockerfile
if [[ -n ${BUILT:-} ]]; then
  context=$(mktemp -d)
  trap 'rm -rf "$context"' EXIT
  [[ " $* " != *" sinkd-cuda "* ]] || cuda=cuda
  docker/gather.sh "$BUILT" "$context/out" ${cuda:+"$cuda"}
  dockerfile=$context/Dockerfile
  # In place of the stages that build: what was gathered.
  awk '/^FROM .* AS build(-cuda)?$/ { print "FROM scratch AS " $4 "\nCOPY out/ /out/"; within = 1; next }
       /^FROM/ { within = 0 }
       !within' docker/Dockerfile >"$dockerfile"
fi
if [[ $builder == docker ]]; then
  export DOCKER_BUILDKIT=1
else
  # OCI's own format has no health check. Layers are kept, so that a failed build goes on where it broke.
  arguments+=(--format docker --layers)
  [[ -z ${CCACHE:-} ]] ||
    arguments+=(--volume "$(realpath "$CCACHE"):/ccache" --build-arg CCACHE_DIR=/ccache)
fi
read -ra flags <<<"${FLAGS:-}"

[[ $# -gt 0 ]] || set -- sinkd sinkctl
for target in "$@"; do
  case $target in
    sinkd) name=sinkd:${TAG:-$version} ;;
    sinkd-cuda) name=sinkd:${TAG:-$version}-cuda ;;
    sinkctl) name=sinkctl:${TAG:-$version} ;;
    *) fail "no target '$target'; there are sinkd, sinkd-cuda and sinkctl" ;;
  esac
  printf 'build: %s%s with %s\n' "${PREFIX:-}" "$name" "$builder"
  "$builder" build "${arguments[@]}" "${flags[@]}" --target "$target" --tag "${PREFIX:-}$name" \
    --file "$dockerfile" "$context"
done
