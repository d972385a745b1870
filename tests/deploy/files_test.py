"""The files that deploy sinkd, read by the programs that will read them.

    python -m tests.deploy.files_test BUILD_DIR
"""

import pathlib
import re
import shutil
import tempfile
import unittest

import yaml

from tests.deploy.built import ROOT, TOOLS, Build, main, run

DEPLOY = ROOT / "deploy"
UNIT = DEPLOY / "systemd/sinkd.service"
COMPOSE = DEPLOY / "compose/compose.yaml"
COMMENTED_SETTING = re.compile(r"^# ([a-z-]+ = .*)$", re.M)


def print_config(file, model_root, **environment):
    return run(Build.sinkd(), "--config", file, "--model-root", model_root, "--print-config",
               environment=environment)


def settings(text):
    return dict(line.split(" = ", 1) for line in text.splitlines() if " = " in line)


class ConfigurationTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-models-")
        self.addCleanup(folder.cleanup)
        self.models = pathlib.Path(folder.name)

    def test_the_sample_is_read_and_says_what_is_in_force(self):
        code, printed, problem = print_config(DEPLOY / "sinkd.toml", self.models)
        self.assertEqual(code, 0, problem)
        self.assertEqual({key: settings(printed)[key] for key in ("retain-age", "log-format")},
                         {"retain-age": f'"{90 * 86400}s"', "log-format": '"json"'})

    def test_what_the_sample_calls_defaults_are_the_defaults(self):
        told = settings("\n".join(COMMENTED_SETTING.findall((DEPLOY / "sinkd.toml").read_text())))
        code, printed, problem = run(Build.sinkd(), "--model-root", self.models, "--print-config")
        self.assertEqual(code, 0, problem)
        self.assertGreater(len(told), 10)
        defaults = settings(printed)
        self.assertEqual(told, {key: defaults.get(key) for key in told})

    def test_the_image_serves_other_machines_only_when_told_to(self):
        image = ROOT / "docker/sinkd.toml"
        code, _, problem = print_config(image, self.models)
        self.assertEqual(code, 2)
        self.assertIn("--insecure-listen", problem)
        code, printed, problem = print_config(image, self.models, SINKD_INSECURE_LISTEN="true")
        self.assertEqual(code, 0, problem)
        self.assertEqual(settings(printed)["listen"], '"0.0.0.0:50051"')
        self.assertEqual(settings(printed)["state-dir"], '"/var/lib/sinkd"')


@unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze")
class ServiceTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-unit-")
        self.addCleanup(folder.cleanup)
        self.unit = pathlib.Path(folder.name) / UNIT.name
        # The program must be there for the unit to be sound.
        self.unit.write_text(UNIT.read_text().replace("/usr/local/bin/sinkd", str(Build.sinkd())))

    def verify(self):
        return run("systemd-analyze", "verify", "--man=no", "--recursive-errors=no", self.unit)

    def test_the_unit_is_sound_alone_and_with_each_drop_in(self):
        self.assertEqual(self.verify(), (0, "", ""))
        drop_ins = self.unit.with_name(UNIT.name + ".d")
        drop_ins.mkdir()
        for file in sorted(UNIT.parent.glob("*.conf")):
            with self.subTest(drop_in=file.name):
                shutil.copy(file, drop_ins)
                self.assertEqual(self.verify(), (0, "", ""))

    def test_an_unknown_key_would_be_found_in_either(self):
        drop_ins = self.unit.with_name(UNIT.name + ".d")
        drop_ins.mkdir()
        (drop_ins / "wrong.conf").write_text("[Service]\nPrivateDevice=no\n")
        self.unit.write_text(self.unit.read_text().replace("LimitNOFILE", "LimitNoFile"))
        for key in ("LimitNoFile", "PrivateDevice"):
            self.assertIn(f"'{key}'", self.verify()[2])

    def test_the_unit_exposes_little(self):
        code, said, problem = run("systemd-analyze", "security", "--no-pager", "--offline=true",
                                  "--threshold=20", self.unit)
        self.assertEqual(code, 0, said + problem)

    def test_it_waits_longer_than_draining_takes(self):
        seconds = int(re.search(r"^TimeoutStopSec=(\d+)s$", UNIT.read_text(), re.M)[1])
        told = settings("\n".join(COMMENTED_SETTING.findall((DEPLOY / "sinkd.toml").read_text())))
        drain = [int(told[key].strip('"').removesuffix("s")) for key in ("drain-delay", "drain-timeout")]
        self.assertGreater(seconds, sum(drain) + 30)


