"""Expected values of server/audit/statistics.h from scipy; Holm's correction from its definition.

usage: audit_statistics.py OUT_DIR    writes OUT_DIR/statistics.json
"""

import json
import pathlib
import sys

import numpy as np
from scipy import stats
from scipy.spatial.distance import jensenshannon


def counts(rng):
    for size in (1, 2, 3, 10, 60):
        for most in (1, 5, 1000, 10**7):
            yield rng.integers(0, most + 1, size), rng.integers(0, most + 1, size)
    yield np.array([5, 0, 0]), np.array([0, 7, 2])
    yield np.array([3, 6, 9]), np.array([1, 2, 3])


def of_counts(a, b):
    return {"a": a.tolist(), "b": b.tolist(),
            "jensen_shannon": jensenshannon(a / a.sum(), b / b.sum(), base=2) ** 2,
            "chi_square": chi_square(a, b)}


def chi_square(a, b):
    table = np.array([a, b])
    table = table[:, table.sum(axis=0) > 0]
    return stats.chi2_contingency(table, correction=False).statistic if table.shape[1] > 1 else 0.0


def values(rng):
    for n, m in ((1, 1), (1, 9), (5, 5), (40, 70), (1000, 3)):
        yield rng.normal(size=n), rng.normal(0.3, 1.2, size=m)
        yield rng.integers(0, 4, n).astype(float), rng.integers(0, 5, m).astype(float)  # ties
    yield np.arange(5.0), np.arange(5.0)
    yield np.arange(5.0), np.arange(5.0) + 100


def of_values(a, b):
    return {"a": a.tolist(), "b": b.tolist(), "statistic": stats.ks_2samp(a, b).statistic}


def holm(p):
    """From the definition: reject in order of p while p_(i) <= alpha / (m - i); the adjusted p is the
    least alpha at which a test is rejected."""
    ranked = np.sort(p)
    def rejected(alpha):
        passed = ranked <= alpha / (len(p) - np.arange(len(p)))
        return len(p) if passed.all() else int(np.argmin(passed))
    levels = sorted({min(1.0, (len(p) - i) * v) for i, v in enumerate(ranked)} | {1.0})
    out = []
    for value in p:
        rank = int(np.searchsorted(ranked, value, side="right"))
        out.append(next((a for a in levels if rejected(a * (1 + 1e-12)) >= rank), 1.0))
    return out


def main(out):
    rng = np.random.default_rng(71)
    tables = [of_counts(a, b) for a, b in counts(rng) if a.sum() > 0 and b.sum() > 0]
    samples = [of_values(a, b) for a, b in values(rng)]
    tests = [rng.uniform(0, 0.2, n) for n in (1, 2, 5, 30)] + [np.array([0.01, 0.01, 0.04, 0.9])]
    corrections = [{"p": p.tolist(), "adjusted": holm(p)} for p in tests]
    out.mkdir(parents=True, exist_ok=True)
    (out / "statistics.json").write_text(
        json.dumps({"counts": tables, "values": samples, "holm": corrections}, default=float))
    print(len(tables), "tables,", len(samples), "pairs of samples,", len(tests), "corrections")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
