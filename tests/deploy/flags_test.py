"""The chart, compose, systemd and images name only flags, settings and variables that the programs have.

    python -m tests.deploy.flags_test BUILD_DIR
"""

import functools
import json
import re
import shlex
import tempfile
import tomllib
import unittest

import yaml

from tests.deploy.built import ROOT, Build, main, run
from tests.helm.chart import CHART, EXAMPLES, pod_specs, template

DEPLOY = ROOT / "deploy"
FLAG = re.compile(r"(?:^|[\s,])(--[a-z][a-z0-9-]*)")


@functools.cache
def help_of(*command):
    program = {"sinkd": Build.sinkd(), "sinkctl": Build.folder / "client/cli/sinkctl"}[command[0]]
    code, said, problem = run(program, *command[1:], "--help")
    if code != 0:
        raise AssertionError(f"{command}: {problem}")
    return said


def flags(*command):
    """Those of sinkd, or of a command of sinkctl with those of all."""
    said = help_of(*command) + (help_of("sinkctl") if command[0] == "sinkctl" else "")
    # The first of a line, and those beside it: -o,--output, --run,--run-id.
    heads = re.findall(r"^ +(?:-\w,)?(--[a-z][a-z0-9-]*(?:,--[a-z][a-z0-9-]*)*)", said, re.M)
    return {flag for head in heads for flag in head.split(",")}


def settings():
    return {flag.removeprefix("--") for flag in flags("sinkd")} - {"help", "version", "config", "print-config"}


def variables():
    """Of both programs; SINKD_CONFIG stands for --config."""
    named = re.findall(r"\(Env:(\w+)\)", help_of("sinkctl") + help_of("sinkctl", "detect"))
    return {"SINKD_CONFIG", *named, *("SINKD_" + each.upper().replace("-", "_") for each in settings())}


def ours(environment):
    """The names in it that are about our programs."""
    return {name for name in environment if name.startswith(("SINKD_", "SINKCTL_"))}


class FlagsTest(unittest.TestCase):
    def check_command(self, program, arguments):
        """Every flag that stands among the arguments is one of the program's, or of its command."""
        command = [program]
        if program == "sinkctl":
            # runs list, token new: two words.
            words = arguments[:2] if arguments[0] in ("runs", "token") else arguments[:1]
            command += words
        named = {each.split("=")[0] for each in arguments if each.startswith("--")}
        self.assertEqual(named - flags(*command), set(), f"{command}")

    def test_the_help_that_is_read_here_is_understood(self):
        self.assertLessEqual({"--max-queue", "--config", "--tls-client-ca", "--max-caller-percent"}, flags("sinkd"))
        self.assertLessEqual({"--shard", "--run-id", "--output", "--token-file"}, flags("sinkctl", "analyze"))
        self.assertNotIn("--shard", flags("sinkctl", "models"))
        self.assertLessEqual({"SINKCTL_SERVER", "SINKCTL_TLS_CA", "SINKD_LOAD"}, variables())
        with self.assertRaises(AssertionError):
            self.check_command("sinkctl", ["models", "--shard=0/1"])

    def test_the_charts_pods(self):
        seen = set()
        for file in EXAMPLES:
            for name, spec in pod_specs(template(file)):
                for container in spec["containers"]:
                    if container["name"] == "proxy":
                        continue  # nginx, not a program of ours
                    with self.subTest(file.name, pod=name):
                        seen.add(container["name"])
                        self.check_command(container["name"], container["args"])
                        named = ours(each["name"] for each in container.get("env", []))
                        self.assertEqual(named - variables(), set())
        self.assertEqual(seen, {"sinkd", "sinkctl"})

    def test_the_charts_settings(self):
        for file in EXAMPLES:
            (config,) = [each for each in template(file) if each["kind"] == "ConfigMap"]
            with self.subTest(file.name):
                self.assertEqual(set(tomllib.loads(config["data"]["sinkd.toml"])) - settings(), set())

    def test_the_charts_schema_knows_settings_and_their_limits(self):
        known = json.loads((CHART / "values.schema.json").read_text())["properties"]["config"]["properties"]
        self.assertEqual(set(known) - settings(), set())
        limits = {name: (int(least), int(most)) for name, least, most in
                  re.findall(r"^  --([a-z-]+) [A-Z]+\s+.*?, (\d+) to (\d+)(?:[;\s(]|$)", help_of("sinkd"), re.M)}
        self.assertGreater(len(limits), 5)
        for name, told in limits.items():
            with self.subTest(name):
                self.assertEqual((known[name]["minimum"], known[name]["maximum"]), told)

    def test_the_refusals_of_the_chart_are_of_settings(self):
        text = (CHART / "templates/_check.tpl").read_text()
        named = set(re.findall(r'"([a-z-]+)" 1', text)) | set(re.findall(r'eq \$key "([a-z-]+)"', text))
        self.assertGreater(len(named), 6)
        self.assertEqual(named - settings() - {"config", "print-config"}, set())

    def test_compose(self):
        for file in sorted((DEPLOY / "compose").glob("*.yaml")):
            for name, service in yaml.safe_load(file.read_text())["services"].items():
                with self.subTest(file.name, service=name):
                    self.assertEqual(ours(service.get("environment", {})) - variables(), set())

    def test_systemd(self):
        for file in sorted((DEPLOY / "systemd").iterdir()):
            with self.subTest(file.name):
                text = file.read_text()
                for command in re.findall(r"^ExecStart=(.*)$", text, re.M):
                    self.check_command("sinkd", shlex.split(command)[1:])
                set_here = re.findall(r"^#?Environment=(\w+)=", text, re.M)
                self.assertEqual(ours(set_here) - variables(), set())

    def test_samples_of_the_configuration(self):
        for file in (DEPLOY / "sinkd.toml", ROOT / "docker/sinkd.toml"):
            with self.subTest(file.name):
                text = re.sub(r"^# ([a-z-]+ = .*)$", r"\1", file.read_text(), flags=re.M)
                named = set(tomllib.loads(text))
                self.assertGreater(len(named), 4)
                self.assertEqual(named - settings(), set())

    def test_the_images(self):
        text = (ROOT / "docker/Dockerfile").read_text()
        named = ours(re.findall(r"\b(\w+)=", "\n".join(re.findall(r"^ENV (.*)$", text, re.M))))
        self.assertIn("SINKD_CONFIG", named)
        self.assertEqual(named - variables(), set())
        (check,) = re.findall(r'^  CMD (\[.*\])$', text, re.M)
        program, *arguments = json.loads(check)
        self.check_command(program.rpartition("/")[2], arguments)

    def test_scripts(self):
        for file in sorted(DEPLOY.rglob("*.sh")):
            text = file.read_text().replace("\\\n", " ")
            for command, line in re.findall(r'"\$sinkctl" (\w+)(.*)$', text, re.M):
                with self.subTest(file.name, command=command):
                    named = set(FLAG.findall(line))
                    self.assertEqual(named - flags("sinkctl", command), set())


class VariableTest(unittest.TestCase):
    def test_each_of_sinkds_has_the_name_of_its_flag(self):
        with tempfile.TemporaryDirectory() as models:
            code, printed, problem = run(Build.sinkd(), "--model-root", models, "--print-config",
                                         environment={"SINKD_MAX_CALLER_PERCENT": "7"})
            self.assertEqual(code, 0, problem)
            self.assertEqual(tomllib.loads(printed)["max-caller-percent"], 7)


if __name__ == "__main__":
    main()
