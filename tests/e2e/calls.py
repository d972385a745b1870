"""Calls as a test writes them: requests as plain values, errors read down to their details."""

import dataclasses

import grpc
from google.rpc import error_details_pb2, status_pb2

from tests.e2e import stubs
from tests.e2e.sinkd_process import PATIENCE

ANALYZE = "/sinks.v1.AnalysisService/Analyze"


def spec(model, /, **fields):
    """The first message of a stream on the model of this id."""
    fields.setdefault("model", f"models/{model}")
    return stubs.analysis.AnalyzeRequest(spec=stubs.analysis.AnalysisSpec(**fields))


def sample(sample_id=None, **fields):
    message = stubs.analysis.Sample(**fields)
    if sample_id is not None:
        message.sample_id = sample_id
    return stubs.analysis.AnalyzeRequest(sample=message)


def ids(values, **fields):
    return sample(token_ids={"ids": values, "chat_rendered": fields.pop("chat_rendered", False)},
                  **fields)


def planted(record):
    """The sample behind a line of a planted records.jsonl."""
    return ids(record["token_ids"], chat_rendered=record["chat_rendered"],
               sample_id=record["sample_id"])


def open_stream(channel, requests, timeout=PATIENCE, metadata=None):
    """The running call; `requests` may be an iterator, and bytes go over the wire as they are."""
    call = channel.stream_stream(
        ANALYZE,
        request_serializer=lambda each: (
            each if isinstance(each, bytes) else each.SerializeToString()
        ),
        response_deserializer=stubs.analysis.AnalyzeResponse.FromString,
    )
    return call(iter(requests), timeout=timeout, metadata=metadata)


@dataclasses.dataclass
class Failure:
    """An error as a client sees it."""

    code: str
    message: str
    reason: str = ""
    metadata: dict = dataclasses.field(default_factory=dict)
    details: tuple = ()  # names of the detail messages

    @classmethod
    def of_status(cls, status):
        names = {value[0]: code.name for code in grpc.StatusCode for value in [code.value]}
        failure = cls(names[status.code], status.message)
        for detail in status.details:
            failure.details += (detail.TypeName().removeprefix("google.rpc."),)
            info = error_details_pb2.ErrorInfo()
            if detail.Unpack(info):
                failure.reason, failure.metadata = info.reason, dict(info.metadata)
        return failure

    @classmethod
    def of_call(cls, error):
        for key, value in error.trailing_metadata() or ():
            if key == "grpc-status-details-bin":
                return cls.of_status(status_pb2.Status.FromString(value))
        return cls(error.code().name, error.details())


@dataclasses.dataclass
class Answer:
    """Everything a stream said."""

    started: object = None
    results: list = dataclasses.field(default_factory=list)  # records and sample errors, in order
    summary: object = None
    failure: Failure = None

    @property
    def records(self):
        return [each for each in self.results if isinstance(each, stubs.records.SampleRecord)]


def read(call):
    answer = Answer()
    try:
        for response in call:
            kind = response.WhichOneof("message")
            if kind == "started":
                answer.started = response.started
            elif kind in ("record", "sample_error"):
                answer.results.append(getattr(response, kind))
            elif kind == "summary":
                answer.summary = response.summary
    except grpc.RpcError as error:
        answer.failure = Failure.of_call(error)
    return answer


def analyze(channel, requests, timeout=PATIENCE, metadata=None):
    return read(open_stream(channel, requests, timeout, metadata))


def load(channel, name, **fields):
    """The model once loaded, or the Failure; `name` is taken as it is."""
    request = stubs.models.LoadModelRequest(name=name, **fields)
    try:
        return list(stubs.models_service.ModelServiceStub(channel).LoadModel(
            request, timeout=PATIENCE))[-1].model
    except grpc.RpcError as error:
        return Failure.of_call(error)


def plan(channel, name, **fields):
    """The PlanModelResponse, or the Failure."""
    request = stubs.models.PlanModelRequest(name=name, **fields)
    try:
        return stubs.models_service.ModelServiceStub(channel).PlanModel(request, timeout=PATIENCE)
    except grpc.RpcError as error:
        return Failure.of_call(error)


def model_call(channel, method, name):
    """GetModel or UnloadModel: the model, or the Failure."""
    request = getattr(stubs.models, f"{method}Request")(name=name)
    try:
        stub = stubs.models_service.ModelServiceStub(channel)
        return getattr(stub, method)(request, timeout=PATIENCE).model
    except grpc.RpcError as error:
        return Failure.of_call(error)


KINDS = {1: "primary", 2: "secondary", 3: "noise"}


def described(record):
    """A record in the words of a planted records.jsonl."""
    return {
        "sample_id": record.sample_id,
        "positions": record.positions,
        "prompt_tokens": record.prompt_tokens,
        "chat_rendered": record.chat_rendered,
        "primary": record.primary.position,
        "window": [record.window_start, record.window_end],
        "sinks": [(sink.position, KINDS[sink.kind], list(sink.layers)) for sink in record.sinks],
    }


def expected(record):
    """What `described` must give for a line of a planted records.jsonl sent as token ids."""
    return {
        "sample_id": record["sample_id"],
        "positions": record["positions"],
        "prompt_tokens": record["positions"],  # of ready-made ids, all are the prompt
        "chat_rendered": record["chat_rendered"],
        "primary": record["primary"]["position"],
        "window": record["primary"]["window"],
        "sinks": [(s["position"], s["kind"], s["layers"]) for s in record["sinks"]],
    }
