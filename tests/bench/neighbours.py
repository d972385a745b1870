"""What a sample takes beside busy neighbours: processes that do nothing but use up a core.

    python -m tests.bench.neighbours BUILD_DIR MODEL_FOLDER [--tokens N] [--turns N] [--threads N]
                                     [--environment NAME=VALUE ...]

Starts a sinkd, sends it one sample after the other beside no, one and two neighbours in turns, and
prints a Markdown table of medians and of their ratios to that of none. `--environment
GOMP_SPINCOUNT=300000` has threads wait as libgomp's default does.
"""

import argparse
import pathlib
import statistics
import subprocess
import sys
import time

from tests.e2e.calls import ids, open_stream, spec
from tests.e2e.model_root import ModelRoot
from tests.e2e.sinkd_process import Programs, SinkdProcess

NEIGHBOURS = (0, 1, 2)
MODEL = "model"


def seconds(server, tokens):
    begin = time.monotonic()
    for answer in open_stream(server.channel, [spec(MODEL, scores={}), ids(tokens)]):
        assert not answer.HasField("sample_error"), answer.sample_error
    return time.monotonic() - begin


def beside(neighbours, server, tokens):
    """Of one sample, the second of two, so that neighbours have settled."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(neighbours)]
    try:
        seconds(server, tokens)
        return seconds(server, tokens)
    finally:
        for each in busy:
            each.kill()
            each.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("model", type=pathlib.Path)
    parser.add_argument("--tokens", type=int, default=500)
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--environment", nargs="*", default=[])
    arguments = parser.parse_args()
    Programs.sinkd = arguments.build.resolve() / "server" / "sinkd"
    root = ModelRoot()
    root.link(MODEL, arguments.model.resolve())
    server = SinkdProcess(root.path, load=[MODEL], threads=arguments.threads,
                          environment=dict(each.split("=", 1) for each in arguments.environment))
    tokens = [1 + i * 7919 % 290 for i in range(arguments.tokens)]
    times = {each: [] for each in NEIGHBOURS}
    try:
        seconds(server, tokens)
        for _ in range(arguments.turns):
            for each in NEIGHBOURS:
                times[each].append(beside(each, server, tokens))
    finally:
        server.stop()
        root.cleanup()
    medians = {each: statistics.median(values) for each, values in times.items()}
    print("| neighbours | seconds | over none | slowest |\n|---|---|---|---|")
    for each, median in medians.items():
        print(f"| {each} | {median:.3f} | {median / medians[0]:.2f} | {max(times[each]):.3f} |")


if __name__ == "__main__":
    main()
