"""Samples with planted sinks, for audits: the planted design and changes of it, without a model.

    python -m tests.testing.audit_samples OUT

writes OUT/samples.json: {"blocks": .., "window": [..], "sets": {NAME: [sample, ...]}}. Every set
holds the same prompts, planted words at random places; the sets differ in what the words do:
  table      the planted checkpoint `table`
  moved      one of its levels starts two blocks later
  removed    one is gone: its word writes too little
  added      there is one more: a word that wrote too little does no longer
  weakened   one lives only as long as a weaker write lets it
Levels and norms come from the design; scores follow the norms, with noise, as the log-linear form
has it, and the primary sink's curves dip in one block.
"""

import dataclasses
import json
import math
import pathlib
import random
import sys

from tests.testing import planted_design as design

SAMPLES = 600
WEAKEST = 16


def changed(*replacement):
    """The planted checkpoint `table`, other plants in place of those of the same words."""
    by_word = {plant.word: plant for plant in replacement}
    plants = tuple(by_word.get(plant.word, plant) for plant in design.TABLE)
    return dataclasses.replace(design.VARIANTS["table"], plants=plants)


SETS = {
    "table": changed(),
    "moved": changed(design.plant("wait", 11, 12)),
    "removed": changed(design.plant("because", 12, 0)),
    "added": changed(design.plant("perhaps", 20, 6)),
    "weakened": changed(design.plant("however", 14, 7)),
}


def make_prompts(rng):
    """Each a length and the planted words in it, by position."""
    words = [plant.word for plant in design.TABLE]
    for index in range(SAMPLES):
        length = rng.randint(60, 200)
        places = sorted(rng.sample(range(1, length), rng.randint(4, 16)))
        # A text returns to its words, so that the sinks of a sample depend on each other.
        own = rng.sample(words, 6)
        yield {"id": f"prompt-{index}", "positions": length, "dip": rng.choice((-1, 0, 0, 0, 1)),
               "primary": rng.gauss(0, 1), "noise": [rng.gauss(0, 1) for _ in places],
               "words": [(place, rng.choice(own)) for place in places]}


def make_sink(position, layers, strength, noise):
    return {"position": position, "level": [layers[0], len(layers)], "layers": layers,
            "kind": design.kind(layers), "mlp_norm": strength,
            "score": 0.02 + 0.01 * math.log(strength) + 0.002 * noise}


def make_sample(prompt, does):
    sinks = []
    for (position, word), noise in zip(prompt["words"], prompt["noise"]):
        layers, strength = does.get(word, ([], 0))
        if layers:
            sinks.append(make_sink(position, layers, strength, noise))
    return {"id": prompt["id"], "positions": prompt["positions"], "sinks": sinks,
            "primary_score": 0.5 + 0.02 * prompt["primary"],
            "primary_norm": design.PRIMARY_STRENGTH * (1 + 0.01 * prompt["primary"]),
            "weakest": WEAKEST + prompt["dip"]}


def make_set(variant, prompts):
    does = {p.word: (variant.layers_of(p), p.pulses[0].strength) for p in variant.plants}
    return [make_sample(prompt, does) for prompt in prompts]


def make_sets():
    prompts = list(make_prompts(random.Random(7)))
    return {name: make_set(variant, prompts) for name, variant in SETS.items()}


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    content = {"blocks": design.BLOCKS, "window": list(design.WINDOW), "sets": make_sets()}
    (out / "samples.json").write_text(json.dumps(content))
    for name, samples in content["sets"].items():
        kinds = [sink["kind"] for sample in samples for sink in sample["sinks"]]
        print(f"{name}: {len(samples)} samples, {kinds.count('secondary')} secondary sinks")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
