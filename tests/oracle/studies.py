"""The studies of formation, written from the definitions on top of transformers.

What a study draws (targets, controls) is given to these functions as `Place`s; all else they
compute. Order of the arguments: the runs first, what is chosen after.
"""

import collections
import dataclasses

import numpy as np

from tests.oracle import edited_model, estimates
from tests.oracle.edited_model import Edit

ALIGN_SITES = ("mlp_in", "gate", "up", "act", "product", "mlp_out")


@dataclasses.dataclass(frozen=True)
class Place:
    """A target or control: the sample, the position, and l_start of it or its target."""

    sample: int
    position: int
    l_start: int


class Runs:
    """Untouched passes over all samples, and the sinks found in them."""

    def __init__(self, reference, samples, parameters):
        self.reference, self.samples, self.parameters = reference, samples, parameters
        self.passes = [reference.run(sample) for sample in samples]
        self.records = [
            each.detect(sample.chat_rendered, parameters)
            for each, sample in zip(self.passes, samples, strict=True)
        ]

    @property
    def smallest_margin(self):
        return min(record["smallest_margin"] for record in self.records)

    def primary(self, sample):
        return self.records[sample]["p0"]

    def sinks(self, kinds=("primary", "secondary", "noise")):
        """[(sample, sink of its record)]"""
        return [(index, sink) for index, record in enumerate(self.records)
                for sink in record["sinks"] if sink["kind"] in kinds]

    def never(self, sample, first=None):
        """Positions from `first` (default: past the primary sink) that never are a sink."""
        record = self.records[sample]
        first = record["p0"] + 1 if first is None else first
        out = {sink["position"] for sink in record["sinks"]} | {record["p0"]}
        return [t for t in range(first, len(self.samples[sample].ids)) if t not in out]

    def life(self, sample, run=None):
        run = run or self.passes[sample]
        return edited_model.life(run, self.records[sample], self.parameters)


def most_frequent_start(sinks):
    """The lowest of equally frequent ones."""
    counts = collections.Counter(sink["level"][0] for _, sink in sinks)
    return min(counts, key=lambda start: (-counts[start], start))


def points_somewhere(row):
    """Its squares do not vanish in float32, which norms are taken in; else it counts as zero."""
    return np.square(row.astype(np.float32)).sum() > 0


def cosine(a, b):
    if not (points_somewhere(a) and points_somewhere(b)):
        return 0.0
    return float(a @ b / (np.linalg.norm(a) * np.linalg.norm(b)))


def align_sites(runs):
    return [site for site in ALIGN_SITES
            if all(runs.reference.has_site(b, site) for b in range(runs.reference.blocks))]


def align(runs, place, site):
    """The cosine of one position with the primary sink's."""
    rows = runs.passes[place.sample].site(site, place.l_start)
    return cosine(rows[place.position], rows[runs.primary(place.sample)])


def rows_at(runs, places, site, block):
    """[places, width]"""
    return np.stack([runs.passes[p.sample].site(site, block)[p.position] for p in places])


@dataclasses.dataclass
class Components:
    mean_norm: float  # of the targets
    singular_values: np.ndarray
    explained: np.ndarray
    directions: np.ndarray  # [k, C]


def components(runs, targets, controls, block):
    rows = rows_at(runs, [*targets, *controls], "mlp_in", block)
    _, values, directions = np.linalg.svd(rows - rows.mean(axis=0), full_matrices=False)
    mean_norm = np.linalg.norm(rows[: len(targets)], axis=1).mean()
    return Components(float(mean_norm), values, values**2 / (values**2).sum(), directions)


def try_direction(runs, block, direction, length, samples):
    """(norm of the MLP's output, its cosine with the primary sink's, averaged over `samples`)."""
    output = runs.reference.mlp_alone(block, (direction * length)[None])[0]
    cosines = [cosine(output, runs.passes[s].site("mlp_out", block)[runs.primary(s)])
               for s in samples]
    return float(np.linalg.norm(output)), float(np.mean(cosines))


@dataclasses.dataclass
class Outcomes:
    """What an intervention did to some sinks, one entry per sink."""

    suppressed: list = dataclasses.field(default_factory=list)
    cosine_change: list = dataclasses.field(default_factory=list)
    norm_change: list = dataclasses.field(default_factory=list)
    lifetime_change: list = dataclasses.field(default_factory=list)

    def add(self, before, after, position, l_start):
        self.suppressed.append(not after.shows[l_start, position])
        at = l_start, position
        self.cosine_change.append(after.cosine[at] - before.cosine[at])
        self.norm_change.append(after.norm[at] - before.norm[at])
        self.lifetime_change.append(int(after.lifetime[position] - before.lifetime[position]))

    def estimates(self):
        return {
            "suppressed": estimates.share(self.suppressed),
            "cosine_change": estimates.mean(self.cosine_change),
            "norm_change": estimates.mean(self.norm_change),
            "lifetime_change": estimates.mean(self.lifetime_change),
        }


