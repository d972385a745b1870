"""Monitoring as deployed: a real Prometheus scrapes a real sinkd with the rules of deploy/prometheus,
and is asked every query of the dashboards in deploy/grafana.

    python -m tests.e2e.monitoring_test BUILD_DIR ORACLE_DIR
"""

import json
import math
import pathlib
import re
import subprocess
import tempfile
import unittest
import urllib.request

import yaml
from prometheus_client.parser import text_string_to_metric_families

from tests.e2e import model_root
from tests.e2e.model_root import PLANTED, TINY, ModelRoot
from tests.e2e.prometheus_process import DEPLOY, PrometheusProcess
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main, wait_until

RULES = DEPLOY / "prometheus/rules.yml"
DASHBOARDS = {name: json.loads((DEPLOY / f"grafana/{name}.json").read_text())
              for name in ("service", "sinks")}
# What Grafana puts in place of its variables, with "All" chosen.
VARIABLES = {"$__rate_interval": "5m", "$instance": ".*", "$model": ".*"}
# Queries that have no data in a server that has just started.
WITHOUT_DATA = {("sinks", "Change of secondary sinks in a day"),
                ("service", "Certificate validity")}
METRIC = re.compile(r"(?:\bup\b|\b[a-z_]+:sinkd_[\w:]+|\bsinkd_\w+)(?:\{[^}]*\})?")


class Setting:
    root = server = prometheus = summary = None


def setUpModule():
    Setting.root = ModelRoot()
    unittest.addModuleCleanup(Setting.root.cleanup)
    Setting.root.link(PLANTED, model_root.planted())
    Setting.root.link(TINY, model_root.tiny())
    Setting.server = SinkdProcess(Setting.root.path, load=[PLANTED])
    unittest.addModuleCleanup(Setting.server.stop)
    Setting.prometheus = PrometheusProcess(Setting.server.http)
    unittest.addModuleCleanup(Setting.prometheus.stop)
    wait_until("the server is scraped", lambda: query("sinkd_build_info"))
    work()


def work():
    """Gives every metric something to tell, after a scrape that saw none of it."""
    sinkctl("load", TINY)
    sinkctl("load", "no-such-model", code=4)
    with tempfile.TemporaryDirectory(prefix="sinkd-samples-") as folder:
        file = pathlib.Path(folder) / "samples.jsonl"
        file.write_text("".join(
            json.dumps({key: record[key] for key in ("token_ids", "chat_rendered")}) + "\n"
            for record in model_root.planted_records().values()))
        answer = sinkctl("analyze", PLANTED, "--levels", "--scores", "--heads", "--input", file, "--run", "latest",
                         "-o", "json")
    Setting.summary = json.loads(answer)["summary"]


