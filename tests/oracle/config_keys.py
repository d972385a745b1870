"""What each key of config.json changes, by transformers 5: no key may be ignored in silence.

    PYTHONPATH=.venv/transformers-5 python -m tests.oracle.config_keys OUT

takes a tiny checkpoint of each family, changes one key at a time to another value and runs it. Keys
come from the configuration classes, from the rotary settings, and from what other families call the
same things. Writes OUT/<family>/<case>/ (config.json as changed, weights), OUT/<family>.safetensors
(the last hidden states of each case, and the ids) and OUT/cases.json, where a case that transformers itself
refuses has no states.

A key that is left out takes its class's value, and a model of a class's sizes may have a gigabyte of
weights. Such a case keeps the base's weights, which do not fit its sizes: it must be refused.
"""

import argparse
import dataclasses
import json
import os
import pathlib
import shutil

import torch
from safetensors.torch import save_file
from transformers import AutoConfig, AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging

from tests.oracle import checkpoint_cases, expected, stamp

LENGTH = 40
LARGEST_GROWTH = 4  # of the number of weights, where a case gets its own
VOCABULARY = 61
BLOCKS = 4
HEADS = 4
SIZES = {
    "vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": BLOCKS, "num_attention_heads": HEADS,
    "intermediate_size": 24, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2,
    "pad_token_id": 0,
}
GROUPED = {**SIZES, "num_key_value_heads": 2}
GEMMA = {**GROUPED, "head_dim": 12, "sliding_window": 9}
LATENT = {**SIZES, "num_key_value_heads": HEADS, "q_lora_rank": 12, "kv_lora_rank": 10, "qk_nope_head_dim": 6,
          "qk_rope_head_dim": 8, "v_head_dim": 5}
