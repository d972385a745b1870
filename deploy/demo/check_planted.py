"""Compares the sinks that `sinkctl detect --output jsonl` finds with the planted levels.

    sinkctl detect planted-table --input samples.jsonl --output jsonl | check_planted.py records.jsonl

Prints how often each level is planted and found; exits with 1 if any sink differs in position, layers
or kind.
"""

import collections
import json
import sys


def found_sinks(lines):
    """{sample id: [(position, layers, kind)]}; a long record comes in parts."""
    samples = collections.defaultdict(list)
    for line in lines:
        message = json.loads(line)
        if message["type"] in ("sampleError", "badInput"):
            raise SystemExit(f"a sample failed: {line}")
        if message["type"] != "record":
            continue
        record = message["record"]
        sinks = samples[record["sampleId"]]
        for sink in record.get("sinks", []):
            kind = sink["kind"].removeprefix("SINK_KIND_").lower()
            sinks.append((sink.get("position", 0), tuple(sink["layers"]), kind))
    return samples


def planted_sinks(file):
    with open(file, encoding="utf-8") as lines:
        return {
            record["sample_id"]: [
                (sink["position"], tuple(sink["layers"]), sink["kind"]) for sink in record["sinks"]
            ]
            for record in map(json.loads, lines)
        }


def count_levels(samples):
    return collections.Counter(
        (layers[0], len(layers), kind) for sinks in samples.values() for _, layers, kind in sinks
    )


def main():
    planted, found = planted_sinks(sys.argv[1]), found_sinks(sys.stdin)
    planted_levels, found_levels = count_levels(planted), count_levels(found)
    print("first layer  lifetime  kind       planted  found")
    for level in sorted(planted_levels | found_levels):
        start, lifetime, kind = level
        counts = f"{planted_levels[level]:7d}  {found_levels[level]:5d}"
        print(f"{start:11d}  {lifetime:8d}  {kind:9s}  {counts}")
    wrong = [name for name in planted if planted[name] != found.get(name)]
    total = sum(map(len, planted.values()))
    if wrong or len(found) != len(planted):
        raise SystemExit(f"samples that differ from what was planted: {', '.join(wrong) or 'count'}")
    print(f"all {total} sinks of {len(planted)} samples are where they were planted")


if __name__ == "__main__":
    main()
