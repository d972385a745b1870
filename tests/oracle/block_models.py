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
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tests.oracle import checkpoint_cases, decoder_models, expected, sites

FULL, LINEAR, SLIDING = decoder_models.FULL, decoder_models.LINEAR, decoder_models.SLIDING
Case = functools.partial(
    checkpoint_cases.Case, lengths=(1, 7, 64, 200), bfloat16_lengths=(200,), vocabulary=301
)
# What falcon_h1 multiplies its two mixers by, the same in all cases.
ATTENTION_OUT, MAMBA_OUT = 0.8, 1.3
BASE = {
    "falcon_h1": {**decoder_models.RMS, "mamba_d_ssm": 72, "mamba_n_heads": 6, "mamba_n_groups": 2,
                  "mamba_d_state": 20, "attention_out_multiplier": ATTENTION_OUT,
                  "ssm_out_multiplier": MAMBA_OUT},
    "gemma4_text": {**decoder_models.RMS, "head_dim": 16, "global_head_dim": 24, "num_hidden_layers": 4,
                    "layer_types": [SLIDING, FULL] * 2, "sliding_window": decoder_models.WINDOW,
                    "hidden_size_per_layer_input": 12, "vocab_size_per_layer_input": 301, "tie_word_embeddings": True},
    "nemotron_h": {**decoder_models.GROUPED, "head_dim": 16, "mamba_num_heads": 6, "mamba_head_dim": 12,
                   "n_groups": 2, "ssm_state_size": 20, "n_routed_experts": 6, "num_experts_per_tok": 2,
                   "moe_intermediate_size": 40, "moe_shared_expert_intermediate_size": 56},
}


VISION = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
          "num_key_value_heads": 2, "head_dim": 8, "position_embedding_size": 16}


def _both_mixers(_inputs, output):
    """Attention gives a tuple, Mamba2 a tensor."""
    return output[0] * ATTENTION_OUT if isinstance(output, tuple) else output * MAMBA_OUT


OF_FAMILY = {
    "falcon_h1": {"attn_out": ("self_attn+mamba", _both_mixers), "resid_mid": ("pre_ff_layernorm", sites._input),
                  "mlp_in": ("feed_forward", sites._input), "gate": ("feed_forward.gate_proj", sites._output),
                  "up": ("feed_forward.up_proj", sites._output), "act": ("feed_forward.act_fn", sites._output),
                  "product": ("feed_forward.down_proj", sites._input), "mlp_out": ("feed_forward", sites._output)},
    # Blocks whose keys serve as values have no value projection.
    "gemma4_text": {**sites.NORMS_AFTER,
                    "value": ("self_attn.v_norm", lambda inputs, _output: inputs[0].flatten(-2))},
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
    "gemma4_text": expected.Layout(added="post_feedforward_layernorm"),
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
    for name, buffer in model.named_buffers():
        if name.endswith("layer_scalar"):
            buffer.fill_(0.8)
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


def write_global_heads(folder):
    """Heads of blocks that see everything as published, where transformers 5 writes those of each block."""
    path = folder / "config.json"
    config = json.loads(path.read_text())
    (heads,) = {json.dumps(of_block) for of_block in config.pop("per_layer_config").values()}
    heads = json.loads(heads)
    config.update(global_head_dim=heads["head_dim"], num_global_key_value_heads=heads["num_key_value_heads"])
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
    Case("gemma4_sharing", "gemma4_text",
         {"num_hidden_layers": 6, "layer_types": [SLIDING, FULL, SLIDING, FULL, SLIDING, FULL],
          "num_kv_shared_layers": 2, "use_double_wide_mlp": True, "final_logit_softcapping": 3.0},
         prepare=draw, quirk="keys and values of earlier blocks, inputs from tokens, heads of two shapes"),
    Case("gemma4_keys_as_values", "gemma4_text",
         {"attention_k_eq_v": True, "num_global_key_value_heads": 1, "attention_bias": True,
          "hidden_size_per_layer_input": 0, "use_bidirectional_attention": "vision"},
         prepare=draw, stored=torch.bfloat16, edit=write_global_heads, quirk="keys as values"),
    Case("gemma4_experts", "gemma4_text",
         {"enable_moe_block": True, "num_experts": 6, "top_k_experts": 2, "moe_intermediate_size": 40,
          "rope_parameters": {FULL: {"rope_type": "proportional", "partial_rotary_factor": 0.5, "rope_theta": 500.0},
                              SLIDING: {"rope_type": "default", "rope_theta": 700.0}}},
         prepare=draw, quirk="experts beside the MLP"),
    Case("gemma4_half", "gemma4", {"num_kv_shared_layers": 2}, prepare=draw, stored=torch.bfloat16,
         quirk="a text half of gemma4_text"),
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
    if case.family == "gemma4":
        text = {**tokens, **BASE["gemma4_text"], **case.config}
        config = CONFIG_MAPPING["gemma4"](text_config=text, vision_config=VISION, audio_config=None)
        return AutoModelForImageTextToText.from_config(config, attn_implementation="eager")
    config = CONFIG_MAPPING[case.family](**{**tokens, **BASE[case.family], **case.config})
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    register()
    checkpoint_cases.write_all(CASES, parser.parse_args().out, build, [__file__])


if __name__ == "__main__":
    main()
