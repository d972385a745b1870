"""Checkpoints whose sinks are known: tiny Qwen2 models with weights written by hand.

    python -m tests.testing.planted OUT [--variant table|context|weakening|all]

writes OUT/planted-<variant>/ with config.json, model.safetensors, a tokenizer with a chat template,
and beside them
  planted.json    the planted levels: token, block, strength -> l_start, lifetime, kind
  samples.jsonl   inputs with planted words at known places
  records.jsonl   the sinks these inputs must give
with the standard library alone. tests/oracle/planted_check.py has transformers agree, and adds
their scores.
"""

import argparse
import json
import pathlib
import shutil

from tests.testing import planted_design as design
from tests.testing import planted_samples, planted_tokenizer, planted_weights


STEERED_LIFETIMES = (0, 2, 5, 8, 11)


def steered(variant, plant):
    """Norms the MLP's write at the start of a triggered sink can be set to, and what lives of it."""
    pulse = plant.pulses[0]
    rows = []
    for lifetime in STEERED_LIFETIMES:
        if pulse.block + lifetime < design.WINDOW[1]:
            norm = design.strength_for(pulse.block, lifetime, True, variant.growing)
            rows.append({"norm": norm, "lifetime": lifetime})
    return rows


def table_row(variant, plant, ids_of):
    layers = variant.layers_of(plant)
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
        row["steered"] = steered(variant, plant)
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
        "growing_blocks": list(variant.growing),
        "plants": [table_row(variant, plant, ids_of) for plant in variant.plants],
    }


def make_record(row, variant, tokenizer, ids_of):
    ids, chat_rendered, prompt_tokens = planted_samples.encode(row, tokenizer)
    sinks = planted_samples.expected_sinks(variant, ids, ids_of, tokenizer.bos_id)
    return {
        "sample_id": row["id"],
        "token_ids": ids,
        "positions": len(ids),
        "prompt_tokens": prompt_tokens,
        "chat_rendered": chat_rendered,
        "primary": {"position": 0, "window": list(design.WINDOW)},
        "sinks": [{**sink, "text": tokenizer.text(sink["token_id"])} for sink in sinks],
    }


def write_lines(file, rows):
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))


def generate(folder, variant):
    """Returns (samples, records)."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    words = variant.words + variant.triggers
    tokenizer = planted_tokenizer.Tokenizer(words)
    ids_of = {word: tokenizer.word_ids(word) for word in words}
    planted_weights.write(folder, variant, ids_of, tokenizer.bos_id, tokenizer.size)
    tokenizer.save(folder)
    table = planted_table(variant, ids_of, tokenizer.bos_id)
    (folder / "planted.json").write_text(json.dumps(table, indent=1) + "\n")
    rows = planted_samples.make_samples(variant, tokenizer)
    records = [make_record(row, variant, tokenizer, ids_of) for row in rows]
    write_lines(folder / "samples.jsonl", rows)
    write_lines(folder / "records.jsonl", records)
    return rows, records


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--variant", choices=[*design.VARIANTS, "all"], default="all")
    arguments = parser.parse_args()
    for name, variant in design.VARIANTS.items():
        if arguments.variant in (name, "all"):
            rows, records = generate(arguments.out / f"planted-{name}", variant)
            sinks = sum(len(record["sinks"]) for record in records)
            print(f"planted-{name}: {sinks} sinks planted in {len(rows)} samples")


if __name__ == "__main__":
    main()
