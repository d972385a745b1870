"""Means and shares with 95% intervals, by scipy."""

import dataclasses
import math

import numpy as np
from scipy import stats


@dataclasses.dataclass(frozen=True)
class Estimate:
    value: float | None
    lower: float | None
    upper: float | None
    n: int


def mean(values):
    """With Student's interval; none for under two values."""
    values = np.asarray([each for each in values if each is not None], dtype=np.float64)
    if len(values) == 0:
        return Estimate(None, None, None, 0)
    middle = float(values.mean())
    if len(values) == 1:
        return Estimate(middle, None, None, 1)
    half = stats.t.ppf(0.975, len(values) - 1) * values.std(ddof=1) / math.sqrt(len(values))
    return Estimate(middle, middle - half, middle + half, len(values))


def positive_mean_by_sample(values, samples):
    """With a cluster-robust interval (CR1) on the logarithm; none for under two samples."""
    values, samples = np.asarray(values, dtype=np.float64), np.asarray(samples)
    if len(values) == 0:
        return Estimate(None, None, None, 0)
    middle = float(values.mean())
    groups = np.unique(samples)
    if len(groups) == 1:
        return Estimate(middle, None, None, len(values))
    sums = [(values[samples == group] - middle).sum() for group in groups]
    error = math.sqrt(len(groups) / (len(groups) - 1) * np.square(sums).sum()) / len(values)
    factor = math.exp(stats.t.ppf(0.975, len(groups) - 1) * error / middle)
    return Estimate(middle, middle / factor, middle * factor, len(values))


def share(flags):
    """With Wilson's interval; none for under two values."""
    flags = [bool(each) for each in flags]
    if not flags:
        return Estimate(None, None, None, 0)
    value = sum(flags) / len(flags)
    if len(flags) == 1:
        return Estimate(value, None, None, 1)
    interval = stats.binomtest(sum(flags), len(flags)).proportion_ci(0.95, "wilson")
    return Estimate(value, interval.low, interval.high, len(flags))
