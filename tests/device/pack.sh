#!/usr/bin/env bash
# Gathers in build/device what check.sh needs and a bare machine lacks: Abseil and nlohmann-json, as
# a small tree to build against, and checkpoints to compare on. Run where `make test` has run; about
# 50 MB.
#
#   tests/device/pack.sh [ORACLE_DIR]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly oracle=${1:-build/dev/oracle}
readonly out=build/device
multiarch=lib/$(${CXX:-c++} -print-multiarch)
readonly multiarch

[[ -d $oracle/planted && -d $oracle/tiny && -d $oracle/families ]] || {
  echo "pack: no checkpoints in $oracle; run \`make test\` first, or name another folder" >&2
  exit 1
}
rm -rf "${out:?}"/usr "${out:?}"/checkpoints
mkdir -p $out/usr/{include,share/cmake,"$multiarch"/cmake} $out/checkpoints

cp -r /usr/include/{absl,nlohmann} $out/usr/include
cp -r /usr/share/cmake/nlohmann_json $out/usr/share/cmake
# All libraries, since the configuration file checks that every one it names is there; as files
# under both their names, since links may not travel.
cp -r /usr/"$multiarch"/cmake/absl $out/usr/"$multiarch"/cmake
cp -L /usr/"$multiarch"/libabsl_*.so.* $out/usr/"$multiarch"

for folder in "$oracle"/planted/planted-* "$oracle"/families/* "$oracle"/tiny/{llama_grouped,qwen2_window,qwen3_plain}; do
  [[ -f $folder/config.json && $folder != *.expected ]] || continue
  mkdir "$out/checkpoints/${folder##*/}"
  cp "$folder"/{config.json,*.safetensors*,records.jsonl} "$out/checkpoints/${folder##*/}" 2>/dev/null || true
done
du -sh $out/usr $out/checkpoints
