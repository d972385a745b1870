"""From a caller's trace to the server's log, and what the log tells of a call.

    python -m tests.e2e.tracing_test BUILD_DIR ORACLE_DIR
"""

import http.client
import json
import os
import re
import secrets
import subprocess
import unittest

import grpc

from tests.e2e import model_root, stubs, study_calls
from tests.e2e.calls import analyze, ids, planted, sample, spec
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main, wait_until

DONE = "request done"
PHASES = ("queue", "encode", "forward", "analyse", "keep", "write")


class Setting:
    root = server = None


def setUpModule():
    Setting.root = ModelRoot()
    unittest.addModuleCleanup(Setting.root.cleanup)
    Setting.root.link(PLANTED, model_root.planted())
    Setting.server = start("--log-format", "json")


def start(*flags):
    server = SinkdProcess(Setting.root.path, *flags, load=(PLANTED,))
    unittest.addModuleCleanup(server.stop)
    return server


class Trace:
    """One that nobody else has."""

    def __init__(self, version="00", more=""):
        self.trace_id, self.parent_id = secrets.token_hex(16), secrets.token_hex(8)
        self.header = f"{version}-{self.trace_id}-{self.parent_id}-01{more}"
        self.metadata = (("traceparent", self.header),)


def lines(server):
    """Those that are whole."""
    return [json.loads(each) for each in server.log().splitlines(keepends=True)
            if each.endswith("\n")]


class TracingCase(unittest.TestCase):
    def setUp(self):
        self.server, self.channel = Setting.server, Setting.server.channel
        self.rows = model_root.planted_records()

    def of(self, trace, count=1, server=None):
        """The ends of the calls of a trace, once there are so many."""
        def found():
            ended = [each for each in lines(server or self.server)
                     if each["message"] == DONE and each.get("trace_id") == trace.trace_id]
            return ended if len(ended) >= count else None
        ended = wait_until("the calls are in the log", found)
        self.assertEqual(len(ended), count)
        for each in ended:
            self.assertEqual(each["parent_id"], trace.parent_id)
        return ended

    def end_of(self, request_id, server=None):
        return wait_until("the call is in the log", lambda: next(
            (each for each in lines(server or self.server)
             if each["message"] == DONE and each.get("request_id") == request_id), None))

    def list_models(self, metadata):
        stub = stubs.models_service.ModelServiceStub(self.channel)
        return stub.ListModels(stubs.models.ListModelsRequest(), timeout=PATIENCE,
                               metadata=metadata)


class Grpc(TracingCase):
    def test_a_streams_trace_is_in_its_line(self):
        trace = Trace()
        answer = analyze(self.channel, [spec(PLANTED), planted(self.rows["text-2"])],
                         metadata=trace.metadata)
        self.assertIsNone(answer.failure)
        done, = self.of(trace)
        self.assertEqual(done["request_id"], answer.started.request_id)
        self.assertEqual(done["method"], "sinks.v1.AnalysisService/Analyze")

    def test_a_unary_calls_trace_is_in_its_line(self):
        trace = Trace()
        self.list_models(trace.metadata)
        done, = self.of(trace)
        self.assertEqual((done["method"], done["code"]), ("sinks.v1.ModelService/ListModels", "OK"))
        self.assertLessEqual(done["queue_seconds"], done["seconds"])

    def test_a_calls_trace_is_in_its_line_when_it_fails(self):
        trace = Trace()
        with self.assertRaises(grpc.RpcError):
            stubs.models_service.ModelServiceStub(self.channel).GetModel(
                stubs.models.GetModelRequest(name="models/none"), timeout=PATIENCE,
                metadata=trace.metadata)
        done, = self.of(trace)
        self.assertEqual(done["code"], "NOT_FOUND")
        self.assertIn("error", done)

    def test_every_line_of_a_call_has_its_trace(self):
        server, trace = start("--log-format", "json", "--store", "off"), Trace()
        analyze(server.channel, [spec(PLANTED, run_id="nightly")], metadata=trace.metadata)
        done, = self.of(trace, server=server)
        about = [each for each in lines(server) if each.get("request_id") == done["request_id"]]
        self.assertEqual([each["message"] for each in about],
                         ["the run is not kept, since there is no store", DONE])
        self.assertEqual({(each["trace_id"], each["parent_id"]) for each in about},
                         {(trace.trace_id, trace.parent_id)})

    def test_a_later_version_is_read_as_far_as_this_one_goes(self):
        trace = Trace(version="01", more="-new")
        self.list_models(trace.metadata)
        self.of(trace)

    def test_what_is_no_trace_is_ignored_and_the_call_answered(self):
        good = Trace().header
        for number, value in enumerate(("ff" + good[2:], good + "-more", good.replace("-", "_"),
                                        "00-" + "0" * 32 + good[35:], "")):
            with self.subTest(value=value):
                name = f"no-trace-{number}"
                metadata = (("traceparent", value), ("x-request-id", name))
                self.assertTrue(self.list_models(metadata).models)
                done = self.end_of(name)
                self.assertEqual(done["code"], "OK")
                self.assertNotIn("trace_id", done)


