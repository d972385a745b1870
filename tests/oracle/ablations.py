"""What transformers predicts when its attention is ablated, in float64.

    python -m tests.oracle.ablations OUT CHECKPOINTS

writes OUT/<checkpoint>.json for some of the checkpoints below CHECKPOINTS: the ids of one sample, `base` and
`variants`, each with its `edits` (as in server/engine/edits.h) and, of every position but the last,
  losses      -ln p of the next token, in nats
  choices     the most likely token, -1 where two are as likely but for TIE
  divergence  KL(base || variant) in nats; `divergence_error`: the largest that transformers itself makes in float32
and [L, T] `state_norm`; [L, H, T] `column_sum` where the softmax itself is edited, or nothing is.

A block's softmax is replaced while its attention runs, whatever the family: scores before it and weights after it are
all that these edits change. Weights after zeros in the columns of some keys give what zeros in their values give.
"""

import contextlib
import json
import pathlib

import torch

from tests.oracle import (
    checkpoint_cases,
    decoder_models,
    expected,
    family_models,
    interventions,
    sites,
    tiny_models,
)

LENGTH = 40
TIE = 1e-5  # of ln p
CASES = ("tiny/llama_grouped", "tiny/qwen2_window", "families/gemma2_softcap", "families/gpt2_plain",
         "families/gpt_neox_parallel", "families/olmo2_plain", "families/qwen3_moe_raw", "families/gpt_oss_sinks",
         "decoders/bloom_bias")
AFTER_SOFTMAX = ("zero_values", "zero_heads", "one_key")


def softmax_with(edits, alibi):
    """The softmax of one block: scores [1, H, T, T or T + 1 with a learned sink]."""

    def softmax(scores, dim=-1, **_):
        scores = scores.clone()
        queries = torch.arange(scores.shape[2])
        column = None
        for edit in edits:
            if edit["action"] == "hide_keys":
                for key in edit["positions"]:
                    scores[:, :, queries != key, key] = -torch.inf
            elif edit["action"] == "plus_one":
                column = torch.zeros_like(scores[..., :1])
                if alibi is not None:  # which counts from the first key, and not from the query
                    column += alibi.reshape(1, scores.shape[1], -1, 1)
        if column is not None:
            scores = torch.cat((scores, column), dim=-1)
        weights = torch.softmax(scores, dim=dim)
        if column is not None:
            weights = weights[..., :-1]
        return after_softmax(edits, weights, queries)

    return softmax


def after_softmax(edits, weights, queries):
    weights = weights.clone()
    for edit in edits:
        if edit["action"] == "zero_values":
            weights[..., edit["positions"]] = 0
        elif edit["action"] == "zero_heads":
            weights[:, edit["heads"]] = 0
        elif edit["action"] == "one_key":
            (key,) = edit["positions"]
            for head in edit["heads"]:
                seeing = queries[weights[0, head, :, key] > 0]
                weights[0, head, seeing] = 0
                weights[0, head, seeing, key] = 1
    return weights


@contextlib.contextmanager
def attending(decoder, edits):
    """Has blocks attend as the edits say."""
    plain = torch.nn.functional.softmax
    handles, sinks = [], {}
    layout = expected.LAYOUTS.get(decoder.config.model_type, expected.Layout())
    for number, block in enumerate(expected.blocks_of(decoder)):
        here = [edit for edit in edits if edit["block"] == number]
        if not here:
            continue
        attention = getattr(block, layout.attention)
        if hasattr(attention, "sinks") and any(edit["action"] == "plus_one" for edit in here):
            # Scores come less their largest; a learned sink that takes one more is the same.
            sinks[attention] = attention.sinks.data
            attention.sinks.data = torch.logaddexp(attention.sinks.data, torch.zeros(()))
            here = [edit for edit in here if edit["action"] != "plus_one"]

        def begin(_module, _inputs, kwargs, here=here):
            torch.nn.functional.softmax = softmax_with(here, kwargs.get("alibi"))

        def end(*_):
            torch.nn.functional.softmax = plain

        handles.append(attention.register_forward_pre_hook(begin, with_kwargs=True))
        handles.append(attention.register_forward_hook(end))
    try:
        yield
    finally:
        torch.nn.functional.softmax = plain
        for handle in handles:
            handle.remove()
        for attention, values in sinks.items():
            attention.sinks.data = values


