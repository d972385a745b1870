"""The texts that tokenizers are compared on: hand-picked troubles and seeded random ones."""

import random

PLAIN = [
    "", " ", "  ", "\n", "\t", "\r\n", " \n \n", "a", " a", "a ", " a ", "the", "The quick brown fox.",
    "Hello, world!", "don't won't I'm we've they're he'd she'll IT'S DON'T", "e.g. i.e. U.S.A. 3.14",
    "1 12 123 1234 12345 1234567890", "1,234,567.89", "x=1;y=2", "snake_case camelCase PascalCase",
    "http://example.com/a?b=c&d=e#f", "me@example.com", "C:\\path\\to\\file", "/usr/local/bin",
    "if (a && b || !c) { return a[i]->b; }", "def f(x):\n    return x ** 2\n\n\nprint(f(3))\n",
    "\tindented\n\t\ttwice\n        eight", "trailing   \nspaces   ", "a\u00a0b\u2003c\u3000d\u200be",
    "tab\tseparated\tvalues", "a\x00b", "\x01\x02\x1b[31mred\x1b[0m\x7f", "a\x85b\u2028c\u2029d",
    "naïve café résumé", "nai\u0308ve cafe\u0301 re\u0301sume\u0301", "Å Å \u212b", "ﬁ ﬂ ﬀ",
    "Ünïcödé", "Привет, мир!", "Γειά σου Κόσμε", "שלום עולם", "مرحبا بالعالم", "नमस्ते दुनिया",
    "สวัสดีชาวโลก", "你好，世界", "こんにちは世界", "안녕하세요 세계", "한국어", "ＦＵＬＬ ｗｉｄｔｈ",
    "😀", "👩‍👩‍👧‍👦 family", "🏳️‍🌈🇩🇪🇫🇷", "👍🏽👍🏿", "❤️ ❤", "𝓗𝓮𝓵𝓵𝓸", "\U0010ffff\ufffd\ufeff",
    "\ufeffbom first", "a\u0300\u0301\u0302\u0303\u0304 stacked", "½ ² ³ ① Ⅷ ٣ ४", "€100 £5 ¥1000",
    "<s>", "</s>", "<unk>", "<s> <s>", "<s>hello</s>", " <s> ", "a<s>b", "<|endoftext|>",
    "<|im_start|>user\nhi<|im_end|>\n", "text <|im_end|> more", "<|begin_of_text|><|eot_id|>",
    "<pad><mask>", "<mask> at start", "end <mask>", "a <mask> b", "a<mask>b", "<tool_call>{}</tool_call>",
    "<think>\nhm\n</think>\n\nyes", "<｜begin▁of▁sentence｜>x<｜Assistant｜>", "<bos>x<eos>", "[MASK] [CLS]",
    "<extra_1> <extra_2>", "<S> <|ENDOFTEXT|>", "<|im_start", "im_start|>", "<0x0A><0xFF>", "▁", "▁▁a",
    "▁the ▁ quick", "Ġthe Ċ", "##ing", "a" * 300, "ab" * 500, " " * 200, "\n" * 100, "=" * 120, "1" * 200,
    "word " * 200, "é" * 200, "😀" * 60, "你" * 200, "Donaudampfschifffahrtsgesellschaftskapitän",
    "pneumonoultramicroscopicsilicovolcanoconiosis", "A.B.C.D", "...", "!!!???", "(((([[[[{{{{",
    "'quoted' \"double\" `back`", "a . b , c ! d ? e ' f n't 'm 's 've 're", "$x_1^2 + \\frac{a}{b}$",
    "| a | b |\n|---|---|\n| 1 | 2 |", "- item\n- item\n  - nested", "# Title\n\nText **bold** _it_",
    '{"key": [1, 2.5, true, null, "v\\n"]}', "<html><body class='x'>&amp;</body></html>",
    "SELECT * FROM t WHERE a='b' -- c", "0x1F 1e-10 1_000 0b101", "2024-07-26T12:34:56Z",
]
WORDS = (
    "the of and to in is that it was for on are as with his they at be this have from model token "
    "attention sink layer norm value key query weight hidden state position Über straße naïve façade "
    "Москва Αθήνα 東京 서울 दिल्ली 🙂 🚀 3.14 1000 <s> </s> <|im_end|> <mask> don't I'm it's\t \n  "
).split(" ")
RANGES = [
    (0x20, 0x7E), (0x20, 0x7E), (0x00, 0x1F), (0xA0, 0x24F), (0x300, 0x36F), (0x370, 0x52F),
    (0x590, 0x6FF), (0x900, 0x97F), (0xE00, 0xE7F), (0x1E00, 0x1FFF), (0x2000, 0x206F), (0x20A0, 0x2BFF),
    (0x3000, 0x30FF), (0x4E00, 0x9FFF), (0xAC00, 0xD7A3), (0xE000, 0xE0FF), (0xFB00, 0xFFFD),
    (0x1F300, 0x1FAFF), (0x20000, 0x2A6DF), (0xE0000, 0xE01EF), (0x10FF00, 0x10FFFF),
]


def _words(rng):
    separators = [" "] * 8 + ["  ", "\n", "\t", "", ", ", ". "]
    return "".join(rng.choice(WORDS) + rng.choice(separators) for _ in range(rng.randrange(1, 30)))


def _one_range(rng):
    low, high = rng.choice(RANGES)
    return "".join(chr(rng.randint(low, high)) for _ in range(rng.randrange(1, 30)))


def _mixed(rng):
    return "".join(chr(rng.randint(*rng.choice(RANGES))) for _ in range(rng.randrange(1, 60)))


def _any(rng):
    points = (rng.randrange(0x110000 - 0x800) for _ in range(rng.randrange(1, 20)))
    return "".join(chr(p if p < 0xD800 else p + 0x800) for p in points)


def _spaces(rng):
    pieces = [" ", "  ", "\n", "\n\n", "\t", "\r\n", "\u00a0", "\u3000", "a", "Z", "1", ".", "é"]
    return "".join(rng.choice(pieces) for _ in range(rng.randrange(1, 30)))


def strings(count=1200):
    rng = random.Random(20240726)
    makers = [_words, _words, _one_range, _mixed, _any, _spaces]
    result = list(PLAIN)
    while len(result) < count:
        result.append(rng.choice(makers)(rng))
    return result


def corpus():
    """What the synthetic vocabularies are trained on."""
    rng = random.Random(7)
    text = [text for text in PLAIN if "<" not in text and "\x00" not in text]
    for _ in range(400):
        words = [word for word in WORDS if "<" not in word]
        text.append(" ".join(rng.choice(words) for _ in range(12)))
    return text * 3
