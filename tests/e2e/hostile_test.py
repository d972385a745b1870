"""Bad input of every sort gets the promised code and a message that names the value and the fix,
and after each case the server answers a good request as if nothing had been.

    python -m tests.e2e.hostile_test BUILD_DIR ORACLE_DIR
"""

import dataclasses
import re
import struct
import unittest

import grpc

from tests.e2e import broken_checkpoints, model_root, safetensors_edit, stubs
from tests.e2e.calls import (
    Failure, analyze, described, expected, ids, load, model_call, planted, sample, spec,
)
from tests.e2e.model_root import PLANTED, TINY, ModelRoot, edit_json, replace
from tests.e2e.sinkd_process import PATIENCE, SinkdProcess, main

MOST_TOKENS = 2000  # --max-sample-tokens
MOST_BYTES = 1 << 20  # --max-message-bytes
SHORT_POSITIONS = 64
GOOD = "text-2"  # 58 tokens, two sinks
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


USABLE = {  # variations of the planted checkpoint that load
    "short": lambda folder: edit_json(
        folder / "config.json", max_position_embeddings=SHORT_POSITIONS
    ),
    "one-block": one_block,
    "no-template": with_template(None),
    "loops": with_template(LOOPS),
    "prints": with_template(PRINTS),
    "recurses": with_template(RECURSES),
    "refuses": with_template(REFUSES),
    "unparseable": with_template(UNPARSEABLE),
    "tokenizer-is-pipe": broken_checkpoints.pipe("tokenizer.json"),
    "tokenizer-is-garbage": lambda folder: replace(folder / "tokenizer.json", "[" * 100000),
    "overflows": overflowing,
}


class Setting:
    """One server for all cases; also a check that none of them brings it down."""

    root = server = record = None


def setUpModule():
    root = Setting.root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    root.link(TINY, model_root.tiny())
    for name, change in USABLE.items():
        root.variation(name, model_root.planted(), change)
    broken_checkpoints.build(root)
    root.link("dangling", root.path / "nowhere")
    root.link("loop", root.path / "loop")
    root.link("file", model_root.planted() / "config.json")
    (root.path / "Upper").symlink_to(model_root.planted())
    Setting.record = model_root.planted_records()[GOOD]
    Setting.server = SinkdProcess(
        root.path, "--max-sample-tokens", MOST_TOKENS, "--max-message-bytes", MOST_BYTES,
        load=(PLANTED, TINY, *USABLE),
    )
    unittest.addModuleCleanup(Setting.server.stop)


class HostileCase(unittest.TestCase):
    def setUp(self):
        self.channel = Setting.server.channel

    def check_failure(self, failure, code, reason, mentions):
        """`reason` is None where gRPC itself refuses, which knows no details."""
        self.assertIsInstance(failure, Failure, "it was accepted")
        self.assertEqual(failure.code, code, failure.message)
        for each in mentions:
            self.assertIn(each, failure.message)
        if reason is None:
            return
        self.assertEqual(failure.reason, reason, failure.message)
        fix = failure.metadata.get("fix", "")
        self.assertTrue(fix, f"no fix: {failure}")
        self.assertIn(fix, failure.message)
        self.assertTrue(failure.metadata.get("subject"), f"no subject: {failure}")
        own = {INVALID: "BadRequest", "NOT_FOUND": "ResourceInfo",
               PRECONDITION: "PreconditionFailure"}
        self.assertIn(own[code], failure.details)

    def check_good_request(self):
        answer = analyze(self.channel, [spec(PLANTED), planted(Setting.record)])
        self.assertIsNone(answer.failure)
        self.assertEqual([described(each) for each in answer.results], [expected(Setting.record)])


def table(cases, name=lambda case: case.name):
    """Gives the class one test per row, which calls its `check(case)` and then a good request."""

    def decorate(test_class):
        for case in cases:
            def test(self, case=case):
                self.check(case)
                self.check_good_request()
            title = "test_" + re.sub(r"\W", "_", name(case))
            assert not hasattr(test_class, title), title
            setattr(test_class, title, test)
        return test_class

    return decorate


