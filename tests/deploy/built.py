"""The build tree that the tests of this folder are given, and programs run from it."""

import os
import pathlib
import subprocess
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = pathlib.Path(sys.executable).parent
PATIENCE = 120


class Build:
    folder = None

    @classmethod
    def sinkd(cls):
        return cls.folder / "server/sinkd"


def run(*command, environment=None, **options):
    """(exit code, standard output, standard error); nothing of this shell's SINKD_* is passed on."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SINKD_")}
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                          timeout=PATIENCE, check=False, cwd=ROOT,
                          env=clean | (environment or {}), **options)
    return done.returncode, done.stdout, done.stderr


def main():
    Build.folder = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
