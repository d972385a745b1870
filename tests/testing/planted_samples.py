"""Samples with planted words at known places, and the records they must give.

The places are found in the token ids, the levels come from the design; nothing here runs a model.
"""

import itertools
import math

from tests.testing import planted_design as design
from tests.testing import planted_tokenizer

SENTENCES = (
    "the train leaves the station at noon and comes back before dark",
    "a small garden behind the house needs water every morning",
    "we add the two numbers and read the sum from the last column",
    "the function returns a list, so the caller must not change it",
    "each angle of the triangle is less than the sum of the other two",
    "rivers carry sand to the sea, where it settles in long banks",
    "the proof uses only one idea, and the rest is careful counting",
    "her letter came late, yet the answer was still useful",
)
PLAIN_PROMPT = "How many even numbers are there between one and fifty?"


def planted_phrases(variant):
    """One phrase per plant: the word itself, or the trigger and the word; capitalised and not."""
    phrases = []
    for plant in variant.plants:
        phrase = f"{plant.trigger} {plant.word}" if plant.trigger else plant.word
        phrases += [phrase.capitalize(), phrase]
    # Without its trigger a context word stays as it is.
    return phrases + [plant.word for plant in variant.plants if plant.trigger]


def paragraph(phrases, sentences, every):
    """`sentences` sentences, every `every`-th opened by the next phrase."""
    parts = []
    for index in range(sentences):
        sentence = next(SENTENCE_CYCLE)
        opened = f"{next(phrases)}, {sentence}" if index % every == 0 else sentence.capitalize()
        parts.append(opened)
    return ". ".join(parts) + "."


SENTENCE_CYCLE = itertools.cycle(SENTENCES)


def make_samples(variant, tokenizer):
    """Rows as sinkctl reads them: text, prompt and response, a chat, token ids."""
    global SENTENCE_CYCLE
    SENTENCE_CYCLE = itertools.cycle(SENTENCES)
    phrases = itertools.cycle(planted_phrases(variant))
    rows = [{"id": "plain", "text": ". ".join(SENTENCES[1:3]) + "."}]
    for sentences, every in ((2, 1), (4, 1), (8, 2), (16, 2), (40, 4), (60, 3)):
        rows.append({"id": f"text-{sentences}", "text": paragraph(phrases, sentences, every)})
    for sentences, every in ((3, 1), (6, 2), (12, 3), (24, 2), (48, 5)):
        response = paragraph(phrases, sentences, every)
        rows.append(
            {"id": f"answer-{sentences}", "prompt": PLAIN_PROMPT, "response": response}
        )
    chat = [
        {"role": "system", "content": "Answer in whole sentences."},
        {"role": "user", "content": paragraph(phrases, 3, 2)},
        {"role": "assistant", "content": paragraph(phrases, 6, 2)},
    ]
    rows.append({"id": "chat", "messages": chat})
    ids, _ = tokenizer.encode(paragraph(phrases, 10, 2))
    rows.append({"id": "ids", "token_ids": ids})
    # The first token again: a sink that lives exactly as long as the primary one.
    again = ids[:40] + [ids[0]] + ids[40:]
    rows.append({"id": "ids-first-token-twice", "token_ids": again})
    return rows


def encode(row, tokenizer):
    """(ids, chat_rendered, prompt tokens) of a row, by the rules of the definitions."""
    if "token_ids" in row:
        return row["token_ids"], False, len(row["token_ids"])
    if "text" in row:
        ids, _ = tokenizer.encode(row["text"])
        return ids, False, len(ids)
    if "messages" in row:
        ids, _ = tokenizer.encode(render(row["messages"], False), add_special_tokens=False)
        return ids, True, len(ids)
    prompt = render([{"role": "user", "content": row["prompt"]}], True)
    ids, begins = tokenizer.encode(prompt + row["response"], add_special_tokens=False)
    return ids, True, sum(begin < len(prompt) for begin in begins)


def render(messages, add_generation_prompt):
    """The chat template, by hand."""
    turns = "".join(f"<|{turn['role']}|>\n{turn['content']}\n" for turn in messages)
    return planted_tokenizer.BOS + turns + ("<|assistant|>\n" if add_generation_prompt else "")


def expected_sinks(variant, ids, ids_of, bos_id):
    """The planted sinks of one sample, by position."""
    sinks = []
    for position, (previous, token) in enumerate(itertools.pairwise(ids), start=1):
        if token == bos_id:
            layers = list(range(*design.WINDOW))
            strength = design.PRIMARY_STRENGTH * math.hypot(1.0, variant.shadow)
            sinks.append(describe(position, token, layers, strength))
        for plant in variant.plants:
            if token not in ids_of[plant.word]:
                continue
            if plant.trigger and previous not in ids_of[plant.trigger]:
                continue
            layers = variant.layers_of(plant)
            if layers:
                sinks.append(describe(position, token, layers, plant.pulses[0].strength))
    return sinks


def describe(position, token, layers, strength):
    return {
        "position": position,
        "token_id": token,
        "layers": layers,
        "level": [layers[0], len(layers)],
        "contiguous": layers[-1] - layers[0] + 1 == len(layers),
        "kind": design.kind(layers),
        "mlp_norm": strength,
    }
