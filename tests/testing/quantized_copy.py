"""A quantized copy of a checkpoint: every weight rounded to the nearest value that a format holds.

    python -m tests.testing.quantized_copy FOLDER OUT FORM

writes OUT with the tokenizer of FOLDER, whose weights are plain safetensors, and with the weights of
its projections in FORM, one of FORMS; or, for a GGUF form, OUT/model.gguf from a GGUF file.
"""

import argparse
import json
import pathlib
import re
import shutil

import numpy as np
import torch
from safetensors.torch import load_file, save_file

from tests.oracle import quantized

GROUP = 64  # divides the widths of SmolLM2


def rounded(weight, bits, group):
    """Unsigned integers [K, N], zero points and scales [K / group, N] of a weight [N, K]."""
    groups = weight.T.reshape(-1, group, len(weight))
    low, high = groups.amin(1).clamp(max=0), groups.amax(1).clamp(min=0)
    scales = ((high - low) / (2**bits - 1)).clamp(min=1e-8).half()
    zeros = (-low / scales).round().clamp(0, 2**bits - 1)
    values = (groups / scales[:, None] + zeros[:, None]).round().clamp(0, 2**bits - 1)
    return values.reshape(-1, len(weight)).int().numpy(), zeros.int().numpy(), scales


def gptq(bits):
    config, _ = quantized.gptq(bits, GROUP, v2=True)

    def write(weight, _generator):
        values, zeros, scales = rounded(weight, bits, GROUP)
        order = torch.arange(weight.shape[1]).int() // GROUP
        return {"qweight": quantized.words(values.T, bits).T.contiguous(),
                "qzeros": quantized.words(zeros, bits), "scales": scales, "g_idx": order}, None
    return config, write


def awq():
    config, _ = quantized.awq(GROUP)

    def write(weight, _generator):
        values, zeros, scales = rounded(weight, 4, GROUP)
        return {"qweight": quantized.pack_awq(values), "qzeros": quantized.pack_awq(zeros),
                "scales": scales}, None
    return config, write


def fp8(block=128):
    def write(weight, _generator):
        rows, columns = weight.shape
        padded = torch.nn.functional.pad(weight, (0, -columns % block, 0, -rows % block))
        blocks = padded.unflatten(1, (-1, block)).unflatten(0, (-1, block))
        scales = blocks.abs().amax((1, 3)).clamp(min=1e-8) / 448
        wide = scales.repeat_interleave(block, 0).repeat_interleave(block, 1)[:rows, :columns]
        return {"weight": (weight / wide).to(torch.float8_e4m3fn), "weight_scale_inv": scales}, None
    return {"quant_method": "fp8", "activation_scheme": "dynamic",
            "weight_block_size": [block, block]}, write


OF_PACKAGES = ("ct_8bit_channel", "ct_int8_channel", "ct_fp8_channel", "bnb_int8", "ct_4bit_group",
               "ct_4bit_asymmetric", "ct_nvfp4", "ct_mxfp4", "bnb_nf4", "bnb_fp4")
FORMS = {name: quantized.CASES[name] for name in OF_PACKAGES}
FORMS |= {"gptq_8bit": gptq(8), "gptq_4bit": gptq(4), "awq": awq(), "fp8_block": fp8()}
GGUF_FORMS = ("Q8_0", "Q5_0", "Q4_0")
PROJECTION = re.compile(r"(.*\.layers\..*_proj)\.weight")


def write_copy(folder, out, form):
    quantization, write = FORMS[form]
    # Of a random checkpoint's writer, which leaves one projection as it is.
    quantization = {key: ["lm_head"] if key == "ignore" else value
                    for key, value in quantization.items()}
    tensors = {}
    for file in sorted(folder.glob("*.safetensors")):
        for name, weight in load_file(file).items():
            match = PROJECTION.fullmatch(name)
            if match is None:
                tensors[name] = weight.contiguous()
                continue
            parts, _ = write(weight.float(), np.random.default_rng(0))
            tensors |= {f"{match[1]}.{part}": value.contiguous() for part, value in parts.items()}
    shutil.copytree(folder, out, ignore=shutil.ignore_patterns("*.safetensors*"), dirs_exist_ok=True)
    save_file(tensors, out / "model.safetensors", {"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (out / "config.json").write_text(json.dumps(config | {"quantization_config": quantization}))


def write_gguf(file, out, form):
    import gguf

    kind = gguf.GGMLQuantizationType[form]
    reader = gguf.GGUFReader(file)
    out.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(out / "model.gguf", reader.fields["general.architecture"].contents())
    for field in reader.fields.values():
        if not field.name.startswith("GGUF.") and field.name != "general.architecture":
            items = field.types[1] if len(field.types) > 1 else None
            writer.add_key_value(field.name, field.contents(), field.types[0], items)
    for tensor in reader.tensors:
        weight = gguf.quants.dequantize(tensor.data, tensor.tensor_type)
        if weight.ndim == 1:
            writer.add_tensor(tensor.name, weight)
        else:
            writer.add_tensor(tensor.name, gguf.quants.quantize(weight, kind), raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("form", choices=[*FORMS, *GGUF_FORMS])
    arguments = parser.parse_args()
    write = write_copy if arguments.form in FORMS else write_gguf
    write(arguments.folder, arguments.out, arguments.form)


if __name__ == "__main__":
    main()
