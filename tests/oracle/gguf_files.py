"""GGUF files, and what the gguf package and transformers read in them.

    python -m tests.oracle.gguf_files OUT SMOLLM2

writes
  OUT/quantized/model.gguf and expected.safetensors   every storable type, unpacked by gguf.dequantize
  OUT/models/CASE/gguf and hf                         one tiny model in both forms
  OUT/smollm2/model.gguf                              a link to the published file; SMOLLM2 is the
                                                      folder that transformers made of it
  OUT/tokenizers/NAME/model.gguf and OUT/NAME.json    tokenizers, with ids of OUT/strings.json
  OUT/rules/NAME/model.gguf and OUT/rules/NAME.json   one vocabulary, cut by each rule that has a name
and OUT/index.json.
"""

import argparse
import json
import os
import pathlib
import shutil

import gguf
import numpy
import torch
from safetensors.numpy import save_file
from tokenizers import processors
from transformers import AutoModelForCausalLM, AutoTokenizer
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.utils import logging

from tests.oracle import checkpoint_cases, gguf_rules, smollm2, stamp, tiny_models, tokenizer_folders
from tests.oracle.tokenizer_templates import CONVERSATIONS

HERE = pathlib.Path(__file__).resolve().parent
Type = gguf.GGMLQuantizationType
FLOATS = (Type.F32, Type.F16, Type.BF16)
# Where the float16 scales lie in a block, in bytes.
SCALES = {
    Type.Q4_0: (0,), Type.Q4_1: (0, 2), Type.Q5_0: (0,), Type.Q5_1: (0, 2), Type.Q8_0: (0,),
    Type.Q4_K: (0, 2), Type.Q5_K: (0, 2), Type.Q6_K: (208,),
    Type.Q2_K: (80, 82), Type.Q3_K: (108,), Type.IQ4_NL: (0,), Type.IQ4_XS: (0,),
}
ROWS, ROW_VALUES = 7, 512
# Beside ordinary ones: zeros, subnormals, the largest, and both signs.
ODD_HALVES = (0x0000, 0x8000, 0x0001, 0x8001, 0x03FF, 0x0400, 0x7BFF, 0xFBFF)


def start(path, architecture="llama", heads=1, kv_heads=1):
    path.parent.mkdir(parents=True, exist_ok=True)
    writer = gguf.GGUFWriter(path, architecture)
    writer.add_head_count(heads)
    writer.add_head_count_kv(kv_heads)
    return writer


