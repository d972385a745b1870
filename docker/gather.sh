#!/usr/bin/env bash
# Copies the files of the images from a build tree to OUT, stripped: sinkd/, sinkctl/ and certificates/, each with the
# paths of an image; with a third argument also cuda/.
#
#   docker/gather.sh BUILD OUT [cuda]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
readonly build=$1 out=$2

cmake --install "$build" --component sinkd --prefix "$out/sinkd/usr/local" >/dev/null
cmake --install "$build" --component static --prefix "$out/sinkctl/usr/local" >/dev/null
[[ ${3:-} != cuda ]] || cmake --install "$build" --component cuda --prefix "$out/cuda/usr/local" >/dev/null
find "$out"/{sinkd,sinkctl}/usr/local -type f \( -path '*/bin/*' -o -name '*.so*' \) \
  -exec strip --strip-unneeded {} +
install -D -m 644 docker/sinkd.toml "$out/sinkd/etc/sinkd/sinkd.toml"
for program in sinkd sinkctl; do
  install -D -m 644 LICENSE "$out/$program/usr/share/doc/$program/LICENSE"
done
# Only Debian's certificates, not others that this machine trusts.
mkdir -p "$out/certificates/etc/ssl/certs"
cat /usr/share/ca-certificates/mozilla/*.crt >"$out/certificates/etc/ssl/certs/ca-certificates.crt"
