#!/usr/bin/env bash
# Builds the images with docker, podman or buildah, whichever works.
#
#   docker/build.sh [TARGET...]     sinkd (CPU), sinkd-cuda, sinkctl; default: sinkd sinkctl
#
# Variables:
#   BUILDER   docker, podman or buildah; default: the first that works
#   BASE      base image, as in docker/Dockerfile; pin a digest here: debian:12-slim@sha256:...
#   PREFIX    prefix of image names, with a final slash: registry.example.org/team/
#   TAG       default: the version
#   PRESET    release or dev
#   JOBS      number of parallel compilers; default: one per core
#   CA        file of certificates that downloads trust; default: SSL_CERT_FILE
#   BUILT     build tree, including sinkctl_static, to take the programs from instead of compiling: build/dev
#   CCACHE    folder of a compiler cache to share (podman and buildah)
#   FLAGS     additional flags for the builder
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

fail() {
  printf 'build: %s\n' "$*" >&2
  exit 1
}

find_builder() {
  local builder
  for builder in ${BUILDER:-docker podman buildah}; do
    # docker may be installed without a running engine.
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
  # Replaces the build stages by the gathered files.
  awk '/^FROM .* AS build(-cuda)?$/ { print "FROM scratch AS " $4 "\nCOPY out/ /out/"; within = 1; next }
       /^FROM/ { within = 0 }
       !within' docker/Dockerfile >"$dockerfile"
fi
if [[ $builder == docker ]]; then
  export DOCKER_BUILDKIT=1
else
  # The OCI format has no health check. Keeping layers lets a failed build resume where it stopped.
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
