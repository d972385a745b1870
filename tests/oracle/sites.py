"""Every site of every block as transformers computes it; names as in server/engine/site.h.

A site is the input or output of a module of the block. Where a block has no such module (the units
of a mixture of experts) or nothing flows there (between the halves of a parallel block), the site
is absent.
"""

import contextlib

import torch
import torch.nn.functional as F
from safetensors.numpy import save_file

LONGEST = 200  # positions; longer samples would take hundreds of megabytes


def _input(inputs, _output):
    return inputs[0]


def _output(_inputs, output):
    return output[0] if isinstance(output, tuple) else output


def _times(factor):
    return lambda inputs, output: _output(inputs, output) * factor


def _half(number):
    return lambda _inputs, output: output.chunk(2, dim=-1)[number]


def _silu(_inputs, output):
    return F.silu(output)


def _columns(first, count):
    return lambda _inputs, output: output[..., first : first + count]


def _of_each_head(number, heads, group=1):
    """Of a projection whose columns are [q; k; v] of key head 0, of key head 1, ..., q of all the heads of
    its group."""
    place = number + group - 1
    return lambda _inputs, output: output.unflatten(-1, (heads, group + 2, -1))[..., place, :].flatten(-2)


def _of_each_quarter(number):
    """Of a projection whose columns are [q; v; k] of a quarter of the heads, of the next, ..."""
    return lambda _inputs, output: output.unflatten(-1, (4, 3, -1))[..., number, :].flatten(-2)


def _latent_keys(config):
    """A head's own channels of the key come from one projection, those that all heads share from
    another; each is given with zeros in place of the other's."""
    heads, own, shared = config.num_attention_heads, config.qk_nope_head_dim, config.qk_rope_head_dim

    def read(inputs, output):
        if inputs[0].shape[-1] == config.kv_lora_rank:
            channels = output.unflatten(-1, (heads, -1))[..., :own]
            return torch.nn.functional.pad(channels, (0, shared)).flatten(-2)
        channels = output[..., None, config.kv_lora_rank :].expand(*output.shape[:-1], heads, shared)
        return torch.nn.functional.pad(channels, (own, 0)).flatten(-2)

    return read


def _latent_values(config):
    heads, own = config.num_attention_heads, config.qk_nope_head_dim
    return lambda _inputs, output: output.unflatten(-1, (heads, -1))[..., own:].flatten(-2)


