"""A copy of a checkpoint whose weights are noisy: the same model as far as an audit is concerned.

Every weight is multiplied by 1 + share * z, z from the standard normal distribution.
"""

import shutil

import numpy as np
from safetensors.numpy import load_file, save_file


def write_copy(folder, out, share, seed=0):
    rng = np.random.default_rng(seed)
    shutil.copytree(folder, out)
    weights = {name: (weight * (1 + share * rng.standard_normal(weight.shape))).astype(weight.dtype)
               for name, weight in load_file(folder / "model.safetensors").items()}
    save_file(weights, out / "model.safetensors", metadata={"format": "pt"})
