"""GGUF files of the checkpoints that other oracles wrote, as llama.cpp's converter makes them.

    PYTHONPATH=.venv/transformers-5 python -m tests.oracle.gguf_models OUT ORACLES

reads ORACLES/decoders/CASE, ORACLES/families/CASE and writes OUT/models/CASE/gguf/model.gguf, beside
it hf/ with the same weights, and OUT/index.json. The names of tensors and keys are the gguf package's.
"""

import argparse
import json
import pathlib
import re
import shutil

import gguf
import torch
from safetensors.torch import load_file, save_file

from tests.oracle import stamp

HERE = pathlib.Path(__file__).resolve().parent
SOFTMAX, SIGMOID = gguf.ExpertGatingFuncType.SOFTMAX, gguf.ExpertGatingFuncType.SIGMOID
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 32, "rope_theta": 10000.0}
DEEP_YARN = {**YARN, "mscale": 0.7, "mscale_all_dim": 0.7}
TIED = {"tie_word_embeddings": True}
# general.architecture, and the changes to config.json that a GGUF file can say.
CASES = {
    "decoders/arcee_plain": ("arcee", {}),
    "decoders/bloom_bias": ("bloom", {}),
    "decoders/cohere2_windows": ("cohere2", TIED),
    "decoders/cohere_plain": ("command-r", {}),
    "decoders/deepseek_v2_direct": ("deepseek2", {}),
    "decoders/deepseek_v2_groups": ("deepseek2", {"attention_bias": False, "rope_parameters": DEEP_YARN}),
    "decoders/deepseek_v3_halves": ("deepseek2", {"rope_interleave": True}),
    "decoders/dots1_experts": ("dots1", {"sliding_window": None, "layer_types": None}),
    "decoders/ernie4_5_moe_experts": ("ernie4_5-moe", {}),
    "decoders/ernie4_5_plain": ("ernie4_5", {}),
    "decoders/exaone4_full": ("exaone4", {}),
    "decoders/exaone4_windows": ("exaone4", {}),
    "decoders/gemma_plain": ("gemma", TIED),
    "decoders/glm4_moe_groups": ("glm4moe", {}),
    "decoders/glm4_plain": ("glm4", {}),
    "decoders/gpt_bigcode_one_key": ("starcoder", {}),
    "families/gpt2_plain": ("gpt2", {}),
    "families/gpt_neox_parallel": ("gptneox", {}),
    "families/gpt_neox_sequential": ("gptneox", {}),
    "families/gpt_oss_sinks": ("gpt-oss", {}),
    "decoders/granitemoe_experts": ("granitemoe", {}),
    "decoders/granitemoeshared_experts": ("granitemoe", {}),
    "decoders/hunyuan_alpha": ("hunyuan-dense", {
        "rope_parameters": {"rope_type": "dynamic", "rope_theta": 10000.0, "alpha": 50.0}}),
    "decoders/hunyuan_moe_experts": ("hunyuan-moe", {}),
    "decoders/lfm2_convolutions": ("lfm2", {}),
    "decoders/lfm2_moe_experts": ("lfm2moe", {**TIED, "routed_scaling_factor": 1.0}),
    "decoders/minimax_m2_experts": ("minimax-m2", {}),
    "decoders/mpt_bias": ("mpt", {"attn_config": {"clip_qkv": 1.0}}),
    "decoders/nemotron_plain": ("nemotron", {}),
    "decoders/olmo3_windows": ("olmo2", {"rope_parameters": {
        "full_attention": YARN | {"rope_theta": 500000.0},
        "sliding_attention": {"rope_type": "default", "rope_theta": 500000.0}}}),
    "decoders/olmo_clipped": ("olmo", {}),
    "decoders/olmo_plain": ("olmo", {}),
    "decoders/olmoe_experts": ("olmoe", {}),
    "decoders/phi_plain": ("phi2", {}),
    "decoders/phimoe_experts": ("phimoe", {"router_jitter_noise": 0.01}),
    "decoders/seed_oss_plain": ("seed_oss", {}),
    "families/smollm3_biases": ("smollm3", {"use_sliding_window": False, "sliding_window": None,
                                            "layer_types": None, "no_rope_layers": None,
                                            "no_rope_layer_interval": 4}),
    "decoders/stablelm_parallel": ("stablelm", {}),
    "decoders/stablelm_plain": ("stablelm", {}),
}
# Shorter keys of older families.
USUAL = {"n_layer": "num_hidden_layers", "n_layers": "num_hidden_layers", "n_embd": "hidden_size",
         "d_model": "hidden_size", "n_head": "num_attention_heads", "n_heads": "num_attention_heads",
         "n_positions": "max_position_embeddings", "max_seq_len": "max_position_embeddings",
         "n_inner": "intermediate_size"}
