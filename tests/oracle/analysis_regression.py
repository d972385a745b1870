"""Expected values of regression.h from the formulas in 60 digits (mpmath), checked with scipy.

scipy works in float64 and leaves what the data leave it, down to ten digits here, other ones on
other processors: it says that the formulas are right, mpmath what the numbers are.

usage: analysis_regression.py OUT_DIR    writes OUT_DIR/regression.json
"""

import json
import math
import pathlib
import sys
import warnings

import mpmath
import numpy as np
from scipy import stats

warnings.filterwarnings("ignore")
FORMS = {"linear_log": (True, False), "log_linear": (False, True),
         "log_log": (True, True), "linear": (False, False)}


def why_undefined(x, y):
    if len(x) < 3:
        return "fewer than 3 points"
    if np.all(x == x[0]):
        return "zero variance in x"
    if np.all(y == y[0]):
        return "zero variance in y"
    return ""


def coefficient(value, error, df):
    t = value / error
    half = stats.t.ppf(0.975, df) * error
    return {"value": value, "standard_error": error, "t": t, "p": 2 * stats.t.sf(abs(t), df),
            "lower": value - half, "upper": value + half}


def aic(x, y, fit, log_y):
    """From the likelihood of y itself; three parameters: a, b and the residual variance."""
    residuals = y - (fit.intercept + fit.slope * x)
    sigma = math.sqrt(np.sum(residuals**2) / len(x))
    likelihood = np.sum(stats.norm.logpdf(residuals, scale=sigma))
    if log_y:  # density of y, given the density of ln y
        likelihood -= np.sum(y)
    return 2 * 3 - 2 * likelihood


def scipy_fit(x, y, log_y):
    fit = stats.linregress(x, y)
    df = len(x) - 2
    slope = coefficient(fit.slope, fit.stderr, df)
    slope["p"] = fit.pvalue
    residuals = y - (fit.intercept + fit.slope * x)
    return {"intercept": coefficient(fit.intercept, fit.intercept_stderr, df), "slope": slope,
            "r_squared": fit.rvalue**2,
            "residual_deviation": math.sqrt(np.sum(residuals**2) / df),
            "aic": aic(x, y, fit, log_y)}


def mp_t(value, df):
    return mpmath.betainc(mpmath.mpf(df) / 2, mpmath.mpf(1) / 2, 0, df / (df + value**2),
                          regularized=True)


def mp_quantile(df):
    """97.5% of Student's t; scipy's ppf has ten right digits only."""
    guess = mpmath.mpf(stats.t.ppf(0.975, df))
    return mpmath.findroot(lambda t: mp_t(t, df) - mpmath.mpf("0.05"), guess)


def mp_coefficient(value, error, df):
    t = value / error
    half = mp_quantile(df) * error
    return {"value": value, "standard_error": error, "t": t, "p": mp_t(t, df),
            "lower": value - half, "upper": value + half}


def mp_axis(values, log):
    return [mpmath.log(mpmath.mpf(v)) if log else mpmath.mpf(v) for v in values]


def mp_fit(x, y, log_y):
    """The same from the formulas, in 60 digits."""
    n, df = len(x), len(x) - 2
    xm, ym = sum(x) / n, sum(y) / n
    sxx = sum((v - xm)**2 for v in x)
    syy = sum((v - ym)**2 for v in y)
    sxy = sum((v - xm) * (w - ym) for v, w in zip(x, y))
    b = sxy / sxx
    a = ym - b * xm
    rss = sum((w - a - b * v)**2 for v, w in zip(x, y))
    s = mpmath.sqrt(rss / df)
    value = n * mpmath.log(rss / n) + 6 + n * (1 + mpmath.log(2 * mpmath.pi))
    return {"intercept": mp_coefficient(a, s * mpmath.sqrt(mpmath.mpf(1) / n + xm**2 / sxx), df),
            "slope": mp_coefficient(b, s / mpmath.sqrt(sxx), df),
            "r_squared": sxy**2 / (sxx * syy), "residual_deviation": s,
            "aic": value + (2 * sum(y) if log_y else 0)}


