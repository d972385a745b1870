"""A tiny checkpoint whose attention scores reach hundreds, and its attention in float64.

    python -m tests.oracle.large_logits OUT

writes OUT/checkpoint/ and OUT/checkpoint.expected/expected_f64_T<length>.safetensors with `ids`, and
`alpha` [L, H, T] float32: the mean attention each position receives (docs/definitions.md);
`alpha_f32`: what transformers makes of it in float32.
Biases of q and k make the scores large, as they do in Qwen2 models.
"""

import argparse
import contextlib
import pathlib
from unittest import mock

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM

from tests.oracle import checkpoint_cases, expected, stamp, tiny_models

LENGTHS = (64, 700)
LARGEST_SCORE = 300.0
CASE = tiny_models.Case("large_logits", "qwen2", {"num_key_value_heads": 2})


@torch.no_grad()
def run(model, ids):
    """alpha [L, H, T] and the largest absolute score a query gives a key it sees."""
    softmax, largest = torch.nn.functional.softmax, 0.0

    def measured(x, *arguments, **named):
        nonlocal largest
        largest = max(largest, x[x > -1e30].abs().max().item())
        return softmax(x, *arguments, **named)

    exact = model.dtype == torch.float64
    with mock.patch.object(torch.nn.functional, "softmax", measured), \
            expected.in_float64(model) if exact else contextlib.nullcontext():
        output = model(torch.tensor([ids]), output_attentions=True)
    seen = torch.arange(len(ids), 0, -1, dtype=torch.float64)
    return torch.stack([each[0].double().sum(1) / seen for each in output.attentions]), largest


@torch.no_grad()
def write(out):
    folder = out / "checkpoint"
    checkpoint_cases.write_checkpoint(CASE, folder, tiny_models.build)
    ids = {length: checkpoint_cases.draw_ids(CASE, length) for length in LENGTHS}
    factor = 1.0
    model = AutoModelForCausalLM.from_pretrained(folder)
    biases = [
        projection.bias
        for layer in model.model.layers
        for projection in (layer.self_attn.q_proj, layer.self_attn.k_proj)
    ]
    drawn = [bias.clone() for bias in biases]
    while True:
        exact = expected.load(folder, torch.float64)
        results = {length: run(exact, ids[length]) for length in LENGTHS}
        if min(largest for _, largest in results.values()) >= LARGEST_SCORE:
            break
        factor *= 1.25
        for bias, start in zip(biases, drawn):
            bias.copy_(factor * start)
        model.save_pretrained(folder)
    rounded = expected.load(folder, torch.float32)
    output = out / "checkpoint.expected"
    output.mkdir(parents=True, exist_ok=True)
    for length, (alpha, largest) in results.items():
        print(f"T {length}: largest score {largest:.0f}")
        tensors = {"ids": torch.tensor(ids[length]), "alpha": alpha.float(),
                   "alpha_f32": run(rounded, ids[length])[0].float()}
        save_file(tensors, output / f"expected_f64_T{length}.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    scripts = (__file__, checkpoint_cases.__file__, expected.__file__, tiny_models.__file__)
    done = stamp.Stamp(out, scripts)
    if not done.is_current():
        write(out)
        done.write()


if __name__ == "__main__":
    main()
