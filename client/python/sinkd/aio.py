"""The client that awaits: the twin of `sinkd.client`, method for method.

    async with await sinkd.aio.connect() as server:
        async for record in server.scores("smollm2", texts):
            ...

Samples may come from an async iterable too; others are read on a thread. A cancelled task, like a loop
that ends early, cancels its call.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Generator, Mapping
from contextlib import aclosing, suppress
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

WRITE_FAILED = "Internal error from Core"  # what grpc.aio then makes of a call's status
STATUS_PATIENCE = 10.0  # seconds


async def connect(
    address: str | None = None,
    *,
    token: str | None = None,
    tls: bool | str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None = None,
    insecure_token: bool = False,
    timeout: float | None = 20.0,
) -> Client:
    """As `sinkd.connect`."""
    client = Client(calls.target(address, token, tls, insecure_token=insecure_token))
    try:
        await client.status(timeout=timeout)
    except BaseException:
        await client.close()
        raise
    return client


class Client:
    """As `sinkd.Client`; for one event loop."""

    def __init__(self, target: calls.Target) -> None:
        self._target = target
        options = list(target.options)
        if target.credentials is None:
            self._channel = grpc.aio.insecure_channel(target.address, options)
        else:
            self._channel = grpc.aio.secure_channel(target.address, target.credentials, options)

    async def close(self) -> None:
        await self._channel.close()

    async def __aenter__(self) -> Client:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    def __repr__(self) -> str:
        return f"<sinkd.aio.Client of {self._target.address}>"

    async def status(self, *, timeout: float | None = None) -> server_pb2.ServerStatus:
        return await self._run(calls.check_version(), timeout)

    async def models(self, *, timeout: float | None = None) -> Messages[models_pb2.Model]:
        return await self._run(calls.list_models(), timeout)

    async def model(self, model: str, *, timeout: float | None = None) -> models_pb2.Model:
        return await self._run(calls.get_model(model), timeout)

    async def load(
        self,
        model: str | models_pb2.Model,
        *,
        progress: Callable[[models_pb2.LoadModelResponse], None] | None = None,
        timeout: float | None = None,
        **fields: Any,
    ) -> models_pb2.Model:
        return await self._run(calls.load(model, progress, fields), timeout)

    async def unload(self, model: str | models_pb2.Model, *, timeout: float | None = None) -> models_pb2.Model:
        return await self._run(calls.unload(model), timeout)

    async def plan(self, model: str | models_pb2.Model, *, timeout: float | None = None, **fields: Any) -> Plan:
        return await self._run(calls.plan(model, fields), timeout)

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
        return self._analysis("analyze", model, samples, columns, progress, resume, timeout, fields)

    def detect(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        return self._shortcut("detect", model, samples, fields)

    def scores(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        return self._shortcut("scores", model, samples, fields)

    def levels(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        return self._shortcut("levels", model, samples, fields)

    def regress(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        return self._shortcut("regress", model, samples, fields)

    def compensation(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        return self._shortcut("compensation", model, samples, fields)

    def rate(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        return self._shortcut("rate", model, samples, fields)

    def heads(self, model: str | models_pb2.Model, samples: Any, **fields: Any) -> Analysis:
        return self._shortcut("heads", model, samples, fields)

    async def study(
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
        request = calls.study_request(kind, model, samples, columns, fields)
        return await self._run(calls.study(request, progress), timeout)

    async def runs(self, *, timeout: float | None = None, **fields: Any) -> Messages[runs_pb2.Run]:
        return await self._run(calls.list_runs(fields), timeout)

    async def run(self, run: str | runs_pb2.Run, *, timeout: float | None = None) -> Run:
        return Run(self, await self._run(calls.get_run(run), timeout))

    async def audit(
        self,
        policy: str | os.PathLike[str],
        candidate: calls.RunsLike,
        baseline: calls.RunsLike | None = None,
        *,
        seed: int = 0,
        timeout: float | None = None,
    ) -> Audit:
        return await self._run(calls.audit(policy, candidate, baseline, seed), timeout)

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
        session = calls.session(name, model, Samples(samples, columns), progress, fields)
        return Analysis(self, name, session, resume=resume, timeout=timeout)

    async def _run(self, steps: calls.Steps[T], timeout: float | None) -> T:
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
                answer = await self._ask(step, deadline)
            except errors.Error as error:
                failure = error

    async def _ask(self, step: calls.Ask, deadline: calls.Deadline) -> Any:
        for attempt in range(1, calls.ATTEMPTS + 1):
            told = False
            try:
                if not step.method.streams:
                    return await self._open(step.method, step.request, deadline)
                async for answer in self._open(step.method, step.request, deadline):
                    told = True
                    step.each(answer)
            except grpc.RpcError as error:
                failure = errors.of_call(error)
                pause = None if told else calls.pause_before_retry(failure, attempt)
                if pause is None or not deadline.allows(pause):
                    raise failure from None
                await asyncio.sleep(pause)
            else:
                return None
        return None

    def _open(self, method: calls.Method[Any, Any], request: Any, deadline: calls.Deadline) -> Any:
        call: Any = calls.opener(self._channel, method, request)
        given = () if request is None else (request,)  # or it is written piece by piece
        return call(*given, timeout=deadline.left(), metadata=self._target.metadata)


class Analysis(AnalysisResult):
    """As `sinkd.Analysis`: `async for` over it, or await it, which reads it whole."""

    def __init__(self, client: Client, name: str, session: Session, *, resume: bool, timeout: float | None) -> None:
        super().__init__(name, calls.ANALYSES[name][1], session)
        self._client, self._resume, self._timeout = client, resume, timeout

    def __aiter__(self) -> AsyncIterator[Record]:
        if self._records is not None:
            return _each(self._records)
        self._begin()
        return self._stream()

    async def read(self) -> Analysis:
        if self._records is None:
            self._begin()
            self._records = [record async for record in self._stream()]
        return self

    def __await__(self) -> Generator[Any, None, Analysis]:
        return self.read().__await__()

    @property
    def records(self) -> list[Record]:
        """All of them, once it was read."""
        if self._records is None:
            raise RuntimeError("await the analysis, or its read(), first")
        return self._records

    @property
    def summary(self) -> Summary:
        """That of all samples, or of the whole run, once it was read."""
        return self._summary()

    def plot(self, table: str | None = None, *, ax: Axes | None = None, **options: Any) -> Axes:
        return self.summary.plot(table, ax=ax, **options)

    async def _stream(self) -> AsyncIterator[Record]:
        deadline, session = calls.Deadline(self._timeout), self._session
        if self._resume and session.spec.run_id:
            steps = calls.sample_keys(f"runs/{session.spec.run_id}")
            session.held = await self._client._run(steps, deadline.left())
        try:
            while True:
                try:
                    async with aclosing(_Stream(self._client, session, deadline).records()) as records:
                        async for record in records:
                            yield record
                    break
                except errors.Error as error:
                    pause = session.take_up(error)
                    if pause is None or not deadline.allows(pause):
                        raise
                    await asyncio.sleep(pause)
        finally:
            session.stop_reading()
        self._warn_of_errors()


async def _each(records: list[Record]) -> AsyncIterator[Record]:
    for record in records:
        yield record


class _Stream:
    """One stream of an analysis."""

    def __init__(self, client: Client, session: Session, deadline: calls.Deadline) -> None:
        self._session, self._number = session, session.stream
        self._window = asyncio.Semaphore(WINDOW)
        self._source_error: BaseException | None = None
        self._status: grpc.aio.AioRpcError | None = None
        self._status_came = asyncio.Event()
        self._call = client._open(calls.ANALYZE, None, deadline)
        self._call.add_done_callback(self._note_status)

    async def records(self) -> AsyncGenerator[Record, None]:
        sender = asyncio.create_task(self._send())
        try:
            async for response in self._call:
                record, answered = self._session.take(response)
                for _ in range(answered):
                    self._window.release()
                if record is not None:
                    yield record
            self._session.finish()
        except grpc.RpcError as error:
            raise self._source_error or await self._failure(error) from None
        except asyncio.CancelledError:
            if self._source_error is None:
                raise
            raise self._source_error from None
        finally:
            self._call.cancel()
            sender.cancel()
            await asyncio.gather(sender, return_exceptions=True)

    async def _send(self) -> None:
        try:
            await self._call.write(analysis_pb2.AnalyzeRequest(spec=self._session.spec))
            while (sample := await self._pull()) is not None:
                await self._call.write(analysis_pb2.AnalyzeRequest(sample=sample))
            if self._source_error is None:
                await self._call.done_writing()
        except (grpc.RpcError, asyncio.InvalidStateError):
            pass  # the call is over, and who reads its answers hears why

    async def _pull(self) -> analysis_pb2.Sample | None:
        if self._session.sends_records:
            await self._window.acquire()
        try:
            return await self._session.pull_async(self._number)
        except Exception as error:  # raised to who reads the answers
            self._source_error = error
            self._call.cancel()
            return None

    def _note_status(self, call: Any) -> None:
        """A write that fails overwrites the call's status, before or after it came: so it is noted here."""
        details = _now(call.details())
        if details != WRITE_FAILED:
            metadata = _now(call.trailing_metadata())
            self._status = grpc.aio.AioRpcError(_now(call.code()), grpc.aio.Metadata(), metadata, details)
            self._status_came.set()

    async def _failure(self, error: Any) -> errors.Error:
        if error.details() == WRITE_FAILED:
            with suppress(asyncio.TimeoutError):
                await asyncio.wait_for(self._status_came.wait(), STATUS_PATIENCE)
        return errors.of_call(self._status or error)