def finish(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def random_blocks(kind, generator):
    values, size = gguf.GGML_QUANT_SIZES[kind]
    blocks = generator.integers(0, 256, (ROWS * ROW_VALUES // values, size), dtype=numpy.uint8)
    halves = generator.normal(0, 0.05, len(blocks)).astype(numpy.float16).view(numpy.uint16)
    halves[: len(ODD_HALVES)] = ODD_HALVES
    for at in SCALES[kind]:
        blocks[:, at : at + 2] = halves.reshape(-1, 1).view(numpy.uint8)
        halves = halves[::-1].copy()
    return blocks.reshape(ROWS, -1)


def write_quantized(folder):
    generator = numpy.random.default_rng(4)
    writer = start(folder / "model.gguf")
    expected = {}
    for kind in (*FLOATS, *SCALES):
        if kind in FLOATS:
            wide = generator.normal(0, 3, (ROWS, ROW_VALUES)).astype(numpy.float32)
            stored = gguf.quants.quantize(wide, kind)
        else:
            stored = random_blocks(kind, generator)
        writer.add_tensor(kind.name, stored, raw_dtype=kind)
        expected[kind.name] = gguf.quants.dequantize(stored, kind).reshape(ROWS, ROW_VALUES)
    finish(writer)
    save_file(expected, folder / "expected.safetensors")


def interleave(weight, heads):
    """The order of rows in which llama.cpp's converter writes q and k of llama models."""
    rows = weight.shape[0]
    split = weight.reshape(heads, 2, rows // heads // 2, *weight.shape[1:])
    return split.swapaxes(1, 2).reshape(weight.shape)


def round_trip(weight, kind):
    return torch.from_numpy(gguf.quants.dequantize(gguf.quants.quantize(weight.numpy(), kind), kind))


def write_own_metadata(writer, config):
    if config.model_type == "starcoder2":
        writer.add_layer_norm_eps(config.norm_epsilon)
    else:
        writer.add_layer_norm_rms_eps(config.rms_norm_eps)
    if config.model_type in ("gemma2", "gemma3_text"):
        writer.add_sliding_window(config.sliding_window)
    if config.model_type == "gemma2":
        writer.add_attn_logit_softcapping(config.attn_logit_softcapping)
        writer.add_final_logit_softcapping(config.final_logit_softcapping)
    if config.model_type == "granite":
        writer.add_attention_scale(config.attention_multiplier)
        writer.add_embedding_scale(config.embedding_multiplier)
        writer.add_residual_scale(config.residual_multiplier)
        writer.add_logit_scale(config.logits_scaling)
    if config.model_type == "phi3":
        writer.add_sliding_window(config.sliding_window or 0)
        writer.add_rope_scaling_orig_ctx_len(config.original_max_position_embeddings)
    experts = getattr(config, "num_local_experts", None) or getattr(config, "num_experts", None)
    if experts:
        writer.add_expert_count(experts)
        writer.add_expert_used_count(config.num_experts_per_tok)
    if config.model_type in ("qwen2_moe", "qwen3_moe"):
        writer.add_expert_feed_forward_length(config.moe_intermediate_size)
    if config.model_type == "qwen2_moe":
        writer.add_expert_shared_feed_forward_length(config.shared_expert_intermediate_size)


def merge_experts(tensors):
    """The experts of a block in one tensor for each projection, under names that the gguf package knows."""
    merged, result = {}, {}
    for name, tensor in tensors.items():
        if ".experts." not in name:
            result[name] = tensor
            continue
        module, rest = name.split(".experts.")
        number, projection = rest.removesuffix(".weight").split(".")
        prefix = module.removeprefix("model.").replace("block_sparse_moe", "feed_forward")
        target = f"{prefix if projection[0] == 'w' else module}.experts.{projection}.weight"
        merged.setdefault(target, {})[int(number)] = tensor
    return result | {name: torch.stack([of[e] for e in sorted(of)]) for name, of in merged.items()}


def write_metadata(writer, config):
    writer.add_block_count(config.num_hidden_layers)
    writer.add_context_length(config.max_position_embeddings)
    writer.add_embedding_length(config.hidden_size)
    writer.add_feed_forward_length(config.intermediate_size)
    writer.add_rope_freq_base(config.rope_theta)
    head_size = getattr(config, "head_dim", None) or config.hidden_size // config.num_attention_heads
    writer.add_rope_dimension_count(int(head_size * getattr(config, "partial_rotary_factor", 1)))
    writer.add_key_length(head_size)
    writer.add_value_length(head_size)
    write_own_metadata(writer, config)
    scaling = getattr(config, "rope_scaling", None) or {}
    if scaling.get("rope_type") in ("linear", "yarn"):
        writer.add_rope_scaling_type(gguf.RopeScalingType(scaling["rope_type"]))
        writer.add_rope_scaling_factor(scaling["factor"])
    if scaling.get("rope_type") == "yarn":
        writer.add_rope_scaling_orig_ctx_len(scaling["original_max_position_embeddings"])
    return head_size, scaling


def llama3_factors(head_size, theta, scaling):
    """What llama.cpp's converter keeps of a llama3 scaling, by transformers' own frequencies."""
    from transformers import LlamaConfig
    from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS

    config = LlamaConfig(head_dim=head_size, rope_theta=theta, rope_scaling=scaling)
    plain = 1.0 / theta ** (torch.arange(0, head_size, 2).double() / head_size)
    scaled, _ = ROPE_INIT_FUNCTIONS["llama3"](config, "cpu")
    return (plain / scaled.double()).float().numpy()


def write_model(root, name, case, kind):
    model = build(case)
    config = model.config
    architecture = ARCHITECTURES.get(case.family, case.family)
    with torch.no_grad():
        checkpoint_cases.draw_weights(model, torch.Generator().manual_seed(checkpoint_cases.seed(name)))
        for parameter in model.parameters():
            if parameter.dim() > 1 and parameter.shape[0] > 1:
                parameter.copy_(round_trip(parameter, kind))
    model.save_pretrained(root / name / "hf")

    heads, kv_heads = config.num_attention_heads, config.num_key_value_heads
    writer = start(root / name / "gguf" / "model.gguf", architecture, heads, kv_heads)
    head_size, scaling = write_metadata(writer, config)
    if scaling.get("rope_type") == "llama3":
        writer.add_tensor("rope_freqs.weight", llama3_factors(head_size, config.rope_theta, scaling))
    if scaling.get("type") == "longrope":
        for length in ("long", "short"):
            factors = numpy.array(scaling[f"{length}_factor"], dtype=numpy.float32)
            writer.add_tensor(f"rope_factors_{length}.weight", factors)
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH[architecture.upper()], config.num_hidden_layers)
    for source, tensor in merge_experts(model.state_dict()).items():
        if source == "lm_head.weight" and config.tie_word_embeddings:
            continue
        weight = tensor.numpy()
        if architecture in INTERLEAVED and "q_proj" in source:
            weight = interleave(weight, heads)
        if architecture in INTERLEAVED and "k_proj" in source:
            weight = interleave(weight, kv_heads)
        if case.family in ("gemma2", "gemma3_text") and source.endswith("norm.weight"):
            weight = weight + 1
        if source.endswith("shared_expert_gate.weight"):
            weight = weight[0]
        target = names.get_name(source, try_suffixes=(".weight", ".bias"))
        if weight.ndim > 1:
            writer.add_tensor(target, gguf.quants.quantize(weight, kind), raw_dtype=kind)
        else:
            writer.add_tensor(target, numpy.ascontiguousarray(weight))
    finish(writer)


# general.architecture, where it is not the model type.
ARCHITECTURES = {"gemma3_text": "gemma3", "mixtral": "llama", "qwen2_moe": "qwen2moe", "qwen3_moe": "qwen3moe"}
INTERLEAVED = ("granite", "llama")
SIZES = {"vocab_size": tiny_models.VOCABULARY, "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 3,
         "num_attention_heads": 4, "num_key_value_heads": 2, "max_position_embeddings": 4096, "bos_token_id": 1,
         "eos_token_id": 2, "pad_token_id": 0}
GEMMA = {"head_dim": 24, "query_pre_attn_scalar": 24, "sliding_window": 40}
EXPERTS = {"num_experts": 4, "num_experts_per_tok": 2, "moe_intermediate_size": 32}
BASE = {
    "gemma2": {**GEMMA, "attn_logit_softcapping": 20.0, "final_logit_softcapping": 10.0},
    "gemma3_text": {**GEMMA, "num_hidden_layers": 7},
    "granite": {"attention_multiplier": 0.2, "embedding_multiplier": 3.0, "residual_multiplier": 0.5,
                "logits_scaling": 4.0},
    "mixtral": {"num_local_experts": 4, "num_experts_per_tok": 2, "head_dim": 16},
    "olmo2": {},
    "phi3": {},
    "qwen2_moe": {**EXPERTS, "shared_expert_intermediate_size": 48},
    "qwen3_moe": {**EXPERTS, "head_dim": 16, "norm_topk_prob": True},
    "starcoder2": {},
}


def build(case):
    if case.family not in BASE:
        return tiny_models.build(case)
    config = CONFIG_MAPPING[case.family](**{**SIZES, **BASE[case.family], **case.config})
    return AutoModelForCausalLM.from_config(config)


def model_cases():
    llama3 = {**tiny_models.LLAMA3, "original_max_position_embeddings": 8192}
    longrope = {"type": "longrope", "short_factor": [1 + i / 8 for i in range(8)],
                "long_factor": [2 + i / 4 for i in range(8)]}
    tiny = tiny_models.Case
    return {
        "llama_grouped": (tiny("", "llama", {"num_key_value_heads": 2}), Type.F32),
        "llama_tied": (tiny("", "llama", {"tie_word_embeddings": True, "num_key_value_heads": 1}), Type.F32),
        "llama_biases": (tiny("", "llama", {"attention_bias": True, "mlp_bias": True}), Type.F32),
        "llama_head_size": (tiny("", "llama", {"head_dim": 24, "num_key_value_heads": 4}), Type.F16),
        "llama_rope_llama3": (tiny("", "llama", {"rope_scaling": llama3, "rope_theta": 500000.0, "head_dim": 64}),
                              Type.F32),
        "llama_rope_linear": (tiny("", "llama", {"rope_scaling": {"rope_type": "linear", "factor": 4.0}}), Type.BF16),
        "llama_quantized": (tiny("", "llama", {"num_key_value_heads": 2}), Type.Q8_0),
        "qwen2_plain": (tiny("", "qwen2", {"num_key_value_heads": 2}), Type.F32),
        "qwen2_yarn": (tiny("", "qwen2", {"rope_scaling": tiny_models.YARN}), Type.Q4_1),
        "qwen3_plain": (tiny("", "qwen3", {"head_dim": 32, "num_key_value_heads": 2}), Type.F32),
        "gemma2": (tiny("", "gemma2", {}), Type.F32),
        "gemma3": (tiny("", "gemma3_text", {}), Type.BF16),
        "gemma3_linear": (tiny("", "gemma3_text", {"rope_scaling": {"rope_type": "linear", "factor": 8.0}}), Type.F16),
        "granite": (tiny("", "granite", {}), Type.F32),
        "phi3": (tiny("", "phi3", {"sliding_window": 40, "partial_rotary_factor": 0.5}), Type.Q8_0),
        "phi3_longrope": (tiny("", "phi3", {"rope_scaling": longrope, "original_max_position_embeddings": 64}),
                          Type.F32),
        "mixtral": (tiny("", "mixtral", {}), Type.Q8_0),
        "olmo2": (tiny("", "olmo2", {}), Type.F32),
        "qwen2_moe": (tiny("", "qwen2_moe", {}), Type.F32),
        "qwen3_moe": (tiny("", "qwen3_moe", {}), Type.Q4_1),
        "starcoder2": (tiny("", "starcoder2", {"use_bias": True}), Type.F32),
    }


def token_kinds(tokenizer, size):
    kinds = [gguf.TokenType.NORMAL] * size
    for index, token in tokenizer.get_added_tokens_decoder().items():
        kinds[index] = gguf.TokenType.CONTROL if token.special else gguf.TokenType.USER_DEFINED
    return kinds


def write_tokenizer(source, target, architecture, model, pre, **ids):
    """A GGUF file with the tokenizer of a folder, as converters write it."""
    tokenizer = AutoTokenizer.from_pretrained(source).backend_tokenizer
    state = json.loads(tokenizer.to_str())["model"]
    vocabulary = sorted(tokenizer.get_vocab(with_added_tokens=True).items(), key=lambda item: item[1])
    tokens = [token for token, _ in vocabulary]
    kinds = token_kinds(tokenizer, len(tokens))
    writer = start(target, architecture)
    writer.add_tokenizer_model(model)
    if model == "gpt2":
        writer.add_tokenizer_pre(pre)
        writer.add_token_merges([" ".join(pair) for pair in state["merges"]])
    else:
        for index, token in enumerate(tokens):
            if len(token) == 6 and token.startswith("<0x"):
                kinds[index] = gguf.TokenType.BYTE
        kinds[tokens.index("<unk>")] = gguf.TokenType.UNKNOWN
        writer.add_token_scores([-float(index) for index in range(len(tokens))])
    writer.add_token_list(tokens)
    writer.add_token_types(kinds)
    for name, token in ids.items():
        getattr(writer, f"add_{name}_token_id")(tokens.index(token))
    write_metadata(writer, tiny_models.build(tiny_models.Case("", architecture, {})).config)
    finish(writer)


def render_all(tokenizer):
    conversations = [[{"role": role, "content": content} for role, content in turns] for turns in CONVERSATIONS]
    return [{"messages": messages,
             "text": tokenizer.apply_chat_template(messages, tokenize=False, add_generation_prompt=True)}
            for messages in conversations]


def write_json(path, value):
    path.write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def write_rule(path, trained, pre, **flags):
    """A file that says how text is cut and what goes around it, and nothing else that matters."""
    state = json.loads(trained.to_str())["model"]
    tokens = sorted(state["vocab"], key=state["vocab"].get)
    writer = start(path)
    writer.add_tokenizer_model("gpt2")
    writer.add_tokenizer_pre(pre)
    writer.add_token_list(tokens)
    writer.add_token_types(token_kinds(trained, len(tokens)))
    writer.add_token_merges([" ".join(pair) for pair in state["merges"]])
    writer.add_bos_token_id(tokens.index(gguf_rules.BOS))
    writer.add_eos_token_id(tokens.index(gguf_rules.EOS))
    for flag, value in flags.items():
        getattr(writer, f"add_{flag}_token")(value)
    finish(writer)


def write_rules(out):
    """OUT/rules/NAME/model.gguf and OUT/rules/NAME.json; returns the names."""
    trained = gguf_rules.vocabulary()
    cases = {name: (name, {}) for name in gguf_rules.NAMES}
    cases |= {"smollm_bos": ("smollm", {"add_bos": True}), "llama-bpe_no_bos": ("llama-bpe", {"add_bos": False}),
              "qwen2_eos": ("qwen2", {"add_eos": True}),
              "tekken_both": ("tekken", {"add_bos": True, "add_eos": True})}
    for case, (name, flags) in cases.items():
        write_rule(out / "rules" / case / "model.gguf", trained, name, **flags)
        tokenizer = gguf_rules.reader(trained, name, flags.get("add_bos", name in gguf_rules.BEGIN),
                                      flags.get("add_eos", False))
        cases_of_rule = gguf_rules.encode_all(tokenizer, gguf_rules.TEXTS, name not in gguf_rules.UNCLEANED)
        write_json(out / "rules" / f"{case}.json", {"cases": cases_of_rule})
    return list(cases)


def smollm2_reader():
    """The published file's tokens and merges with the rule that it names; chats by transformers."""
    source = {"pretrained_model_name_or_path": str(smollm2.find_gguf().parent),
              "gguf_file": smollm2.find_gguf().name}
    chats = AutoTokenizer.from_pretrained(**source)
    fields = gguf.GGUFReader(smollm2.find_gguf()).fields
    assert fields["tokenizer.ggml.pre"].contents() == "smollm"
    assert fields["tokenizer.ggml.add_bos_token"].contents() is False
    backend = chats.backend_tokenizer
    backend.pre_tokenizer = gguf_rules.cut("smollm")
    backend.post_processor = processors.TemplateProcessing(single="$A", special_tokens=[])
    return backend, chats


def write_tokenizers(out):
    folders = out / "folders"
    tokenizer_folders.write_all(str(folders))
    root = out / "tokenizers"
    write_tokenizer(folders / "llama3", root / "llama3" / "model.gguf", "llama", "gpt2", "llama-bpe",
                    bos="<|begin_of_text|>", eos="<|eot_id|>")
    write_tokenizer(folders / "qwen2", root / "qwen2" / "model.gguf", "qwen2", "gpt2", "qwen2",
                    eos="<|im_end|>", pad="<|endoftext|>")
    write_tokenizer(folders / "llama2", root / "llama2" / "model.gguf", "llama", "llama", None,
                    bos="<s>", eos="</s>", unk="<unk>")
    # What a folder's tokenizer gives, its GGUF form has to give; scores have no other reader than
    # transformers' own.
    readers = {"llama3": {"pretrained_model_name_or_path": folders / "llama3"},
               "qwen2": {"pretrained_model_name_or_path": folders / "qwen2"},
               "llama2": {"pretrained_model_name_or_path": root / "llama2", "gguf_file": "model.gguf"}}
    for name, source in readers.items():
        tokenizer = AutoTokenizer.from_pretrained(**source).backend_tokenizer
        write_json(out / f"{name}.json", {"cases": gguf_rules.encode_all(tokenizer, gguf_rules.TEXTS)})
    (out / "smollm2").mkdir()
    (out / "smollm2" / "model.gguf").symlink_to(smollm2.find_gguf())
    backend, chats = smollm2_reader()
    write_json(out / "smollm2.json", {"cases": gguf_rules.encode_all(backend, gguf_rules.TEXTS),
                                      "templates": render_all(chats)})
    write_json(out / "strings.json", gguf_rules.TEXTS)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("smollm2", type=pathlib.Path)
    arguments = parser.parse_args()
    out = arguments.out
    done = stamp.Stamp(out, [__file__, gguf_rules.__file__, tiny_models.__file__, checkpoint_cases.__file__,
                             *HERE.glob("tokenizer_*.py")],
                       str(arguments.smollm2), str(smollm2.find_gguf()))
    if done.is_current():
        return
    os.environ.setdefault("TQDM_DISABLE", "1")
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(1)
    shutil.rmtree(out, ignore_errors=True)
    write_quantized(out / "quantized")
    cases = model_cases()
    for name, (case, kind) in cases.items():
        write_model(out / "models", name, case, kind)
    write_tokenizers(out)
    write_json(out / "index.json", {"models": list(cases), "smollm2": str(arguments.smollm2.resolve()),
                                    "rules": write_rules(out)})
    done.write()


if __name__ == "__main__":
    main()
