"""Whoever leaves, client, model or server, leaves nothing behind.

    python -m tests.e2e.leaving_test BUILD_DIR ORACLE_DIR
"""

import concurrent.futures
import itertools
import json
import subprocess
import tempfile

import grpc

from tests.e2e import model_root, stubs
from tests.e2e.calls import (
    Failure, analyze, described, expected, ids, load, model_call, open_stream, planted, read, spec,
)
from tests.e2e.model_root import PLANTED, TINY
from tests.e2e.sinkd_process import Programs, SinkdProcess, main, wait_until
from tests.e2e.stream_case import (
    ANALYZE, READ_AHEAD, SERVICES, Sender, Setting, StreamCase, begin_stream, next_of, set_up,
)

LONG = 2000  # tokens of a sample that keeps the server busy for a while


def setUpModule():
    set_up()


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
        server = SinkdProcess(Setting.root.path, "--max-streams", 2,
                             "--max-caller-percent", 100, load=(PLANTED,))
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
        server = SinkdProcess(Setting.root.path, "--max-streams", 2,
                             "--max-caller-percent", 100, load=(PLANTED,))
        self.addCleanup(server.stop)
        streams = [begin_stream(server.channel) for _ in range(2)]
        failure = analyze(server.channel, [spec(PLANTED)]).failure
        self.assertEqual((failure.code, failure.reason), ("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS"))
        self.assertIn("RetryInfo", failure.details)
        self.assertIn("--max-streams", failure.message)
        for sender, call in streams:
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
        _, call = begin_stream(server.channel)
        server.terminate()
        with self.assertRaises(grpc.RpcError) as caught:
            next(call)
        failure = Failure.of_call(caught.exception)
        self.assertEqual((failure.code, failure.reason), ("UNAVAILABLE", "SERVER_STOPPING"))
        self.assertEqual(server.wait(), 0)


if __name__ == "__main__":
    main()
