"""Every call as steps that do no I/O: what to ask, and what becomes of the answer.

A call is a generator that yields Ask and is sent the answer; `sinkd.client` and `sinkd.aio` run the
same generators, one blocking and one awaiting.
"""

from __future__ import annotations

import json
import os
import socket
import time
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, Generic, TypeVar
from warnings import warn

import grpc
from google.protobuf.message import Message
from sinks.v1 import analysis_pb2 as analysis
from sinks.v1 import audit_pb2 as audits
from sinks.v1 import mechanism_pb2 as studies
from sinks.v1 import models_pb2 as models
from sinks.v1 import runs_pb2 as runs
from sinks.v1 import server_pb2 as server

from sinkd.errors import Error, SampleError, VersionWarning, of_sample
from sinkd.fields import fill, fill_first
from sinkd.results import Audit, Messages, Plan, Record, Study, Summary
from sinkd.samples import Samples
from sinkd.stream import Session
from sinkd.tables import SUMMARY_TABLES

Q = TypeVar("Q", bound=Message)
A = TypeVar("A", bound=Message)
T = TypeVar("T")

VERSION = version("sinkd")
DEFAULT_ADDRESS = "127.0.0.1:50051"
SCHEMES = ("ipv4:", "ipv6:", "dns:", "unix:")
# The report of a study may take 64 MiB.
MAX_RECEIVE_BYTES = 65 << 20
ATTEMPTS = 3
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 2.0  # seconds
CHANNEL_OPTIONS: tuple[tuple[str, Any], ...] = (
    ("grpc.service_config", json.dumps({"loadBalancingConfig": [{"round_robin": {}}]})),
    ("grpc.initial_reconnect_backoff_ms", 200),
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.max_receive_message_length", MAX_RECEIVE_BYTES),
    ("grpc.primary_user_agent", f"sinkd-python/{VERSION}"),
)


@dataclass(frozen=True)
class Method(Generic[Q, A]):
    path: str
    answer: type[A]
    streams: bool = False  # answers come one after the other


M = "/sinks.v1.ModelService"
R = "/sinks.v1.RunService"
LIST_MODELS = Method[models.ListModelsRequest, models.ListModelsResponse](f"{M}/ListModels", models.ListModelsResponse)
GET_MODEL = Method[models.GetModelRequest, models.GetModelResponse](f"{M}/GetModel", models.GetModelResponse)
PLAN_MODEL = Method[models.PlanModelRequest, models.PlanModelResponse](f"{M}/PlanModel", models.PlanModelResponse)
LOAD_MODEL = Method[models.LoadModelRequest, models.LoadModelResponse](f"{M}/LoadModel", models.LoadModelResponse, True)
UNLOAD_MODEL = Method[models.UnloadModelRequest, models.UnloadModelResponse](
    f"{M}/UnloadModel", models.UnloadModelResponse
)
GET_STATUS = Method[server.GetServerStatusRequest, server.GetServerStatusResponse](
    "/sinks.v1.ServerService/GetServerStatus", server.GetServerStatusResponse
)
ANALYZE = Method[analysis.AnalyzeRequest, analysis.AnalyzeResponse](
    "/sinks.v1.AnalysisService/Analyze", analysis.AnalyzeResponse, True
)
RUN_STUDY = Method[studies.RunStudyRequest, studies.RunStudyResponse](
    "/sinks.v1.MechanismService/RunStudy", studies.RunStudyResponse, True
)
AUDIT_RUNS = Method[audits.AuditRunsRequest, audits.AuditRunsResponse](
    "/sinks.v1.AuditService/AuditRuns", audits.AuditRunsResponse
)
GET_RUN = Method[runs.GetRunRequest, runs.GetRunResponse](f"{R}/GetRun", runs.GetRunResponse)
LIST_RUNS = Method[runs.ListRunsRequest, runs.ListRunsResponse](f"{R}/ListRuns", runs.ListRunsResponse)
UPDATE_RUN = Method[runs.UpdateRunRequest, runs.UpdateRunResponse](f"{R}/UpdateRun", runs.UpdateRunResponse)
DELETE_RUN = Method[runs.DeleteRunRequest, runs.DeleteRunResponse](f"{R}/DeleteRun", runs.DeleteRunResponse)
LIST_KEYS = Method[runs.ListSampleKeysRequest, runs.ListSampleKeysResponse](
    f"{R}/ListSampleKeys", runs.ListSampleKeysResponse
)
STREAM_RECORDS = Method[runs.StreamRecordsRequest, runs.StreamRecordsResponse](
    f"{R}/StreamRecords", runs.StreamRecordsResponse, True
)
SUMMARIZE_RUNS = Method[runs.SummarizeRunsRequest, runs.SummarizeRunsResponse](
    f"{R}/SummarizeRuns", runs.SummarizeRunsResponse, True
)
LIST_STUDIES = Method[runs.ListStudiesRequest, runs.ListStudiesResponse](
    f"{R}/ListStudies", runs.ListStudiesResponse, True
)