def _keys_and_values(config):
    heads = config.num_attention_heads
    fused = {"bloom": "self_attention", "falcon": "self_attention", "gpt_neox": "attention", "persimmon": "self_attn"}
    if config.model_type in fused or config.model_type == "gpt_bigcode":
        key_heads = heads
        if config.model_type == "gpt_bigcode":
            key_heads = 1 if config.multi_query else heads
        elif config.model_type == "falcon":
            key_heads = config.num_kv_heads
            if not config.new_decoder_architecture and config.multi_query:
                key_heads = 1
        read = [_of_each_head(number, key_heads, heads // key_heads) for number in (1, 2)]
        path = f"{fused[config.model_type]}.query_key_value" if config.model_type in fused else "attn.c_attn"
    elif config.model_type == "codegen":
        read = [_of_each_quarter(number) for number in (2, 1)]
        path = "attn.qkv_proj"
    elif config.model_type == "gptj":
        return {"key": ("attn.k_proj", _output), "value": ("attn.v_proj", _output)}
    elif config.model_type == "gpt_neo":
        return {"key": ("attn.attention.k_proj", _output), "value": ("attn.attention.v_proj", _output)}
    elif config.model_type == "mpt":
        read = [_columns(number * config.hidden_size, config.hidden_size) for number in (1, 2)]
        path = "attn.Wqkv"
    elif config.model_type in ("gpt2", "phi3"):
        head_size = config.hidden_size // heads
        width = getattr(config, "num_key_value_heads", heads) * head_size
        read = [_columns(heads * head_size + number * width, width) for number in (0, 1)]
        path = "attn.c_attn" if config.model_type == "gpt2" else "self_attn.qkv_proj"
    elif getattr(config, "kv_lora_rank", None):
        return {"key": ("self_attn.kv_b_proj+self_attn.kv_a_proj_with_mqa", _latent_keys(config)),
                "value": ("self_attn.kv_b_proj", _latent_values(config))}
    else:
        return {"key": ("self_attn.k_proj", _output), "value": ("self_attn.v_proj", _output)}
    return {"key": (path, read[0]), "value": (path, read[1])}


def _ungated(up, act, down):
    return {"gate": None, "up": (up, _output), "act": (act, _output), "product": (down, _input)}


LLAMA = {
    "resid_pre": ("", _input),
    "attn_out": ("self_attn", _output),
    "resid_mid": ("post_attention_layernorm", _input),
    "mlp_in": ("mlp", _input),
    "gate": ("mlp.gate_proj", _output),
    "up": ("mlp.up_proj", _output),
    "act": ("mlp.act_fn", _output),
    "product": ("mlp.down_proj", _input),
    "mlp_out": ("mlp", _output),
    "resid_post": ("", _output),
}
# Their residual stream receives what the norms after attention and MLP give.
NORMS_AFTER = {
    "attn_out": ("post_attention_layernorm", _output),
    "resid_mid": ("pre_feedforward_layernorm", _input),
    "mlp_out": ("post_feedforward_layernorm", _output),
}
FUSED_GATE = {"gate": ("mlp.gate_up_proj", _half(0)), "up": ("mlp.gate_up_proj", _half(1)),
              "act": ("mlp.activation_fn", _output)}
NO_GATE = _ungated("mlp.up_proj", "mlp.act_fn", "mlp.down_proj")
MEGATRON = _ungated("mlp.dense_h_to_4h", "mlp.act", "mlp.dense_4h_to_h")
GPT2 = {"attn_out": ("attn", _output), "resid_mid": ("ln_2", _input),
        **_ungated("mlp.c_fc", "mlp.act", "mlp.c_proj")}
GPTJ = {"attn_out": ("attn", _output), "resid_mid": None, **_ungated("mlp.fc_in", "mlp.act", "mlp.fc_out")}
SHARED_MIXTURE = {"mlp_in": ("block_sparse_moe", _input), "mlp_out": ("block_sparse_moe+shared_mlp", _output)}
OF_FAMILY = {
    "apertus": {**NO_GATE, "resid_mid": ("feedforward_layernorm", _input)},
    "bloom": {**MEGATRON, "act": ("mlp.gelu_impl", _output), "attn_out": ("self_attention.dense", _output),
              "mlp_out": ("mlp.dense_4h_to_h", _output)},
    "codegen": GPTJ,
    "falcon": {**MEGATRON, "attn_out": ("self_attention", _output)},
    "flex_olmo": {**NORMS_AFTER, "resid_mid": ("mlp", _input)},
    "gpt_bigcode": GPT2,
    "gpt_neo": GPT2,
    "gptj": GPTJ,
    "granitemoe_swa": SHARED_MIXTURE,
    "llama4_text": {"mlp_in": ("feed_forward", _input), "gate": ("feed_forward.gate_proj", _output),
                    "up": ("feed_forward.up_proj", _output), "act": ("feed_forward.activation_fn", _output),
                    "product": ("feed_forward.down_proj", _input), "mlp_out": ("feed_forward", _output)},
    "mpt": {"attn_out": ("attn", _output), "resid_mid": ("norm_2", _input), "mlp_in": ("ffn", _input),
            "mlp_out": ("ffn.down_proj", _output), **_ungated("ffn.up_proj", "ffn.act", "ffn.down_proj")},
    "persimmon": MEGATRON,
    "arcee": NO_GATE,
    "exaone4": {**NORMS_AFTER, "resid_mid": ("mlp", _input)},
    "gemma2": NORMS_AFTER,
    "gemma3_text": NORMS_AFTER,
    "glm": FUSED_GATE,
    "glm4": {**FUSED_GATE, "attn_out": ("post_self_attn_layernorm", _output),
             "mlp_out": ("post_mlp_layernorm", _output)},
    "gpt2": GPT2,
    "gpt_neox": {**MEGATRON, "attn_out": ("attention", _output)},
    "granitemoe": {"mlp_in": ("block_sparse_moe", _input), "mlp_out": ("block_sparse_moe", _output)},
    "granitemoeshared": SHARED_MIXTURE,
    "lfm2": {"attn_out": ("self_attn+conv", _output), "resid_mid": ("ffn_norm", _input),
             "mlp_in": ("feed_forward", _input), "gate": ("feed_forward.w1", _output),
             "up": ("feed_forward.w3", _output), "act": ("feed_forward.w1", _silu),
             "product": ("feed_forward.w2", _input), "mlp_out": ("feed_forward", _output)},
    "granitemoehybrid": {"attn_out": ("self_attn+mamba", _output), "mlp_in": ("shared_mlp", _input),
                         "gate": None, "up": None, "act": None, "product": None,
                         "mlp_out": ("block_sparse_moe+shared_mlp", _output)},
    "mixtral": {"mlp_in": ("block_sparse_moe", _input), "mlp_out": ("block_sparse_moe", _output)},
    "nemotron": NO_GATE,
    "olmo2": {**NORMS_AFTER, "resid_mid": ("mlp", _input)},
    "olmo3": {**NORMS_AFTER, "resid_mid": ("mlp", _input)},
    "opt": {"resid_mid": ("final_layer_norm", _input), "mlp_in": ("fc1", _input),
            "mlp_out": ("fc2", _output), **_ungated("fc1", "activation_fn", "fc2")},
    "phi": _ungated("mlp.fc1", "mlp.activation_fn", "mlp.fc2"),
    "phi3": FUSED_GATE,
    "starcoder2": _ungated("mlp.c_fc", "mlp.act", "mlp.c_proj"),
    "vaultgemma": {"resid_mid": ("pre_feedforward_layernorm", _input)},
}


OF_FAMILY["lfm2_moe"] = OF_FAMILY["lfm2"]
for _family in ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text"):
    OF_FAMILY[_family] = {"attn_out": ("self_attn+linear_attn", _output)}


def of_block(config):
    """Site -> (module of the block, what to read of its call)."""
    places = {**LLAMA, **_keys_and_values(config), **OF_FAMILY.get(config.model_type, {})}
    if config.model_type == "gpt_neox" and config.use_parallel_residual:
        places["resid_mid"] = None
    if config.model_type == "falcon" and config.parallel_attn:
        places["resid_mid"] = None
    if config.model_type == "granitemoehybrid" and config.num_local_experts == 0:
        units = "shared_mlp.input_linear"
        places.update(gate=(units, _half(0)), up=(units, _half(1)), act=("shared_mlp.activation", _output),
                      product=("shared_mlp.output_linear", _input))
    if config.model_type.startswith("granite"):
        for site in ("attn_out", "mlp_out"):
            places[site] = (places[site][0], _times(config.residual_multiplier))
    if config.model_type == "opt" and not config.do_layer_norm_before:
        places["resid_mid"] = ("fc1", _input)  # its norms follow the residual adds
    return {site: place for site, place in places.items() if place}


@contextlib.contextmanager
def recorded(decoder, layers):
    """While it is open, a pass of `decoder`, whose blocks are `layers`, fills the dictionary it
    gives: "site.block" -> [T, width] float32."""
    values, handles = {}, []

    def keep(name, module, read):
        def hook(_module, inputs, output):
            rows = read(inputs, output)
            rows = rows.reshape(-1, rows.shape[-1]).float()
            values[name] = rows + values[name] if name in values else rows.clone()

        handles.append(module.register_forward_hook(hook))

    for block, layer in enumerate(layers):
        modules = dict(layer.named_modules())
        for site, (path, read) in of_block(decoder.config).items():
            for part in path.split("+"):  # their outputs are added
                if part in modules:
                    keep(f"{site}.{block}", modules[part], read)
    # Past the final norm, if there is one, and opt-350m's projection.
    keep(f"final_norm.{len(layers) - 1}", decoder, lambda _inputs, output: output[0])
    try:
        yield values
    finally:
        for handle in handles:
            handle.remove()


def distances(values, exact):
    """Of each row from what it is in float32: "site.block" -> [T]."""
    return {
        name: torch.linalg.vector_norm(rows.double() - exact[name].double(), dim=-1).float()
        for name, rows in values.items()
    }


def write(path, tensors):
    save_file({name: tensor.contiguous().numpy() for name, tensor in tensors.items()}, path)
