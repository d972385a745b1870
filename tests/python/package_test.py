"""The package itself: typed, linted, of one version with the server, and built from a source distribution too.

    python -m tests.python.package_test BUILD_DIR ORACLE_DIR
"""

import importlib.metadata
import importlib.util
import pathlib
import re
import subprocess
import sys
import tempfile
import tomllib
import unittest
import zipfile

import sinkd
from tests.e2e.sinkd_process import main

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "client/python"
TYPED = """
import asyncio
import sinkd
from sinks.v1.records_pb2 import Sink


def blocking() -> list[Sink]:
    with sinkd.connect() as server:
        record: sinkd.Record = server.scores("m", ["a"]).records[0]
        return list(record.message.sinks)


async def awaiting() -> int:
    async with await sinkd.aio.connect() as server:
        analysis = await server.levels("m", ["a"])
        return analysis.summary.message.samples


print(blocking(), asyncio.run(awaiting()))
"""


def run(*command, cwd=PACKAGE):
    done = subprocess.run([sys.executable, "-m", *map(str, command)], cwd=cwd, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


class Package(unittest.TestCase):
    def test_is_of_the_servers_version(self):
        project = re.search(r"project\(sinkd VERSION ([\d.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
        self.assertEqual(sinkd.__version__, project)

    def test_is_what_was_installed(self):
        self.assertFalse(pathlib.Path(sinkd.__file__).is_relative_to(ROOT / "client"))
        self.assertEqual(importlib.metadata.version("sinkd"), sinkd.__version__)

    def test_has_what_the_lowest_versions_it_takes_must_have(self):
        """The generated messages ask for no newer protobuf than pyproject.toml does."""
        project = tomllib.loads((PACKAGE / "pyproject.toml").read_text())
        lowest = next(each for each in project["project"]["dependencies"] if each.startswith("protobuf"))
        messages = pathlib.Path(importlib.util.find_spec("sinks.v1.records_pb2").origin).read_text()
        self.assertIn(re.search(r">=([\d.]+)", lowest)[1], messages)

    def test_mypy_is_content_with_it_and_with_those_who_use_it(self):
        self.assertEqual(run("mypy", "-p", "sinkd"), (0, "Success: no issues found in 13 source files\n"))
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "user.py").write_text(TYPED)
            code, said = run("mypy", "--strict", "--python-version", "3.10", "user.py", cwd=folder)
            self.assertEqual(code, 0, said)

    def test_ruff_is_content_with_it(self):
        self.assertEqual(run("ruff", "check", "--no-cache", PACKAGE)[0], 0, run("ruff", "check", "--no-cache", PACKAGE)[1])
        self.assertEqual(run("ruff", "format", "--no-cache", "--check", PACKAGE)[0], 0)

    def test_a_source_distribution_makes_the_same_wheel(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(run("hatchling", "build", "-t", "sdist", "-d", folder)[0], 0)
            archive, = pathlib.Path(folder).glob("*.tar.gz")
            subprocess.run(["tar", "-xzf", archive, "-C", folder], check=True)
            source = pathlib.Path(folder) / archive.name.removesuffix(".tar.gz")
            code, said = run("hatchling", "build", "-t", "wheel", "-d", folder, cwd=source)
            self.assertEqual(code, 0, said)
            wheel, = pathlib.Path(folder).glob("*.whl")
            names = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info" not in name}
            installed = {str(each) for each in importlib.metadata.files("sinkd") if "__pycache__" not in str(each)
                         and ".dist-info" not in str(each)}
            self.assertEqual(names, installed)


if __name__ == "__main__":
    main()
