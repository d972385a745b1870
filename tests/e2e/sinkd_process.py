"""A real `sinkd` on free ports, for as long as a test needs it."""

import atexit
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client.parser import text_string_to_metric_families

PATIENCE = 120.0  # seconds; only a hang or a very busy machine uses them up


class Programs:
    """What is tested and with what; set by `main`."""

    sinkd = sinkctl = oracle = None
    hanging_reads = None  # a library to preload


def main():
    """Runs the tests of the calling module: `python -m tests.e2e.x BUILD_DIR ORACLE_DIR ...`."""
    if len(sys.argv) < 3:
        sys.exit(f"usage: {sys.argv[0]} BUILD_DIR ORACLE_DIR [unittest's arguments]")
    build, oracle, *rest = sys.argv[1:]
    Programs.sinkd = pathlib.Path(build).resolve() / "server" / "sinkd"
    Programs.sinkctl = pathlib.Path(build).resolve() / "client" / "cli" / "sinkctl"
    Programs.hanging_reads = pathlib.Path(build).resolve() / "tests/e2e/libhanging_reads.so"
    Programs.oracle = pathlib.Path(oracle).resolve()
    unittest.main(module="__main__", argv=[sys.argv[0], *rest], verbosity=2)


def wait_until(what, condition):
    """Returns the first true value of `condition`; fails when it takes longer than PATIENCE."""
    end = time.monotonic() + PATIENCE
    while not (value := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"waited {PATIENCE:.0f} s in vain: {what}")
        time.sleep(0.02)
    return value


class SinkdProcess:
    """Ready when constructed. `root` is the model root; `load` are ids to load at start; `state`
    is where runs are kept, and outlives the process; `prefix` is a command that becomes it."""

    def __init__(self, root, *flags, load=(), threads=1, state=None, listen="127.0.0.1:0",
                 environment=None, prefix=()):
        self._folder = tempfile.TemporaryDirectory(prefix="sinkd-run-")
        self._ports = pathlib.Path(self._folder.name) / "ports.json"
        self._log = pathlib.Path(self._folder.name) / "log"
        self._whole_log = ""
        state = state or pathlib.Path(self._folder.name) / "state"
        command = [
            *prefix, Programs.sinkd, "--model-root", root, "--listen", listen,
            "--http-listen", "127.0.0.1:0", "--port-file", self._ports, "--drain-delay", "0s",
            "--threads", threads, "--state-dir", state, *(f"--load={each}" for each in load), *flags,
        ]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen([str(each) for each in command], stdout=log,
                                             stderr=log, env=self._environment(environment or {}))
        # A test that fails before its own cleanup leaves no server behind, which would hold ctest.
        atexit.register(self._process.kill)
        self.pid = self._process.pid
        try:
            wait_until("sinkd writes its port file", self._wrote_ports)
            addresses = json.loads(self._ports.read_text())
            self.address, self.http = addresses["grpc"], addresses["http"]
            self.channel = self.connect()
            wait_until("sinkd serves", lambda: self.health() == "SERVING")
        except BaseException:
            self._process.kill()
            self._process.wait()
            print(self.log(), file=sys.stderr)
            raise

    @staticmethod
    def _environment(changes):
        suppressions = pathlib.Path(__file__).parent / "sanitizers" / "tsan.supp"
        # Not instrumented: Torch, OpenMP.
        options = f"ignore_noninstrumented_modules=1:suppressions={suppressions}"
        every = {"TSAN_OPTIONS": options, **os.environ, **changes}
        return {key: str(value) for key, value in every.items()}

    def _wrote_ports(self):
        if self._process.poll() is not None:
            raise AssertionError(f"sinkd ended with {self._process.returncode}")
        return self._ports.exists()

    def connect(self):
        """A connection of its own, shared with no other channel."""
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1)]
        return grpc.insecure_channel(self.address, options)

    def health(self, service=""):
        request = health_pb2.HealthCheckRequest(service=service)
        stub = health_pb2_grpc.HealthStub(self.channel)
        response = stub.Check(request, timeout=PATIENCE, wait_for_ready=True)
        return health_pb2.HealthCheckResponse.ServingStatus.Name(response.status)

    def metrics_text(self):
        with urllib.request.urlopen(f"http://{self.http}/metrics", timeout=PATIENCE) as page:
            return page.read().decode()

    def metrics(self):
        """{(sample name, ((label, value), ...)): value}, parsed by Prometheus's own parser."""
        return {
            (sample.name, tuple(sorted(sample.labels.items()))): sample.value
            for family in text_string_to_metric_families(self.metrics_text())
            for sample in family.samples
        }

    def metric(self, name, **labels):
        return self.metrics()[name, tuple(sorted(labels.items()))]

    def peak_memory(self):
        """The most resident memory it ever had, in bytes."""
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        line = next(each for each in status.splitlines() if each.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024

    def wait_until_free(self):
        """Until no stream is open and no sample waits."""
        def free():
            page = self.metrics()
            return page["sinkd_streams_in_flight", ()] == page["sinkd_queue_depth", ()] == 0
        wait_until("the server is free again", free)

    def log(self):
        """What it logged; after its end, all of it."""
        return self._whole_log or self._log.read_text(errors="replace")

    def kill(self):
        """At once, without a last word."""
        self._process.kill()
        self.wait()

    def terminate(self):
        os.kill(self._process.pid, signal.SIGTERM)

    def wait(self):
        """The exit code, once it ended by itself or was told to."""
        try:
            code = self._process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
            raise
        finally:
            self.channel.close()
            self._whole_log = self.log()
            self._folder.cleanup()
        return code

    def stop(self):
        """Asks for a clean stop and insists on it."""
        self.terminate()
        code = self.wait()
        if code != 0:
            raise AssertionError(f"sinkd ended with {code}; its last words:\n{self.log()[-4000:]}")
