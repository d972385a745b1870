"""Saved checkpoints rewritten into the other forms people have them in; the model stays the same.

An edit takes the folder of a checkpoint kept in one safetensors file. `float8_weights` and
`mxfp4_experts` change a model before it is saved, so that those forms hold it without loss.
"""

import json

import torch
from safetensors.torch import load_file, save_file

MXFP4_VALUES = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
MXFP4_BLOCK = 32


def edit_config(folder, change):
    path = folder / "config.json"
    config = json.loads(path.read_text())
    path.write_text(json.dumps(change(config) or config, indent=2) + "\n")


def edit_tensors(folder, change):
    path = folder / "model.safetensors"
    tensors = load_file(path)
    changed = change(tensors)
    tensors = tensors if changed is None else changed
    save_file({k: v.contiguous() for k, v in tensors.items()}, path, metadata={"format": "pt"})


def in_turn(*edits):
    def apply(folder):
        for edit in edits:
            edit(folder)

    return apply


# ---- configuration --------------------------------------------------------------------------


def scaling_key_type(name):
    """rope_scaling's old key `type`, holding `name`."""

    def change(config):
        scaling = config["rope_scaling"]
        scaling.pop("rope_type", None)
        config["rope_scaling"] = {"type": name} | {k: v for k, v in scaling.items() if k != "type"}

    return lambda folder: edit_config(folder, change)


def rope_parameters(folder):
    """The form that transformers 5 writes."""

    def change(config):
        scaling = dict(config.pop("rope_scaling", None) or {})
        kind = scaling.pop("type", None) or scaling.get("rope_type", "default")
        one = {**scaling, "rope_type": kind, "rope_theta": config.pop("rope_theta")}
        if "partial_rotary_factor" in config:
            one["partial_rotary_factor"] = config.pop("partial_rotary_factor")
        if "original_max_position_embeddings" in config:  # kept outside too
            one["original_max_position_embeddings"] = config["original_max_position_embeddings"]
        config["rope_parameters"] = one
        if "rope_local_base_freq" in config:
            local = {"rope_type": "default", "rope_theta": config.pop("rope_local_base_freq")}
            config["rope_parameters"] = {"full_attention": one, "sliding_attention": local}
        config["transformers_version"] = "5.0.0"

    edit_config(folder, change)


def drop_keys(*keys):
    def change(config):
        for key in keys:
            del config[key]

    return lambda folder: edit_config(folder, change)


def torch_dtype_key(folder):
    def change(config):
        config["torch_dtype"] = config.pop("dtype")

    edit_config(folder, change)


# ---- names ----------------------------------------------------------------------------------


def base_model(prefix, architecture):
    """As the class without a head writes it: no prefix, no head."""

    def rename(tensors):
        return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}

    def change(config):
        config["architectures"] = [architecture]

    return in_turn(lambda f: edit_tensors(f, rename), lambda f: edit_config(f, change))


def only_head(embedding):
    """Of a tied pair, the file keeps the head."""

    def change(tensors):
        tensors["lm_head.weight"] = tensors.pop(embedding)

    return lambda folder: edit_tensors(folder, change)


def other_head(embedding):
    """A tied checkpoint with a head that differs from the embedding, which wins."""

    def change(tensors):
        tensors["lm_head.weight"] = tensors[embedding] * 0.5 + 1

    return lambda folder: edit_tensors(folder, change)


def without_head(folder):
    def change(tensors):
        del tensors["lm_head.weight"]

    edit_tensors(folder, change)


def extra_tensors(names):
    """Tensors that no part of the model reads."""

    def change(tensors):
        tensors.update({name: torch.full((3, 5), 7.0) for name in names})

    return lambda folder: edit_tensors(folder, change)


def nested_gemma3(folder):
    """The text part of a vision and language checkpoint."""

    def change(config):
        return {
            "architectures": ["Gemma3ForConditionalGeneration"],
            "model_type": "gemma3",
            "dtype": config.pop("dtype"),
            "mm_tokens_per_image": 4,
            "text_config": config,
            "vision_config": {"model_type": "siglip_vision_model", "num_hidden_layers": 1},
        }

    def rename(tensors):
        tensors = {f"language_model.{name}": tensor for name, tensor in tensors.items()}
        for name in ("vision_tower.vision_model.post_layernorm.weight",
                     "multi_modal_projector.mm_input_projection_weight"):
            tensors[name] = torch.ones(8)
        return tensors

    edit_config(folder, change)
    edit_tensors(folder, rename)


# ---- number formats -------------------------------------------------------------------------


def is_projection(name, tensor):
    return tensor.dim() == 2 and "_proj" in name


def float8_weights(model):
    for name, parameter in model.named_parameters():
        if is_projection(name, parameter):
            parameter.copy_(parameter.to(torch.float8_e4m3fn).float())


def store_float8(folder):
    def change(tensors):
        return {
            k: v.to(torch.float8_e4m3fn) if is_projection(k, v) else v for k, v in tensors.items()
        }

    edit_tensors(folder, change)


def _mxfp4(weights):
    """[E, in, out] as indices of MXFP4_VALUES [E, out, in/32, 32] and exponents [E, out, in/32]."""
    blocks = weights.float().transpose(1, 2).unflatten(2, (-1, MXFP4_BLOCK))
    exponents = (blocks.abs().amax(dim=-1) / 6).log2().ceil()
    scaled = blocks * 2 ** -exponents[..., None]
    return (scaled[..., None] - MXFP4_VALUES).abs().argmin(dim=-1), exponents


def _is_expert(name):
    return name.endswith(("experts.gate_up_proj", "experts.down_proj"))


def mxfp4_experts(model):
    for name, parameter in model.named_parameters():
        if _is_expert(name):
            indices, exponents = _mxfp4(parameter)
            values = MXFP4_VALUES[indices] * 2 ** exponents[..., None]
            parameter.copy_(values.flatten(2).transpose(1, 2))


def store_mxfp4(folder):
    """gpt_oss's published form."""

    def change(tensors):
        for name in [name for name in tensors if _is_expert(name)]:
            indices, exponents = _mxfp4(tensors.pop(name))
            low, high = indices[..., 0::2], indices[..., 1::2]
            tensors[f"{name}_blocks"] = (low | high << 4).to(torch.uint8)
            tensors[f"{name}_scales"] = (exponents + 127).to(torch.uint8)

    def quantised(config):
        kept = ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens",
                "lm_head"]
        config["quantization_config"] = {"quant_method": "mxfp4", "modules_to_not_convert": kept}

    edit_tensors(folder, change)
    edit_config(folder, quantised)
