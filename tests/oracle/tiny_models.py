"""Tiny random checkpoints of each family, and what transformers computes with them.

    python -m tests.oracle.tiny_models OUT

writes OUT/<case>/ (config.json, safetensors), OUT/<case>.expected/ (see expected.py) and
OUT/cases.json. Weights are drawn so that attention is peaked, biases and norm weights matter, and
some tokens share a direction with the first one, so that detection finds something.
"""

import argparse
import dataclasses
import json
import pathlib
import shutil
import time
import zlib

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)
from transformers.utils import logging

from tests.oracle import detection, expected, stamp

VOCABULARY = 300
FIRST_TOKEN = 1
ALL_LENGTHS = (1, 2, 64, 1000, 2500)
SHORT_LENGTHS = (2, 64, 1000)
BFLOAT16_LENGTHS = (64, 1000)
FAMILIES = {
    "llama": (LlamaConfig, LlamaForCausalLM),
    "qwen2": (Qwen2Config, Qwen2ForCausalLM),
    "qwen3": (Qwen3Config, Qwen3ForCausalLM),
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 512,
}
YARN = {"rope_type": "yarn", "factor": 8.0, "original_max_position_embeddings": 512}
YARN_TUNED = {**YARN, "beta_fast": 16.0, "beta_slow": 2.0, "attention_factor": 1.3}


@dataclasses.dataclass(frozen=True)
class Case:
    name: str
    family: str
    config: dict
    lengths: tuple = SHORT_LENGTHS
    shard_size: str = "1GB"
    stored: torch.dtype = torch.float32


CASES = (
    Case("llama_grouped", "llama", {"num_key_value_heads": 2}, ALL_LENGTHS, "150KB"),
    Case("llama_rope_llama3", "llama", {"rope_scaling": LLAMA3, "rope_theta": 500000.0}, ALL_LENGTHS),
    Case("llama_rope_linear", "llama",
         {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, stored=torch.float16),
    Case("llama_tied", "llama", {"tie_word_embeddings": True, "num_key_value_heads": 1},
         shard_size="100KB"),
    Case("llama_biases", "llama", {"attention_bias": True, "mlp_bias": True}),
    Case("llama_head_size", "llama", {"head_dim": 24, "num_key_value_heads": 4}),
    Case("llama_stored_bfloat16", "llama", {"num_key_value_heads": 2}, stored=torch.bfloat16),
    Case("qwen2_plain", "qwen2", {"num_key_value_heads": 2}, ALL_LENGTHS, "150KB"),
    Case("qwen2_yarn", "qwen2", {"rope_scaling": YARN}, ALL_LENGTHS),
    Case("qwen2_window_unused", "qwen2", {"sliding_window": 32, "use_sliding_window": False}),
    Case("qwen2_window", "qwen2",
         {"sliding_window": 48, "use_sliding_window": True, "max_window_layers": 2}, ALL_LENGTHS),
    Case("qwen3_plain", "qwen3", {"head_dim": 32, "num_key_value_heads": 2}, ALL_LENGTHS, "150KB"),
    Case("qwen3_yarn", "qwen3", {"head_dim": 16, "rope_scaling": YARN_TUNED,
                                 "attention_bias": True}, stored=torch.bfloat16),
)


def build_config(case):
    values = {
        "vocab_size": VOCABULARY,
        "hidden_size": 64 if case.family == "llama" else 96,
        "intermediate_size": 160,
        "num_hidden_layers": 6 if case.family == "qwen2" else 5,
        "num_attention_heads": 8,
        "num_key_value_heads": 8,
        "max_position_embeddings": 4096,
        "rms_norm_eps": 1e-5 if case.family == "llama" else 1e-6,
        "tie_word_embeddings": False,
        "bos_token_id": FIRST_TOKEN,
        "eos_token_id": 2,
        "pad_token_id": None,
    }
    return FAMILIES[case.family][0](**{**values, **case.config})


def draw_weights(model, generator):
    def normal(parameter, deviation, mean=0.0):
        noise = torch.randn(parameter.shape, generator=generator)
        parameter.copy_(mean + deviation * noise)

    for name, parameter in model.named_parameters():
        if parameter.dim() == 1:
            normal(parameter, 0.3, 0.0 if name.endswith("bias") else 1.0)
        elif "q_proj" in name or "k_proj" in name:
            normal(parameter, 1.5 / parameter.shape[1] ** 0.5)
        elif "embed_tokens" in name:
            normal(parameter, 1.0)
        else:
            normal(parameter, 0.8 / parameter.shape[1] ** 0.5)
    plant_shared_direction(model.get_input_embeddings().weight, generator)


def plant_shared_direction(embedding, generator):
    """Gives the first token and every twelfth one a common direction of varied length."""
    direction = torch.randn(embedding.shape[1], generator=generator)
    direction /= direction.norm()
    tokens = torch.arange(FIRST_TOKEN, VOCABULARY, 12)
    lengths = 15 + 45 * torch.rand(len(tokens), generator=generator)
    lengths[0] = 60
    embedding[tokens] += lengths[:, None] * direction


@torch.no_grad()
def write_checkpoint(case, folder):
    config = build_config(case)
    model = FAMILIES[case.family][1](config)
    draw_weights(model, torch.Generator().manual_seed(seed(case.name)))
    model.to(case.stored).save_pretrained(folder, max_shard_size=case.shard_size)


def seed(text):
    return zlib.crc32(text.encode())


def draw_ids(case, length):
    generator = torch.Generator().manual_seed(seed(f"{case.name}/{length}"))
    ids = torch.randint(3, VOCABULARY, (length,), generator=generator)
    ids[0] = FIRST_TOKEN
    return ids.tolist()


def write_expected(case, folder, output):
    model = expected.load(folder, torch.float32)
    for length in case.lengths:
        tensors = expected.trace(model, draw_ids(case, length))
        expected.write(output, f"f32_T{length}", tensors, with_detection=True)
    model = expected.load(folder, torch.bfloat16)
    for length in BFLOAT16_LENGTHS:
        expected.write(output, f"bf16_T{length}", expected.trace(model, draw_ids(case, length)))


def describe(case):
    return {
        "name": case.name,
        "family": case.family,
        "lengths_f32": list(case.lengths),
        "lengths_bf16": list(BFLOAT16_LENGTHS),
        "stored": str(case.stored).removeprefix("torch."),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    done = stamp.Stamp(out, [__file__, expected.__file__, detection.__file__])
    if done.is_current():
        return
    torch.set_num_threads(1)  # matrices this small only lose by more
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for case in CASES:
        began = time.monotonic()
        folder, output = out / case.name, out / f"{case.name}.expected"
        for old in (folder, output):
            shutil.rmtree(old, ignore_errors=True)
        write_checkpoint(case, folder)
        write_expected(case, folder, output)
        print(f"{case.name}: {time.monotonic() - began:.1f} s", flush=True)
    (out / "cases.json").write_text(json.dumps([describe(case) for case in CASES], indent=1) + "\n")
    done.write()


if __name__ == "__main__":
    main()