ROUTED = {"n_routed_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 20}
GPT = {"vocab_size": VOCABULARY, "n_embd": 32, "n_layer": BLOCKS, "n_head": HEADS, "n_positions": 64, "bos_token_id": 1,
       "eos_token_id": 2}
FULL, SLIDING = "full_attention", "sliding_attention"
DELTA = {**GROUPED, "head_dim": 16, "linear_num_key_heads": 2, "linear_num_value_heads": 4,
         "linear_key_head_dim": 6, "linear_value_head_dim": 8}
FAMILIES = {
    "apertus": GROUPED,
    "arcee": GROUPED,
    "bloom": {"vocab_size": VOCABULARY, "hidden_size": 32, "n_layer": BLOCKS, "n_head": HEADS},
    "codegen": {**GPT, "rotary_dim": 4},
    "cohere": GROUPED,
    "cohere2": {**GROUPED, "sliding_window": 9},
    "deepseek_v2": {**LATENT, **ROUTED, "n_group": 2, "topk_group": 1, "topk_method": "group_limited_greedy",
                    "first_k_dense_replace": 1},
    "deepseek_v3": {**LATENT, **ROUTED, "n_group": 2, "topk_group": 1, "first_k_dense_replace": 1},
    "dots1": {**GROUPED, "head_dim": 12, "n_routed_experts": 4, "num_experts_per_tok": 2, "n_shared_experts": 1,
              "moe_intermediate_size": 20, "first_k_dense_replace": 1, "sliding_window": 9, "max_window_layers": 2},
    "ernie4_5": {**GROUPED, "head_dim": 12},
    "ernie4_5_moe": {**GROUPED, "moe_num_experts": 4, "moe_k": 2, "moe_intermediate_size": 20},
    "exaone4": {**GROUPED, "sliding_window": 9},
    "falcon": {"vocab_size": VOCABULARY, "hidden_size": 32, "num_hidden_layers": BLOCKS, "num_attention_heads": HEADS,
               "ffn_hidden_size": 24, "max_position_embeddings": 64, "bos_token_id": 1, "eos_token_id": 2},
    "falcon_h1": {**GROUPED, "mamba_d_ssm": 48, "mamba_n_heads": 4, "mamba_n_groups": 2, "mamba_d_state": 6,
                  "mamba_rms_norm": True},
    "flex_olmo": {**GROUPED, "num_experts": 4, "num_experts_per_tok": 2},
    "gemma": {**GROUPED, "head_dim": 12},
    "gemma2": GEMMA,
    "gemma3_text": {**GEMMA, "sliding_window_pattern": 2},
    "gemma4_text": {**GEMMA, "global_head_dim": 16, "hidden_size_per_layer_input": 6,
                    "vocab_size_per_layer_input": VOCABULARY, "num_kv_shared_layers": 1, "num_experts": 4,
                    "top_k_experts": 2, "moe_intermediate_size": 20, "layer_types": [SLIDING, FULL, SLIDING, FULL]},
    "glm": {**GROUPED, "head_dim": 16},
    "glm4": {**GROUPED, "head_dim": 16},
    "glm4_moe": {**GROUPED, "head_dim": 16, "n_routed_experts": 4, "num_experts_per_tok": 2,
                 "moe_intermediate_size": 20},
    "glm4_moe_lite": {**LATENT, **ROUTED},
    "gpt2": GPT,
    "gpt_bigcode": GPT,
    "gpt_neo": {"vocab_size": VOCABULARY, "hidden_size": 32, "num_layers": BLOCKS, "num_heads": HEADS,
                "intermediate_size": 24, "max_position_embeddings": 64, "window_size": 9,
                "attention_types": [[["global", "local"], 2]], "bos_token_id": 1, "eos_token_id": 2},
    "gptj": {**GPT, "rotary_dim": 4},
    "gpt_neox": SIZES,
    "gpt_oss": {**GROUPED, "head_dim": 12, "sliding_window": 9, "num_local_experts": 4,
                "num_experts_per_tok": 2},
    "granite": {**GROUPED, "attention_multiplier": 0.4},
    "granite_swa": {**GROUPED, "attention_multiplier": 0.4, "sliding_window": 9},
    "granitemoe_swa": {**GROUPED, "attention_multiplier": 0.4, "sliding_window": 9, "num_local_experts": 4,
                       "shared_intermediate_size": 20},
    "granitemoe": {**GROUPED, "attention_multiplier": 0.4, "num_local_experts": 4},
    "granitemoehybrid": {**GROUPED, "attention_multiplier": 0.4, "num_local_experts": 4, "mamba_n_heads": 8,
                         "mamba_d_state": 6, "shared_intermediate_size": 20, "position_embedding_type": "rope",
                         "layer_types": ["linear_attention", FULL, "linear_attention", FULL]},
    "granitemoeshared": {**GROUPED, "attention_multiplier": 0.4, "num_local_experts": 4,
                         "shared_intermediate_size": 20},
    "helium": {**GROUPED, "head_dim": 8},
    "hunyuan_v1_dense": {**GROUPED, "head_dim": 12},
    "hunyuan_v1_moe": {**GROUPED, "head_dim": 12, "num_experts": 4, "moe_topk": 2},
    "lfm2": {**GROUPED, "block_multiple_of": 8, "layer_types": ["conv", FULL, "conv", FULL]},
    "lfm2_moe": {**GROUPED, "layer_types": ["conv", FULL, "conv", FULL], "num_dense_layers": 1, "num_experts": 4,
                 "num_experts_per_tok": 2, "moe_intermediate_size": 20},
    "llama": GROUPED,
    "llama4_text": {**GROUPED, "head_dim": 12, "intermediate_size_mlp": 20, "num_local_experts": 4,
                    "attention_chunk_size": 9, "floor_scale": 8},
    "mimo_v2_flash": {**GROUPED, **ROUTED, "num_key_value_heads": 1, "head_dim": 12, "v_head_dim": 10,
                      "sliding_window": 9},
    "minimax_m2": {**GROUPED, "head_dim": 12, "num_local_experts": 4, "num_experts_per_tok": 2, "rotary_dim": 6},
    "ministral": {**GROUPED, "head_dim": 12, "sliding_window": 9},
    "ministral3": {**GROUPED, "head_dim": 12, "sliding_window": 9},
    "mistral": {**GROUPED, "sliding_window": 9},
    "mixtral": {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2},
    "mpt": {"vocab_size": VOCABULARY, "d_model": 32, "n_layers": BLOCKS, "n_heads": HEADS, "max_seq_len": 64},
    "nemotron": GROUPED,
    "nemotron_h": {**GROUPED, **ROUTED, "head_dim": 12, "mamba_num_heads": 4, "mamba_head_dim": 8, "n_groups": 2,
                   "ssm_state_size": 6, "moe_shared_expert_intermediate_size": 20, "moe_latent_size": 16,
                   "layers_block_type": ["linear_attention", "moe", FULL, "mlp"]},
    "olmo": GROUPED,
    "olmo2": GROUPED,
    "olmo3": {**GROUPED, "sliding_window": 9},
    "olmoe": {**GROUPED, "num_experts": 4, "num_experts_per_tok": 2},
    "opt": {**{k: v for k, v in SIZES.items() if k != "intermediate_size"}, "ffn_dim": 24,
            "word_embed_proj_dim": 32},
    "phi": GROUPED,
    "persimmon": SIZES,
    "phi3": GROUPED,
    "phimoe": {**GROUPED, "num_local_experts": 4, "num_experts_per_tok": 2},
    "qwen2": {**GROUPED, "sliding_window": 9, "max_window_layers": 2},
    "qwen2_moe": {**GROUPED, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 20,
                  "shared_expert_intermediate_size": 20, "sliding_window": 9, "max_window_layers": 3},
    "qwen3": {**GROUPED, "head_dim": 12, "sliding_window": 9, "max_window_layers": 2},
    "qwen3_moe": {**GROUPED, "head_dim": 12, "num_experts": 4, "num_experts_per_tok": 2,
                  "moe_intermediate_size": 20, "sliding_window": 9},
    "qwen3_5_moe_text": {**DELTA, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 20,
                         "shared_expert_intermediate_size": 20},
    "qwen3_5_text": DELTA,
    "qwen3_next": {**DELTA, "num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 20,
                   "shared_expert_intermediate_size": 20},
    "seed_oss": {**GROUPED, "head_dim": 12},
    "smollm3": {**GROUPED, "sliding_window": 9},
    "solar_open": {**GROUPED, "head_dim": 12, "n_routed_experts": 4, "num_experts_per_tok": 2,
                   "moe_intermediate_size": 20},
    "stablelm": {**GROUPED, "num_attention_heads": 2, "num_key_value_heads": 1},
    "starcoder2": {**GROUPED, "sliding_window": 9},
    "vaultgemma": GEMMA,
    "youtu": LATENT,
}

# Other values of keys whose base value does not show one.
OTHERS = {
    "activation_function": ["silu", "gelu", "tanh"],
    "attention_layers": [["local"] * BLOCKS, ["global"] * BLOCKS],
    "attention_types": [[[["local"], BLOCKS]], [[["global", "local"], 3]]],
    "attn_config": [{"clip_qkv": 0.4}, {"softmax_scale": 0.2}, {"alibi": False}, {"alibi_bias_max": 4},
                    {"attn_type": "multiquery_attention"}, {"prefix_lm": True}, {"qk_ln": True}],
    "attn_implementation": ["sdpa"],
    "attn_logit_softcapping": [2.0, None],
    "auto_map": [{"AutoModel": "modeling_x.X"}],
    "clip_qkv": [0.4],
    "cross_attention_hidden_size": [16],
    "dtype": ["bfloat16"],
    "embedding_multiplier": [2.0],
    "final_logit_softcapping": [2.0, None],
    "head_dim": [8, 16, None],
    "hidden_act": ["gelu", "relu", "quick_gelu"],
    "hidden_activation": ["silu", "gelu_new"],
    "is_causal": [False, True, None],
    "layer_types": [[FULL] * BLOCKS, [SLIDING] * BLOCKS, [FULL, SLIDING, SLIDING, FULL],
                    [FULL, SLIDING], ["attention"] * BLOCKS, ["chunked_attention"] * BLOCKS,
                    ["linear_attention", FULL, FULL, FULL]],
    "layer_rope_theta": [[500.0, 0, 10000.0, 0], [500.0] * BLOCKS],
    "global_head_dim": [24],
    "hidden_size_per_layer_input": [0, 8],
    "hybrid_override_pattern": ["MM*E"],
    "layers_block_type": [["mamba", "attention", "moe", "mlp"], ["linear_attention", "other", FULL, "mlp"]],
    "mlp_multipliers": [[0.5, 2.0], [1.0]],
    "moe_latent_size": [12, None],
    "moe_layers": [[1, 3], []],
    "moe_topk": [3, 5, [1] * BLOCKS, [1, 2, 1, 2], [2]],
    "mlp_layer_types": [["dense", "sparse", "dense", "sparse"], ["sparse"] * BLOCKS, ["other"] * BLOCKS],
    "mlp_only_layers": [[1]],
    "n_inner": [40],
    "no_rope_layers": [[1, 0, 0, 1]],
    "num_global_key_value_heads": [1, 4],
    "num_key_value_heads": [1, 4, None],
    "num_kv_shared_layers": [0, 2, 3, BLOCKS],
    "original_max_position_embeddings": [16],
    "partial_rotary_factor": [0.5, 1.0],
    "per_layer_config": [{"1": {"sliding_window": 5}}],
    "pretraining_tp": [2],
    "problem_type": ["regression"],
    "qk_norm": [True],
    "query_pre_attn_scalar": [64],
    "residual_multiplier": [0.5],
    "rope_interleaved": [True],
    "rope_local_base_freq": [500.0],
    "rope_theta": [500.0],
    "rotary_emb_base": [500.0],
    "rotary_pct": [0.5],
    "sliding_window": [5, None],
    "sliding_window_pattern": [3],
    "ssm_multipliers": [[0.5, 2.0, 0.5, 1.5, 0.7], [1.0]],
    "swiglu_alpha": [1.2],
    "swiglu_limit": [0.4],
    "topk_method": ["greedy", "noaux_tc"],
    "torch_dtype": ["bfloat16"],
    "use_bidirectional_attention": [True, False, None, "all", "vision"],
    "word_embed_proj_dim": [20],
}
# Keys of any config.json that a family may not have in its class.
FOREIGN = [
    "attention_bias", "attn_logit_softcapping", "attn_implementation", "auto_map", "embedding_multiplier",
    "experts_per_token", "head_dim", "hidden_act", "is_causal", "layer_types", "mlp_bias", "num_experts",
    "num_key_value_heads", "num_local_experts", "original_max_position_embeddings", "partial_rotary_factor",
    "per_layer_config", "pretraining_tp", "qk_norm", "residual_multiplier", "rope_interleaved",
    "rope_local_base_freq", "rope_theta", "rotary_emb_base", "rotary_pct", "sliding_window",
    "sliding_window_pattern", "torch_dtype", "use_bidirectional_attention",
]
# Families for which all rotations are tried; the others read them by the same code.
WIDELY_VARIED = {
    "gemma2", "gemma3_text", "glm", "gpt_neox", "gpt_oss", "llama", "mistral", "mixtral", "ministral3", "olmo2",
    "olmo3", "phi3", "qwen2", "qwen3", "qwen3_moe", "smollm3",
}
IGNORED = {"model_type", "transformers_version", "rope_parameters", "rope_scaling", "id2label", "label2id"}
LLAMA3 = {"rope_type": "llama3", "factor": 4.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 16}
YARN = {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}


def longrope(pairs, **more):
    short = [1.0 + 0.1 * i for i in range(pairs)]
    return {"rope_type": "longrope", "short_factor": short, "long_factor": [2 * s for s in short],
            "original_max_position_embeddings": 16, **more}


def rotations(pairs):
    """Of each kind, and each with one more key."""
    yield {"rope_type": "default"}
    yield {"rope_type": "default", "rope_theta": 500.0}
    yield {"rope_type": "default", "partial_rotary_factor": 0.5}
    yield {"rope_type": "default", "partial_rotary_factor": 1.0}
    yield {"rope_type": "default", "factor": 3.0}
    for kind in ("linear", "dynamic"):
        yield {"rope_type": kind, "factor": 3.0}
        yield {"rope_type": kind, "factor": 3.0, "partial_rotary_factor": 0.5}
        yield {"rope_type": kind, "factor": 3.0, "original_max_position_embeddings": 16}
        yield {"rope_type": kind}
    yield LLAMA3
    for key in LLAMA3:
        yield {k: v for k, v in LLAMA3.items() if k != key}
    yield YARN
    for more in ({"attention_factor": 1.3}, {"beta_fast": 8.0}, {"beta_slow": 2.0}, {"factor": None},
                 {"mscale": 0.7, "mscale_all_dim": 0.4}, {"mscale": 0.7}, {"truncate": False},
                 {"original_max_position_embeddings": 32}):
        yield {**YARN, **more}
    yield {k: v for k, v in YARN.items() if k != "original_max_position_embeddings"}
    yield longrope(pairs)
    for more in ({"factor": 2.0}, {"attention_factor": 1.3}, {"factor": 2.0, "attention_factor": 1.3}):
        yield longrope(pairs, **more)
    yield longrope(pairs // 2, partial_rotary_factor=0.5)
    for partial in (None, 0.25, 0.5, 1.0):
        proportional = {"rope_type": "proportional", "rope_theta": 500.0}
        yield proportional if partial is None else {**proportional, "partial_rotary_factor": partial}
    yield {"rope_type": "proportional", "rope_theta": 500.0, "partial_rotary_factor": 0.5, "factor": 2.0}
    yield {"rope_type": "axial"}
    yield {"type": "linear", "factor": 3.0}
    yield {"type": "su", **{k: v for k, v in longrope(pairs).items() if k != "rope_type"}}
    yield {"type": "linear", "rope_type": "default", "factor": 3.0}
    yield {FULL: {"rope_type": "linear", "factor": 3.0}, SLIDING: {"rope_type": "default"}}
    yield {FULL: {"rope_type": "default", "rope_theta": 500.0}}


def another(value):
    """Other values of the same type."""
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, 2 * value] if value else [1]
    if isinstance(value, float):
        return [value * 1.5 + 0.1]
    return []


def changes(family, config):
    """Yields (name, changed config); `config` is what transformers saved."""
    declared = {field.name for field in dataclasses.fields(CONFIG_MAPPING[family])}
    for key in sorted((declared | set(config) | set(FOREIGN)) - IGNORED):
        for value in OTHERS.get(key) or another(config.get(key)):
            yield key, {**config, key: value}
        if key in config:
            yield key, {k: v for k, v in config.items() if k != key}
    if "rope_parameters" not in config:
        return
    old = {k: v for k, v in config.items() if k != "rope_parameters"}
    theta = "rotary_emb_base" if family == "gpt_neox" else "rope_theta"
    kinds = list(rotations(head_size(config) // 2))
    for scaling in kinds if family in WIDELY_VARIED else kinds[::4]:
        yield "rope_parameters", {**config, "rope_parameters": scaling}
        yield "rope_scaling", {**old, "rope_scaling": scaling, theta: 700.0}
    for scaling in (LLAMA3, YARN, longrope(head_size(config) // 2, factor=2.0)):
        yield "original_max_position_embeddings", {
            **config, "rope_parameters": scaling, "original_max_position_embeddings": 32}
    yield "rope_scaling", {**config, "rope_scaling": {"rope_type": "linear", "factor": 3.0}}
    for nothing in (None, {}):
        yield "rope_parameters", {**old, "rope_parameters": nothing}
    yield "rope_parameters", old


def head_size(config):
    return config.get("head_dim") or config["hidden_size"] // config["num_attention_heads"]


def window_changes(config):
    """As `changes`, of the keys that count only where windows are switched on."""
    windows = {**config, "use_sliding_window": True}
    windows.pop("layer_types", None)
    yield "use_sliding_window", windows
    for key in ("layer_types", "max_window_layers", "no_rope_layers", "sliding_window"):
        for value in OTHERS.get(key) or another(config.get(key)):
            yield key, {**windows, key: value}


def load(folder):
    """The model, its weights not drawn."""
    config = AutoConfig.from_pretrained(folder)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32, attn_implementation="eager")
    expected.correct(model)
    return model.eval()


def token_ids():
    ids = torch.randint(3, VOCABULARY, (1, LENGTH), generator=torch.Generator().manual_seed(7))
    ids[0, 0] = checkpoint_cases.FIRST_TOKEN
    return ids


@torch.no_grad()
def states(model):
    out = model(input_ids=token_ids(), use_cache=False, output_hidden_states=True)
    last = out.hidden_states[-1][0].float().contiguous()
    if not last.isfinite().all():
        raise ValueError("the states are not finite")
    return last


@torch.no_grad()
def draw(model, name):
    checkpoint_cases.draw_weights(model, torch.Generator().manual_seed(checkpoint_cases.seed(name)))


def count_weights(model):
    return sum(tensor.numel() for tensor in model.parameters())


def shapes(model):
    tied = model.get_input_embeddings().weight is model.get_output_embeddings().weight
    return {name: tuple(tensor.shape) for name, tensor in model.state_dict().items()} | {"tied": tied}


class Family:
    """One base checkpoint and its changed configs."""

    def __init__(self, name, out):
        self.name, self.out = name, out
        self.cases, self.states = [], {}
        shutil.rmtree(out / name, ignore_errors=True)
        base = out / name / "base"
        model = AutoModelForCausalLM.from_config(CONFIG_MAPPING[name](**FAMILIES[name]))
        draw(model, name)
        model.save_pretrained(base)
        self.config = json.loads((base / "config.json").read_text())
        self.weights = base / "model.safetensors"
        self.state, self.shapes = model.state_dict(), shapes(model)
        self.weight_count = count_weights(model)
        self.write("base", self.config)

    def write(self, key, config):
        folder = self.out / self.name / f"{len(self.cases):03d}_{key}"
        folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(config, indent=1) + "\n"
        (folder / "config.json").write_text(text)
        changed = [name for name in sorted({*config, *self.config})
                   if config.get(name, self) != self.config.get(name, self)]
        case = {"folder": f"{self.name}/{folder.name}", "family": self.name, "key": key, "changed": changed,
                "runs": False, "fits": True, "reshaped": key == "num_attention_heads", "config": config}
        try:
            with torch.device("meta"):
                case["fits"] = count_weights(load(folder)) <= LARGEST_GROWTH * self.weight_count
            if not case["fits"]:
                raise ValueError("the base's weights have other shapes")
            model = load(folder)
            if shapes(model) == self.shapes:
                model.load_state_dict(self.state)
            else:
                case["reshaped"] = True
                draw(model, self.name)
                model.save_pretrained(folder)
                (folder / "config.json").write_text(text)
            self.states[folder.name] = states(model)
            case["runs"] = True
        except Exception as error:  # whatever transformers says no with
            case["refusal"] = f"{type(error).__name__}: {str(error)[:200]}"
        if not (folder / "model.safetensors").exists():
            os.link(self.weights, folder / "model.safetensors")
        self.cases.append(case)

    def run(self):
        for key, changed in changes(self.name, self.config):
            self.write(key, changed)
        if "use_sliding_window" in self.config:
            for key, changed in window_changes(self.config):
                self.write(key, changed)
        self.states["ids"] = token_ids()[0]
        save_file(self.states, self.out / f"{self.name}.safetensors")
        return self.cases


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    done = stamp.Stamp(out, [__file__, checkpoint_cases.__file__])
    if done.is_current():
        return
    torch.set_num_threads(1)
    logging.set_verbosity(logging.CRITICAL)
    logging.disable_progress_bar()
    cases = [case for name in FAMILIES for case in Family(name, out).run()]
    (out / "cases.json").write_text(json.dumps(cases, indent=1) + "\n")
    print(f"{len(cases)} cases, {sum(case['runs'] for case in cases)} of which transformers computes")
    done.write()


if __name__ == "__main__":
    main()
