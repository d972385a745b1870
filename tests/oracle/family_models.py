"""Tiny random checkpoints of the other families, of rotary scalings and of file forms.

    python -m tests.oracle.family_models OUT

writes OUT/<case>/ (config.json, safetensors), OUT/<case>.expected/ (see expected.py) and
OUT/cases.json.
"""

import argparse
import functools
import pathlib

import torch
from transformers import CONFIG_MAPPING, AutoModelForCausalLM

from tests.oracle import checkpoint_cases, checkpoint_edits
from tests.oracle.checkpoint_edits import in_turn

WINDOW = 24
ORIGINAL = 32  # positions before long-context scaling
Case = functools.partial(
    checkpoint_cases.Case, lengths=(1, 7, 64, 200), bfloat16_lengths=(200,), vocabulary=301
)

COMMON = {
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 4,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "max_position_embeddings": 4096,
    "rms_norm_eps": 1e-5,
    "tie_word_embeddings": False,
}
PLAIN = {k: COMMON[k] for k in ("hidden_size", "num_hidden_layers", "num_attention_heads")}
GEMMA = {**COMMON, "hidden_size": 72, "head_dim": 16, "sliding_window": WINDOW,
         "query_pre_attn_scalar": 20, "tie_word_embeddings": True}
BASE = {
    "gemma2": {**GEMMA, "attn_logit_softcapping": 3.0, "final_logit_softcapping": 10.0},
    "gemma3_text": {**GEMMA, "num_hidden_layers": 6, "rope_theta": 1e6,
                    "rope_local_base_freq": 100.0, "sliding_window_pattern": 3},
    "gpt2": {"n_embd": 48, "n_layer": 4, "n_head": 6, "n_positions": 211, "n_inner": None,
             "scale_attn_by_inverse_layer_idx": False},
    "gpt_neox": {**PLAIN, "num_attention_heads": 3, "intermediate_size": 80, "rotary_pct": 0.25,
                 "max_position_embeddings": 2048, "tie_word_embeddings": False},
    "gpt_oss": {**COMMON, "head_dim": 16, "intermediate_size": 40, "num_local_experts": 6,
                "num_experts_per_tok": 3, "sliding_window": WINDOW, "rope_theta": 150000.0,
                "attention_bias": True,
                "rope_scaling": {"rope_type": "yarn", "factor": 32.0, "beta_fast": 32.0,
                                 "beta_slow": 1.0, "truncate": False,
                                 "original_max_position_embeddings": ORIGINAL}},
    "mixtral": {**COMMON, "num_local_experts": 4, "num_experts_per_tok": 2,
                "intermediate_size": 56, "sliding_window": None, "rope_theta": 1e6},
    "olmo2": COMMON,
    "opt": {**PLAIN, "ffn_dim": 80, "max_position_embeddings": 211, "word_embed_proj_dim": 48,
            "do_layer_norm_before": True},
    "qwen3": {**COMMON, "head_dim": 24},
    "qwen3_moe": {**COMMON, "head_dim": 24, "num_experts": 6, "num_experts_per_tok": 3,
                  "moe_intermediate_size": 40, "norm_topk_prob": True},
    "smollm3": {**COMMON, "tie_word_embeddings": True, "no_rope_layer_interval": 3},
}


def factors(first, last, count):
    return [round(first + (last - first) * i / (count - 1), 3) for i in range(count)]


def longrope(pairs):
    """phi3 wants exactly these three keys."""
    return {"type": "longrope", "short_factor": factors(1.0, 1.4, pairs),
            "long_factor": factors(1.5, 9.0, pairs)}


def other_longrope(pairs, **more):
    scaling = longrope(pairs)
    del scaling["type"]
    return {"rope_type": "longrope", **scaling, **more}


LONG = {"max_position_embeddings": 256, "original_max_position_embeddings": ORIGINAL}
LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": ORIGINAL}
DYNAMIC = {"max_position_embeddings": 48, "rope_scaling": {"rope_type": "dynamic", "factor": 4.0}}
LINEAR = {"rope_type": "linear", "factor": 8.0}

