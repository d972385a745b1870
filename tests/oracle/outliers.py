"""Outlier ratios of SmolLM2's tokens as transformers computes them (Trace::outlier_ratio).

    python -m tests.oracle.outliers OUT FOLDER

writes OUT/outliers.json: the ids of a sample, and for each of its tokens the largest absolute entry
of the MLP's input divided by the median, of the block where that is largest, in float64 ("exact")
and in float32.
"""

import argparse
import contextlib
import json
import pathlib

import numpy as np
import torch
from transformers import AutoTokenizer

from tests.oracle import expected, stamp
from tests.oracle.smollm2 import sample_ids

LENGTH = 300
HERE = pathlib.Path(__file__).resolve().parent


def ratio(rows):
    """[T] of rows [T, C]; the median is the lower of the two in the middle."""
    sizes = np.sort(np.abs(rows), axis=1)
    return sizes[:, -1] / sizes[:, (sizes.shape[1] - 1) // 2]


@torch.no_grad()
def ratios(folder, ids, dtype):
    model = expected.load(folder, dtype)
    decoder = expected.decoder_of(model)
    seen = []
    for block in expected.blocks_of(decoder):
        block.mlp.register_forward_pre_hook(
            lambda _, inputs: seen.append(ratio(inputs[0][0].double().numpy())))
    exact = expected.in_float64(decoder) if dtype == torch.float64 else contextlib.nullcontext()
    with exact:
        decoder(input_ids=torch.tensor([ids]), use_cache=False)
    return np.max(seen, axis=0).tolist()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("folder", type=pathlib.Path)
    arguments = parser.parse_args()
    done = stamp.Stamp(arguments.out, [__file__, HERE / "smollm2.py"])
    if done.is_current():
        return
    ids = sample_ids(AutoTokenizer.from_pretrained(arguments.folder))[:LENGTH]
    arguments.out.mkdir(parents=True, exist_ok=True)
    (arguments.out / "outliers.json").write_text(json.dumps(
        {"ids": ids, "exact": ratios(arguments.folder, ids, torch.float64),
         "float32": ratios(arguments.folder, ids, torch.float32)}))
    done.write()


if __name__ == "__main__":
    main()
