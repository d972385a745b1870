"""Tiny random checkpoints of the families that are compared with transformers 5 alone.

    PYTHONPATH=.venv/transformers-5 python -m tests.oracle.decoder_models OUT

writes OUT/<case>/ (config.json, safetensors), OUT/<case>.expected/ (see expected.py) and
OUT/cases.json.
"""

import argparse
import functools
import pathlib

import torch
from safetensors.torch import load_file, save_file
from transformers import AutoModelForCausalLM, AutoModelForImageTextToText
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

from tests.oracle import checkpoint_cases

WINDOW = 24
ORIGINAL = 32  # positions before long-context scaling
FULL, SLIDING = "full_attention", "sliding_attention"
CONV, LINEAR = "conv", "linear_attention"
Case = functools.partial(
    checkpoint_cases.Case, lengths=(1, 7, 64, 200), bfloat16_lengths=(200,), vocabulary=301
)

SIZES = {
    "hidden_size": 48,
    "intermediate_size": 80,
    "num_hidden_layers": 3,
    "num_attention_heads": 6,
    "max_position_embeddings": 4096,
    "tie_word_embeddings": False,
}
GROUPED = {**SIZES, "num_key_value_heads": 2}
RMS = {**GROUPED, "rms_norm_eps": 1e-5}
LAYER = {**GROUPED, "layer_norm_eps": 1e-5}
WIDE_HEADS = {"head_dim": 16}
FEW_HEADS = {"num_attention_heads": 3, "num_key_value_heads": 1}
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": ORIGINAL,
        "rope_theta": 10000.0}
ROUTED = {"n_routed_experts": 6, "num_experts_per_tok": 2, "moe_intermediate_size": 40,
          "n_shared_experts": 1, "routed_scaling_factor": 1.7}
LATENT = {**{k: v for k, v in SIZES.items() if k != "max_position_embeddings"}, "rms_norm_eps": 1e-5,
          "num_key_value_heads": 6, "max_position_embeddings": 4096, "q_lora_rank": 28, "kv_lora_rank": 20,
          "qk_nope_head_dim": 12, "qk_rope_head_dim": 8, "v_head_dim": 10}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": ORIGINAL}
DEEP_YARN = {**YARN, "mscale": 0.7, "mscale_all_dim": 0.9}
GPT = {"n_embd": 48, "n_layer": 3, "n_head": 4, "n_inner": 80, "n_positions": 512, "rotary_dim": 8,
       "tie_word_embeddings": False}
DELTA = {"num_hidden_layers": 4, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
         "linear_key_head_dim": 12, "linear_value_head_dim": 16}
GATED_EXPERTS = {"num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 40,
                 "shared_expert_intermediate_size": 56}
MAMBA = {"num_hidden_layers": 4, "layer_types": [LINEAR, FULL, LINEAR, LINEAR], "mamba_n_heads": 6,
         "mamba_n_groups": 2, "mamba_d_state": 20, "mamba_expand": 2}
