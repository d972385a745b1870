"""Checkpoints whose states are so small that float32 cannot hold their squares, in float64.

    python -m tests.oracle.small_states OUT

writes OUT/<case>/ and OUT/<case>.expected/expected_f64_T64.safetensors (see expected.py). Embeddings
and what attention and MLP add are scaled to about 1e-21; norms have no epsilon beside it, or one as
small as the squares, so that directions count as much as in any model.
"""

import argparse
import pathlib

import torch
from transformers import GPT2Config, GPT2LMHeadModel
from transformers.utils import logging

from tests.oracle import checkpoint_cases, expected, stamp, tiny_models

LENGTH = 64
SIZE = 1e-21
ADDED = ("o_proj", "down_proj", "c_proj")


@torch.no_grad()
def shrink(model):
    for name, parameter in model.named_parameters():
        parts = name.split(".")
        embeds = any(part in (*checkpoint_cases.EMBEDDINGS, *checkpoint_cases.POSITIONS) for part in parts)
        if embeds or any(part in ADDED for part in parts):
            parameter *= SIZE


def build(case):
    if case.family == "gpt2":
        return GPT2LMHeadModel(GPT2Config(n_layer=4, n_head=4, n_embd=64, n_positions=512,
                                          vocab_size=tiny_models.VOCABULARY, **case.config))
    return tiny_models.build(case)


CASES = (
    tiny_models.Case("small_no_epsilon", "llama", {"rms_norm_eps": 0.0, "num_key_value_heads": 2},
                     prepare=shrink),
    tiny_models.Case("small_like_epsilon", "llama", {"rms_norm_eps": 1e-41}, prepare=shrink),
    tiny_models.Case("small_usual_epsilon", "llama", {}, prepare=shrink),
    tiny_models.Case("small_layer_norm", "gpt2", {"layer_norm_epsilon": 0.0}, prepare=shrink),
)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    modules = (checkpoint_cases, expected, tiny_models)
    done = stamp.Stamp(out, (__file__, *(module.__file__ for module in modules)))
    if done.is_current():
        return
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for case in CASES:
        checkpoint_cases.write_checkpoint(case, out / case.name, build)
        model = expected.load(out / case.name, torch.float64)
        tensors = expected.trace(model, checkpoint_cases.draw_ids(case, LENGTH))
        expected.write(out / f"{case.name}.expected", f"f64_T{LENGTH}", tensors)
        print(case.name, "largest state", abs(tensors["last_raw"]).max())
    done.write()


if __name__ == "__main__":
    main()