def sinkctl(*arguments, code=0):
    command = [Programs.sinkctl, "--server", Setting.server.address, *arguments]
    done = subprocess.run([str(each) for each in command], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    if done.returncode != code:
        raise AssertionError(f"{arguments} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def query(expression):
    return Setting.prometheus.query(expression)


def has_number(expression):
    return any(math.isfinite(value) for _, value in query(expression))


def check_metrics_exist(expression):
    """Each with the labels that it is asked for with."""
    for metric in METRIC.findall(expression):
        wait_until(metric, lambda metric=metric: query(metric))


def rules():
    return [rule for group in yaml.safe_load(RULES.read_text())["groups"] for rule in group["rules"]]


def alerts():
    return [rule for rule in rules() if "alert" in rule]


def panels(name):
    return [each for each in DASHBOARDS[name]["panels"] if each["type"] != "row"]


def promtool(*arguments, **options):
    done = subprocess.run(["promtool", *map(str, arguments)], capture_output=True, text=True,
                          timeout=PATIENCE, check=False, **options)
    return done.returncode, done.stdout + done.stderr


class DashboardsTest(unittest.TestCase):
    def test_every_query_of_every_panel_returns_data(self):
        for name in DASHBOARDS:
            for panel in panels(name):
                for target in panel["targets"]:
                    with self.subTest(dashboard=name, panel=panel["title"], query=target["expr"]):
                        self.check_query(name, panel["title"], target["expr"])

    def check_query(self, name, title, expression):
        for variable, value in VARIABLES.items():
            expression = expression.replace(variable, value)
        self.assertNotIn("$", expression)
        query(expression)
        if (name, title) in WITHOUT_DATA:
            check_metrics_exist(expression)
        else:
            wait_until(expression, lambda: has_number(expression))

    def test_every_variable_has_values(self):
        for name, dashboard in DASHBOARDS.items():
            source, *variables = dashboard["templating"]["list"]
            self.assertEqual((source["name"], source["type"]), ("datasource", "datasource"))
            self.assertEqual([each["name"] for each in variables], ["instance", "model"])
            for variable in variables:
                with self.subTest(dashboard=name, variable=variable["name"]):
                    asked = variable["query"]["query"].replace("$instance", ".*")
                    series, label = re.fullmatch(r"label_values\((.*), (\w+)\)", asked).groups()
                    wait_until(asked, lambda series=series, label=label: (
                        Setting.prometheus.get(f"label/{label}/values", **{"match[]": series})))

    def test_every_panel_says_what_it_shows_and_where_from(self):
        for name, dashboard in DASHBOARDS.items():
            ids = [each["id"] for each in dashboard["panels"]]
            self.assertEqual(len(ids), len(set(ids)), name)
            for panel in panels(name):
                with self.subTest(dashboard=name, panel=panel["title"]):
                    self.assertTrue(panel["description"])
                    self.assertTrue(panel["fieldConfig"]["defaults"]["unit"])
                    for each in (panel, *panel["targets"]):
                        self.assertEqual(each["datasource"]["uid"], "${datasource}")

    def test_panels_do_not_overlap(self):
        for name, dashboard in DASHBOARDS.items():
            taken = set()
            for panel in dashboard["panels"]:
                at = panel["gridPos"]
                cells = {(x, y) for x in range(at["x"], at["x"] + at["w"])
                         for y in range(at["y"], at["y"] + at["h"])}
                self.assertFalse(cells & taken, (name, panel["title"]))
                self.assertLessEqual(at["x"] + at["w"], 24)
                taken |= cells

    def test_the_latest_run_is_told_as_its_summary_tells_it(self):
        levels, scores = Setting.summary["levels"], Setting.summary["scores"]
        for metric, expected in (
                ("sinkd_run_samples", float(Setting.summary["samples"])),
                ("sinkd_run_secondary_sinks", float(levels["secondary"])),
                ("sinkd_run_secondary_sinks_per_1000_tokens", levels["secondaryPer1000Tokens"]),
                ("sinkd_run_primary_score_mean", scores["primaryPosition"]["mean"])):
            found = wait_until(metric, lambda metric=metric: query(metric))
            self.assertEqual([(labels["model"], value) for labels, value in found],
                             [(PLANTED, expected)], metric)
        self.assertEqual(levels["secondary"], str(sum(
            sink["kind"] == "secondary" for record in model_root.planted_records().values()
            for sink in record["sinks"])))


class RulesTest(unittest.TestCase):
    def test_every_rule_is_loaded_and_no_alert_fires(self):
        def evaluated():
            groups = Setting.prometheus.get("rules")["groups"]
            loaded = [rule for group in groups for rule in group["rules"]]
            return all(rule["health"] != "unknown" for rule in loaded) and loaded
        loaded = wait_until("the rules are evaluated", evaluated)
        self.assertCountEqual([each["name"] for each in loaded],
                              [rule.get("alert") or rule["record"] for rule in rules()])
        for each in loaded:
            self.assertEqual(each["health"], "ok", each)
        self.assertEqual(query('ALERTS{alertstate="firing"}'), [])

    def test_every_metric_that_a_rule_looks_at_exists(self):
        for rule in rules():
            query(rule["expr"])
            check_metrics_exist(rule["expr"])

    def test_recording_rules_have_data(self):
        for rule in rules():
            if "record" in rule:
                wait_until(rule["record"], lambda rule=rule: has_number(rule["record"]))

    def test_promtool_accepts_configuration_and_rules(self):
        for arguments in (("check", "config", DEPLOY / "prometheus/prometheus.yml"),
                          ("check", "rules", RULES),
                          ("test", "rules", DEPLOY / "prometheus/rules_test.yml")):
            code, said = promtool(*arguments)
            self.assertEqual(code, 0, said)

    def test_every_alert_is_tested_firing_and_not_firing(self):
        tests = yaml.safe_load((DEPLOY / "prometheus/rules_test.yml").read_text())["tests"]
        tested = {(case["alertname"], bool(case["exp_alerts"]))
                  for test in tests for case in test["alert_rule_test"]}
        self.assertEqual(tested, {(rule["alert"], fires) for rule in alerts()
                                  for fires in (False, True)})

    def test_every_alert_has_a_section_in_the_runbook(self):
        runbook = (DEPLOY.parent / "docs/runbook.md").read_text()
        sections = dict(re.findall(r"^## (\w+)\n(.*?)(?=^## |\Z)", runbook, re.M | re.S))
        for rule in alerts():
            with self.subTest(alert=rule["alert"]):
                notes = rule["annotations"]
                self.assertEqual(set(notes), {"summary", "description", "runbook"})
                self.assertIn(rule["labels"]["severity"], ("critical", "warning"))
                self.assertEqual(notes["runbook"], f"docs/runbook.md#{rule['alert'].lower()}")
                for part in ("**Meaning.**", "**Look.**", "**Do.**"):
                    self.assertIn(part, sections[rule["alert"]])


class MetricsTest(unittest.TestCase):
    def families(self):
        return {each.name + ("_total" if each.type == "counter" else ""): each
                for each in text_string_to_metric_families(Setting.server.metrics_text())}

    def test_the_documents_tell_every_metric_as_the_server_does(self):
        page = (DEPLOY.parent / "docs/observability.md").read_text()
        told = re.findall(r"^\| `(sinkd_\w+)` \| (\w+) \| ?([\w, ]*?) ?\| (.*) \|$", page, re.M)
        self.assertEqual(told, sorted(
            (name, each.type, ", ".join(sorted({
                label for sample in each.samples for label in sample.labels} - {"le"})),
             each.documentation)
            for name, each in self.families().items()))

    def test_every_metric_that_is_told_of_or_asked_for_is_there(self):
        root = DEPLOY.parent
        exported = {name + end for name, each in self.families().items()
                    for end in (("", "_bucket", "_sum", "_count") if each.type == "histogram" else ("",))}
        for file in (*(root / "docs").rglob("*.md"), *DEPLOY.rglob("*.yml"), *DEPLOY.rglob("*.json"),
                     *(root / "helm/sinkd").rglob("*.yaml"), *(root / "helm/sinkd").rglob("*.yml")):
            with self.subTest(file=file.relative_to(root)):
                # But for those that rules record.
                used = set(re.findall(r"(?<![\w:])sinkd_[a-z0-9_]+", file.read_text()))
                self.assertEqual(used - exported, set())

    def test_promtool_finds_no_fault_in_what_a_working_server_tells(self):
        url = f"http://{Setting.server.http}/metrics"
        with urllib.request.urlopen(url, timeout=PATIENCE) as page:
            code, said = promtool("check", "metrics", input=page.read().decode())
        self.assertEqual((code, said), (0, ""))

    def test_a_ready_server_says_so(self):
        self.assertEqual(Setting.server.metric("sinkd_ready"), 1)
        self.assertGreater(Setting.server.metric("sinkd_queue_capacity"), 0)


class StoredRunsTest(unittest.TestCase):
    """The dashboard that asks the JSON API: each query as the Infinity data source sends and reads it."""

    BOARD = json.loads((DEPLOY / "grafana/runs.json").read_text())

    def rows(self, query):
        url = query["url"].replace("${server}", f"http://{Setting.server.http}").replace("${run}", "latest")
        with urllib.request.urlopen(url, timeout=PATIENCE) as answer:
            found = json.load(answer)
        for member in query["root_selector"].split("."):
            found = found[member]
        return found if isinstance(found, list) else [found]

    def check(self, query):
        rows = self.rows(query)
        for column in query["columns"]:
            values = [row[column["selector"]] for row in rows]
            if column["type"] == "number":
                self.assertTrue(all(math.isfinite(float(value)) for value in values), column)

    def test_every_column_of_every_panel_is_there(self):
        for panel in self.BOARD["panels"]:
            for query in panel["targets"]:
                with self.subTest(panel["title"]):
                    self.check(query)

    def test_a_run_can_be_chosen(self):
        variable, = (each for each in self.BOARD["templating"]["list"] if each["name"] == "run")
        names = [row["name"] for row in self.rows(variable["query"]["infinityQuery"])]
        self.assertEqual([re.match(variable["regex"].strip("/").replace("\\/", "/"), name)[1] for name in names],
                         ["latest"])


class ProvisioningTest(unittest.TestCase):
    def test_grafana_finds_a_source_and_the_dashboards(self):
        folder = DEPLOY / "grafana/provisioning"
        sources = yaml.safe_load((folder / "datasources/prometheus.yml").read_text())
        self.assertEqual([each["type"] for each in sources["datasources"]], ["prometheus"])
        scraped = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
        self.assertEqual(sources["datasources"][0]["jsonData"]["timeInterval"],
                         scraped["global"]["scrape_interval"])
        boards = yaml.safe_load((folder / "dashboards/sinkd.yml").read_text())
        self.assertEqual([each["type"] for each in boards["providers"]], ["file"])


if __name__ == "__main__":
    main()
