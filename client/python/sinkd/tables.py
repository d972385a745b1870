"""Messages as tables: one line a table says its columns, which are those of sinkctl's CSV.

A column is `name`, or `name=path` where the field is called otherwise or lies in another message,
and `name:type` where no field holds it; a `?` at the end lets values be absent. Types and words
of enums come from the messages' descriptors.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message
from google.protobuf.timestamp_pb2 import Timestamp
from sinks.v1 import audit_pb2 as audits
from sinks.v1 import mechanism_pb2 as studies
from sinks.v1 import models_pb2 as models
from sinks.v1 import records_pb2 as records
from sinks.v1 import runs_pb2 as runs

from sinkd.fields import word

if TYPE_CHECKING:
    import pandas as pd

COLUMN = re.compile(r"(?P<name>\w+)(=(?P<path>[\w.]+))?(:(?P<type>\w+))?(?P<absent>\?)?$")
NUMBERS = {
    FieldDescriptor.CPPTYPE_DOUBLE: "float64",
    FieldDescriptor.CPPTYPE_FLOAT: "float32",
    FieldDescriptor.CPPTYPE_BOOL: "bool",
    FieldDescriptor.CPPTYPE_STRING: "text",
}
NULLABLE = {"int64": "Int64", "bool": "boolean"}  # the types of pandas that can be absent

# What a row is made of: values of columns without a field, and the messages that hold the fields.
Row = tuple[dict[str, Any], tuple[Message, ...]]


@dataclass(frozen=True)
class Column:
    name: str
    kind: str  # int64, float64, float32, bool, text
    absent: bool
    read: Callable[[Row], Any]


@dataclass(frozen=True)
class Table:
    spec: str
    types: tuple[type[Message], ...]  # of a row's messages, in their order
    rows: Callable[[Any], Iterable[Row]]  # of what the table is made of

    @cached_property
    def columns(self) -> list[Column]:
        return [self._column(each) for each in self.spec.split()]

    def values(self, source: Any) -> Iterator[list[Any]]:
        """Row by row; None where a value is absent."""
        for row in self.rows(source):
            yield [column.read(row) for column in self.columns]

    def _column(self, text: str) -> Column:
        match = COLUMN.match(text)
        if match is None:
            raise ValueError(f"{text!r} is no column")
        name, absent = match["name"], match["absent"] is not None
        if match["type"] is not None:
            return Column(name, match["type"], absent, lambda row: row[0].get(name))
        path = (match["path"] or name).split(".")
        at = next(at for at, each in enumerate(self.types) if path[0] in each.DESCRIPTOR.fields_by_name)
        field = _field(self.types[at].DESCRIPTOR, path)
        kind = "text" if field.is_repeated or field.enum_type else NUMBERS.get(field.cpp_type, "int64")
        return Column(name, kind, absent, lambda row: _value(row[1][at], path, absent=absent))


@dataclass(frozen=True)
class Origin:
    """What a table is of, in its last two columns; no run is an empty text."""

    model: str
    run: str = ""


def to_pandas(table: Table, sources: Iterable[Any], origin: Origin | None = None) -> pd.DataFrame:
    """One DataFrame of the rows of all `sources`."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError("DataFrames need pandas: pip install pandas") from error
    lines = [values for source in sources for values in table.values(source)]
    data = {}
    for at, column in enumerate(table.columns):
        kind: Any = "str" if column.kind == "text" else column.kind
        if column.absent:
            kind = NULLABLE.get(column.kind, kind)
        data[column.name] = pd.Series([line[at] for line in lines], dtype=kind)
    if origin is not None:
        for name, value in (("model", origin.model), ("run", origin.run)):
            data[name] = pd.Series([value] * len(lines), dtype="str")
    frame: pd.DataFrame = pd.DataFrame(data)
    return frame


def _field(descriptor: Any, path: list[str]) -> Any:
    *outer, last = path
    for name in outer:
        inner = descriptor.fields_by_name[name].message_type
        if inner is None:
            raise ValueError(f"{name} is no message")
        descriptor = inner
    return descriptor.fields_by_name[last]


def _value(message: Message, path: list[str], *, absent: bool) -> Any:
    """The field's value as pandas takes it; None where it, or a message around it, is absent."""
    *outer, last = path
    for name in outer:
        if absent and not message.HasField(name):
            return None
        message = getattr(message, name)
    field = message.DESCRIPTOR.fields_by_name[last]
    value = getattr(message, last)
    if field.is_repeated:
        separator = "; " if field.cpp_type == FieldDescriptor.CPPTYPE_STRING else " "
        return separator.join(_text(field, each) for each in value)
    if absent and not message.HasField(last):
        return None
    return word(field.enum_type, value) if field.enum_type else value


