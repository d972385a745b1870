"""What the chart renders, in the hands of a real sinkd and sinkctl.

    python -m tests.helm.release_test BUILD_DIR ORACLE_DIR
"""

import json
import pathlib
import subprocess
import tempfile
import tomllib
import unittest
import urllib.error
import urllib.request

import yaml

from tests.e2e import model_root
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main
from tests.helm.chart import CHART, EXAMPLES, MINIMAL, only, template

RUN = "corpus"
# sinkd's ports are the chart's, its models planted.
VALUES = MINIMAL | {
    "config": {"load": [PLANTED], "read-ahead": 8},
    "probes": {"protocol": "http"},
    "shardedJob": {"enabled": True, "model": PLANTED, "run": RUN, "shards": 1, "parallelism": 1,
                   "arguments": ["--levels", "--regress"],
                   "corpus": {"existingClaim": "corpus",
                              "files": ["part-1.jsonl", "part-2.jsonl"]}},
}


def settings(objects):
    """sinkd.toml."""
    return only(objects, "ConfigMap")["data"]["sinkd.toml"]


class Setting:
    folder = server = objects = None


def setUpModule():
    folder = tempfile.TemporaryDirectory(prefix="sinkd-release-")
    unittest.addModuleCleanup(folder.cleanup)
    Setting.folder = pathlib.Path(folder.name)
    Setting.objects = template(VALUES)
    config = Setting.folder / "sinkd.toml"
    config.write_text(settings(Setting.objects))
    root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    # Addresses and folders are those of a pod; the model to load is the file's.
    Setting.server = SinkdProcess(root.path, "--config", config)
    unittest.addModuleCleanup(Setting.server.stop)


