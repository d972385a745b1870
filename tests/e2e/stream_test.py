"""Streams as clients live them: flat memory, order, going away, many at once, the server's end.

    python -m tests.e2e.stream_test BUILD_DIR ORACLE_DIR
"""

import collections
import concurrent.futures
import itertools
import json
import pathlib
import queue
import random
import subprocess
import sys
import tempfile
import unittest

import grpc
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from tests.e2e import model_root, stubs
from tests.e2e.calls import (
    Failure, analyze, described, expected, ids, load, model_call, open_stream, planted, read,
    sample, spec,
)
from tests.e2e.model_root import PLANTED, TINY, ModelRoot
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main, wait_until

ANALYZE = "sinks.v1.AnalysisService/Analyze"
SERVICES = ("sinks.v1.AnalysisService", "sinks.v1.ModelService")
LONG = 2000  # tokens of a sample that keeps the server busy for a while
READ_AHEAD = 8
EVERYTHING = {
    "scores": {"curves": True}, "levels": {}, "regression": {}, "compensation": {},
    "sink_rate": {"positions": 16},
}


class Setting:
    root = server = None


def setUpModule():
    root = Setting.root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    root.link(TINY, model_root.tiny())
    Setting.server = SinkdProcess(root.path, "--read-ahead", READ_AHEAD, load=(PLANTED, TINY))
    unittest.addModuleCleanup(Setting.server.stop)


class Sender:
    """The requests of a stream, sent one by one when the test says so."""

    def __init__(self):
        self._queue = queue.SimpleQueue()

    def send(self, *requests):
        for each in requests:
            self._queue.put(each)

    def close(self):
        self._queue.put(None)

    def __iter__(self):
        return iter(self._queue.get, None)


def next_of(call, kind):
    """The next message of this kind."""
    return next(getattr(each, kind) for each in call if each.WhichOneof("message") == kind)


def anonymous(record):
    """The record's bytes without its place in the stream."""
    record.ClearField("sample_index")
    return record.SerializeToString(deterministic=True)


class StreamCase(unittest.TestCase):
    def setUp(self):
        self.server, self.channel = Setting.server, Setting.server.channel
        self.planted = model_root.planted_records()

    def check_good_request(self):
        record = self.planted["text-2"]
        answer = analyze(self.channel, [spec(PLANTED), planted(record)])
        self.assertEqual([described(each) for each in answer.results], [expected(record)])


class Streaming(StreamCase):
    def test_a_record_comes_before_the_next_sample_is_sent(self):
        sender = Sender()
        call = open_stream(self.channel, sender)
        sender.send(spec(PLANTED))
        self.assertEqual(next_of(call, "started").blocks, 30)
        for index, record in enumerate(list(self.planted.values())[:3]):
            sender.send(planted(record))
            got = next_of(call, "record")  # in vain were the server to wait for more
            self.assertEqual(got.sample_index, index)
            self.assertEqual(described(got), expected(record))
        sender.close()
        self.assertEqual(next_of(call, "summary").samples, 3)

    def test_the_server_reads_no_more_than_its_read_ahead(self):
        def requests():
            yield spec(PLANTED)
            while True:
                yield planted(self.planted["text-40"])

        call = open_stream(self.channel, requests())
        for _ in range(3):
            progress = next_of(call, "progress")
            self.assertGreater(progress.samples_done, 0)
            self.assertLessEqual(progress.samples_received - progress.samples_done, READ_AHEAD)
        call.cancel()
        self.server.wait_until_free()

    def test_all_planted_samples_come_back_as_planted(self):
        rows = list(self.planted.values())
        answer = analyze(self.channel, [spec(PLANTED, **EVERYTHING), *map(planted, rows)])
        self.assertEqual([described(each) for each in answer.results], list(map(expected, rows)))
        for got, row in zip(answer.records, rows, strict=True):
            for sink, want in zip(got.sinks, row["sinks"], strict=True):
                self.assertEqual(sink.token_text, want["text"] or "<|bos|>")  # skipped there
                self.assertAlmostEqual(sink.score, want["score"], delta=1e-5)
                self.assertAlmostEqual(sink.mlp_norm / want["mlp_norm"], 1, delta=1e-4)

    def test_the_texts_of_the_samples_give_the_same_records(self):
        """What was written as text, chat or ids, and encoded here."""
        lines = (model_root.planted() / "samples.jsonl").read_text().splitlines()
        requests = []
        for row in map(json.loads, lines):
            name = row.pop("id")
            kind, fields = "chat", row
            if "text" in row:
                kind = "text"
            elif "prompt" in row:
                kind = "prompt_response"
            elif "token_ids" in row:
                kind, fields = "token_ids", {"ids": row.pop("token_ids"), **row}
            requests.append(sample(name, **{kind: fields}))
        answer = analyze(self.channel, [spec(PLANTED), *requests])
        want = [{**expected(row), "prompt_tokens": row["prompt_tokens"]}
                for row in self.planted.values()]
        self.assertEqual([described(each) for each in answer.results], want)

    def test_sixteen_clients_at_once_get_what_one_gets(self):
        rows = list(self.planted.values())[:6]
        requests = [spec(PLANTED, **EVERYTHING), *map(planted, rows)]

        def run(_):
            with self.server.connect() as channel:
                return analyze(channel, requests)

        alone = run(None)
        want = [anonymous(record) for record in alone.records]
        self.assertEqual(len(want), len(rows))
        with concurrent.futures.ThreadPoolExecutor(16) as clients:
            for answer in clients.map(run, range(16)):
                self.assertIsNone(answer.failure)
                self.assertEqual([each.sample_index for each in answer.results],
                                 list(range(len(rows))))
                self.assertEqual([anonymous(each) for each in answer.records], want)
                self.assertEqual(answer.summary, alone.summary)

    def test_the_summary_of_a_stream_is_the_merge_of_its_halves(self):
        rows = list(self.planted.values())
        random.Random(5).shuffle(rows)

        def summary(part):
            requests = [spec(PLANTED, **EVERYTHING), *map(planted, part)]
            return analyze(self.channel, requests).summary

        whole, halves = summary(rows), [summary(rows[:7]), summary(rows[7:])]
        for count in COUNTS:
            self.assertEqual(count(whole), sum(map(count, halves), count(whole).__class__()))
        means = [(each.scores.primary_position.mean, each.samples) for each in halves]
        mean = sum(value * samples for value, samples in means) / whole.samples
        self.assertAlmostEqual(whole.scores.primary_position.mean, mean, delta=1e-12)