def _text(field: Any, value: Any) -> str:
    if field.cpp_type != FieldDescriptor.CPPTYPE_FLOAT:
        return str(value)
    for digits in range(6, 10):  # the fewest that read back to the same float32
        text = repr(float(f"{value:.{digits}g}"))
        if struct.pack("f", float(text)) == struct.pack("f", value):
            break
    return text.removesuffix(".0")


def _sinks(record: records.SampleRecord) -> Iterator[Row]:
    yield {"role": "primary"}, (record.primary, record)
    for sink in record.sinks:
        yield {"role": "sink"}, (sink, record)


def _heads(chunk: records.AlphaChunk) -> Iterator[Row]:
    for at, alpha in enumerate(chunk.values):
        head, position = divmod(at, chunk.positions)
        defined = alpha if alpha == alpha else None  # NaN
        yield {"head": chunk.first_head + head, "position": position, "alpha": defined}, (chunk,)


def _fits(summary: records.Summary) -> Iterator[Row]:
    for y, result in (("score", summary.regression.score), ("lifetime", summary.regression.lifetime)):
        for fit in result.fits:
            yield {"y": y}, (fit, result)


def _mean_of_row(values: Sequence[float], row: int, columns: int) -> float | None:
    """The mean of one row of a matrix, row-major; None where there is no such row."""
    found = values[row * columns : (row + 1) * columns]
    return sum(found) / columns if found else None


def _blocks(summary: records.Summary) -> Iterator[Row]:
    report, mass, gates = summary.compensation, summary.learned_sinks.mass, summary.gates
    attending = list(summary.attention_blocks) or range(len(report.blocks))
    places = {block: place for place, block in enumerate(attending)}
    for at, block in enumerate(report.blocks):
        row: dict[str, Any] = {"block": at, "samples_weakest_here": report.weakest_block.get(at, 0)}
        place = places.get(at)
        if place is not None:
            row["learned_sink_mass"] = mass[place] if place < len(mass) else None
            row["gate"] = _mean_of_row(gates.all, place, gates.heads)
            row["gate_primary"] = _mean_of_row(gates.primary, place, gates.heads)
            row["gate_secondary"] = _mean_of_row(gates.secondary, place, gates.heads)
        yield row, (block,)


def _rates(summary: records.Summary) -> Iterator[Row]:
    report = summary.sink_rate
    for at, (rate, hits, cells) in enumerate(zip(report.rates, report.hits, report.cells, strict=True)):
        yield {"position": at, "rate": rate if cells else None, "hits": hits, "cells": cells}, ()


HEAD_MEASURES = (
    "entropy",
    "max_weight",
    "primary",
    "secondary",
    "rest",
    "learned_sink",
    "previous_token",
    "duplicate_token",
    "first_token",
    "primary_value",
    "secondary_value",
    "rest_value",
    "primary_value_share",
    "gate",
)
HEAD_FLAGS = ("dormant", "collapsed", "focused")


def _head_means(summary: records.Summary) -> Iterator[Row]:
    report = summary.heads
    flagged = {flag: {(each.block, each.head) for each in getattr(report, flag)} for flag in HEAD_FLAGS}
    for at in range(len(report.entropy)):
        place, head = divmod(at, report.heads)
        block = summary.attention_blocks[place] if summary.attention_blocks else place
        row: dict[str, Any] = {"block": block, "head": head}
        for name in HEAD_MEASURES:
            values = getattr(report, name)
            row[name] = values[at] if at < len(values) else None
        yield row | {flag: (block, head) in of for flag, of in flagged.items()}, ()


def _rows(path: str) -> Callable[[Message], Iterator[Row]]:
    """A row an element of a repeated field."""

    def rows(message: Any) -> Iterator[Row]:
        for name in path.split("."):
            message = getattr(message, name)
        for each in message:
            yield {}, (each,)

    return rows


def _one(message: Message) -> Iterator[Row]:
    yield {}, (message,)


PARTS = ("standard_error", "t", "p", "lower", "upper")


def _coefficient(column: str, field: str) -> str:
    return " ".join([f"{column}={field}.value?", *(f"{column}_{part}={field}.{part}?" for part in PARTS)])


