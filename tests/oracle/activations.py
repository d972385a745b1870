"""What models compute whose activations are rounded as their quantization_config says.

    python -m tests.oracle.activations OUT QUANTIZED

QUANTIZED is what tests.oracle.quantized writes. Writes OUT/CASE, a packed checkpoint, OUT/rounded.json,
rows before and after compressed-tensors rounded them, OUT/expected.json, norms of the states of
transformers' models on the dequantized weights, their projections' inputs rounded in float64 and in
float32, and not rounded, and OUT/refused.json, checkpoints with schemes that cannot be applied.
"""

import argparse
import contextlib
import json
import os
import pathlib
import shutil

os.environ.setdefault("LOGURU_LEVEL", "ERROR")

import torch
from compressed_tensors.quantization import QuantizationArgs
from compressed_tensors.quantization.lifecycle.forward import fake_quantize
from compressed_tensors.quantization.utils import compute_dynamic_scales_and_zp

from tests.oracle import expected, quantized, stamp

HERE = pathlib.Path(__file__).resolve().parent
IDS = [(1 + 37 * t) % 300 for t in range(64)]


def dynamic(kind, strategy="token", **more):
    return {"num_bits": 8, "type": kind, "symmetric": True, "dynamic": True, "strategy": strategy,
            **more}


# Case -> checkpoint of tests.oracle.quantized, and the scheme of its activations.
CASES = {
    "int8_token": ("ct_int8_channel", dynamic("int")),
    "fp8_token": ("ct_fp8_channel", dynamic("float")),
    "fp8_group": ("fp8_block", dynamic("float", "group", group_size=32)),
    "experts_fp8_group": ("qwen3_moe_fp8_block", dynamic("float", "group", group_size=32)),
}
REFUSED = {
    "static": ("ct_int8_channel", dynamic("int", "tensor") | {"dynamic": False}),
    "not_symmetric": ("ct_int8_channel", dynamic("int") | {"symmetric": False}),
    "four_bits": ("ct_nvfp4", dynamic("float", "tensor_group", group_size=16) | {"num_bits": 4}),
    "bitsandbytes": ("bnb_int8", None),
}


def rounded(rows, scheme):
    """Of rows [T, width], as compressed-tensors rounds activations."""
    args = QuantizationArgs(**scheme)
    scale, zero = compute_dynamic_scales_and_zp(rows[None], args, torch.nn.Identity())
    return fake_quantize(rows[None], scale, zero, args)[0]


@torch.no_grad()
def state_norms(folder, base, scheme, dtype=torch.float64):
    model = expected.load(folder, dtype)
    if scheme:
        for name, module in model.named_modules():
            if quantized.is_quantized(base, name + ".weight"):
                module.register_forward_pre_hook(lambda _, inputs: (
                    rounded(inputs[0].flatten(0, -2), scheme).view_as(inputs[0]),))
    exact = expected.in_float64(model) if dtype == torch.float64 else contextlib.nullcontext()
    with exact:
        states = model.get_decoder()(
            torch.tensor([IDS]), use_cache=False, output_hidden_states=True).hidden_states[1:]
    return [torch.linalg.vector_norm(state[0], dim=-1).tolist() for state in states]


def write_checkpoint(source, folder, scheme):
    shutil.copytree(source, folder, dirs_exist_ok=True)
    config = json.loads((folder / "config.json").read_text())
    for group in config["quantization_config"].get("config_groups", {}).values():
        group["input_activations"] = scheme
    (folder / "config.json").write_text(json.dumps(config))


def rounding_cases():
    rows = torch.randn(7, 96, generator=torch.Generator().manual_seed(3))
    rows[2] *= 1e4
    rows[3] = 0
    rows[4, :32] = 0
    for scheme in (dynamic("int"), dynamic("float"), dynamic("float", "group", group_size=32),
                   dynamic("int", "group", group_size=16)):
        yield {"type": scheme["type"], "group": scheme.get("group_size", 0), "width": rows.shape[1],
               "rows": rows.flatten().tolist(), "rounded": rounded(rows, scheme).flatten().tolist()}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("quantized", type=pathlib.Path)
    arguments = parser.parse_args()
    out = arguments.out
    done = stamp.Stamp(out, [__file__, HERE / "quantized.py"])
    if done.is_current():
        return
    norms = {}
    for name, (source, scheme) in CASES.items():
        write_checkpoint(arguments.quantized / source / "packed", out / name, scheme)
        plain = arguments.quantized / source / "plain"
        base = quantized.MODELS[source][0]
        norms[name] = {"rounded": state_norms(plain, base, scheme),
                       "float32": state_norms(plain, base, scheme, torch.float32),
                       "plain": state_norms(plain, base, None)}
    for name, (source, scheme) in REFUSED.items():
        write_checkpoint(arguments.quantized / source / "packed", out / "refused" / name, scheme)
    (out / "expected.json").write_text(json.dumps({"ids": IDS, "norms": norms}))
    (out / "rounded.json").write_text(json.dumps(list(rounding_cases())))
    (out / "refused.json").write_text(json.dumps(list(REFUSED)))
    done.write()


if __name__ == "__main__":
    main()
