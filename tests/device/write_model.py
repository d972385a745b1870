"""A made-up qwen2 model of 1.5 billion parameters, or a small one, with random weights.

    python3 tests/device/write_model.py OUT 1.5b|small

Needs torch alone. All blocks share one set of numbers, which speed does not see.
"""

import ctypes
import json
import math
import pathlib
import sys

import torch

SHAPES = {
    "1.5b": {"hidden_size": 1536, "intermediate_size": 8960, "num_hidden_layers": 28,
             "num_attention_heads": 12, "num_key_value_heads": 2, "vocab_size": 151936},
    "small": {"hidden_size": 576, "intermediate_size": 1536, "num_hidden_layers": 3,
              "num_attention_heads": 9, "num_key_value_heads": 3, "vocab_size": 1000},
}


def config(shape):
    return {
        "model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], "hidden_act": "silu",
        "max_position_embeddings": 32768, "rms_norm_eps": 1e-6, "rope_theta": 1e6,
        "tie_word_embeddings": True, "torch_dtype": "bfloat16", "use_sliding_window": False, **shape,
    }


def random(*shape):
    return (torch.randn(shape) / math.sqrt(shape[-1])).to(torch.bfloat16)


def block(shape):
    hidden, inner = shape["hidden_size"], shape["intermediate_size"]
    kv = hidden // shape["num_attention_heads"] * shape["num_key_value_heads"]
    ones = torch.ones(hidden, dtype=torch.bfloat16)
    return {
        "input_layernorm.weight": ones, "post_attention_layernorm.weight": ones,
        "self_attn.q_proj.weight": random(hidden, hidden), "self_attn.q_proj.bias": random(hidden),
        "self_attn.k_proj.weight": random(kv, hidden), "self_attn.k_proj.bias": random(kv),
        "self_attn.v_proj.weight": random(kv, hidden), "self_attn.v_proj.bias": random(kv),
        "self_attn.o_proj.weight": random(hidden, hidden),
        "mlp.gate_proj.weight": random(inner, hidden), "mlp.up_proj.weight": random(inner, hidden),
        "mlp.down_proj.weight": random(hidden, inner),
    }


def tensors(shape):
    one = block(shape)
    yield "model.embed_tokens.weight", random(shape["vocab_size"], shape["hidden_size"])
    for layer in range(shape["num_hidden_layers"]):
        for name, tensor in one.items():
            yield f"model.layers.{layer}.{name}", tensor
    yield "model.norm.weight", torch.ones(shape["hidden_size"], dtype=torch.bfloat16)


def write(file, named):
    """The safetensors format: length of the header, the header, the numbers."""
    header, offset = {}, 0
    for name, tensor in named:
        size = 2 * tensor.numel()
        header[name] = {"dtype": "BF16", "shape": list(tensor.shape),
                        "data_offsets": [offset, offset + size]}
        offset += size
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with file.open("wb") as out:
        out.write(len(text).to_bytes(8, "little") + text)
        for _, tensor in named:
            out.write((ctypes.c_char * (2 * tensor.numel())).from_address(tensor.data_ptr()))


def main():
    folder, size = pathlib.Path(sys.argv[1]), sys.argv[2]
    torch.manual_seed(1)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_text(json.dumps(config(SHAPES[size])))
    write(folder / "model.safetensors", list(tensors(SHAPES[size])))


if __name__ == "__main__":
    main()
