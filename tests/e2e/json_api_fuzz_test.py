"""schemathesis, which makes queries right and wrong out of docs/openapi.yaml, against a real server.

    python -m tests.e2e.json_api_fuzz_test BUILD_DIR ORACLE_DIR
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from tests.e2e.json_api_case import Site
from tests.e2e.sinkd_process import PATIENCE, main

HERE = pathlib.Path(__file__).parent
EXAMPLES = 40  # a check and operation


class Fuzz(unittest.TestCase):
    def test_the_server_is_as_described(self):
        site = Site()
        self.addCleanup(site.stop)
        site.keep_runs()
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [pathlib.Path(sys.executable).with_name("schemathesis"), "--config-file",
                 HERE / "schemathesis.toml", "run",
                 f"http://{site.server.http}/api/v1/openapi.yaml", "--checks", "all",
                 "--max-examples", str(EXAMPLES), "--generation-deterministic",
                 # A body of JSON lines is nothing that it can make; json_api_test posts them.
                 "--exclude-method", "POST",
                 "--no-color", "--warnings", "off"],
                cwd=folder, capture_output=True, text=True, timeout=5 * PATIENCE, check=False,
                env={**os.environ, "PYTHONPATH": str(HERE.parents[1]),
                     "SCHEMATHESIS_HOOKS": "tests.e2e.json_api_hooks"})
        self.assertEqual(done.returncode, 0, done.stdout[-20000:] + done.stderr[-2000:])
        print(done.stdout[done.stdout.find("= SUMMARY ="):])
        # That it ran, and reached the server.
        self.assertRegex(done.stdout, r"\d{3,} generated, \d{3,} passed")
        self.assertIn("Tested: 9", done.stdout)
        self.assertEqual(site.ask("/healthz").status, 200)


if __name__ == "__main__":
    main()
