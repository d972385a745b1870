"""Tiny random checkpoints of each family, and what transformers computes with them.

    python -m tests.oracle.tiny_models OUT

writes OUT/<case>/ (config.json, safetensors), OUT/<case>.expected/ (see expected.py) and
OUT/cases.json.
"""

import argparse
import functools
import pathlib

import torch
from transformers import (
    LlamaConfig,
    LlamaForCausalLM,
    Qwen2Config,
    Qwen2ForCausalLM,
    Qwen3Config,
    Qwen3ForCausalLM,
)

from tests.oracle import checkpoint_cases

VOCABULARY = 300
ALL_LENGTHS = (1, 2, 64, 1000, 2500)
SHORT_LENGTHS = (2, 64, 1000)
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
Case = functools.partial(
    checkpoint_cases.Case,
    lengths=SHORT_LENGTHS,
    bfloat16_lengths=(64, 1000),
    vocabulary=VOCABULARY,
)

CASES = (
    Case("llama_grouped", "llama", {"num_key_value_heads": 2}, lengths=ALL_LENGTHS,
         shard_size="150KB"),
    Case("llama_rope_llama3", "llama", {"rope_scaling": LLAMA3, "rope_theta": 500000.0},
         lengths=ALL_LENGTHS),
    Case("llama_rope_linear", "llama",
         {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}, stored=torch.float16),
    Case("llama_tied", "llama", {"tie_word_embeddings": True, "num_key_value_heads": 1},
         shard_size="100KB"),
    Case("llama_biases", "llama", {"attention_bias": True, "mlp_bias": True}),
    Case("llama_head_size", "llama", {"head_dim": 24, "num_key_value_heads": 4}),
    Case("llama_stored_bfloat16", "llama", {"num_key_value_heads": 2}, stored=torch.bfloat16),
    Case("qwen2_plain", "qwen2", {"num_key_value_heads": 2}, lengths=ALL_LENGTHS,
         shard_size="150KB"),
    Case("qwen2_yarn", "qwen2", {"rope_scaling": YARN}, lengths=ALL_LENGTHS),
    Case("qwen2_window_unused", "qwen2", {"sliding_window": 32, "use_sliding_window": False}),
    Case("qwen2_window", "qwen2",
         {"sliding_window": 48, "use_sliding_window": True, "max_window_layers": 2},
         lengths=ALL_LENGTHS),
    Case("qwen3_plain", "qwen3", {"head_dim": 32, "num_key_value_heads": 2},
         lengths=ALL_LENGTHS, shard_size="150KB"),
    Case("qwen3_yarn", "qwen3", {"head_dim": 16, "rope_scaling": YARN_TUNED,
                                 "attention_bias": True}, stored=torch.bfloat16),
)


def build(case):
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
        "bos_token_id": checkpoint_cases.FIRST_TOKEN,
        "eos_token_id": 2,
        "pad_token_id": None,
    }
    config, model = FAMILIES[case.family]
    return model(config(**{**values, **case.config}))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    checkpoint_cases.write_all(CASES, parser.parse_args().out, build, [__file__])


if __name__ == "__main__":
    main()
