"""A tiny checkpoint whose attention scores reach hundreds, and its attention in float64.

    python -m tests.oracle.large_logits OUT

writes OUT/checkpoint/ and OUT/checkpoint.expected/expected_f64_T<length>.safetensors with `ids`, and
`alpha` [L, H, T] float32: the mean attention each position receives (docs/definitions.md).
Biases of q and k make the scores large, as they do in Qwen2 models. transformers takes norms and
softmax to float32 whatever the model's type is; here both stay in float64.
"""

import argparse
import pathlib
from unittest import mock

import torch
from safetensors.torch import save_file
from transformers import AutoModelForCausalLM
from transformers.models.qwen2 import modeling_qwen2

from tests.oracle import checkpoint_cases, stamp, tiny_models

LENGTHS = (64, 700)
LARGEST_SCORE = 300.0
CASE = tiny_models.Case("large_logits", "qwen2", {"num_key_value_heads": 2})


def norm_as_it_is(self, x):
    variance = x.pow(2).mean(-1, keepdim=True)
    return self.weight * (x * torch.rsqrt(variance + self.variance_epsilon))


def softmax_as_it_is(x, dim, dtype=None):
    return torch.softmax(x, dim)


class Attention:
    """Runs a model in float64 and keeps each block's scores' largest value and weights."""

    def __init__(self, folder):
        self._model = AutoModelForCausalLM.from_pretrained(
            folder, dtype=torch.float64, attn_implementation="eager"
        ).eval()

    @property
    def layers(self):
        return self._model.model.layers

    def run(self, ids):
        """alpha [L, H, T] and the largest absolute score a query gives a key it sees."""
        largest = 0.0

        def softmax(x, dim, dtype=None):
            nonlocal largest
            largest = max(largest, x[x > -1e30].abs().max().item())
            return softmax_as_it_is(x, dim)

        patches = (
            mock.patch.object(modeling_qwen2.Qwen2RMSNorm, "forward", norm_as_it_is),
            mock.patch.object(torch.nn.functional, "softmax", softmax),
        )
        with patches[0], patches[1], torch.no_grad():
            output = self._model(torch.tensor([ids]), output_attentions=True)
        seen = torch.arange(len(ids), 0, -1, dtype=torch.float64)
        return torch.stack([each[0].sum(1) / seen for each in output.attentions]), largest


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
        attention = Attention(folder)
        results = {length: attention.run(ids[length]) for length in LENGTHS}
        if min(largest for _, largest in results.values()) >= LARGEST_SCORE:
            break
        factor *= 1.25
        for bias, start in zip(biases, drawn):
            bias.copy_(factor * start)
        model.save_pretrained(folder)
    expected = out / "checkpoint.expected"
    expected.mkdir(parents=True, exist_ok=True)
    for length, (alpha, largest) in results.items():
        print(f"T {length}: largest score {largest:.0f}")
        tensors = {"ids": torch.tensor(ids[length]), "alpha": alpha.float()}
        save_file(tensors, expected / f"expected_f64_T{length}.safetensors")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    scripts = (__file__, checkpoint_cases.__file__, tiny_models.__file__)
    done = stamp.Stamp(out, scripts)
    if not done.is_current():
        write(out)
        done.write()


if __name__ == "__main__":
    main()
