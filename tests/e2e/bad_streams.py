"""Samples and streams that must be refused, each with why, and the checkpoints that some of them
need: they load, and have something odd about them."""

import dataclasses
import struct

from tests.e2e import broken_checkpoints, safetensors_edit
from tests.e2e.calls import ids, sample, spec
from tests.e2e.model_root import PLANTED, TINY, edit_json, replace

MOST_TOKENS = 2000  # --max-sample-tokens
MOST_BYTES = 1 << 20  # --max-message-bytes
SHORT_POSITIONS = 64
VOCABULARY, WIDTH, TINY_VOCABULARY = 1028, 64, 300
RARE_TOKEN = 1000  # not in the good sample

LOOPS = "{% for i in range(99999) %}{% for j in range(99999) %}{% endfor %}{% endfor %}"
PRINTS = "{% for i in range(99999) %}{{ messages[0]['content'] * 999 }}{% endfor %}"
RECURSES = "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}"
REFUSES = "{{ raise_exception('only the user may speak') }}"
UNPARSEABLE = "{% for message in %}"

INVALID, PRECONDITION = "INVALID_ARGUMENT", "FAILED_PRECONDITION"


def with_template(text):
    return lambda folder: edit_json(folder / "tokenizer_config.json", chat_template=text)


def one_block(folder):
    weights = folder / broken_checkpoints.WEIGHTS
    safetensors_edit.keep(
        weights, lambda name: ".layers." not in name or name.startswith("model.layers.0.")
    )
    edit_json(folder / "config.json", num_hidden_layers=1, layer_types=None)


def overflowing(folder):
    """One token's embedding is finite, its norm is not."""
    row = struct.pack("<f", 3e38) * WIDTH
    safetensors_edit.poke(folder / broken_checkpoints.WEIGHTS, broken_checkpoints.EMBEDDING, row,
                          RARE_TOKEN * len(row))


# Two lists of forty levels, whose comparison takes 2 ** 40 steps.
COMPARES = (
    "{% set a = namespace(x=[1]) %}{% set b = namespace(x=[1]) %}{% for i in range(40) %}"
    "{% set a.x = [a.x, a.x] %}{% set b.x = [b.x, b.x] %}{% endfor %}{{ a.x == b.x }}"
)
WIDENS = "{{ '{:100000000000000d}'.format(1) }}"

USABLE = {  # variations of the planted checkpoint that load
    "short": lambda folder: edit_json(
        folder / "config.json", max_position_embeddings=SHORT_POSITIONS
    ),
    "one-block": one_block,
    "no-template": with_template(None),
    "loops": with_template(LOOPS),
    "prints": with_template(PRINTS),
    "recurses": with_template(RECURSES),
    "compares": with_template(COMPARES),
    "widens": with_template(WIDENS),
    "doubles": lambda folder: edit_json(folder / "tokenizer.json", normalizer={
        "type": "Sequence",
        "normalizers": [{"type": "Replace", "pattern": {"String": "a"}, "content": "aa"}] * 40}),
    "refuses": with_template(REFUSES),
    "unparseable": with_template(UNPARSEABLE),
    "tokenizer-is-pipe": broken_checkpoints.pipe("tokenizer.json"),
    "tokenizer-is-garbage": lambda folder: replace(folder / "tokenizer.json", "[" * 100000),
    "overflows": overflowing,
}


@dataclasses.dataclass(frozen=True)
class Sample:
    name: str
    request: object
    code: str
    reason: str
    mentions: tuple
    model: str = PLANTED


def long(length):
    return [0] + [5] * (length - 1)


def chat(*turns, **fields):
    return sample(chat={"messages": [{"role": role, "content": text} for role, text in turns]},
                  **fields)


def prompt(text, **fields):
    return sample(prompt_response={"prompt": text, **fields})


