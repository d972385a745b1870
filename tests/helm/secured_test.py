"""The chart's example with TLS, client certificates and tokens, in the hands of a real sinkd and sinkctl:
what is mounted lies in folders of this test, every name is that of the cluster.

    python -m tests.helm.secured_test BUILD_DIR ORACLE_DIR
"""

import copy
import json
import pathlib
import shutil
import ssl
import subprocess
import tempfile
import unittest

import yaml

from tests.e2e import model_root
from tests.e2e.certificates import Authority
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.secure_sinkd import SecureSinkd, call, get_by_name
from tests.e2e.sinkd_process import PATIENCE, Programs, main
from tests.helm.chart import CHART, only, template

HOST = "sinks-sinkd-headless.lab.svc"
METHOD = "sinks.v1.ModelService/ListFamilies"
RUN = "corpus"
VALUES = yaml.safe_load((CHART / "examples" / "tls-tokens.yaml").read_text()) | {
    "config": {"load": [PLANTED]},
    "shardedJob": {"enabled": True, "model": PLANTED, "run": RUN, "shards": 2,
                   "corpus": {"existingClaim": "corpus"}},
}


class Pod:
    """A pod of the chart's: its container, and the folders that its secrets would be mounted to."""

    def __init__(self, spec, secrets):
        (self.container,) = copy.deepcopy(spec["containers"])
        self.folders = {}
        volumes = {each["name"]: each.get("secret") for each in spec["volumes"]}
        for mount in self.container["volumeMounts"]:
            if secret := volumes[mount["name"]]:
                self.folders[mount["mountPath"]] = secrets / secret["secretName"]

    def here(self, text):
        for path, folder in self.folders.items():
            text = text.replace(f"{path}/", f"{folder}/")
        return text


class Setting:
    server = objects = folder = monitor = ca = None


def new_token(*arguments):
    """(token, its line)."""
    said = subprocess.run([Programs.sinkctl, "token", "new", *arguments], capture_output=True, text=True,
                          check=True, timeout=PATIENCE).stdout
    return [line.split(maxsplit=1)[1] for line in said.splitlines()]


def make_secrets(ca, folder):
    """The secrets that the example names, as folders."""
    for name, hosts in (("sinkd-tls", [f"DNS:{HOST}"]), ("sinkctl-tls", ["DNS:jobs"]),
                        ("prometheus-tls", ["DNS:prometheus"])):
        (folder / name).mkdir()
        certificate, key = ca.issue(name, hosts=hosts)
        for source, to in ((certificate, "tls.crt"), (key, "tls.key"), (ca.certificate, "ca.crt")):
            shutil.copy(source, folder / name / to)
    lines = []
    for name, role in (("sinkctl-token", "analyse"), ("prometheus-token", "read")):
        (folder / name).mkdir()
        token, line = new_token("--name", name, "--role", role)
        (folder / name / "token").write_text(token)
        lines.append(line)
    (folder / "sinkd-tokens").mkdir()
    (folder / "sinkd-tokens" / "tokens").write_text("\n".join(lines))


class InCluster(SecureSinkd):
    """Its certificate is for the service's name alone."""

    def connect(self, ca=None, pair=None, name=HOST):
        return super().connect(ca, pair, name)


def setUpModule():
    folder = tempfile.TemporaryDirectory(prefix="sinkd-secured-")
    unittest.addModuleCleanup(folder.cleanup)
    Setting.folder = pathlib.Path(folder.name)
    ca = Setting.ca = Authority("cluster")
    unittest.addModuleCleanup(ca.cleanup)
    make_secrets(ca, Setting.folder)
    Setting.objects = template(VALUES)
    (Setting.monitor,) = only(Setting.objects, "ServiceMonitor")["spec"]["endpoints"]
    root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    pod = Pod(only(Setting.objects, "Deployment")["spec"]["template"]["spec"], Setting.folder)
    settings = only(Setting.objects, "ConfigMap")["data"]["sinkd.toml"]
    config = Setting.folder / "sinkd.toml"
    config.write_text(pod.here(settings))
    jobs = Setting.folder / "sinkctl-tls"
    Setting.server = InCluster(root.path, "--config", config, ca=ca,
                               pair=(jobs / "tls.crt", jobs / "tls.key"))
    unittest.addModuleCleanup(Setting.server.stop)