BASE = {
    "apertus": {**RMS, **WIDE_HEADS},
    "arcee": RMS,
    "bloom": {"hidden_size": 48, "n_layer": 3, "n_head": 6},
    "codegen": GPT,
    "falcon": {"hidden_size": 48, "num_hidden_layers": 3, "num_attention_heads": 6, "ffn_hidden_size": 80},
    "flex_olmo": {**RMS, "intermediate_size": 40, "num_experts": 6, "num_experts_per_tok": 3},
    "gpt_bigcode": {**{k: v for k, v in GPT.items() if k != "rotary_dim"}, "n_head": 6},
    "gpt_neo": {"hidden_size": 48, "num_layers": 4, "num_heads": 6, "intermediate_size": 80, "window_size": WINDOW,
                "max_position_embeddings": 512, "attention_types": [[["global", "local"], 2]]},
    "gptj": GPT,
    "granite_swa": {**RMS, "num_hidden_layers": 4, "sliding_window": WINDOW},
    "granitemoe_swa": {**RMS, "num_hidden_layers": 4, "sliding_window": WINDOW, "intermediate_size": 40,
                       "num_local_experts": 4, "shared_intermediate_size": 56},
    "llama4_text": {**RMS, **WIDE_HEADS, "num_hidden_layers": 4, "intermediate_size": 40, "intermediate_size_mlp": 80,
                    "num_local_experts": 4, "attention_chunk_size": WINDOW, "floor_scale": 16, "attn_scale": 0.4},
    "mimo_v2_flash": {**RMS, **ROUTED, "head_dim": 12, "v_head_dim": 10, "num_key_value_heads": 1,
                      "num_hidden_layers": 4, "sliding_window": WINDOW, "n_group": 3, "topk_group": 2},
    "mpt": {"d_model": 48, "n_layers": 3, "n_heads": 6, "max_seq_len": 512},
    "persimmon": {**SIZES, "layer_norm_eps": 1e-5, "num_attention_heads": 3},
    "phimoe": {**RMS, "intermediate_size": 40, "num_local_experts": 6, "router_jitter_noise": 0.3},
    "cohere": LAYER,
    "dots1": {**RMS, **ROUTED, "num_experts_per_tok": 3},
    "ernie4_5_moe": {**RMS, "moe_num_experts": 6, "moe_k": 3, "moe_intermediate_size": 40,
                     "moe_num_shared_experts": 2},
    "deepseek_v2": {**LATENT, **ROUTED, "n_shared_experts": 2, "first_k_dense_replace": 1},
    "deepseek_v3": {**LATENT, **ROUTED, "n_group": 3, "topk_group": 2, "first_k_dense_replace": 1},
    "cohere2": {**LAYER, "num_hidden_layers": 4, "sliding_window": WINDOW},
    "ernie4_5": {**RMS, **WIDE_HEADS},
    "exaone4": {**RMS, "num_hidden_layers": 4, "sliding_window": WINDOW},
    "gemma": {**RMS, **WIDE_HEADS, "tie_word_embeddings": True},
    "glm": {**RMS, **WIDE_HEADS},
    "glm4": {**RMS, **WIDE_HEADS},
    "glm4_moe": {**RMS, **FEW_HEADS, **ROUTED},
    "glm4_moe_lite": {**LATENT, **ROUTED},
    "granite": RMS,
    "granitemoe": {**RMS, "intermediate_size": 40, "num_local_experts": 4},
    "granitemoehybrid": {**RMS, **MAMBA, "intermediate_size": 40, "num_local_experts": 4,
                         "shared_intermediate_size": 56},
    "granitemoeshared": {**RMS, "intermediate_size": 40, "num_local_experts": 4},
    "helium": {**RMS, "head_dim": 8},
    "hunyuan_v1_dense": {**RMS, **WIDE_HEADS},
    "hunyuan_v1_moe": {**RMS, **WIDE_HEADS, "intermediate_size": 40, "num_experts": 5, "moe_topk": 2},
    "lfm2": {**GROUPED, "norm_eps": 1e-5, "block_multiple_of": 16},
    "lfm2_moe": {**GROUPED, "norm_eps": 1e-5, "layer_types": [CONV, FULL, CONV], "num_experts": 6,
                 "num_experts_per_tok": 3, "moe_intermediate_size": 40, "num_dense_layers": 1},
    "minimax_m2": {**RMS, **WIDE_HEADS, "intermediate_size": 40, "num_local_experts": 6,
                   "num_experts_per_tok": 3},
    "ministral": {**RMS, **WIDE_HEADS, "sliding_window": WINDOW},
    "ministral3": {**RMS, **WIDE_HEADS},
    "nemotron": {**GROUPED, **FEW_HEADS, "norm_eps": 1e-5},
    "olmo": GROUPED,
    "olmo3": {**RMS, "num_hidden_layers": 4, "sliding_window": WINDOW},
    "olmoe": {**RMS, "intermediate_size": 40, "num_experts": 6, "num_experts_per_tok": 3},
    "phi": {**LAYER, **FEW_HEADS},
    "qwen2_moe": {**RMS, "num_experts": 6, "num_experts_per_tok": 3, "moe_intermediate_size": 40,
                  "shared_expert_intermediate_size": 56},
    "qwen3_5_moe_text": {**RMS, **WIDE_HEADS, **DELTA, **GATED_EXPERTS},
    "qwen3_5_text": {**RMS, **WIDE_HEADS, **DELTA},
    "qwen3_next": {**RMS, **WIDE_HEADS, **DELTA, **GATED_EXPERTS},
    "seed_oss": {**RMS, **WIDE_HEADS},
    "solar_open": {**RMS, **WIDE_HEADS, **ROUTED},
    "stablelm": {**LAYER, **FEW_HEADS},
    "starcoder2": {**GROUPED, "norm_epsilon": 1e-5},
    "vaultgemma": {**RMS, **WIDE_HEADS, "query_pre_attn_scalar": 20, "sliding_window": WINDOW,
                   "attn_logit_softcapping": 3.0, "tie_word_embeddings": True},
    "youtu": LATENT,
}