class Sinkctl(TracingCase):
    def run_sinkctl(self, trace, *arguments):
        command = [Programs.sinkctl, "--server", self.server.address, *arguments]
        return subprocess.run([str(each) for each in command], check=True, capture_output=True,
                              timeout=PATIENCE, env={**os.environ, "TRACEPARENT": trace})

    def test_all_its_calls_belong_to_the_trace_of_its_environment(self):
        trace = Trace()
        self.run_sinkctl(trace.header, "analyze", PLANTED, "--levels", "--text", "a b", "--run", "r")
        self.run_sinkctl(trace.header, "models")
        self.run_sinkctl(trace.header, "runs", "show", "r")
        self.assertEqual([each["method"].split("/")[1] for each in self.of(trace, 3)],
                         ["Analyze", "ListModels", "GetRun"])

    def test_bytes_that_no_header_may_hold_are_not_sent(self):
        for value in ("00-\n", "00-ä", "x" * 600, ""):
            with self.subTest(value=value):
                self.run_sinkctl(value, "models")


class Http(TracingCase):
    def ask(self, path, headers=()):
        connection = http.client.HTTPConnection(self.server.http, timeout=PATIENCE)
        self.addCleanup(connection.close)
        connection.putrequest("GET", path)
        for key, value in headers:
            connection.putheader(key, value)
        connection.endheaders()
        reply = connection.getresponse()
        reply.read()
        self.request_id = reply.getheader("x-request-id")
        return reply.status

    def test_a_querys_trace_is_in_its_line_and_its_parameters_are_not(self):
        trace = Trace()
        status = self.ask("/api/v1/runs?label.team=private", [("Traceparent", trace.header)])
        self.assertEqual(status, 200)
        done, = self.of(trace)
        self.assertEqual((done["level"], done["method"], done["path"], done["status"]),
                         ("info", "GET", "/api/v1/runs", 200))
        self.assertGreater(done["seconds"], 0)
        self.assertNotIn("private", json.dumps(done))

    def test_a_query_is_named_as_it_asks_for_or_at_random_and_its_caller_told(self):
        self.ask("/api/v1/models", [("X-Request-Id", "dashboard-7")])
        self.assertEqual(self.request_id, "dashboard-7")
        self.assertEqual(self.end_of("dashboard-7")["caller"], "127.0.0.1")
        twice = [("X-Request-Id", "a"), ("X-Request-Id", "b")]
        for headers in ((), [("X-Request-Id", "a b")], [("X-Request-Id", "x" * 129)], twice):
            self.ask("/api/v1/models/none", headers)
            self.assertRegex(self.request_id, "^[0-9a-f]{16}$")
            self.assertEqual(self.end_of(self.request_id)["status"], 404)

    def test_a_query_that_fails_is_in_the_log_too(self):
        for path, status in (("/api/v1/models/none", 404), ("/api/v1/runs?pageSize=x", 400)):
            trace = Trace()
            self.assertEqual(self.ask(path, trace.metadata), status)
            self.assertEqual(self.of(trace)[0]["status"], status)

    def test_what_is_no_trace_is_ignored_and_the_query_answered(self):
        first, second = Trace(), Trace()
        for headers in (first.metadata + second.metadata, [("traceparent", "00-1-2-3")]):
            self.assertEqual(self.ask("/api/v1/models", headers), 200)
        self.ask("/api/v1/models", (last := Trace()).metadata)
        self.of(last)
        traces = {each.get("trace_id") for each in lines(self.server)}
        self.assertFalse(traces & {first.trace_id, second.trace_id})

    def test_health_metrics_and_the_page_are_not_logged(self):
        trace = Trace()
        for path in ("/healthz", "/readyz", "/metrics", "/"):
            self.assertEqual(self.ask(path, trace.metadata), 200)
        self.ask("/api/v1/models", trace.metadata)
        self.of(trace, 1)


