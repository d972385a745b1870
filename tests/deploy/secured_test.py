"""TLS and tokens as compose and systemd hand them over, taken by a real server, and by what asks for its health
and metrics.

    python -m tests.deploy.secured_test BUILD_DIR
"""

import json
import pathlib
import re
import shutil
import ssl
import tempfile
import tomllib
import types
import unittest

import yaml

from tests.deploy.built import ROOT, Build, main, run
from tests.e2e.secure_sinkd import SecureSinkd, get_by_name
from tests.e2e.sinkd_process import Programs

COMPOSE = ROOT / "deploy/compose"
HOST = "sinkd.lab.example"


class Setting:
    folder = secrets = None


def setUpModule():
    folder = tempfile.TemporaryDirectory(prefix="sinkd-secured-")
    unittest.addModuleCleanup(folder.cleanup)
    Setting.folder = pathlib.Path(folder.name)
    (Setting.folder / "models").mkdir()
    make_secrets()
    Setting.secrets = Setting.folder / "secrets"
    Programs.sinkd = Build.sinkd()


def make_secrets():
    script = shutil.copy(COMPOSE / "tls.sh", Setting.folder)
    code, said, problem = run(script, HOST)
    if code != 0:
        raise AssertionError(said + problem)
    return said


def here(text):
    return text.replace("/run/secrets", str(Setting.secrets))


def sinkctl(*arguments, environment):
    return run(Build.folder / "client/cli/sinkctl", *arguments, environment=environment)


class ComposeTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.base = yaml.safe_load((COMPOSE / "compose.yaml").read_text())
        cls.more = yaml.safe_load((COMPOSE / "tls.yaml").read_text())
        variables = cls.base["services"]["sinkd"]["environment"] | cls.more["services"]["sinkd"]["environment"]
        # Runs are not what is tried here.
        variables = {name: here(text) for name, text in variables.items() if "STORE" not in name}
        # A server on loopback knows the names that it is told; that of the image listens on 0.0.0.0.
        cls.variables = variables | {"SINKD_LOAD": "", "SINKD_HTTP_ALLOW_HOST": "sinkd"}
        ca = types.SimpleNamespace(certificate=Setting.secrets / "ca.crt")
        token = (Setting.secrets / "prometheus-token").read_text()
        cls.server = SecureSinkd(Setting.folder / "models", ca=ca, token=token, environment=cls.variables)
        cls.addClassCleanup(cls.server.stop)

    def test_the_images_settings_are_taken_with_them(self):
        code, printed, problem = run(Build.sinkd(), "--config", ROOT / "docker/sinkd.toml", "--print-config",
                                     environment=self.variables | {"SINKD_MODEL_ROOT": str(Setting.folder)})
        self.assertEqual(code, 0, problem)
        in_force = tomllib.loads(printed)
        self.assertEqual((in_force["listen"], in_force["insecure-listen"]), ("0.0.0.0:50051", False))

    def test_the_images_health_check_passes(self):
        (check,) = re.findall(r"^  CMD (\[.*\])$", (ROOT / "docker/Dockerfile").read_text(), re.M)
        # The port is the only thing that differs from a container.
        asked = self.variables | {"SINKCTL_SERVER": self.server.address}
        self.assertEqual(sinkctl(*json.loads(check)[1:], environment=asked), (0, "SERVING\n", ""))
        asked.pop("SINKCTL_TLS_CA")
        asked.pop("SINKCTL_TLS_SERVER_NAME")
        self.assertNotEqual(sinkctl("health", environment=asked)[0], 0)

    def test_prometheus_gets_metrics_with_its_token_alone(self):
        config = yaml.safe_load(here(self.more["configs"]["prometheus"]["content"]))
        (job,) = config["scrape_configs"]
        (target,) = job["static_configs"][0]["targets"]
        context = ssl.create_default_context(cafile=job["tls_config"]["ca_file"])
        token = pathlib.Path(job["authorization"]["credentials_file"]).read_text()
        for headers, expected in (({"Authorization": f"Bearer {token}"}, 200), ({}, 401)):
            status, _ = get_by_name(self.server.http, target.split(":")[0], "/metrics", context, headers)
            self.assertEqual(status, expected)

    def test_the_scrape_differs_from_the_other_by_certificate_and_token_only(self):
        ours, theirs = (yaml.safe_load(each["configs"]["prometheus"]["content"]) for each in (self.more, self.base))
        for key in ("scheme", "tls_config", "authorization"):
            ours["scrape_configs"][0].pop(key)
        self.assertEqual(ours, theirs)

    def test_secrets_are_declared_made_and_made_once(self):
        wanted = {secret for service in self.more["services"].values() for secret in service["secrets"]}
        self.assertEqual(wanted, set(self.more["secrets"]))
        before = {file.name: file.read_bytes() for file in Setting.secrets.iterdir()}
        self.assertLessEqual(wanted, set(before))
        said = make_secrets()
        self.assertEqual({file.name: file.read_bytes() for file in Setting.secrets.iterdir()}, before)
        self.assertIn("--token-file", said)

    def test_callers_of_other_machines_use_what_the_script_tells(self):
        told = make_secrets().removeprefix("Call with: ").split()
        flags = ["--server", self.server.address, "--tls-server-name", HOST]
        code, _, problem = sinkctl("models", *told, *flags, environment={})
        self.assertEqual(code, 0, problem)


class ServiceTest(unittest.TestCase):
    def variables(self, name):
        """Those of a drop-in; its credentials lie in the folder of secrets."""
        text = (ROOT / "deploy/systemd" / name).read_text()
        credentials = set(re.findall(r"^#?LoadCredential=([\w.-]+):/", text, re.M))
        set_here = dict(re.findall(r"^Environment=(\w+)=(.*)$", text, re.M))
        for value in set_here.values():
            if value.startswith("%d/"):
                self.assertIn(value.removeprefix("%d/"), credentials)
        return {key: value.replace("%d", str(Setting.secrets)) for key, value in set_here.items()}

    def test_the_drop_in_for_tls_opens_both_ports_with_certificate_and_tokens(self):
        code, printed, problem = run(Build.sinkd(), "--config", ROOT / "deploy/sinkd.toml", "--model-root",
                                     Setting.folder, "--print-config", environment=self.variables("tls.conf"))
        self.assertEqual(code, 0, problem)
        in_force = tomllib.loads(printed)
        self.assertEqual((in_force["listen"], in_force["http-listen"], in_force["insecure-listen"]),
                         ("0.0.0.0:50051", "0.0.0.0:9464", False))
        for key, name in (("tls-cert", "tls.crt"), ("tls-key", "tls.key"), ("token-file", "tokens")):
            self.assertEqual(in_force[key], str(Setting.secrets / name))

    def test_a_server_starts_with_it(self):
        variables = {key: value for key, value in self.variables("tls.conf").items() if "LISTEN" not in key}
        ca = types.SimpleNamespace(certificate=Setting.secrets / "ca.crt")
        server = SecureSinkd(Setting.folder / "models", ca=ca, environment=variables)
        self.addCleanup(server.stop)
        self.assertEqual(server.get("/readyz")[0], 200)
        self.assertEqual(server.get("/metrics")[0], 401)


if __name__ == "__main__":
    main()