@torch.no_grad()
def draw_corrections(model):
    """Biases that select experts; they are no parameters."""
    generator = torch.Generator().manual_seed(11)
    for name, buffer in model.named_buffers():
        if name.endswith(("e_score_correction_bias", "expert_bias")):
            buffer.copy_(0.3 * torch.randn(buffer.shape, generator=generator))


def name_layers(folder):
    """As published: transformers 5.24 saves the text half's layers under the name of the vision half's."""
    path = folder / "model.safetensors"
    renamed = {name.replace("language_model.model.blocks.", "language_model.model.layers."): tensor
               for name, tensor in load_file(path).items()}
    save_file(renamed, path, metadata={"format": "pt"})


@torch.no_grad()
def draw_decays(model):
    """States that last from one position to hundreds, and norms and taps that count."""
    generator = torch.Generator().manual_seed(12)
    for name, parameter in model.named_parameters():
        noise = torch.randn(parameter.shape, generator=generator)
        if name.endswith("A_log"):
            parameter.copy_(2 * noise - 3)
        elif name.endswith(".D"):
            parameter.copy_(noise)
        elif name.endswith("linear_attn.norm.weight"):
            parameter.copy_(1 + 0.3 * noise)
        elif name.endswith("conv1d.weight"):
            parameter.copy_(0.5 * noise)


def stack_experts(folder):
    """Experts in one tensor for all, as published checkpoints have them."""
    path = folder / "model.safetensors"
    tensors = load_file(path)
    parts = {}
    for name in [name for name in tensors if ".experts." in name]:
        place, rest = name.split(".experts.")
        number, projection, _ = rest.split(".")
        parts.setdefault(place, {})[int(number), projection] = tensors.pop(name)
    for place, found in parts.items():
        numbers = sorted({number for number, _ in found})
        rows = [torch.cat([found[n, "gate_proj"], found[n, "up_proj"]]) for n in numbers]
        tensors[f"{place}.experts.gate_up_proj"] = torch.stack(rows)
        tensors[f"{place}.experts.down_proj"] = torch.stack([found[n, "down_proj"] for n in numbers])
    save_file(tensors, path, metadata={"format": "pt"})


