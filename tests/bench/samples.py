"""Samples of an exact number of tokens: real text, this project's own sources."""

import pathlib

import tokenizers

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Corpus:
    def __init__(self, model_folder):
        self._tokenizer = tokenizers.Tokenizer.from_file(str(model_folder / "tokenizer.json"))
        files = sorted(ROOT.glob("server/**/*.cc"))
        self._text = "\n".join(file.read_text() for file in files)
        self._offsets = self._tokenizer.encode(self._text).offsets

    def ids(self, text):
        return self._tokenizer.encode(text).ids

    def take(self, tokens, count):
        """`count` different texts which encode to `tokens` ids each."""
        texts, first = [], 0
        while len(texts) < count and first + tokens <= len(self._offsets):
            last = first + tokens - 1
            text = self._text[self._offsets[first][0]:self._offsets[last][1]]
            # A word that was cut may fall apart into other tokens.
            if len(self.ids(text)) == tokens:
                texts.append(text)
                first = last
            first += 1
        if len(texts) == count:
            return texts
        raise SystemExit(f"the sources hold no {count} samples of {tokens} tokens")
