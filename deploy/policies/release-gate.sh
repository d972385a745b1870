#!/usr/bin/env bash
# The sinks of a new model against those of the model before, for a pipeline to copy.
#
#   release-gate.sh PROMPTS.jsonl NEW_MODEL OLD_MODEL [REPORT_DIR]
#
# Talks to the sinkd that SINKD_SERVER names, which has both models and keeps runs. The old model's run
# is made once and kept; a broken run goes on where it ended. Give prompts ids, so that the two
# models are compared prompt by prompt. Writes audit.json, audit.xml (JUnit) and audit.md to
# REPORT_DIR. Exit code: that of the audit - 0 pass, 1 fail, 7 not enough data - or of what went wrong
# before.
set -euo pipefail

readonly prompts=$1 new=$2 old=$3 reports=${4:-.}
readonly sinkctl=${SINKCTL:-sinkctl}
readonly policy=${POLICY:-$(dirname "${BASH_SOURCE[0]}")/release-gate.yaml}
prompts_id=$(sha256sum "$prompts" | cut -c1-12)
readonly prompts_id

# analyze MODEL: into the run MODEL-PROMPTS, whose name it prints.
analyze() {
  local run=gate-$1-$prompts_id
  "$sinkctl" load "$1" >&2
  "$sinkctl" analyze "$1" --all --input "$prompts" --run "$run" --resume --summary-only --quiet >&2
  echo "$run"
}

baseline=$(analyze "$old")
candidate=$(analyze "$new")
audit() {
  "$sinkctl" audit --policy "$policy" --candidate "$candidate" --baseline "$baseline" -o "$1"
}

mkdir -p "$reports"
code=0
audit json >"$reports/audit.json" || code=$?
# 1 and 7 are verdicts, and have reports; the rest has none.
if [[ $code == 0 || $code == 1 || $code == 7 ]]; then
  audit junit >"$reports/audit.xml" || true
  audit markdown >"$reports/audit.md" || true
  audit table || true
fi
exit "$code"