def sinkctl(arguments):
    """Exit code, standard output and error of a container of the chart's, with the pod's address
    and folders changed for this machine's."""
    here = [each.replace("/corpus/", f"{Setting.folder}/") for each in arguments]
    here = [f"--server={Setting.server.address}" if each.startswith("--server=") else each
            for each in here]
    done = subprocess.run([Programs.sinkctl, *here], capture_output=True, text=True, check=False,
                          timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


class Settings(unittest.TestCase):
    def test_every_example_is_taken_by_sinkd_as_it_is_meant(self):
        for file in EXAMPLES:
            with self.subTest(file.name), tempfile.NamedTemporaryFile("w") as config:
                text = settings(template(file))
                config.write(text)
                config.flush()
                # Only a pod has that folder.
                done = subprocess.run([Programs.sinkd, "--config", config.name, "--model-root", "/",
                                       "--print-config"],
                                      capture_output=True, text=True, check=False, timeout=PATIENCE)
                self.assertEqual(done.returncode, 0, done.stderr)
                in_force = tomllib.loads(done.stdout) | {"model-root": "/models"}
                for key, value in tomllib.loads(text).items():
                    self.assertEqual(in_force[key], value, key)
                asked = yaml.safe_load(file.read_text()).get("config", {})
                for key, value in asked.items():
                    self.assertEqual(in_force[key], value, key)

    def test_sinkd_starts_with_any_of_tls_certificates_and_tokens(self):
        for tls in ({}, {"existingSecret": "a"}, {"existingSecret": "a", "clientCa": True}):
            for tokens in ({}, {"existingSecret": "b"}):
                with self.subTest(tls=tls, tokens=tokens), tempfile.NamedTemporaryFile("w") as config:
                    config.write(settings(template(MINIMAL | {"tls": tls, "tokens": tokens})))
                    config.flush()
                    done = subprocess.run([Programs.sinkd, "--config", config.name, "--model-root", "/",
                                           "--print-config"],
                                          capture_output=True, text=True, check=False,
                                          timeout=PATIENCE)
                    self.assertEqual(done.returncode, 0, done.stderr)
                    protected = bool(tls and (tokens or tls.get("clientCa")))
                    self.assertEqual(tomllib.loads(done.stdout)["insecure-listen"], not protected)

    def test_values_of_every_type_come_through(self):
        given = {"max-queue": 1000000, "max-message-bytes": 1073741824, "threads": 0,
                 "http-allow-host": ["a.example.org", "b"], "retain-age": "90d",
                 "retain-bytes": "10GiB", "memory-budget": "cpu=8GiB,cuda:0=60GiB", "metrics-open": True}
        there = tomllib.loads(settings(template(MINIMAL | {"config": given})))
        self.assertEqual({key: there[key] for key in given}, given)


class Release(unittest.TestCase):
    def ask(self, path):
        return urllib.request.urlopen(f"http://{Setting.server.http}{path}", timeout=PATIENCE)

    def test_the_test_pod_gets_a_samples_sinks(self):
        (container,) = only(Setting.objects, "Pod")["spec"]["containers"]
        self.assertEqual(container["args"][:2], ["detect", PLANTED])
        code, out, err = sinkctl([*container["args"], "--output=json"])
        self.assertEqual(code, 0, err)
        (result,) = json.loads(out)["results"]
        primary = result["record"]["primary"]
        expected = model_root.planted_records()["plain"]["primary"]
        self.assertEqual(primary["position"], expected["position"])
        self.assertEqual(primary["lStart"], expected["window"][0])

    def test_the_probes_ask_what_is_answered(self):
        (container,) = only(Setting.objects, "Deployment")["spec"]["template"]["spec"]["containers"]
        for probe in ("startupProbe", "readinessProbe", "livenessProbe"):
            path = container[probe]["httpGet"]["path"]
            with self.ask(path) as page:
                self.assertEqual(page.status, 200)
        with self.assertRaises(urllib.error.HTTPError):
            self.ask("/ready")

    def test_a_shard_that_is_tried_again_adds_nothing(self):
        records = list(model_root.planted_records().values())
        half = len(records) // 2
        for name, part in (("part-1.jsonl", records[:half]), ("part-2.jsonl", records[half:])):
            lines = [json.dumps({"id": each["sample_id"], "token_ids": each["token_ids"],
                                 "chat_rendered": each["chat_rendered"]}) for each in part]
            (Setting.folder / name).write_text("\n".join(lines) + "\n")
        (container,) = only(Setting.objects, "Job")["spec"]["template"]["spec"]["containers"]
        for _ in range(2):
            code, _, err = sinkctl([each.replace("$(JOB_COMPLETION_INDEX)", "0")
                                    for each in container["args"]])
            self.assertEqual(code, 0, err)
            code, out, err = sinkctl(["runs", "show", RUN, "--output=json", "--server="])
            self.assertEqual(code, 0, err)
            run = json.loads(out)
            self.assertEqual(run["state"], "RUN_STATE_OPEN")
            self.assertEqual(int(run["samples"]), len(records))


class CopyModels(unittest.TestCase):
    """The script of the init container."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-copy-")
        self.addCleanup(folder.cleanup)
        self.source = pathlib.Path(folder.name) / "from"
        self.target = pathlib.Path(folder.name) / "to"
        self.source.mkdir()
        self.target.mkdir()

    def copy(self):
        spec = only(template(VALUES | {"models": {"copy": {"image": "models:1", "from": "/from"}}}),
                    "Deployment")["spec"]["template"]["spec"]
        (container,) = spec["initContainers"]
        places = {"/from": self.source, "/models": self.target}
        arguments = [places.get(each, each) for each in container["args"]]
        return subprocess.run([*container["command"], *map(str, arguments)], capture_output=True,
                              text=True, check=False,
                              env={"PATH": "/usr/bin:/bin", "HOSTNAME": "pod"})

    def model(self, name, text):
        (self.source / name).mkdir()
        (self.source / name / "config.json").write_text(text)

    def found(self):
        return {str(file.relative_to(self.target)): file.read_text()
                for file in self.target.rglob("*") if file.is_file()}

    def test_copies_what_is_missing_and_leaves_what_is_there(self):
        self.model("a", "new")
        self.model("b", "new")
        (self.target / "a").mkdir()
        (self.target / "a" / "config.json").write_text("old")
        for _ in range(2):
            done = self.copy()
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.found(), {"a/config.json": "old", "b/config.json": "new"})

    def test_takes_files_for_links_and_begins_anew_where_it_was_cut_off(self):
        self.model("a", "whole")
        (self.source / "a" / "weights").symlink_to(self.source / "a" / "config.json")
        left = self.target / ".part-a-pod"
        left.mkdir()
        (left / "config.json").write_text("who")
        self.assertEqual(self.copy().returncode, 0)
        self.assertEqual(self.found(), {"a/config.json": "whole", "a/weights": "whole"})
        self.assertFalse((self.target / "a" / "weights").is_symlink())

    def test_says_that_there_is_nothing_to_copy(self):
        done = self.copy()
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"no models in {self.source}", done.stdout)


if __name__ == "__main__":
    main()
