"""Pictures of results, drawn with Matplotlib: each draws into `ax`, or a new figure, and returns it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING

from sinks.v1 import mechanism_pb2 as studies
from sinks.v1 import records_pb2 as records

from sinkd.fields import word
from sinkd.tables import HEAD_MEASURES

if TYPE_CHECKING:
    from matplotlib.axes import Axes

COLORS = {"primary": "tab:orange", "secondary": "tab:blue", "noise": "tab:gray", "rest": "tab:gray"}
LARGEST_DOT = 400.0  # points squared


def levels(summary: records.Summary, ax: Axes | None) -> Axes:
    """Lifetime over first layer, a dot a level, its area the number of sinks."""
    ax = _axes(ax)
    counts = summary.levels.counts
    most = max((each.count for each in counts), default=1)
    for kind in ("primary", "secondary", "noise"):
        of = [each for each in counts if word(records.SinkKind.DESCRIPTOR, each.kind) == kind]
        if of:
            size = [LARGEST_DOT * each.count / most for each in of]
            starts, lifetimes = [each.l_start for each in of], [each.lifetime for each in of]
            ax.scatter(starts, lifetimes, size, COLORS[kind], alpha=0.6, label=kind)
            ax.legend(title="kind")
    return _labelled(ax, "first layer", "lifetime, layers", "levels")


def fits(summary: records.Summary, ax: Axes | None, *, y: str = "score") -> Axes:
    """The points, where `points` asked for them, and the log-linear fit y = a + b ln x."""
    if y not in ("score", "lifetime"):
        raise ValueError(f"y is score or lifetime, not {y!r}")
    ax = _axes(ax)
    report = summary.regression
    points = report.score_points if y == "score" else report.lifetime_points
    result = report.score if y == "score" else report.lifetime
    if not points:
        raise ValueError("there are no points to draw; ask for them: regress(..., points=True)")
    xs = [each.x for each in points]
    ax.scatter(xs, [each.y for each in points], 12, COLORS["secondary"], alpha=0.5, label=f"{len(xs)} sinks")
    for fit in result.fits:
        if fit.form == records.REGRESSION_FORM_LINEAR_LOG and not fit.undefined and min(xs) > 0:
            steps = [min(xs) * (max(xs) / min(xs)) ** (at / 100) for at in range(101)]
            line = [fit.intercept.value + fit.slope.value * math.log(each) for each in steps]
            label = f"{fit.intercept.value:.3g} + {fit.slope.value:.3g} ln x, R² {fit.r_squared:.2f}"
            ax.plot(steps, line, "k-", label=label)
    ax.legend()
    return _labelled(ax, "norm that the MLP writes", y, f"MLP norm against {y}")


def blocks(summary: records.Summary, ax: Axes | None) -> Axes:
    """Attention of primary and secondary sinks by block, with their intervals; the primary sink's norm beside."""
    ax = _axes(ax)
    rows = summary.compensation.blocks
    at = list(summary.attention_blocks) or list(range(len(rows)))  # the blocks that have attention
    for name in ("primary", "secondary"):
        attending = [rows[block] for block in at]
        ax.plot(at, [getattr(each, name) for each in attending], color=COLORS[name], label=name)
        intervals = [getattr(each, f"{name}_interval") for each in attending if each.HasField(f"{name}_interval")]
        if len(intervals) == len(at):
            low, high = [each.lower for each in intervals], [each.upper for each in intervals]
            ax.fill_between(at, low, high, color=COLORS[name], alpha=0.2, linewidth=0)
    ax.legend(loc="upper left")
    norms = ax.twinx()
    norms.plot(range(len(rows)), [each.primary_norm for each in rows], ":", color=COLORS["rest"])
    norms.set_ylabel("norm of the primary sink (dotted)")
    return _labelled(ax, "block", "attention", "compensation")


def rates(summary: records.Summary, ax: Axes | None) -> Axes:
    ax = _axes(ax)
    report = summary.sink_rate
    values = [rate if cells else math.nan for rate, cells in zip(report.rates, report.cells, strict=True)]
    ax.bar(range(len(values)), values, color=COLORS["primary"])
    return _labelled(ax, "position", "sink rate", "sink rate")


