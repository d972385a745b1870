"""What heads do in transformers, in float64 (definitions: Heads).

    python -m tests.oracle.heads OUT CHECKPOINTS

writes OUT/<checkpoint>.json for some of the checkpoints below CHECKPOINTS: `ids` of one sample, `cosine_threshold` and
the sinks found with it, and [L, H] each of the numbers below; `value_norm` is [L, H, T].

Everything follows from the weights [H, T, T] that eager attention gives, and from what it gives when its weights are the
identity matrix: the values themselves, whatever the family makes of them.
"""

import contextlib
import json
import pathlib
import sys

import numpy as np
import torch
from transformers import AutoTokenizer

from tests.oracle import detection, expected, family_models, head_measures, smollm2, stamp, tiny_models

LENGTH = 90
# Of the random models, thresholds at which they have secondary sinks.
CASES = {"tiny/llama_grouped": 0.3, "tiny/qwen2_window": 0.3, "families/gemma2_softcap": 0.3,
         "families/gpt2_plain": 0.3, "families/gpt_neox_parallel": 0.5, "families/olmo2_plain": 0.3,
         "families/gpt_oss_sinks": 0.3, "families/mistral_window": 0.3, "smollm2/smollm2-135m-instruct": 0.9}
OUTPUTS = ("o_proj", "c_proj", "dense")


def identity(scores, dim=-1, **_):
    """In place of a softmax [1, H, T, T or T + 1 with a learned sink]: each query sees itself alone."""
    return torch.eye(scores.shape[2], scores.shape[3], dtype=scores.dtype).expand_as(scores)


def value_norms(attention, inputs, keywords, heads):
    """||W_o v|| of each head and position, [H, T]."""
    output = next(getattr(attention, name) for name in OUTPUTS if hasattr(attention, name))
    weight = output.weight if isinstance(output, torch.nn.Linear) else output.weight.t()  # [C, H E]
    seen, plain = [], torch.nn.functional.softmax
    handle = output.register_forward_pre_hook(lambda _, given: seen.append(given[0][0]))
    try:
        torch.nn.functional.softmax = identity
        attention.forward(*inputs, **keywords)
    finally:
        torch.nn.functional.softmax = plain
        handle.remove()
    values = seen[0].unflatten(1, (heads, -1))  # [T, H, E]
    parts = weight.unflatten(1, (heads, -1))  # [C, H, E]
    return torch.einsum("the,che->htc", values, parts).norm(dim=-1)


@torch.no_grad()
def attend(model, ids):
    """The trace, and of each block the weights [H, T, T] and the norms of values [H, T]."""
    decoder = expected.decoder_of(model)
    weights, norms, handles = [], [], []

    def after(module, inputs, keywords, outputs):
        weights.append(outputs[1][0].double().numpy())
        norms.append(value_norms(module, inputs, keywords, len(weights[-1])).double().numpy())

    for block in expected.blocks_of(decoder):
        attention = getattr(block, expected.layout_of(decoder).attention)
        handles.append(attention.register_forward_hook(after, with_kwargs=True))
    try:
        with expected.in_float64(decoder) if model.dtype == torch.float64 else contextlib.nullcontext():
            traced = expected.trace(model, ids)
    finally:
        for handle in handles:
            handle.remove()
    return traced, np.stack(weights), np.stack(norms)


def describe(model, ids, threshold):
    traced, weights, norms = attend(model, ids)
    found = detection.detect(traced["hidden"], traced["column_sum"], traced["mlp_norm"], False,
                             detection.Parameters(cosine_threshold=threshold))
    secondary = [sink["position"] for sink in found["sinks"]
                 if sink["kind"] == "secondary"]
    visible = (weights > 0).sum(axis=-1)  # no weight of these models underflows
    entropy, largest = head_measures.rows_of(weights, visible)
    numbers = {"entropy": entropy, "max_weight": largest, "value_norm": norms,
               "learned_sink": 1 - weights.sum(axis=3).mean(axis=2), **head_measures.scores_of(weights, ids),
               **head_measures.attended(weights, norms, found["p0"], secondary)}
    return {"ids": ids, "cosine_threshold": threshold, "primary_position": found["p0"],
            "secondary_positions": secondary, "smallest_margin": found["smallest_margin"],
            "numbers": {name: value.ravel().tolist() for name, value in numbers.items() if value is not None}}


def ids_of(folder):
    """Few tokens, so that many come again; of a trained model, text."""
    if (folder / "tokenizer.json").exists():
        return smollm2.sample_ids(AutoTokenizer.from_pretrained(folder))[:LENGTH]
    return np.random.default_rng(22).integers(3, 33, LENGTH).tolist()


def main():
    out, checkpoints = map(pathlib.Path, sys.argv[1:])
    done = stamp.Stamp(out, [__file__, expected.__file__, detection.__file__, head_measures.__file__, tiny_models.__file__,
                             family_models.__file__], CASES)
    if done.is_current():
        return
    for name, threshold in CASES.items():
        model = expected.load(checkpoints / name, torch.float64)
        result = describe(model, ids_of(checkpoints / name), threshold)
        file = out / f"{name}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(result))
    done.write()


if __name__ == "__main__":
    main()
