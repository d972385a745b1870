"""How llama.cpp's names cut text before byte-level merges, by the tokenizers library, and decode it.

The rules are those of the tokenizer.json files that the names are taken from, and of llama.cpp's
src/llama-vocab.cpp for the two that have none (`default`, and `viking` as it simplifies it). Which names decode
with clean_up_tokenization_spaces is what src/llama-vocab.cpp calls clean_spaces.
"""

import json

from tokenizers import Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

from transformers import PreTrainedTokenizerBase

from tests.oracle.tokenizer_strings import corpus, strings

CONTRACTION = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
WORD = r"[^\r\n\p{L}\p{N}]?\p{L}+"
SIGNS = r" ?[^\s\p{L}\p{N}]+[\r\n]*"
BLANKS = r"\s*[\r\n]+|\s+(?!\S)|\s+"
UPPER, LOWER = r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
CASED = (rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}*{LOWER}+", rf"[^\r\n\p{{L}}\p{{N}}]?{UPPER}+{LOWER}*")
SLASHED = r" ?[^\s\p{L}\p{N}]+[\r\n/]*"
# DeepSeek LLM's lists: letters of scripts with case, and signs.
LETTERS = (
    "A-Za-z\u00b5\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u01ba\u01bc-\u01bf\u01c4-\u0293\u0295-\u02af\u0370-\u0373"
    "\u0376\u0377\u037b-\u037d\u037f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03f5\u03f7-\u0481\u048a-"
    "\u052f\u0531-\u0556\u10a0-\u10c5\u13a0-\u13f5\u13f8-\u13fd\u1c90-\u1cba\u1cbd-\u1cbf\u1d00-\u1d2b\u1d6b-"
    "\u1d77\u1d79-\u1d9a\u1e00-\u1f15\u1f18-\u1f1d\u1f20-\u1f45\u1f48-\u1f4d\u1f50-\u1f57\u1f59\u1f5b\u1f5d"
    "\u1f5f-\u1f7d\u1f80-\u1fb4\u1fb6-\u1fbc\u1fbe\u1fc2-\u1fc4\u1fc6-\u1fcc\u1fd0-\u1fd3\u1fd6-\u1fdb\u1fe0-"
    "\u1fec\u1ff2-\u1ff4\u1ff6-\u1ffc\u2102\u2107\u210a-\u2113\u2115\u2119-\u211d\u2124\u2126\u2128\u212a-"
    "\u212d\u212f-\u2134\u2139\u213c-\u213f\u2145-\u2149\u214e\u2183\u2184\u2c00-\u2c7b\u2c7e-\u2ce4\u2ceb-"
    "\u2cee\u2cf2\u2cf3\ua640-\ua66d\ua680-\ua69b\ua722-\ua76f\ua771-\ua787\ua78b-\ua78e\uab70-\uabbf\ufb00-"
    "\ufb06\ufb13-\ufb17\uff21-\uff3a\uff41-\uff5a\U00010400-\U0001044f\U000104b0-\U000104d3\U000104d8-"
    "\U000104fb\U00010c80-\U00010cb2\U00010cc0-\U00010cf2\U000118a0-\U000118df\U0001e900-\U0001e943")
LISTED_SIGNS = "!-/:-~\uff01-\uff0f\uff1a-\uff5e\u2018-\u201f\u3000-\u3002"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"


def any_of(*parts):
    return "|".join(parts)


