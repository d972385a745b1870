"""Sink detection, kinds and scores in numpy, written from the definitions alone.

An oracle: it shares no code and no intermediate with the server. Axes: L layers (block outputs, the
last after the final norm), T positions, H heads, C hidden.
"""

import dataclasses

import numpy as np


@dataclasses.dataclass(frozen=True)
class Parameters:
    """What counts as a sink; the defaults reproduce the published files."""

    cosine_threshold: float = 0.9
    min_norm_ratio: float = 0.0
    kind_rule: str = "window"  # or "published"


def primary_position(norms, chat_rendered):
    """p0: the candidate whose norm, averaged over layers, is highest; the lowest wins a tie."""
    candidates = min(3 if chat_rendered else 2, norms.shape[1])
    return int(np.argmax(norms[:, :candidates].mean(axis=0)))


def window(primary_norms):
    """[start, end): from the steepest rise of the primary sink's norm to its steepest fall."""
    layers = len(primary_norms)
    if layers < 2:
        raise ValueError("a window needs at least two layers")
    change = np.diff(primary_norms)
    start = int(np.argmax(change)) + 1
    if start == layers - 1:
        return start, layers
    return start, start + int(np.argmin(change[start:])) + 1


def kind(l_start, lifetime, start, end, layers, rule):
    """primary, secondary or noise; integers only, so that no rounding decides."""
    span = end - start
    if rule == "published":
        if lifetime >= layers - 15:
            return "primary"
        return "secondary" if lifetime > 4 else "noise"
    if l_start <= start + 1 and 3 * lifetime >= 2 * span:
        return "primary"
    return "noise" if lifetime <= 4 and 6 * lifetime <= span else "secondary"


def cosines(states, position):
    """|cos| of every state with the one at `position`: [L, T]; 0 for zero vectors."""
    states = states.astype(np.float64)
    norms = np.linalg.norm(states, axis=2)
    dots = np.einsum("ltc,lc->lt", states, states[:, position])
    scale = norms * norms[:, position : position + 1]
    return np.abs(np.divide(dots, scale, out=np.zeros_like(dots), where=scale > 0))


def alpha(column_sum, attention_self=None, exclude_self=False, divisor="from_position"):
    """Attention received by each position, [L, H, T]; NaN where undefined."""
    total = column_sum.astype(np.float64)
    positions = total.shape[2]
    queries = positions - np.arange(positions)
    if exclude_self:
        total = total - attention_self
        queries = queries - 1
    if divisor == "all":
        queries = np.full(positions, positions - 1 if exclude_self else positions)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(queries > 0, total / queries, np.nan)


def score(head_mean, layers, position):
    """Mean and maximum over the blocks that read the sink; (None, None) when none does. A block without softmax
    attention, whose sums are all zero, reads none."""
    attends = head_mean.any(axis=1)
    blocks = [layer + 1 for layer in layers if layer + 1 < len(attends) and attends[layer + 1]]
    if not blocks:
        return None, None
    values = head_mean[blocks, position]
    return float(values.mean()), float(values.max())


def detect(states, column_sum, mlp_norm, chat_rendered=False, parameters=Parameters()):
    """The record of one sample as a plain dictionary.

    states [L, T, C], column_sum [L, H, T] (sum over queries), mlp_norm [L, T].
    """
    norms = np.linalg.norm(states.astype(np.float64), axis=2)
    layers = norms.shape[0]
    p0 = primary_position(norms, chat_rendered)
    start, end = window(norms[:, p0])
    cosine = cosines(states, p0)
    large = norms >= parameters.min_norm_ratio * np.median(norms, axis=1, keepdims=True)
    shows = (cosine > parameters.cosine_threshold) & large
    margin = np.abs(cosine[start:end] - parameters.cosine_threshold).min(axis=0)
    head_mean = alpha(column_sum).mean(axis=1)

    def describe(position, at, name):
        mean, maximum = score(head_mean, at, position)
        return {
            "position": int(position),
            "layers": [int(layer) for layer in at],
            "level": [int(at[0]), len(at)],
            "kind": name,
            "margin": float(margin[position]),
            "score": mean,
            "score_maximum": maximum,
            "mlp_norm": float(mlp_norm[at[0], position]),
            "state_norm": float(norms[at[0], position]),
        }

    sinks = []
    for position in range(p0 + 1, norms.shape[1]):
        at = [layer for layer in range(start, end) if shows[layer, position]]
        if at:
            name = kind(at[0], len(at), start, end, layers, parameters.kind_rule)
            sinks.append(describe(position, at, name))
    return {
        "chat_rendered": chat_rendered,
        "p0": p0,
        "window": [start, end],
        "primary": describe(p0, list(range(start, end)), "primary"),
        "sinks": sinks,
        # Smallest margin of any position: a run whose cosines differ by less finds the same sinks.
        "smallest_margin": float(margin[p0 + 1 :].min()) if norms.shape[1] > p0 + 1 else None,
    }


def compensation(column_sum, record):
    """Attention on the primary sink, on the secondary sinks and on the rest, per block: [L] each."""
    head_mean = alpha(column_sum).mean(axis=1)
    secondary = [sink["position"] for sink in record["sinks"] if sink["kind"] == "secondary"]
    primary = head_mean[:, record["p0"]]
    mass = head_mean[:, secondary].sum(axis=1)
    return primary, mass, head_mean.sum(axis=1) - primary - mass
