"""The messages of sinks.v1 that the page's fixtures are made of."""

import importlib

from tests.e2e.stubs import analysis, mechanism, models, records  # generates all of proto/

audit = importlib.import_module("sinks.v1.audit_pb2")
runs = importlib.import_module("sinks.v1.runs_pb2")

__all__ = ["analysis", "audit", "mechanism", "models", "records", "runs"]
