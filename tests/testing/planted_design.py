"""The arithmetic behind the planted checkpoints: what their hand-written weights must do.

One token's state is a handful of scalars, so its whole life is a short recurrence in double
precision. It shares nothing with a forward pass; the transformers oracle then has to agree.

Channels of the residual stream (C = 64): SINK is the direction that sinks share; CONSTANT is 1 for
every token; SHADOW marks a primary sink whose attention weakens; one marker per planted word, one
per trigger word, one "was preceded by the trigger" per trigger; the rest is text.
"""

import dataclasses
import math

BLOCKS = 30
HIDDEN = 64
EPSILON = 1e-6
REST_NORM = 2.0  # norm of every embedding
PRIMARY_BLOCK = 4
PRIMARY_STRENGTH = 2000.0
SHADOW_SHARE = 0.1  # of the primary's strength, in the weakening variant
DECAY = 4.0  # what every block after the primary's takes from a sink
GATE = 4.0  # weight of gates on markers
DECAY_GATE = 2.0
PRECEDED = 1.0  # what the previous-token head writes after a trigger
DECIDED_BEFORE = 3  # blocks between that head and the sink
THRESHOLD = 0.9

SINK, CONSTANT, SHADOW, PRIMARY_MARKER = range(4)
MARKERS = 4  # first of them
MOST_WORDS = 18
TRIGGERS = MARKERS + MOST_WORDS
MOST_TRIGGERS = 4
MOST_SPARE = 4
PRECEDED_BY = TRIGGERS + MOST_TRIGGERS
TEXT = PRECEDED_BY + MOST_TRIGGERS

WINDOW = (PRIMARY_BLOCK, BLOCKS - 1)  # the final norm is the steepest fall


@dataclasses.dataclass(frozen=True)
class Pulse:
    """A write to SINK in one block: `strength` when the token is no sink yet."""

    block: int
    strength: float


@dataclasses.dataclass(frozen=True)
class Plant:
    """A word that becomes a sink; with `trigger`, only right after that word."""

    word: str
    pulses: tuple
    trigger: str | None = None


def silu(value):
    return value / (1.0 + math.exp(-value)) if value > -700 else 0.0


def norm_scale(squared_norm):
    """The factor of the RMS norm for a state of this squared norm."""
    return 1.0 / math.sqrt(squared_norm / HIDDEN + EPSILON)


def rest_squared(preceded):
    """Squared norm of a planted token's state without SINK, when its pulse comes."""
    return REST_NORM**2 + (PRECEDED**2 if preceded else 0.0)


def pulse_factor(preceded):
    """What the unit's gate and up multiply to for a token that is no sink yet."""
    scale = norm_scale(rest_squared(preceded))
    return silu(GATE * scale) * scale


def decay_factor():
    scale = norm_scale(1.0)
    return silu(DECAY_GATE * scale) * scale


def sink_values(pulses, preceded=False, growing=(), steered=None):
    """SINK of a planted token after each block; in `growing` blocks a sink gains what the others
    take. `steered`: (block, the size that what the MLP writes there is given)."""
    value, values = 0.0, []
    for block in range(BLOCKS):
        scale = norm_scale(value**2 + rest_squared(preceded))
        step = 0.0
        for pulse in pulses:
            if pulse.block == block:
                step += pulse.strength * silu(GATE * scale) * scale / pulse_factor(preceded)
        if block > PRIMARY_BLOCK:
            unit = scale * value
            change = DECAY * silu(DECAY_GATE * unit) * unit / decay_factor()
            step += change if block in growing else -change
        if steered and steered[0] == block and step != 0:
            step = math.copysign(steered[1], step)
        value += step
        values.append(value)
    return values


def primary_values(growing=()):
    return sink_values((Pulse(PRIMARY_BLOCK, PRIMARY_STRENGTH),), growing=growing)


def cosine(value, primary, preceded, shadow):
    """cos of a planted token's state and the primary sink's; beside SINK they share CONSTANT."""
    own = math.sqrt(value**2 + rest_squared(preceded))
    other = math.sqrt(primary**2 + REST_NORM**2 + (shadow * PRIMARY_STRENGTH) ** 2)
    return (value * primary + 1.0) / (own * other)


def sink_layers(pulses, preceded=False, shadow=0.0, growing=(), steered=None):
    """The layers of the window at which the token shows as a sink; the primary is not steered."""
    values, primary = sink_values(pulses, preceded, growing, steered), primary_values(growing)
    return [
        layer
        for layer in range(*WINDOW)
        if abs(cosine(values[layer], primary[layer], preceded, shadow)) > THRESHOLD
    ]


