"""A small fast tokenizer for the planted checkpoints: byte-level BPE over bytes and a few words.

Merges spell words from the left, those with their space first, so that a word of the list is one
token wherever it stands and any other text falls back to bytes; nothing is unknown.

It is written as the tokenizers library would, and encodes here without it; the transformers oracle
has to agree.
"""

import itertools
import json
import re

BOS, EOS = "<|bos|>", "<|eos|>"
SPECIAL = (BOS, EOS, "<|system|>", "<|user|>", "<|assistant|>")
CHAT_TEMPLATE = (
    "{{ bos_token }}{% for message in messages %}{{ '<|' + message['role'] + '|>\n' "
    "+ message['content'] + '\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|assistant|>\n' }}{% endif %}"
)
COMMON = (
    "the of and to in is that it for was on are as with be at by this have from or one had not but "
    "what all were when we there can an your which their said if do will each about how up out them "
    "these so some her would make like him into time has look two more write go see number no way "
    "could people my than water been call who its now find long down day did get come made may part "
    "over new sound take only little work know place year live me back give most very after thing "
    "our just name good sentence man think say great where help through much before line right too "
    "mean old any same tell boy follow came want show also around form three small set put end does "
    "another well large must big even such because turn here why ask went men read need land "
    "different home us move try kind hand picture change off play spell air away animal house point "
    "page letter mother answer found study still learn should world sum value function return list "
    "number prime even odd angle triangle equal greater less proof step problem solution train hour"
).split()


def forms(word):
    """The tokens of a planted word: after a space, capitalised after a space, capitalised."""
    return " " + word, " " + word.capitalize(), word.capitalize()


def _alphabet():
    """{byte: character}, as GPT-2 writes bytes: printable ones as they are, others from 256 on."""
    printable = [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
    others = [byte for byte in range(256) if byte not in printable]
    return {byte: chr(byte) for byte in printable} | {
        byte: chr(256 + index) for index, byte in enumerate(others)
    }


ALPHABET = _alphabet()
SPACE = ALPHABET[ord(" ")]
SPECIALS = re.compile("(" + "|".join(map(re.escape, SPECIAL)) + ")")
# GPT-2's pattern, for ASCII.
PIECES = re.compile(
    r"'(?:s|t|re|ve|m|ll|d)| ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s+(?!\S)|\s+", re.ASCII
)


def _merges(words):
    merges, tokens = [], set(ALPHABET.values())
    for word in words:
        for end in range(2, len(word) + 1):
            if word[:end] not in tokens:
                tokens.add(word[:end])
                merges.append((word[: end - 1], word[end - 1]))
    return merges


class Tokenizer:
    def __init__(self, planted_words):
        planted = [form.replace(" ", SPACE) for word in planted_words for form in forms(word)]
        spaced = [SPACE + word for word in COMMON] + [form for form in planted if form[0] == SPACE]
        self._merges = _merges(spaced + [form for form in planted if form[0] != SPACE])
        self._ranks = {pair: rank for rank, pair in enumerate(self._merges)}
        merged = (left + right for left, right in self._merges)
        self._tokens = [*SPECIAL, *sorted(ALPHABET.values()), *merged]
        self._ids = {token: index for index, token in enumerate(self._tokens)}

    @property
    def size(self):
        return len(self._tokens)

    @property
    def bos_id(self):
        return self._ids[BOS]

    def encode(self, text, add_special_tokens=True):
        """(ids, where each begins in the text), of ASCII text."""
        if not text.isascii():
            raise ValueError(f"not ASCII: {text!r}")
        ids, begins, place = [], [], 0
        if add_special_tokens:
            ids, begins = [self.bos_id], [0]
        for part in SPECIALS.split(text):
            for token in [part] if part in SPECIAL else self._split(part):
                ids.append(self._ids[token])
                begins.append(place)
                place += len(token)
        return ids, begins

    def _split(self, text):
        for piece in PIECES.findall(text):
            yield from self._merge([ALPHABET[byte] for byte in piece.encode()])

    def _merge(self, parts):
        """The pair of the earliest merge first, the leftmost of its kind."""
        while True:
            pairs = enumerate(itertools.pairwise(parts))
            known = [(self._ranks[pair], at) for at, pair in pairs if pair in self._ranks]
            if not known:
                return parts
            at = min(known)[1]
            parts[at : at + 2] = [parts[at] + parts[at + 1]]

    def text(self, token_id):
        """Of a token that stands for whole characters."""
        token = self._tokens[token_id]
        if token in SPECIAL:
            return token
        bytes_of = {character: byte for byte, character in ALPHABET.items()}
        return bytes(bytes_of[character] for character in token).decode()

    def word_ids(self, word):
        """The ids of a planted word's forms, each of which is one token."""
        return [self._ids[form.replace(" ", SPACE)] for form in forms(word)]

    def save(self, folder):
        (folder / "tokenizer.json").write_text(json.dumps(self._file(), indent=2))
        config = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "bos_token": BOS,
            "eos_token": EOS,
            "clean_up_tokenization_spaces": False,
            "model_max_length": 4096,
            "chat_template": CHAT_TEMPLATE,
        }
        (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")

    def _file(self):
        bos = {"SpecialToken": {"id": BOS, "type_id": 0}}
        first, second = ({"Sequence": {"id": name, "type_id": 0}} for name in "AB")
        byte_level = {"type": "ByteLevel", "trim_offsets": True, "use_regex": True}
        plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [
                {"id": self._ids[token], "content": token, **plain, "special": True}
                for token in SPECIAL
            ],
            "normalizer": None,
            "pre_tokenizer": {**byte_level, "add_prefix_space": False},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [bos, first],
                "pair": [bos, first, second],
                "special_tokens": {BOS: {"id": BOS, "ids": [self.bos_id], "tokens": [BOS]}},
            },
            "decoder": {**byte_level, "add_prefix_space": True},
            "model": {
                "type": "BPE",
                "dropout": None,
                "unk_token": None,
                "continuing_subword_prefix": None,
                "end_of_word_suffix": None,
                "fuse_unk": False,
                "byte_fallback": False,
                "ignore_merges": False,
                "vocab": self._ids,
                "merges": [list(pair) for pair in self._merges],
            },
        }
