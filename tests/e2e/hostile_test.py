"""Bad input of every sort gets the promised code and a message that names the value and the fix,
and after each case the server answers a good request as if nothing had been.

    python -m tests.e2e.hostile_test BUILD_DIR ORACLE_DIR
"""

import dataclasses
import re
import threading
import unittest

import grpc
from grpc_reflection.v1alpha import reflection_pb2

from tests.e2e import bad_streams, broken_checkpoints, model_root, safetensors_edit, stubs
from tests.e2e.calls import (
    Failure, analyze, described, expected, ids, load, model_call, plan, planted, spec,
)
from tests.e2e.model_root import PLANTED, TINY, ModelRoot
from tests.e2e.sinkd_process import PATIENCE, SinkdProcess, main, wait_until

GOOD = "text-2"  # 58 tokens, two sinks
INVALID, PRECONDITION = "INVALID_ARGUMENT", "FAILED_PRECONDITION"


class Setting:
    """One server for all cases; also a check that none of them brings it down."""

    root = server = record = None


def setUpModule():
    root = Setting.root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    root.link(TINY, model_root.tiny())
    for name, change in bad_streams.USABLE.items():
        root.variation(name, model_root.planted(), change)
    broken_checkpoints.build(root)
    root.link("spare", model_root.planted())
    root.link("dangling", root.path / "nowhere")
    root.link("loop", root.path / "loop")
    root.link("file", model_root.planted() / "config.json")
    (root.path / "Upper").symlink_to(model_root.planted())
    Setting.record = model_root.planted_records()[GOOD]
    Setting.server = SinkdProcess(
        root.path, "--max-sample-tokens", bad_streams.MOST_TOKENS, "--max-message-bytes",
        bad_streams.MOST_BYTES,
        load=(PLANTED, TINY, *bad_streams.USABLE),
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
            plan(self.channel, case.name),
            model_call(self.channel, "UnloadModel", case.name),
            analyze(self.channel, [spec(None, model=case.name)]).failure,
        ]
        for failure in failures:
            self.check_failure(failure, case.code, case.reason, case.mentions)
            self.assertLess(len(failure.message), 1000)


@table(bad_streams.SAMPLES)
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


@table(bad_streams.OPENINGS)
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


def device(name, value, reason="BAD_DEVICE"):
    """On a checkpoint that is sound and not loaded."""
    return Load(name, {"device": value}, reason, (value.split(",")[-1],), model="spare")


def placement(name, value):
    return device(name, value, "BAD_PLACEMENT")


@table((
    device("no such gpu", "cuda:99"),
    device("nonsense", "nonsense"),
    device("meta", "meta"),
    device("negative index", "cuda:-1"),
    placement("map with a hole", "cpu=0-3,cpu=5-29"),
    placement("map past the end", "cpu=0-30"),
    placement("map not to the end", "cpu=0-28"),
    placement("map without end", "cpu=0-"),
    placement("map of no device", "=0-29"),
    Load("map of nonsense", {"device": "nonsense=0-29"}, "BAD_DEVICE", ("got nonsense",),
         model="spare"),
    Load("unknown type", {"compute_type": 99}, "UNKNOWN_ENUM_VALUE", ("compute_type", "99")),
    Load("unknown residency", {"residency": 3}, "UNKNOWN_ENUM_VALUE", ("residency", "3")),
    Load("loaded in another type", {"compute_type": 2}, "MODEL_LOADED_OTHERWISE",
         ("float32", "UnloadModel"), PRECONDITION, PLANTED),
    Load("loaded with another residency", {"residency": 2}, "MODEL_LOADED_OTHERWISE",
         ("resident", "streamed", "UnloadModel"), PRECONDITION, PLANTED),
))
class BadLoad(HostileCase):
    def check(self, case):
        failure = load(self.channel, f"models/{case.model}", **case.fields)
        self.check_failure(failure, case.code, case.reason, case.mentions)


@table((
    Load("positions of 0", {"positions": 0}, "POSITIONS_OUT_OF_RANGE", ("got 0", "16777216")),
    Load("positions negative", {"positions": -1}, "POSITIONS_OUT_OF_RANGE", ("got -1",)),
    Load("positions too many", {"positions": 16777217}, "POSITIONS_OUT_OF_RANGE", ("16777217",)),
    Load("page of 0", {"page_size": 0}, "INVALID_PAGE_SIZE", ("got 0", "5000")),
    Load("page negative", {"page_size": -1}, "INVALID_PAGE_SIZE", ("got -1",)),
    Load("page too large", {"page_size": 5001}, "INVALID_PAGE_SIZE", ("got 5001",)),
    Load("page token", {"page_token": "../x"}, "INVALID_PAGE_TOKEN", ("../x",), model=PLANTED),
    Load("page token long", {"page_token": "x" * 100000}, "INVALID_PAGE_TOKEN", ("xxx",),
         model=PLANTED),
    Load("unknown type", {"compute_type": -1}, "UNKNOWN_ENUM_VALUE", ("compute_type", "-1")),
    Load("unknown residency", {"residency": 99}, "UNKNOWN_ENUM_VALUE", ("residency", "99")),
    device("no such gpu", "cuda:99"),
    device("nonsense", "nonsense"),
    device("empty", ""),
    placement("map with a hole", "cpu=0-3,cpu=5-29"),
))
class BadPlan(HostileCase):
    def check(self, case):
        failure = plan(self.channel, f"models/{case.model}", **case.fields)
        self.check_failure(failure, case.code, case.reason, case.mentions)
        self.assertLess(len(failure.message), 1000)


