"""What calls give: the protocol's messages, with tables, pictures and, in a notebook, a text with its sinks.

Each result holds its message and lends its fields: `record.sinks` is `record.message.sinks`, whose
meaning proto/sinks/v1 tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Generic, TypeVar
from warnings import warn

from google.protobuf.message import Message
from sinks.v1 import analysis_pb2 as analysis
from sinks.v1 import audit_pb2 as audits
from sinks.v1 import mechanism_pb2 as studies
from sinks.v1 import models_pb2 as models
from sinks.v1 import records_pb2 as records

from sinkd import markup, plots, tables
from sinkd.errors import SampleError, SampleWarning
from sinkd.fields import word
from sinkd.tables import Origin

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

    from sinkd.stream import Session

T = TypeVar("T", bound=Message)
Tables = dict[str, tuple[tables.Table, Iterable[Any]]]
SHOWN = 10  # records of an analysis in a notebook


class Tabular:
    """Has tables by name, the first of which is the default."""

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """A table as a DataFrame whose columns are those of sinkctl's CSV; `table` is one of `tables`."""
        every = self._tables()
        name = table or next(iter(every), "")
        if name not in every:
            raise ValueError(f"there is no table {name!r}; there are: {', '.join(every)}")
        return tables.to_pandas(*every[name], self._origin())

    @property
    def tables(self) -> list[str]:
        """Names of the tables that `to_pandas` gives."""
        return list(self._tables())

    def _tables(self) -> Tables:
        """What each table is made of."""
        raise NotImplementedError

    def _origin(self) -> Origin | None:
        """Which model and run the tables are of, where that is known."""
        return None


class Result(Tabular):
    """A message with its tables."""

    message: Any

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_") or name == "message":
            raise AttributeError(name)
        return getattr(self.message, name)

    def __dir__(self) -> Iterable[str]:
        return [*super().__dir__(), *self.message.DESCRIPTOR.fields_by_name]


class Messages(list[T], Generic[T]):
    """A list of messages that is a table too."""

    def __init__(self, kind: type[T], each: Iterable[T] = ()) -> None:
        super().__init__(each)
        self._kind = kind

    def to_pandas(self) -> pd.DataFrame:
        return tables.to_pandas(tables.LIST_TABLES[self._kind], self)


class Record(Result):
    """What is known of one sample: `.message` is its SampleRecord, `.sample` what was sent, where this
    program sent it, `.alpha` the attention of every position, when `all_positions` asked for it."""

    message: records.SampleRecord

    def __init__(
        self,
        message: records.SampleRecord,
        sample: analysis.Sample | None = None,
        alpha: Iterable[records.AlphaChunk] = (),
    ) -> None:
        self.message, self.sample, self.alpha = message, sample, list(alpha)

    def __repr__(self) -> str:
        name = self.message.sample_id or str(self.message.sample_index)
        kinds = [word(records.SinkKind.DESCRIPTOR, each.kind) for each in self.message.sinks]
        counts = ", ".join(f"{kinds.count(each)} {each}" for each in sorted(set(kinds), reverse=True)) or "no"
        return f"<Record {name!r}: {self.message.positions} tokens, {counts} sinks past the primary one>"

    def _repr_html_(self) -> str:
        return markup.record(self.message, self.sample)

    def plot(self, *, position: int | None = None, ax: Axes | None = None) -> Axes:
        """Attention that a position receives, by block and head; by default the primary sink."""
        return plots.heads(self.message, self.alpha, position, ax)

    def _tables(self) -> Tables:
        return _record_tables([self])


class Summary(Result):
    """A fold over records."""

    message: records.Summary

    def __init__(self, message: records.Summary) -> None:
        self.message = message

    def __repr__(self) -> str:
        return f"<Summary of {self.message.samples} samples: {', '.join(self.tables) or 'no reports'}>"

    def plot(self, table: str | None = None, *, ax: Axes | None = None, **options: Any) -> Axes:
        """A picture of a table; `fits` takes y="score" or "lifetime", `head_means` measure=, one of its columns."""
        name = table or next(iter(self._tables()))
        if name not in self._tables():
            raise ValueError(f"there is no table {name!r}; there are {', '.join(self._tables())}")
        return plots.SUMMARIES[name](self.message, ax, **options)

    def _tables(self) -> Tables:
        return {
            name: (tables.SUMMARY_TABLES[name], [self.message])
            for name, report in REPORTS.items()
            if self.message.HasField(report)
        }


REPORTS = {
    "levels": "levels",
    "fits": "regression",
    "blocks": "compensation",
    "rates": "sink_rate",
    "head_means": "heads",
}