PHI3 = (
    Case("phi3_plain", "phi3", {}, quirk="fused qkv and gate_up"),
    Case("phi3_partial_rotary", "phi3", {"num_attention_heads": 3, "num_key_value_heads": 1,
                                         "partial_rotary_factor": 0.75},
         quirk="rotary on 12 of 16"),
    Case("phi3_longrope", "phi3", {"num_attention_heads": 3, "num_key_value_heads": 3, **LONG,
                                   "rope_scaling": longrope(8)},
         quirk="short, long factors"),
    Case("phi3_longrope_su", "phi3", {"num_attention_heads": 3, "num_key_value_heads": 1, **LONG,
                                      "partial_rotary_factor": 0.75, "rope_scaling": longrope(6)},
         edit=checkpoint_edits.scaling_key_type("su"), stored=torch.bfloat16,
         quirk="longrope named su, partial rotary"),
    Case("phi3_window", "phi3", {"sliding_window": WINDOW}, quirk="window everywhere"),
)
MISTRAL = (
    Case("mistral_window", "mistral", {"sliding_window": WINDOW}, quirk="window everywhere"),
    Case("mistral_no_window", "mistral", {"sliding_window": None}, quirk="window null"),
    Case("mistral_head_size", "mistral", {"sliding_window": None, "head_dim": 20},
         vocabulary=307, quirk="head_dim set"),
)
MIXTURES = (
    Case("mixtral_experts", "mixtral", {}, quirk="2 of 4 experts"),
    Case("mixtral_window", "mixtral", {"sliding_window": WINDOW, "head_dim": 20},
         stored=torch.bfloat16, quirk="window and head_dim"),
    Case("qwen3_moe_renormalised", "qwen3_moe", {}, quirk="norm_topk_prob true"),
    Case("qwen3_moe_raw", "qwen3_moe", {"norm_topk_prob": False, "attention_bias": True},
         quirk="norm_topk_prob false, biases"),
    Case("qwen3_moe_mixed", "qwen3_moe", {"mlp_only_layers": [1], "decoder_sparse_step": 2,
                                          "num_hidden_layers": 6, "norm_topk_prob": False},
         quirk="dense, sparse mix"),
    Case("qwen3_moe_mlp_only", "qwen3_moe", {"mlp_only_layers": [1], "use_sliding_window": True,
                                             "sliding_window": WINDOW},
         quirk="mlp_only_layers, window"),
)
GPT_OSS = (
    Case("gpt_oss_sinks", "gpt_oss", {}, quirk="sinks, windows, yarn untruncated"),
    Case("gpt_oss_layer_types", "gpt_oss",
         {"layer_types": ["full_attention", "full_attention", "sliding_attention",
                          "full_attention"]},
         stored=torch.bfloat16, vocabulary=311, quirk="layer_types, stored bfloat16"),
    Case("gpt_oss_mxfp4", "gpt_oss", {"hidden_size": 64, "intermediate_size": 32},
         stored=torch.bfloat16, prepare=checkpoint_edits.mxfp4_experts,
         edit=checkpoint_edits.store_mxfp4, quirk="MXFP4 expert weights"),
)
GEMMAS = (
    Case("gemma2_softcap", "gemma2", {}, quirk="softcap, scalar, windows"),
    Case("gemma2_no_softcap", "gemma2",
         {"attn_logit_softcapping": None, "attention_bias": True,
          "layer_types": ["full_attention", "sliding_attention", "sliding_attention",
                          "full_attention"]},
         stored=torch.bfloat16, quirk="softcap null, layer_types"),
    Case("gemma3_pattern", "gemma3_text", {}, edit=checkpoint_edits.drop_keys("layer_types"),
         quirk="sliding_window_pattern, two thetas"),
    Case("gemma3_linear", "gemma3_text", {"rope_scaling": LINEAR}, quirk="linear, global only"),
    Case("gemma3_nested", "gemma3_text", {"rope_scaling": LINEAR},
         edit=checkpoint_edits.nested_gemma3, quirk="nested text_config"),
    Case("gemma3_rope_parameters", "gemma3_text", {"rope_scaling": LINEAR},
         edit=checkpoint_edits.rope_parameters, quirk="rope_parameters per type"),
)
OLMO2 = (
    Case("olmo2_plain", "olmo2", {}, quirk="post-norms, wide qk norms"),
    Case("olmo2_linear", "olmo2", {"attention_bias": True, "num_key_value_heads": 6,
                                   "rope_scaling": {"type": "linear", "factor": 4.0}},
         stored=torch.bfloat16, quirk="biases, linear rotary"),
)
GPT2 = (
    Case("gpt2_plain", "gpt2", {}, quirk="Conv1D, n_inner null"),
    Case("gpt2_base_model", "gpt2", {"n_inner": 100},
         edit=in_turn(checkpoint_edits.base_model("transformer.", "GPT2Model"),
                      checkpoint_edits.extra_tensors(
                          [f"h.{i}.attn.{n}" for i in range(4) for n in ("bias", "masked_bias")])),
         quirk="no prefix, mask buffers"),
)
GPT_NEOX = (
    Case("gpt_neox_parallel", "gpt_neox", {"use_parallel_residual": True},
         quirk="parallel residual, interleaved qkv"),
    Case("gpt_neox_sequential", "gpt_neox", {"use_parallel_residual": False},
         quirk="sequential residual"),
    Case("gpt_neox_old_buffers", "gpt_neox", {"hidden_act": "gelu_fast"},
         edit=checkpoint_edits.extra_tensors(
             [f"gpt_neox.layers.{i}.attention.{n}" for i in range(4)
              for n in ("bias", "masked_bias", "rotary_emb.inv_freq")]),
         quirk="gelu_fast, mask buffers"),
)
OPT = (
    Case("opt_pre_norm", "opt", {}, quirk="positions offset 2"),
    Case("opt_post_norm", "opt", {"do_layer_norm_before": False, "word_embed_proj_dim": 32},
         quirk="projections, no final norm"),
    Case("opt_head_only", "opt", {},
         edit=checkpoint_edits.only_head("model.decoder.embed_tokens.weight"),
         quirk="lm_head replaces embedding"),
)
SMOLLM3 = (
    Case("smollm3_no_rope", "smollm3", {}, quirk="every third unrotated"),
    Case("smollm3_biases", "smollm3",
         {"no_rope_layers": [0, 1, 1, 0], "attention_bias": True, "mlp_bias": True,
          "use_sliding_window": True, "sliding_window": WINDOW, "tie_word_embeddings": False},
         quirk="biases, unrotated windows"),
)
ROTARY = (
    Case("llama_dynamic", "llama", DYNAMIC, quirk="dynamic past maximum"),
    Case("qwen2_dynamic_type", "qwen2", DYNAMIC, edit=checkpoint_edits.scaling_key_type("dynamic"),
         quirk="dynamic, key type"),
    Case("llama_longrope", "llama", {**LONG, "rope_scaling": other_longrope(4, factor=8.0)},
         quirk="longrope, derived factor"),
    Case("qwen2_longrope_factor", "qwen2",
         {**LONG, "rope_scaling": other_longrope(4, factor=8.0, attention_factor=1.25)},
         quirk="longrope, given attention_factor"),
    Case("llama_rope_parameters", "llama", {"rope_theta": 500000.0, "rope_scaling": LLAMA3},
         edit=checkpoint_edits.rope_parameters, quirk="llama3 in rope_parameters"),
    Case("qwen2_rope_parameters", "qwen2", {"rope_theta": 1e6},
         edit=checkpoint_edits.rope_parameters, quirk="theta in rope_parameters"),
    Case("phi3_rope_parameters", "phi3",
         {"num_attention_heads": 3, "num_key_value_heads": 1, **LONG,
          "partial_rotary_factor": 0.75, "rope_scaling": longrope(6)},
         edit=checkpoint_edits.rope_parameters, quirk="longrope in rope_parameters"),
)
FORMS = (
    Case("llama_base_model", "llama", {}, edit=checkpoint_edits.base_model("model.", "LlamaModel"),
         quirk="no model. prefix"),
    Case("llama_head_only", "llama", {"tie_word_embeddings": True},
         edit=checkpoint_edits.only_head("model.embed_tokens.weight"),
         quirk="lm_head replaces embedding"),
    Case("qwen2_other_head", "qwen2", {"tie_word_embeddings": True},
         edit=checkpoint_edits.other_head("model.embed_tokens.weight"),
         quirk="tied, contradicting lm_head"),
    Case("qwen3_no_head", "qwen3", {},
         edit=in_turn(checkpoint_edits.without_head, checkpoint_edits.torch_dtype_key),
         quirk="untied, lm_head absent"),
    Case("llama_extra_tensors", "llama", {},
         edit=checkpoint_edits.extra_tensors(
             ["model.layers.0.self_attn.rotary_emb.inv_freq", "value_head.weight"]),
         quirk="unread extra tensors"),
    Case("llama_float8", "llama", {}, prepare=checkpoint_edits.float8_weights,
         edit=checkpoint_edits.store_float8, quirk="float8 e4m3 projections"),
)
CASES = (PHI3 + MISTRAL + MIXTURES + GPT_OSS + GEMMAS + OLMO2 + GPT2 + GPT_NEOX + OPT + SMOLLM3
         + ROTARY + FORMS)


def build(case):
    tokens = {
        "vocab_size": case.vocabulary,
        "bos_token_id": checkpoint_cases.FIRST_TOKEN,
        "eos_token_id": 2,
        "pad_token_id": None,
    }
    values = {**tokens, **BASE.get(case.family, COMMON), **case.config}
    config = CONFIG_MAPPING[case.family](**values)
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    scripts = [__file__, checkpoint_edits.__file__]
    checkpoint_cases.write_all(CASES, parser.parse_args().out, build, scripts)


if __name__ == "__main__":
    main()
