"""Writes a planted design (planted_design.py) into the weights of a Qwen2 checkpoint.

Everything not set here is zero. MLP units: one that makes the primary sink, one per pulse, one that
decays sinks, or feeds them in the growing blocks, a few that answer to the spare channels.
Attention: every head's query reads CONSTANT and its key SINK in the slowest rotary pair; three
blocks before a triggered pulse one head looks at the previous token instead.
"""

import collections
import json
import math
import random

from tests.testing import planted_design as design
from tests.testing import tensor_file
from tests.testing.tensor_file import Tensor

HEADS = 4
KV_HEADS = 2
HEAD_SIZE = design.HIDDEN // HEADS
UNITS = 24  # of each MLP
THETA = 1_000_000.0
POSITIONS = 4096
# Logit of a text token on a full-grown sink, by head.
SINK_LOGITS = (7.0, 6.3, 5.6, 5.0)
PREVIOUS_HEAD = 2  # reads KV head 1; head 3 shares its keys and is left uniform there
PREVIOUS_LOGIT = 60.0  # per rotary pair
PREVIOUS_PAIRS = 4
# How much of the primary's key the shadow hides at the weakest block, and over how many beside it.
SHADOW_DEPTH = 0.75
SHADOW_REACH = 3
NOISE = 20.0  # what MLPs write for inputs that no token gives, over the square of the input


def config(vocabulary):
    return {
        "architectures": ["Qwen2ForCausalLM"],
        "model_type": "qwen2",
        "dtype": "float32",
        "vocab_size": vocabulary,
        "hidden_size": design.HIDDEN,
        "intermediate_size": UNITS,
        "num_hidden_layers": design.BLOCKS,
        "num_attention_heads": HEADS,
        "num_key_value_heads": KV_HEADS,
        "hidden_act": "silu",
        "max_position_embeddings": POSITIONS,
        "rms_norm_eps": design.EPSILON,
        "rope_theta": THETA,
        "rope_scaling": None,
        "tie_word_embeddings": True,
        "use_sliding_window": False,
        "bos_token_id": 0,
        "eos_token_id": 1,
    }


def block_tensors():
    """One block's tensors: norms are 1, everything else 0."""
    hidden, queries, keys = design.HIDDEN, HEADS * HEAD_SIZE, KV_HEADS * HEAD_SIZE
    tensors = {
        "input_layernorm.weight": Tensor(hidden),
        "mlp.down_proj.weight": Tensor(hidden, UNITS),
        "mlp.gate_proj.weight": Tensor(UNITS, hidden),
        "mlp.up_proj.weight": Tensor(UNITS, hidden),
        "post_attention_layernorm.weight": Tensor(hidden),
        "self_attn.k_proj.bias": Tensor(keys),
        "self_attn.k_proj.weight": Tensor(keys, hidden),
        "self_attn.o_proj.weight": Tensor(hidden, queries),
        "self_attn.q_proj.bias": Tensor(queries),
        "self_attn.q_proj.weight": Tensor(queries, hidden),
        "self_attn.v_proj.bias": Tensor(keys),
        "self_attn.v_proj.weight": Tensor(keys, hidden),
    }
    for name, tensor in tensors.items():
        if "norm" in name:
            tensor.fill(1.0)
    return tensors


def marked_channels(variant, ids_of):
    """{token id: channels} of planted words and triggers."""
    channels = collections.defaultdict(set)
    for first, words in (
        (design.MARKERS, variant.words),
        (design.TRIGGERS, variant.triggers),
    ):
        for offset, word in enumerate(words):
            for token in ids_of[word]:
                channels[token].add(first + offset)
    return channels


def write_embedding(embedding, variant, ids_of, bos_id):
    """CONSTANT and a text direction for every token, markers for planted words and triggers."""
    generator = random.Random(0)
    marked = marked_channels(variant, ids_of)
    for token in range(embedding.shape[0]):
        text = [generator.gauss(0.0, 1.0) for _ in range(design.TEXT, design.HIDDEN)]
        if token == bos_id:
            continue
        fixed = {design.CONSTANT} | marked[token]
        for channel in fixed:
            embedding[token, channel] = 1.0
        scale = math.sqrt(design.REST_NORM**2 - len(fixed)) / math.hypot(*text)
        for channel, value in enumerate(text, start=design.TEXT):
            embedding[token, channel] = scale * value
    # The primary sink shares CONSTANT alone with the others, so that cosines are simple.
    embedding[bos_id, design.CONSTANT] = 1.0
    embedding[bos_id, design.PRIMARY_MARKER] = math.sqrt(design.REST_NORM**2 - 1.0)


class UnitWriter:
    """Hands out the units of one block's MLP."""

    def __init__(self, block_tensors):
        self._gate = block_tensors["mlp.gate_proj.weight"]
        self._up = block_tensors["mlp.up_proj.weight"]
        self._down = block_tensors["mlp.down_proj.weight"]
        self._unit = 0

    def add(self, gate, up, out):
        """gate, up: (channel, weight); out: {channel: weight}."""
        self._gate[self._unit, gate[0]] = gate[1]
        self._up[self._unit, up[0]] = up[1]
        for channel, weight in out.items():
            self._down[channel, self._unit] = weight
        self._unit += 1