@dataclasses.dataclass
class Swap:
    """One block and site over all samples; the outcomes are of targets and of all other sinks."""

    targets: Outcomes = dataclasses.field(default_factory=Outcomes)
    untouched: Outcomes = dataclasses.field(default_factory=Outcomes)
    loss_changes: list = dataclasses.field(default_factory=list)


def swap(runs, targets, mean_over, block, site, swapped=None):
    """At each sample's target positions (or those in `swapped`: {sample: positions}) the mean over
    the positions `mean_over` names ({sample: positions}) replaces the site."""
    result = Swap()
    for index, sample in enumerate(runs.samples):
        watched = {t.position: t.l_start for t in targets if t.sample == index}
        if not watched or not mean_over.get(index):
            continue
        base = runs.passes[index]
        vector = base.site(site, block)[list(mean_over[index])].mean(axis=0)
        positions = swapped[index] if swapped else list(watched)
        change = edited_model.replace(positions, vector)
        run = runs.reference.run(sample, [Edit(block, site, change)])
        before, after = runs.life(index), runs.life(index, run)
        for sink in runs.records[index]["sinks"]:
            group = result.targets if sink["position"] in watched else result.untouched
            group.add(before, after, sink["position"], sink["level"][0])
        result.loss_changes.append(run.loss - base.loss)
    return result


def steered_positions(runs, block, threshold):
    """{sample: positions past the primary sink whose mlp_out points as its does}"""
    found = {}
    for index, each in enumerate(runs.passes):
        rows, p0 = each.site("mlp_out", block), runs.primary(index)
        positions = [t for t in range(p0 + 1, len(rows)) if cosine(rows[t], rows[p0]) > threshold]
        if positions:
            found[index] = positions
    return found


def smallest_steer_margin(runs, block, threshold):
    """How near any position comes to being steered or not."""
    return min(
        abs(cosine(row, rows[runs.primary(index)]) - threshold)
        for index, each in enumerate(runs.passes)
        for rows in [each.site("mlp_out", block)]
        for row in rows[runs.primary(index) + 1 :]
    )


@dataclasses.dataclass
class Steer:
    mlp_norms: list = dataclasses.field(default_factory=list)
    lifetimes: list = dataclasses.field(default_factory=list)
    scores: list = dataclasses.field(default_factory=list)  # of those that are sinks and are read
    untouched_changes: list = dataclasses.field(default_factory=list)
    loss_changes: list = dataclasses.field(default_factory=list)


def steer(runs, steered, block, tau, clip=False):
    """`tau` None leaves everything as it is."""
    result = Steer()
    for index, positions in steered.items():
        edits = []
        if tau is not None:
            edits = [Edit(block, "mlp_out", edited_model.set_norm(positions, tau, clip))]
        base, run = runs.passes[index], runs.reference.run(runs.samples[index], edits)
        before, after = runs.life(index), runs.life(index, run)
        norms = np.linalg.norm(run.site("mlp_out", block), axis=1)
        for position in positions:
            result.mlp_norms.append(norms[position])
            result.lifetimes.append(int(after.lifetime[position]))
            result.scores.append(score(run, after, position))
        for sink in runs.records[index]["sinks"]:
            if sink["position"] not in positions:
                at = sink["position"]
                result.untouched_changes.append(int(after.lifetime[at] - before.lifetime[at]))
        result.loss_changes.append(run.loss - base.loss)
    return result


def score(run, life, position):
    """Mean alpha over the blocks that read the sink; None when it is none or nobody does."""
    layers = np.flatnonzero(life.shows[:, position])
    blocks = [layer + 1 for layer in layers if layer + 1 < len(run.states)]
    return float(run.head_mean[blocks, position].mean()) if blocks else None


def matrix_entropy(rows, alpha=1.0):
    """(entropy in nats, the same over ln(min(rows, width))); None where undefined."""
    if len(rows) == 0 or not np.any(rows):
        return None, None
    rows = rows.astype(np.float64)
    values = np.linalg.svd(rows, compute_uv=False) ** 2
    shares = values / values.sum()
    shares = shares[shares > 0]
    if alpha == 1:
        entropy = float(-(shares * np.log(shares)).sum())
    else:
        entropy = float(np.log((shares**alpha).sum()) / (1 - alpha))
    most = np.log(min(rows.shape))
    return entropy, entropy / most if most > 0 else None


def norms_of(runs, places, what, block):
    """Of key, value or state at [(sample, position)]."""
    site = {"key": "key", "value": "value", "state": "resid_post"}[what]
    return [float(np.linalg.norm(runs.passes[s].site(site, block)[t])) for s, t in places]


def largest_entries(states, top):
    """[(position, channel, value)] of one block's states, by |value|."""
    order = np.argsort(-np.abs(states), axis=None, kind="stable")[:top]
    return [(int(i // states.shape[1]), int(i % states.shape[1]), float(states.flat[i]))
            for i in order]