def level_counts(summary):
    return collections.Counter(
        {(each.l_start, each.lifetime, each.kind): each.count for each in summary.levels.counts}
    )


class Vector(tuple):
    """Adds element by element; the empty one is zero."""

    def __add__(self, other):
        return Vector(a + b for a, b in zip(self, other, strict=True)) if self else other


COUNTS = (
    lambda summary: summary.samples,
    lambda summary: summary.positions,
    level_counts,
    lambda summary: summary.levels.secondary,
    lambda summary: summary.levels.noise,
    lambda summary: summary.levels.samples_with_secondary,
    lambda summary: Vector(summary.levels.position_bins),
    lambda summary: Vector(summary.sink_rate.hits),
    lambda summary: Vector(summary.sink_rate.cells),
    lambda summary: summary.scores.primary_position.count,
    lambda summary: collections.Counter(dict(summary.compensation.weakest_block)),
    lambda summary: collections.Counter(dict(summary.compensation.start_minus_weakest)),
    lambda summary: summary.regression.lifetime.fits[0].n,
)


class Volume(StreamCase):
    """1.1 MB of JSONL in 200 samples."""

    SAMPLES, BYTES = 200, 1_100_000
    MOST_GROWTH = 8 << 10  # KiB

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="sinkd-volume-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.path = pathlib.Path(cls.folder.name)
        generator = random.Random(11)
        lines = []
        for index in range(cls.SAMPLES):
            values = [1]
            line = ""
            while len(line) < cls.BYTES // cls.SAMPLES:
                values += generator.choices(range(3, 300), k=16)
                line = json.dumps({"id": f"s{index}", "token_ids": values}) + "\n"
            lines.append(line)
        cls.lines = lines
        (cls.path / "all.jsonl").write_text("".join(lines))
        (cls.path / "few.jsonl").write_text("".join(lines[:20]))

    def run_sinkctl(self, name):
        """(the records on its standard output, its peak memory in KiB)"""
        report, out = self.path / f"{name}.peak", self.path / f"{name}.out"
        command = [
            sys.executable, "-I", "-S", pathlib.Path(__file__).parent / "peak_memory.py", report,
            Programs.sinkctl, "--server", self.server.address, "--quiet", "--output", "jsonl",
            "analyze", TINY, "--detect", "--levels", "--input", self.path / name,
        ]
        with out.open("wb") as file:
            subprocess.run([str(each) for each in command], stdout=file, check=True,
                           timeout=5 * PATIENCE)
        rows = map(json.loads, out.read_text().splitlines())
        records = [json_format.ParseDict(row["record"], stubs.records.SampleRecord())
                   for row in rows if row["type"] == "record"]
        return records, int(report.read_text())

    def check_order(self, records):
        self.assertEqual([each.sample_index for each in records], list(range(self.SAMPLES)))
        self.assertEqual([each.sample_id for each in records],
                         [f"s{index}" for index in range(self.SAMPLES)])

    def test_streams_through_sinkctl_in_flat_memory(self):
        self.assertGreaterEqual((self.path / "all.jsonl").stat().st_size, self.BYTES)
        few, small = self.run_sinkctl("few.jsonl")
        records, large = self.run_sinkctl("all.jsonl")
        print(f"sinkctl: {small} KiB for 20 samples, {large} KiB for 200", file=sys.stderr)
        self.assertLess(large - small, self.MOST_GROWTH)
        self.check_order(records)
        self.assertEqual(records[:20], few)

    def test_streams_through_a_foreign_client_in_order(self):
        def requests():
            yield spec(TINY, levels={})
            for line in self.lines:
                row = json.loads(line)
                yield ids(row["token_ids"], sample_id=row["id"])

        answer = analyze(self.channel, requests(), timeout=5 * PATIENCE)
        self.assertIsNone(answer.failure)
        self.check_order(answer.records)
        self.assertEqual(answer.summary.samples, self.SAMPLES)
        self.assertEqual(answer.summary.positions, sum(each.positions for each in answer.records))