def write_mlp(tensors, block, variant):
    units = UnitWriter(tensors)
    if block == design.PRIMARY_BLOCK:
        strength = design.PRIMARY_STRENGTH / primary_factor()
        units.add(
            (design.PRIMARY_MARKER, design.GATE),
            (design.PRIMARY_MARKER, 1.0),
            {design.SINK: strength, design.SHADOW: variant.shadow * strength},
        )
    if block > design.PRIMARY_BLOCK:
        change = design.DECAY / design.decay_factor()
        units.add(
            (design.SINK, design.DECAY_GATE),
            (design.SINK, 1.0),
            {design.SINK: (change if block in variant.growing else -change)},
        )
    for offset, channel in enumerate(variant.spare):
        # Silent for every token; a direction that means nothing gives an output that does not.
        for sign in (1.0, -1.0):
            units.add((channel, sign * design.GATE), (channel, 1.0), {design.TEXT + offset: NOISE})
    for plant in variant.plants:
        marker = design.MARKERS + variant.words.index(plant.word)
        gate = marker
        if plant.trigger:
            gate = design.PRECEDED_BY + variant.triggers.index(plant.trigger)
        for pulse in plant.pulses:
            if pulse.block == block:
                strength = pulse.strength / design.pulse_factor(plant.trigger is not None)
                units.add((gate, design.GATE), (marker, 1.0), {design.SINK: strength})


def primary_unit():
    """The first token's marker after the norm, before it is a sink."""
    return math.sqrt(design.REST_NORM**2 - 1.0) * design.norm_scale(design.REST_NORM**2)


def primary_factor():
    marker = primary_unit()
    return design.silu(design.GATE * marker) * marker


def write_attention(tensors, block, variant):
    queries, keys = tensors["self_attn.q_proj.weight"], tensors["self_attn.k_proj.weight"]
    pair = HEAD_SIZE // 2 - 1  # the slowest
    text, sink = design.norm_scale(design.REST_NORM**2), design.norm_scale(1.0)
    for head, logit in enumerate(SINK_LOGITS):
        row = head * HEAD_SIZE + pair
        queries[row, design.CONSTANT] = logit * math.sqrt(HEAD_SIZE) / (text * sink)
    for head in range(KV_HEADS):
        row = head * HEAD_SIZE + pair
        keys[row, design.SINK] = 1.0
        if variant.weakest_block is not None:
            distance = abs(block - variant.weakest_block)
            depth = SHADOW_DEPTH * max(0.0, 1 - distance / (SHADOW_REACH + 1))
            keys[row, design.SHADOW] = -depth / design.SHADOW_SHARE
            if block <= design.PRIMARY_BLOCK:
                # Attended before it is a sink too, so that the dip is its weakest block.
                keys[row, design.PRIMARY_MARKER] = sink / primary_unit()
    for plant in variant.plants:
        if plant.trigger and plant.pulses[0].block - design.DECIDED_BEFORE == block:
            write_previous_token_head(tensors, variant.triggers.index(plant.trigger))


def write_previous_token_head(tensors, trigger):
    """q and k are constants whose rotary phases agree at distance one."""
    first_q, last_q = PREVIOUS_HEAD * HEAD_SIZE, HEADS * HEAD_SIZE
    first_k = HEAD_SIZE
    tensors["self_attn.q_proj.weight"].clear_rows(first_q, last_q)
    tensors["self_attn.k_proj.weight"].clear_rows(first_k, first_k + HEAD_SIZE)
    query, key = tensors["self_attn.q_proj.bias"], tensors["self_attn.k_proj.bias"]
    half = HEAD_SIZE // 2
    size = math.sqrt(PREVIOUS_LOGIT * math.sqrt(HEAD_SIZE))
    for pair in range(PREVIOUS_PAIRS):
        angle = THETA ** (-pair / half)
        key[first_k + pair] = size
        query[first_q + pair] = size * math.cos(angle)
        query[first_q + pair + half] = -size * math.sin(angle)
    scale = design.norm_scale(design.REST_NORM**2)
    tensors["self_attn.v_proj.weight"][first_k + trigger, design.TRIGGERS + trigger] = 1.0
    channel = design.PRECEDED_BY + trigger
    tensors["self_attn.o_proj.weight"][channel, first_q + trigger] = design.PRECEDED / scale


def write(folder, variant, ids_of, bos_id, vocabulary):
    """config.json and model.safetensors."""
    embedding, norm = Tensor(vocabulary, design.HIDDEN), Tensor(design.HIDDEN)
    write_embedding(embedding, variant, ids_of, bos_id)
    norm.fill(1.0)
    tensors = {"model.embed_tokens.weight": embedding}
    for block in range(design.BLOCKS):
        own = block_tensors()
        write_mlp(own, block, variant)
        write_attention(own, block, variant)
        tensors |= {f"model.layers.{block}.{name}": tensor for name, tensor in own.items()}
    tensors["model.norm.weight"] = norm
    tensor_file.write(folder / "model.safetensors", tensors)
    (folder / "config.json").write_text(json.dumps(config(vocabulary), indent=2) + "\n")
