"""Quantized checkpoints, and the plain ones that they stand for.

    python -m tests.oracle.quantized OUT

writes for each case OUT/CASE/packed, a tiny model as the format stores it, and OUT/CASE/plain, the
same with the weights that the format's own package dequantizes to in float32, and OUT/cases.json.
compressed-tensors and bitsandbytes write and read their files themselves; FP8, GPTQ, AWQ and
ModelOpt's NVFP4 are written by their specification, from integers and scales drawn here.

OUT/broken/NAME are files that cannot be right; OUT/broken.json has for each what its refusal names.
"""

import argparse
import json
import math
import os
import pathlib
import re
import warnings

os.environ.setdefault("LOGURU_LEVEL", "ERROR")
warnings.filterwarnings("ignore")

import bitsandbytes.functional as bnb
import numpy as np
import torch
from compressed_tensors.compressors.mx_utils import decompress_mx_scale
from compressed_tensors.compressors.mxfp4.base import MXFP4PackedCompressor
from compressed_tensors.compressors.naive_quantized.base import (
    FloatQuantizationCompressor, IntQuantizationCompressor)
from compressed_tensors.compressors.nvfp4.base import NVFP4PackedCompressor
from compressed_tensors.compressors.nvfp4.helpers import unpack_fp4_from_uint8
from compressed_tensors.compressors.pack_quantized.base import PackedQuantizationCompressor
from compressed_tensors.compressors.pack_quantized.helpers import pack_to_int32, unpack_from_int32
from compressed_tensors.quantization import QuantizationArgs, QuantizationScheme
from compressed_tensors.quantization.lifecycle.forward import dequantize
from safetensors.torch import load_file, save_file
from transformers import (
    GraniteMoeConfig,
    GraniteMoeForCausalLM,
    LlamaConfig,
    LlamaForCausalLM,
    Phi3Config,
    Phi3ForCausalLM,
    Qwen3MoeConfig,
    Qwen3MoeForCausalLM,
)

from tests.oracle import stamp

FP4 = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
KEPT = "model.layers.0.self_attn.o_proj"  # stored as it is


def words(values, bits):
    """Integers [n, columns] one after the other from the lowest bit on, as int32 [n, words]."""
    n, columns = values.shape
    stream = np.zeros((n, math.ceil(columns * bits / 32) * 32), np.uint8)
    for bit in range(bits):
        stream[:, bit:columns * bits:bits] = values >> bit & 1
    packed = np.packbits(stream, axis=1, bitorder="little").view("<i4")
    return torch.from_numpy(packed.copy())


# Each writer takes a weight [N, K] and gives the stored tensors by name, and the weight they mean.
def gptq(bits, group, v2=False, act_order=False):
    def write(weight, generator):
        rows, columns = weight.shape
        size = group if group > 0 else columns
        groups = math.ceil(columns / size)
        values = generator.integers(0, 2**bits, (columns, rows))
        zeros = generator.integers(1, 2**bits, (groups, rows))
        scales = torch.from_numpy(generator.normal(0, 0.02, (groups, rows))).half()
        order = np.arange(columns) // size
        if act_order:
            generator.shuffle(order)
        stored = zeros if v2 else zeros - 1
        parts = {"qweight": words(values.T, bits).T.contiguous(), "qzeros": words(stored, bits),
                 "scales": scales, "g_idx": torch.from_numpy(order).int()}
        plain = scales.float()[order] * torch.from_numpy(values - zeros[order]).float()
        return parts, plain.T.contiguous()
    config = {"quant_method": "gptq", "bits": bits, "group_size": group, "desc_act": act_order,
              "sym": False, "checkpoint_format": "gptq_v2" if v2 else "gptq"}
    return config, write


def pack_awq(values):
    """Integers [n, columns] as int32 [n, columns / 8], in AWQ's order."""
    blocks = values.reshape(len(values), -1, 8)[:, :, [0, 2, 4, 6, 1, 3, 5, 7]].astype(np.int64)
    return torch.from_numpy((blocks << (4 * np.arange(8))).sum(-1).astype(np.uint32)
                            .view(np.int32).copy())


