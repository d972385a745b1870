"""Writes a planted design (planted_design.py) into the weights of a Qwen2 checkpoint.

Everything not set here is zero. MLP units: one that makes the primary sink, one per pulse, one that
decays sinks. Attention: every head's query reads CONSTANT and its key SINK in the slowest rotary
pair; three blocks before a triggered pulse one head looks at the previous token instead.
"""

import math

import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from tests.testing import planted_design as design

HEADS = 4
KV_HEADS = 2
HEAD_SIZE = design.HIDDEN // HEADS
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


def config(vocabulary):
    return Qwen2Config(
        vocab_size=vocabulary,
        hidden_size=design.HIDDEN,
        intermediate_size=24,
        num_hidden_layers=design.BLOCKS,
        num_attention_heads=HEADS,
        num_key_value_heads=KV_HEADS,
        max_position_embeddings=POSITIONS,
        rms_norm_eps=design.EPSILON,
        rope_theta=THETA,
        tie_word_embeddings=True,
        use_sliding_window=False,
        bos_token_id=0,
        eos_token_id=1,
    )


def write_embedding(weight, variant, ids_of, bos_id):
    """CONSTANT and a text direction for every token, markers for planted words and triggers."""
    generator = torch.Generator().manual_seed(0)
    weight.zero_()
    text = torch.randn((weight.shape[0], design.HIDDEN - design.TEXT), generator=generator)
    weight[:, design.TEXT :] = text / text.norm(dim=1, keepdim=True)
    weight[:, design.CONSTANT] = 1.0
    marked = [(bos_id, design.PRIMARY_MARKER)]
    for first, words in (
        (design.MARKERS, variant.words),
        (design.TRIGGERS, variant.triggers),
    ):
        for offset, word in enumerate(words):
            marked += [(token, first + offset) for token in ids_of[word]]
    for token, channel in marked:
        weight[token, channel] = 1.0
    fixed = weight[:, : design.TEXT].square().sum(dim=1, keepdim=True)
    weight[:, design.TEXT :] *= torch.sqrt(design.REST_NORM**2 - fixed)
    # The primary sink shares CONSTANT alone with the others, so that cosines are simple.
    weight[bos_id, design.TEXT :] = 0.0
    weight[bos_id, design.PRIMARY_MARKER] = math.sqrt(design.REST_NORM**2 - 1.0)


class UnitWriter:
    """Hands out the units of one block's MLP."""

    def __init__(self, mlp):
        self._mlp, self._unit = mlp, 0

    def add(self, gate, up, out):
        """gate, up: (channel, weight); out: {channel: weight}."""
        self._mlp.gate_proj.weight[self._unit, gate[0]] = gate[1]
        self._mlp.up_proj.weight[self._unit, up[0]] = up[1]
        for channel, weight in out.items():
            self._mlp.down_proj.weight[channel, self._unit] = weight
        self._unit += 1


def write_mlp(mlp, block, variant):
    units = UnitWriter(mlp)
    if block == design.PRIMARY_BLOCK:
        strength = design.PRIMARY_STRENGTH / primary_factor()
        units.add(
            (design.PRIMARY_MARKER, design.GATE),
            (design.PRIMARY_MARKER, 1.0),
            {design.SINK: strength, design.SHADOW: variant.shadow * strength},
        )
    if block > design.PRIMARY_BLOCK:
        units.add(
            (design.SINK, design.DECAY_GATE),
            (design.SINK, 1.0),
            {design.SINK: -design.DECAY / design.decay_factor()},
        )
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


def write_attention(attention, block, variant):
    pair = HEAD_SIZE // 2 - 1  # the slowest
    text, sink = design.norm_scale(design.REST_NORM**2), design.norm_scale(1.0)
    for head, logit in enumerate(SINK_LOGITS):
        row = head * HEAD_SIZE + pair
        attention.q_proj.weight[row, design.CONSTANT] = logit * math.sqrt(HEAD_SIZE) / (text * sink)
    for head in range(KV_HEADS):
        row = head * HEAD_SIZE + pair
        attention.k_proj.weight[row, design.SINK] = 1.0
        if variant.weakest_block is not None:
            distance = abs(block - variant.weakest_block)
            depth = SHADOW_DEPTH * max(0.0, 1 - distance / (SHADOW_REACH + 1))
            attention.k_proj.weight[row, design.SHADOW] = -depth / design.SHADOW_SHARE
            if block <= design.PRIMARY_BLOCK:
                # Attended before it is a sink too, so that the dip is its weakest block.
                attention.k_proj.weight[row, design.PRIMARY_MARKER] = sink / primary_unit()
    for plant in variant.plants:
        if plant.trigger and plant.pulses[0].block - design.DECIDED_BEFORE == block:
            write_previous_token_head(attention, variant.triggers.index(plant.trigger))


def write_previous_token_head(attention, trigger):
    """q and k are constants whose rotary phases agree at distance one."""
    first_q, last_q = PREVIOUS_HEAD * HEAD_SIZE, HEADS * HEAD_SIZE
    first_k = HEAD_SIZE
    attention.q_proj.weight[first_q:last_q] = 0.0
    attention.k_proj.weight[first_k : first_k + HEAD_SIZE] = 0.0
    half = HEAD_SIZE // 2
    size = math.sqrt(PREVIOUS_LOGIT * math.sqrt(HEAD_SIZE))
    for pair in range(PREVIOUS_PAIRS):
        angle = THETA ** (-pair / half)
        attention.k_proj.bias[first_k + pair] = size
        attention.q_proj.bias[first_q + pair] = size * math.cos(angle)
        attention.q_proj.bias[first_q + pair + half] = -size * math.sin(angle)
    scale = design.norm_scale(design.REST_NORM**2)
    attention.v_proj.weight[first_k + trigger, design.TRIGGERS + trigger] = 1.0
    channel = design.PRECEDED_BY + trigger
    attention.o_proj.weight[channel, first_q + trigger] = design.PRECEDED / scale


@torch.no_grad()
def write(folder, variant, ids_of, bos_id, vocabulary):
    model = Qwen2ForCausalLM(config(vocabulary))
    for name, parameter in model.named_parameters():
        parameter.fill_(1.0 if "norm" in name else 0.0)
    write_embedding(model.model.embed_tokens.weight, variant, ids_of, bos_id)
    for block, layer in enumerate(model.model.layers):
        write_mlp(layer.mlp, block, variant)
        write_attention(layer.self_attn, block, variant)
    model.save_pretrained(folder)