def mp_errors_by_sample(x, y, samples):
    """Cluster-robust (CR1) standard errors of (a, b): the sandwich of matrices, in 60 digits."""
    n, groups = len(x), sorted(set(samples))
    if len(groups) < 2:
        return None
    sx, sxx = sum(x), sum(v * v for v in x)
    bread = mpmath.matrix([[sxx, -sx], [-sx, n]]) / (n * sxx - sx * sx)
    a, b = bread * mpmath.matrix([sum(y), sum(v * w for v, w in zip(x, y))])
    scores = {group: mpmath.zeros(2, 1) for group in groups}
    for v, w, group in zip(x, y, samples):
        residual = w - a - b * v
        scores[group] += mpmath.matrix([residual, v * residual])
    meat = sum((score * score.T for score in scores.values()), mpmath.zeros(2))
    correction = mpmath.mpf(len(groups)) / (len(groups) - 1) * (n - 1) / (n - 2)
    variance = bread * meat * bread * correction
    return mpmath.sqrt(variance[0, 0]), mpmath.sqrt(variance[1, 1])


def by_sample(fit, x, y, samples):
    """Of a fit's coefficients, the standard errors and what follows from them."""
    errors = mp_errors_by_sample(x, y, samples)
    if errors is None:
        return {name: {"value": fit[name]["value"]} for name in ("intercept", "slope")}
    return {name: mp_coefficient(fit[name]["value"], error, len(set(samples)) - 1)
            for name, error in zip(("intercept", "slope"), errors)}


def check(exact, theirs):
    """That scipy has the same; its rounding, and that of the data, is far under the tolerance."""
    for key, value in theirs.items():
        if isinstance(value, dict):
            check(exact[key], value)
        else:
            scale = max(abs(value), abs(float(exact[key])), 1e-3)
            assert abs(value - float(exact[key])) <= 1e-6 * scale, (key, value, float(exact[key]))


def leaves_digits(x, y):
    """Whether float64 leaves scipy's 1 - r^2 enough digits for the check."""
    rest = 1 - np.corrcoef(x, y)[0, 1]**2
    return len(x) * np.finfo(float).eps < 1e-11 * rest


def fit_form(x, y, samples, form, hard):
    log_x, log_y = FORMS[form]
    keep = np.full(len(x), True)
    if log_x:
        keep &= x > 0
    if log_y:
        keep &= y > 0
    result = {"form": form, "n": int(keep.sum()), "left_out": int((~keep).sum())}
    x, y, samples = x[keep], y[keep], samples[keep].tolist()
    xs, ys = (np.log(x) if log_x else x), (np.log(y) if log_y else y)
    result["undefined"] = why_undefined(xs, ys)
    result["samples"] = len(set(samples))
    if result["undefined"]:
        return result
    fit = mp_fit(mp_axis(x, log_x), mp_axis(y, log_y), log_y)
    result["by_sample"] = by_sample(fit, mp_axis(x, log_x), mp_axis(y, log_y), samples)
    if not hard and leaves_digits(xs, ys):
        check(fit, scipy_fit(xs, ys, log_y))
    return result | fit


def mp_correlation(x, y):
    """Pearson's r and its two-sided p, from points or ranks."""
    x, y = mp_axis(x, False), mp_axis(y, False)
    xm, ym = sum(x) / len(x), sum(y) / len(y)
    sxy = sum((v - xm) * (w - ym) for v, w in zip(x, y))
    r = sxy / mpmath.sqrt(sum((v - xm)**2 for v in x) * sum((w - ym)**2 for w in y))
    df, rest = len(x) - 2, 1 - r**2
    p = mp_t(r * mpmath.sqrt(df / rest), df) if rest > mpmath.mpf(10)**-50 else mpmath.mpf(0)
    return {"value": r, "p": p}


def mp_correlation_p(x, y, samples):
    """Of the slope of y on x, by sample."""
    x, y = mp_axis(x, False), mp_axis(y, False)
    errors = mp_errors_by_sample(x, y, samples)
    if errors is None:
        return None
    xm = sum(x) / len(x)
    slope = sum((v - xm) * w for v, w in zip(x, y)) / sum((v - xm)**2 for v in x)
    if errors[1] < mpmath.mpf(10)**-40 * abs(slope):  # a perfect correlation
        return mpmath.mpf(0)
    return mp_t(slope / errors[1], len(set(samples)) - 1)


def correlation(kind, x, y, samples, hard):
    result = {"n": len(x), "undefined": why_undefined(x, y)}
    if result["undefined"]:
        return result
    if kind == "spearman":
        x, y = stats.rankdata(x), stats.rankdata(y)
    found = mp_correlation(x, y)
    found["p_by_sample"] = mp_correlation_p(x, y, samples.tolist())
    if not hard and leaves_digits(x, y):
        theirs = stats.pearsonr(x, y)
        check(found, {"value": float(theirs.statistic), "p": float(theirs.pvalue)})
    return result | found


