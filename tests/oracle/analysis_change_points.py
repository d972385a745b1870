"""Expected values of change_point.h: every division tried by numpy, and permutations by scipy.

usage: analysis_change_points.py OUT_DIR    writes OUT_DIR/change_points.json
"""

import json
import pathlib
import sys

import numpy as np
from scipy import optimize, stats

# Where the limit of the likelihood ratio's distribution (Eo and Morley 2015) reaches 95%.
CRITICAL = optimize.brentq(lambda x: (1 - np.exp(-x / 2)) ** 2 - 0.95, 1, 100, xtol=1e-14)
RESAMPLES = 99999


def squares(values, k):
    return sum(((part - part.mean()) ** 2).sum() for part in (values[:k], values[k:]))


def largest_share(values, axis=-1):
    """The largest sum of squares between the two sides of a division."""
    values = np.moveaxis(np.asarray(values), axis, -1)
    n = values.shape[-1]
    between = [
        k * (n - k) / n * (values[..., :k].mean(-1) - values[..., k:].mean(-1)) ** 2
        for k in range(1, n)
    ]
    return np.max(between, axis=0)


def permutation_p(values):
    """Exact for few values, else of many draws. Equal statistics differ by rounding."""
    observed = largest_share(values) * (1 - 1e-9)
    test = stats.permutation_test((values,), lambda x, axis: largest_share(x, axis),
                                  permutation_type="pairings", n_resamples=RESAMPLES,
                                  vectorized=True, alternative="greater",
                                  random_state=np.random.default_rng(1))
    return float(np.mean(test.null_distribution >= observed))


def change_point(values):
    all_squares = np.array([squares(values, k) for k in range(1, len(values))])
    at = int(all_squares.argmin())
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = len(values) * np.log(all_squares / all_squares[at])
    inside = np.flatnonzero((all_squares <= all_squares[at]) | (ratios <= CRITICAL))
    return {"at": at + 1, "lowest": int(inside[0]) + 1, "highest": int(inside[-1]) + 1,
            "before": float(values[:at + 1].mean()), "after": float(values[at + 1:].mean()),
            "p": permutation_p(values)}


def series(rng):
    yield "exact step", np.repeat([0.0, 1.0], [4, 6])
    yield "step down", np.repeat([3.5, -1.25], [1, 7])
    yield "last value", np.repeat([0.0, 2.0], [5, 1])
    yield "five values", np.array([0.0, 0.1, 0.05, 1.0, 1.1])
    yield "trend", np.arange(12.0)
    yield "large offset", 1e6 + np.repeat([0.0, 0.5], [5, 5]) + rng.normal(size=10) / 8
    for n in (6, 9, 20, 40):
        for size in (0, 1, 4):
            k = int(rng.integers(1, n))
            yield f"{n} values, {size} deviations", rng.normal(size=n) + size * (np.arange(n) >= k)


def main(out):
    rng = np.random.default_rng(20261201)
    cases = [{"name": name, "values": values.tolist(), **change_point(values)}
             for name, values in series(rng)]
    out.mkdir(parents=True, exist_ok=True)
    (out / "change_points.json").write_text(json.dumps(cases, allow_nan=False))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