class Study(Result):
    """The report of a study; `.started` says what it depends on, `.errors` which samples it lacks."""

    message: studies.StudyReport

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.message = studies.StudyReport()
        self.started = studies.StudyStarted()
        self.errors: list[SampleError] = []

    def __repr__(self) -> str:
        part = ", partial" if self.message.partial else ""
        return f"<Study {self.kind}: {self.message.samples} samples, {self.message.targets} targets{part}>"

    def plot(self, *, ax: Axes | None = None, **options: Any) -> Axes:
        """A picture of the report; `norms` takes measure="state", "key" or "value"."""
        if self.kind not in plots.STUDIES:
            raise ValueError(f"{self.kind} has no picture; these have: {', '.join(plots.STUDIES)}")
        return plots.STUDIES[self.kind](self.message, ax, **options)

    def _tables(self) -> Tables:
        return {self.kind: (tables.STUDY_TABLES[self.kind], [self.message])}

    def _origin(self) -> Origin:
        return Origin(self.started.request.model, self.started.request.run)


class Plan(Result):
    """What loading a model would take: `.message` is its ModelPlan."""

    message: models.ModelPlan

    def __init__(self, response: models.PlanModelResponse) -> None:
        self._response = response
        self.message = response.plan

    def __repr__(self) -> str:
        return f"<Plan of {self.message.name}: {'fits' if self.message.fits else self.message.refusal}>"

    def _tables(self) -> Tables:
        return {name: (table, [self._response]) for name, table in tables.PLAN_TABLES.items()}


class Audit(Result):
    """The verdict of a policy: `.message` is the AuditRunsResponse."""

    message: audits.AuditRunsResponse

    def __init__(self, message: audits.AuditRunsResponse) -> None:
        self.message = message

    @property
    def passed(self) -> bool:
        return self.message.verdict == audits.VERDICT_PASS

    def __repr__(self) -> str:
        verdict = word(audits.Verdict.DESCRIPTOR, self.message.verdict)
        return f"<Audit {self.message.policy_name!r}: {verdict}, {len(self.message.rules)} rules>"

    def _tables(self) -> Tables:
        return {"rules": (tables.LIST_TABLES[audits.RuleResult], self.message.rules)}


class AnalysisResult(Tabular):
    """What an analysis knows once it was read."""

    def __init__(self, name: str, table: str, session: Session) -> None:
        self._name, self._table, self._session = name, table, session
        self._begun = False
        self._records: list[Record] | None = None  # once read

    @property
    def started(self) -> analysis.AnalyzeStarted | None:
        """The spec with every default, and what else the results depend on; None before the first answer."""
        return self._session.started

    @property
    def errors(self) -> list[SampleError]:
        """Samples without a record, so far."""
        return self._session.sample_errors

    @property
    def left_out(self) -> int:
        """Samples that were not sent because the run holds them."""
        return self._session.left_out

    def __repr__(self) -> str:
        what = f"{self._name} of {self._session.spec.model}"
        if not self._begun:
            return f"<Analysis {what}: not begun; iterate over it, or read() it>"
        have = f"{len(self._records)} records" if self._records is not None else "its records were taken one by one"
        return f"<Analysis {what}: {have}" + (f", {len(self.errors)} errors>" if self.errors else ">")

    def _begin(self) -> None:
        if self._begun:
            raise RuntimeError("this analysis was read already; read() keeps the records, iterating does not")
        self._begun = True

    def _warn_of_errors(self) -> None:
        if self.errors:
            many = "1 sample has" if len(self.errors) == 1 else f"{len(self.errors)} samples have"
            warn(
                f"{many} no record, see .errors: {self.errors[0].message}",
                SampleWarning,
                stacklevel=4,
            )

    def _repr_html_(self) -> str:
        if not self._records:
            return markup.text(repr(self))
        more = len(self._records) - SHOWN
        rest = markup.text(f"and {more} more") if more > 0 else ""
        return "".join(each._repr_html_() for each in self._records[:SHOWN]) + rest

    def _summary(self) -> Summary:
        if self._session.summary is None:
            raise RuntimeError("there is no summary: the analysis is not at its end, or no_summary was asked for")
        return Summary(self._session.summary)

    def _tables(self) -> Tables:
        found = _record_tables(self._records) if self._records is not None else {}
        if self._session.summary is not None:
            found.update(Summary(self._session.summary)._tables())
        if self._table in found:
            found = {self._table: found.pop(self._table), **found}
        return found

    def _origin(self) -> Origin:
        spec = self._session.spec
        return Origin(spec.model, f"runs/{spec.run_id}" if spec.run_id else "")


def _record_tables(of: Iterable[Record]) -> Tables:
    made = list(of)
    chunks = [chunk for record in made for chunk in record.alpha]
    messages = [record.message for record in made]
    found: Tables = {
        name: (table, chunks if name == "heads" else messages) for name, table in tables.RECORD_TABLES.items()
    }
    if not chunks:
        del found["heads"]
    return found
