"""What blocks without softmax attention cost beside transformers' own chunked form, as a ratio of CPU time.

    PYTHONPATH=.venv/transformers-5 python -m tests.bench.mixers BUILD_DIR [TOKENS]

makes random models of two such blocks and one with attention, whose MLPs are narrow, in the widths of published ones,
and runs each in turn by forward_bench and by transformers, both in float32 on two threads. Prints a Markdown table.
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch
from transformers import AutoModelForCausalLM
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging

THREADS = 2
RUNS = 3
MIXERS = 2
SIZES = {"vocab_size": 1000, "intermediate_size": 64, "num_hidden_layers": MIXERS + 1, "num_attention_heads": 8,
         "num_key_value_heads": 2, "head_dim": 64, "max_position_embeddings": 32768, "bos_token_id": 1,
         "eos_token_id": 2, "pad_token_id": 0}
FULL = "full_attention"
MODELS = {
    "Mamba2, as in Granite 4.0 H Tiny": ("granitemoehybrid", {
        "hidden_size": 1536, "num_attention_heads": 12, "num_key_value_heads": 4, "mamba_n_heads": 48,
        "mamba_d_state": 128, "num_local_experts": 0, "shared_intermediate_size": 64,
        "layer_types": ["linear_attention"] * MIXERS + [FULL]}),
    "gated delta rule, as in Qwen3.5 9B, half as wide": ("qwen3_5_text", {
        "hidden_size": 2048, "linear_num_key_heads": 16, "linear_num_value_heads": 32,
        "layer_types": ["linear_attention"] * MIXERS + [FULL]}),
    "short convolution, as in LFM2 1.2B": ("lfm2", {
        "hidden_size": 2048, "block_auto_adjust_ff_dim": False, "layer_types": ["conv"] * MIXERS + [FULL]}),
}


def write(family, config, folder):
    torch.manual_seed(1)
    model = AutoModelForCausalLM.from_config(CONFIG_MAPPING[family](**{**SIZES, **config}), attn_implementation="sdpa")
    model.save_pretrained(folder)
    return model.base_model.eval()


@torch.inference_mode()
def reference(model, tokens):
    """Seconds of CPU time, the median of some passes."""
    ids = torch.randint(3, SIZES["vocab_size"], (1, tokens))
    taken = []
    for _ in range(RUNS + 1):
        begin = time.process_time()
        model(input_ids=ids, use_cache=False)
        taken.append(time.process_time() - begin)
    return statistics.median(taken[1:])


def ours(build, folder, tokens):
    """The same of a pass that takes norms and cosines."""
    bench = build / "tests" / "bench" / "forward_bench"
    environment = {**os.environ, "OMP_NUM_THREADS": str(THREADS)}
    table = subprocess.run([bench, folder, str(tokens)], check=True, capture_output=True, text=True, env=environment)
    return float(table.stdout.splitlines()[-1].split("|")[3])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("tokens", type=int, nargs="?", default=2048)
    arguments = parser.parse_args()
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(THREADS)
    print("| mixer | transformers (s) | sinkd (s) | ratio |\n|---|---|---|---|")
    for name, (family, config) in MODELS.items():
        with tempfile.TemporaryDirectory() as folder:
            model = write(family, config, folder)
            theirs, mine = reference(model, arguments.tokens), ours(arguments.build, folder, arguments.tokens)
        print(f"| {name} | {theirs:.2f} | {mine:.2f} | {mine / theirs:.2f} |", flush=True)


if __name__ == "__main__":
    main()
