"""Errors of calls, with the google.rpc details that servers send along."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import grpc
from google.rpc import error_details_pb2, status_pb2
from sinks.v1 import analysis_pb2

DETAILS_KEY = "grpc-status-details-bin"
CODES = {code.value[0]: code.name for code in grpc.StatusCode}


class VersionWarning(UserWarning):
    """Server and package are of versions that may not understand each other."""


class SampleWarning(UserWarning):
    """Samples of an analysis have no record."""


@dataclass
class Error(Exception):
    """What a server, or the connection to it, answered in place of a result."""

    code: str  # "NOT_FOUND"
    message: str
    reason: str = ""  # of docs/errors.md, "MODEL_NOT_FOUND"; empty for errors of the connection
    metadata: dict[str, str] = field(default_factory=dict)  # value, limit and the like, by name
    findings: list[tuple[str, str]] = field(default_factory=list)  # subject and what is wrong with it
    retry_after: float | None = None  # seconds after which another try is worth it

    def __str__(self) -> str:
        head = f"{self.code} ({self.reason})" if self.reason else self.code
        lines = [f"{head}: {self.message}"]
        for subject, description in self.findings:
            lines.append(f"  {subject}" + (f": {description}" if description != self.message else ""))
        if self.retry_after is not None:
            lines.append(f"  retry after: {self.retry_after:g} s")
        return "\n".join(lines)


@dataclass
class SampleError(Error):
    """Why one sample of a stream has no record."""

    sample_index: int = 0  # its place in the stream, from 0
    sample_id: str = ""

    def __str__(self) -> str:
        return super().__str__()


def of_sample(message: analysis_pb2.SampleError) -> SampleError:
    plain = of_status(message.status)
    return SampleError(**vars(plain), sample_index=message.sample_index, sample_id=message.sample_id)


def of_call(error: Any) -> Error:
    """`error` is the grpc.RpcError of a call, which tells its code."""
    for key, value in error.trailing_metadata() or ():
        if key == DETAILS_KEY:
            return of_status(status_pb2.Status.FromString(value))
    return Error(error.code().name, error.details() or "")


def of_status(status: status_pb2.Status) -> Error:
    error = Error(CODES.get(status.code, "UNKNOWN"), status.message)
    for detail in status.details:
        _read(detail, error)
    return error


def _read(detail: Any, error: Error) -> None:
    info = error_details_pb2.ErrorInfo()
    bad = error_details_pb2.BadRequest()
    failure = error_details_pb2.PreconditionFailure()
    quota = error_details_pb2.QuotaFailure()
    resource = error_details_pb2.ResourceInfo()
    retry = error_details_pb2.RetryInfo()
    if detail.Unpack(info):
        error.reason, error.metadata = info.reason, dict(info.metadata)
    elif detail.Unpack(bad):
        error.findings += [(each.field, each.description) for each in bad.field_violations]
    elif detail.Unpack(failure):
        error.findings += [(each.subject, each.description) for each in failure.violations]
    elif detail.Unpack(quota):
        error.findings += [(each.subject, each.description) for each in quota.violations]
    elif detail.Unpack(resource):
        error.findings.append((resource.resource_name, resource.description))
    elif detail.Unpack(retry):
        error.retry_after = retry.retry_delay.ToTimedelta().total_seconds()
