#!/usr/bin/env bash
# Checks the engine on an accelerator: builds it alone, compares the device with the CPU on planted
# and random checkpoints, measures speed by sample length on a made-up model, and takes the memory
# away to see the server's refusal and recovery. Prints tables; 0 when all held.
#
#   tests/device/pack.sh          where the project is set up: gathers build/device
#   tests/device/check.sh [cpu]   there, with build/device beside; cuda:0 unless told otherwise
#
# The machine needs a C++ compiler, CMake 3.25, ninja, and python3 with torch; no network. On `cpu`
# everything is small. CHECK_JOBS: compilers at once.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly device=${1:-cuda:0}
readonly packed=build/device
readonly build=build/device-build
readonly python=${SINKD_PYTHON:-python3}
work=$(mktemp -d)
readonly work
trap 'rm -rf "$work"' EXIT
failed=()

say() { printf '\n%s  [%d s]\n\n' "$*" "$SECONDS"; }

# Runs one check; the others still run when it fails.
check() {
  say "## $1"
  shift
  "$@" || failed+=("$2")
}

[[ -d $packed/usr ]] || {
  echo "check: no $packed/usr; run tests/device/pack.sh where the project is set up" >&2
  exit 1
}
torch=$("$python" -c 'import os, torch; print(os.path.dirname(torch.__file__))')

say "# Building against $torch"
cmake -S . -B $build -G Ninja -DCMAKE_BUILD_TYPE=Release -DSINKD_DEVICE_CHECK=ON \
  -DSINKD_WARNINGS_AS_ERRORS=OFF -DLIBTORCH_ROOT="$torch" -DCMAKE_PREFIX_PATH="$PWD/$packed/usr" \
  --log-level=WARNING >/dev/null
ninja -C $build -j "${CHECK_JOBS:-$(nproc)}" device_check >"$work/build.log" ||
  { tail -n 40 "$work/build.log"; exit 1; }
readonly program=$build/tests/device/device_check

if [[ $device == cpu ]]; then
  model=small lengths=(1024 2048 4096) too_long=16384
else
  model=1.5b lengths=(1024 2048 4096 8192 16384 32768) too_long=32768
fi
"$python" tests/device/write_model.py "$work/$model" $model

check "Compared with the CPU" $program compare "$device" $packed/checkpoints/*
check "Speed, $model" $program speed "$device" "$work/$model" "${lengths[@]}"
check "Plain attention, $model" "$python" tests/device/plain_attention.py "$device" $model "${lengths[@]}"
check "Out of memory" $program exhaustion "$device" "$work/$model" $too_long

say "# ${#failed[@]} checks failed${failed[*]:+: ${failed[*]}}"
[[ ${#failed[@]} == 0 ]]
