"""The published schema of policies takes the ready ones and refuses wrong ones, as sinkd does."""

import json
import pathlib
import unittest

import jsonschema
import yaml

ROOT = pathlib.Path(__file__).parents[2]
READY = sorted((ROOT / "deploy/policies").glob("*.yaml"))
REFUSED = sorted((ROOT / "tests/audit/refused").glob("*.yaml"))


class PolicySchemaTest(unittest.TestCase):
    def setUp(self):
        schema = json.loads((ROOT / "docs/policy.schema.json").read_text())
        jsonschema.Draft202012Validator.check_schema(schema)
        self.validator = jsonschema.Draft202012Validator(schema)
        self.measures = {
            name for key, part in schema["$defs"].items() if key.startswith("of_")
            for name in part["enum"]
        }

    def problems(self, text):
        return [error.message for error in self.validator.iter_errors(yaml.safe_load(text))]

    def test_takes_the_ready_policies(self):
        self.assertGreaterEqual(len(READY), 2)
        for file in READY:
            with self.subTest(file.name):
                self.assertEqual(self.problems(file.read_text()), [])

    def test_refuses_what_it_can_tell(self):
        refused = 0
        for file in REFUSED:
            text = file.read_text()
            if "# schema: refuses\n" not in text:
                self.assertIn("# schema: cannot tell\n", text)
                continue
            refused += 1
            with self.subTest(file.name):
                self.assertNotEqual(self.problems(text), [])
        self.assertGreaterEqual(refused, 14)

    def test_takes_every_measure(self):
        for name in self.measures:
            with self.subTest(name):
                self.assertEqual(
                    self.problems(f"name: a\nrules:\n- measure: {name}\n  at_most: 1"), []
                )


if __name__ == "__main__":
    unittest.main()
