"""Runs docs/api.md on a real server, command by command, and finds a method that it leaves out.

    python -m tests.e2e.api_docs_test BUILD_DIR ORACLE_DIR
"""

import importlib
import pathlib
import re
import shlex
import subprocess
import sys
import tempfile
import unittest

from tests.e2e import model_root, stubs
from tests.e2e.model_root import ModelRoot
from tests.e2e.sinkd_process import PATIENCE, SinkdProcess, main

SOURCE = pathlib.Path(__file__).parents[2]
DOCUMENT = SOURCE / "docs" / "api.md"
BLOCK = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^\$ (.*?)(?=^\$ |\Z)", re.MULTILINE | re.DOTALL)


def commands():
    blocks = BLOCK.findall(DOCUMENT.read_text())
    return [each for block in blocks for each in COMMAND.findall(block)]


def methods():
    """Full names of every method of the protocol."""
    for file in sorted((stubs.PROTO / "sinks" / "v1").glob("*.proto")):
        descriptor = importlib.import_module(f"sinks.v1.{file.stem}_pb2").DESCRIPTOR
        for service in descriptor.services_by_name.values():
            yield from (f"{service.full_name}/{method.name}" for method in service.methods)


class ApiDocs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-docs-")
        self.addCleanup(folder.cleanup)
        self.stubs = pathlib.Path(folder.name) / "stubs"
        root = ModelRoot()
        self.addCleanup(root.cleanup)
        root.link("smollm2", model_root.planted())
        self.server = SinkdProcess(root.path)
        self.addCleanup(lambda: self.server.stop())
        tools = pathlib.Path(sys.executable).parent
        self.programs = {"grpcurl": tools / "grpcurl", "python": sys.executable}

    def run_command(self, command):
        """Standard output; the test fails when the command does."""
        program, rest = command.split(" ", 1)
        rest = rest.replace("localhost:50051", self.server.address)
        rest = rest.replace(" stubs", f" {shlex.quote(str(self.stubs))}")
        line = f"{shlex.quote(str(self.programs[program]))} {rest}"
        done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, cwd=SOURCE,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
        return done.stdout

    def test_every_command_runs(self):
        run = [each for each in commands() if not each.startswith("pip ")]
        unload = next(each for each in run if "UnloadModel" in each)
        programs = [each for each in run if each.startswith("python ")]
        for each in run:
            if each is not unload and each not in programs:
                with self.subTest(command=each):
                    self.run_command(each)
        said = [self.run_command(each) for each in programs][-1]
        self.assertIn("text-1: primary sink at 0", said)
        self.assertRegex(said, r"2 samples, \d+ tokens")
        self.run_command(unload)

    def test_every_method_has_an_example(self):
        called = "\n".join(each for each in commands() if each.startswith("grpcurl "))
        self.assertEqual([each for each in methods() if each not in called], [])


if __name__ == "__main__":
    main()
