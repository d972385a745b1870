"""README's table of families says what the server says.

`python -m tests.e2e.families_table_test BUILD_DIR ORACLE_DIR` compares, and with `--write` as the only
further word writes the table.
"""

import pathlib
import sys
import tempfile
import unittest

from tests.e2e import stubs
from tests.e2e.sinkd_process import Programs, SinkdProcess, main

README = pathlib.Path(__file__).resolve().parents[2] / "README.md"
BEGIN = "<!-- families: written by `tests/e2e/families_table_test.py --write` -->\n"
END = "<!-- end -->\n"
HEADER = (
    "| family | models | what is particular | the paper | weights, GB | difference |\n"
    "|---|---|---|---|---|---|\n"
)


def ask_server():
    with tempfile.TemporaryDirectory() as root:
        server = SinkdProcess(root)
        try:
            stub = stubs.models_service.ModelServiceStub(server.channel)
            return stub.ListFamilies(stubs.models.ListFamiliesRequest(), timeout=60).families
        finally:
            server.stop()


def row(family):
    known = [
        f"{model.name.split('/')[1]} {model.weight_bytes / 1e9:.1f}" for model in family.known_models
    ]
    largest = max(difference.float32_difference for difference in family.differences)
    cells = (
        f"`{family.model_type}`", family.models, family.particular, family.finding,
        ", ".join(known), f"{largest:.1e}",
    )
    return "| " + " | ".join(cells) + " |\n"


def table(families):
    return HEADER + "".join(row(family) for family in families)


class FamiliesTable(unittest.TestCase):
    def test_the_readme_says_what_the_server_says(self):
        text = README.read_text()
        written = text[text.index(BEGIN) + len(BEGIN):text.index(END, text.index(BEGIN))]
        self.assertEqual(written, table(ask_server()))


if __name__ == "__main__":
    if sys.argv[3:] == ["--write"]:
        Programs.sinkd = pathlib.Path(sys.argv[1]).resolve() / "server" / "sinkd"
        text = README.read_text()
        begin = text.index(BEGIN) + len(BEGIN)
        README.write_text(text[:begin] + table(ask_server()) + text[text.index(END, begin):])
    else:
        main()