DENSE = (
    Case("apertus_plain", "apertus", {"rope_parameters": {**LLAMA3, "rope_theta": 10000.0}},
         quirk="an activation with learned numbers"),
    Case("bloom_bias", "bloom", {}, quirk="a bias that falls with distance, a norm of the embedding"),
    Case("codegen_plain", "codegen", {}, quirk="weights in four parts, interleaved on a part of heads"),
    Case("falcon_one_key", "falcon", {}, quirk="one norm, one key head"),
    Case("falcon_groups", "falcon", {"new_decoder_architecture": True, "num_kv_heads": 2, "bias": True},
         stored=torch.bfloat16, quirk="two norms in parallel, groups of heads"),
    Case("falcon_bias", "falcon",
         {"alibi": True, "parallel_attn": False, "multi_query": False, "bias": True, "num_attention_heads": 12},
         quirk="a bias in bfloat16 that falls with distance, in sequence"),
    Case("gpt_bigcode_one_key", "gpt_bigcode", {}, quirk="one key head"),
    Case("gpt_bigcode_heads", "gpt_bigcode", {"multi_query": False, "scale_attn_weights": False},
         stored=torch.bfloat16, quirk="a key head each, scores unscaled"),
    Case("gpt_neo_local", "gpt_neo", {}, quirk="windows in every second block, scores unscaled"),
    Case("gptj_plain", "gptj", {}, quirk="interleaved on a part of heads, head with bias"),
    Case("granite_swa_windows", "granite_swa",
         {"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.3, "logits_scaling": 4.0,
          "layer_rope_theta": [500.0, 0, 10000.0, 500.0]}, quirk="sinks in all blocks, a base each"),
    Case("llama4_chunks", "llama4_text", {"interleave_moe_layer_step": 2},
         quirk="chunks, growing queries, dense blocks"),
    Case("mpt_bias", "mpt", {"attn_config": {"clip_qkv": 1.0, "softmax_scale": 0.3}}, stored=torch.bfloat16,
         quirk="a bias that falls with distance, norms without bias"),
    Case("persimmon_plain", "persimmon", {}, quirk="layer norms of heads, weights by head"),
    Case("arcee_plain", "arcee", {"attention_bias": True, "mlp_bias": True},
         quirk="squared ReLU, biases"),
    Case("cohere_plain", "cohere",
         {"num_hidden_layers": 4, "logit_scale": 0.5, "tie_word_embeddings": True, "rope_theta": 10000.0},
         quirk="one norm without bias, interleaved"),
    Case("cohere_head_norms", "cohere", {"use_qk_norm": True, "attention_bias": True},
         quirk="each head its own norm"),
    Case("cohere2_windows", "cohere2", {}, stored=torch.bfloat16,
         quirk="windows rotate, the others not"),
    Case("ernie4_5_plain", "ernie4_5", {"use_bias": True}, quirk="interleaved, biases"),
    Case("exaone4_windows", "exaone4", {}, quirk="norms after, windows rotate"),
    Case("exaone4_full", "exaone4", {"sliding_window": None, "layer_types": [FULL] * 4},
         quirk="no windows, all rotate"),
    Case("gemma_plain", "gemma", {"hidden_act": "gelu"}, quirk="one plus weight, scaled embedding"),
    Case("glm_plain", "glm", {}, quirk="interleaved half, fused gate_up"),
    Case("glm4_plain", "glm4", {"attention_bias": False}, quirk="norms before and after"),
    Case("granite_multipliers", "granite",
         {"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.3,
          "logits_scaling": 4.0, "mlp_bias": True}, quirk="four multipliers"),
    Case("helium_plain", "helium", {}, stored=torch.bfloat16, quirk="interleaved"),
    Case("hunyuan_plain", "hunyuan_v1_dense", {}, quirk="norms after rotary"),
    Case("hunyuan_alpha", "hunyuan_v1_dense",
         {"attention_bias": True,
          "rope_parameters": {"rope_type": "dynamic", "factor": 1.0, "alpha": 50.0,
                              "rope_theta": 10000.0}}, quirk="fixed alpha"),
    Case("ministral_windows", "ministral", {"layer_types": [SLIDING, FULL, SLIDING]},
         quirk="layer_types"),
    Case("ministral3_growth", "ministral3",
         {"rope_parameters": {**YARN, "mscale": 1.0, "mscale_all_dim": 1.0,
                              "llama_4_scaling_beta": 0.4}}, quirk="queries grow"),
    Case("nemotron_plain", "nemotron", {"attention_bias": True, "mlp_bias": True},
         quirk="layer norm one plus weight, squared ReLU"),
    Case("olmo_plain", "olmo", {}, quirk="norms without weights"),
    Case("olmo_clipped", "olmo", {"clip_qkv": 0.7, "num_key_value_heads": 6},
         stored=torch.bfloat16, quirk="projections clamped"),
    Case("olmo3_windows", "olmo3",
         {"rope_parameters": {FULL: YARN, SLIDING: {"rope_type": "default", "rope_theta": 500.0}}},
         quirk="yarn where nothing slides"),
    Case("phi_plain", "phi", {"num_hidden_layers": 4}, quirk="one norm, head with bias"),
    Case("phi_head_norms", "phi", {"qk_layernorm": True, "num_key_value_heads": 3},
         stored=torch.bfloat16, quirk="layer norms of heads"),
    Case("seed_oss_plain", "seed_oss", {"mlp_bias": True, "attention_out_bias": True},
         quirk="biases"),
    Case("stablelm_plain", "stablelm", {"use_qkv_bias": True}, quirk="layer norms, quarter rotates"),
    Case("stablelm_parallel", "stablelm", {"qk_layernorm": True, "use_parallel_residual": True},
         quirk="a norm tensor per head"),
    Case("starcoder2_window", "starcoder2", {"sliding_window": WINDOW}, quirk="ungated, window"),
    Case("vaultgemma_plain", "vaultgemma", {}, quirk="gemma2 without norms after"),
    Case("youtu_plain", "youtu", {"tie_word_embeddings": True, "attention_bias": True},
         quirk="latent attention, biases"),
)