ESTIMATE = "value? lower? upper? n undefined"

# Of records: a row a sink, a row a position of a head, a row a sample.
RECORD_TABLES = {
    "sinks": Table(
        "sample_index sample_id tokens=positions prompt_tokens? window_start window_end undecided role:text "
        "position token_id token_text kind l_start lifetime layers contiguous margin? mlp_norm? state_norm? "
        "score? score_maximum? score_curve attention_blocks learned_sink_mass",
        (records.Sink, records.SampleRecord),
        _sinks,
    ),
    "heads": Table("sample_index block head:int64 position:int64 alpha:float32?", (records.AlphaChunk,), _heads),
    "records": Table(
        "sample_index sample_id layers tokens=positions prompt_tokens? response_tokens? chat_rendered "
        "token_spans_boundary window_start window_end undecided",
        (records.SampleRecord,),
        _one,
    ),
}
# Of summaries: a row a level and kind, a fit, a block, a position, a head.
SUMMARY_TABLES = {
    "levels": Table("l_start lifetime kind count", (records.LevelCount,), _rows("levels.counts")),
    "fits": Table(
        "y:text form n left_out undefined "
        + _coefficient("a", "intercept")
        + " "
        + _coefficient("b", "slope")
        + " r_squared? residual_deviation? aic? pearson=pearson.value? pearson_p=pearson.p? "
        "spearman=spearman.value? spearman_p=spearman.p?",
        (records.Fit, records.RegressionResult),
        _fits,
    ),
    "blocks": Table(
        "block:int64 primary? primary_lower=primary_interval.lower? primary_upper=primary_interval.upper? "
        "secondary? secondary_lower=secondary_interval.lower? secondary_upper=secondary_interval.upper? "
        "rest? primary_norm samples_weakest_here:int64 gate:float64? gate_primary:float64? "
        "gate_secondary:float64? learned_sink_mass:float64?",
        (records.BlockCompensation,),
        _blocks,
    ),
    "rates": Table("position:int64 rate:float64? hits:int64 cells:int64", (), _rates),
    "head_means": Table(
        "block:int64 head:int64 "
        + " ".join(f"{name}:float64?" for name in HEAD_MEASURES)
        + " "
        + " ".join(f"{flag}:bool" for flag in HEAD_FLAGS),
        (),
        _head_means,
    ),
}


def _align(report: studies.StudyReport) -> Iterator[Row]:
    for row in report.align.rows:
        yield {}, (row, row.cosine)


def _pca(report: studies.StudyReport) -> Iterator[Row]:
    for name, directions in (("component", report.pca.components), ("random", report.pca.random)):
        for at, direction in enumerate(directions):
            for trial in direction.trials:
                yield {"direction": name, "index": at}, (direction, trial)


def _swap(report: studies.StudyReport) -> Iterator[Row]:
    for row in report.swap.rows:
        for group in ("targets", "untouched", "control_swap"):
            outcome = getattr(row, group)
            for measure in outcome.DESCRIPTOR.fields_by_name:
                yield {"group": group, "measure": measure}, (row, getattr(outcome, measure))
        if row.HasField("loss_change"):
            yield {"group": "targets", "measure": "loss_change"}, (row, row.loss_change)
        if row.HasField("control_loss_change"):
            yield {"group": "control_swap", "measure": "loss_change"}, (row, row.control_loss_change)


def _measures(path: str) -> Callable[[studies.StudyReport], Iterator[Row]]:
    """A row an estimate of each row of the report."""

    def rows(report: Any) -> Iterator[Row]:
        for row in getattr(report, path).rows:
            for field in row.DESCRIPTOR.fields:
                optional = field.name == "loss_change" and not row.HasField(field.name)
                if field.message_type is not None and not optional:
                    yield {"measure": field.name}, (row, getattr(row, field.name))

    return rows


def _norms(report: studies.StudyReport) -> Iterator[Row]:
    for row in report.norms.rows:
        for group in ("primary", "secondary", "rest"):
            norms = getattr(row, group)
            for measure in ("key", "value", "state"):
                median = f"{measure}_median"
                value = getattr(norms, median) if norms.HasField(median) else None
                yield {"group": group, "measure": measure, "median": value}, (row, getattr(norms, measure))


