"""docs/python.md and README.md: every Python block runs, top to bottom, and prints what is shown below it.

    python -m tests.python.docs_test BUILD_DIR ORACLE_DIR
"""

import contextlib
import io
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

from tests.docs import pages
from tests.docs.shown import as_shown
from tests.e2e.sinkd_process import main
from tests.python import client_case
from tests.python.client_case import Setting

ADDRESS = "127.0.0.1:50051"
HEADING = re.compile(r"^## (\d+)\. ", re.MULTILINE)


def setUpModule():
    client_case.set_up()


def programs(page):
    """(line, code, lines shown or None) of each block."""
    blocks = [each for each in pages.blocks(page) if each.language in ("python", "text")]
    for block, after in zip(blocks, [*blocks[1:], None]):
        if block.language == "python":
            shown = after.lines if after is not None and after.language == "text" else None
            yield block.line, "\n".join(block.lines) + "\n", shown


class Pages(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-python-docs-")
        self.addCleanup(folder.cleanup)
        shutil.copy(pages.ROOT / "deploy/demo/samples.jsonl", f"{folder.name}/prompts.jsonl")
        (pathlib.Path(folder.name) / "deploy").symlink_to(pages.ROOT / "deploy")
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)

    def check(self, page):
        names = {"__name__": "page"}
        for line, code, shown in programs(page):
            with self.subTest(f"{pages.name(page)}:{line}"):
                with contextlib.redirect_stdout(io.StringIO()) as out:
                    exec(compile(code.replace(ADDRESS, Setting.server.address), f"{page}:{line}", "exec"), names)
                printed = out.getvalue().rstrip().splitlines()
                if shown is not None and not as_shown(shown, printed):
                    self.fail("\n".join(["shown:", *shown, "printed:", *printed]))

    def test_the_page(self):
        self.check(pages.ROOT / "docs/python.md")

    def test_the_readme(self):
        self.check(pages.ROOT / "README.md")

    def test_the_page_has_twelve_things(self):
        numbers = HEADING.findall((pages.ROOT / "docs/python.md").read_text())
        self.assertEqual(numbers, [str(each) for each in range(1, 13)])

    def test_mypy_is_content_with_what_it_shows(self):
        code = "".join(code for _, code, _ in programs(pages.ROOT / "docs/python.md"))
        pathlib.Path("page.py").write_text(code)
        done = subprocess.run([sys.executable, "-m", "mypy", "page.py"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    main()