def norms(report: studies.StudyReport, ax: Axes | None, *, measure: str = "state") -> Axes:
    """Mean norms by block, of sinks and the rest."""
    if measure not in ("state", "key", "value"):
        raise ValueError(f"measure is state, key or value, not {measure!r}")
    ax = _axes(ax)
    rows = report.norms.rows
    for group in ("primary", "secondary", "rest"):
        _estimates(ax, [(row.block, getattr(getattr(row, group), measure)) for row in rows], group, COLORS[group])
    ax.set_yscale("log")
    ax.legend()
    return _labelled(ax, "block", f"mean norm of the {measure}", f"norms of {measure}s by block")


def entropy(report: studies.StudyReport, ax: Axes | None) -> Axes:
    ax = _axes(ax)
    rows = report.entropy.rows
    _estimates(ax, [(row.block, row.entropy) for row in rows], "all positions", COLORS["primary"])
    _estimates(ax, [(row.block, row.without_sinks) for row in rows], "without sinks", COLORS["secondary"])
    ax.legend()
    return _labelled(ax, "block", "entropy, nats", "matrix entropy of the states")


def heads(
    record: records.SampleRecord, alpha: Sequence[records.AlphaChunk], position: int | None, ax: Axes | None
) -> Axes:
    """Attention that one position receives, block by head."""
    if not alpha:
        raise ValueError("there is no attention to draw; ask for it: scores(..., all_positions=True)")
    at = record.primary.position if position is None else position
    if not 0 <= at < record.positions:
        raise ValueError(f"position {at} is none of the sample's, 0 to {record.positions - 1}")
    by_block: dict[int, dict[int, float]] = {}
    for chunk in alpha:
        for head in range(chunk.heads):
            value = chunk.values[head * chunk.positions + at]
            by_block.setdefault(chunk.block, {})[chunk.first_head + head] = value
    rows = [[of[head] for head in sorted(of)] for _, of in sorted(by_block.items())]
    return _by_head(rows, ax, "attention", f"attention to position {at}", most=1)


def head_means(summary: records.Summary, ax: Axes | None, *, measure: str = "primary") -> Axes:
    """One column of the table, block by head; blocks are those that have attention."""
    report = summary.heads
    if measure not in HEAD_MEASURES:
        raise ValueError(f"measure is one of {', '.join(HEAD_MEASURES)}, not {measure!r}")
    values = getattr(report, measure)
    if not values:
        raise ValueError(f"the summary has no {measure} of heads to draw")
    rows = [list(values[at : at + report.heads]) for at in range(0, len(values), report.heads)]
    return _by_head(rows, ax, measure, f"heads by {measure}")


def _by_head(rows: list[list[float]], ax: Axes | None, label: str, title: str, most: float | None = None) -> Axes:
    ax = _axes(ax)
    image = ax.imshow(rows, aspect="auto", origin="lower", vmin=0, vmax=most, cmap="viridis")
    ax.figure.colorbar(image, ax=ax, label=label)
    return _labelled(ax, "head", "block", title)


SUMMARIES: dict[str, Callable[..., Axes]] = {
    "levels": levels,
    "fits": fits,
    "blocks": blocks,
    "rates": rates,
    "head_means": head_means,
}
STUDIES: dict[str, Callable[..., Axes]] = {"norms": norms, "entropy": entropy}


def _axes(ax: Axes | None) -> Axes:
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("pictures need Matplotlib: pip install matplotlib") from error
    return plt.subplots()[1]


def _estimates(ax: Axes, points: Iterable[tuple[int, studies.Estimate]], label: str, color: str) -> None:
    """A line of estimates with their intervals; what has no value is left out."""
    known = [(at, each) for at, each in points if each.HasField("value")]
    at = [block for block, _ in known]
    ax.plot(at, [each.value for _, each in known], color=color, label=label)
    if all(each.HasField("lower") and each.HasField("upper") for _, each in known):
        low, high = [each.lower for _, each in known], [each.upper for _, each in known]
        ax.fill_between(at, low, high, color=color, alpha=0.2, linewidth=0)


def _labelled(ax: Axes, x: str, y: str, title: str) -> Axes:
    ax.set_xlabel(x)
    ax.set_ylabel(y)
    ax.set_title(title)
    return ax