class GoingAway(StreamCase):
    """Whatever way a client leaves, its work ends."""

    def endless(self):
        yield spec(PLANTED, scores={})
        while True:
            yield ids([0] + [5] * (LONG - 1))

    def tokens(self):
        return self.server.metric("sinkd_tokens_total")

    def cancelled(self):
        return self.server.metric("sinkd_samples_total", outcome="cancelled")

    def check_work_ends(self, leave):
        """`leave` makes the client go; one sample may be finished before the server knows."""
        tokens, cancelled = self.tokens(), self.cancelled()
        leave()
        self.server.wait_until_free()
        after = self.tokens()
        self.assertLessEqual(after - tokens, LONG)
        self.assertGreater(self.cancelled(), cancelled)
        self.check_good_request()
        self.assertEqual(self.tokens() - after, self.planted["text-2"]["positions"])

    def test_a_cancelled_stream_frees_the_server(self):
        call = open_stream(self.channel, self.endless())
        next_of(call, "record")
        self.check_work_ends(call.cancel)
        self.assertEqual(call.code(), grpc.StatusCode.CANCELLED)

    def test_a_killed_client_frees_the_server(self):
        text = json.dumps({"token_ids": [0] + [5] * (LONG - 1)}) + "\n"
        command = [Programs.sinkctl, "--server", self.server.address, "--quiet", "--output",
                   "jsonl", "scores", PLANTED, "--input", "-"]
        with tempfile.TemporaryFile("w+") as samples:
            samples.write(text * 200)
            samples.seek(0)
            client = subprocess.Popen([str(each) for each in command], stdin=samples,
                                      stdout=subprocess.PIPE)
        self.addCleanup(client.stdout.close)
        self.assertTrue(any(b'"type":"record"' in line for line in client.stdout))

        def kill():
            client.kill()
            client.wait()

        self.check_work_ends(kill)

    def test_a_closed_connection_frees_the_server(self):
        channel = self.server.connect()
        call = open_stream(channel, self.endless())
        next_of(call, "record")
        self.check_work_ends(channel.close)

    def test_what_a_cancelled_stream_held_is_free_while_another_runs_on(self):
        server = SinkdProcess(Setting.root.path, "--max-streams", 2, load=(PLANTED,))
        self.addCleanup(server.stop)

        def ran():
            return server.metric("sinkd_samples_total", outcome="ok")

        requests = self.endless()
        next(requests)
        busy = open_stream(server.channel, itertools.chain(
            [spec(PLANTED, summary_only=True)], requests))
        leaving = open_stream(server.channel, self.endless())
        next_of(leaving, "record")
        wait_until("its samples wait", lambda: server.metric("sinkd_queue_depth") > READ_AHEAD)
        leaving.cancel()
        before = ran()
        wait_until("its place is free",
                   lambda: not analyze(server.channel, [spec(PLANTED)]).failure)
        # One sample may be done before the server knows, one while it is asked.
        self.assertLessEqual(ran() - before, 2)
        busy.cancel()
        server.wait_until_free()

    def test_a_deadline_ends_a_stream_and_frees_the_server(self):
        def ended():
            page = self.server.metrics()
            return sum(page["sinkd_rpc_handled_total", (("code", code), ("method", ANALYZE))]
                       for code in ("DEADLINE_EXCEEDED", "CANCELLED"))

        before = ended()
        answer = read(open_stream(self.channel, self.endless(), timeout=1.5))
        self.assertEqual(answer.failure.code, "DEADLINE_EXCEEDED")
        self.assertIsNone(answer.summary)
        self.server.wait_until_free()
        self.assertEqual(ended(), before + 1)
        self.check_good_request()

    def test_a_client_that_reads_nothing_holds_up_nobody(self):
        def ran():
            return self.server.metric("sinkd_samples_total", outcome="ok")

        before, sender = ran(), Sender()
        idle = open_stream(self.channel, sender)
        sender.send(spec(PLANTED, scores={"all_positions": True}))
        for _ in range(READ_AHEAD):  # over a megabyte of answers each
            sender.send(ids([0] + [5] * (LONG - 1)))
        wait_until("a sample ran", lambda: ran() > before)
        self.check_good_request()
        idle.cancel()
        self.server.wait_until_free()


