#!/usr/bin/env bash
# Fuzzes for a while, one target after another, and tells what came of it.
#
#   tests/fuzz/run.sh BUILD [TARGET...]     all targets, when none is named; SECONDS_EACH=600
#
# What is found on the way stays in BUILD/fuzz/TARGET and is gone on from the next time; an input that
# breaks something is kept in BUILD/fuzz as TARGET-crash-..., -timeout-... or -oom-....
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

build=${1:?usage: tests/fuzz/run.sh BUILD [TARGET...]}
shift
targets=("$@")
if [[ ${#targets[@]} -eq 0 ]]; then
  for source in tests/fuzz/*_fuzz.cc; do targets+=("$(basename "$source" _fuzz.cc)"); done
fi

failed=0
for target in "${targets[@]}"; do
  found=$build/fuzz/$target
  log=$build/fuzz/$target.log
  mkdir -p "$found"
  options=(-max_total_time="${SECONDS_EACH:-600}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
    -artifact_prefix="$build/fuzz/$target-")
  [[ ! -f tests/fuzz/$target.dict ]] || options+=(-dict="tests/fuzz/$target.dict")
  result=fine
  "$build/tests/fuzz/fuzz_$target" "${options[@]}" "$found" \
    -seed_inputs=@"$build/tests/fuzz/$target.seeds" >"$log" 2>&1 || result=BROKEN
  [[ $result == fine ]] || failed=1
  printf '%s: %s; %s\n' "$target" "$result" "$(grep -E '^#[0-9]+.*cov:' "$log" | tail -n1)"
  [[ $result == fine ]] || grep -E '^(breach|SUMMARY|.*Test unit written)' "$log" || true
done
exit $failed
