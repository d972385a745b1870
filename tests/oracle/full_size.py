"""What transformers says real checkpoints hold: names and shapes of their tensors, as JSON.

Models are made on the meta device, so that none of their weights exist. Usage:

  PYTHONPATH=.venv/transformers-5 python -m tests.oracle.full_size OUTPUT CONFIGS

CONFIGS holds a folder with a config.json per model; OUTPUT gets NAME.json for each:

  parameters  of the whole model, tied weights counted once
  others      of those, the vision half's
  held        of those, what an analysis needs: no vision half, no untied head
  dtype       of the file, "" where config.json does not say
  head        the untied output head's name, "" where the head is tied
  tensors     {name: shape} as the model's state_dict has them, tied copies left out
"""

import argparse
import json
import math
import pathlib

import torch
from transformers import AutoConfig, AutoModelForCausalLM, AutoModelForImageTextToText
from transformers.core_model_loading import revert_weight_conversion

from tests.oracle import stamp

EXPERTS = ("mlp.experts.gate_up_proj", "mlp.experts.down_proj")
GROUP = 32  # MXFP4: values that share a scale, two to a byte


def make(config):
    with torch.device("meta"):
        text = config.get_text_config() is config
        auto = AutoModelForCausalLM if text else AutoModelForImageTextToText
        model = auto.from_config(config, trust_remote_code=False)
    model.tie_weights()
    return model


def count(model):
    tensors = {id(tensor): tensor for tensor in model.state_dict(keep_vars=True).values()}
    return sum(tensor.numel() for tensor in tensors.values())


def shapes(model):
    """Names and shapes of what save_pretrained writes: a tied tensor once, under its first name."""
    found, seen = {}, set()
    for name, tensor in model.state_dict(keep_vars=True).items():
        if id(tensor) not in seen:
            found[name] = tensor
        seen.add(id(tensor))
    return {name: list(tensor.shape) for name, tensor in revert_weight_conversion(model, found).items()}


def packed(tensors):
    """The same with experts as gpt-oss stores them: [experts, in, out] in MXFP4, out before in."""
    result = {}
    for name, shape in tensors.items():
        if not name.endswith(EXPERTS):
            result[name] = shape
            continue
        experts, inputs, outputs = shape
        result[f"{name}_blocks"] = [experts, outputs, inputs // GROUP, GROUP // 2]
        result[f"{name}_scales"] = [experts, outputs, inputs // GROUP]
    return result


def text_half(whole):
    """Names and shapes of the language model inside the whole, as it is saved alone."""
    decoder = whole.get_decoder()
    found = revert_weight_conversion(decoder, dict(decoder.state_dict()))
    tensors = {f"model.{name}": list(tensor.shape) for name, tensor in found.items()}
    head = whole.get_output_embeddings().weight
    if head is not whole.get_input_embeddings().weight:
        tensors["lm_head.weight"] = list(head.shape)
    return tensors


def describe(folder):
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    quantized = hasattr(config, "quantization_config")
    if quantized:
        del config.quantization_config
    model = make(config)
    parameters = count(model)
    alone = config.get_text_config() is config
    tensors = shapes(model) if alone else text_half(model)
    tied = model.get_output_embeddings().weight is model.get_input_embeddings().weight
    head = {name.split(".")[0] for name in tensors if name.startswith(("lm_head.", "embed_out."))}
    assert len(head) == (0 if tied else 1)
    held = sum(math.prod(shape) for name, shape in tensors.items() if name.split(".")[0] not in head)
    return {
        "parameters": parameters,
        "others": 0 if alone else parameters - sum(math.prod(shape) for shape in tensors.values()),
        "held": held,
        "dtype": str(config.dtype or "").removeprefix("torch."),
        "head": "".join(head),
        "tensors": packed(tensors) if quantized else tensors,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("configs", type=pathlib.Path)
    arguments = parser.parse_args()
    configs = sorted(arguments.configs.glob("*/config.json"))
    done = stamp.Stamp(arguments.out, [__file__, *configs])
    if done.is_current():
        return
    arguments.out.mkdir(parents=True, exist_ok=True)
    for config in configs:
        text = json.dumps(describe(config.parent), indent=1)
        (arguments.out / f"{config.parent.name}.json").write_text(text + "\n")
    done.write()


if __name__ == "__main__":
    main()
