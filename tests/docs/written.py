"""Parts of pages that a program writes, between `<!-- NAME: written by ... -->` and `<!-- end -->`."""

import pathlib
import re
import sys

from tests.e2e.sinkd_process import Programs, main


def _find(page, name):
    text = page.read_text()
    found = re.search(rf"<!-- {name}: written by [^\n]* -->\n(.*?)<!-- end -->\n", text, re.DOTALL)
    return text, found.start(1), found.end(1)


def read_part(page, name):
    text, begin, end = _find(page, name)
    return text[begin:end]


def main_or_write(page, name, make):
    """`python -m tests.docs.x BUILD_DIR ORACLE_DIR` tests; with `--write` as the only further word it writes
    what `make` returns."""
    if sys.argv[3:] != ["--write"]:
        main()
    Programs.sinkd = pathlib.Path(sys.argv[1]).resolve() / "server" / "sinkd"
    part = make()
    text, begin, end = _find(page, name)
    page.write_text(text[:begin] + part + text[end:])
