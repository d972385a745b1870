"""docs/models.md tells of families what the server tells.

    python -m tests.docs.families_test BUILD_DIR ORACLE_DIR [--write]
"""

import tempfile
import unittest

from tests.docs.pages import ROOT
from tests.docs.written import main_or_write, read_part
from tests.e2e import stubs
from tests.e2e.sinkd_process import SinkdProcess

PAGE = ROOT / "docs" / "models.md"
PART = "families"
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


def table():
    return HEADER + "".join(row(family) for family in ask_server())


class FamiliesTable(unittest.TestCase):
    def test_the_page_says_what_the_server_says(self):
        self.assertEqual(read_part(PAGE, PART), table())


if __name__ == "__main__":
    main_or_write(PAGE, PART, table)