@table(broken_checkpoints.BROKEN)
class BrokenCheckpoint(HostileCase):
    def check(self, case):
        failure = load(self.channel, f"models/{case.name}")
        self.check_failure(failure, PRECONDITION, case.reason, case.mentions)
        kept = model_call(self.channel, "GetModel", f"models/{case.name}")
        self.assertEqual(kept.failure, failure.message)
        used = analyze(self.channel, [spec(case.name)]).failure
        self.check_failure(used, PRECONDITION, "MODEL_NOT_LOADED", (case.name,))


@dataclasses.dataclass(frozen=True)
class Name:
    title: str
    name: str
    code: str = INVALID
    reason: str = "INVALID_MODEL_NAME"
    mentions: tuple = ("models/{id}",)


def unknown(title, name):
    return Name(title, f"models/{name}", "NOT_FOUND", "MODEL_NOT_FOUND", (name, "ListModels"))


@dataclasses.dataclass(frozen=True)
class Page:
    name: str
    fields: dict
    reason: str
    mentions: tuple


@table((
    Page("page of 0", {"page_size": 0}, "INVALID_PAGE_SIZE", ("got 0", "1000")),
    Page("page negative", {"page_size": -1}, "INVALID_PAGE_SIZE", ("got -1",)),
    Page("page too large", {"page_size": 1001}, "INVALID_PAGE_SIZE", ("got 1001",)),
    Page("page token", {"page_token": "../x"}, "INVALID_PAGE_TOKEN", ("../x",)),
))
class ModelPage(HostileCase):
    def check(self, case):
        request = stubs.models.ListModelsRequest(**case.fields)
        with self.assertRaises(grpc.RpcError) as caught:
            stubs.models_service.ModelServiceStub(self.channel).ListModels(
                request, timeout=PATIENCE)
        self.check_failure(Failure.of_call(caught.exception), INVALID, case.reason, case.mentions)


@table((
    Name("missing", "", mentions=("missing",)),
    Name("without id", "models/"),
    Name("without collection", PLANTED, mentions=(PLANTED,)),
    Name("parent", "models/.."),
    Name("here", "models/."),
    Name("parent of parent", "models/../.."),
    Name("out and in", f"models/../models/{PLANTED}", mentions=("..",)),
    Name("nested", f"models/{PLANTED}/model.safetensors"),
    Name("absolute", "models//etc", mentions=("models//etc",)),
    Name("absolute alone", "/etc/passwd", mentions=("/etc/passwd",)),
    Name("trailing slash", f"models/{PLANTED}/"),
    Name("backslash", "models/..\\x"),
    Name("nul", f"models/{PLANTED}\0.x"),
    Name("newline", f"models/{PLANTED}\n"),
    Name("space", f"models/ {PLANTED}"),
    Name("upper case", "models/Upper", mentions=("Upper",)),
    Name("not ascii", "models/plänted", mentions=("plänted",)),
    Name("fullwidth dots", "models/．．"),
    Name("percent encoded", "models/%2e%2e%2fetc", mentions=("%2e%2e%2fetc",)),
    Name("65 characters", "models/" + "a" * 65, mentions=("aaaa",)),
    Name("100000 characters", "models/" + "a" * 100000),
    Name("leading dot", "models/.cache"),
    Name("leading dash", "models/-rf"),
    Name("other collection", f"runs/{PLANTED}"),
    unknown("unknown", "nothing-here"),
    unknown("64 characters", "b" * 64),
    unknown("dots inside", "a..b"),
    unknown("dangling link", "dangling"),
    unknown("link to itself", "loop"),
    unknown("link to a file", "file"),
), name=lambda case: case.title)
class ModelName(HostileCase):
    def check(self, case):
        failures = [
            load(self.channel, case.name),
            model_call(self.channel, "GetModel", case.name),
            model_call(self.channel, "UnloadModel", case.name),
            analyze(self.channel, [spec(None, model=case.name)]).failure,
        ]
        for failure in failures:
            self.check_failure(failure, case.code, case.reason, case.mentions)
            self.assertLess(len(failure.message), 1000)


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


