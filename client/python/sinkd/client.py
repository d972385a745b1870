"""The client that blocks; `sinkd.aio` is its twin that awaits."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import grpc
from sinks.v1 import analysis_pb2, runs_pb2

from sinkd import calls, errors, tables
from sinkd.results import AnalysisResult, Audit, Messages, Plan, Record, Result, Study, Summary
from sinkd.samples import Samples
from sinkd.stream import WINDOW, Session

if TYPE_CHECKING:
    import os
    from types import TracebackType

    import pandas as pd
    from matplotlib.axes import Axes
    from sinks.v1 import mechanism_pb2, models_pb2, server_pb2

T = TypeVar("T")


def connect(
    address: str | None = None,
    *,
    token: str | None = None,
    tls: bool | str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None,
    insecure_token: bool = False,
    timeout: float | None = 20.0,
) -> Client:
    """A client of the server at `address`, "host:port"; default: SINKCTL_SERVER, or 127.0.0.1:50051.

    `tls` is the file of the CA that signed the server's certificate, True for one that this machine
    trusts, or {"ca", "cert", "key", "server_name"} for mutual TLS. The server is asked for its version,
    within `timeout` seconds: a VersionWarning where it is not this package's.
    """
    client = Client(calls.target(address, token, tls, insecure_token=insecure_token))
    try:
        client.status(timeout=timeout)
    except BaseException:
        client.close()
        raise
    return client


class Client:
    """Thread-safe. Every method takes `timeout`, in seconds, after which it fails with DEADLINE_EXCEEDED;
    other keyword arguments are fields of the protocol's messages (proto/sinks/v1), enums by their words."""

    def __init__(self, target: calls.Target) -> None:
        self._target = target
        options = list(target.options)
        if target.credentials is None:
            self._channel = grpc.insecure_channel(target.address, options)
        else:
            self._channel = grpc.secure_channel(target.address, target.credentials, options)

    def close(self) -> None:
        """Ends the connection, and the calls that run on it."""
        self._channel.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<sinkd.Client of {self._target.address}>"

    # The server and its models.

    def status(self, *, timeout: float | None = None) -> server_pb2.ServerStatus:
        """What the server is doing; compares its version with this package's."""
        return self._run(calls.check_version(), timeout)

    def models(self, *, timeout: float | None = None) -> Messages[models_pb2.Model]:
        """Every model of the server, loaded or not."""
        return self._run(calls.list_models(), timeout)

    def model(self, model: str, *, timeout: float | None = None) -> models_pb2.Model:
        return self._run(calls.get_model(model), timeout)

    def load(
        self,
        model: str | models_pb2.Model,
        *,
        progress: Callable[[models_pb2.LoadModelResponse], None] | None = None,
        timeout: float | None = None,
        **fields: Any,
    ) -> models_pb2.Model:
        """Loads a model, and returns it when it is READY. `progress` is told bytes_done and bytes_total;
        fields are those of LoadModelRequest: device, compute_type, residency,
        activation_quantization, pinned."""
        return self._run(calls.load(model, progress, fields), timeout)

    def unload(self, model: str | models_pb2.Model, *, timeout: float | None = None) -> models_pb2.Model:
        return self._run(calls.unload(model), timeout)

    def plan(self, model: str | models_pb2.Model, *, timeout: float | None = None, **fields: Any) -> Plan:
        """What loading a model would take, and whether it fits. Fields are those of PlanModelRequest."""
        return self._run(calls.plan(model, fields), timeout)

    # Analyses. `samples` is a text, a pair (prompt, response), a chat, token ids, a mapping like a line
    # of sinkctl's JSONL, an iterable of these, a DataFrame or a split of Hugging Face datasets;
    # `columns` names the columns of a table, {"text": "question"}.

    def analyze(
        self,
        model: str | models_pb2.Model,
        samples: Any,
        *,
        columns: Mapping[str, str] | None = None,
        progress: Callable[[analysis_pb2.Progress], None] | None = None,
        resume: bool = False,
        timeout: float | None = None,
        **fields: Any,
    ) -> Analysis:
        """Analyses in one pass; fields are those of AnalysisSpec: scores=True, levels={"min_share": 0.1},
        run_id="nightly". Nothing is sent before it is iterated over or read. With `resume`, samples that
        the run holds are not sent again."""
        return self._analysis("analyze", model, samples, columns, progress, resume, timeout, fields)

    def detect(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        """Each sample's sinks; fields are those of DetectionParameters too."""
        return self._shortcut("detect", model, samples, fields)

    def scores(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        """The attention each sink receives; fields are those of ScoreParameters too."""
        return self._shortcut("scores", model, samples, fields)

    def levels(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        """The histogram of levels; fields are those of LevelParameters too."""
        return self._shortcut("levels", model, samples, fields)

    def regress(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        """MLP norm against score and lifetime; fields are those of RegressionParameters too."""
        return self._shortcut("regress", model, samples, fields)

    def compensation(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        """Primary against secondary attention; fields are those of CompensationParameters too."""
        return self._shortcut("compensation", model, samples, fields)

    def rate(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        """Gu et al.'s sink rate by position; fields are those of SinkRateParameters too."""
        return self._shortcut("rate", model, samples, fields)

    def heads(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        """What each head does; fields are those of HeadParameters too."""
        return self._shortcut("heads", model, samples, fields)

    # Studies, runs, audits.

    def study(
        self,
        kind: str,
        model: str | models_pb2.Model,
        samples: Any = None,
        *,
        columns: Mapping[str, str] | None = None,
        progress: Callable[[mechanism_pb2.StudyProgress], None] | None = None,
        timeout: float | None = None,
        **fields: Any,
    ) -> Study:
        """Runs the study `kind`, "align" to "ablate". Fields are its parameters, and those of TargetFilter
        and RunStudyRequest: l_start=12, seed=1, run="nightly" for the samples of a run."""
        request = calls.study_request(kind, model, samples, columns, fields)
        return self._run(calls.study(request, progress), timeout)

    def runs(self, *, timeout: float | None = None, **fields: Any) -> Messages[runs_pb2.Run]:
        """Stored runs, newest first. Fields are those of RunFilter: model, labels, created_from, ..."""
        return self._run(calls.list_runs(fields), timeout)

    def run(self, run: str | runs_pb2.Run, *, timeout: float | None = None) -> Run:
        """One stored run."""
        return Run(self, self._run(calls.get_run(run), timeout))

    def audit(
        self,
        policy: str | os.PathLike[str],
        candidate: calls.RunsLike,
        baseline: calls.RunsLike | None = None,
        *,
        seed: int = 0,
        timeout: float | None = None,
    ) -> Audit:
        """Judges runs by a policy, a file or its YAML. Runs are given by name, or by filter as a mapping."""
        return self._run(calls.audit(policy, candidate, baseline, seed), timeout)

    def _shortcut(self, name: str, model: str | models_pb2.Model, samples: Any, fields: Mapping[str, Any]) -> Analysis:
        given = dict(fields)
        columns, progress = given.pop("columns", None), given.pop("progress", None)
        resume, timeout = given.pop("resume", False), given.pop("timeout", None)
        return self._analysis(name, model, samples, columns, progress, resume, timeout, given)

    def _analysis(
        self,
        name: str,
        model: str | models_pb2.Model,
        samples: Any,
        columns: Mapping[str, str] | None,
        progress: Callable[[analysis_pb2.Progress], None] | None,
        resume: bool,
        timeout: float | None,
        fields: Mapping[str, Any],
    ) -> Analysis:
        given = Samples(samples, columns)
        if given.is_async:
            raise TypeError("an async iterable of samples is for sinkd.aio")
        session = calls.session(name, model, given, progress, fields)
        return Analysis(self, name, session, resume=resume, timeout=timeout)

    # How calls are made.

    def _run(self, steps: calls.Steps[T], timeout: float | None) -> T:
        deadline = calls.Deadline(timeout)
        answer: Any = None
        failure: errors.Error | None = None
        while True:
            try:
                step = steps.throw(failure) if failure else steps.send(answer)
            except StopIteration as end:
                result: T = end.value
                return result
            failure = None
            try:
                answer = self._ask(step, deadline)
            except errors.Error as error:
                failure = error

    def _ask(self, step: calls.Ask, deadline: calls.Deadline) -> Any:
        for attempt in range(1, calls.ATTEMPTS + 1):
            told = False
            try:
                if not step.method.streams:
                    return self._open(step.method, step.request, deadline)
                for answer in self._open(step.method, step.request, deadline):
                    told = True
                    step.each(answer)
            except grpc.RpcError as error:
                failure = errors.of_call(error)
                pause = None if told else calls.pause_before_retry(failure, attempt)
                if pause is None or not deadline.allows(pause):
                    raise failure from None
                time.sleep(pause)
            else:
                return None
        return None

    def _open(self, method: calls.Method[Any, Any], request: Any, deadline: calls.Deadline) -> Any:
        call: Any = calls.opener(self._channel, method, request)
        return call(request, timeout=deadline.left(), metadata=self._target.metadata)


class Analysis(AnalysisResult):
    """An analysis that runs as its records are taken: iterate over it, and nothing is kept, or read() it.

    Samples are read on a thread of its own, at most 64 ahead of their records. When the loop ends early,
    by `break`, an exception or Ctrl-C, the stream is cancelled. When the connection breaks, another
    stream takes up what this one left: with a run_id always, without one where the samples can be read
    again, as lists and tables can and generators cannot.
    """

    def __init__(self, client: Client, name: str, session: Session, *, resume: bool, timeout: float | None) -> None:
        super().__init__(name, calls.ANALYSES[name][1], session)
        self._client, self._resume, self._timeout = client, resume, timeout

    def __iter__(self) -> Iterator[Record]:
        if self._records is not None:
            return iter(self._records)
        self._begin()
        return self._stream()

    def read(self) -> Analysis:
        """Runs it to its end and keeps the records, for tables and pictures."""
        if self._records is None:
            self._begin()
            self._records = list(self._stream())
        return self

    @property
    def records(self) -> list[Record]:
        """All of them."""
        return self.read()._records or []

    @property
    def summary(self) -> Summary:
        """That of all samples, or of the whole run; reads what was not read."""
        if not self._begun:
            self.read()
        return self._summary()

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        if not self._begun:
            self.read()
        return super().to_pandas(table)

    def plot(self, table: str | None = None, *, ax: Axes | None = None, **options: Any) -> Axes:
        """A picture of a table of the summary."""
        return self.summary.plot(table, ax=ax, **options)

    def _stream(self) -> Iterator[Record]:
        deadline, session = calls.Deadline(self._timeout), self._session
        if self._resume and session.spec.run_id:
            session.held = self._client._run(calls.sample_keys(f"runs/{session.spec.run_id}"), deadline.left())
        while True:
            try:
                yield from _Stream(self._client, session, deadline)
                break
            except errors.Error as error:
                pause = session.take_up(error)
                if pause is None or not deadline.allows(pause):
                    raise
                time.sleep(pause)
        self._warn_of_errors()


class _Stream:
    """One stream of an analysis."""

    def __init__(self, client: Client, session: Session, deadline: calls.Deadline) -> None:
        self._session, self._number = session, session.stream
        self._window = threading.Semaphore(WINDOW)
        self._ready = threading.Event()  # the call is known
        self._over = False
        self._source_error: BaseException | None = None
        self._call = client._open(calls.ANALYZE, self._requests(), deadline)
        self._ready.set()

    def __iter__(self) -> Iterator[Record]:
        try:
            for response in self._call:
                record, answered = self._session.take(response)
                if answered:
                    self._window.release(answered)
                if record is not None:
                    yield record
            self._session.finish()
        except grpc.RpcError as error:
            if self._source_error is not None:
                raise self._source_error from None
            raise errors.of_call(error) from None
        finally:
            self._over = True
            self._window.release()
            self._call.cancel()

    def _requests(self) -> Iterator[analysis_pb2.AnalyzeRequest]:
        """Runs on a thread of gRPC's."""
        yield analysis_pb2.AnalyzeRequest(spec=self._session.spec)
        self._ready.wait()
        while True:
            if self._session.sends_records:
                self._window.acquire()
            if self._over:
                return
            try:
                sample = self._session.pull(self._number)
            except BaseException as error:  # raised to who reads the answers
                self._source_error = error
                self._call.cancel()
                return
            if sample is None:
                return
            yield analysis_pb2.AnalyzeRequest(sample=sample)


class Run(Result):
    """A stored run: `.message` is its Run as it was when asked for."""

    message: runs_pb2.Run

    def __init__(self, client: Client, message: runs_pb2.Run) -> None:
        self._client, self.message = client, message
        self.errors: list[errors.SampleError] = []  # of the samples read last

    def __repr__(self) -> str:
        return f"<{self.message.name}: {self.message.samples} samples of {self.message.model}>"

    def records(self, *, timeout: float | None = None, **fields: Any) -> Iterator[Record]:
        """Its records as they come, in the order of storing. Fields are those of StreamRecordsRequest."""
        request, self.errors = calls.records_request(self.message, fields), []
        call = self._client._open(calls.STREAM_RECORDS, request, calls.Deadline(timeout))
        try:
            for answer in call:
                yield from calls.records_of(answer, self.errors)
        except grpc.RpcError as error:
            raise errors.of_call(error) from None
        finally:
            call.cancel()

    def summary(self, *, timeout: float | None = None, **fields: Any) -> Summary:
        """Folds its records. Fields are those of SummarizeRunsRequest: spec={"levels": True}, l_start=9."""
        return self._client._run(calls.summarize(self.message.name, fields), timeout)

    def studies(self, *, timeout: float | None = None) -> list[Study]:
        """Those kept with it, oldest first."""
        return self._client._run(calls.list_studies(self.message.name), timeout)

    def complete(self, *, timeout: float | None = None) -> None:
        self.message = self._client._run(calls.set_state(self.message.name, runs_pb2.RUN_STATE_COMPLETE), timeout)

    def reopen(self, *, timeout: float | None = None) -> None:
        self.message = self._client._run(calls.set_state(self.message.name, runs_pb2.RUN_STATE_OPEN), timeout)

    def delete(self, *, timeout: float | None = None) -> None:
        self._client._run(calls.delete_run(self.message.name), timeout)

    def to_pandas(self, table: str | None = None) -> pd.DataFrame:
        """A table of its records, by default its sinks, or of its summary."""
        if table is not None and table not in tables.RECORD_TABLES:
            return self.summary().to_pandas(table)
        origin = tables.Origin(self.message.model, self.message.name)
        messages = (each.message for each in self.records())
        return tables.to_pandas(tables.RECORD_TABLES[table or "sinks"], messages, origin)