def sinkctl(pod, **replaced):
    """(exit code, output, errors) of the pod's container. Only the address it connects to is another:
    the name that it looks for in the certificate is that of its own --server."""
    (target,) = [each for each in pod.container["args"] if each.startswith("--server=")]
    host = target.removeprefix("--server=dns:///").rsplit(":", 1)[0]
    words = [f"--server={Setting.server.address}" if each is target else each
             for each in map(pod.here, pod.container["args"])]
    for old, new in replaced.items():
        words = [each.replace(old, new) for each in words]
    done = subprocess.run([Programs.sinkctl, *words, f"--tls-server-name={host}", "--output=json"],
                          capture_output=True, text=True, check=False, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def get(path, context, headers):
    return get_by_name(Setting.server.http, HOST, path, context, headers)


class Secured(unittest.TestCase):
    def test_the_kubelets_probes_are_answered_without_certificate_and_token(self):
        # As the kubelet does, which trusts every certificate.
        context = ssl.create_default_context()
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        (container,) = only(Setting.objects, "Deployment")["spec"]["template"]["spec"]["containers"]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            asked = container[probe]["httpGet"]
            self.assertEqual((asked["port"], asked["scheme"]), ("http", "HTTPS"))
            self.assertEqual(get(asked["path"], context, {})[0], 200)

    def scrape(self, **changes):
        """What the Prometheus operator makes of the ServiceMonitor."""
        def file(reference):
            return Setting.folder / reference["name"] / reference["key"]
        tls = Setting.monitor["tlsConfig"]
        context = ssl.create_default_context(cafile=str(file(tls["ca"]["secret"])))
        self.assertEqual(tls["serverName"], HOST)
        if changes.get("certificate", True):
            context.load_cert_chain(file(tls["cert"]["secret"]), file(tls["keySecret"]))
        token = file(Setting.monitor["authorization"]["credentials"]).read_text().strip()
        # The pod's address is the target; serverName is the certificate's alone.
        headers = {"Host": "10.1.2.3:9464"}
        if changes.get("token", True):
            headers["Authorization"] = f"Bearer {token}"
        return get(Setting.monitor["path"], context, headers)

    def test_prometheus_scrapes_with_what_the_monitor_gives_it_and_not_without(self):
        self.assertEqual(Setting.monitor["scheme"], "https")
        status, text = self.scrape()
        self.assertEqual(status, 200, text)
        self.assertIn("\nsinkd_queue_depth ", text)
        self.assertEqual(self.scrape(token=False)[0], 401)
        self.assertEqual(self.scrape(certificate=False)[0], 401)

    def test_the_test_pod_gets_a_samples_sinks(self):
        pod = Pod(only(Setting.objects, "Pod")["spec"], Setting.folder)
        code, out, err = sinkctl(pod)
        self.assertEqual(code, 0, err)
        (result,) = json.loads(out)["results"]
        self.assertEqual(result["type"], "record")

    def test_who_has_no_token_or_no_certificate_is_refused(self):
        pod = Pod(only(Setting.objects, "Pod")["spec"], Setting.folder)
        (Setting.folder / "stranger").write_text(new_token("--name", "jobs", "--role", "admin")[0])
        code, _, err = sinkctl(pod, **{f"{Setting.folder}/sinkctl-token/token": f"{Setting.folder}/stranger"})
        self.assertEqual(code, 4, err)
        self.assertIn("token", err)
        bare = Setting.server.connect(pair=())
        self.addCleanup(bare.close)
        self.assertEqual(call(bare, METHOD).code, "UNAVAILABLE")

    def test_the_shards_fill_one_run(self):
        records = list(model_root.planted_records().values())
        corpus = Setting.folder / "corpus.jsonl"
        corpus.write_text("".join(
            json.dumps({"id": each["sample_id"], "token_ids": each["token_ids"],
                        "chat_rendered": each["chat_rendered"]}) + "\n" for each in records))
        job = only(Setting.objects, "Job")["spec"]
        pod = Pod(job["template"]["spec"], Setting.folder)
        for index in range(job["completions"]):
            code, out, err = sinkctl(pod, **{"$(JOB_COMPLETION_INDEX)": str(index),
                                             "/corpus/": f"{Setting.folder}/"})
            self.assertEqual(code, 0, err)
            self.assertNotIn("summary", list(json.loads(out)))
        test = Pod(only(Setting.objects, "Pod")["spec"], Setting.folder)
        test.container["args"][:3] = ["runs", "show", RUN]
        code, out, err = sinkctl(test)
        self.assertEqual(code, 0, err)
        self.assertEqual(int(json.loads(out)["samples"]), len(records))


if __name__ == "__main__":
    main()