@dataclass
class Ask:
    """A step: one call. Of one that streams, `each` is told of every answer."""

    method: Method[Any, Any]
    request: Message
    each: Callable[[Any], None] = lambda _: None


Steps = Generator[Ask, Any, T]


def ask(method: Method[Q, A], request: Q) -> Steps[A]:
    answer: A = yield Ask(method, request)
    return answer


def ask_stream(method: Method[Q, A], request: Q, each: Callable[[A], None]) -> Steps[None]:
    yield Ask(method, request, each)


def opener(channel: Any, method: Method[Any, Any], request: Any) -> Any:
    """What of a channel, blocking or not, makes this call; `request` is a message, or else
    comes in pieces."""
    if not isinstance(request, Message):
        make = channel.stream_stream
    else:
        make = channel.unary_stream if method.streams else channel.unary_unary
    return make(method.path, lambda each: each.SerializeToString(), method.answer.FromString)


def pause_before_retry(error: Error, attempt: int) -> float | None:
    """Seconds to wait before the next try; None: do not try again."""
    if error.code != "UNAVAILABLE" or attempt >= ATTEMPTS:
        return None
    pause = min(LONGEST_PAUSE, FIRST_PAUSE * 2.0 ** (attempt - 1))
    return max(pause, error.retry_after or 0)


class Deadline:
    """A moment that calls end by, on the steady clock; None: never."""

    def __init__(self, timeout: float | None) -> None:
        self._end = None if timeout is None else time.monotonic() + timeout

    def left(self) -> float | None:
        return None if self._end is None else max(0.0, self._end - time.monotonic())

    def allows(self, pause: float) -> bool:
        left = self.left()
        return left is None or pause < left


@dataclass(frozen=True)
class Target:
    """Where a server is and how to talk to it."""

    address: str
    metadata: tuple[tuple[str, str], ...]
    credentials: grpc.ChannelCredentials | None
    options: tuple[tuple[str, Any], ...]


def target(
    address: str | None,
    token: str | None,
    tls: bool | str | os.PathLike[str] | Mapping[str, str | os.PathLike[str]] | None,
    *,
    insecure_token: bool,
) -> Target:
    place = address or os.environ.get("SINKCTL_SERVER") or DEFAULT_ADDRESS
    if "://" in place and not place.startswith(SCHEMES):
        raise ValueError(f"server address {place!r} is a URL; give host:port, e.g. {DEFAULT_ADDRESS}")
    options = CHANNEL_OPTIONS
    if _is_here(place):
        options += (("grpc.enable_http_proxy", 0),)
    credentials = None
    if tls:
        files = tls if isinstance(tls, Mapping) else {} if tls is True else {"ca": tls}
        if wrong := set(files) - {"ca", "cert", "key", "server_name"}:
            raise ValueError(f"tls: {wrong.pop()!r} is none of ca, cert, key, server_name")
        if ("cert" in files) != ("key" in files):
            raise ValueError("tls: cert and key go together")
        pem = {name: Path(files[name]).read_bytes() if name in files else None for name in ("ca", "key", "cert")}
        credentials = grpc.ssl_channel_credentials(pem["ca"], pem["key"], pem["cert"])
        if "server_name" in files:
            options += (("grpc.ssl_target_name_override", str(files["server_name"])),)
    if token and not tls and not _is_here(place) and not insecure_token:
        raise ValueError(
            f"the token would go to {place} where everyone on the way can read it; give tls=, or "
            "insecure_token=True where something else protects the network"
        )
    metadata = (("authorization", f"Bearer {token.strip()}"),) if token else ()
    return Target(_as_target(place), metadata, credentials, options)


def _is_here(address: str) -> bool:
    if address.startswith("unix:"):
        return True
    hosts = [each.rsplit(":", 1)[0].removeprefix("ipv4:") for each in address.split(",")]
    return all(host == "localhost" or host == "[::1]" or host.startswith("127.") for host in hosts)


def _as_target(address: str) -> str:
    """Several servers are one target, of addresses of one IP version."""
    if "," not in address or address.startswith(SCHEMES):
        return address
    places = [each.rsplit(":", 1) for each in address.split(",")]
    return "ipv4:" + ",".join(f"{socket.gethostbyname(host)}:{port}" for host, port in places)


def model_name(model: str | models.Model) -> str:
    name = model.name if isinstance(model, models.Model) else model
    return name if name.startswith("models/") else f"models/{name}"


