"""What a run's summary says, for other tools: numbers by name, an MLflow run, a section of a model card.

The numbers have the names of audits' measures where they are those (docs/audits.md).
"""

from __future__ import annotations

import json
from typing import Any

from sinks.v1 import records_pb2 as records
from sinks.v1 import runs_pb2 as runs

TASK = {"type": "text-generation", "name": "Text Generation"}


def metrics(summary: records.Summary) -> dict[str, float]:
    """The numbers of one value that the summary has; what is undefined is absent."""
    found: dict[str, float] = {"samples": summary.samples, "tokens": summary.positions}
    if summary.HasField("levels"):
        levels = summary.levels
        found |= {
            "secondary_sinks": levels.secondary,
            "secondary_per_1000_tokens": levels.secondary_per_1000_tokens,
            "samples_with_secondary": levels.share_of_samples_with_secondary,
            "distinct_levels": levels.distinct_levels,
        }
        if levels.HasField("entropy"):
            found["level_entropy"] = levels.entropy
    if summary.scores.primary_position.count:
        found["primary_score"] = summary.scores.primary_position.mean
    for fit in summary.regression.score.fits:
        if fit.form == records.REGRESSION_FORM_LINEAR_LOG and fit.HasField("slope"):
            found |= {"regression_slope": fit.slope.value, "regression_r_squared": fit.r_squared}
    if summary.compensation.pearson.HasField("value"):
        found["compensation_pearson"] = summary.compensation.pearson.value
    if summary.sink_rate.cells and summary.sink_rate.cells[0]:
        found["sink_rate"] = summary.sink_rate.rates[0]
    return found


def to_mlflow(run: runs.Run, summary: records.Summary, *, experiment: str = "sinkd", **where: Any) -> str:
    """Writes the numbers as a run of MLflow and returns its id; `where` goes to MlflowClient, such as
    tracking_uri="file:mlruns", whose default is MLFLOW_TRACKING_URI. Needs mlflow or mlflow-skinny."""
    try:
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param, RunTag
    except ImportError as error:
        raise ImportError("this needs MLflow: pip install mlflow-skinny") from error
    client = MlflowClient(**where)
    known = client.get_experiment_by_name(experiment)
    made = client.create_run(
        known.experiment_id if known else client.create_experiment(experiment),
        start_time=run.create_time.ToMilliseconds(),
        run_name=run.name.removeprefix("runs/"),
    )
    when = run.update_time.ToMilliseconds()
    client.log_batch(
        made.info.run_id,
        metrics=[Metric(name, value, when, 0) for name, value in metrics(summary).items()],
        params=[Param("model", run.model), Param("sinkd_run", run.name)],
        tags=[RunTag(f"sinkd.{name}", value) for name, value in sorted(run.labels.items())],
    )
    client.set_terminated(made.info.run_id, end_time=when)
    return str(made.info.run_id)


def model_index(run: runs.Run, summary: records.Summary, *, dataset: str, name: str | None = None) -> str:
    """YAML for the metadata at the top of a model card: `model-index`, as Hugging Face reads it."""
    result = {
        "task": TASK,
        "dataset": {"name": dataset, "type": dataset},
        "metrics": [
            {"type": each, "value": value, "name": each.replace("_", " ")} for each, value in metrics(summary).items()
        ],
    }
    entry = {"name": name or run.model.removeprefix("models/"), "results": [result]}
    return f"model-index:\n- {json.dumps(entry, ensure_ascii=False)}\n"  # JSON is YAML


def model_card(run: runs.Run, summary: records.Summary, *, dataset: str) -> str:
    """A section of a model card in Markdown."""
    rows = "".join(f"| {each.replace('_', ' ')} | {value:.6g} |\n" for each, value in metrics(summary).items())
    return (
        f"## Attention sinks\n\nMeasured by sinkd on {_plain(dataset)}, {_plain(run.name)}, computed in "
        f"{_plain(', '.join(run.arithmetics))}.\n\n| measure | value |\n|---|--:|\n{rows}"
    )


def _plain(text: str) -> str:
    """Text that Markdown shows as it is."""
    return "".join(each if each.isalnum() or each in " -./:" else f"&#{ord(each)};" for each in text)
