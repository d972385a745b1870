"""What docker/check.sh asks of an image that it has built and mounted.

    python -m tests.deploy.image_check TARGET ROOT INSPECTED     INSPECTED: `buildah inspect` of the image
"""

import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from tests.deploy.built import PATIENCE, ROOT, run
from tests.e2e.certificates import Authority

CONTAINER = pathlib.Path(__file__).with_name("container.sh")
USER = "65532:65532"
MODEL = "planted-table"


class Image:
    target = root = config = None

    @classmethod
    def is_server(cls):
        return cls.target != "sinkctl"


def setUpModule():
    Image.target, root, inspected = sys.argv[1:4]
    Image.root = pathlib.Path(root)
    inspected = json.loads(pathlib.Path(inspected).read_text())
    Image.config = inspected["Docker"]["config"]


def inside(path):
    return Image.root / str(path).lstrip("/")


def holds_something(path):
    return any(path.iterdir()) if path.is_dir() else path.exists()


class ContentTest(unittest.TestCase):
    def test_it_runs_its_program_alone_and_not_as_root(self):
        self.assertEqual(Image.config["User"], USER)
        (program,) = Image.config["Entrypoint"]
        self.assertTrue(os.access(inside(program), os.X_OK))
        self.assertFalse(Image.config.get("Cmd"))

    def test_its_labels_tell_what_it_is(self):
        labels = Image.config["Labels"]
        for name in ("title", "description", "licenses", "version", "revision", "created"):
            self.assertTrue(labels.get(f"org.opencontainers.image.{name}"), name)

    def test_it_has_no_tools_to_build_with_and_no_leftovers(self):
        for path in ("usr/bin/python3", "usr/bin/gcc", "usr/include", "src", "out", "root/.cache", "root/.cargo",
                     "var/lib/apt/lists", "var/cache/apt"):
            self.assertFalse(holds_something(inside(path)), path)

    def test_the_readme_tells_its_size(self):
        files = {(status.st_dev, status.st_ino): status.st_size for status in
                 (path.lstat() for path in Image.root.rglob("*") if path.is_symlink() or path.is_file())}
        name = "sinkd:...-cuda" if Image.target.endswith("-cuda") else Image.target
        number, unit = re.search(rf"`{re.escape(name)}` (?:takes )?([\d.]+) (MB|GB)",
                                 (ROOT / "README.md").read_text()).groups()
        told = float(number) * {"MB": 1e6, "GB": 1e9}[unit]
        self.assertAlmostEqual(sum(files.values()) / told, 1, delta=0.05)

    def test_its_programs_are_stripped(self):
        for program in inside("usr/local/bin").iterdir():
            self.assertNotIn(".symtab", run("readelf", "--sections", "--wide", program)[1], program)

    def test_nothing_of_ours_can_be_written_to(self):
        for file in inside("usr/local").rglob("*"):
            if not file.is_symlink():
                self.assertEqual((file.stat().st_uid, file.stat().st_mode & 0o022), (0, 0), file)

    def test_the_client_needs_no_library(self):
        self.assertNotIn("NEEDED", run("readelf", "--dynamic", inside("usr/local/bin/sinkctl"))[1])

    def test_every_library_finds_those_it_needs(self):
        if not Image.is_server():
            self.skipTest("has none")
        for file in (*inside("usr/local/lib/sinkd").rglob("*.so*"), inside("usr/local/bin/sinkd")):
            path = "/" + str(file.relative_to(Image.root))
            missing = re.findall(r"(\S+) => not found", run("chroot", Image.root, "ldd", path)[1])
            # The driver is the host's.
            self.assertEqual([name for name in missing if name != "libcuda.so.1"], [], path)


class Container:
    """The image's server in namespaces of its own, with its default ports."""

    def __init__(self, models, **environment):
        variables = Image.config.get("Env", []) + [f"{name}={value}" for name, value in environment.items()]
        self.environment = dict(each.split("=", 1) for each in variables)
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", CONTAINER, Image.root, models,
             Image.config["User"], *variables, "--", *Image.config["Entrypoint"]],
            stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        children = pathlib.Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children")
        self.first = None  # its process 1, as this system counts
        while self.first is None and self.process.poll() is None:
            self.first = next(map(int, children.read_text().split()), None)
        # Until it has become the program, its files are not mounted, and it is deaf to signals.
        while self.process.poll() is None and not self.runs_program():
            time.sleep(0.01)

    def runs_program(self):
        try:
            name = pathlib.Path(f"/proc/{self.first}/comm").read_text().strip()
        except OSError:  # it is gone
            return False
        return name == pathlib.PurePath(Image.config["Entrypoint"][0]).name

    def exec(self, *command):
        """(exit code, output, errors) of a command in the container, as `docker exec` would run it."""
        return run("nsenter", "--target", str(self.first), "--mount", "--net", "--pid",
                   "chroot", f"--userspec={USER}", "--groups=", Image.root, *command,
                   environment=self.environment)

    def said(self):
        if not self.log.closed:
            self.log.seek(0)
            self.text = self.log.read()
        return self.text

    def stop(self):
        """Exit code after SIGTERM, or of an earlier end."""
        if self.process.poll() is None:
            os.kill(self.first, signal.SIGTERM)
        code = self.process.wait(PATIENCE)
        self.said()
        self.log.close()
        return code


class ServingTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not Image.is_server():
            raise unittest.SkipTest("is no server")
        folder = tempfile.TemporaryDirectory(prefix="sinkd-models-")
        cls.addClassCleanup(folder.cleanup)
        cls.models = pathlib.Path(folder.name)
        code, said, problem = run(sys.executable, "-m", "tests.testing.planted", cls.models, "--variant", "table")
        if code != 0:
            raise AssertionError(said + problem)
        cls.models.chmod(0o755)
        cls.samples = cls.models / MODEL / "samples.jsonl"
        cls.container = Container(cls.models, SINKD_INSECURE_LISTEN="true", SINKD_LOAD=MODEL,
                                  SINKD_DRAIN_DELAY="0s")
        cls.addClassCleanup(cls.container.stop)
        code, said, problem = cls.sinkctl("health", "--wait", "--timeout", "60s")
        if code != 0:
            raise AssertionError(said + problem + cls.container.said())

    @classmethod
    def sinkctl(cls, *arguments):
        return cls.container.exec("/usr/local/bin/sinkctl", *arguments)

    def test_its_health_check_passes(self):
        kind, *command = Image.config["Healthcheck"]["Test"]
        self.assertEqual(kind, "CMD")
        self.assertEqual(self.container.exec(*command), (0, "SERVING\n", ""))

    def test_it_finds_the_sinks_that_were_planted(self):
        code, found, problem = self.sinkctl("detect", MODEL, "--input", f"/models/{MODEL}/samples.jsonl",
                                            "--output", "jsonl", "--run", "image")
        self.assertEqual(code, 0, problem)
        code, said, problem = run(sys.executable, "deploy/demo/check_planted.py",
                                  self.models / MODEL / "records.jsonl", input=found)
        self.assertEqual(code, 0, said + problem)
        # Kept in the state folder, the one place that can be written to.
        self.assertIn("image", self.sinkctl("runs", "list", "-o", "csv")[1])

    def test_it_is_process_1_without_privileges_on_a_root_that_is_read_only(self):
        status = dict(line.split(":\t", 1) for line in
                      pathlib.Path(f"/proc/{self.container.first}/status").read_text().splitlines())
        self.assertEqual(status["NSpid"].split()[-1], "1")
        self.assertEqual(status["Uid"].split(), ["65532"] * 4)
        self.assertEqual(int(status["CapEff"], 16), 0)
        self.assertNotEqual(self.container.exec("/usr/bin/touch", "/usr/local/written")[0], 0)
        self.assertEqual(self.container.exec("/usr/bin/touch", "/var/lib/sinkd/written")[0], 0)

    def test_sigterm_ends_it_with_0(self):
        other = Container(self.models, SINKD_INSECURE_LISTEN="true", SINKD_DRAIN_DELAY="0s")
        self.addCleanup(other.stop)
        command = ("/usr/local/bin/sinkctl", "health", "--wait", "--timeout", "60s")
        self.assertEqual(other.exec(*command)[0], 0, other.said())
        self.assertEqual(other.stop(), 0, other.said())

    def test_its_health_check_passes_in_tls(self):
        authority = Authority("lab")
        self.addCleanup(authority.cleanup)
        for file, name in zip((*authority.issue("sinkd"), authority.certificate), ("tls.crt", "tls.key", "ca.crt")):
            shutil.copy(file, self.models / name)
            (self.models / name).chmod(0o644)
        token, line = [each.split(maxsplit=1)[1] for each in self.sinkctl(
            "token", "new", "--name", "ci", "--role", "read")[1].splitlines()]
        (self.models / "tokens").write_text(line)
        (self.models / "token").write_text(token)
        other = Container(self.models, SINKD_TLS_CERT="/models/tls.crt", SINKD_TLS_KEY="/models/tls.key",
                          SINKD_TOKEN_FILE="/models/tokens", SINKD_DRAIN_DELAY="0s", SINKCTL_TLS_CA="/models/ca.crt")
        self.addCleanup(other.stop)
        code, said, problem = other.exec("/usr/local/bin/sinkctl", "health", "--wait", "--timeout", "60s")
        self.assertEqual(code, 0, said + problem + other.said())
        _, *command = Image.config["Healthcheck"]["Test"]
        self.assertEqual(other.exec(*command), (0, "SERVING\n", ""))
        self.assertEqual(other.exec("/usr/local/bin/sinkctl", "models", "--token-file", "/models/token")[0], 0)
        self.assertEqual(other.exec("/usr/local/bin/sinkctl", "models")[0], 4)

    def test_it_refuses_to_serve_everyone_in_plaintext_unless_told_to(self):
        other = Container(self.models)
        other.process.wait(PATIENCE)
        self.assertEqual(other.stop(), 2)
        self.assertIn("--insecure-listen", other.said())

    def test_libtorchs_cuda_half_is_whole(self):
        if not Image.target.endswith("-cuda"):
            self.skipTest("has none")
        # A driver without a device: sinkd looks for a driver first, and then loads the CUDA half.
        run("cc", "-shared", "-Wl,-soname,libcuda.so.1", "-x", "c", os.devnull, "-o", self.models / "libcuda.so.1")
        other = Container(self.models, SINKD_INSECURE_LISTEN="true", SINKD_LOAD=MODEL, SINKD_DEVICE="cuda:0",
                          LD_LIBRARY_PATH="/models")
        other.process.wait(PATIENCE)
        self.assertNotEqual(other.stop(), 0)
        self.assertIn("is not one that this server has (got cuda:0)", other.said())


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