def run_name(run: str | runs.Run) -> str:
    name = run.name if isinstance(run, runs.Run) else run
    return name if name.startswith("runs/") else f"runs/{name}"


def check_version() -> Steps[server.ServerStatus]:
    status = (yield from ask(GET_STATUS, server.GetServerStatusRequest())).status
    theirs, ours = (text.split(".")[:2] for text in (status.version, VERSION))
    if theirs != ours:
        older = "package: pip install --upgrade it" if ours < theirs else "server"
        warn(
            f"the server is sinkd {status.version} and this package {VERSION}: fields one of them does not know "
            f"are left out. Update the {older}",
            VersionWarning,
            stacklevel=2,
        )
    return status


def list_models() -> Steps[Messages[models.Model]]:
    found: Messages[models.Model] = Messages(models.Model)
    request = models.ListModelsRequest()
    while True:
        page = yield from ask(LIST_MODELS, request)
        found.extend(page.models)
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def get_model(model: str | models.Model) -> Steps[models.Model]:
    answer = yield from ask(GET_MODEL, models.GetModelRequest(name=model_name(model)))
    return answer.model


def load(
    model: str | models.Model, progress: Callable[[models.LoadModelResponse], None] | None, fields: Mapping[str, Any]
) -> Steps[models.Model]:
    request = models.LoadModelRequest(name=model_name(model))
    fill(request, fields, "load")
    last = models.LoadModelResponse()

    def each(message: models.LoadModelResponse) -> None:
        last.CopyFrom(message)
        if progress is not None:
            progress(message)

    yield from ask_stream(LOAD_MODEL, request, each)
    return last.model


def unload(model: str | models.Model) -> Steps[models.Model]:
    answer = yield from ask(UNLOAD_MODEL, models.UnloadModelRequest(name=model_name(model)))
    return answer.model


def plan(model: str | models.Model, fields: Mapping[str, Any]) -> Steps[Plan]:
    request = models.PlanModelRequest(name=model_name(model))
    fill(request, fields, "plan")
    whole = models.PlanModelResponse()
    while True:
        page = yield from ask(PLAN_MODEL, request)
        whole.plan.CopyFrom(page.plan)
        whole.tensors.extend(page.tensors)
        if not page.next_page_token:
            return Plan(whole)
        request.page_token = page.next_page_token


def study_request(
    kind: str, model: str | models.Model, samples: Any, columns: Mapping[str, str] | None, fields: Mapping[str, Any]
) -> studies.RunStudyRequest:
    """`kind` is the name of the study's field; keywords are its parameters, the targets' and the request's."""
    request = studies.RunStudyRequest(model=model_name(model))
    if kind not in STUDIES:
        raise ValueError(f"there is no study {kind!r}; there are {', '.join(STUDIES)}")
    parameters = getattr(request, kind)
    parameters.SetInParent()
    given = dict(fields)
    if given.get("run") is not None:
        given["run"] = run_name(given["run"])
    fill_first((parameters, request, request.targets), given, kind)
    if not any(key in request.targets.DESCRIPTOR.fields_by_name or key == "targets" for key in given):
        request.ClearField("targets")
    if samples is not None:
        request.samples.extend(Samples(samples, columns))
    return request


# The sections an analysis asks for, and the table it is about; those about the summary send no records.
ANALYSES: dict[str, tuple[tuple[str, ...], str]] = {
    "detect": (("detection",), "sinks"),
    "scores": (("scores",), "sinks"),
    "levels": (("levels",), "levels"),
    "regress": (("regression", "scores"), "fits"),
    "compensation": (("compensation",), "blocks"),
    "rate": (("sink_rate",), "rates"),
    "heads": (("heads",), "head_means"),
    "analyze": ((), "sinks"),
}
PORTRAITS = 10  # samples that come with their text, where none or another number was asked for


def session(
    name: str,
    model: str | models.Model,
    samples: Samples,
    progress: Callable[[analysis.Progress], None] | None,
    fields: Mapping[str, Any],
) -> Session:
    """Keywords are parameters of the analysis's own messages, of the spec, and of detection."""
    spec = analysis.AnalysisSpec(model=model_name(model))
    sections, table = ANALYSES[name]
    if table in SUMMARY_TABLES:
        spec.summary_only = True
    for section in sections:
        getattr(spec, section).SetInParent()
    fill_first((*(getattr(spec, each) for each in sections), spec, spec.detection), fields, name)
    if "portrait" not in fields and not spec.run_id and not spec.summary_only:
        spec.portrait.samples = PORTRAITS
    return Session(spec, samples, progress)


STUDIES = tuple(each.name for each in studies.RunStudyRequest.DESCRIPTOR.oneofs_by_name["study"].fields)