def _massive(report: studies.StudyReport) -> Iterator[Row]:
    for row in report.massive.rows:
        of = "sample" if row.HasField("sample_index") else "all"
        for rank, entry in enumerate(row.entries):
            yield {"of": of, "rank": rank}, (entry, row)


def _ablate(report: studies.StudyReport) -> Iterator[Row]:
    for row in report.ablate.rows:
        for field in row.DESCRIPTOR.fields:
            if field.message_type is studies.Estimate.DESCRIPTOR and row.HasField(field.name):
                empty = {"measure": field.name, "first_distance": None, "last_distance": None}
                yield empty, (row, getattr(row, field.name))
        for point in row.curve:
            distances = {"first_distance": point.first_distance, "last_distance": point.last_distance}
            yield {"measure": "loss_change", **distances}, (row, point.loss_change)


STUDY_TABLES = {
    "align": Table(
        f"l_start? site group {ESTIMATE} minimum? median? maximum?", (studies.AlignRow, studies.Estimate), _align
    ),
    "pca": Table(
        "direction:text index:int64 explained_variance? singular_value? effective scale output_norm cosine",
        (studies.PcaDirection, studies.PcaTrial),
        _pca,
    ),
    "cluster": Table(
        "block site adjusted_rand? silhouette? auc? undefined", (studies.ClusterRow,), _rows("cluster.rows")
    ),
    "swap": Table(f"block site group:text measure:text {ESTIMATE}", (studies.SwapRow, studies.Estimate), _swap),
    "steer": Table(f"tau? measure:text {ESTIMATE}", (studies.SteerRow, studies.Estimate), _measures("steer")),
    "entropy": Table(f"block measure:text {ESTIMATE}", (studies.EntropyRow, studies.Estimate), _measures("entropy")),
    "norms": Table(
        f"block group:text measure:text {ESTIMATE} median:float64?", (studies.NormsRow, studies.Estimate), _norms
    ),
    "massive": Table(
        "block of:text rank:int64 value channel sample_index position token_id token_text median largest_of_rest",
        (studies.MassiveEntry, studies.MassiveRow),
        _massive,
    ),
    "ablate": Table(
        "ablation group role l_start? lifetime? block? head? measure:text first_distance:int64? last_distance:int64? "
        + ESTIMATE,
        (studies.AblateRow, studies.Estimate),
        _ablate,
    ),
}


def _plan_devices(response: models.PlanModelResponse) -> Iterator[Row]:
    for share in response.plan.devices:
        yield {}, (share, response.plan)


def _model(model: models.Model) -> Iterator[Row]:
    used = f"{model.last_used_time.ToDatetime():%Y-%m-%dT%H:%M:%SZ}" if model.HasField("last_used_time") else None
    yield {"last_used_time": used}, (model,)


def _run(run: runs.Run) -> Iterator[Row]:
    labels = " ".join(f"{name}={value}" for name, value in sorted(run.labels.items()))
    times = {name: _time(getattr(run, name)) for name in ("create_time", "update_time")}
    yield {"labels": labels, **times}, (run,)


def _time(time: Timestamp) -> str:
    return time.ToDatetime().strftime("%Y-%m-%d %H:%M:%S")


PLAN_TABLES = {
    "devices": Table(
        "name architecture compute_type residency parameters stored_bytes positions=positions device first_block "
        "blocks weight_bytes activation_bytes free_bytes? fits budget_bytes? held_bytes pinned_bytes "
        "evicted_bytes sample_fits",
        (models.DeviceShare, models.ModelPlan),
        _plan_devices,
    ),
    "tensors": Table("name stored_type shape stored_bytes use", (models.PlannedTensor,), _rows("tensors")),
}
# Of single messages in a list.
LIST_TABLES: dict[type[Message], Table] = {
    models.Model: Table(
        "name state architecture blocks? hidden_size? heads? kv_heads? vocabulary_size? max_positions? device "
        "compute_type? weight_bytes? has_chat_template? failure warnings residency? pinned? last_used_time:text? "
        "users?",
        (models.Model,),
        _model,
    ),
    runs.Run: Table(
        "name model state create_time:text update_time:text samples failed_samples tokens primary_sinks "
        "secondary_sinks noise_sinks size_bytes labels:text",
        (runs.Run,),
        _run,
    ),
    audits.RuleResult: Table(
        "name measure verdict value? baseline_value? limit p? adjusted_p? reason candidate_n? baseline_n? "
        "lower=interval.lower? upper=interval.upper?",
        (audits.RuleResult,),
        _one,
    ),
}
