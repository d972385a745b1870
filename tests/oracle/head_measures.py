"""What heads do, from their whole weights A [L, H, T, T] in numpy, written from the definitions alone (Heads)."""

import numpy as np


def rows_of(weights, visible):
    """Of queries with two visible keys or more, `visible` [L, H, T]: the mean of their normalised entropy and of their
    largest weight, [L, H]."""
    shares = weights / weights.sum(axis=-1, keepdims=True)
    entropy = -(shares * np.log(np.where(shares > 0, shares, 1))).sum(axis=-1)
    several = visible > 1
    normalised = np.where(several, entropy / np.log(np.where(several, visible, 2)), 0)
    largest = np.where(several, weights.max(axis=-1), 0)
    return normalised.sum(axis=-1) / several.sum(axis=-1), largest.sum(axis=-1) / several.sum(axis=-1)


def patterns_of(ids):
    """[T, T] of each score."""
    ids, positions = np.asarray(ids), np.arange(len(ids))
    before = positions[:, None] > positions[None, :]
    return {
        "previous_token": positions[:, None] == positions[None, :] + 1,
        "duplicate_token": (ids[:, None] == ids[None, :]) & before,
        "first_token": np.broadcast_to(positions == 0, before.shape),
    }


def scores_of(weights, ids):
    """TransformerLens' head detector: sum(A * pattern) / sum(A)."""
    whole = weights.sum(axis=(2, 3))
    return {name: (weights * pattern).sum(axis=(2, 3)) / whole for name, pattern in patterns_of(ids).items()}


def masses_of(weights, p0, secondary):
    """Means over the queries past each sink, and over all queries of what goes to the rest."""
    length = weights.shape[2]

    def past(key):
        return weights[:, :, key + 1:, key].sum(axis=2) / (length - 1 - key)

    rest = [key for key in range(length) if key != p0 and key not in secondary]
    seen = [key for key in secondary if key < length - 1]
    return {
        "primary": past(p0),
        "secondary": sum(past(key) for key in seen) if seen else None,
        "rest": weights[:, :, :, rest].sum(axis=(2, 3)) / length,
    }


def attended(weights, value_norms, p0, secondary):
    """The masses, and those of the weights times `value_norms` [L, H, T] of their keys."""
    values = masses_of(weights * value_norms[:, :, None, :], p0, secondary)
    return masses_of(weights, p0, secondary) | {f"{name}_value": each for name, each in values.items()}
