"""The client side of proto/, generated anew whenever the tests run, as a foreign client would.

Importing this module generates; `analysis`, `mechanism`, `models` and `records` are the messages,
and `analysis_service`, `mechanism_service`, `models_service` the stubs.
"""

import atexit
import importlib
import pathlib
import shutil
import subprocess
import sys
import tempfile

SOURCE = pathlib.Path(__file__).parents[2]
PROTO = SOURCE / "proto"
GENERATE = SOURCE / "docs" / "examples" / "python" / "generate.py"

folder = tempfile.mkdtemp(prefix="sinkd-stubs-")
atexit.register(shutil.rmtree, folder, ignore_errors=True)
subprocess.run([sys.executable, GENERATE, folder], check=True)
sys.path.insert(0, folder)

analysis = importlib.import_module("sinks.v1.analysis_pb2")
mechanism = importlib.import_module("sinks.v1.mechanism_pb2")
models = importlib.import_module("sinks.v1.models_pb2")
records = importlib.import_module("sinks.v1.records_pb2")
analysis_service = importlib.import_module("sinks.v1.analysis_pb2_grpc")
mechanism_service = importlib.import_module("sinks.v1.mechanism_pb2_grpc")
models_service = importlib.import_module("sinks.v1.models_pb2_grpc")