LLAMA3 = [any_of(CONTRACTION, WORD, r"\p{N}{1,3}", SIGNS, BLANKS)]
QWEN2 = [any_of(CONTRACTION, WORD, r"\p{N}", SIGNS, BLANKS)]
SPLITS = {
    "default": [r"[\p{P}\$\+<=>\^~\|]+", GPT2, r"\p{N}+", "[0-9][0-9][0-9]"],
    "tekken": [any_of(*CASED, r"\p{N}", SLASHED, BLANKS)],
    "gpt-4o": [any_of(*(f"{part}{CONTRACTION}?" for part in CASED), r"\p{N}{1,3}", SLASHED, BLANKS)],
    "deepseek-llm": [r"[\r\n]", rf"\s?[{LETTERS}]+", rf"\s?[{LISTED_SIGNS}]+", r"\s+$", "[一-龥ࠀ-一가-퟿]+",
                     r"\p{N}+"],
    "deepseek-coder": [r"[\r\n]", r"\s?\p{L}+", r"\s?\p{P}+", "[一-龥ࠀ-一가-퟿]+", r"\p{N}"],
    "minicpm5": [r"\p{N}{1,3}", any_of(CONTRACTION, WORD, r"\p{N}+", SIGNS, BLANKS)],
    "seed-coder": [any_of(CONTRACTION, WORD, r"\p{N}{1}", r" ?[^\s\p{L}\p{N}\r\n]+", BLANKS)],
    "viking": [r" ?[^(\s|.,!?…。，、।۔،)]+", r"\p{N}"],
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3", "falcon3", "midm-2.0", "pixtral", "smaug-bpe", "glm4"), LLAMA3),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen", "megrez", "kormo"), QWEN2),
}
PLAIN = ("gpt-2", "phi-2", "a.x-4.0", "mellum", "trillion")
DIGITS = ("smollm", "starcoder", "refact", "minerva-7b")
NAMES = (*SPLITS, *PLAIN, *DIGITS)
WHOLE_PIECES = ("llama-bpe", "llama3", "llama-v3", "falcon3", "midm-2.0", "pixtral", "tekken", "minicpm5")
BEGIN = (*WHOLE_PIECES[:-1],)  # with BOS, where the file does not say
NORMALIZED = ("qwen2", "deepseek-r1-qwen")
UNCLEANED = ("trillion", "smollm", "qwen2", "deepseek-r1-qwen", "kormo", "tekken", "gpt-4o", "deepseek-llm",
             "deepseek-coder", "seed-coder", "viking")
BOS, EOS = "<s>", "</s>"
TEXTS = [*strings(), "\n\n1. One\n\n2. Two", "2024-07-26", "a12b", "x ٣٤", "CamelCase HTTPServer's"]


def cut(name):
    level = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=name in PLAIN + DIGITS)
    if name in PLAIN:
        return level
    steps = [pre_tokenizers.Split(Regex(split), "isolated") for split in SPLITS.get(name, [])]
    if name in DIGITS:
        steps = [pre_tokenizers.Digits(individual_digits=True)]
    return pre_tokenizers.Sequence([*steps, level])


def vocabulary():
    """Merges that cross every boundary a rule could draw, so that each rule shows."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    trainer = trainers.BpeTrainer(
        vocab_size=2500, max_token_length=8, special_tokens=[BOS, EOS], show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet()))
    tokenizer.train_from_iterator([*corpus(), *TEXTS], trainer)
    return tokenizer


def around(tokenizer, begins, ends):
    single = [*([BOS] if begins else []), "$A", *([EOS] if ends else [])]
    ids = [(token, tokenizer.token_to_id(token)) for token in (BOS, EOS)]
    return processors.TemplateProcessing(single=" ".join(single), special_tokens=ids)


def reader(trained, name, begins, ends):
    state = json.loads(trained.to_str())
    state["model"]["ignore_merges"] = name in WHOLE_PIECES
    tokenizer = Tokenizer.from_str(json.dumps(state))
    tokenizer.pre_tokenizer = cut(name)
    tokenizer.decoder = decoders.ByteLevel()
    if name in NORMALIZED:
        tokenizer.normalizer = normalizers.NFC()
    tokenizer.post_processor = around(tokenizer, begins, ends)
    return tokenizer


def encode_all(tokenizer, texts, cleans=False):
    cases = []
    for text in texts:
        special = tokenizer.encode(text).ids
        decoded = tokenizer.decode(special, skip_special_tokens=False)
        cases.append({
            "special": special, "plain": tokenizer.encode(text, add_special_tokens=False).ids,
            "decoded": PreTrainedTokenizerBase.clean_up_tokenization(decoded) if cleans else decoded})
    return cases
