"""What transformers computes when values inside its blocks are edited, by forward hooks.

    python -m tests.oracle.interventions OUT CHECKPOINTS

writes OUT/<checkpoint>.json for some of the checkpoints below CHECKPOINTS: the ids of one sample,
`base` and `variants`, each with its `edits` (as in server/engine/edits.h), the `loss` (mean over
positions of the negative log-likelihood of the next token, nats) and [L, T] `state_norm` and
`mlp_norm` and [L, H, T] `column_sum` as in tests/oracle/expected.py.
"""

import argparse
import contextlib
import json
import pathlib

import torch
from transformers.utils import logging

from tests.oracle import (
    checkpoint_cases,
    decoder_models,
    expected,
    family_models,
    sites,
    stamp,
    tiny_models,
)

LENGTH = 40
CASES = ("tiny/llama_grouped", "tiny/qwen2_plain", "families/gemma2_softcap",
         "families/gpt_neox_parallel", "families/opt_post_norm", "families/gpt2_plain",
         "families/olmo2_plain", "families/qwen3_moe_raw", "families/gpt_oss_sinks",
         "tiny/llama_tied", "families/qwen2_other_head", "decoders/cohere_plain",
         "decoders/phi_plain")


def change(edit, rows):
    vector, amount = torch.tensor(edit["vector"]), edit["amount"]
    norms = rows.norm(dim=-1, keepdim=True)
    match edit["action"]:
        case "replace":
            return vector.expand_as(rows)
        case "set_norm":
            return rows / norms * amount
        case "clip_norm":
            return torch.where(norms > amount, rows / norms * amount, rows)
        case "add":
            return rows + amount * vector
        case "remove":
            direction = (vector / vector.norm()).to(rows.dtype)
            return rows - (rows @ direction)[:, None] * direction


def hook(edit):
    def edited(_module, _inputs, output):
        value = output[0] if isinstance(output, tuple) else output
        rows = value.reshape(-1, value.shape[-1]).clone()
        rows[edit["positions"]] = change(edit, rows[edit["positions"]])
        rows = rows.reshape(value.shape)
        return (rows, *output[1:]) if isinstance(output, tuple) else rows

    return edited


@contextlib.contextmanager
def edited(decoder, edits):
    handles = []
    for edit in edits:
        block = expected.blocks_of(decoder)[edit["block"]]
        path, _ = sites.of_block(decoder.config)[edit["site"]]
        module = block.get_submodule(path)
        handles.append(module.register_forward_hook(hook(edit)))
    try:
        yield
    finally:
        for handle in handles:
            handle.remove()


@torch.no_grad()
def outcome(model, ids, edits):
    decoder = expected.decoder_of(model)
    with edited(decoder, edits):
        traced = expected.trace(model, ids)
        logits = model(input_ids=torch.tensor([ids]), use_cache=False).logits[0].double()
    likelihood = logits.log_softmax(-1)[:-1].gather(1, torch.tensor(ids[1:])[:, None])
    states = torch.from_numpy(traced["hidden"]).double()
    return {
        "edits": edits,
        "loss": -likelihood.mean().item(),
        "state_norm": states.norm(dim=-1).tolist(),
        "mlp_norm": traced["mlp_norm"].tolist(),
        "column_sum": traced["column_sum"].tolist(),
    }


def draw_variants(config, generator):
    """Every action and site, the first and the last block, edits of several blocks."""

    def edit(block, site, positions, action, amount=0.0):
        vector = []
        if action in ("replace", "add"):
            vector = (3 * torch.randn(config.hidden_size, generator=generator)).tolist()
        return {"block": block, "site": site, "positions": positions, "action": action,
                "vector": vector, "amount": amount}

    last = config.num_hidden_layers - 1
    everywhere = list(range(LENGTH))
    return (
        [edit(1, "attn_out", [3, 17], "replace")],
        [edit(0, "mlp_out", [0, 5, 6], "set_norm", 40.0)],
        [edit(last, "resid_post", everywhere, "clip_norm", 2.0)],
        [edit(last, "mlp_out", [1, 38], "replace")],
        [edit(2, "resid_post", [8], "add", 2.5), edit(0, "attn_out", [4, 9], "clip_norm", 0.5),
         edit(2, "mlp_out", [8, 30], "set_norm", 0.0), edit(3, "resid_post", [30, 31], "replace")],
    )


def write(name, checkpoints, out):
    model = expected.load(checkpoints / name, torch.float32)
    generator = torch.Generator().manual_seed(checkpoint_cases.seed(name))
    ids = torch.randint(3, model.config.vocab_size, (LENGTH,), generator=generator).tolist()
    variants = draw_variants(model.config, generator)
    result = {
        "checkpoint": name,
        "ids": ids,
        "base": outcome(model, ids, []),
        "variants": [outcome(model, ids, edits) for edits in variants],
    }
    (out / f"{pathlib.Path(name).name}.json").write_text(json.dumps(result) + "\n")
    losses = [each["loss"] for each in (result["base"], *result["variants"])]
    print(name, [round(loss, 4) for loss in losses], flush=True)


def write_cases(description, modules, scripts, cases, write_case):
    """The command of an oracle that reads checkpoints: calls `write_case` for each of `cases`, unless the files that
    the `scripts` and `modules` wrote are current."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("checkpoints", type=pathlib.Path)
    arguments = parser.parse_args()
    done = stamp.Stamp(arguments.out, [*scripts, *(module.__file__ for module in modules)])
    if done.is_current():
        return
    torch.set_num_threads(1)  # models this small only lose by more
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in cases:
        write_case(name, arguments.checkpoints, arguments.out)
    done.write()


def main():
    modules = (checkpoint_cases, decoder_models, expected, family_models, sites, tiny_models)
    write_cases(__doc__, modules, [__file__], CASES, write)


if __name__ == "__main__":
    main()