@torch.no_grad()
def predict(model, ids, edits):
    """The trace and ln p of the next token, of every position but the last."""
    decoder = expected.decoder_of(model)
    at_sites = [edit for edit in edits if edit["site"]]
    in_attention = [edit for edit in edits if not edit["site"]]
    wide = expected.in_float64(model) if model.dtype == torch.float64 else contextlib.nullcontext()
    with wide, interventions.edited(decoder, at_sites), attending(decoder, in_attention):
        traced = expected.trace(model, ids)
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0]
    return traced, logits.double().log_softmax(-1)[:-1]


def divergence(base, shares):
    return (base.exp() * (base - shares)).sum(-1)


def outcome(model, narrow, ids, edits, bases):
    """`narrow` is the model in float32; `bases` what both predict without edits."""
    traced, shares = predict(model, ids, edits)
    found = divergence(bases[0], shares)
    error = (divergence(bases[1], predict(narrow, ids, edits)[1]) - found).abs().max()
    best = shares.topk(2).values
    states = torch.from_numpy(traced["hidden"]).double()
    result = {
        "edits": edits,
        "losses": (-shares.gather(1, torch.tensor(ids[1:])[:, None])[:, 0]).tolist(),
        "choices": torch.where(best[:, 0] - best[:, 1] > TIE, shares.argmax(-1), -1).tolist(),
        "divergence": found.tolist(),
        "divergence_error": error.item(),
        "state_norm": states.norm(dim=-1).tolist(),
    }
    if not any(edit["action"] in AFTER_SOFTMAX for edit in edits):
        result["column_sum"] = traced["column_sum"].tolist()
    return result


def draw_variants(config, generator):
    def edit(block, action, positions=(), heads=()):
        return {"block": block, "site": "", "positions": list(positions), "action": action, "vector": [],
                "amount": 0.0, "heads": list(heads)}

    def remove(block, positions, vector):
        return edit(block, "remove", positions) | {"site": "resid_post", "vector": vector}

    blocks = range(config.num_hidden_layers)
    last = config.num_hidden_layers - 1
    direction = torch.randn(config.hidden_size, generator=generator).tolist()
    return (
        [edit(1, "hide_keys", [0])],
        [edit(block, "hide_keys", [0, 7, 20]) for block in blocks],
        [edit(last, "zero_values", [0])],
        [edit(block, "zero_values", [0, 7]) for block in blocks],
        [edit(1, "zero_heads", heads=[1])],
        [edit(0, "one_key", [3], [0]), edit(1, "one_key", [0], [1])],
        [edit(block, "plus_one") for block in blocks],
        [edit(1, "plus_one"), edit(1, "hide_keys", [2])],
        [remove(block, [0, 9], direction) for block in blocks[:-1]],
        [remove(0, [4], direction), edit(1, "hide_keys", [4]), remove(1, [5], direction)],
        [edit(block, "hide_keys", [LENGTH - 1]) for block in blocks],
    )


def write(name, checkpoints, out):
    model = expected.load(checkpoints / name, torch.float64)
    narrow = expected.load(checkpoints / name, torch.float32)
    generator = torch.Generator().manual_seed(checkpoint_cases.seed(name))
    ids = torch.randint(3, model.config.vocab_size, (LENGTH,), generator=generator).tolist()
    bases = [predict(each, ids, [])[1] for each in (model, narrow)]
    base, *variants = [outcome(model, narrow, ids, edits, bases)
                       for edits in ([], *draw_variants(model.config, generator))]
    result = {"checkpoint": name, "ids": ids, "base": base, "variants": variants}
    (out / f"{pathlib.Path(name).name}.json").write_text(json.dumps(result) + "\n")
    largest = [f"{max(each['divergence']):.2g} ± {each['divergence_error']:.0e}" for each in variants]
    print(name, largest, flush=True)


def main():
    modules = (checkpoint_cases, decoder_models, expected, family_models, interventions, sites, tiny_models)
    interventions.write_cases(__doc__, modules, [__file__], CASES, write)


if __name__ == "__main__":
    main()
