"""Every site of every block as transformers computes it; names as in server/engine/site.h.

A site is the input or output of a module of the block. Where a block has no such module (the units
of a mixture of experts) or nothing flows there (between the halves of a parallel block), the site
is absent.
"""

import contextlib

import torch
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


def _columns(first, count):
    return lambda _inputs, output: output[..., first : first + count]


def _of_each_head(number, heads):
    """Of a projection whose columns are [q; k; v] of head 0, of head 1, ..."""
    return lambda _inputs, output: output.unflatten(-1, (heads, 3, -1))[..., number, :].flatten(-2)


def _keys_and_values(config):
    if config.model_type == "gpt_neox":
        read = [_of_each_head(number, config.num_attention_heads) for number in (1, 2)]
        path = "attention.query_key_value"
    elif config.model_type in ("gpt2", "phi3"):
        heads = config.num_attention_heads
        head_size = config.hidden_size // heads
        width = getattr(config, "num_key_value_heads", heads) * head_size
        read = [_columns(heads * head_size + number * width, width) for number in (0, 1)]
        path = "attn.c_attn" if config.model_type == "gpt2" else "self_attn.qkv_proj"
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
OF_FAMILY = {
    "arcee": NO_GATE,
    "exaone4": {**NORMS_AFTER, "resid_mid": ("mlp", _input)},
    "gemma2": NORMS_AFTER,
    "gemma3_text": NORMS_AFTER,
    "glm": FUSED_GATE,
    "glm4": {**FUSED_GATE, "attn_out": ("post_self_attn_layernorm", _output),
             "mlp_out": ("post_mlp_layernorm", _output)},
    "gpt2": {"attn_out": ("attn", _output), "resid_mid": ("ln_2", _input),
             **_ungated("mlp.c_fc", "mlp.act", "mlp.c_proj")},
    "gpt_neox": {"attn_out": ("attention", _output),
                 **_ungated("mlp.dense_h_to_4h", "mlp.act", "mlp.dense_4h_to_h")},
    "granitemoe": {"mlp_in": ("block_sparse_moe", _input), "mlp_out": ("block_sparse_moe", _output)},
    "granitemoeshared": {"mlp_in": ("block_sparse_moe", _input),
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


def of_block(config):
    """Site -> (module of the block, what to read of its call)."""
    places = {**LLAMA, **_keys_and_values(config), **OF_FAMILY.get(config.model_type, {})}
    if config.model_type == "gpt_neox" and config.use_parallel_residual:
        places["resid_mid"] = None
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