@table((
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
    Sample("template cannot be parsed", chat(HI), PRECONDITION, "TEMPLATE_INVALID",
           ("tokenizer_config.json",), "unparseable"),
    Sample("tokenizer is a pipe", sample(text={"text": "hi"}), PRECONDITION, "TOKENIZER_MISSING",
           ("tokenizer.json", "regular file"), "tokenizer-is-pipe"),
    Sample("tokenizer is garbage", sample(text={"text": "hi"}), PRECONDITION, "TOKENIZER_MISSING",
           ("tokenizer.json", "invalid type"), "tokenizer-is-garbage"),
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
))
class BadSample(HostileCase):
    def check(self, case):
        good = ids([1, 4, 7, 4]) if case.model == TINY else planted(Setting.record)
        answer = analyze(self.channel, [spec(case.model), case.request, good])
        self.assertIsNone(answer.failure)
        error, record = answer.results
        self.assertEqual((error.sample_index, record.sample_index), (0, 1))
        failure = Failure.of_status(error.status)
        self.check_failure(failure, case.code, case.reason, ("sample 0", *case.mentions))
        if case.model == TINY:
            self.assertEqual(record.positions, 4)
        else:
            self.assertEqual(described(record), expected(Setting.record))
        self.assertEqual(answer.summary.samples, 1)
        self.check_fail_fast(case, good)

    def check_fail_fast(self, case, good):
        answer = analyze(self.channel, [spec(case.model, fail_fast=True), good, case.request, good])
        self.assertEqual(len(answer.results), 1)
        self.assertIsNone(answer.summary)
        self.check_failure(answer.failure, case.code, case.reason, ("sample 1", *case.mentions))


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


@table((
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
))
class BadStream(HostileCase):
    def check(self, case):
        answer = analyze(self.channel, case.requests)
        self.check_failure(answer.failure, case.code, case.reason, case.mentions)
        self.assertIsNone(answer.summary)


@dataclasses.dataclass(frozen=True)
class Load:
    name: str
    fields: dict
    reason: str
    mentions: tuple
    code: str = INVALID
    model: str = "missing-shard"


def device(name, value):
    """On a checkpoint that is sound and not loaded."""
    return Load(name, {"device": value}, "BAD_DEVICE", (value,), model="spare")


@table((
    device("no such gpu", "cuda:99"),
    device("nonsense", "nonsense"),
    device("meta", "meta"),
    device("negative index", "cuda:-1"),
    Load("unknown type", {"compute_type": 99}, "UNKNOWN_ENUM_VALUE", ("compute_type", "99")),
    Load("loaded in another type", {"compute_type": 2}, "MODEL_LOADED_OTHERWISE",
         ("float32", "UnloadModel"), PRECONDITION, PLANTED),
))
class BadLoad(HostileCase):
    @classmethod
    def setUpClass(cls):
        Setting.root.link("spare", model_root.planted())

    def check(self, case):
        failure = load(self.channel, f"models/{case.model}", **case.fields)
        self.check_failure(failure, case.code, case.reason, case.mentions)


@dataclasses.dataclass(frozen=True)
class Raw:
    name: str
    method: str
    message: bytes


def raw_cases():
    for method in ("ListModels", "GetModel", "LoadModel", "UnloadModel"):
        yield Raw(f"{method} no protobuf", method, b"\xff\xff\xff")
        yield Raw(f"{method} cut short", method, b"\x0a\x7fmodels")
        # Field 1 or 2, a string, with a byte that is no UTF-8.
        field = b"\x12" if method == "ListModels" else b"\x0a"
        yield Raw(f"{method} not utf8", method, field + b"\x09models/a\xff")


@table(tuple(raw_cases()))
class Malformed(HostileCase):
    def check(self, case):
        path = f"/sinks.v1.ModelService/{case.method}"
        kind = "unary_stream" if case.method == "LoadModel" else "unary_unary"
        with self.assertRaises(grpc.RpcError) as caught:
            answer = getattr(self.channel, kind)(path)(case.message, timeout=PATIENCE)
            list(answer)
        self.check_failure(Failure.of_call(caught.exception), INVALID, "MALFORMED_MESSAGE",
                           (f"{case.method}Request", "UTF-8"))


class Links(HostileCase):
    def test_a_link_to_a_checkpoint_is_a_model(self):
        Setting.root.link("linked", model_root.planted())
        model = load(self.channel, "models/linked")
        self.assertEqual((model.name, model.blocks), ("models/linked", 30))
        model_call(self.channel, "UnloadModel", "models/linked")
        self.check_good_request()


if __name__ == "__main__":
    main()
