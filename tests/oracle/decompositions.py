"""Inputs of the decompositions, and what scikit-learn and numpy make of them.

    python -m tests.oracle.decompositions OUT    writes OUT/decompositions.json
"""

import json
import math
import pathlib
import sys

import numpy as np
from sklearn.cluster import KMeans
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE

from tests.oracle import stamp


def float32(matrix):
    """What a matrix is once its rows are float32."""
    return np.asarray(matrix, dtype=np.float32).astype(np.float64)


def matrix(rows):
    return {"rows": rows.shape[0], "columns": rows.shape[1], "values": rows.ravel().tolist()}


def blobs(rng, sizes, columns, apart):
    """One normal cloud of each size, their centres `apart` deviations away from zero."""
    centres = rng.normal(size=(len(sizes), columns))
    centres *= apart / np.linalg.norm(centres, axis=1, keepdims=True)
    return np.concatenate([rng.normal(size=(n, columns)) + c for n, c in zip(sizes, centres)])


def with_sinks(rng, sinks, others, columns):
    """States as of a model with massive activations: some rows share one huge direction."""
    rows = 40 * rng.normal(size=(sinks + others, columns)) / math.sqrt(columns)
    rows[:sinks, 3] += 25000 * (1 + 0.02 * rng.normal(size=sinks))
    return rows


def low_rank(rng, rows, columns, rank):
    """Of exactly this rank in float32 too."""
    return rng.integers(-4, 5, (rows, rank)) @ rng.integers(-4, 5, (rank, columns))


def curve(rng, rows):
    t = np.sort(rng.uniform(1.5 * np.pi, 4.5 * np.pi, rows))
    return np.stack([t * np.cos(t), t * np.sin(t), 10 * rng.uniform(size=rows)], axis=1)


def component_cases(rng):
    yield "tall", rng.normal(size=(80, 12)) + 5, 6
    yield "wide", rng.normal(size=(20, 300)) - 2, 19
    yield "more wanted than there are", rng.normal(size=(9, 4)), 50
    yield "rank 3", low_rank(rng, 40, 25, 3), 10
    yield "rank 3, wide", low_rank(rng, 25, 90, 3), 10
    yield "one strong axis", with_sinks(rng, 50, 50, 64), 10
    yield "steep", rng.normal(size=(60, 30)) * 10.0 ** -np.linspace(0, 4, 30), 30
    yield "steep, wide", rng.normal(size=(30, 60)) * 10.0 ** -np.linspace(0, 4, 60), 25
    yield "one column", rng.normal(size=(30, 1)), 3
    yield "two rows", rng.normal(size=(2, 7)), 5
    yield "one row", rng.normal(size=(1, 7)), 5
    yield "rows alike", np.ones((6, 4)), 5


def components(name, rows, count):
    rows = float32(rows)
    case = {"name": name, "matrix": matrix(rows), "count": count}
    centred = rows - rows.mean(axis=0)
    rank = int(np.linalg.matrix_rank(centred)) if np.any(centred) else 0
    if rank == 0:
        return case | {"singular_values": [], "explained": [], "directions": []}
    found = PCA(min(count, rank), svd_solver="full").fit(rows)
    return case | {"singular_values": found.singular_values_.tolist(),
                   "explained": found.explained_variance_ratio_.tolist(),
                   "directions": found.components_.tolist()}


def k_means_cases(rng):
    yield "two apart", blobs(rng, (40, 60), 10, 30), 2, True
    yield "four apart", blobs(rng, (30, 20, 25, 40), 6, 40), 4, True
    yield "sinks and others", with_sinks(rng, 30, 70, 96), 2, True
    yield "two that touch", blobs(rng, (100, 100), 20, 2), 2, False
    yield "one cloud in two", rng.normal(size=(200, 8)), 2, False
    yield "one cloud in seven", rng.normal(size=(300, 3)), 7, False
    yield "as many as rows", rng.normal(size=(5, 3)), 5, True
    yield "a single cluster", rng.normal(size=(50, 4)), 1, True


def k_means(name, rows, clusters, separated):
    rows = float32(rows)
    found = KMeans(clusters, n_init=10, random_state=0).fit(rows)
    return {"name": name, "matrix": matrix(rows), "clusters": clusters, "separated": separated,
            "labels": found.labels_.tolist(), "inertia": float(found.inertia_)}


def tsne_cases(rng):
    yield "three clouds", blobs(rng, (50, 60, 40), 20, 8), 30
    yield "three clouds, low perplexity", blobs(rng, (50, 60, 40), 20, 8), 5
    yield "one cloud", rng.normal(size=(200, 10)), 30
    yield "sinks and others", with_sinks(rng, 60, 140, 96), 30
    yield "a curve", curve(rng, 300), 20
    yield "few rows", rng.normal(size=(30, 40)), 29 / 3
    yield "many clouds", blobs(rng, (60,) * 10, 30, 10), 30


def tsne(name, rows, perplexity):
    rows = float32(rows)
    found = TSNE(method="exact", perplexity=perplexity, random_state=0).fit(rows)
    return {"name": name, "matrix": matrix(rows), "perplexity": perplexity,
            "divergence": float(found.kl_divergence_)}


def entropy_cases(rng):
    yield "tall", rng.normal(size=(50, 8))
    yield "wide", rng.normal(size=(12, 200))
    yield "square", rng.normal(size=(40, 40))
    yield "rank 3", low_rank(rng, 40, 30, 3)
    yield "a row often", np.repeat(rng.normal(size=(5, 30)), 8, axis=0)
    yield "sinks and others", with_sinks(rng, 10, 30, 64)
    yield "tiny", 1e-30 * rng.normal(size=(10, 6))
    yield "huge", 1e30 * rng.normal(size=(10, 6))
    yield "one row", rng.normal(size=(1, 9))


def entropy(name, rows):
    """By singular values, whose squares are the Gram matrix's eigenvalues without its rounding."""
    rows = float32(rows)
    values = np.linalg.svd(rows / np.abs(rows).max(), compute_uv=False) ** 2
    shares = values / values.sum()
    shares = shares[shares > 0]
    by_alpha = [{"alpha": 1.0, "entropy": float(-np.sum(shares * np.log(shares)))}]
    for alpha in (0.5, 2.0):
        by_alpha.append({"alpha": alpha,
                         "entropy": float(np.log(np.sum(shares**alpha)) / (1 - alpha))})
    return {"name": name, "matrix": matrix(rows), "by_alpha": by_alpha}


def main(out):
    done = stamp.Stamp(out, [__file__])
    if done.is_current():
        return
    rng = np.random.default_rng(20240227)
    cases = {"components": [components(*case) for case in component_cases(rng)],
             "k_means": [k_means(*case) for case in k_means_cases(rng)],
             "tsne": [tsne(*case) for case in tsne_cases(rng)],
             "entropy": [entropy(*case) for case in entropy_cases(rng)]}
    out.mkdir(parents=True, exist_ok=True)
    (out / "decompositions.json").write_text(json.dumps(cases, allow_nan=False))
    done.write()


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