def awq(group):
    def write(weight, generator):
        rows, columns = weight.shape
        groups = columns // group
        values = generator.integers(0, 16, (columns, rows))
        zeros = generator.integers(0, 16, (groups, rows))
        scales = torch.from_numpy(generator.normal(0, 0.02, (groups, rows))).half()
        parts = {"qweight": pack_awq(values), "qzeros": pack_awq(zeros), "scales": scales}
        each = np.arange(columns) // group
        return parts, (scales.float()[each] *
                       torch.from_numpy(values - zeros[each]).float()).T.contiguous()
    return {"quant_method": "awq", "bits": 4, "group_size": group, "zero_point": True,
            "version": "gemm"}, write


def fp8(block, inverse_dtype=torch.float32):
    def write(weight, generator):
        rows, columns = weight.shape
        stored = (weight * 40).to(torch.float8_e4m3fn)
        down, across = (block if block else (rows, columns))
        shape = (math.ceil(rows / down), math.ceil(columns / across)) if block else ()
        scales = torch.tensor(np.abs(generator.normal(0, 0.02, shape)) + 1e-3)
        scales = scales.to(inverse_dtype)
        wide = scales.float() if not block else scales.float().repeat_interleave(
            down, 0)[:rows].repeat_interleave(across, 1)[:, :columns]
        parts = {"weight": stored, "weight_scale_inv": scales}
        return parts, stored.float() * wide
    return {"quant_method": "fp8", "activation_scheme": "dynamic",
            "weight_block_size": list(block) if block else None}, write


def scales_of(weight, args):
    """Scales, and zero points where they are not symmetric, as a calibration gives them."""
    rows, columns = weight.shape
    size = args.group_size if args.strategy in ("group", "tensor_group") else columns
    groups = weight.reshape(rows, -1, size)
    largest = 2**(args.num_bits - 1) - 1 if args.type == "int" else 448 if args.num_bits == 8 else 6
    scale = groups.abs().amax(-1) / largest
    if args.strategy == "tensor":
        scale = scale.max().reshape(1)
    if args.symmetric:
        return scale, None
    low, high = groups.amin(-1), groups.amax(-1)
    scale = (high - low) / (2**args.num_bits - 1)
    zero = (-2**(args.num_bits - 1) - low / scale).round()
    return scale, zero.clamp(-2**(args.num_bits - 1), 2**(args.num_bits - 1) - 1).to(torch.int8)


