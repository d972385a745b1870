"""What bfloat16 costs: the sinks and scores that float32 finds, found again in bfloat16.

    python -m tests.bench.precision BUILD SAMPLES [MODEL_FOLDER ...] [--write PAGE]

Each model runs over SAMPLES (JSONL), or over samples.jsonl in its own folder where there is one,
through a real sinkd in both compute types.
"""

import argparse
import json
import pathlib

from tests.bench import report
from tests.e2e import calls, stubs
from tests.e2e.sinkd_process import Programs, SinkdProcess

BEGIN, END = "<!-- precision, written by `make bench` -->", "<!-- end of precision -->"
WHOLE = {"detection": {}, "scores": {}}
HEAD = [
    "model", "samples", "sinks in float32", "found again", "additional", "different level",
    "undecided", "largest score difference", "for the primary sink",
]


def requests_of(path):
    fields = ("text", "prompt", "response", "token_ids")
    for line in path.read_text().splitlines():
        sample = {key: value for key, value in json.loads(line).items() if key in fields}
        if "token_ids" in sample:
            yield calls.ids(sample["token_ids"], chat_rendered=json.loads(line).get(
                "chat_rendered", False))
        elif "text" in sample:
            yield calls.sample(text={"text": sample["text"]})
        else:
            yield calls.sample(prompt_response=sample)


def records(folder, compute_type, samples):
    server = SinkdProcess(folder.parent, "--compute-type", compute_type, load=[folder.name])
    try:
        requests = [calls.spec(folder.name, **WHOLE), *requests_of(samples)]
        answer = calls.analyze(server.channel, requests, timeout=3600)
    finally:
        server.stop()
    if answer.failure:
        raise SystemExit(f"{folder.name}: {answer.failure}")
    return answer.records


def levels(record):
    return {sink.position: (sink.l_start, sink.lifetime) for sink in record.sinks}


def scores(record):
    return {sink.position: sink.score for sink in record.sinks if sink.HasField("score")}


def compare(name, wide, narrow):
    found = again = besides = moved = 0
    score = primary = 0.0
    for a, b in zip(wide, narrow, strict=True):
        here, there = levels(a), levels(b)
        common = here.keys() & there.keys()
        found += len(here)
        again += len(common)
        besides += len(there.keys() - here.keys())
        moved += sum(here[position] != there[position] for position in common)
        both = scores(a).keys() & scores(b).keys()
        score = max([score, *(abs(scores(a)[p] - scores(b)[p]) for p in both)])
        primary = max(primary, abs(a.primary.score - b.primary.score))
    undecided = sum(record.undecided for record in narrow)
    return [
        name, str(len(wide)), str(found), str(again), str(besides), str(moved), str(undecided),
        f"{score:.1e}" if again else "", f"{primary:.1e}",
    ]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("samples", type=pathlib.Path)
    parser.add_argument("models", type=pathlib.Path, nargs="+")
    parser.add_argument("--write", type=pathlib.Path, help="page whose table is replaced")
    arguments = parser.parse_args()
    Programs.sinkd = arguments.build.resolve() / "server" / "sinkd"
    rows = []
    for model in arguments.models:
        folder = model.resolve()
        own = folder / "samples.jsonl"
        samples = own if own.exists() else arguments.samples
        both = [records(folder, kind, samples) for kind in ("float32", "bfloat16")]
        rows.append(compare(folder.name, *both))
    page = report.table(HEAD, rows)
    print(page)
    if arguments.write:
        report.replace(arguments.write, page, BEGIN, END)


if __name__ == "__main__":
    main()
