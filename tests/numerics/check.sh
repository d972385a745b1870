#!/usr/bin/env bash
# check.sh BUILD_DIR: runs the tests that compare numbers as other processors compute them: with narrower
# instructions, with each library for float32 products, with attention in strips and by fused calls, and on
# one core. Their oracles must have run (ctest -L oracle), and run as they are.
set -uo pipefail
build=${1:?usage: tests/numerics/check.sh BUILD_DIR}
settings=(
  "SINKD_ATTENTION=strips"
  "SINKD_FLOAT32_PRODUCTS=mkl"
  "SINKD_FLOAT32_PRODUCTS=onednn"
  "ATEN_CPU_CAPABILITY=avx2"
  "SINKD_FLOAT32_PRODUCTS=mkl MKL_ENABLE_INSTRUCTIONS=AVX2"
  "SINKD_FLOAT32_PRODUCTS=onednn ONEDNN_MAX_CPU_ISA=AVX2"
  "SINKD_FLOAT32_PRODUCTS=onednn ONEDNN_MAX_CPU_ISA=AVX512_CORE"
  "ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 ONEDNN_MAX_CPU_ISA=AVX2"
  "SINKD_FLOAT32_PRODUCTS=onednn ATEN_CPU_CAPABILITY=avx2 MKL_ENABLE_INSTRUCTIONS=AVX2 ONEDNN_MAX_CPU_ISA=AVX2"
)
failed=0

check() { # NAME COMMAND...
  echo "== $1"
  shift
  "$@" ctest --test-dir "$build" -L 'numeric|analysis|mechanism|audit' -E "${except:-^$}" -FS '.*' --output-on-failure \
    --parallel "$(nproc)" >"$build/check-numerics.log" 2>&1 || { failed=1; cat "$build/check-numerics.log"; }
  grep -E 'tests passed|^Total Test time' "$build/check-numerics.log"
}

# The CPU's fused calls stand in for a GPU's. They round the weight of a long sample's query for itself more than
# parity_test allows, and hidden keys take strips, so that an ablation of nothing is not bit-equal.
except='SmolLM2/Float32Parity|OfNothingIsBitEqual' check "SINKD_ATTENTION=fused-calls" env SINKD_ATTENTION=fused-calls
for setting in "${settings[@]}"; do
  read -ra variables <<<"$setting"
  check "$setting" env "${variables[@]}"
done
check "one core" taskset -c "$(taskset -pc $$ | sed 's/.*: *//; s/[-,].*//')"
exit $failed
