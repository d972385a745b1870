"""What quantization changes: a checkpoint in every 4-bit and 8-bit form, audited against itself.

    python -m tests.bench.quantized BUILD FOLDER SAMPLES [--gguf FILE] [--write PAGE]

FOLDER is a plain checkpoint; FILE the same as GGUF. Its copies (tests/testing/quantized_copy.py) run
over the prompts of SAMPLES through a real sinkd, and deploy/policies/quantized-release.yaml compares them.
"""

import argparse
import importlib
import json
import pathlib
import shutil
import tempfile

from tests.bench import report
from tests.e2e import calls, stubs  # noqa: F401: the stubs make the packages below
from tests.e2e.sinkd_process import Programs, SinkdProcess
from tests.testing import quantized_copy

audits = importlib.import_module("sinks.v1.audit_pb2")
audit_service = importlib.import_module("sinks.v1.audit_pb2_grpc")

BEGIN, END = "<!-- quantized, written by tests/bench/quantized.py -->", "<!-- end of quantized -->"
POLICY = pathlib.Path(__file__).parents[2] / "deploy/policies/quantized-release.yaml"
WHOLE = {"detection": {}, "scores": {}}
# The columns, with the measures that fill them.
COLUMNS = {
    "primary sinks moved": "moved_primary", "their score": "primary_score",
    "their norm": "primary_norm",
}


class Bench:
    def __init__(self, samples, root):
        self.samples, self.root = samples, root
        self.server = SinkdProcess(root, threads=1)

    def run(self, name):
        """How its weights are stored."""
        model = f"models/{name}"
        stored = calls.plan(self.server.channel, model).plan.quantization
        loaded = calls.load(self.server.channel, model, compute_type=stubs.models.COMPUTE_TYPE_FLOAT32)
        if isinstance(loaded, calls.Failure):
            raise SystemExit(f"{name}: {loaded}")
        requests = [calls.spec(name, run_id=name, **WHOLE)]
        for line in self.samples.read_text().splitlines():
            sample = json.loads(line)
            requests.append(calls.sample(sample["id"], text={"text": sample["prompt"]}))
        answer = calls.analyze(self.server.channel, requests, timeout=3600)
        calls.model_call(self.server.channel, "UnloadModel", model)
        if answer.failure:
            raise SystemExit(f"{name}: {answer.failure}")
        return stored

    def row(self, name):
        stored = self.run(name)
        shutil.rmtree(self.root / name)
        answer = audit_service.AuditServiceStub(self.server.channel).AuditRuns(
            audits.AuditRunsRequest(policy=few_samples(), candidate={"names": [f"runs/{name}"]},
                                    baseline={"names": ["runs/original"]}), timeout=60)
        rules = {rule.measure: rule for rule in answer.rules}
        return [name, stored, *(cell(rules[measure]) for measure in COLUMNS.values())]


def few_samples():
    """The ready policy, for any number of samples."""
    lines = POLICY.read_text().splitlines()
    return "\n".join(f"{line}\n    min_samples: 1" if line.startswith("    measure:") else line
                     for line in lines)


def cell(rule):
    """A ratio to the baseline where there is one, with its interval; else a share."""
    if not rule.HasField("value"):
        return "none"
    if not rule.baseline_value:
        return f"{rule.value:.0%}"
    ratio = rule.value / rule.baseline_value
    return f"× {ratio:.3f} ({rule.interval.lower:.3f} to {rule.interval.upper:.3f})"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("samples", type=pathlib.Path)
    parser.add_argument("--gguf", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path, help="page whose table is replaced")
    arguments = parser.parse_args()
    Programs.sinkd = arguments.build.resolve() / "server" / "sinkd"
    rows = []
    with tempfile.TemporaryDirectory(prefix="sinkd-quantized-") as folder:
        root = pathlib.Path(folder)
        (root / "original").symlink_to(arguments.folder.resolve())
        bench = Bench(arguments.samples, root)
        try:
            bench.run("original")
            for form in quantized_copy.FORMS:
                name = form.replace("_", "-")
                quantized_copy.write_copy(arguments.folder, root / name, form)
                rows.append(bench.row(name))
                print(*rows[-1], sep="  ", flush=True)
            for form in quantized_copy.GGUF_FORMS if arguments.gguf else ():
                name = f"gguf-{form.lower().replace('_', '-')}"
                quantized_copy.write_gguf(arguments.gguf, root / name, form)
                rows.append(bench.row(name))
                print(*rows[-1], sep="  ", flush=True)
        finally:
            bench.server.stop()
    page = report.table(["form", "stored as", *COLUMNS], rows)
    print(page)
    if arguments.write:
        report.replace(arguments.write, page, BEGIN, END)


if __name__ == "__main__":
    main()
