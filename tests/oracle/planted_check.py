"""Planted checkpoints (tests/testing/planted.py), with transformers as the judge of them.

    python -m tests.oracle.planted_check OUT

writes OUT/planted-<variant>/ of every variant and adds transformers' scores to its records.jsonl.
Fails when transformers, in float32 or bfloat16, finds anything else than what was planted, or reads
the tokenizer in another way than it was meant.
"""

import argparse
import pathlib

import torch
from transformers import AutoTokenizer
from transformers.utils import logging

from tests.oracle import detection, expected, stamp
from tests.testing import planted, planted_samples, planted_tokenizer, planted_weights, tensor_file
from tests.testing import planted_design as design

SCRIPTS = [
    module.__file__
    for module in (
        detection, expected, planted, design, planted_samples, planted_tokenizer, planted_weights,
        tensor_file,
    )
] + [__file__]


class Disagreement(Exception):
    """The oracle finds other sinks than were planted."""


def check_sinks(name, found, planted):
    """Positions, layers and kinds must be the planted ones, MLP norms to rounding."""
    keys = ("position", "layers", "kind")
    got = [{key: sink[key] for key in keys} for sink in found["sinks"]]
    want = [{key: sink[key] for key in keys} for sink in planted]
    if found["p0"] != 0 or tuple(found["window"]) != design.WINDOW:
        raise Disagreement(f"{name}: primary {found['p0']}, window {found['window']}")
    if got != want:
        wrong = [pair for pair in zip(got, want, strict=False) if pair[0] != pair[1]]
        raise Disagreement(f"{name}: {len(got)} sinks, {len(want)} planted; first: {wrong[:1]}")


def check_norms(name, found, planted):
    for sink, plant in zip(found["sinks"], planted, strict=True):
        if abs(sink["mlp_norm"] - plant["mlp_norm"]) > 1e-4 * plant["mlp_norm"]:
            raise Disagreement(f"{name}: MLP norm {sink['mlp_norm']}, {plant['mlp_norm']} planted")


def check_weakest_block(name, tensors, found, block):
    head_mean = detection.alpha(tensors["column_sum"]).mean(axis=1)[:, found["p0"]]
    start, end = found["window"]
    weakest = start + 1 + int(head_mean[start + 1:end + 1].argmin())  # of its readers
    if weakest != block:
        raise Disagreement(f"{name}: the primary sink is weakest in block {weakest}, not {block}")


class Oracle:
    """transformers in one dtype, with detection on top."""

    def __init__(self, folder, dtype):
        self._model = expected.load(folder, dtype)

    def run(self, ids, chat_rendered):
        tensors = expected.trace(self._model, ids)
        found = detection.detect(
            tensors["hidden"], tensors["column_sum"], tensors["mlp_norm"], chat_rendered
        )
        return tensors, found


def check_encoding(name, loaded, row, record):
    """transformers must read the folder's tokenizer and template as they were meant."""
    turns, start = row.get("messages"), 0
    if "prompt" in row:
        turns = [{"role": "user", "content": row["prompt"]}]
    if turns:
        prompt = loaded.apply_chat_template(
            turns, add_generation_prompt="prompt" in row, tokenize=False
        )
        got = loaded(
            prompt + row.get("response", ""), add_special_tokens=False, return_offsets_mapping=True
        )
        start = sum(begin < len(prompt) for begin, _ in got["offset_mapping"])
    elif "text" in row:
        got = loaded(row["text"])
    else:
        got = {"input_ids": row["token_ids"]}
    if got["input_ids"] != record["token_ids"]:
        raise Disagreement(f"{name}: transformers encodes it in another way")
    if turns and start != record["prompt_tokens"]:
        raise Disagreement(f"{name}: the prompt has {start} tokens, not {record['prompt_tokens']}")
    for sink in record["sinks"]:
        if loaded.decode([sink["token_id"]]) != sink["text"]:
            raise Disagreement(f"{name}: token {sink['token_id']} is not {sink['text']!r}")


def check_all_seen(variant, records):
    seen = {tuple(sink["level"]) for record in records for sink in record["sinks"]}
    for plant in variant.plants:
        layers = variant.layers_of(plant)
        if layers and (layers[0], len(layers)) not in seen:
            raise Disagreement(f"{variant.name}: no sample holds '{plant.word}'")


def add_scores(record, found):
    record["primary"]["score"] = found["primary"]["score"]
    for sink, seen in zip(record["sinks"], found["sinks"], strict=True):
        sink["score"] = seen["score"]


def check(folder, variant, rows, records):
    single, half = Oracle(folder, torch.float32), Oracle(folder, torch.bfloat16)
    loaded = AutoTokenizer.from_pretrained(folder)
    for row, record in zip(rows, records, strict=True):
        name = f"{variant.name}, sample {row['id']}"
        check_encoding(name, loaded, row, record)
        ids, chat_rendered, sinks = record["token_ids"], record["chat_rendered"], record["sinks"]
        tensors, found = single.run(ids, chat_rendered)
        check_sinks(name, found, sinks)
        check_norms(name, found, sinks)
        check_sinks(f"{name}, bfloat16", half.run(ids, chat_rendered)[1], sinks)
        if variant.weakest_block is not None:
            check_weakest_block(name, tensors, found, variant.weakest_block)
        add_scores(record, found)
    check_all_seen(variant, records)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # matrices this small only lose by more
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for name, variant in design.VARIANTS.items():
        folder = arguments.out / f"planted-{name}"
        done = stamp.Stamp(folder, SCRIPTS)
        if done.is_current():
            continue
        rows, records = planted.generate(folder, variant)
        check(folder, variant, rows, records)
        planted.write_lines(folder / "records.jsonl", records)
        done.write()
        sinks = sum(len(record["sinks"]) for record in records)
        print(f"planted-{name}: {sinks} sinks in {len(rows)} samples, as planted")


if __name__ == "__main__":
    main()