MIXTURES = (
    Case("ernie4_5_moe_biases", "ernie4_5_moe", {"use_bias": True}, stored=torch.bfloat16,
         quirk="biases beside experts"),
    Case("flex_olmo_experts", "flex_olmo", {}, quirk="norms after, whole norms"),
    Case("granitemoe_swa_windows", "granitemoe_swa",
         {"residual_multiplier": 0.4, "attention_multiplier": 0.3, "layer_rope_theta": [0, 500.0, 10000.0, 0]},
         quirk="sinks in all blocks, experts in one tensor, a shared one"),
    Case("llama4_experts", "llama4_text",
         {"use_qk_norm": False, "attn_temperature_tuning": False, "attention_bias": True, "num_experts_per_tok": 2},
         stored=torch.bfloat16, quirk="experts read what is weighed"),
    Case("mimo_v2_flash_windows", "mimo_v2_flash", {"attention_bias": True}, prepare=draw_corrections,
         quirk="sinks and more key heads where windows are, narrow values"),
    Case("olmoe_clipped", "olmoe", {"clip_qkv": 0.7}, stored=torch.bfloat16, quirk="clamped after norms"),
    Case("phimoe_experts", "phimoe", {"attention_bias": True, "lm_head_bias": True}, quirk="experts chosen one by one"),
    Case("phimoe_longrope", "phimoe",
         {"rope_parameters": {"rope_type": "longrope", "rope_theta": 10000.0, "short_mscale": 1.3, "long_mscale": 0.8,
                              "short_factor": [1.0, 1.1, 1.2, 1.3], "long_factor": [2.0, 2.5, 3.0, 4.0],
                              "original_max_position_embeddings": ORIGINAL},
          "original_max_position_embeddings": ORIGINAL},
         stored=torch.bfloat16, quirk="a factor each for short and long samples"),
    Case("deepseek_v2_groups", "deepseek_v2",
         {"topk_method": "group_limited_greedy", "n_group": 3, "topk_group": 2, "rope_parameters": DEEP_YARN},
         quirk="latent attention, groups by their best expert"),
    Case("deepseek_v2_direct", "deepseek_v2", {"q_lora_rank": None}, stored=torch.bfloat16,
         quirk="latent attention, queries from the stream"),
    Case("deepseek_v3_groups", "deepseek_v3", {"rope_parameters": DEEP_YARN, "attention_bias": True},
         prepare=draw_corrections, quirk="latent attention, sigmoid router in groups"),
    Case("deepseek_v3_halves", "deepseek_v3", {"rope_interleave": False, "v_head_dim": 20}, stored=torch.bfloat16,
         prepare=draw_corrections, quirk="latent attention, rotary by halves"),
    Case("dots1_experts", "dots1", {"n_shared_experts": 2, "first_k_dense_replace": 1, "sliding_window": WINDOW,
                                    "max_window_layers": 2}, prepare=draw_corrections,
         quirk="sigmoid router, shared experts, windows"),
    Case("ernie4_5_moe_experts", "ernie4_5_moe", {}, quirk="corrected softmax, shared experts"),
    Case("glm4_moe_groups", "glm4_moe", {"n_group": 3, "topk_group": 2, "use_qk_norm": True,
                                         "attention_bias": True}, prepare=draw_corrections,
         quirk="sigmoid router in groups"),
    Case("glm4_moe_lite_experts", "glm4_moe_lite", {}, prepare=draw_corrections,
         quirk="latent attention, sigmoid router"),
    Case("granitemoe_experts", "granitemoe",
         {"embedding_multiplier": 3.0, "residual_multiplier": 0.4, "attention_multiplier": 0.3,
          "logits_scaling": 4.0}, quirk="experts in one tensor, multipliers"),
    Case("granitemoeshared_experts", "granitemoeshared",
         {"shared_intermediate_size": 56, "residual_multiplier": 0.4, "attention_multiplier": 0.3},
         quirk="shared expert"),
    Case("hunyuan_moe_experts", "hunyuan_v1_moe", {}, quirk="shared expert, norms after rotary"),
    Case("minimax_m2_experts", "minimax_m2", {"rotary_dim": 8}, prepare=draw_corrections,
         stored=torch.bfloat16, quirk="sigmoid router, whole norms, half rotates"),
    Case("olmoe_experts", "olmoe", {}, quirk="whole norms"),
    Case("qwen2_moe_experts", "qwen2_moe", {"mlp_only_layers": [1], "norm_topk_prob": True},
         quirk="gated shared expert, a dense block"),
    Case("qwen2_moe_windows", "qwen2_moe", {"use_sliding_window": True, "sliding_window": WINDOW},
         stored=torch.bfloat16, quirk="windows in every second block"),
    Case("solar_open_experts", "solar_open", {"norm_topk_prob": False}, prepare=draw_corrections,
         quirk="sigmoid router"),
)