class Phases(TracingCase):
    """What the log tells of one call is what the metrics tell of all, when there is but one."""

    def check(self, server, done, phases, counts):
        page = server.metrics()
        name = "sinkd_sample_phase_duration_seconds"
        for phase in PHASES:
            with self.subTest(phase=phase):
                labels = (("phase", phase),)
                self.assertEqual(page[f"{name}_count", labels], counts.get(phase, 0))
                self.assertAlmostEqual(done.get(f"{phase}_seconds", 0),
                                       page[f"{name}_sum", labels], delta=1e-6)
        self.assertEqual({each.removesuffix("_seconds") for each in done
                          if each.endswith("_seconds")}, set(phases))

    def test_a_stream_tells_the_sum_over_its_samples(self):
        server, trace = start("--log-format", "json"), Trace()
        rows = list(self.rows.values())[:5]
        answer = analyze(server.channel,
                         [spec(PLANTED, run_id="r"), *map(planted, rows), ids([]),
                          sample(text={"text": "the orchard"})], metadata=trace.metadata)
        self.assertIsNone(answer.failure)
        done, = self.of(trace, server=server)
        tokens = sum(each.positions for each in answer.records)
        self.assertEqual(len(answer.records), 6)
        self.assertEqual((done["samples"], done["tokens"]), (7, tokens))
        ran = dict.fromkeys(("queue", "forward", "analyse", "keep"), 6)
        self.check(server, done, PHASES, {**ran, "encode": 6, "write": 7})
        self.assertNotIn("orchard", server.log())

    def test_a_summary_alone_is_written_once_and_no_sample_is(self):
        server, trace = start("--log-format", "json"), Trace()
        rows = list(self.rows.values())[:3]
        analyze(server.channel, [spec(PLANTED, summary_only=True), *map(planted, rows)],
                metadata=trace.metadata)
        done, = self.of(trace, server=server)
        phases = ("queue", "encode", "forward", "analyse")
        self.check(server, done, phases, dict.fromkeys(phases, 3))

    def test_a_study_tells_its_steps(self):
        server, trace = start("--log-format", "json"), Trace()
        rows = list(self.rows.values())[:3]
        message = study_calls.request(
            PLANTED, [planted(each).sample.token_ids for each in rows], norms={})
        report = study_calls.read(study_calls.open_study(
            server.channel, message, metadata=trace.metadata)).report
        done, = self.of(trace, server=server)
        self.assertEqual((done["samples"], done["tokens"]), (report.samples, report.tokens))
        self.assertTrue({"queue_seconds", "encode_seconds", "forward_seconds", "analyse_seconds"}
                        <= set(done))
        self.assertLessEqual(sum(value for key, value in done.items() if key.endswith("_seconds")),
                             done["seconds"])

    def test_the_text_log_tells_the_same(self):
        server, trace = start("--log-format", "text"), Trace()
        analyze(server.channel, [spec(PLANTED), planted(self.rows["text-2"])],
                metadata=trace.metadata)
        line = wait_until("the call is in the log", lambda: next(
            (each for each in server.log().splitlines() if trace.trace_id in each), None))
        for pattern in (f" {DONE} request_id=", r" samples=1 ", r" tokens=\d+ ",
                        r" queue_seconds=[\d.e-]+ encode_seconds=[\d.e-]+ forward_seconds=[\d.e-]+"
                        r" analyse_seconds=[\d.e-]+ write_seconds=[\d.e-]+ ",
                        f" trace_id={trace.trace_id} parent_id={trace.parent_id}"):
            self.assertTrue(re.search(pattern, line + " "), (pattern, line))


if __name__ == "__main__":
    main()