# Whose rotation pairs neighbouring channels there, and halves in the checkpoint.
INTERLEAVED = ("arcee", "granitemoe", "olmo", "smollm3")


def merge_experts(tensors):
    """Matrices of all experts of a block, and norms of all heads, in one tensor each."""
    merged, result = {}, {}
    for name, tensor in tensors.items():
        match = re.fullmatch(r"(.*)\.(experts|norms)\.(\d+)\.(.*)", name)
        if match is None:
            result[name] = tensor
            continue
        module, kind, number, rest = match.groups()
        target = f"{module}.{rest}" if kind == "norms" else f"{module}.experts.{rest}"
        merged.setdefault(target, {})[int(number)] = tensor
    return result | {name: torch.stack([of[i] for i in sorted(of)]) for name, of in merged.items()}


def interleave(weight, heads):
    rows = weight.shape[0]
    return weight.unflatten(0, (heads, 2, rows // heads // 2)).transpose(1, 2).reshape(weight.shape)


def split(name, tensor, config):
    """The tensors that a file has in place of one."""
    kind = config["model_type"]
    block, part = re.fullmatch(r"(model\.layers\.\d+\.|)(.*)", name).groups()
    if part == "self_attn.kv_b_proj.weight":
        own, values = config["qk_nope_head_dim"], config["v_head_dim"]
        keys, values = tensor.unflatten(0, (-1, own + values)).split([own, values], 1)
        return {f"{block}self_attn.k_b_proj.weight": keys.transpose(1, 2),
                f"{block}self_attn.v_b_proj.weight": values}
    if kind.startswith("granitemoe") and part.endswith("input_linear.weight"):
        shared = "_shexp" if part.startswith("shared") else "_exps"
        gate, up = tensor.chunk(2, -2)
        return {f"{block}ffn_gate{shared}.weight": gate, f"{block}ffn_up{shared}.weight": up}
    if kind == "gpt_oss" and ".experts." in part:
        suffix = ".bias" if part.endswith("_bias") else ".weight"
        rows = tensor if suffix == ".bias" else tensor.transpose(1, 2)
        if "down" in part:
            return {f"{block}ffn_down_exps{suffix}": rows}
        return {f"{block}ffn_gate_exps{suffix}": rows[:, ::2], f"{block}ffn_up_exps{suffix}": rows[:, 1::2]}
    if kind in ("gpt_neox", "bloom") and "query_key_value" in part:
        return {name: tensor.unflatten(0, (config["num_attention_heads"], 3, -1)).transpose(0, 1).flatten(0, 2)}
    if kind == "gpt2" and re.search(r"c_(attn|proj|fc)\.weight", part):
        return {name: tensor.T}
    if config["interleaved"] and "q_proj" in part:
        tensor = interleave(tensor, config["num_attention_heads"])
    if config["interleaved"] and "k_proj" in part:
        tensor = interleave(tensor, config["num_key_value_heads"])
    if kind in ("gemma", "nemotron") and part.endswith("norm.weight"):
        tensor = tensor + 1
    if part.endswith("sinks"):
        return {f"{name}.weight": tensor}
    part = part.replace("e_score_correction_bias", "e_score_correction.bias")
    return {f"{block}{part.replace('expert_bias', 'expert_bias.bias')}": tensor}


def target_name(names, name):
    """In the gguf package's words; of experts and heads, converters rename the modules first."""
    match = re.fullmatch(r"model\.layers\.(\d+)\.(ffn_\w+)\.(weight|bias)", name)
    if match:
        return f"blk.{match[1]}.{match[2]}.{match[3]}"
    for candidate in (name, name.replace("block_sparse_moe", "mlp"), name.removeprefix("model."),
                      name.removeprefix("transformer."),
                      name.replace("model.layers", "layers").replace("block_sparse_moe", "feed_forward")):
        target = names.get_name(candidate, try_suffixes=(".weight", ".bias"))
        if target:
            return target
    raise KeyError(name)


def write_rope(writer, config, rope):
    scaling = rope.get("rope_type")
    theta = rope["rope_theta"]
    if scaling == "dynamic":  # Hunyuan's: a larger base
        size = config["head_dim"]
        theta *= rope["alpha"] ** (size / (size - 2))
    writer.add_rope_freq_base(theta)
    if scaling == "yarn":
        writer.add_rope_scaling_type(gguf.RopeScalingType.YARN)
        writer.add_rope_scaling_factor(rope["factor"])
        writer.add_rope_scaling_orig_ctx_len(rope["original_max_position_embeddings"])
        if rope.get("mscale_all_dim"):
            writer.add_rope_scaling_yarn_log_mul(0.1 * rope["mscale_all_dim"])


def write_heads(writer, config, rope):
    heads = config["num_attention_heads"]
    writer.add_head_count(heads)
    if "kv_lora_rank" in config:
        rank, turned = config["kv_lora_rank"], config["qk_rope_head_dim"]
        writer.add_head_count_kv(1)
        writer.add_kv_lora_rank(rank)
        if config["q_lora_rank"]:
            writer.add_q_lora_rank(config["q_lora_rank"])
        writer.add_key_length(rank + turned)
        writer.add_value_length(rank)
        writer.add_key_length_mla(config["qk_nope_head_dim"] + turned)
        writer.add_value_length_mla(config["v_head_dim"])
        writer.add_rope_dimension_count(turned)
        return
    keys = config.get("num_key_value_heads") or heads
    convolutions = "conv" in (config.get("layer_types") or ())
    writer.add_head_count_kv([keys if kind != "conv" else 0 for kind in config["layer_types"]]
                             if convolutions else keys)
    size = config.get("head_dim") or config["hidden_size"] // heads
    if config.get("head_dim"):
        writer.add_key_length(size)
        writer.add_value_length(size)
    share = rope.get("partial_rotary_factor", config.get("rotary_pct", 1))
    writer.add_rope_dimension_count(config.get("rotary_dim") or int(share * size))


# What a key of config.json is in a file: the method of the writer, and the value's part if it is a list.
KEYS = {
    "rms_norm_eps": "layer_norm_rms_eps", "norm_eps": "layer_norm_rms_eps", "layer_norm_eps": "layer_norm_eps",
    "layer_norm_epsilon": "layer_norm_eps",
    "num_local_experts": "expert_count", "num_experts": "expert_count", "n_routed_experts": "expert_count",
    "moe_num_experts": "expert_count", "num_experts_per_tok": "expert_used_count", "moe_k": "expert_used_count",
    "moe_topk": "expert_used_count", "moe_intermediate_size": "expert_feed_forward_length",
    "n_shared_experts": "expert_shared_count", "moe_num_shared_experts": "expert_shared_count",
    "first_k_dense_replace": "leading_dense_block_count", "num_dense_layers": "leading_dense_block_count",
    "moe_layer_start_index": "leading_dense_block_count", "moe_layer_interval": "interleave_moe_layer_step",
    "n_group": "expert_group_count", "topk_group": "expert_group_used_count",
    "shared_intermediate_size": "expert_shared_feed_forward_length", "sliding_window": "sliding_window",
    "logit_scale": "logit_scale", "clip_qkv": "clamp_kqv", "use_parallel_residual": "parallel_residual",
    "attention_multiplier": "attention_scale", "embedding_multiplier": "embedding_scale",
    "residual_multiplier": "residual_scale", "logits_scaling": "logit_scale", "conv_L_cache": "shortconv_l_cache",
}
OF_EXPERTS = {"routed_scaling_factor": "expert_weights_scale", "norm_topk_prob": "expert_weights_norm"}
SIGMOIDS = ("deepseek_v3", "dots1", "glm4_moe", "lfm2_moe", "minimax_m2")
SCORED = ("deepseek_v2", *SIGMOIDS)  # whose config.json says how
WINDOW_PATTERN = ("olmo3", "exaone4")


def write_keys(writer, config):
    kind = config["model_type"]
    further = config.get("num_nextn_predict_layers", 0) if kind == "glm4_moe" else 0
    writer.add_block_count(config["num_hidden_layers"] + further)
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    width = config["intermediate_size"]
    if config.get("block_auto_adjust_ff_dim"):
        multiple = config["block_multiple_of"]
        width = -(-(2 * width // 3) // multiple) * multiple
    writer.add_feed_forward_length(width)
    if kind == "olmo":
        writer.add_layer_norm_eps(1e-5)
    if kind == "mpt":
        writer.add_max_alibi_bias(8.0)
        writer.add_clamp_kqv(config["attn_config"]["clip_qkv"])
    keys = KEYS | (OF_EXPERTS if kind in SCORED and kind != "lfm2_moe" else {})
    if kind == "nemotron":
        keys = keys | {"norm_eps": "layer_norm_eps"}
    for key, name in keys.items():
        if config.get(key) is not None:
            getattr(writer, f"add_{name}")(config[key])
    if kind in ("gpt_oss", "minimax_m2"):
        writer.add_expert_feed_forward_length(config["intermediate_size"])
    if kind in SCORED:
        writer.add_expert_gating_func(SIGMOID if kind in SIGMOIDS else SOFTMAX)
    if kind in WINDOW_PATTERN and config.get("sliding_window"):
        writer.add_sliding_window_pattern([of == "sliding_attention" for of in config["layer_types"]])
    if further:
        writer.add_nextn_predict_layers(further)


def write_model(source, out, architecture, changes):
    config = json.loads((source / "config.json").read_text()) | changes
    tensors = {name: tensor for file in sorted(source.glob("*.safetensors")) for name, tensor in load_file(file).items()}
    if config.get("tie_word_embeddings", True):
        tensors.pop("lm_head.weight", None)
    (out / "hf").mkdir(parents=True)
    save_file(tensors, out / "hf" / "model.safetensors", {"format": "pt"})
    (out / "hf" / "config.json").write_text(json.dumps(config, indent=2))
    (out / "gguf").mkdir()
    config |= {usual: config[key] for key, usual in USUAL.items() if key in config}
    config["intermediate_size"] = config.get("intermediate_size") or 4 * config["hidden_size"]
    config.setdefault("max_position_embeddings", 2048)
    writer = gguf.GGUFWriter(out / "gguf" / "model.gguf", architecture)
    rope = config.get("rope_parameters") or {"rope_theta": config.get("rope_theta", 10000.0),
                                             **(config.get("rope_scaling") or {})}
    rope = rope.get("full_attention", rope)
    write_keys(writer, config)
    write_heads(writer, config, rope)
    write_rope(writer, config, rope)
    config["interleaved"] = architecture in INTERLEAVED
    kind = next(kind for kind, name in gguf.MODEL_ARCH_NAMES.items() if name == architecture)
    names = gguf.get_tensor_name_map(kind, config["num_hidden_layers"])
    for name, whole in merge_experts(tensors).items():
        for part, tensor in split(name, whole, config).items():
            writer.add_tensor(target_name(names, part), tensor.float().squeeze().contiguous().numpy())
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("oracles", type=pathlib.Path)
    arguments = parser.parse_args()
    sources = [arguments.oracles / case for case in CASES]
    files = sorted(file for source in sources for file in source.iterdir())
    done = stamp.Stamp(arguments.out, [__file__, *files])
    if done.is_current():
        return
    shutil.rmtree(arguments.out, ignore_errors=True)
    for source, (architecture, changes) in zip(sources, CASES.values()):
        write_model(source, arguments.out / "models" / source.name, architecture, changes)
    index = {"models": [source.name for source in sources]}
    (arguments.out / "index.json").write_text(json.dumps(index))
    done.write()


if __name__ == "__main__":
    main()