HYBRIDS = (
    Case("granitemoehybrid_experts", "granitemoehybrid",
         {"residual_multiplier": 0.4, "attention_multiplier": 0.3, "embedding_multiplier": 3.0},
         prepare=draw_decays, quirk="Mamba2, no rotary, experts, multipliers"),
    Case("granitemoehybrid_dense", "granitemoehybrid",
         {"num_local_experts": 0, "position_embedding_type": "rope", "attention_multiplier": 0.3,
          "mamba_proj_bias": True, "mamba_n_groups": 1, "mamba_chunk_size": 48, "time_step_limit": [0.2, 1.0]},
         prepare=draw_decays, stored=torch.bfloat16, quirk="Mamba2 with limited steps and biases, rotary"),
    Case("lfm2_convolutions", "lfm2", {"num_hidden_layers": 4, "layer_types": [CONV, FULL, CONV, FULL]},
         quirk="short convolutions"),
    Case("lfm2_biases", "lfm2", {"layer_types": [FULL, CONV, CONV], "conv_bias": True, "conv_L_cache": 4,
                                 "block_auto_adjust_ff_dim": False},
         stored=torch.bfloat16, quirk="longer convolutions with biases"),
    Case("lfm2_moe_experts", "lfm2_moe", {"routed_scaling_factor": 1.5}, prepare=draw_corrections,
         quirk="short convolutions, sigmoid router"),
    Case("qwen3_next_experts", "qwen3_next", {"mlp_only_layers": [1]}, prepare=draw_decays,
         quirk="gated delta rule, gated attention, a dense block"),
    Case("qwen3_5_text_dense", "qwen3_5_text", {"layer_types": [LINEAR, FULL, LINEAR, FULL]},
         prepare=draw_decays, stored=torch.bfloat16, quirk="gated delta rule, gated attention"),
    Case("qwen3_5_text_biases", "qwen3_5_text", {"attention_bias": True, "linear_num_key_heads": 4},
         prepare=draw_decays, quirk="biases of gated attention"),
    Case("qwen3_5_moe_text_experts", "qwen3_5_moe_text", {}, prepare=draw_decays,
         quirk="gated delta rule, gated attention, experts"),
    Case("qwen3_5_moe_text_stacked", "qwen3_5_moe_text", {}, prepare=draw_decays, stored=torch.bfloat16,
         edit=stack_experts, quirk="experts in one tensor"),
)

CLIP = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
        "image_size": 28, "patch_size": 14, "projection_dim": 16}
QWEN_VISION = {"depth": 1, "embed_dim": 16, "hidden_size": 48, "num_heads": 2, "intermediate_size": 16,
               "out_hidden_size": 48, "fullatt_block_indexes": [0], "deepstack_visual_indexes": [0]}
THREE_PARTS = {"rope_type": "default", "rope_theta": 5000.0, "mrope_section": [1, 1, 2]}
# What a text half is within: the configuration of the whole, without text_config.
KIMI_VISION = {"hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2,
               "pos_emb_height": 2, "pos_emb_width": 2, "pos_emb_time": 1}
