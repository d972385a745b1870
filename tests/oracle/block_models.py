"""Tiny random checkpoints of the families whose blocks are not attention followed by an MLP.

    PYTHONPATH=.venv/transformers-5 python -m tests.oracle.block_models OUT

writes what decoder_models.py does. The layouts of these families are here and not in expected.py and
sites.py, so that a new one makes no other oracle out of date.
"""

import argparse
import functools
import json
import pathlib

import torch
from transformers import AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tests.oracle import checkpoint_cases, decoder_models, expected, sites

FULL, LINEAR = decoder_models.FULL, decoder_models.LINEAR
Case = functools.partial(
    checkpoint_cases.Case, lengths=(1, 7, 64, 200), bfloat16_lengths=(200,), vocabulary=301
)
# What falcon_h1 multiplies its two mixers by, the same in all cases.
ATTENTION_OUT, MAMBA_OUT = 0.8, 1.3
BASE = {
    "falcon_h1": {**decoder_models.RMS, "mamba_d_ssm": 72, "mamba_n_heads": 6, "mamba_n_groups": 2,
                  "mamba_d_state": 20, "attention_out_multiplier": ATTENTION_OUT,
                  "ssm_out_multiplier": MAMBA_OUT},
    "nemotron_h": {**decoder_models.GROUPED, "head_dim": 16, "mamba_num_heads": 6, "mamba_head_dim": 12,
                   "n_groups": 2, "ssm_state_size": 20, "n_routed_experts": 6, "num_experts_per_tok": 2,
                   "moe_intermediate_size": 40, "moe_shared_expert_intermediate_size": 56},
}


def _both_mixers(_inputs, output):
    """Attention gives a tuple, Mamba2 a tensor."""
    return output[0] * ATTENTION_OUT if isinstance(output, tuple) else output * MAMBA_OUT


OF_FAMILY = {
    "falcon_h1": {"attn_out": ("self_attn+mamba", _both_mixers), "resid_mid": ("pre_ff_layernorm", sites._input),
                  "mlp_in": ("feed_forward", sites._input), "gate": ("feed_forward.gate_proj", sites._output),
                  "up": ("feed_forward.up_proj", sites._output), "act": ("feed_forward.act_fn", sites._output),
                  "product": ("feed_forward.down_proj", sites._input), "mlp_out": ("feed_forward", sites._output)},
    # Each block has one of these parts; that of experts gives what they and the shared one add.
    "nemotron_h": {"key": ("mixer.k_proj", sites._output), "value": ("mixer.v_proj", sites._output),
                   "attn_out": ("mixer.o_proj+mixer.out_proj", sites._output), "resid_mid": None,
                   "mlp_in": ("mixer.up_proj+mixer.gate", sites._input), "gate": None,
                   "up": ("mixer.up_proj", sites._output), "act": ("mixer.act_fn", sites._output),
                   "product": ("mixer.down_proj", sites._input),
                   "mlp_out": ("mixer.down_proj+mixer.shared_experts+mixer.fc2_latent_proj", sites._output)},
}
LAYOUTS = {
    "falcon_h1": expected.Layout(added="feed_forward", final_norm="final_layernorm"),
    "nemotron_h": expected.Layout(final_norm="norm_f"),
}


class Nothing:
    """The MLP of a block without one: it adds zeros."""

    def __init__(self, layer):
        self.layer = layer

    def register_forward_hook(self, hook):
        return self.layer.register_forward_hook(
            lambda module, inputs, output: hook(module, inputs, torch.zeros_like(output))
        )


def name_parts(model):
    """Nemotron-H calls the one part of each block its mixer; `expected` asks for attention and MLP."""
    for layer in model.base_model.layers:
        attends, mlp = layer.block_type == FULL, layer.block_type in ("mlp", "moe")
        # Past torch, which would take them for further modules.
        object.__setattr__(layer, "self_attn", layer.mixer if attends else None)
        object.__setattr__(layer, "mlp", layer.mixer if mlp else Nothing(layer))


def correct(model, before=expected.correct):
    before(model)
    if model.config.model_type == "nemotron_h":
        name_parts(model)


def register():
    expected.LAYOUTS.update(LAYOUTS)
    sites.OF_FAMILY.update(OF_FAMILY)
    expected.correct = correct


@torch.no_grad()
def draw(model):
    """Decays and corrections, and norms and experts that count."""
    decoder_models.draw_decays(model)
    decoder_models.draw_corrections(model)
    for name, parameter in model.named_parameters():
        if model.config.model_type != "nemotron_h":
            continue
        if name.endswith(("norm.weight", "norm_f.weight")):
            parameter.add_(1)
        elif ".experts." in name:
            parameter.mul_(5)


def write_as_published(folder):
    """Blocks by a pattern of letters, and their number."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    letters = {"linear_attention": "M", "moe": "E", "full_attention": "*", "mlp": "-"}
    types = config.pop("layers_block_type")
    config.update(hybrid_override_pattern="".join(letters[name] for name in types), num_hidden_layers=len(types))
    path.write_text(json.dumps(config, indent=1) + "\n")


CASES = (
    Case("falcon_h1_multipliers", "falcon_h1",
         {"mamba_rms_norm": True, "key_multiplier": 0.6, "attention_in_multiplier": 1.4, "mlp_multipliers": [1.5, 0.7],
          "ssm_in_multiplier": 1.25, "ssm_multipliers": [0.6, 1.3, 0.7, 1.6, 0.8], "embedding_multiplier": 3.0,
          "lm_head_multiplier": 0.5}, prepare=draw, quirk="Mamba2 beside attention, multipliers of every part"),
    Case("falcon_h1_gate_first", "falcon_h1",
         {"mamba_rms_norm": True, "mamba_norm_before_gate": False, "attention_bias": True, "mlp_bias": True,
          "mamba_proj_bias": True, "mamba_chunk_size": 48, "time_step_limit": [0.2, 1.0]},
         prepare=draw, stored=torch.bfloat16, quirk="gate before norm, biases, limited steps"),
    Case("falcon_h1_no_norm", "falcon_h1", {"projectors_bias": True, "head_dim": 16, "attention_in_multiplier": 0.7},
         prepare=draw, quirk="Mamba2 without norm"),
    Case("nemotron_h_latents", "nemotron_h",
         {"layers_block_type": [LINEAR, "moe", FULL, "mlp"], "moe_latent_size": 24, "routed_scaling_factor": 1.7,
          "n_group": 3, "topk_group": 2}, prepare=draw, quirk="one part a block, experts of a narrower stream"),
    Case("nemotron_h_pattern", "nemotron_h",
         {"layers_block_type": [LINEAR, "moe", LINEAR, "mlp", FULL], "use_bias": True, "mlp_bias": True,
          "time_step_min": 0.2, "norm_topk_prob": False},
         prepare=draw, stored=torch.bfloat16, edit=write_as_published, quirk="biases, least steps, as published"),
)


def build(case):
    tokens = {
        "vocab_size": case.vocabulary,
        "bos_token_id": checkpoint_cases.FIRST_TOKEN,
        "eos_token_id": 2,
        "pad_token_id": None,
    }
    config = CONFIG_MAPPING[case.family](**{**tokens, **BASE[case.family], **case.config})
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    register()
    checkpoint_cases.write_all(CASES, parser.parse_args().out, build, [__file__])


if __name__ == "__main__":
    main()