def _now(ready: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine that has nothing to wait for."""
    try:
        ready.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    raise RuntimeError("the status of a call that is done is not known")


class Run(Result):
    """As `sinkd.Run`."""

    message: runs_pb2.Run

    def __init__(self, client: Client, message: runs_pb2.Run) -> None:
        self._client, self.message = client, message
        self.errors: list[errors.SampleError] = []  # of the samples read last

    def __repr__(self) -> str:
        return f"<{self.message.name}: {self.message.samples} samples of {self.message.model}>"

    async def records(self, *, timeout: float | None = None, **fields: Any) -> AsyncIterator[Record]:
        request, self.errors = calls.records_request(self.message, fields), []
        call = self._client._open(calls.STREAM_RECORDS, request, calls.Deadline(timeout))
        try:
            async for answer in call:
                for record in calls.records_of(answer, self.errors):
                    yield record
        except grpc.RpcError as error:
            raise errors.of_call(error) from None
        finally:
            call.cancel()

    async def summary(self, *, timeout: float | None = None, **fields: Any) -> Summary:
        return await self._client._run(calls.summarize(self.message.name, fields), timeout)

    async def studies(self, *, timeout: float | None = None) -> list[Study]:
        return await self._client._run(calls.list_studies(self.message.name), timeout)

    async def complete(self, *, timeout: float | None = None) -> None:
        steps = calls.set_state(self.message.name, runs_pb2.RUN_STATE_COMPLETE)
        self.message = await self._client._run(steps, timeout)

    async def reopen(self, *, timeout: float | None = None) -> None:
        steps = calls.set_state(self.message.name, runs_pb2.RUN_STATE_OPEN)
        self.message = await self._client._run(steps, timeout)

    async def delete(self, *, timeout: float | None = None) -> None:
        await self._client._run(calls.delete_run(self.message.name), timeout)

    async def read(self, table: str = "sinks") -> pd.DataFrame:
        """A table of its records, or of its summary, as a DataFrame."""
        if table not in tables.RECORD_TABLES:
            return (await self.summary()).to_pandas(table)
        messages = [record.message async for record in self.records()]
        return tables.to_pandas(
            tables.RECORD_TABLES[table], messages, tables.Origin(self.message.model, self.message.name)
        )
