"""Generates the messages of proto/, with their types, into the wheel: the package sinks.v1."""

import importlib.resources
import shutil
import tempfile
from pathlib import Path
from typing import Any

import google.rpc
from grpc_tools import protoc
from hatchling.builders.hooks.plugin.interface import BuildHookInterface

MARKERS = ("sinks/__init__.py", "sinks/v1/__init__.py", "sinks/py.typed")


class ProtocolHook(BuildHookInterface):
    PLUGIN_NAME = "custom"

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        self._folder = Path(tempfile.mkdtemp(prefix="sinkd-protocol-"))
        generate(self._proto(), self._folder)
        for file in self._folder.rglob("*"):
            if file.is_file():
                build_data["force_include"][str(file)] = str(file.relative_to(self._folder))

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        if self.target_name == "wheel":
            shutil.rmtree(self._folder)

    def _proto(self) -> Path:
        """That of the repository, or of a source distribution."""
        root = Path(self.root)
        places = (root / "proto", root.parents[1] / "proto")
        return next(each for each in places if (each / "sinks").is_dir())


def generate(proto: Path, out: Path) -> None:
    includes = [
        proto,
        Path(next(iter(google.rpc.__path__))).parents[1],  # google/rpc/status.proto
        importlib.resources.files("grpc_tools") / "_proto",  # google/protobuf/any.proto
    ]
    files = sorted(str(each) for each in proto.glob("sinks/v1/*.proto"))
    options = [*(f"-I{each}" for each in includes), f"--python_out={out}", f"--pyi_out={out}"]
    if protoc.main(["protoc", *options, *files]) != 0:
        raise RuntimeError(f"protoc cannot read {proto}")
    for name in MARKERS:
        (out / name).touch()