class WorkflowsTest(unittest.TestCase):
    def test_they_keep_to_their_schemas(self):
        for name, schema in (("github-actions", "vendor.github-workflows"), ("gitlab-ci", "vendor.gitlab-ci")):
            with self.subTest(name):
                code, said, problem = run(TOOLS / "check-jsonschema", "--builtin-schema", schema,
                                          DEPLOY / f"policies/{name}.yml")
                self.assertEqual(code, 0, said + problem)


class ComposeTest(unittest.TestCase):
    def setUp(self):
        self.compose = yaml.safe_load(COMPOSE.read_text())

    def test_the_files_keep_to_the_compose_specification(self):
        for file in sorted(COMPOSE.parent.glob("*.yaml")):
            with self.subTest(file=file.name):
                code, said, problem = run(TOOLS / "check-jsonschema", "--builtin-schema",
                                          "vendor.compose-spec", file)
                self.assertEqual(code, 0, said + problem)

    def test_every_file_they_mount_is_there(self):
        for service in self.compose["services"].values():
            for volume in service.get("volumes", []):
                source = volume.split(":")[0]
                if source.startswith("../"):
                    self.assertTrue((COMPOSE.parent / source).exists(), source)

    def test_secrets_and_volumes_are_declared(self):
        for name, service in self.compose["services"].items():
            for secret in service.get("secrets", []):
                self.assertIn(secret, self.compose["secrets"], name)
            named = {volume.split(":")[0] for volume in service.get("volumes", [])}
            for volume in named:
                self.assertTrue(volume.startswith(("../", "${")) or volume in self.compose["volumes"], volume)

    def test_ports_are_on_loopback_only(self):
        for name, service in self.compose["services"].items():
            for port in service.get("ports", []):
                self.assertTrue(port.startswith("127.0.0.1:"), f"{name}: {port}")

    def test_monitoring_is_that_of_deploy_but_for_addresses(self):
        theirs = yaml.safe_load(self.compose["configs"]["prometheus"]["content"])
        ours = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
        ours["scrape_configs"][0]["static_configs"] = [{"targets": ["sinkd:9464"]}]
        self.assertEqual(theirs, ours)
        theirs = yaml.safe_load(self.compose["configs"]["datasource"]["content"])
        ours = yaml.safe_load((DEPLOY / "grafana/provisioning/datasources/prometheus.yml").read_text())
        ours["datasources"][0]["url"] = "http://prometheus:9090"
        self.assertEqual(theirs, ours)

    def test_the_secrets_are_made_once(self):
        with tempfile.TemporaryDirectory(prefix="sinkd-compose-") as folder:
            script = shutil.copy(COMPOSE.with_name("secrets.sh"), folder)
            self.assertEqual(run(script)[0], 0)
            made = {file.name: file.read_text() for file in pathlib.Path(folder, "secrets").iterdir()}
            self.assertEqual(set(made), set(self.compose["secrets"]))
            self.assertIn(f":{made['postgres-password']}@postgres/", made["store-url"])
            self.assertEqual(run(script)[0], 0)
            again = {file.name: file.read_text() for file in pathlib.Path(folder, "secrets").iterdir()}
        self.assertEqual(made, again)


class LintTest(unittest.TestCase):
    def test_hadolint_finds_no_fault_in_the_dockerfile(self):
        self.assertEqual(run(TOOLS / "hadolint", "docker/Dockerfile"), (0, "", ""))

    def test_shellcheck_finds_no_fault_in_scripts(self):
        folders = (".ci", "deploy", "docker", "helm", "tests")
        scripts = [file for folder in folders for file in sorted((ROOT / folder).rglob("*.sh"))
                   if "node_modules" not in file.parts]
        self.assertGreater(len(scripts), 10)
        for script in [ROOT / ".ci/run", *scripts]:
            with self.subTest(script=script.relative_to(ROOT)):
                # What a chart holds is handed to a container's shell as text, without a first line; every
                # container has HOSTNAME in its environment.
                shell = () if script.read_text().startswith("#!") else ("--shell=sh", "--exclude=SC3028")
                code, said, problem = run(TOOLS / "shellcheck", "--severity=warning", *shell, script)
                self.assertEqual(code, 0, said + problem)


class RunbookTest(unittest.TestCase):
    def test_it_has_no_section_of_an_alert_that_is_none(self):
        rules = yaml.safe_load((DEPLOY / "prometheus/rules.yml").read_text())
        alerts = {rule["alert"] for group in rules["groups"] for rule in group["rules"]
                  if "alert" in rule}
        sections = re.findall(r"^## (Sinkd\w+)$", (ROOT / "docs/runbook.md").read_text(), re.M)
        self.assertCountEqual(sections, alerts)


if __name__ == "__main__":
    main()
