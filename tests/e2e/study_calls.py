"""RunStudy as a test calls it."""

import dataclasses

import grpc

from tests.e2e import stubs
from tests.e2e.calls import Failure
from tests.e2e.sinkd_process import PATIENCE

RUN_STUDY = "sinks.v1.MechanismService/RunStudy"


@dataclasses.dataclass
class Answer:
    """Everything a study said."""

    started: object = None
    progress: list = dataclasses.field(default_factory=list)
    errors: list = dataclasses.field(default_factory=list)
    report: object = None
    failure: Failure = None


def request(model, samples, **fields):
    """`samples` have `ids` and `chat_rendered`."""
    inputs = [{"token_ids": {"ids": each.ids, "chat_rendered": each.chat_rendered}}
              for each in samples]
    return stubs.mechanism.RunStudyRequest(model=f"models/{model}", samples=inputs, **fields)


def open_study(channel, message, timeout=PATIENCE, metadata=None):
    stub = stubs.mechanism_service.MechanismServiceStub(channel)
    return stub.RunStudy(message, timeout=timeout, metadata=metadata)


def read(call):
    answer = Answer()
    try:
        for response in call:
            kind = response.WhichOneof("message")
            if kind == "progress":
                answer.progress.append(response.progress)
            elif kind == "sample_error":
                answer.errors.append(response.sample_error)
            else:
                setattr(answer, kind, getattr(response, kind))
    except grpc.RpcError as error:
        answer.failure = Failure.of_call(error)
    return answer


def run_study(channel, model, samples, **fields):
    return read(open_study(channel, request(model, samples, **fields)))
