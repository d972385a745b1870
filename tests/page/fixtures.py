"""Answers of the JSON API for the page's tests, from real messages of the protocol.

    python -m tests.page.fixtures OUT.json

writes [{path, query, status, body}]: what a server would answer. Everything is planted by seed: the
levels below, points about known lines with scipy's fits of them, sinks at known places of a text.
"""

import json
import pathlib
import sys

from google.protobuf import json_format
from google.rpc import code_pb2, error_details_pb2, status_pb2

from tests.page import planted_runs, planted_studies
from tests.page.messages import audit, models, records, runs

RUNS = 30  # more than the page shows at once


def as_json(message):
    return json_format.MessageToDict(message)


def error(code, message, reason, **metadata):
    status = status_pb2.Status(code=code, message=message)
    status.details.add().Pack(
        error_details_pb2.ErrorInfo(reason=reason, domain="sinkd", metadata=metadata))
    return as_json(status)


def planted_models():
    planted = models.Model(
        name="models/planted", state=models.MODEL_STATE_READY, architecture="llama", blocks=24,
        hidden_size=2048, heads=16, kv_heads=4, vocabulary_size=49152, max_positions=8192,
        device="cpu", compute_type=models.COMPUTE_TYPE_FLOAT32, residency=models.RESIDENCY_RESIDENT,
        weight_bytes=5 << 28, has_chat_template=True, warnings=["3 tensors are not used"])
    broken = models.Model(
        name="models/broken", state=models.MODEL_STATE_FAILED, architecture="opt", blocks=12,
        failure="model.safetensors: layer 3 holds NaN")
    idle = models.Model(
        name="models/idle", state=models.MODEL_STATE_AVAILABLE, architecture="qwen2", blocks=28,
        hidden_size=3584, max_positions=131072)
    return [broken, idle, planted]


def model_answers():
    answer = models.ListModelsResponse(models=planted_models())
    yield "/api/v1/models", {}, as_json(answer)
    for each in answer.models:
        yield f"/api/v1/{each.name}", {}, as_json(models.GetModelResponse(model=each))


def run_list_answers():
    every = [planted_runs.run("demo-a"), planted_runs.run("demo-b")]
    every += [planted_runs.run(f"nightly-{i:02}") for i in range(RUNS - len(every))]
    first = runs.ListRunsResponse(runs=every[:25], next_page_token="page two")
    yield "/api/v1/runs", {}, as_json(first)
    yield "/api/v1/runs", {"pageSize": "1000"}, as_json(runs.ListRunsResponse(runs=every))
    yield "/api/v1/runs", {"pageToken": "page two"}, as_json(runs.ListRunsResponse(runs=every[25:]))
    staged = [each for each in every if each.labels.get("stage") == "release"]
    yield "/api/v1/runs", {"label.stage": "release"}, as_json(runs.ListRunsResponse(runs=staged))
    yield "/api/v1/runs", {"model": "models/none"}, as_json(runs.ListRunsResponse())


def run_answers():
    for name in ("demo-a", "demo-b", "nightly-00"):
        path = f"/api/v1/runs/{name}"
        yield path, {}, as_json(runs.GetRunResponse(run=planted_runs.run(name)))
        yield f"{path}/summary", {}, as_json(planted_runs.summary(name))
        yield f"{path}/records", {}, as_json(planted_runs.stored_records(name))
        yield f"{path}/studies", {}, {
            "studies": [as_json(each) for each in planted_studies.studies(name)]}
    level = {"lStart": "12", "lifetime": "5"}
    one_level = planted_runs.summary("demo-a", level=(12, 5))
    yield "/api/v1/runs/demo-a/summary", level, as_json(one_level)
    groups = [planted_runs.summary(name) for name in ("demo-a", "demo-b")]
    levels = groups[1].differences.add(field="levels.top_tokens")
    levels.values.add(value="10", run_count=3, run="runs/demo-b")
    levels.values.add(value="3", run_count=1, run="runs/nightly-00")
    groups[1].differences.add(field="scores").values.add(
        value="not asked for", run_count=4, run="runs/demo-b")
    yield "/api/v1/summaries", {}, {"summaries": [as_json(each) for each in groups]}
    yield "/api/v1/summaries", {"order": "NUMERIC"}, {
        "summaries": [as_json(each) for each in planted_runs.ordered_summaries()]}


def compared():
    """demo-b by demo-a: a difference, none, too little data, and one that has no test."""
    answer = audit.AuditRunsResponse(
        verdict=audit.VERDICT_FAIL, policy_name="compare", candidate_samples=100,
        baseline_samples=100)
    answer.rules.add(
        measure="secondary_per_1000_tokens", verdict=audit.VERDICT_FAIL, value=22.5,
        baseline_value=35.75, p=0.0005, adjusted_p=0.004,
        interval=records.Interval(lower=-15.5, upper=-11.25))
    answer.rules.add(
        measure="primary_score", verdict=audit.VERDICT_PASS, value=0.44, baseline_value=0.44, p=0.5,
        adjusted_p=1)
    answer.rules.add(
        measure="regression_slope", verdict=audit.VERDICT_NOT_ENOUGH_DATA,
        reason="fewer than 20 secondary sinks")
    answer.rules.add(
        measure="moved_primary", verdict=audit.VERDICT_PASS, value=0.125,
        interval=records.Interval(lower=0.0625, upper=0.25))
    return answer


def audited():
    answer = audit.AuditRunsResponse(
        verdict=audit.VERDICT_FAIL, policy_name="a release", candidate_samples=100,
        baseline_samples=90, seed=0)
    answer.rules.add(
        name="<b>sinks</b>", measure="secondary_per_1000_tokens", verdict=audit.VERDICT_FAIL,
        value=1.5, baseline_value=1, limit="ratio at most 1.25", p=0.001, adjusted_p=0.03,
        reason="1.5 is over 1.25", candidate_n=100, baseline_n=90,
        interval=records.Interval(lower=1.375, upper=1.625))
    answer.rules.add(
        name="levels", measure="level_divergence", verdict=audit.VERDICT_NOT_ENOUGH_DATA,
        reason="fewer than 20 secondary sinks")
    return answer


def audit_answers():
    yield "/api/v1/audit", {}, as_json(compared())
    yield "/api/v1/audit", {"candidate": "demo-a"}, as_json(audited())


def answers():
    for part in (model_answers, run_list_answers, run_answers, audit_answers):
        for path, query, body in part():
            yield {"path": path, "query": query, "status": 200, "body": body}
    yield {"path": "analyze", "query": {}, "status": 200,
           "body": [as_json(each) for each in planted_runs.analysis_answer()]}
    x, score, _ = planted_runs.planted_points(planted_runs.SEED)
    yield {"path": "intervals", "query": {}, "status": 0,
           "body": planted_runs.mean_intervals(x, score)}
    yield {"path": "*", "query": {}, "status": 404,
           "body": error(code_pb2.NOT_FOUND, "there is no run by this name", "RUN_NOT_FOUND",
                         fix="see GET /api/v1/runs")}
    yield {"path": "store off", "query": {}, "status": 400,
           "body": error(code_pb2.FAILED_PRECONDITION, "this server has no store", "STORE_OFF",
                         fix="start sinkd with --store")}


def main():
    out = pathlib.Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(list(answers())))


if __name__ == "__main__":
    main()