def compressed(compressor, fmt, scale_dtype=torch.bfloat16, act_order=False, **arguments):
    args = QuantizationArgs(**arguments)
    scheme = QuantizationScheme(targets=["Linear"], weights=args)

    def write(weight, generator):
        scale, zero = scales_of(weight, args)
        # Power-of-two scales stay what they are in one byte.
        scale = torch.exp2(torch.floor(torch.log2(scale))) if fmt.startswith("mx") else scale
        state = {"weight": weight, "weight_scale": scale.to(scale_dtype).float()}
        if zero is not None:
            state["weight_zero_point"] = zero
        if fmt.startswith("nvfp4"):
            state["weight_global_scale"] = torch.tensor([448 * 6 / weight.abs().max().item()])
            state["weight_scale"] = (scale * state["weight_global_scale"]).to(
                torch.float8_e4m3fn).float()
        parts = compressor.compress(state, scheme)
        plain = (decompress_fp4(parts, args) if args.type == "float" and args.num_bits == 4 else
                 compressor.decompress(dict(parts), scheme)["weight"].float())
        if fmt not in ("nvfp4-pack-quantized", "mxfp4-pack-quantized"):
            parts["weight_scale"] = parts["weight_scale"].to(scale_dtype)
        if act_order:  # the same groups, of inputs in another order
            order = generator.permutation(weight.shape[1])
            index = torch.from_numpy(np.argsort(order, kind="stable") // args.group_size).int()
            parts["weight_g_idx"] = index
            plain = regroup(parts, plain, index, args)
        return {name: value.contiguous() for name, value in parts.items()}, plain.contiguous()

    group = {"targets": ["Linear"], "weights": json.loads(args.model_dump_json())}
    return {"quant_method": "compressed-tensors", "format": fmt, "ignore": ["lm_head", KEPT],
            "config_groups": {"group_0": group}}, write


def decompress_fp4(parts, args):
    """As the compressors' decompress, but in float32; theirs rounds to bfloat16."""
    packed, scale = parts["weight_packed"], parts["weight_scale"]
    values = unpack_fp4_from_uint8(packed, packed.shape[0], packed.shape[1] * 2, torch.float32)
    scale = decompress_mx_scale(scale) if scale.dtype == torch.uint8 else scale
    return dequantize(values, scale.float(), args=args, dtype=torch.float32,
                      global_scale=parts.get("weight_global_scale"))


def regroup(parts, plain, index, args):
    """Integers times the scales of the groups that `index` names."""
    groups = torch.arange(plain.shape[1]) // args.group_size
    scale = parts["weight_scale"].float()
    return plain / scale[:, groups] * scale[:, index.long()]


def nvfp4_of_modelopt():
    def write(weight, generator):
        rows, columns = weight.shape
        nibbles = torch.from_numpy(generator.integers(0, 16, (rows, columns)).astype(np.uint8))
        scales = torch.from_numpy(generator.uniform(0.1, 300, (rows, columns // 16)))
        scales = scales.to(torch.float8_e4m3fn)
        second = torch.tensor(3.7e-5)
        parts = {"weight": nibbles[:, ::2] | nibbles[:, 1::2] << 4, "weight_scale": scales,
                 "weight_scale_2": second, "input_scale": torch.tensor(0.01)}
        wide = (scales.float() * second).repeat_interleave(16, 1)
        return parts, FP4[nibbles.long()] * wide
    return {"quant_method": "modelopt", "quant_algo": "NVFP4"}, write


def bitsandbytes_4bit(kind, nested):
    def write(weight, generator):
        packed, state = bnb.quantize_4bit(weight, quant_type=kind, blocksize=64,
                                          compress_statistics=nested)
        parts = {"weight": packed}
        for name, value in state.as_dict(packed=True).items():
            parts["weight." + name] = value
        return parts, bnb.dequantize_4bit(packed, state).float()
    return {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": kind,
            "bnb_4bit_use_double_quant": nested}, write


def bitsandbytes_8bit():
    def write(weight, generator):
        packed, scales, _ = bnb.int8_vectorwise_quant(weight.half())
        parts = {"weight": packed, "SCB": scales, "weight_format": torch.tensor(0, dtype=torch.uint8)}
        return parts, bnb.int8_vectorwise_dequant(packed, scales)
    return {"quant_method": "bitsandbytes", "load_in_8bit": True}, write


def stacked(case):
    """The weights [experts, N, K] of one tensor, an expert at a time."""
    quantization, write = case

    def write_all(weight, generator):
        if weight.dim() == 2:
            return write(weight, generator)
        written = [write(one, generator) for one in weight]
        parts = {name: torch.stack([one[name] for one, _ in written]) for name in written[0][0]}
        if "weight_shape" in parts:
            parts["weight_shape"] = torch.tensor(weight.shape)
            # As the tool packs all of them at once.
            integers = unpack_from_int32(parts["weight_packed"], 4, weight.shape)
            assert torch.equal(pack_to_int32(integers, 4), parts["weight_packed"])
        return parts, torch.stack([plain for _, plain in written])
    return quantization, write_all


INT = {"type": "int", "symmetric": True}
CASES = {
    "gptq_4bit": gptq(4, 32),
    "gptq_4bit_act_order": gptq(4, 32, act_order=True),
    "gptq_4bit_v2_one_group": gptq(4, -1, v2=True),
    "gptq_3bit": gptq(3, 32),
    "gptq_2bit": gptq(2, 64),
    "gptq_8bit": gptq(8, 32, v2=True),
    "awq": awq(32),
    "fp8_block": fp8((16, 32)),
    "fp8_block_uneven": fp8((24, 40), torch.bfloat16),
    "fp8_tensor": fp8(None),
    "ct_fp8_channel": compressed(FloatQuantizationCompressor, "float-quantized", num_bits=8,
                                 type="float", strategy="channel"),
    "ct_fp8_tensor": compressed(FloatQuantizationCompressor, "float-quantized", torch.float32,
                                num_bits=8, type="float", strategy="tensor"),
    "ct_int8_channel": compressed(IntQuantizationCompressor, "int-quantized", num_bits=8,
                                  strategy="channel", **INT),
    "ct_4bit_group": compressed(PackedQuantizationCompressor, "pack-quantized", num_bits=4,
                                strategy="group", group_size=32, **INT),
    "ct_4bit_asymmetric": compressed(PackedQuantizationCompressor, "pack-quantized", num_bits=4,
                                     strategy="group", group_size=32, type="int", symmetric=False),
    "ct_4bit_act_order": compressed(PackedQuantizationCompressor, "pack-quantized", num_bits=4,
                                    strategy="group", group_size=32, act_order=True, **INT),
    "ct_3bit_group": compressed(PackedQuantizationCompressor, "pack-quantized", num_bits=3,
                                strategy="group", group_size=32, **INT),
    "ct_8bit_channel": compressed(PackedQuantizationCompressor, "pack-quantized", torch.float16,
                                  num_bits=8, strategy="channel", **INT),
    "ct_nvfp4": compressed(NVFP4PackedCompressor, "nvfp4-pack-quantized", num_bits=4, type="float",
                           strategy="tensor_group", group_size=16),
    "ct_mxfp4": compressed(MXFP4PackedCompressor, "mxfp4-pack-quantized", num_bits=4, type="float",
                           strategy="group", group_size=32),
    "modelopt_nvfp4": nvfp4_of_modelopt(),
    "bnb_nf4": bitsandbytes_4bit("nf4", False),
    "bnb_nf4_nested": bitsandbytes_4bit("nf4", True),
    "bnb_fp4": bitsandbytes_4bit("fp4", False),
    "bnb_int8": bitsandbytes_8bit(),
}


# Other models: experts one by one, stacked experts, fused projections, and attention that `ignore`
# keeps by a pattern.
OF_EXPERTS = ("gptq_4bit", "awq", "fp8_block", "ct_4bit_group", "ct_mxfp4", "modelopt_nvfp4", "bnb_nf4")
OF_STACKS = ("fp8_block", "ct_4bit_group", "ct_4bit_asymmetric", "ct_4bit_act_order", "ct_int8_channel",
             "ct_fp8_channel", "ct_nvfp4", "ct_mxfp4")
OF_FUSED = ("gptq_4bit_act_order", "fp8_block_uneven", "ct_4bit_group")
MODELS = {name: ("llama", name) for name in CASES}
MODELS |= {f"qwen3_moe_{name}": ("qwen3_moe", name) for name in OF_EXPERTS}
MODELS |= {f"granitemoe_{name}": ("granitemoe", name) for name in OF_STACKS}
MODELS |= {f"phi3_{name}": ("phi3", name) for name in OF_FUSED}
MODELS |= {"ct_4bit_pattern": ("pattern", "ct_4bit_group")}

SIZES = {"hidden_size": 64, "intermediate_size": 128, "num_hidden_layers": 2,
         "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 300,
         "max_position_embeddings": 512, "tie_word_embeddings": False, "torch_dtype": "float32",
         "pad_token_id": None}
BASES = {
    "llama": (LlamaConfig, LlamaForCausalLM, {}, rf"(?!{KEPT}).*_proj"),
    "pattern": (LlamaConfig, LlamaForCausalLM, {}, r".*mlp.*_proj"),
    "qwen3_moe": (Qwen3MoeConfig, Qwen3MoeForCausalLM,
                  {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 64,
                   "head_dim": 16}, r".*_proj"),
    "granitemoe": (GraniteMoeConfig, GraniteMoeForCausalLM,
                   {"num_local_experts": 3, "num_experts_per_tok": 2}, r".*(_proj|put_linear)"),
    "phi3": (Phi3Config, Phi3ForCausalLM, {}, r".*_proj"),
}
IGNORED = {"pattern": ["lm_head", "re:.*self_attn.*"]}


def base_model(name):
    torch.manual_seed(7)
    make_config, make_model, keys, _ = BASES[name]
    config = make_config(**SIZES | keys, architectures=[make_model.__name__])
    return config, make_model(config).float().state_dict()


def is_quantized(base, name):
    return name.endswith(".weight") and re.fullmatch(BASES[base][3], name.removesuffix(".weight"))


def write_case(folder, name, config, weights):
    base, case = MODELS[name]
    quantization, write = stacked(CASES[case])
    if base in IGNORED:
        quantization = quantization | {"ignore": IGNORED[base]}
    generator = np.random.default_rng(len(name))
    packed, plain = {}, {}
    for tensor, weight in weights.items():
        if not is_quantized(base, tensor):
            packed[tensor] = plain[tensor] = weight.contiguous()
            continue
        parts, plain[tensor] = write(weight, generator)
        packed |= {f"{tensor.removesuffix('.weight')}.{part}": value
                   for part, value in parts.items()}
    for form, tensors in (("packed", packed), ("plain", plain)):
        (folder / name / form).mkdir(parents=True, exist_ok=True)
        save_file(tensors, folder / name / form / "model.safetensors", {"format": "pt"})
        written = config.to_dict()
        written.pop("position_embedding_type", None)  # of granitemoe, which does not read it
        if form == "packed":
            written["quantization_config"] = quantization
        (folder / name / form / "config.json").write_text(json.dumps(written, default=str))


MODULE = "model.layers.1.mlp.down_proj"
STACK = "model.layers.1.block_sparse_moe.output_linear"


def broken(base, *words, drop=(), config=None, **parts):
    """The case `base` with parts of one module replaced, by a function of what is there, or left
    out, and keys of its quantization_config set."""
    return {"base": base, "words": words, "drop": drop, "config": config or {}, "parts": parts}


def cut(value):
    return value[:-1]


def narrow(value):
    return value[:, :-1].contiguous()


def with_nan(value):
    value = value.clone()
    value.view(-1)[0] = math.nan
    return value


def set_first(number):
    def edit(value):
        value = value.clone()
        value.view(-1)[0] = number
        return value
    return edit


def state_of(**keys):
    def edit(value):
        state = json.loads(bytes(value.tolist())) | keys
        return torch.tensor(list(json.dumps(state).encode()), dtype=torch.uint8)
    return edit


BROKEN = {
    "gptq_scales_cut": broken("gptq_4bit", "scales", "has shape", scales=cut),
    "gptq_scales_narrow": broken("gptq_4bit", "scales", "has shape", scales=narrow),
    "gptq_scales_nan": broken("gptq_4bit", "NaN", scales=with_nan),
    "gptq_scales_missing": broken("gptq_4bit", "has no scales", drop=("scales",)),
    "gptq_zeros_missing": broken("gptq_4bit", "has no qzeros", drop=("qzeros",)),
    "gptq_zeros_narrow": broken("gptq_4bit", "qzeros", "has shape", qzeros=narrow),
    "gptq_weight_missing": broken("gptq_4bit", MODULE, drop=("qweight",)),
    "gptq_weight_cut": broken("gptq_4bit", "down_proj", qweight=cut),
    "gptq_weight_int64": broken("gptq_4bit", "has dtype I64", qweight=lambda v: v.long()),
    "gptq_order_past_groups": broken("gptq_4bit", "g_idx", "names group 4 of 4", g_idx=set_first(4)),
    "gptq_order_negative": broken("gptq_4bit", "g_idx", "names group -1", g_idx=set_first(-1)),
    "gptq_order_cut": broken("gptq_4bit", "g_idx", "has shape", g_idx=cut),
    "gptq_other_bits": broken("gptq_4bit", "scales", "has shape", config={"bits": 8}),
    "gptq_bits_9": broken("gptq_4bit", "quantization_config.bits", "9", config={"bits": 9}),
    "gptq_bits_text": broken("gptq_4bit", "quantization_config.bits", config={"bits": "four"}),
    "gptq_bits_5": broken("gptq_4bit", "5-bit", config={"bits": 5}),
    "gptq_group_0": broken("gptq_4bit", "quantization_config.group_size", config={"group_size": 0}),
    "gptq_other_group": broken("gptq_4bit", "scales", "has shape", config={"group_size": 64}),
    "gptq_marlin": broken("gptq_4bit", "checkpoint_format", "marlin",
                          config={"checkpoint_format": "marlin"}),
    "awq_zeros_missing": broken("awq", "has no qzeros", drop=("qzeros",)),
    "awq_scales_cut": broken("awq", "scales", "has shape", scales=cut),
    "awq_gemv": broken("awq", "version", "gemv", config={"version": "gemv"}),
    "awq_as_gptq": broken("awq", "has shape", config={"quant_method": "gptq"}),
    "awq_3bit": broken("awq", "quantization_config.bits", config={"bits": 3}),
    "fp8_scale_cut": broken("fp8_block", "weight_scale_inv", "does not fit", weight_scale_inv=cut),
    "fp8_scale_nan": broken("fp8_block", "NaN", weight_scale_inv=with_nan),
    "fp8_scale_int": broken("fp8_block", "weight_scale_inv", "has dtype I32",
                            weight_scale_inv=lambda v: v.int()),
    "fp8_other_block": broken("fp8_block", "does not fit", config={"weight_block_size": [8, 8]}),
    "ct_shape_lies": broken("ct_4bit_group", "weight_shape", weight_shape=set_first(1)),
    "ct_shape_huge": broken("ct_4bit_group", "weight_shape",
                            weight_shape=lambda v: torch.tensor([64, 2**40])),
    "ct_packed_narrow": broken("ct_4bit_group", "weight_packed", "no scheme", weight_packed=narrow),
    "ct_scale_missing": broken("ct_4bit_group", "has no weight_scale", drop=("weight_scale",)),
    "ct_scale_narrow": broken("ct_4bit_group", "weight_scale", "do not divide",
                              weight_scale=lambda v: torch.cat([v, v, v[:, :1]], 1)),
    "ct_zeros_missing": broken("ct_4bit_asymmetric", "has no weight_zero_point",
                               drop=("weight_zero_point",)),
    "ct_zeros_narrow": broken("ct_4bit_asymmetric", "weight_zero_point", "has shape",
                              weight_zero_point=narrow),
    "ct_order_past_groups": broken("ct_4bit_act_order", "weight_g_idx", "names group 99",
                                   weight_g_idx=set_first(99)),
    "ct_no_scheme": broken("ct_4bit_group", "no scheme", config={"config_groups": {}}),
    "ct_sparse": broken("ct_4bit_group", "sparsity_config.format", "sparse-24-bitmask",
                        config={"sparsity_config": {"format": "sparse-24-bitmask"}}),
    "ct_marlin": broken("ct_4bit_group", "format", "marlin-24", config={"format": "marlin-24"}),
    "nvfp4_scale_narrow": broken("ct_nvfp4", "weight_scale", "has shape", weight_scale=narrow),
    "nvfp4_global_missing": broken("ct_nvfp4", "has no weight_global_scale",
                                   drop=("weight_global_scale",)),
    "nvfp4_global_zero": broken("ct_nvfp4", "weight_global_scale", "is 0",
                                weight_global_scale=lambda v: v * 0),
    "nvfp4_packed_odd": broken("ct_nvfp4", "groups of 16", weight_packed=narrow),
    "mxfp4_scale_cut": broken("ct_mxfp4", "weight_scale", "has shape", weight_scale=cut),
    "bnb_absmax_cut": broken("bnb_nf4", "weight.absmax", "has shape", **{"weight.absmax": cut}),
    "bnb_absmax_nan": broken("bnb_nf4", "NaN", **{"weight.absmax": with_nan}),
    "bnb_map_cut": broken("bnb_nf4", "weight.quant_map", "has shape", **{"weight.quant_map": cut}),
    "bnb_weight_cut": broken("bnb_nf4", "values of 4 bits", weight=cut),
    "bnb_state_missing": broken("bnb_nf4", "has no weight.quant_state",
                                drop=("weight.quant_state.bitsandbytes__nf4",)),
    "bnb_state_is_no_json": broken("bnb_nf4", "not valid JSON",
                                   **{"weight.quant_state.bitsandbytes__nf4": cut}),
    "bnb_block_0": broken("bnb_nf4", "blocksize",
                          **{"weight.quant_state.bitsandbytes__nf4": state_of(blocksize=0)}),
    "bnb_shape_huge": broken("bnb_nf4", "4 bits", **{
        "weight.quant_state.bitsandbytes__nf4": state_of(shape=[2**30, 2**30])}),
    "bnb_nested_map_cut": broken("bnb_nf4_nested", "weight.nested_quant_map", "has shape",
                                 **{"weight.nested_quant_map": cut}),
    "bnb_int8_scale_cut": broken("bnb_int8", "SCB", "has shape", SCB=cut),
    "stack_says_more": broken("granitemoe_ct_4bit_group", "weight_shape", "says 4 experts",
                              weight_shape=set_first(4)),
    "stack_shape_lies": broken("granitemoe_ct_4bit_group", "weight_shape", "says [",
                               weight_shape=lambda v: v + torch.tensor([0, 1, 0])),
    "stack_scale_cut": broken("granitemoe_ct_4bit_group", "weight_scale", "has shape",
                              weight_scale=cut),
    "stack_fp8_scale_cut": broken("granitemoe_fp8_block", "weight_scale_inv", "does not fit",
                                  weight_scale_inv=cut),
    "stack_of_none": broken("granitemoe_fp8_block", "has shape [0, ", weight=lambda v: v[:0]),
    "stack_of_gptq": broken("gptq_4bit", "has shape [1, ", qweight=lambda v: v[None]),
    "stack_scale_nan": broken("granitemoe_ct_fp8_channel", "NaN", weight_scale=with_nan),
    "unknown_method": broken("gptq_4bit", "quant_method", "hqq", config={"quant_method": "hqq"}),
    "no_method": broken("gptq_4bit", "quant_method", "is missing", config={"quant_method": None}),
    "beside_a_plain_weight": broken("gptq_4bit", "beside a plain weight",
                                    weight=lambda _: torch.zeros(64, 128)),
}


def write_broken(out, name):
    case = BROKEN[name]
    source, folder = out / case["base"] / "packed", out / "broken" / name
    tensors = load_file(source / "model.safetensors")
    module = STACK if case["base"].startswith("granitemoe") else MODULE
    for part in case["drop"]:
        del tensors[f"{module}.{part}"]
    for part, edit in case["parts"].items():
        tensors[f"{module}.{part}"] = edit(tensors.get(f"{module}.{part}")).contiguous()
    folder.mkdir(parents=True, exist_ok=True)
    save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config = json.loads((source / "config.json").read_text())
    config["quantization_config"] |= case["config"]
    (folder / "config.json").write_text(json.dumps(config))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    out = parser.parse_args().out
    done = stamp.Stamp(out, [__file__])
    if done.is_current():
        return
    bases = {base: base_model(base) for base in BASES}
    for name, (base, _) in MODELS.items():
        write_case(out, name, *bases[base])
    for name in BROKEN:
        write_broken(out, name)
    (out / "cases.json").write_text(json.dumps(list(MODELS)))
    (out / "broken.json").write_text(json.dumps({n: c["words"] for n, c in BROKEN.items()}))
    done.write()


if __name__ == "__main__":
    main()
