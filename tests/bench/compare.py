"""The end-to-end comparison behind docs/benchmarks.md: transformers and sinkd side by side.

    python -m tests.bench.compare BUILD_DIR MODEL_FOLDER [--quick] [--threads N] [--write PAGE]

Contestants take turns, in one go, and times are compared within a turn, since a machine's speed
drifts. Names that end in bf16 compute in bfloat16, all others in float32. BUILD_DIR holds
server/sinkd and tests/bench/forward_bench.
"""

import argparse
import dataclasses
import gc
import os
import pathlib
import subprocess

from tests.bench import report
from tests.bench.contestants import Reference, Sinkd
from tests.bench.samples import Corpus
from tests.e2e.sinkd_process import Programs

LENGTHS = (64, 512, 1024, 2048, 4096, 8192)
QUICK_LENGTHS = (64, 512, 1024, 2048)
SHORT, MANY = 64, 100  # samples of this length come by the hundred
WARM_UP = 8  # tokens
ROUNDS = {64: 3, 512: 9, 1024: 9, 2048: 7, 4096: 3, 8192: 2}
SLOW_ROUNDS = {4096: 1, 8192: 1}  # of the slow contestants, at most; 3 of other lengths
SLOW = ("A", "A-", "A bf16", "B")
BATCH = 20


@dataclasses.dataclass(frozen=True)
class Sample:
    text: str
    ids: list


def available_bytes():
    lines = pathlib.Path("/proc/meminfo").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable:"))


def kept_bytes(config, length, layers):
    """Attention weights of so many layers, and two more in the making."""
    return 4 * (layers + 2) * config["num_attention_heads"] * length**2


def contestants(config, length, folder, threads):
    """Their makers by name. A where keeping everything fits; else A-, which keeps nothing and so is
    at most as slow."""
    def reference(how, attention, **options):
        return lambda: Reference(how, attention, folder, threads, **options)

    makers = {}
    room = 0.8 * available_bytes()
    if kept_bytes(config, length, config["num_hidden_layers"]) < room:
        makers["A"] = reference("kept", "eager")
        makers["A bf16"] = reference("kept", "eager", dtype="bfloat16")
    elif kept_bytes(config, length, 1) < room:
        makers["A-"] = reference("plain", "eager")
    if kept_bytes(config, length, 1) < room:
        makers["B"] = reference("layerwise", "sdpa")
    makers["C"] = reference("plain", "sdpa")
    if length == SHORT:
        makers["C batched"] = reference("plain", "sdpa", batch=BATCH)
    makers["C bf16"] = reference("plain", "sdpa", dtype="bfloat16")
    makers["D"] = lambda: Sinkd(folder, threads, "float32")
    makers["D bf16"] = lambda: Sinkd(folder, threads, "bfloat16")
    return makers


def compare(length, makers, samples, warm_up, rounds):
    """One row of the report."""
    row = report.Row(length, len(samples))
    slow_rounds = min(rounds, SLOW_ROUNDS.get(length, 3))
    running = {}
    try:
        for name, make in makers.items():
            running[name] = make()
            running[name].run(warm_up)
            row.loaded[name] = running[name].meter.memory("VmRSS")
            running[name].meter.forget_peak()
            # Caches, page tables and thread pools of this length; not timed, and nothing beside a
            # turn of minutes.
            if name not in SLOW or slow_rounds > 1:
                running[name].run(samples[:1])
        for turn in range(rounds):
            present = [name for name in running if name not in SLOW or turn < slow_rounds]
            gc.collect()
            # Every other turn backwards, so that nobody always comes after the same other.
            row.turns.append({
                name: running[name].run(samples)
                for name in (present if turn % 2 == 0 else reversed(present))
            })
        for name, contestant in running.items():
            row.peak[name] = contestant.meter.memory("VmHWM") - row.loaded[name]
    finally:
        for contestant in running.values():
            contestant.close()
    return row


def statistics_cost(build, folder, threads, lengths):
    """The table of forward_bench."""
    command = [build / "tests" / "bench" / "forward_bench", folder, *map(str, lengths)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
    return subprocess.run(command, env=environment, check=True, text=True, capture_output=True).stdout


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--quick", action="store_true", help="fewer turns, up to 2,048 tokens")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--lengths", type=int, nargs="+")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--write", type=pathlib.Path, help="page whose tables are replaced")
    return parser.parse_args()


def main():
    arguments = parse()
    Programs.sinkd = arguments.build.resolve() / "server" / "sinkd"
    folder = arguments.model.resolve()
    config = report.read_config(folder)
    corpus = Corpus(folder)

    def take(length, count):
        return [Sample(text, corpus.ids(text)) for text in corpus.take(length, count)]

    rows = []
    lengths = arguments.lengths or (QUICK_LENGTHS if arguments.quick else LENGTHS)
    for length in lengths:
        rounds = arguments.rounds or (3 if arguments.quick else ROUNDS.get(length, 5))
        makers = contestants(config, length, folder, arguments.threads)
        samples = take(length, MANY if length == SHORT else 1)
        rows.append(compare(length, makers, samples, take(WARM_UP, 1), rounds))
        print(report.one_line(rows[-1]), flush=True)
    own = statistics_cost(arguments.build, folder, arguments.threads, lengths)
    page = report.page(rows, own, config, folder.name, arguments.threads)
    print("\n" + page)
    if arguments.write:
        report.replace_processor(arguments.write, page)


if __name__ == "__main__":
    main()