def random_cases(rng):
    for i in range(60):
        n = int(rng.integers(3, 200))
        x = rng.gamma(2, 10.0**rng.integers(-2, 4), n)
        noise = 10.0**rng.uniform(-2, 1)
        y = [2 + 3 * np.log(x) + noise * rng.normal(size=n), np.exp(0.1 * rng.normal(size=n)),
             0.5 * x + noise * rng.normal(size=n), rng.normal(size=n)][i % 4]
        yield f"random {i}", x, y, False


def hard_cases(rng):
    a = np.array
    yield "no points", a([]), a([]), False
    yield "one point", a([1.0]), a([2.0]), False
    yield "two points", a([1.0, 2.0]), a([3.0, 5.0]), False
    yield "three points", a([1.0, 2.0, 4.0]), a([3.0, 5.0, 4.0]), False
    yield "three points, two alike in x", a([1.0, 1.0, 4.0]), a([3.0, 5.0, 4.0]), False
    yield "constant x", a([2.0] * 5), a([1.0, 2.0, 3.0, 4.0, 5.0]), False
    yield "constant y", a([1.0, 2.0, 3.0, 4.0, 5.0]), a([7.0] * 5), False
    yield "both constant", a([2.0] * 5), a([7.0] * 5), False
    yield "negative x", -rng.gamma(2, 1, 20), rng.gamma(2, 1, 20), False
    yield "negative y", rng.gamma(2, 1, 20), -rng.gamma(2, 1, 20), False
    yield "some negative", rng.normal(size=50), rng.normal(size=50), False
    yield "zeros", np.round(rng.gamma(1, 1, 40)), np.round(rng.gamma(1, 1, 40)), False
    yield "two left under the logs", a([-1.0, 2.0, 3.0, 0.0]), a([1.0, 2.0, -3.0, 4.0]), False
    yield "ties", rng.integers(1, 4, 100).astype(float), rng.integers(1, 4, 100).astype(float), False
    yield "lifetimes", rng.gamma(9, 30, 80), rng.integers(15, 25, 80).astype(float), False
    yield "an outlier", np.append(rng.gamma(2, 1, 30), 1e4), np.append(rng.gamma(2, 1, 30), 3.0), False
    for scale in (1e-100, 1e-12, 1e12, 1e100):
        x, y = rng.gamma(3, 1, 40), rng.gamma(3, 1, 40)
        yield f"x times {scale}", x * scale, y, False
        yield f"y times {scale}", x, y * scale, False
        yield f"both times {scale}", x * scale, y * scale, True  # scipy multiplies the squares
    x = rng.gamma(3, 1, 40)
    yield "scales whose squares overflow", x * 1e200, (x + rng.normal(size=40) + 20) * 1e200, True
    yield "large offset in x", 1e8 + rng.normal(size=50), rng.gamma(2, 1, 50), True
    yield "large offset in y", rng.gamma(2, 1, 50), 1e8 + rng.normal(size=50), True
    yield "almost on a line", x, 3 + 2 * x + 1e-6 * rng.normal(size=40), True
    yield "almost on a line, 1e-9", x, 3 + 2 * x + 1e-9 * rng.normal(size=40), True
    yield "almost log-linear", x, 3 + 2 * np.log(x) + 1e-7 * rng.normal(size=40), True
    yield "no correlation by symmetry", a([1.0, 2.0, 3.0, 4.0, 5.0]), a([2.0, 1.0, 3.0, 1.0, 2.0]), True
    yield "many points", rng.gamma(2, 10, 5000), rng.gamma(2, 10, 5000), False


def main(out):
    mpmath.mp.dps = 60
    rng = np.random.default_rng(20251222)
    cases = []
    for name, x, y, hard in [*random_cases(rng), *hard_cases(rng)]:
        samples = rng.integers(0, 1 + len(x) // 4, len(x))
        cases.append({"name": name, "x": list(x), "y": list(y), "samples": samples.tolist(),
                      "fits": [fit_form(x, y, samples, form, hard) for form in FORMS],
                      "pearson": correlation("pearson", x, y, samples, hard),
                      "spearman": correlation("spearman", x, y, samples, hard)})
    quantiles = [{"df": df, "value": mp_quantile(df)} for df in (1, 2, 3, 10, 100, 10**6)]
    out.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"cases": cases, "quantiles": quantiles}, default=float, allow_nan=False)
    (out / "regression.json").write_text(text)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