def smallest_strength(block, lifetime, preceded=False, growing=()):
    """The least strength at `block` that lives at least `lifetime` layers, by bisection."""
    low, high = 0.0, 400.0
    for _ in range(60):
        middle = (low + high) / 2
        if len(sink_layers((Pulse(block, middle),), preceded, growing=growing)) >= lifetime:
            high = middle
        else:
            low = middle
    return high


def strength_for(block, lifetime, preceded=False, growing=()):
    """A strength in the middle of those that give exactly `lifetime`; 0 means just too weak."""
    if lifetime == 0:
        return 0.6 * smallest_strength(block, 1, preceded, growing)
    low = smallest_strength(block, lifetime, preceded, growing)
    if block + lifetime >= WINDOW[1]:
        return low + 3 * DECAY
    return (low + smallest_strength(block, lifetime + 1, preceded, growing)) / 2


def plant(word, block, lifetime, trigger=None, growing=()):
    pulse = Pulse(block, strength_for(block, lifetime, trigger is not None, growing))
    return Plant(word, (pulse,), trigger)


def kind(layers):
    """The window rule, for this window of 25 layers."""
    if layers[0] <= WINDOW[0] + 1 and len(layers) >= 17:
        return "primary"
    return "noise" if len(layers) <= 4 else "secondary"


@dataclasses.dataclass(frozen=True)
class Variant:
    name: str
    plants: tuple
    weakest_block: int | None = None  # where the primary's attention dips most
    growing: tuple = ()  # blocks whose MLP writes along the primary sink, not against it

    @property
    def words(self):
        """Planted words, each once, in the order of their markers."""
        return tuple(dict.fromkeys(each.word for each in self.plants))

    @property
    def triggers(self):
        return tuple(dict.fromkeys(each.trigger for each in self.plants if each.trigger))

    @property
    def spare(self):
        """Some channels in which no token has anything."""
        return tuple(range(MARKERS + len(self.words), TRIGGERS))[:MOST_SPARE]

    @property
    def shadow(self):
        return 0.0 if self.weakest_block is None else SHADOW_SHARE

    def layers_of(self, plant, steered=None):
        """The layers at which the plant shows."""
        preceded = plant.trigger is not None
        return sink_layers(plant.pulses, preceded, self.shadow, self.growing, steered)


def twice(word, first, first_lifetime, second, strength):
    """A word whose sink fades and comes back."""
    return Plant(word, (Pulse(first, strength_for(first, first_lifetime)), Pulse(second, strength)))


TABLE = (
    plant("indeed", 4, 16),  # starts with the primary and just misses its length
    plant("first", 5, 17),  # just makes it
    plant("given", 5, 22),
    plant("suppose", 6, 18),  # long, but starts too late to be primary
    plant("actually", 7, 12),
    plant("wait", 9, 20),  # to the end of the window
    plant("therefore", 9, 5),  # the shortest that is no noise
    plant("hmm", 10, 4),  # the longest noise
    plant("perhaps", 10, 0),  # too weak
    plant("alternatively", 12, 10),
    plant("because", 12, 6),
    plant("however", 14, 15),
    plant("maybe", 15, 3),
    plant("hence", 16, 8),
    plant("finally", 18, 11),
    plant("thus", 22, 5),
    twice("again", 8, 3, 16, 36.0),
)

# Where its sinks start: there the MLP writes for them along what it writes for the primary.
CONTEXT_STARTS = (10, 12, 14, 15, 17)


def context_plant(word, block, lifetime, trigger=None):
    return plant(word, block, lifetime, trigger, CONTEXT_STARTS)


VARIANTS = {
    "table": Variant("table", TABLE),
    "context": Variant(
        "context",
        (
            context_plant("wait", 12, 9, trigger="no"),
            context_plant("wait", 17, 6, trigger="but"),
            context_plant("then", 10, 14, trigger="and"),
            context_plant("however", 14, 15),
            context_plant("maybe", 15, 3),
        ),
        growing=CONTEXT_STARTS,
    ),
    "weakening": Variant(
        "weakening",
        (
            plant("wait", 12, 10),
            plant("therefore", 13, 7),
            plant("because", 14, 6),
            plant("however", 14, 15),
            plant("suppose", 8, 16),
            plant("hence", 20, 5),
            plant("maybe", 15, 3),
        ),
        weakest_block=16,
    ),
}
