#!/usr/bin/env bash
# Builds the fuzz targets and replays their seeds, with a number of runs beyond that takes a minute.
#
#   tests/fuzz/smoke.sh BUILD TOKENIZER_LIBRARY
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake --preset fuzz -B "$1" -DSINKD_TOKENIZER_LIBRARY="$2" --log-level=WARNING
cmake --build "$1" --target fuzzers --parallel "$(nproc)"
ctest --test-dir "$1" --output-on-failure
