"""Expected values and bootstrap intervals of server/audit/pair_measures.cc, from their definitions.

    python -m tests.oracle.audit_pairs OUT_DIR    writes OUT_DIR/pairs.json
"""

import collections
import json
import pathlib
import sys

import numpy as np
import scipy.spatial
import scipy.stats

from tests.oracle.analysis_traces import MersenneTwister64, draw, interval

PAIRS, SEED, DRAWS = 40, 11, 300


def make_sink(rng, position):
    return {"position": position, "level": [int(rng.integers(6, 9)), int(rng.integers(4, 7))],
            "norm": float(rng.uniform(5, 50)),
            "score": float(rng.uniform(0.01, 0.2)) if rng.random() < 0.9 else None}


def make_pair(rng):
    """The same sample twice: some sinks on one side alone, some changed, some as they were."""
    tokens = int(rng.integers(50, 200))
    sides = {"candidate": [], "baseline": []}
    for position in sorted(rng.choice(np.arange(1, tokens), 8, replace=False).tolist()):
        sink = make_sink(rng, position)
        other = make_sink(rng, position) if rng.random() < 0.3 else sink
        sides["baseline"] += [sink] if rng.random() < 0.9 else []
        sides["candidate"] += [other] if rng.random() < 0.8 else []
    end = 12 if rng.random() < 0.9 else 11
    return {side: {"tokens": tokens, "primary": [0, 2, end if side == "candidate" else 12],
                   "weakest": int(rng.integers(3, 6)), "sinks": sinks}
            for side, sinks in sides.items()}


def shared(pair):
    theirs = {sink["position"]: sink for sink in pair["baseline"]["sinks"]}
    return [(sink, theirs[sink["position"]]) for sink in pair["candidate"]["sinks"]
            if sink["position"] in theirs]


def only(pair, side, other):
    known = {sink["position"] for sink in pair[other]["sinks"]}
    return sum(sink["position"] not in known for sink in pair[side]["sinks"])


def mean_over_shared(read):
    def value(pairs):
        found = [read(c, b) for pair in pairs for c, b in shared(pair)]
        return float(np.mean(found))
    return value


def ratio_over_shared(name):
    def value(pairs):
        both = [(c[name], b[name]) for pair in pairs for c, b in shared(pair)
                if c[name] is not None and b[name] is not None]
        return float(np.sum([c for c, _ in both]) / np.sum([b for _, b in both]))
    return value


def of_baseline(side, other):
    return lambda pairs: (sum(only(pair, side, other) for pair in pairs) /
                          sum(len(pair["baseline"]["sinks"]) for pair in pairs))


def density(pairs, side):
    return 1000 * sum(len(pair[side]["sinks"]) for pair in pairs) / sum(
        pair[side]["tokens"] for pair in pairs)


def compared(of, value):
    def compare(pairs):
        candidate, baseline = (value([pair[side] for pair in pairs]) for side in SIDES)
        return candidate / baseline if of == "ratio" else candidate - baseline
    return compare


def mean_of(name):
    return lambda samples: float(np.mean([sink[name] for sample in samples
                                          for sink in sample["sinks"] if sink[name] is not None]))


def line(samples):
    """Of scores on the logarithm of norms."""
    points = [(np.log(sink["norm"]), sink["score"]) for sample in samples
              for sink in sample["sinks"] if sink["score"] is not None]
    return scipy.stats.linregress(*zip(*points))


def most_frequent(samples):
    return float(np.bincount([sample["weakest"] for sample in samples]).argmax())


def level_divergence(pairs):
    counts = [collections.Counter(tuple(sink["level"]) for pair in pairs
                                  for sink in pair[side]["sinks"]) for side in SIDES]
    levels = sorted(set().union(*counts))
    shares = [[each[level] for level in levels] for each in counts]
    return float(scipy.spatial.distance.jensenshannon(*shares, base=2) ** 2)


SIDES = ("candidate", "baseline")
MEASURES = {
    ("moved_primary", "value"): lambda pairs: float(np.mean(
        [pair["candidate"]["primary"] != pair["baseline"]["primary"] for pair in pairs])),
    ("lost_secondary", "value"): of_baseline("baseline", "candidate"),
    ("gained_secondary", "value"): of_baseline("candidate", "baseline"),
    ("moved_secondary", "value"): mean_over_shared(lambda c, b: c["level"] != b["level"]),
    ("start_shift", "value"): mean_over_shared(lambda c, b: c["level"][0] - b["level"][0]),
    ("lifetime_shift", "value"): mean_over_shared(lambda c, b: c["level"][1] - b["level"][1]),
    ("shared_score_ratio", "value"): ratio_over_shared("score"),
    ("shared_norm_ratio", "value"): ratio_over_shared("norm"),
    ("secondary_per_1000_tokens", "difference"):
        lambda pairs: density(pairs, "candidate") - density(pairs, "baseline"),
    ("secondary_per_1000_tokens", "ratio"):
        lambda pairs: density(pairs, "candidate") / density(pairs, "baseline"),
    ("secondary_score", "ratio"): compared("ratio", mean_of("score")),
    ("secondary_norm", "difference"): compared("difference", mean_of("norm")),
    ("regression_slope", "difference"):
        compared("difference", lambda samples: float(line(samples).slope)),
    ("regression_r_squared", "difference"):
        compared("difference", lambda samples: float(line(samples).rvalue ** 2)),
    ("weakest_attention_layer", "difference"): compared("difference", most_frequent),
    ("level_divergence", "value"): level_divergence,
}


def main(out):
    rng = np.random.default_rng(5)
    pairs = [make_pair(rng) for _ in range(PAIRS)]
    generator = MersenneTwister64(SEED)
    drawn = [[pairs[i] for i in draw(generator, PAIRS)] for _ in range(DRAWS)]
    expected = [{"measure": measure, "of": of, "value": value(pairs),
                 "interval": interval([value(each) for each in drawn])}
                for (measure, of), value in MEASURES.items()]
    out.mkdir(parents=True, exist_ok=True)
    (out / "pairs.json").write_text(json.dumps(
        {"pairs": pairs, "seed": SEED, "draws": DRAWS, "expected": expected}))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
