"""Statistics of whole states, from what transformers has at each block.

    python -m tests.oracle.state_statistics OUT CHECKPOINTS

writes OUT/state_statistics.json; CHECKPOINTS is the folder that the oracles write checkpoints to.
"""

import json
import pathlib
import sys

import numpy as np
import torch
from transformers import AutoTokenizer
from transformers.utils import logging

from tests.oracle import checkpoint_cases, detection, expected, sites, smollm2, stamp

TINY = ("tiny/llama_grouped", "tiny/qwen3_plain", "families/gpt_neox_parallel",
        "families/gemma2_softcap", "families/gpt2_plain")
SMOLLM2 = f"smollm2/{smollm2.NAME}"
TINY_TOKENS, SMOLLM2_TOKENS = 150, 300
TOP = 5
ALPHAS = (1.0, 0.5, 2.0)


def norms(rows):
    return np.linalg.norm(rows, axis=1).tolist()


def largest(states):
    """Ties by position, then channel: a stable sort of the entries as they lie."""
    order = np.argsort(-np.abs(states).ravel(), kind="stable")[:TOP]
    width = states.shape[1]
    return [{"position": int(i // width), "channel": int(i % width), "value": states.ravel()[i]}
            for i in order]


def entropy(states, alpha):
    values = np.linalg.svd(states, compute_uv=False) ** 2
    shares = values / values.sum()
    if alpha == 1:
        return float(-np.sum(shares * np.log(shares)))
    return float(np.log(np.sum(shares**alpha)) / (1 - alpha))


def of_block(values, block, windows, rest):
    key, value, states = (values[f"{site}.{block}"].double().numpy()
                          for site in ("key", "value", "resid_post"))
    return {"key": norms(key), "value": norms(value), "state": norms(states),
            "largest": largest(states), "median": float(np.median(np.abs(states))),
            "largest_of_rest": float(np.abs(states[rest]).max()),
            "entropy": [[entropy(states[window], alpha) for alpha in ALPHAS] for window in windows]}


@torch.no_grad()
def run(checkpoint, folder, ids):
    model = expected.load(folder, torch.float32)
    decoder = expected.decoder_of(model)
    layers = expected.blocks_of(decoder)
    with sites.recorded(decoder, layers) as values:
        decoder(input_ids=torch.tensor([ids]), use_cache=False)
    count = len(ids)
    windows = [list(range(count)), list(range(1, count, 3)), [0], [5]]
    rest = list(range(3, count, 2))
    return {"checkpoint": checkpoint, "ids": ids, "windows": windows, "rest": rest,
            "alphas": ALPHAS,
            "blocks": [of_block(values, block, windows, rest) for block in range(len(layers))]}


def random_ids(folder):
    generator = torch.Generator().manual_seed(checkpoint_cases.seed(str(folder.name)))
    ids = torch.randint(3, 300, (TINY_TOKENS,), generator=generator)
    ids[0] = checkpoint_cases.FIRST_TOKEN
    return ids.tolist()


def main(out, checkpoints):
    # smollm2's sample begins with the text of detection.py.
    scripts = [__file__, sites.__file__, expected.__file__, smollm2.__file__, detection.__file__,
               checkpoints / "tiny" / ".stamp", checkpoints / "families" / ".stamp"]
    done = stamp.Stamp(out, scripts)
    if done.is_current():
        return
    torch.set_num_threads(1)
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    samples = [run(name, checkpoints / name, random_ids(checkpoints / name)) for name in TINY]
    folder = checkpoints / SMOLLM2
    ids = smollm2.sample_ids(AutoTokenizer.from_pretrained(folder))[:SMOLLM2_TOKENS]
    samples.append(run(SMOLLM2, folder, ids))
    out.mkdir(parents=True, exist_ok=True)
    (out / "state_statistics.json").write_text(json.dumps(samples, allow_nan=False))
    done.write()


if __name__ == "__main__":
    main(*map(pathlib.Path, sys.argv[1:3]))
