"""docs/models.md tells the memory that a server plans.

    python -m tests.docs.models_test BUILD_DIR ORACLE_DIR [--write]
"""

import unittest

from tests.docs import model_memory
from tests.docs.pages import ROOT
from tests.docs.written import main_or_write, read_part

PAGE = ROOT / "docs" / "models.md"
PART = "memory"


class ModelMemory(unittest.TestCase):
    def test_the_page_says_what_a_server_plans(self):
        planner = model_memory.Planner()
        try:
            rows, comparable = planner.rows(), planner.makes_bfloat16_products()
        finally:
            planner.stop()
        lines = read_part(PAGE, PART).splitlines()[2:]
        written = [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]
        # Weights are the same everywhere; samples take more where bfloat16 is made in float32.
        columns = None if comparable else -len(model_memory.LENGTHS)
        self.assertEqual([row[:columns] for row in written], [row[:columns] for row in rows])


def table():
    planner = model_memory.Planner()
    try:
        assert planner.makes_bfloat16_products(), "on this processor a sample takes more than elsewhere"
        return model_memory.table(planner.rows())
    finally:
        planner.stop()


if __name__ == "__main__":
    main_or_write(PAGE, PART, table)
