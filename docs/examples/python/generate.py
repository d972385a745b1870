"""Generates stubs of proto/ in a folder: python generate.py STUBS"""

import pathlib
import sys

import google.rpc
import grpc_tools
from grpc_tools import protoc

PROTO = pathlib.Path(__file__).resolve().parents[3] / "proto"


def generate(out):
    pathlib.Path(out).mkdir(parents=True, exist_ok=True)
    includes = [
        PROTO,
        pathlib.Path(list(google.rpc.__path__)[0]).parents[1],  # google/rpc/status.proto
        pathlib.Path(grpc_tools.__file__).parent / "_proto",  # google/protobuf/any.proto
    ]
    files = sorted(str(file) for file in PROTO.glob("sinks/v1/*.proto"))
    return protoc.main(["protoc", *(f"-I{each}" for each in includes), f"--python_out={out}",
                        f"--grpc_python_out={out}", *files])


if __name__ == "__main__":
    sys.exit(generate(sys.argv[1]))
