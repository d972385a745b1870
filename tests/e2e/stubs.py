"""The client side of proto/, generated anew whenever the tests run, as a foreign client would.

Importing this module generates; `analysis`, `mechanism`, `models` and `records` are the messages,
and `analysis_service`, `mechanism_service`, `models_service` the stubs.
"""

import atexit
import importlib
import pathlib
import shutil
import sys
import tempfile

import google.rpc
import grpc_tools
from grpc_tools import protoc

PROTO = pathlib.Path(__file__).parents[2] / "proto"


def generate(out):
    includes = [
        PROTO,
        pathlib.Path(list(google.rpc.__path__)[0]).parents[1],  # google/rpc/status.proto
        pathlib.Path(grpc_tools.__file__).parent / "_proto",  # google/protobuf/any.proto
    ]
    files = sorted(str(file) for file in PROTO.glob("sinks/v1/*.proto"))
    code = protoc.main(
        ["protoc", *(f"-I{each}" for each in includes), f"--python_out={out}",
         f"--grpc_python_out={out}", *files]
    )
    if code != 0:
        raise RuntimeError(f"protoc ended with {code}")


folder = tempfile.mkdtemp(prefix="sinkd-stubs-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)
generate(folder)
sys.path.insert(0, folder)

analysis = importlib.import_module("sinks.v1.analysis_pb2")
mechanism = importlib.import_module("sinks.v1.mechanism_pb2")
models = importlib.import_module("sinks.v1.models_pb2")
records = importlib.import_module("sinks.v1.records_pb2")
analysis_service = importlib.import_module("sinks.v1.analysis_pb2_grpc")
mechanism_service = importlib.import_module("sinks.v1.mechanism_pb2_grpc")
models_service = importlib.import_module("sinks.v1.models_pb2_grpc")
