#!/usr/bin/env bash
# Puts what the images hold of a build tree into OUT: sinkd/, sinkctl/ and certificates/, each as it lies in
# an image, stripped; with a third word also cuda/.
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
# Debian's alone, and none that this machine trusts beside them.
mkdir -p "$out/certificates/etc/ssl/certs"
cat /usr/share/ca-certificates/mozilla/*.crt >"$out/certificates/etc/ssl/certs/ca-certificates.crt"
