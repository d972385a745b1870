"""A small fast tokenizer for the planted checkpoints: byte-level BPE over bytes and a few words.

Merges spell words from the left, those with their space first, so that a word of the list is one
token wherever it stands and any other text falls back to bytes; nothing is unknown.
"""

import json

from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors

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


def _merges(words, alphabet):
    merges, tokens = [], set(alphabet)
    for word in words:
        for end in range(2, len(word) + 1):
            if word[:end] not in tokens:
                tokens.add(word[:end])
                merges.append((word[: end - 1], word[end - 1]))
    return merges


def build(planted_words):
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    planted = [form.replace(" ", "Ġ") for word in planted_words for form in forms(word)]
    spaced = ["Ġ" + word for word in COMMON] + [form for form in planted if form[0] == "Ġ"]
    merges = _merges(spaced + [form for form in planted if form[0] != "Ġ"], alphabet)
    tokens = [*SPECIAL, *alphabet, *(left + right for left, right in merges)]
    vocabulary = {token: index for index, token in enumerate(tokens)}
    tokenizer = Tokenizer(models.BPE(vocabulary, merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.add_special_tokens([AddedToken(token, special=True) for token in SPECIAL])
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{BOS} $A", pair=f"{BOS} $A $B", special_tokens=[(BOS, vocabulary[BOS])]
    )
    return tokenizer


def token_ids(tokenizer, word):
    """The ids of a planted word's forms."""
    ids = [tokenizer.encode(form, add_special_tokens=False).ids for form in forms(word)]
    if any(len(each) != 1 for each in ids):
        raise AssertionError(f"a form of '{word}' is not one token: {ids}")
    return [each[0] for each in ids]


def save(tokenizer, folder):
    tokenizer.save(str(folder / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "bos_token": BOS,
        "eos_token": EOS,
        "clean_up_tokenization_spaces": False,
        "model_max_length": 4096,
        "chat_template": CHAT_TEMPLATE,
    }
    (folder / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
