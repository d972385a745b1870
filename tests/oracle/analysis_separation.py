"""Expected values of separation.h from scikit-learn.

usage: analysis_separation.py OUT_DIR    writes OUT_DIR/separation.json
"""

import json
import pathlib
import sys

import numpy as np
from scipy.spatial.distance import cdist
from sklearn.metrics import adjusted_rand_score, roc_auc_score, silhouette_score
from sklearn.model_selection import StratifiedKFold
from sklearn.neighbors import NearestCentroid


def float32(matrix):
    """What a matrix is once its rows are float32."""
    return np.asarray(matrix, dtype=np.float32).astype(np.float64)


def matrix(rows):
    return {"rows": rows.shape[0], "columns": rows.shape[1], "values": rows.ravel().tolist()}


def labellings(rng):
    yield "unrelated", rng.integers(0, 3, 60), rng.integers(0, 4, 60)
    yield "renamed", np.repeat([0, 1, 2], 9), np.repeat([5, -3, 1], 9)
    yield "mostly the same", np.repeat([0, 1], 30), np.append(np.repeat([1, 0], 29), [0, 0])
    yield "one group and one group", np.zeros(8, int), np.ones(8, int)
    yield "one group and many", np.zeros(8, int), np.arange(8)
    yield "one group and two", np.zeros(8, int), np.repeat([0, 1], 4)
    yield "all alone, both", np.arange(8), np.arange(8)[::-1]
    yield "worse than chance", np.tile([0, 1], 10), np.repeat(np.arange(10), 2)
    yield "many rows", rng.integers(0, 2, 4000), rng.integers(0, 2, 4000)
    yield "one row", np.array([3]), np.array([4])


def grouped_rows(rng):
    """Rows and their labels."""
    def normal(targets, controls, columns, apart):
        rows = rng.normal(size=(targets + controls, columns))
        rows[:targets] += apart / np.sqrt(columns)
        return rows, np.repeat([1, 0], [targets, controls])

    yield "apart", *normal(30, 40, 20, 30)
    yield "touching", *normal(50, 50, 13, 2)
    yield "the same cloud", *normal(40, 60, 8, 0)
    yield "few targets", *normal(5, 80, 30, 3)
    rows, labels = normal(30, 30, 64, 1)
    rows[labels == 1, 3] += 25000
    yield "a massive channel", rows, labels
    rows, labels = normal(20, 20, 5, 1)
    rows[1:4] = rows[0]
    yield "rows alike", rows, labels
    yield "one column", *normal(25, 25, 1, 1)
    order = rng.permutation(60)
    rows, labels = normal(25, 35, 16, 2)
    yield "in any order", rows[order], labels[order]
    yield "whole numbers", rng.integers(0, 2, (40, 3)), rng.integers(0, 2, 40)


def many_groups(rng):
    rows = rng.normal(size=(50, 6))
    labels = np.append(rng.integers(0, 4, 49), 9)  # the last one alone
    return rows + labels[:, None], labels


def silhouette(rows, labels):
    return float(silhouette_score(cdist(rows, rows), labels, metric="precomputed"))


def held_out(rows, labels, seed):
    """Folds, scores and their area under the curve."""
    folds = np.empty(len(labels), int)
    scores = np.empty(len(labels))
    splits = StratifiedKFold(5, shuffle=True, random_state=seed).split(rows, labels)
    for fold, (train, test) in enumerate(splits):
        folds[test] = fold
        # Its classes are in ascending order: controls, targets.
        to_control, to_target = cdist(
            rows[test], NearestCentroid().fit(rows[train], labels[train]).centroids_).T
        scores[test] = to_control - to_target
    return {"folds": folds.tolist(), "scores": scores.tolist(),
            "auc": float(roc_auc_score(labels, scores))}


def scored(rng):
    labels = rng.integers(0, 2, 200)
    yield "no ties", rng.normal(size=200) + labels, labels
    yield "ties", np.round(rng.normal(size=200) + labels), labels
    yield "all tied", np.zeros(200), labels
    yield "apart", np.arange(10.0), np.repeat([0, 1], 5)
    yield "the wrong way", -np.arange(10.0), np.repeat([0, 1], [3, 7])
    yield "one target", rng.normal(size=30), np.eye(1, 30, 4)[0].astype(int)


def main(out):
    rng = np.random.default_rng(20251212)
    rand = [{"name": name, "a": a.tolist(), "b": b.tolist(),
             "value": float(adjusted_rand_score(a, b))} for name, a, b in labellings(rng)]
    groups = []
    for name, rows, labels in grouped_rows(rng):
        rows = float32(rows)
        groups.append({"name": name, "matrix": matrix(rows), "labels": labels.tolist(),
                       "silhouette": silhouette(rows, labels),
                       "held_out": [held_out(rows, labels, seed) for seed in (0, 1)]})
    rows, labels = many_groups(rng)
    rows = float32(rows)
    many = {"matrix": matrix(rows), "labels": labels.tolist(),
            "silhouette": silhouette(rows, labels)}
    scores = [{"name": name, "scores": s.tolist(), "labels": labels.tolist(),
               "auc": float(roc_auc_score(labels, s))} for name, s, labels in scored(rng)]
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"rand": rand, "groups": groups, "many_groups": many, "scores": scores},
                      allow_nan=False)
    (out / "separation.json").write_text(text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
