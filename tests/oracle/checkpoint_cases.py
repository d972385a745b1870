"""Tiny random checkpoints: how a case is drawn, saved and run through transformers.

Weights are drawn so that attention is peaked, biases, norm weights and learned sinks matter, and
some tokens share a direction with the first one, so that detection finds something.
"""

import dataclasses
import json
import pathlib
import shutil
import time
import zlib
from collections.abc import Callable

import torch
from transformers.utils import logging

from tests.oracle import detection, expected, sites, stamp

FIRST_TOKEN = 1
PEAKED = ("q_proj", "k_proj", "qkv_proj", "query_key_value", "c_attn", "q_b_proj", "kv_a_proj", "kv_b_proj",
          "Wqkv")
EMBEDDINGS = ("embed_tokens", "embed_in", "wte", "word_embeddings")
POSITIONS = ("embed_positions", "wpe")
ONE_PLUS = ("gemma", "nemotron", "qwen3_5", "qwen3_next", "vaultgemma")  # they add one to norm weights
INPUTS_FIRST = ("c_attn", "c_proj", "c_fc")  # gpt2's Conv1D: [in, out]


@dataclasses.dataclass(frozen=True)
class Case:
    """One checkpoint. `prepare` changes the drawn model before it is saved; `edit` the saved folder
    after the reference has run, into another form of the same model."""

    name: str
    family: str
    config: dict
    lengths: tuple
    bfloat16_lengths: tuple
    vocabulary: int
    shard_size: str = "1GB"
    stored: torch.dtype = torch.float32
    prepare: Callable | None = None
    edit: Callable | None = None
    quirk: str = ""


def seed(text):
    return zlib.crc32(text.encode())


def mean_and_deviation(name, parameter, centred_norms):
    """Of the normal distribution a parameter is drawn from."""
    if name.endswith("sinks"):
        return 4.0, 2.0  # a good share of the softmax, unlike from head to head
    if name.endswith("bias"):
        return 0.0, 0.3
    if parameter.dim() == 1:
        return 0.0 if centred_norms else 1.0, 0.3
    if any(part in name for part in EMBEDDINGS):
        return 0.0, 1.0
    if any(part in name for part in POSITIONS):
        return 0.0, 0.5
    if parameter.dim() == 3:  # gpt_oss, [experts, in, out]; wide enough for its clamps to bite
        return 0.0, (3.0 if "gate_up" in name else 0.3) / parameter.shape[1] ** 0.5
    inputs = parameter.shape[0 if any(part in name for part in INPUTS_FIRST) else 1]
    scale = 1.5 if any(part in name for part in PEAKED) else 0.8
    return 0.0, scale / inputs**0.5


def draw_weights(model, generator):
    centred_norms = model.config.model_type.startswith(ONE_PLUS)
    for name, parameter in model.named_parameters():
        mean, deviation = mean_and_deviation(name, parameter, centred_norms)
        parameter.copy_(mean + deviation * torch.randn(parameter.shape, generator=generator))
    plant_shared_direction(model.get_input_embeddings().weight, generator)


def plant_shared_direction(embedding, generator):
    """Gives the first token and every twelfth one a common direction of varied length."""
    direction = torch.randn(embedding.shape[1], generator=generator)
    direction /= direction.norm()
    tokens = torch.arange(FIRST_TOKEN, embedding.shape[0], 12)
    lengths = 15 + 45 * torch.rand(len(tokens), generator=generator)
    lengths[0] = 60
    embedding[tokens] += lengths[:, None] * direction


@torch.no_grad()
def write_checkpoint(case, folder, build):
    """`build(case)` makes the model whose weights are drawn here."""
    model = build(case)
    draw_weights(model, torch.Generator().manual_seed(seed(case.name)))
    if case.prepare:
        case.prepare(model)
    model.to(case.stored).save_pretrained(folder, max_shard_size=case.shard_size)


def draw_ids(case, length):
    generator = torch.Generator().manual_seed(seed(f"{case.name}/{length}"))
    ids = torch.randint(3, case.vocabulary, (length,), generator=generator)
    ids[0] = FIRST_TOKEN
    return ids.tolist()


def trace_with_sites(model, ids):
    decoder = expected.decoder_of(model)
    with sites.recorded(decoder, expected.blocks_of(decoder)) as values:
        return expected.trace(model, ids), values


def write_expected(case, folder, output):
    exact = {}
    model = expected.load(folder, torch.float32)
    for length in case.lengths:
        tensors, values = trace_with_sites(model, draw_ids(case, length))
        expected.write(output, f"f32_T{length}", tensors)
        if length <= sites.LONGEST:
            sites.write(output / f"sites_f32_T{length}.safetensors", values)
            exact[length] = values
    model = expected.load(folder, torch.float64)
    for length in case.lengths:
        tensors = expected.trace(model, draw_ids(case, length))
        expected.write(output, f"f64_T{length}", tensors, with_detection=True)
    model = expected.load(folder, torch.bfloat16)
    for length in case.bfloat16_lengths:
        tensors, values = trace_with_sites(model, draw_ids(case, length))
        expected.write(output, f"bf16_T{length}", tensors)
        if length in exact:
            away = sites.distances(values, exact[length])
            sites.write(output / f"site_distances_bf16_T{length}.safetensors", away)


def describe(case):
    return {
        "name": case.name,
        "family": case.family,
        "lengths_f32": list(case.lengths),
        "lengths_bf16": list(case.bfloat16_lengths),
        "stored": str(case.stored).removeprefix("torch."),
        "quirk": case.quirk,
    }


def write_all(cases, out, build, scripts):
    """Every case below `out`, and cases.json; nothing when `scripts` have not changed since."""
    scripts = [__file__, expected.__file__, detection.__file__, sites.__file__, *scripts]
    done = stamp.Stamp(out, scripts)
    if done.is_current():
        return
    torch.set_num_threads(1)  # matrices this small only lose by more
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for case in cases:
        began = time.monotonic()
        folder, output = out / case.name, out / f"{case.name}.expected"
        for old in (folder, output):
            shutil.rmtree(old, ignore_errors=True)
        write_checkpoint(case, folder, build)
        write_expected(case, folder, output)
        if case.edit:
            case.edit(folder)
        print(f"{case.name}: {time.monotonic() - began:.1f} s", flush=True)
    text = json.dumps([describe(case) for case in cases], indent=1)
    (pathlib.Path(out) / "cases.json").write_text(text + "\n")
    done.write()
