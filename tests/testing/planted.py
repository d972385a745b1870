"""Checkpoints whose sinks are known: tiny Qwen2 models with weights written by hand.

    python -m tests.testing.planted OUT [--variant table|context|weakening|all]

writes OUT/planted-<variant>/ with config.json, model.safetensors, a tokenizer with a chat template,
and beside them
  planted.json    the planted levels: token, block, strength -> l_start, lifetime, kind
  samples.jsonl   inputs with planted words at known places
  records.jsonl   the sinks these inputs must give; their scores are transformers'
Fails when transformers, in float32 or bfloat16, finds anything else than what was planted.
"""

import argparse
import json
import pathlib
import shutil

import torch
from transformers import AutoTokenizer
from transformers.utils import logging

from tests.oracle import detection, expected, stamp
from tests.testing import planted_design as design
from tests.testing import planted_samples, planted_tokenizer, planted_weights

SCRIPTS = [
    module.__file__
    for module in (
        detection, expected, design, planted_samples, planted_tokenizer, planted_weights,
    )
] + [__file__]


class Disagreement(Exception):
    """The oracle finds other sinks than were planted."""


def table_row(variant, plant, ids_of):
    layers = design.sink_layers(plant.pulses, plant.trigger is not None, variant.shadow)
    row = {
        "word": plant.word,
        "texts": list(planted_tokenizer.forms(plant.word)),
        "token_ids": ids_of[plant.word],
        "pulses": [{"block": each.block, "strength": each.strength} for each in plant.pulses],
        "level": [layers[0], len(layers)] if layers else None,
        "layers": layers,
        "kind": design.kind(layers) if layers else None,
    }
    if plant.trigger:
        row["only_after"] = {
            "word": plant.trigger,
            "token_ids": ids_of[plant.trigger],
            "decided_at_block": plant.pulses[0].block - design.DECIDED_BEFORE,
        }
    return row


def planted_table(variant, ids_of, bos_id):
    return {
        "variant": variant.name,
        "blocks": design.BLOCKS,
        "cosine_threshold": design.THRESHOLD,
        "primary": {
            "token": planted_tokenizer.BOS,
            "token_id": bos_id,
            "block": design.PRIMARY_BLOCK,
            "strength": design.PRIMARY_STRENGTH,
            "window": list(design.WINDOW),
        },
        "weakest_block": variant.weakest_block,
        "plants": [table_row(variant, plant, ids_of) for plant in variant.plants],
    }


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
    weakest = start + int(head_mean[start:end].argmin())
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


def check_encoding(name, loaded, row, ids):
    """transformers must read the folder's tokenizer and template as they were meant."""
    turns = row.get("messages")
    if "prompt" in row:
        turns = [{"role": "user", "content": row["prompt"]}]
    if turns:
        text = loaded.apply_chat_template(
            turns, add_generation_prompt="prompt" in row, tokenize=False
        )
        got = loaded(text + row.get("response", ""), add_special_tokens=False)["input_ids"]
    else:
        got = loaded(row["text"])["input_ids"] if "text" in row else ids
    if got != ids:
        raise Disagreement(f"{name}: transformers encodes it in another way")


def make_record(row, tokenizer, found, planted, ids, chat_rendered, prompt_tokens):
    sinks = [
        {**sink, "text": tokenizer.decode([sink["token_id"]]), "score": seen["score"]}
        for sink, seen in zip(planted, found["sinks"], strict=True)
    ]
    return {
        "sample_id": row["id"],
        "token_ids": ids,
        "positions": len(ids),
        "prompt_tokens": prompt_tokens,
        "chat_rendered": chat_rendered,
        "primary": {
            "position": found["p0"],
            "window": found["window"],
            "score": found["primary"]["score"],
        },
        "sinks": sinks,
    }


def make_records(folder, variant, tokenizer, ids_of, bos_id, rows):
    single, half = Oracle(folder, torch.float32), Oracle(folder, torch.bfloat16)
    loaded = AutoTokenizer.from_pretrained(folder)
    records, seen = [], set()
    for row in rows:
        name = f"{variant.name}, sample {row['id']}"
        ids, chat_rendered, prompt_tokens = planted_samples.encode(row, tokenizer)
        check_encoding(name, loaded, row, ids)
        planted = planted_samples.expected_sinks(variant, ids, ids_of, bos_id)
        tensors, found = single.run(ids, chat_rendered)
        check_sinks(name, found, planted)
        check_norms(name, found, planted)
        check_sinks(f"{name}, bfloat16", half.run(ids, chat_rendered)[1], planted)
        if variant.weakest_block is not None:
            check_weakest_block(name, tensors, found, variant.weakest_block)
        seen |= {tuple(sink["level"]) for sink in planted}
        records.append(
            make_record(row, tokenizer, found, planted, ids, chat_rendered, prompt_tokens)
        )
    check_all_seen(variant, seen)
    return records


def check_all_seen(variant, seen):
    for plant in variant.plants:
        layers = design.sink_layers(plant.pulses, plant.trigger is not None, variant.shadow)
        if layers and (layers[0], len(layers)) not in seen:
            raise Disagreement(f"{variant.name}: no sample holds '{plant.word}'")


def write_lines(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def generate(out, variant):
    """Returns (samples, sinks) written, or None when everything is there already."""
    folder = out / f"planted-{variant.name}"
    done = stamp.Stamp(folder, SCRIPTS)
    if done.is_current():
        return None
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    tokenizer = planted_tokenizer.build(variant.words + variant.triggers)
    bos_id = tokenizer.token_to_id(planted_tokenizer.BOS)
    ids_of = {
        word: planted_tokenizer.token_ids(tokenizer, word)
        for word in variant.words + variant.triggers
    }
    planted_weights.write(folder, variant, ids_of, bos_id, tokenizer.get_vocab_size())
    planted_tokenizer.save(tokenizer, folder)
    table = planted_table(variant, ids_of, bos_id)
    (folder / "planted.json").write_text(json.dumps(table, indent=1) + "\n")
    rows = planted_samples.make_samples(variant, tokenizer)
    records = make_records(folder, variant, tokenizer, ids_of, bos_id, rows)
    write_lines(folder / "samples.jsonl", rows)
    write_lines(folder / "records.jsonl", records)
    done.write()
    return len(rows), sum(len(record["sinks"]) for record in records)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--variant", choices=[*design.VARIANTS, "all"], default="all")
    arguments = parser.parse_args()
    torch.set_num_threads(1)  # matrices this small only lose by more
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    for name, variant in design.VARIANTS.items():
        if arguments.variant in (name, "all"):
            written = generate(arguments.out, variant)
            if written:
                print(f"planted-{name}: {written[1]} sinks in {written[0]} samples, as planted")


if __name__ == "__main__":
    main()
