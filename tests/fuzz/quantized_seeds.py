"""Writes the seeds of fuzz_quantized: one small weight in every format.

    python -m tests.fuzz.quantized_seeds [OUT]     default: tests/fuzz/corpus/quantized
"""

import json
import pathlib
import sys

import numpy as np
import torch
from safetensors.torch import save

from tests.oracle import quantized

EXPERTS = ("fp8_block", "ct_4bit_group", "ct_nvfp4")  # also stacked


def main(out):
    out.mkdir(parents=True, exist_ok=True)
    weight = torch.randn(32, 64, generator=torch.Generator().manual_seed(1)) * 0.02
    cases = {name: (case, weight) for name, case in quantized.CASES.items()}
    cases |= {f"stacked_{name}": (quantized.stacked(quantized.CASES[name]), torch.stack([weight] * 2))
              for name in EXPERTS}
    for name, ((config, write), value) in cases.items():
        parts, _ = write(value, np.random.default_rng(1))
        text = json.dumps({"quantization_config": config})
        tensors = {f"m.{part}": tensor.contiguous() for part, tensor in parts.items()}
        (out / name).write_bytes(text.encode() + b"\0" + save(tensors))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "tests/fuzz/corpus/quantized"))
