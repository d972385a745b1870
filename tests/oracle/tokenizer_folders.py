"""Synthetic tokenizer folders in the forms that published checkpoints have."""

import json
import os

from tokenizers import (
    AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers,
)

from tests.oracle.tokenizer_strings import corpus

QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA3 = QWEN.replace(r"|\p{N}|", r"|\p{N}{1,3}|")
END = "<|endoftext|>"


def special(text, **flags):
    return AddedToken(text, special=True, normalized=False, **flags)


def byte_level_bpe(pre_tokenizer, specials, normalizer=None, **model):
    tokenizer = Tokenizer(models.BPE(**model))
    if normalizer:
        tokenizer.normalizer = normalizer
    tokenizer.pre_tokenizer = pre_tokenizer
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.train_from_iterator(corpus(), trainers.BpeTrainer(
        vocab_size=900, show_progress=False,
        initial_alphabet=sorted(pre_tokenizers.ByteLevel.alphabet())))
    tokenizer.add_special_tokens([special(text) for text in specials])
    return tokenizer


def split_bytes(pattern, add_prefix_space=False):
    return pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(pattern), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space, use_regex=False)])


def sentencepiece_bpe(specials=("<unk>", "<s>", "</s>"), prepend=True, metaspace=None):
    alphabet = [chr(c) for c in range(0x21, 0x7F)]
    byte_tokens = [f"<0x{byte:02X}>" for byte in range(256)]
    trainer = trainers.BpeTrainer(
        vocab_size=1000, show_progress=False, initial_alphabet=alphabet,
        special_tokens=[*specials, *byte_tokens])
    learner = Tokenizer(models.BPE())
    learner.pre_tokenizer = pre_tokenizers.Metaspace()
    learner.train_from_iterator(corpus(), trainer)
    model = json.loads(learner.to_str())["model"]
    # Multi-byte characters that are not in the vocabulary fall back to bytes.
    tokenizer = Tokenizer(models.BPE(
        vocab=model["vocab"], merges=[tuple(pair) for pair in model["merges"]],
        unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    if metaspace:
        tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme=metaspace, split=False)
        tokenizer.decoder = decoders.Sequence([
            decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse(),
            decoders.Strip(" ", 1, 0)])
    else:
        replace = normalizers.Replace(" ", "▁")
        tokenizer.normalizer = (
            normalizers.Sequence([normalizers.Prepend("▁"), replace]) if prepend else replace)
        steps = [decoders.Replace("▁", " "), decoders.ByteFallback(), decoders.Fuse()]
        tokenizer.decoder = decoders.Sequence(steps + ([decoders.Strip(" ", 1, 0)] if prepend else []))
    tokenizer.add_special_tokens([special(text) for text in specials])
    return tokenizer


def with_bos(tokenizer, bos, first=()):
    template = processors.TemplateProcessing(
        single=f"{bos} $A", pair=f"{bos} $A {bos}:1 $B:1",
        special_tokens=[(bos, tokenizer.token_to_id(bos))])
    tokenizer.post_processor = processors.Sequence([*first, template]) if first else template
    return tokenizer


def listed(tokenizer, *more):
    """added_tokens_decoder: what tokenizer.json holds, and tokens that only the config knows."""
    tokens = dict(tokenizer.get_added_tokens_decoder())
    for token in more:
        tokens[max(tokens, default=tokenizer.get_vocab_size() - 1) + 1] = token
    return {
        str(index): {
            "content": token.content, "lstrip": token.lstrip, "normalized": token.normalized,
            "rstrip": token.rstrip, "single_word": token.single_word, "special": token.special}
        for index, token in sorted(tokens.items())}


def write(folder, tokenizer=None, **files):
    os.makedirs(folder, exist_ok=True)
    if tokenizer:
        tokenizer.save(os.path.join(folder, "tokenizer.json"))
    for name, content in files.items():
        with open(os.path.join(folder, name + ".json"), "w", encoding="utf-8") as file:
            json.dump(content, file, ensure_ascii=False, indent=1)


def write_byte_pair_files(folder, tokenizer):
    """vocab.json and merges.txt, without tokenizer.json."""
    model = json.loads(tokenizer.to_str())["model"]
    vocabulary = dict(model["vocab"])
    write(folder, vocab=vocabulary)
    with open(os.path.join(folder, "merges.txt"), "w", encoding="utf-8") as file:
        file.write("#version: 0.2\n")
        file.writelines(f"{left} {right}\n" for left, right in model["merges"])


def _byte_level_folders(root):
    chatml = ("<|endoftext|>", "<|im_start|>", "<|im_end|>")
    qwen = byte_level_bpe(split_bytes(QWEN), chatml, normalizers.NFC())
    qwen.post_processor = processors.ByteLevel(trim_offsets=False)
    write(f"{root}/qwen2", qwen, tokenizer_config={
        "tokenizer_class": "Qwen2Tokenizer", "add_prefix_space": False, "add_bos_token": False,
        "eos_token": "<|im_end|>", "pad_token": END, "bos_token": None, "unk_token": None,
        "additional_special_tokens": ["<|im_start|>", "<|im_end|>"],
        "added_tokens_decoder": listed(qwen, AddedToken("<tool_call>", normalized=False),
                                       AddedToken("</tool_call>", normalized=False))})
    write_byte_pair_files(f"{root}/qwen2_files", qwen)
    write(f"{root}/qwen2_files", tokenizer_config={
        "tokenizer_class": "Qwen2Tokenizer", "eos_token": "<|im_end|>",
        "added_tokens_decoder": listed(qwen)})

    llama3 = byte_level_bpe(
        split_bytes(LLAMA3), ("<|begin_of_text|>", "<|end_of_text|>", "<|eot_id|>"), ignore_merges=True)
    with_bos(llama3, "<|begin_of_text|>", [processors.ByteLevel(trim_offsets=True)])
    write(f"{root}/llama3", llama3, tokenizer_config={
        "tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": True,
        "bos_token": "<|begin_of_text|>", "eos_token": "<|eot_id|>",
        "added_tokens_decoder": listed(llama3)})
    write(f"{root}/backend_of_version_5", llama3, tokenizer_config={
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<|begin_of_text|>",
        "eos_token": "<|eot_id|>", "extra_special_tokens": {"image_token": "<image>"}})

    for name, in_file, in_config in (
        ("gpt2_prefix_from_config", False, {"add_prefix_space": True}),
        ("gpt2_prefix_left_alone", True, {"add_prefix_space": None}),
        ("gpt2_prefix_absent", True, {}),
    ):
        gpt2 = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=in_file), (END,))
        gpt2.post_processor = processors.ByteLevel(trim_offsets=True)
        write(f"{root}/{name}", gpt2, tokenizer_config={
            "tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, **in_config})

    gpt2 = byte_level_bpe(pre_tokenizers.ByteLevel(add_prefix_space=False), (END,))
    write_byte_pair_files(f"{root}/opt", gpt2)
    write(f"{root}/opt", tokenizer_config={
        "tokenizer_class": "GPT2Tokenizer", "add_bos_token": True, "errors": "replace",
        "unk_token": {"__type": "AddedToken", "content": "</s>", "lstrip": False, "normalized": True,
                      "rstrip": False, "single_word": False},
        "bos_token": {"__type": "AddedToken", "content": "</s>", "lstrip": False, "normalized": True,
                      "rstrip": False, "single_word": False},
        "eos_token": "</s>", "pad_token": "<pad>"})

    neox = byte_level_bpe(
        pre_tokenizers.ByteLevel(add_prefix_space=False), (END, "<|padding|>"), normalizers.NFC())
    neox.post_processor = processors.ByteLevel(trim_offsets=True)
    write(f"{root}/gpt_neox", neox, tokenizer_config={"tokenizer_class": "GPTNeoXTokenizer"})
    write(f"{root}/gpt_neox_with_bos", neox, tokenizer_config={
        "tokenizer_class": "GPTNeoXTokenizerFast", "add_bos_token": True, "add_eos_token": True,
        "added_tokens_decoder": listed(neox, AddedToken("  ", normalized=True),
                                       AddedToken("    ", normalized=True))})

    cohere = byte_level_bpe(pre_tokenizers.Sequence([
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False)]), ("<UNK>", "<BOS_TOKEN>", "<|END_OF_TURN_TOKEN|>"))
    for prefix in (False, True):
        write(f"{root}/cohere_prefix_{str(prefix).lower()}", cohere, tokenizer_config={
            "tokenizer_class": "CohereTokenizer", "add_prefix_space": prefix,
            "added_tokens_decoder": listed(cohere)})

    r1 = byte_level_bpe(split_bytes(LLAMA3), ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜Assistant｜>"))
    r1.post_processor = processors.ByteLevel(trim_offsets=True)
    write(f"{root}/deepseek_r1_distill", r1, tokenizer_config={
        "tokenizer_class": "LlamaTokenizerFast", "add_bos_token": True, "add_eos_token": False,
        "legacy": True, "unk_token": None,
        "bos_token": {"__type": "AddedToken", "content": "<｜begin▁of▁sentence｜>", "lstrip": False,
                      "normalized": True, "rstrip": False, "single_word": False},
        "eos_token": {"__type": "AddedToken", "content": "<｜end▁of▁sentence｜>", "lstrip": False,
                      "normalized": True, "rstrip": False, "single_word": False},
        "pad_token": {"__type": "AddedToken", "content": "<｜end▁of▁sentence｜>", "lstrip": False,
                      "normalized": True, "rstrip": False, "single_word": False}})


def _sentencepiece_folders(root):
    llama2 = sentencepiece_bpe()
    write(f"{root}/llama2", with_bos(llama2, "<s>"), tokenizer_config={
        "tokenizer_class": "LlamaTokenizer", "add_bos_token": True, "add_eos_token": False,
        "legacy": False, "bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>",
        "added_tokens_decoder": listed(llama2)})
    write(f"{root}/llama2_without_bos", llama2, tokenizer_config={
        "tokenizer_class": "LlamaTokenizerFast", "add_bos_token": False, "add_eos_token": True,
        "clean_up_tokenization_spaces": True, "added_tokens_decoder": listed(llama2)})
    write(f"{root}/llama_by_model_type", llama2, config={"model_type": "llama"})
    write(f"{root}/llama_legacy_files", llama2,
          tokenizer_config={"tokenizer_class": "LlamaTokenizer", "bos_token": "<s>", "legacy": True},
          special_tokens_map={
              "bos_token": {"content": "<s>", "lstrip": False, "normalized": True, "rstrip": False,
                            "single_word": False},
              "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"},
          added_tokens={"<pad>": llama2.get_vocab_size(), "<extra_1>": llama2.get_vocab_size() + 1})

    for scheme in ("first", "always", "never"):
        metaspace = sentencepiece_bpe(metaspace=scheme)
        write(f"{root}/metaspace_{scheme}", with_bos(metaspace, "<s>"), tokenizer_config={
            "tokenizer_class": "LlamaTokenizer", "legacy": False, "add_prefix_space": None,
            "added_tokens_decoder": listed(metaspace)})

    gemma = sentencepiece_bpe(("<pad>", "<eos>", "<bos>", "<unk>"), prepend=False)
    write(f"{root}/gemma", with_bos(gemma, "<bos>"), tokenizer_config={
        "tokenizer_class": "GemmaTokenizer", "add_bos_token": True,
        "added_tokens_decoder": listed(gemma)})


def _other_folders(root):
    plain = byte_level_bpe(split_bytes(QWEN), ("<s>", "</s>"))
    with_bos(plain, "<s>")
    write(f"{root}/legacy_special_tokens_map", plain,
          tokenizer_config={"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>",
                            "additional_special_tokens": ["<extra_1>"]},
          special_tokens_map={
              "mask_token": {"content": "<mask>", "lstrip": True, "normalized": False, "rstrip": True,
                             "single_word": False},
              "eos_token": "</s>", "additional_special_tokens": ["<extra_2>", "<extra_1>"]},
          added_tokens={"<mask>": plain.get_vocab_size(), "<tool_call>": plain.get_vocab_size() + 1})
    write(f"{root}/unread_special_tokens_map", plain,
          tokenizer_config={"tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>",
                            "added_tokens_decoder": listed(plain, AddedToken("<think>"))},
          special_tokens_map={"mask_token": "<mask>"}, added_tokens={"<unread>": 5000})
    write(f"{root}/config_changes_attributes", plain, tokenizer_config={
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "pad_token": "<pad>",
        "added_tokens_decoder": {
            **listed(plain, AddedToken("<mask>", lstrip=True, rstrip=True, special=False)),
            str(plain.token_to_id("</s>")): {
                "content": "</s>", "lstrip": True, "rstrip": True, "normalized": False,
                "single_word": False, "special": False}}})
    write(f"{root}/split_special_tokens", plain, tokenizer_config={
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>", "split_special_tokens": True})
    padded = Tokenizer.from_str(plain.to_str())
    padded.enable_truncation(8)
    padded.enable_padding(pad_id=1, pad_token="<mask>", length=16)
    write(f"{root}/padded_and_truncated", padded, tokenizer_config={
        "tokenizer_class": "PreTrainedTokenizerFast", "bos_token": "<s>"})

    unigram = Tokenizer(models.Unigram())
    unigram.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    unigram.pre_tokenizer = pre_tokenizers.Metaspace()
    unigram.decoder = decoders.Metaspace()
    unigram.train_from_iterator(corpus(), trainers.UnigramTrainer(
        vocab_size=600, show_progress=False, unk_token="<unk>", special_tokens=["<unk>", "<s>", "</s>"]))
    write(f"{root}/unigram", unigram, tokenizer_config={
        "tokenizer_class": "PreTrainedTokenizerFast", "clean_up_tokenization_spaces": True,
        "unk_token": "<unk>"})

    pieces = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    pieces.normalizer = normalizers.BertNormalizer()
    pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    pieces.decoder = decoders.WordPiece()
    pieces.train_from_iterator(corpus(), trainers.WordPieceTrainer(
        vocab_size=700, show_progress=False, special_tokens=["[UNK]", "[CLS]", "[MASK]"]))
    write(f"{root}/wordpiece", with_bos(pieces, "[CLS]"), tokenizer_config={
        "tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "[UNK]",
        "clean_up_tokenization_spaces": True})


def write_all(root):
    _byte_level_folders(root)
    _sentencepiece_folders(root)
    _other_folders(root)
    return sorted(os.listdir(root))