class Unloading(StreamCase):
    def test_a_stream_keeps_its_model_while_someone_unloads_it(self):
        Setting.root.link("second", model_root.planted())
        name, row = "models/second", self.planted["text-2"]
        ready, available = stubs.models.MODEL_STATE_READY, stubs.models.MODEL_STATE_AVAILABLE
        self.assertEqual(load(self.channel, name).state, ready)
        sender = Sender()
        call = open_stream(self.channel, sender)
        sender.send(spec("second"), planted(row))
        self.assertEqual(described(next_of(call, "record")), expected(row))
        model = model_call(self.channel, "UnloadModel", name)
        self.assertEqual(model.state, stubs.models.MODEL_STATE_UNLOADING)
        failure = analyze(self.channel, [spec("second")]).failure
        self.assertEqual((failure.code, failure.reason), ("UNAVAILABLE", "MODEL_BUSY"))
        sender.send(planted(row))
        self.assertEqual(described(next_of(call, "record")), expected(row))
        sender.close()
        self.assertEqual(next_of(call, "summary").samples, 2)
        wait_until("its memory is free", lambda: model_call(
            self.channel, "GetModel", name).state == available)
        self.assertEqual(self.server.metric("sinkd_models_loaded"), 2)

    def test_many_who_load_one_model_at_once_get_the_same_one(self):
        Setting.root.link("third", model_root.planted())
        loads = self.server.metric("sinkd_model_loads_total", outcome="ok")
        with concurrent.futures.ThreadPoolExecutor(8) as clients:
            models = list(clients.map(lambda _: load(self.channel, "models/third"), range(8)))
        self.assertEqual([each.state for each in models], [stubs.models.MODEL_STATE_READY] * 8)
        self.assertEqual(self.server.metric("sinkd_model_loads_total", outcome="ok"), loads + 1)
        model_call(self.channel, "UnloadModel", "models/third")


class Limits(StreamCase):
    def test_more_streams_than_allowed_are_told_to_come_back(self):
        server = SinkdProcess(Setting.root.path, "--max-streams", 2, load=(PLANTED,))
        self.addCleanup(server.stop)
        senders = [Sender(), Sender()]
        calls = [open_stream(server.channel, sender) for sender in senders]
        for sender, call in zip(senders, calls, strict=True):
            sender.send(spec(PLANTED))
            next_of(call, "started")
        failure = analyze(server.channel, [spec(PLANTED)]).failure
        self.assertEqual((failure.code, failure.reason), ("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS"))
        self.assertIn("RetryInfo", failure.details)
        self.assertIn("--max-streams", failure.message)
        for sender, call in zip(senders, calls, strict=True):
            sender.send(planted(self.planted["text-2"]))
            sender.close()
            self.assertEqual(described(next_of(call, "record")), expected(self.planted["text-2"]))
            self.assertEqual(list(call)[-1].summary.samples, 1)
        server.wait_until_free()
        self.assertIsNone(analyze(server.channel, [spec(PLANTED)]).failure)