def study(request: studies.RunStudyRequest, progress: Callable[[studies.StudyProgress], None] | None) -> Steps[Study]:
    result = Study(request.WhichOneof("study") or "")

    def each(message: studies.RunStudyResponse) -> None:
        kind = message.WhichOneof("message")
        if kind == "started":
            result.started = message.started
        elif kind == "sample_error":
            result.errors.append(of_sample(message.sample_error))
        elif kind == "report":
            result.message = message.report
        elif kind == "progress" and progress is not None:
            progress(message.progress)

    yield from ask_stream(RUN_STUDY, request, each)
    return result


def list_runs(fields: Mapping[str, Any]) -> Steps[Messages[runs.Run]]:
    request = runs.ListRunsRequest()
    given = dict(fields)
    if given.get("model") is not None:
        given["model"] = model_name(given["model"])
    fill(request.filter, given, "runs")
    found: Messages[runs.Run] = Messages(runs.Run)
    while True:
        page = yield from ask(LIST_RUNS, request)
        found.extend(page.runs)
        if not page.next_page_token:
            return found
        request.page_token = page.next_page_token


def get_run(run: str | runs.Run) -> Steps[runs.Run]:
    answer = yield from ask(GET_RUN, runs.GetRunRequest(name=run_name(run)))
    return answer.run


def set_state(run: str, state: runs.RunState) -> Steps[runs.Run]:
    answer = yield from ask(UPDATE_RUN, runs.UpdateRunRequest(name=run, state=state))
    return answer.run


def delete_run(run: str) -> Steps[None]:
    yield from ask(DELETE_RUN, runs.DeleteRunRequest(name=run))


def records_request(run: runs.Run, fields: Mapping[str, Any]) -> runs.StreamRecordsRequest:
    request = runs.StreamRecordsRequest(name=run.name)
    fill(request, fields, "records")
    return request


def records_of(answer: runs.StreamRecordsResponse, failed: list[SampleError]) -> Iterator[Record]:
    for stored in answer.records:
        if stored.HasField("error"):
            failed.append(of_sample(stored.error))
            continue
        sample = analysis.Sample(sample_id=stored.sample_key)
        if stored.HasField("token_ids"):
            sample.token_ids.CopyFrom(stored.token_ids)
        yield Record(stored.record, sample if stored.HasField("token_ids") else None)


def summarize(run: str, fields: Mapping[str, Any]) -> Steps[Summary]:
    request = runs.SummarizeRunsRequest(names=[run])
    fill(request, fields, "summary")
    found: list[runs.SummarizeRunsResponse] = []
    yield from ask_stream(SUMMARIZE_RUNS, request, found.append)
    return Summary(found[0].summary)


def list_studies(run: str) -> Steps[list[Study]]:
    found: list[Study] = []

    def each(message: runs.ListStudiesResponse) -> None:
        kept = Study(message.request.WhichOneof("study") or "")
        kept.started.request.CopyFrom(message.request)
        kept.message = message.report
        found.append(kept)

    yield from ask_stream(LIST_STUDIES, runs.ListStudiesRequest(name=run), each)
    return found


def sample_keys(run: str) -> Steps[dict[str, bytes]]:
    """The digests of the inputs that a run holds, by key; empty for a run that is not there."""
    held: dict[str, bytes] = {}
    request = runs.ListSampleKeysRequest(name=run)
    while True:
        try:
            page = yield from ask(LIST_KEYS, request)
        except Error as error:
            if error.code == "NOT_FOUND":
                return held
            raise
        held.update(zip(page.sample_keys, page.input_digests, strict=False))
        if not page.next_page_token:
            return held
        request.page_token = page.next_page_token


RunsLike = str | runs.Run | Iterable[str | runs.Run] | Mapping[str, Any]


def audit(policy: str | os.PathLike[str], candidate: RunsLike, baseline: RunsLike | None, seed: int) -> Steps[Audit]:
    text = policy if isinstance(policy, str) and ("\n" in policy or ":" in policy) else Path(policy).read_text("utf-8")
    request = audits.AuditRunsRequest(policy=text, candidate=_selection(candidate), seed=seed)
    if baseline is not None:
        request.baseline.CopyFrom(_selection(baseline))
    answer = yield from ask(AUDIT_RUNS, request)
    return Audit(answer)


def _selection(which: RunsLike) -> audits.RunSelection:
    """Runs by name, or, as a mapping, by filter."""
    selection = audits.RunSelection()
    if isinstance(which, Mapping):
        given = dict(which)
        if given.get("model") is not None:
            given["model"] = model_name(given["model"])
        selection.filter.SetInParent()
        fill(selection.filter, given, "runs")
    elif isinstance(which, (str, runs.Run)):
        selection.names.append(run_name(which))
    else:
        selection.names.extend(run_name(each) for each in which)
    return selection
