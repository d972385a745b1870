"""What quantization changes: a checkpoint in every 4-bit and 8-bit form, audited against itself.

    python -m tests.bench.quantized BUILD FOLDER SAMPLES [--gguf FILE] [--write PAGE]

FOLDER is a plain checkpoint; FILE the same as GGUF. Its copies (tests/testing/quantized_copy.py) run
over SAMPLES through a real sinkd, and deploy/policies/quantized-release.yaml compares them.
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import tempfile

from tests.bench import report
from tests.e2e.sinkd_process import Programs, SinkdProcess
from tests.testing import quantized_copy

BEGIN, END = "<!-- quantized, written by tests/bench/quantized.py -->", "<!-- end of quantized -->"
POLICY = pathlib.Path(__file__).parents[2] / "deploy/policies/quantized-release.yaml"
# The columns, with the measures that fill them.
COLUMNS = {
    "primary sinks moved": "moved_primary", "their score": "primary_score",
    "their norm": "primary_norm", "secondary lost": "lost_secondary",
    "gained": "gained_secondary", "at another level": "moved_secondary",
}


class Bench:
    def __init__(self, samples, root):
        self.samples, self.root = samples, root
        self.server = SinkdProcess(root, threads=2)

    def sinkctl(self, *arguments, codes=(0,)):
        command = [Programs.sinkctl, "--server", self.server.address, *arguments]
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True,
                              check=False)
        if done.returncode not in codes:
            raise SystemExit(f"{arguments}: {done.stderr}")
        return done.stdout

    def run(self, name):
        plan = json.loads(self.sinkctl("plan", name, "-o", "json"))
        self.sinkctl("load", name, "--compute-type", "float32", "-q")
        self.sinkctl("analyze", name, "--all", "-i", self.samples, "--run", name, "--summary-only",
                     "-q")
        self.sinkctl("unload", name)
        return plan.get("plan", plan).get("quantization", "")

    def row(self, name):
        stored = self.run(name)
        shutil.rmtree(self.root / name)
        audit = json.loads(self.sinkctl("audit", "--policy", POLICY, "--candidate", name,
                                        "--baseline", "original", "-o", "json", codes=(0, 1, 7)))
        rules = {rule["measure"]: rule for rule in audit["rules"]}
        return [name, *(cell(rules[measure]) for measure in COLUMNS.values())], stored


def cell(rule):
    if "value" not in rule:
        return ""
    value = rule["value"]
    if "baselineValue" in rule:
        value /= rule["baselineValue"]
    interval = rule.get("interval")
    text = f"{value:.3g}"
    return f"{text} ({interval['lower']:.3g} to {interval['upper']:.3g})" if interval else text


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("samples", type=pathlib.Path)
    parser.add_argument("--gguf", type=pathlib.Path)
    parser.add_argument("--write", type=pathlib.Path, help="page whose table is replaced")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    Programs.sinkd, Programs.sinkctl = build / "server/sinkd", build / "client/cli/sinkctl"
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
                print(rows[-1], flush=True)
            for form in quantized_copy.GGUF_FORMS if arguments.gguf else ():
                name = f"gguf-{form.lower().replace('_', '-')}"
                quantized_copy.write_gguf(arguments.gguf, root / name, form)
                rows.append(bench.row(name))
                print(rows[-1], flush=True)
        finally:
            bench.server.stop()
    page = report.table(["form", "stored as", *COLUMNS],
                        [[row[0], stored, *row[1:]] for row, stored in rows])
    print(page)
    if arguments.write:
        report.replace(arguments.write, page, BEGIN, END)


if __name__ == "__main__":
    main()
