"""Audits of real runs: a planted checkpoint passes against itself, and fails against one of which a
level moved, went, came or weakened, by the rule that says so; each output format, each exit code.

    python -m tests.e2e.audit_test BUILD_DIR ORACLE_DIR
"""

import json
import pathlib
import signal
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import yaml

from tests.e2e import model_root
from tests.e2e.model_root import ModelRoot
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main, wait_until
from tests.testing import audit_samples, noisy_copy, planted

POLICIES = pathlib.Path(__file__).parents[2] / "deploy/policies"
GATE, SMOKE = POLICIES / "release-gate.yaml", POLICIES / "smoke.yaml"
QUANTIZED = POLICIES / "quantized-release.yaml"
COPIES = 4  # of the planted samples, each counted as a separate sample


def prompts():
    """Every planted sample, each time with another last token."""
    for copy in range(COPIES):
        for record in model_root.planted_records().values():
            yield {"id": f"{record['sample_id']}-{copy}",
                   "token_ids": record["token_ids"] + [5] * copy,
                   "chat_rendered": record["chat_rendered"]}


class Setting:
    folder = server = prompts = None


def setUpModule():
    folder = tempfile.TemporaryDirectory(prefix="sinkd-audit-")
    unittest.addModuleCleanup(folder.cleanup)
    Setting.folder = pathlib.Path(folder.name)
    root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    for name, variant in audit_samples.SETS.items():
        planted.generate(root.path / name, variant)
    Setting.server = SinkdProcess(root.path)
    unittest.addModuleCleanup(Setting.server.stop)
    Setting.prompts = Setting.folder / "prompts.jsonl"
    Setting.prompts.write_text("".join(json.dumps(each) + "\n" for each in prompts()))
    noisy_copy.write_copy(root.path / "table", root.path / "noisy", 1e-3)
    for name in (*audit_samples.SETS, "noisy"):
        make_run(name, name)
    make_run("table", "bfloat16", "--compute-type", "bfloat16")


def make_run(model, run, *load):
    sinkctl("load", model, *load, "-q")
    sinkctl("analyze", model, "--all", "--input", Setting.prompts, "--run", run,
            "--label", f"set={run}", "--summary-only", "-q")
    sinkctl("unload", model)


def call(*arguments, text=None):
    command = [Programs.sinkctl, "--server", Setting.server.address, *arguments]
    return subprocess.run([str(each) for each in command], input=text, capture_output=True, text=True,
                          timeout=PATIENCE, check=False)


def sinkctl(*arguments):
    done = call(*arguments)
    if done.returncode != 0:
        raise AssertionError(f"{arguments}: {done.stderr}")
    return done.stdout


