"""Whether two groups of rows lie apart, by scikit-learn."""

import numpy as np
from sklearn import metrics
from sklearn.cluster import KMeans
from sklearn.manifold import TSNE
from sklearn.model_selection import StratifiedKFold

DRAWS = 20


def adjusted_rands(rows, labels):
    """Of the 2-means that each of some starts ends at."""
    fits = (KMeans(2, n_init=1, random_state=seed).fit(rows) for seed in range(DRAWS))
    return [float(metrics.adjusted_rand_score(labels, fit.labels_)) for fit in fits]


def silhouette(rows, labels):
    return float(metrics.silhouette_score(rows, labels))


def auc(rows, labels, seed):
    """Pooled over five folds: how much nearer to the targets' centroid (label 1) a row is."""
    scores = np.zeros(len(rows))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(rows, labels):
        centroids = [rows[train][labels[train] == group].mean(axis=0) for group in (0, 1)]
        away = [np.linalg.norm(rows[test] - centroid, axis=1) for centroid in centroids]
        scores[test] = away[0] - away[1]
    return float(metrics.roc_auc_score(labels, scores))


def auc_range(rows, labels):
    """(lowest, highest) over draws of the folds."""
    values = [auc(rows, labels, seed) for seed in range(DRAWS)]
    return min(values), max(values)


def tsne_divergences(rows, perplexity):
    """KL(P || Q) in nats that scikit-learn's exact method reaches from each of five seeds: in
    which local minimum a map ends depends on its start, and on rounding."""
    maps = (TSNE(perplexity=perplexity, method="exact", init="random", random_state=seed)
            for seed in range(5))
    return [float(each.fit(rows).kl_divergence_) for each in maps]


def _neighbours(squared, perplexity):
    """[n, n] conditional p(j | i), each row's bandwidth found by bisection."""
    result = np.zeros_like(squared)
    squared = np.where(squared > 1e-9 * squared.max(), squared, 0)  # rows that only rounding parts
    for i, row in enumerate(squared):
        others = np.arange(len(row)) != i
        distances = row[others] - row[others].min()
        low, high = 0.0, np.inf
        precision = 1.0 / max(distances.mean(), 1e-300)
        for _ in range(200):
            weights = np.exp(-precision * distances)
            shares = weights / weights.sum()
            entropy = -(shares[shares > 0] * np.log(shares[shares > 0])).sum()
            if entropy > np.log(perplexity):
                low, precision = precision, precision * 2 if high == np.inf else (
                    precision + high) / 2
            else:
                high, precision = precision, (low + precision) / 2
        result[i, others] = shares
    return result


def divergence_of(rows, coordinates, perplexity):
    """KL(P || Q) of a map that somebody drew."""
    p = _neighbours(metrics.pairwise_distances(rows, metric="sqeuclidean"), perplexity)
    p = (p + p.T) / (2 * len(rows))
    q = 1 / (1 + metrics.pairwise_distances(coordinates, metric="sqeuclidean"))
    np.fill_diagonal(q, 0)
    q /= q.sum()
    seen = p > 0
    return float((p[seen] * np.log(p[seen] / q[seen])).sum())
