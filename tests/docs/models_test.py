"""docs/models.md tells the memory that a server plans.

`python -m tests.docs.models_test BUILD_DIR ORACLE_DIR` compares, and with `--write` as the only further
word writes the table.
"""

import pathlib
import sys
import unittest

from tests.docs import model_memory
from tests.docs.pages import ROOT
from tests.e2e.sinkd_process import Programs, main

PAGE = ROOT / "docs" / "models.md"
BEGIN = "<!-- memory: written by `tests/docs/models_test.py --write` -->\n"
END = "<!-- end -->\n"


def parts(text):
    """(before the table, the table, after it)."""
    begin = text.index(BEGIN) + len(BEGIN)
    end = text.index(END, begin)
    return text[:begin], text[begin:end], text[end:]


class ModelMemory(unittest.TestCase):
    def test_the_page_says_what_a_server_plans(self):
        planner = model_memory.Planner()
        try:
            rows, comparable = planner.rows(), planner.makes_bfloat16_products()
        finally:
            planner.stop()
        lines = parts(PAGE.read_text())[1].splitlines()[2:]
        written = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
        # Weights are the same everywhere; samples take more where bfloat16 is made in float32.
        columns = None if comparable else -len(model_memory.LENGTHS)
        self.assertEqual([row[:columns] for row in written], [row[:columns] for row in rows])


def write():
    planner = model_memory.Planner()
    try:
        assert planner.makes_bfloat16_products(), "on this processor a sample takes more than elsewhere"
        table = model_memory.table(planner.rows())
    finally:
        planner.stop()
    before, _, after = parts(PAGE.read_text())
    PAGE.write_text(before + table + after)


if __name__ == "__main__":
    if sys.argv[3:] == ["--write"]:
        Programs.sinkd = pathlib.Path(sys.argv[1]).resolve() / "server" / "sinkd"
        write()
    else:
        main()