class Plans(HostileCase):
    def test_a_plan_agrees_with_the_files_and_with_what_a_load_takes(self):
        stored, _ = safetensors_edit.take_apart(model_root.planted() / "model.safetensors")
        loaded = model_call(self.channel, "GetModel", f"models/{PLANTED}")
        pages, token = [], None
        while token != "":
            pages.append(plan(self.channel, f"models/{PLANTED}", page_size=100, page_token=token))
            token = pages[-1].next_page_token
        tensors = [tensor for page in pages for tensor in page.tensors]
        self.assertEqual({tensor.name: tuple(tensor.shape) for tensor in tensors},
                         {name: tuple(entry["shape"]) for name, entry in stored.items()})
        self.assertEqual([len(page.tensors) for page in pages[:-1]], [100] * (len(pages) - 1))
        for page in pages:
            self.assertEqual(page.plan.tensor_count, len(stored))
            self.assertEqual(page.plan.weight_bytes, loaded.weight_bytes)
        self.check_good_request()

    def test_a_broken_checkpoint_fails_its_plan_as_it_fails_its_load(self):
        name = "models/missing-shard"
        planned, loaded = plan(self.channel, name), load(self.channel, name)
        self.assertEqual(planned, loaded)

    def test_every_family_is_listed(self):
        stub = stubs.models_service.ModelServiceStub(self.channel)
        families = stub.ListFamilies(stubs.models.ListFamiliesRequest(), timeout=PATIENCE).families
        names = [family.model_type for family in families]
        self.assertEqual(len(set(names)), len(names))
        self.assertLessEqual({"llama", "qwen2", "gpt_oss", "opt"}, set(names))
        for family in families:
            self.assertTrue(family.models and family.particular and family.reference, family)


@dataclasses.dataclass(frozen=True)
class Raw:
    name: str
    method: str
    message: bytes


def raw_cases():
    for method in ("ListModels", "GetModel", "PlanModel", "LoadModel", "UnloadModel"):
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


class Reflection(HostileCase):
    def test_a_caller_holds_few_reflection_calls(self):
        """Each holds a thread of gRPC."""
        method = self.channel.stream_stream(
            "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
            reflection_pb2.ServerReflectionRequest.SerializeToString,
            reflection_pb2.ServerReflectionResponse.FromString)
        question = reflection_pb2.ServerReflectionRequest(list_services="")
        leave = threading.Event()

        def ask():
            yield question
            leave.wait()

        held = [method(ask(), timeout=PATIENCE) for _ in range(8)]
        for call in held:
            self.assertTrue(next(call).list_services_response.service)
        with self.assertRaises(grpc.RpcError) as caught:
            next(method(ask(), timeout=PATIENCE))
        self.assertEqual(caught.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
        self.assertIn("open reflection calls", caught.exception.details())
        leave.set()
        for call in held:
            self.assertEqual(list(call), [])

        def answered():
            try:
                return len(list(method(iter([question]), timeout=PATIENCE))) == 1
            except grpc.RpcError as error:
                self.assertEqual(error.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)
                return False

        # A call may end for its client before it does for the server.
        wait_until("reflection", answered)


class UnknownMethod(HostileCase):
    def test_methods_that_there_are_not_are_unimplemented_however_often_they_are_called(self):
        for method in ("/a.b/C", "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
                       "/sinks.v1.AnalysisService/Analyse", "/"):
            call = self.channel.stream_stream(method, None, None)
            for messages in ([], [b""], [b"x"] * 50):
                with self.assertRaises(grpc.RpcError) as raised:
                    list(call(iter(messages), timeout=PATIENCE))
                self.assertEqual(raised.exception.code(), grpc.StatusCode.UNIMPLEMENTED)


class Links(HostileCase):
    def test_a_link_to_a_checkpoint_is_a_model(self):
        Setting.root.link("linked", model_root.planted())
        model = load(self.channel, "models/linked")
        self.assertEqual((model.name, model.blocks), ("models/linked", 30))
        model_call(self.channel, "UnloadModel", "models/linked")
        self.check_good_request()


if __name__ == "__main__":
    main()