class Ending(StreamCase):
    def test_on_sigterm_running_work_finishes_and_new_work_is_refused(self):
        server = SinkdProcess(Setting.root.path, load=(PLANTED,))
        rows = list(self.planted.values())[1:4]
        sender = Sender()
        call = open_stream(server.channel, sender)
        sender.send(spec(PLANTED), planted(rows[0]))
        self.assertEqual(described(next_of(call, "record")), expected(rows[0]))
        server.terminate()
        for service in ("", *SERVICES):
            wait_until("health flips", lambda name=service: server.health(name) == "NOT_SERVING")
        failure = wait_until("new work is refused",
                             lambda: analyze(server.channel, [spec(PLANTED)]).failure)
        self.assertEqual((failure.code, failure.reason), ("UNAVAILABLE", "SERVER_STOPPING"))
        self.assertIn("RetryInfo", failure.details)
        self.assertEqual(load(server.channel, f"models/{TINY}").code, "UNAVAILABLE")
        for row in rows[1:]:
            sender.send(planted(row))
            self.assertEqual(described(next_of(call, "record")), expected(row))
        sender.close()
        self.assertEqual(next_of(call, "summary").samples, len(rows))
        self.assertEqual(list(call), [])
        self.assertEqual(server.wait(), 0)
        self.assertNotIn("drain timeout", server.log())

    def test_what_does_not_finish_in_time_is_ended(self):
        server = SinkdProcess(Setting.root.path, "--drain-timeout", "200ms", load=(PLANTED,))
        sender = Sender()
        call = open_stream(server.channel, sender)
        sender.send(spec(PLANTED))
        next_of(call, "started")
        server.terminate()
        with self.assertRaises(grpc.RpcError) as caught:
            next(call)
        failure = Failure.of_call(caught.exception)
        self.assertEqual((failure.code, failure.reason), ("UNAVAILABLE", "SERVER_STOPPING"))
        self.assertEqual(server.wait(), 0)


class Surroundings(StreamCase):
    def test_reflection_lists_the_services(self):
        database = ProtoReflectionDescriptorDatabase(self.channel)
        listed = set(database.get_services())
        self.assertLessEqual({*SERVICES, "grpc.health.v1.Health"}, listed)
        file = database.FindFileContainingSymbol("sinks.v1.AnalyzeRequest")
        self.assertEqual(file.name, "sinks/v1/analysis.proto")

    def test_health_is_told_per_service(self):
        for service in ("", *SERVICES):
            self.assertEqual(self.server.health(service), "SERVING")
        with self.assertRaises(grpc.RpcError) as caught:
            self.server.health("sinks.v1.Nothing")
        self.assertEqual(caught.exception.code(), grpc.StatusCode.NOT_FOUND)
        request = health_pb2.HealthCheckRequest(service=SERVICES[0])
        watch = health_pb2_grpc.HealthStub(self.channel).Watch(request, timeout=PATIENCE)
        self.assertEqual(next(watch).status, health_pb2.HealthCheckResponse.SERVING)
        watch.cancel()

    def test_the_metrics_balance(self):
        self.server.wait_until_free()
        before = self.server.metrics()
        row = self.planted["text-4"]
        analyze(self.channel, [spec(PLANTED), planted(row), ids([-1])])
        analyze(self.channel, [spec("nothing")])

        def calls(page, name):
            return sum(value for (key, labels), value in page.items()
                       if key == name and ("method", ANALYZE) in labels)

        def balanced():
            page = self.server.metrics()
            started = calls(page, "sinkd_rpc_started_total")
            handled = calls(page, "sinkd_rpc_handled_total")
            timed = calls(page, "sinkd_rpc_duration_seconds_count")
            return page if started == handled == timed else None

        page = wait_until("every call that began ended", balanced)

        def grown(name, **labels):
            key = name, tuple(sorted(labels.items()))
            return page[key] - before[key]

        self.assertEqual(grown("sinkd_rpc_started_total", method=ANALYZE), 2)
        self.assertEqual(grown("sinkd_rpc_handled_total", method=ANALYZE, code="OK"), 1)
        self.assertEqual(grown("sinkd_rpc_handled_total", method=ANALYZE, code="NOT_FOUND"), 1)
        self.assertEqual(grown("sinkd_samples_total", outcome="ok"), 1)
        self.assertEqual(grown("sinkd_samples_total", outcome="failed"), 1)
        self.assertEqual(grown("sinkd_tokens_total"), row["positions"])
        self.assertEqual(grown("sinkd_records_sent_total"), 1)
        self.assertEqual(page["sinkd_models_loaded", ()], 2)

    def test_a_request_id_is_echoed_and_logged(self):
        call = self.channel.stream_stream("/" + ANALYZE)(
            iter([spec(PLANTED).SerializeToString()]), timeout=PATIENCE,
            metadata=(("x-request-id", "e2e-request-7"),),
        )
        self.assertIn(("x-request-id", "e2e-request-7"), tuple(call.initial_metadata()))
        self.assertTrue(list(call))
        wait_until("the call is logged", lambda: "e2e-request-7" in self.server.log())


if __name__ == "__main__":
    main()
