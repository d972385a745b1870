"""How many prompts the ready gates need: false alarms and power, over random draws of prompts.

    python -m tests.bench.gates BUILD [--draws 200] [--write PAGE]

The planted checkpoint runs over prompts of its words in float32, in bfloat16 and with noise of 0.1%
in its weights, beside copies whose sinks changed. tests/bench/gate_power.cc draws prompts of these
runs and audits them.
"""

import argparse
import json
import pathlib
import random
import re
import subprocess
import tempfile

from tests.bench import report
from tests.e2e.sinkd_process import Programs, SinkdProcess
from tests.testing import audit_samples, noisy_copy, planted, planted_samples
from tests.testing.planted_design import plant

BEGIN, END = "<!-- gates, written by tests/bench/gates.py -->", "<!-- end of gates -->"
POLICIES = pathlib.Path(__file__).parents[2] / "deploy/policies"
PROMPTS, SEED = 400, 1
PERMUTATIONS = 499  # per test; the policies' 1,999 take four times as long and decide the same
SIZES = (20, 30, 40, 60, 100)
changed = audit_samples.changed

SAME = ("bfloat16", "noisy")
# Of each policy: the changed models, with the rule that names the change.
RELEASE = {
    "moved": "no lost levels", "removed": "no lost levels", "added": "no new levels",
    "weakened": "no lost levels",
}
QUANTIZED = {
    "lost": "secondary sinks lost", "gained": "secondary sinks gained",
    "shortened": "secondary sinks at another level",
}
MODELS = {
    **audit_samples.SETS,
    "lost": changed(plant("because", 12, 0), plant("however", 14, 0), plant("hence", 16, 0)),
    "gained": changed(plant("perhaps", 20, 6), plant("hmm", 10, 8), plant("maybe", 15, 7)),
    "shortened": changed(plant("however", 14, 7), plant("wait", 9, 12), plant("suppose", 6, 12)),
}


def prompts():
    """Each prompt repeats a few words, so that its sinks depend on each other."""
    rng = random.Random(SEED)
    phrases = planted_samples.planted_phrases(MODELS["table"])
    for index in range(PROMPTS):
        own = rng.sample(phrases, 8)
        parts = []
        for _ in range(rng.randint(3, 12)):
            sentence = rng.choice(planted_samples.SENTENCES)
            parts.append(f"{rng.choice(own)}, {sentence}" if rng.random() < 0.6 else sentence)
        yield {"id": f"prompt-{index}", "text": ". ".join(parts) + "."}


class Bench:
    def __init__(self, folder):
        self.folder, root = folder, folder / "models"
        for name, variant in MODELS.items():
            planted.generate(root / name, variant)
        noisy_copy.write_copy(root / "table", root / "noisy", 1e-3)
        self.input = folder / "prompts.jsonl"
        self.input.write_text("".join(json.dumps(each) + "\n" for each in prompts()))
        self.server = SinkdProcess(root)

    def sinkctl(self, *arguments):
        command = [Programs.sinkctl, "--server", self.server.address, *arguments]
        return subprocess.run([str(each) for each in command], capture_output=True, text=True,
                              check=True).stdout

    def run(self, model, name, compute_type="float32"):
        self.sinkctl("load", model, "--compute-type", compute_type, "-q")
        self.sinkctl("analyze", model, "--all", "--input", self.input, "--run", name,
                     "--summary-only", "-q")
        self.sinkctl("unload", model)
        self.file(name).write_text(self.sinkctl("runs", "export", name))

    def file(self, name):
        return self.folder / f"{name}.jsonl"

    def counts(self, program, policy, draws, names):
        """{candidate: {size: {"same" or "other": counts}}}."""
        files = [self.file(name) for name in names]
        text = (POLICIES / policy).read_text()
        quicker = self.folder / policy
        quicker.write_text(re.sub("^draws: [0-9]+", f"draws: {PERMUTATIONS}", text, flags=re.MULTILINE))
        done = subprocess.run(
            [program, quicker, ",".join(map(str, SIZES)), str(draws), self.file("table"), *files],
            capture_output=True, text=True, check=True)
        return dict(zip(names, (json.loads(done.stdout)[str(file)] for file in files)))


def share(counts, rule=None):
    """Of the draws; `counts` may be missing where there were not enough prompts."""
    if counts is None:
        return "-"
    found = counts["rules"][rule] if rule else counts["fail"]
    return f"{found / counts['draws']:.1%}"


def rows(counts, changes, prompts_are):
    """By number of prompts: false alarms, missing data, and how often each change fails by name."""
    same = SAME if prompts_are == "same" else ("table",)
    for size in SIZES:
        here = {name: each[str(size)].get(prompts_are) for name, each in counts.items()}
        lacking = here["table"] and f"{here['table']['not_enough_data'] / here['table']['draws']:.1%}"
        yield [str(size), *(share(here[name]) for name in same), lacking or "-",
               *(share(here[name], rule) for name, rule in changes.items())]


def tables(bench, program, draws):
    parts = []
    for policy, changes, modes in (("release-gate.yaml", RELEASE, ("same", "other")),
                                   ("quantized-release.yaml", QUANTIZED, ("same",))):
        counts = bench.counts(program, policy, draws, ["table", *SAME, *changes])
        for prompts_are in modes:
            alarms = ([f"false alarms, {name}" for name in SAME] if prompts_are == "same"
                      else ["false alarms"])
            head = ["prompts", *alarms, "not enough data", *changes]
            parts += [f"{policy}, the same prompts:" if prompts_are == "same" else
                      f"{policy}, other prompts:",
                      report.table(head, rows(counts, changes, prompts_are))]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--draws", type=int, default=200)
    parser.add_argument("--write", type=pathlib.Path, help="page whose tables are replaced")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    Programs.sinkd, Programs.sinkctl = build / "server/sinkd", build / "client/cli/sinkctl"
    with tempfile.TemporaryDirectory(prefix="sinkd-gates-") as folder:
        bench = Bench(pathlib.Path(folder))
        try:
            for name in (*MODELS, "noisy"):
                bench.run(name, name)
            bench.run("table", "bfloat16", "bfloat16")
        finally:
            bench.server.stop()
        page = tables(bench, build / "tests/bench/gate_power", arguments.draws)
    print(page)
    if arguments.write:
        report.replace(arguments.write, page, BEGIN, END)


if __name__ == "__main__":
    main()
