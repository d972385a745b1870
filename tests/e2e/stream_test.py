"""Streams as clients live them: order, flat memory, many at once, what the server tells of them.

    python -m tests.e2e.stream_test BUILD_DIR ORACLE_DIR
"""

import collections
import concurrent.futures
import json
import pathlib
import random
import subprocess
import sys
import tempfile

import grpc
from google.protobuf import json_format
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)

from tests.e2e import model_root, stubs
from tests.e2e.calls import analyze, described, expected, ids, open_stream, planted, sample, spec
from tests.e2e.model_root import PLANTED, TINY
from tests.e2e.sinkd_process import PATIENCE, Programs, main, wait_until
from tests.e2e.stream_case import (
    ANALYZE, READ_AHEAD, SERVICES, Sender, StreamCase, next_of, set_up,
)

EVERYTHING = {
    "scores": {"curves": True}, "levels": {}, "regression": {}, "compensation": {},
    "sink_rate": {"positions": 16},
}


def setUpModule():
    set_up()


def anonymous(record):
    """The record's bytes without its place in the stream."""
    record.ClearField("sample_index")
    return record.SerializeToString(deterministic=True)


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
