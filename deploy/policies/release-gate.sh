#!/usr/bin/env bash
# Compares the sinks of a new model with those of the previous model. Copy it into a release pipeline.
#
#   release-gate.sh PROMPTS.jsonl NEW_MODEL OLD_MODEL [REPORT_DIR]
#
# It uses the sinkd that SINKCTL_SERVER names, which must have both models and store runs. The old model's run is created
# once and reused; an interrupted run is resumed. Give the prompts ids, so that the models are compared prompt by prompt.
# It writes audit.json, audit.xml (JUnit) and audit.md to REPORT_DIR. Its exit code is that of the audit - 0 pass,
# 1 fail, 7 not enough data - or that of the step that failed before it.
set -euo pipefail

readonly prompts=$1 new=$2 old=$3 reports=${4:-.}
readonly sinkctl=${SINKCTL:-sinkctl}
readonly policy=${POLICY:-$(dirname "${BASH_SOURCE[0]}")/release-gate.yaml}
prompts_id=$(sha256sum "$prompts" | cut -c1-12)
readonly prompts_id

# analyze MODEL: stores the records in the run gate-MODEL-PROMPTS and prints its name.
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
# 0, 1 and 7 are verdicts with reports; other codes have no report.
if [[ $code == 0 || $code == 1 || $code == 7 ]]; then
  audit junit >"$reports/audit.xml" || true
  audit markdown >"$reports/audit.md" || true
  audit table || true
fi
exit "$code"
