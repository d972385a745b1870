"""What is compared: each a process that runs samples when told, measured from outside."""

import dataclasses
import json
import os
import pathlib
import subprocess
import sys
import time

from tests.e2e import calls
from tests.e2e.sinkd_process import SinkdProcess

ROOT = pathlib.Path(__file__).resolve().parents[2]
MIB = 1024.0  # KiB
PHASES = ("queue", "encode", "forward", "analyse")


@dataclasses.dataclass
class Run:
    wall: float  # seconds, as the caller waits
    cpu: float  # seconds of the process, all its threads
    phases: dict = dataclasses.field(default_factory=dict)  # seconds, of sinkd


class Meter:
    """Time and memory of a process, as the kernel counts them."""

    def __init__(self, pid):
        self._proc = pathlib.Path(f"/proc/{pid}")
        self._clock = (~pid << 3) | 2  # what clock_getcpuclockid(3) makes of a process id

    def cpu(self):
        return time.clock_gettime(self._clock)

    def memory(self, key):
        """MiB of a line of /proc/PID/status: VmRSS now, VmHWM at the peak."""
        lines = (self._proc / "status").read_text().splitlines()
        return next(int(line.split()[1]) / MIB for line in lines if line.startswith(key + ":"))

    def forget_peak(self):
        (self._proc / "clear_refs").write_text("5")

    def measure(self, work):
        wall, cpu = time.perf_counter(), self.cpu()
        work()
        return Run(time.perf_counter() - wall, self.cpu() - cpu)


class Reference:
    """transformers, `how` as tests/bench/reference.py names it, `batch` samples at a time."""

    def __init__(self, how, attention, folder, threads, dtype="float32", batch=1):
        self._how, self._batch = how, batch
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        command = [sys.executable, "-m", "tests.bench.reference", folder, attention, dtype, str(threads)]
        self._process = subprocess.Popen(
            command, cwd=ROOT, env=environment, text=True,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        )
        self._await()
        self.meter = Meter(self._process.pid)

    def _await(self):
        if self._process.stdout.readline() != "\n":
            raise SystemExit(f"{self._how}: transformers ended with {self._process.wait()}")

    def run(self, samples):
        ids = [sample.ids for sample in samples]
        batches = [ids[i:i + self._batch] for i in range(0, len(ids), self._batch)]
        request = json.dumps({"how": self._how, "batches": batches}) + "\n"

        def work():
            self._process.stdin.write(request)
            self._process.stdin.flush()
            self._await()

        return self.meter.measure(work)

    def close(self):
        self._process.stdin.close()
        self._process.wait()


class Sinkd:
    """A server of its own and one stream to it with every analysis; samples go as text."""

    def __init__(self, folder, threads, compute_type):
        self._model = folder.name
        self._server = SinkdProcess(
            folder.parent, "--compute-type", compute_type, load=[folder.name], threads=threads
        )
        self.meter = Meter(self._server.pid)

    def run(self, samples):
        everything = dict.fromkeys(
            ("detection", "scores", "sink_rate", "levels", "regression", "compensation"), {}
        )
        requests = [calls.spec(self._model, **everything)]
        requests += [calls.sample(text={"text": sample.text}) for sample in samples]
        before = self._phases()
        answers = []
        run = self.meter.measure(
            lambda: answers.append(calls.analyze(self._server.channel, requests, timeout=3600))
        )
        self._check(answers[0], samples)
        run.phases = {phase: end - before[phase] for phase, end in self._phases().items()}
        return run

    @staticmethod
    def _check(answer, samples):
        if answer.failure or answer.summary is None:
            raise SystemExit(f"sinkd: {answer.failure}")
        got = [record.positions for record in answer.records]
        if got != [len(sample.ids) for sample in samples]:
            raise SystemExit(f"sinkd: records of {got} tokens, or none: {answer.results[:1]}")

    def _phases(self):
        page = self._server.metrics()
        name = "sinkd_sample_phase_duration_seconds_sum"
        return {phase: page[name, (("phase", phase),)] for phase in PHASES}

    def close(self):
        self._server.stop()