WHOLES = {
    "kimi_k25": {"vision_config": KIMI_VISION, "projection_hidden_size": 16},
    "llava": {"vision_config": {"model_type": "clip_vision_model", **CLIP}},
    "llama4": {"vision_config": {"hidden_size": 16, "intermediate_size": 64, "num_hidden_layers": 1,
                                 "num_attention_heads": 2, "image_size": 28, "patch_size": 14,
                                 "projector_input_dim": 16, "projector_output_dim": 16, "vision_output_dim": 16}},
    "mistral3": {"vision_config": {"model_type": "pixtral", **CLIP, "head_dim": 8}},
    "qwen2_vl": {"vision_config": QWEN_VISION},
    "qwen2_5_vl": {"vision_config": QWEN_VISION},
    "qwen3_5": {"vision_config": QWEN_VISION},
    "qwen3_5_moe": {"vision_config": QWEN_VISION},
    "qwen3_vl": {"vision_config": QWEN_VISION},
    "qwen3_vl_moe": {"vision_config": QWEN_VISION},
}
HALVES = (
    Case("kimi_k25_text", "kimi_k25", {"model_type": "deepseek_v3", **BASE["deepseek_v3"]},
         prepare=draw_corrections, edit=name_layers, quirk="a text half of deepseek_v3"),
    Case("llama4_text_half", "llama4", {**BASE["llama4_text"], "layer_types": None}, stored=torch.bfloat16,
         quirk="a text half of llama4_text"),
    Case("llava_qwen2", "llava", {"model_type": "qwen2", **RMS}, quirk="a text half of qwen2"),
    Case("mistral3_ministral3", "mistral3",
         {"model_type": "ministral3", **RMS, **WIDE_HEADS,
          "rope_parameters": {**YARN, "mscale": 1.0, "mscale_all_dim": 1.0, "llama_4_scaling_beta": 0.4}},
         quirk="a text half of ministral3"),
    Case("qwen2_vl_text", "qwen2_vl", {**RMS, "rope_parameters": THREE_PARTS}, quirk="rotary in three parts"),
    Case("qwen2_5_vl_windows", "qwen2_5_vl",
         {**RMS, "rope_parameters": THREE_PARTS, "use_sliding_window": True, "sliding_window": WINDOW,
          "max_window_layers": 1}, quirk="rotary in three parts, windows"),
    Case("qwen3_vl_moe_text", "qwen3_vl_moe",
         {**RMS, **WIDE_HEADS, "num_experts": 5, "num_experts_per_tok": 2, "moe_intermediate_size": 40,
          "mlp_only_layers": [1], "rope_parameters": {**THREE_PARTS, "mrope_section": [3, 3, 2],
                                                      "mrope_interleaved": True}},
         quirk="experts in one tensor, rotary in three interleaved parts"),
    Case("qwen3_5_half", "qwen3_5",
         {**RMS, **WIDE_HEADS, **DELTA,
          "rope_parameters": {**THREE_PARTS, "partial_rotary_factor": 0.5, "mrope_section": [2, 1, 1],
                              "mrope_interleaved": True}},
         prepare=draw_decays, quirk="rotary in three parts, half rotates"),
    Case("qwen3_5_moe_half", "qwen3_5_moe",
         {**RMS, **WIDE_HEADS, **DELTA, **GATED_EXPERTS, "rope_parameters": THREE_PARTS},
         prepare=draw_decays, quirk="rotary in three parts, experts"),
    Case("qwen3_vl_text", "qwen3_vl",
         {**RMS, **WIDE_HEADS, "rope_parameters": {**THREE_PARTS, "mrope_section": [3, 3, 2],
                                                   "mrope_interleaved": True}},
         stored=torch.bfloat16, quirk="rotary in three interleaved parts"),
)


def build(case):
    tokens = {
        "vocab_size": case.vocabulary,
        "bos_token_id": checkpoint_cases.FIRST_TOKEN,
        "eos_token_id": 2,
        "pad_token_id": None,
    }
    if case.family in WHOLES:
        whole = {**WHOLES[case.family], "text_config": {**tokens, **case.config}, "tie_word_embeddings": False}
        config = CONFIG_MAPPING[case.family](**whole)
        return AutoModelForImageTextToText.from_config(config, attn_implementation="eager")
    config = CONFIG_MAPPING[case.family](**{**tokens, **BASE[case.family], **case.config})
    return AutoModelForCausalLM.from_config(config, attn_implementation="eager")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    checkpoint_cases.write_all(DENSE + MIXTURES + HYBRIDS + HALVES, parser.parse_args().out, build, [__file__])


if __name__ == "__main__":
    main()
