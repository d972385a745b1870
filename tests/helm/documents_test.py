"""What stands beside the chart says the same as the chart.

    python -m tests.helm.documents_test
"""

import json
import re
import shlex
import unittest

import yaml

from tests.helm import plain_manifests, values_table
from tests.helm.chart import CHART, EXAMPLES, ROOT, helm, only, template


class Documents(unittest.TestCase):
    def test_the_pages_table_has_every_value_with_its_default(self):
        _, within, _ = values_table.parts()
        self.assertEqual(within, values_table.table())

    def test_every_value_that_the_schema_knows_has_a_default(self):
        schema = json.loads((CHART / "values.schema.json").read_text())
        values = yaml.safe_load((CHART / "values.yaml").read_text())
        # `global` is Helm's own.
        self.assertEqual(set(schema["properties"]) - {"global"}, set(values))

    def test_the_plain_manifests_are_those_of_the_chart(self):
        self.assertEqual({file.name for file in plain_manifests.FOLDER.glob("*.yaml")},
                         set(plain_manifests.FILES))
        for file, text in plain_manifests.all_files().items():
            self.assertEqual(file.read_text(), text)

    def test_the_charts_rules_are_those_of_prometheus(self):
        rules = (ROOT / "deploy" / "prometheus" / "rules.yml").read_text()
        self.assertEqual((CHART / "files" / "rules.yml").read_text(), rules)
        rendered = only(template(CHART / "examples" / "postgres.yaml"), "PrometheusRule")["spec"]
        self.assertEqual(rendered, yaml.safe_load(rules))

    def test_the_pages_helm_commands_are_taken(self):
        page = values_table.PAGE.read_text()
        commands = [shlex.split(line)
                    for line in re.findall(r"^\$ helm (?:install|upgrade) (.*)$", page, re.M)]
        self.assertEqual(len(commands), 3)
        release, chart, *given = commands[0]
        for _, _, *more in commands:
            more = [ROOT / each if each.startswith("helm/") else each for each in more]
            code, _, err = helm("template", release, ROOT / chart, *given,
                                *(each for each in more if each != "--reuse-values"))
            self.assertEqual(code, 0, err)

    def test_the_page_names_every_example(self):
        page = values_table.PAGE.read_text()
        for file in EXAMPLES:
            self.assertIn(f"examples/{file.name}", page)

    def test_the_chart_is_of_the_version_of_the_project(self):
        build = (ROOT / "CMakeLists.txt").read_text()
        project = re.search(r"project\(sinkd VERSION ([0-9.]+)", build)
        chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
        self.assertEqual((chart["version"], chart["appVersion"]), (project[1], project[1]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