def catches(pid, signum):
    """Whether the process has a handler for that signal."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signum - 1) & 1)


class AuditTest(unittest.TestCase):
    def audit(self, code, *arguments, policy=GATE, baseline="table", text=None):
        """What an audit writes that ends with this exit code."""
        against = ("--baseline", baseline) if baseline else ()
        done = call("audit", "--policy", policy, *against, *arguments, text=text)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stderr if code == 2 else done.stdout

    def verdicts(self, code, *arguments, **options):
        answer = json.loads(self.audit(code, *arguments, "-o", "json", **options))
        return answer, {rule["name"]: rule["verdict"] for rule in answer["rules"]}

    def failed(self, candidate):
        answer, verdicts = self.verdicts(1, "--candidate", candidate)
        self.assertEqual(answer["verdict"], "VERDICT_FAIL")
        reasons = {rule["name"]: rule["reason"] for rule in answer["rules"]}
        return {name: reasons[name] for name, each in verdicts.items() if each == "VERDICT_FAIL"}

    def test_passes_a_model_against_itself(self):
        answer, verdicts = self.verdicts(0, "--candidate", "table")
        self.assertEqual(answer["verdict"], "VERDICT_PASS")
        self.assertEqual(set(verdicts.values()), {"VERDICT_PASS"})
        self.assertEqual(answer["candidateRuns"], ["runs/table"])
        samples = len(list(prompts()))
        self.assertEqual((answer["candidateSamples"], answer["baselineSamples"]),
                         (str(samples), str(samples)))

    def test_passes_the_same_model_in_other_numbers(self):
        self.assertEqual(len(list(prompts())), 60)
        for policy in (GATE, QUANTIZED):
            for candidate in ("bfloat16", "noisy"):
                with self.subTest(f"{candidate} by {policy.name}"):
                    answer, verdicts = self.verdicts(0, "--candidate", candidate, policy=policy)
                    self.assertEqual(set(verdicts.values()), {"VERDICT_PASS"})
                    norm = next(rule for rule in answer["rules"] if rule["measure"] == "primary_norm")
                    self.assertNotEqual(norm["value"], norm["baselineValue"])

    def test_names_a_level_that_moved(self):
        failed = self.failed("moved")
        self.assertIn("(9, 20) with", failed["no lost levels"])
        self.assertIn("(11, 12) with", failed["no new levels"])

    def test_names_a_level_that_went(self):
        failed = self.failed("removed")
        self.assertIn("(12, 6) with", failed["no lost levels"])
        self.assertNotIn("no new levels", failed)

    def test_names_a_level_that_came(self):
        failed = self.failed("added")
        self.assertIn("(20, 6) with", failed["no new levels"])
        self.assertNotIn("no lost levels", failed)

    def test_names_a_level_that_weakened(self):
        failed = self.failed("weakened")
        self.assertIn("(14, 15) with", failed["no lost levels"])
        self.assertIn("(14, 7) with", failed["no new levels"])

    def test_compares_sinks_one_by_one(self):
        _, verdicts = self.verdicts(0, "--candidate", "table", policy=QUANTIZED)
        self.assertEqual(set(verdicts.values()), {"VERDICT_PASS"})
        answer, verdicts = self.verdicts(1, "--candidate", "removed", policy=QUANTIZED)
        self.assertEqual(verdicts["secondary sinks lost"], "VERDICT_FAIL")
        self.assertEqual(verdicts["secondary sinks gained"], "VERDICT_PASS")
        lost = next(rule for rule in answer["rules"] if rule["measure"] == "lost_secondary")
        because = sum(sink["text"].strip().lower() == "because" and sink["kind"] == "secondary"
                      for record in model_root.planted_records().values()
                      for sink in record["sinks"])
        self.assertIn(f"; {COPIES * because} of ", lost["reason"])
        self.assertLess(lost["interval"]["lower"], lost["value"])
        self.assertLess(lost["value"], lost["interval"]["upper"])
        self.assertIn(" to ", self.audit(1, "--candidate", "removed", policy=QUANTIZED))

    def test_needs_no_model_and_chooses_runs_by_model_and_label(self):
        listed = json.loads(sinkctl("models", "-o", "json"))["models"]
        self.assertEqual({model["state"] for model in listed}, {"MODEL_STATE_AVAILABLE"})
        answer, _ = self.verdicts(1, "--candidate-label", "set=moved", "--candidate-model", "moved")
        self.assertEqual(answer["candidateRuns"], ["runs/moved"])
        answer, _ = self.verdicts(0, "--candidate", "table,removed", policy=SMOKE, baseline=None)
        self.assertEqual(answer["candidateRuns"], ["runs/removed", "runs/table"])

    def test_writes_every_format(self):
        table = self.audit(1, "--candidate", "moved")
        self.assertIn("release gate  FAIL", table)
        self.assertIn("no lost levels", table)
        text = self.audit(1, "--candidate", "moved", "-o", "text").splitlines()
        self.assertEqual(text[0], "release gate: FAIL")
        self.assertTrue(any(line.startswith("FAIL: no lost levels [") for line in text))
        markdown = self.audit(1, "--candidate", "moved", "-o", "markdown")
        self.assertIn("| no lost levels | **FAIL** | 1.0000 | - | - | - | at most 0 |", markdown)
        rules = len(yaml.safe_load(GATE.read_text())["rules"])
        suite = xml.etree.ElementTree.fromstring(
            self.audit(1, "--candidate", "moved", "-o", "junit")).find("testsuite")
        cases = suite.findall("testcase")
        self.assertEqual((len(cases), int(suite.get("tests"))), (rules, rules))
        failures = [case.get("name") for case in cases if case.find("failure") is not None]
        self.assertEqual(len(failures), int(suite.get("failures")))
        self.assertIn("no lost levels", failures)

    def test_never_passes_without_enough_data(self):
        policy = "name: a <b> & c\nrules:\n- {measure: failed_share, at_most: 1, min_samples: 999}\n"
        written = self.audit(7, "--candidate", "table", "-o", "junit", policy="-", baseline=None,
                             text=policy)
        suite = xml.etree.ElementTree.fromstring(written).find("testsuite")
        self.assertEqual(suite.get("name"), "a <b> & c")
        self.assertEqual((suite.get("errors"), suite.get("failures")), ("1", "0"))

    def test_what_xml_forbids_is_written_visibly(self):
        name = 'x\\uFFFE\\u202E\\u2028'
        policy = f'name: "{name}"\nrules:\n- {{measure: failed_share, at_most: 1}}\n'
        written = self.audit(0, "--candidate", "table", "-o", "junit", policy="-", baseline=None,
                             text=policy)
        suite = xml.etree.ElementTree.fromstring(written).find("testsuite")
        self.assertEqual(suite.get("name"), r"x\u{fffe}\u{202e}\u{2028}")

    def test_ctrl_c_ends_the_wait_for_a_policy(self):
        command = [Programs.sinkctl, "--server", Setting.server.address, "audit", "--policy", "-",
                   "--candidate", "table"]
        with subprocess.Popen([str(each) for each in command], stdin=subprocess.PIPE) as audit:
            wait_until("a handler of SIGINT", lambda: catches(audit.pid, signal.SIGINT))
            audit.send_signal(signal.SIGINT)
            self.assertEqual(audit.wait(PATIENCE), 130)

    def test_says_what_is_wrong(self):
        said = self.audit(2, "--candidate", "table", policy="-",
                          text="name: a\nrules:\n- measure: failed_share\n  at_mots: 1\n")
        self.assertIn("line 4, column 3", said)
        self.assertIn('write "at_most"', said)
        said = self.audit(2, "--candidate", "table", baseline=None)
        self.assertIn("compares with a baseline", said)
        self.assertIn("--policy FILE", call("audit", "--candidate", "table").stderr)
        self.assertIn("--candidate RUN", self.audit(2, policy=SMOKE))
        self.assertIn("cannot read /nothing", self.audit(2, "--candidate", "a", policy="/nothing"))
        self.assertEqual(call("audit", "--policy", SMOKE, "--candidate", "nothing").returncode, 4)
        done = call("audit", "--policy", SMOKE, "--candidate-label", "set=nothing")
        self.assertEqual(done.returncode, 4)
        self.assertIn("NO_RUN_SELECTED", done.stderr)

    def test_ends_with_its_deadline(self):
        policy = "name: a\ndraws: 100000\nrules:\n" + "".join(
            f"- {{name: a{each}, measure: norm_distribution, test: true}}\n" for each in range(200))
        done = call("audit", "--policy", "-", "--candidate", "table", "--baseline", "moved",
                    "--timeout", "1s", text=policy)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.verdicts(0, "--candidate", "table")

    def test_refuses_runs_that_were_made_differently(self):
        sinkctl("load", "table", "-q")
        sinkctl("analyze", "table", "--levels", "--cosine-threshold", "0.8", "--input",
                Setting.prompts, "--run", "other", "--summary-only", "-q")
        sinkctl("unload", "table")
        done = call("audit", "--policy", GATE, "--candidate", "other", "--baseline", "table")
        self.assertEqual(done.returncode, 4)
        self.assertIn("RUNS_DIFFER", done.stderr)

    def test_gates_a_release(self):
        for candidate, code in (("table", 0), ("removed", 1)):
            with self.subTest(candidate):
                reports = Setting.folder / f"reports-{candidate}"
                done = subprocess.run(
                    [POLICIES / "release-gate.sh", Setting.prompts, candidate, "table", reports],
                    env={"SINKCTL_SERVER": Setting.server.address, "SINKCTL": str(Programs.sinkctl),
                         "PATH": "/usr/bin:/bin"},
                    capture_output=True, text=True, timeout=PATIENCE, check=False)
                self.assertEqual(done.returncode, code, done.stderr)
                verdict = json.loads((reports / "audit.json").read_text())["verdict"]
                self.assertEqual(verdict, "VERDICT_FAIL" if code else "VERDICT_PASS")
                self.assertTrue((reports / "audit.xml").exists())
                self.assertTrue((reports / "audit.md").read_text().startswith("### release gate"))
        sinkctl("unload", "table")
        sinkctl("unload", "removed")

    def test_the_workflows_call_the_gate(self):
        github = yaml.safe_load((POLICIES / "github-actions.yml").read_text())
        self.check_calls([step.get("run", "") for step in github["jobs"]["audit"]["steps"]])
        gitlab = yaml.safe_load((POLICIES / "gitlab-ci.yml").read_text())
        self.check_calls(gitlab["sinks"]["script"])

    def check_calls(self, commands):
        called = [line.split()[0] for line in commands if "release-gate.sh" in line]
        self.assertEqual([POLICIES.parents[1] / each for each in called],
                         [POLICIES / "release-gate.sh"])


if __name__ == "__main__":
    main()