def with_bytes(request, text, raw):
    """The message with `text` in it replaced by as many raw bytes."""
    message, text = request.SerializeToString(), text.encode()
    assert message.count(text) == 1 and len(text) == len(raw)
    return message.replace(text, raw)


EMPTY, RANGE, LONG = "SAMPLE_EMPTY", "TOKEN_ID_OUT_OF_RANGE", "SAMPLE_TOO_LONG"
UTF8 = "TEXT_NOT_UTF8"
HI = ("user", "hi")


SAMPLES = (
    Sample("no ids", ids([]), INVALID, EMPTY, ("empty",)),
    Sample("no ids without tokenizer", ids([]), INVALID, EMPTY, ("empty",), TINY),
    Sample("negative id", ids([0, -1, 5]), INVALID, RANGE, ("-1", "[0, 1028)")),
    Sample("id is vocabulary", ids([0, VOCABULARY]), INVALID, RANGE, ("1028", "[0, 1028)")),
    Sample("id of another model", ids([1, TINY_VOCABULARY]), INVALID, RANGE, ("[0, 300)",), TINY),
    Sample("largest id", ids([2**31 - 1]), INVALID, RANGE, (str(2**31 - 1),)),
    Sample("smallest id", ids([-(2**31)]), INVALID, RANGE, (str(-(2**31)),)),
    Sample("longer than model", ids(long(SHORT_POSITIONS + 1)), INVALID, LONG,
           ("65 tokens", "model takes at most 64"), "short"),
    Sample("longer than server", ids(long(MOST_TOKENS + 1)), INVALID, LONG,
           ("2001 tokens", "--max-sample-tokens")),
    Sample("text longer than model", sample(text={"text": "word " * 100}), INVALID, LONG,
           ("at most 64",), "short"),
    Sample("no input", sample(), INVALID, "SAMPLE_WITHOUT_INPUT", ("token_ids",)),
    Sample("empty text", sample(text={"text": ""}), INVALID, EMPTY, ("empty",)),
    Sample("absent text", sample(text={}), INVALID, EMPTY, ("empty",)),
    Sample("text without tokenizer", sample(text={"text": "hi"}), PRECONDITION, "TOKENIZER_MISSING",
           ("tokenizer.json", "token ids"), TINY),
    Sample("chat without tokenizer", chat(HI), PRECONDITION, "TOKENIZER_MISSING",
           ("tokenizer.json",), TINY),
    Sample("empty prompt and response", prompt("", response=""), INVALID, EMPTY, ("empty",)),
    Sample("prompt without template", prompt("hi", response="ho"), PRECONDITION,
           "TEMPLATE_MISSING", ("template",), "no-template"),
    Sample("chat without template", chat(HI), PRECONDITION, "TEMPLATE_MISSING", ("template",),
           "no-template"),
    Sample("no messages", chat(), INVALID, EMPTY, ("empty",)),
    Sample("template refuses", chat(("judge", "hi")), INVALID, "TEMPLATE_REFUSED",
           ("only the user may speak",), "refuses"),
    Sample("template loops", chat(HI), INVALID, "TEMPLATE_LIMIT", ("steps",), "loops"),
    Sample("template prints on", chat(("user", "x" * 1000)), INVALID, "TEMPLATE_LIMIT",
           ("bytes of output",), "prints"),
    Sample("template recurses", chat(HI), INVALID, "TEMPLATE_FAILED", ("recursion",), "recurses"),
    Sample("template compares without end", chat(HI), INVALID, "TEMPLATE_LIMIT",
           ("1 s of a processor", "1024 MiB of memory"), "compares"),
    Sample("template widens", chat(HI), INVALID, "TEMPLATE_LIMIT", ("steps",), "widens"),
    Sample("tokenizer doubles", sample(text={"text": "hi"}), PRECONDITION, "TOKENIZER_MISSING",
           ("tokenizer.json", "the limit is"), "doubles"),
    Sample("template cannot be parsed", chat(HI), PRECONDITION, "TEMPLATE_INVALID",
           ("tokenizer_config.json",), "unparseable"),
    Sample("tokenizer is a pipe", sample(text={"text": "hi"}), PRECONDITION, "TOKENIZER_MISSING",
           ("tokenizer.json", "regular file"), "tokenizer-is-pipe"),
    Sample("tokenizer is garbage", sample(text={"text": "hi"}), PRECONDITION, "TOKENIZER_MISSING",
           ("tokenizer.json", "recursion limit"), "tokenizer-is-garbage"),
    Sample("activations overflow", ids([0, 5, RARE_TOKEN]), PRECONDITION, "NON_FINITE_ACTIVATION",
           ("layer 0, position 2", "inf"), "overflows"),
    Sample("long sample id", ids([0, 5], sample_id="x" * 257), INVALID, "SAMPLE_ID_TOO_LONG",
           ("257 bytes", "256")),
    Sample("text not utf8", with_bytes(sample(text={"text": "one XX two"}), "XX", b"\xc3\x28"),
           INVALID, UTF8, ("sample.text.text", "0xc3", "byte 4")),
    Sample("text with surrogate", with_bytes(sample(text={"text": "XXX"}), "XXX", b"\xed\xa0\x80"),
           INVALID, UTF8, ("sample.text.text", "0xed")),
    Sample("text overlong", with_bytes(sample(text={"text": "XX"}), "XX", b"\xc0\x80"), INVALID,
           UTF8, ("sample.text.text", "0xc0")),
    Sample("prompt not utf8", with_bytes(prompt("XX"), "XX", b"a\xff"), INVALID, UTF8,
           ("sample.prompt_response.prompt", "0xff")),
    Sample("response not utf8", with_bytes(prompt("hi", response="XX"), "XX", b"a\xff"), INVALID,
           UTF8, ("sample.prompt_response.response", "0xff")),
    Sample("role not utf8", with_bytes(chat(("XX", "hi")), "XX", b"a\xff"), INVALID, UTF8,
           ("messages[0].role", "0xff")),
    Sample("content not utf8", with_bytes(chat(HI, ("user", "XX")), "XX", b"a\xff"), INVALID, UTF8,
           ("messages[1].content", "0xff")),
    Sample("sample id not utf8", with_bytes(ids([0, 5], sample_id="XX"), "XX", b"a\xff"), INVALID,
           UTF8, ("sample.sample_id", "0xff")),
)


@dataclasses.dataclass(frozen=True)
class Opening:
    """A stream that must end with an error; `requests` are all its messages."""

    name: str
    requests: tuple
    reason: str
    mentions: tuple = ()
    code: str = INVALID


def bad(name, field, shown, **fields):
    """A parameter out of its limits: the message names field and value."""
    return Opening(name, (spec(PLANTED, **fields),), "PARAMETER_OUT_OF_RANGE",
                   (f"spec.{field}", shown))


def enum(name, field, **fields):
    return Opening(name, (spec(PLANTED, **fields),), "UNKNOWN_ENUM_VALUE", (f"spec.{field}", "99"))


def threshold(name, value, shown):
    return bad(name, "detection.cosine_threshold", shown, detection={"cosine_threshold": value})


NAN = float("nan")
SAMPLE = ids([0, 5])
EMPTY_MESSAGE = b""


OPENINGS = (
    Opening("no message", (), "SPEC_MISSING", ("spec",)),
    Opening("sample first", (SAMPLE, spec(PLANTED)), "SPEC_MISSING", ("spec first",)),
    Opening("spec twice", (spec(PLANTED), spec(PLANTED)), "SPEC_TWICE", ("one spec",)),
    Opening("spec after sample", (spec(PLANTED), SAMPLE, spec(PLANTED)), "SPEC_TWICE"),
    Opening("empty message first", (EMPTY_MESSAGE,), "EMPTY_MESSAGE", ("spec",)),
    Opening("empty message later", (spec(PLANTED), EMPTY_MESSAGE), "EMPTY_MESSAGE", ("sample",)),
    Opening("no protobuf", (b"\xff\xff\xff",), "MALFORMED_MESSAGE", ("AnalyzeRequest",)),
    Opening("no protobuf later", (spec(PLANTED), b"\x12\xff\x01"), "MALFORMED_MESSAGE"),
    Opening("empty spec", (spec(None, model=""),), "INVALID_MODEL_NAME", ("spec.model",)),
    Opening("not loaded", (spec("nan-weights"),), "MODEL_NOT_LOADED", ("LoadModel",), PRECONDITION),
    Opening("one block", (spec("one-block"), SAMPLE), "MODEL_TOO_SHALLOW", ("two blocks",),
            PRECONDITION),
    Opening("run id with space", (spec(PLANTED, run_id="my run"),), "INVALID_RUN_ID", ("my run",)),
    Opening("run id with path", (spec(PLANTED, run_id="../run"),), "INVALID_RUN_ID", ("../run",)),
    Opening("run id too long", (spec(PLANTED, run_id="r" * 65),), "INVALID_RUN_ID", ("rrr",)),
    Opening("date in words", (spec(PLANTED, template_date="today"),), "INVALID_DATE",
            ("today", "YYYY-MM-DD")),
    Opening("no such day", (spec(PLANTED, template_date="2025-02-30"),), "INVALID_DATE",
            ("2025-02-30",)),
    Opening("date with code", (spec(PLANTED, template_date="{{ 1 }}--x"),), "INVALID_DATE"),
    Opening("empty date", (spec(PLANTED, template_date=""),), "INVALID_DATE", ("YYYY-MM-DD",)),
    enum("unknown kind rule", "detection.kind_rule", detection={"kind_rule": 99}),
    enum("unknown last state", "detection.last_state", detection={"last_state": 99}),
    enum("unknown preset", "detection.preset", detection={"preset": 99}),
    enum("unknown divisor", "scores.divisor", scores={"divisor": 99}),
    enum("unknown rate preset", "sink_rate.preset", sink_rate={"preset": 99}),
    threshold("threshold 0", 0.0, "got 0"),
    threshold("threshold 1", 1.0, "got 1"),
    threshold("threshold negative", -0.5, "-0.5"),
    threshold("threshold nan", NAN, "nan"),
    threshold("threshold infinite", float("inf"), "inf"),
    bad("norm ratio negative", "detection.min_norm_ratio", "-1", detection={"min_norm_ratio": -1}),
    bad("norm ratio nan", "detection.min_norm_ratio", "nan", detection={"min_norm_ratio": NAN}),
    bad("epsilon 2", "sink_rate.epsilon", "got 2", sink_rate={"epsilon": 2}),
    bad("epsilon nan", "sink_rate.epsilon", "nan", sink_rate={"epsilon": NAN}),
    bad("positions 0", "sink_rate.positions", "got 0", sink_rate={"positions": 0}),
    bad("positions huge", "sink_rate.positions", str(10**9), sink_rate={"positions": 10**9}),
    bad("first tokens negative", "sink_rate.first_tokens", "-1", sink_rate={"first_tokens": -1}),
    bad("share 2", "levels.min_share", "got 2", levels={"min_share": 2}),
    bad("top tokens negative", "levels.top_tokens", "-5", levels={"top_tokens": -5}),
    bad("bootstrap -1", "compensation.bootstrap_samples", "-1",
        compensation={"bootstrap_samples": -1}),
    bad("bootstrap huge", "compensation.bootstrap_samples", str(10**9),
        compensation={"bootstrap_samples": 10**9}),
    Opening("message too large", (spec(PLANTED), sample(text={"text": "x" * (2 * MOST_BYTES)})),
            None, (), "RESOURCE_EXHAUSTED"),
)
