"""Who shares a device gets his part of it, and whoever waits for an answer goes first.

    python -m tests.e2e.fairness_test BUILD_DIR ORACLE_DIR

Nothing here looks at a clock: what is counted is whose samples end before whose.
"""

import concurrent.futures
import itertools
import statistics
import threading

import grpc
from google.protobuf.message import Message

from tests.e2e import stubs
from tests.e2e.calls import analyze, described, expected, ids, open_stream, planted, spec
from tests.e2e.model_root import PLANTED
from tests.e2e.sinkd_process import SinkdProcess, main, wait_until
from tests.e2e.source_address import SourceAddress
from tests.e2e.stream_case import Setting, StreamCase, begin_stream, set_up

LONG = 1100  # tokens of a sample that shares its pass with no other of its length
BATCH, INTERACTIVE = stubs.analysis.LANE_BATCH, stubs.analysis.LANE_INTERACTIVE


def setUpModule():
    set_up()


class Job:
    """A stream whose records are counted as they come."""

    def __init__(self, channel, samples, **fields):
        self.done = 0
        self.ended = None
        requests = itertools.chain([spec(PLANTED, **fields)], samples)
        self._call = open_stream(channel, requests, timeout=900)
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def _read(self):
        try:
            for answer in self._call:
                self.done += answer.WhichOneof("message") == "record"
            self.ended = grpc.StatusCode.OK
        except grpc.RpcError as error:
            self.ended = error.code()

    def cancel(self):
        self._call.cancel()
        self._reader.join()


def long_samples(count=None):
    each = ids([0] + [5] * (LONG - 1))
    return itertools.repeat(each) if count is None else itertools.repeat(each, count)


class Fairness(StreamCase):
    def test_a_person_waits_for_two_samples_of_a_batch_at_most(self):
        job = Job(self.channel, long_samples(500), lane=BATCH)
        self.addCleanup(job.cancel)
        wait_until("the batch runs", lambda: job.done > 0)
        channel, record = self.server.connect(), self.planted["text-2"]
        self.addCleanup(channel.close)
        overtook = []
        while job.ended is None and len(overtook) < 40:
            before = job.done
            answer = analyze(channel, [spec(PLANTED, lane=INTERACTIVE), planted(record)])
            overtook.append(job.done - before)
            self.assertEqual([described(each) for each in answer.results], [expected(record)])
        self.assertIsNone(job.ended)  # it ran all the time
        print("batch samples that ended while an interactive one waited and ran:",
              sorted(overtook))
        self.assertLessEqual(statistics.quantiles(overtook, n=20)[-1], 2)

    def test_callers_get_equal_parts_however_many_streams_they_open(self):
        ways = [SourceAddress(self.server.address, host) for host in ("127.0.0.2", "127.0.0.3")]
        channels = [grpc.insecure_channel(way.address) for way in ways]
        jobs = [Job(channels[0], long_samples(), lane=BATCH) for _ in range(3)]
        jobs.append(Job(channels[1], long_samples(), lane=BATCH))
        for each in (*jobs[::-1], *ways):
            self.addCleanup(each.cancel if isinstance(each, Job) else each.close)
        wait_until("all run", lambda: all(job.done > 0 for job in jobs))
        start = [job.done for job in jobs]
        wait_until("they ran for a while", lambda: sum(job.done for job in jobs) > sum(start) + 60)
        *many, one = (job.done - before for job, before in zip(jobs, start, strict=True))
        print("samples of a caller by stream:", many, "and of another:", one)
        self.assertLessEqual(abs(sum(many) - one), 0.1 * one)
        self.assertGreater(min(many), 0)

    def test_batch_work_goes_on_below_interactive_work(self):
        jobs = [Job(self.channel, long_samples(), lane=lane) for lane in (INTERACTIVE, BATCH)]
        for job in jobs:
            self.addCleanup(job.cancel)
        wait_until("both run", lambda: all(job.done > 0 for job in jobs))
        start = [job.done for job in jobs]
        wait_until("they ran for a while", lambda: jobs[0].done > start[0] + 56)
        interactive, batch = (job.done - before for job, before in zip(jobs, start, strict=True))
        print("interactive samples:", interactive, "batch samples:", batch)
        # 7 of time, and how long a sample takes varies.
        self.assertGreater(interactive / batch, 3.5)
        self.assertLess(interactive / batch, 14)

    def test_numbers_are_the_same_beside_the_samples_of_others(self):
        records = list(self.planted.values())
        alone = {each["sample_id"]: self.numbers(self.channel, each) for each in records}
        held = Job(self.channel, long_samples(), lane=BATCH)  # so that samples wait together
        self.addCleanup(held.cancel)
        wait_until("the device is taken", lambda: held.done > 0)
        with concurrent.futures.ThreadPoolExecutor(16) as clients:
            together = list(clients.map(lambda each: self.numbers(self.channel, each),
                                        records * 3))
        for record, numbers in zip(records * 3, together, strict=True):
            first = alone[record["sample_id"]]
            self.assertEqual(len(numbers), len(first))
            for value, wanted in zip(numbers, first, strict=True):
                self.assertAlmostEqual(value, wanted, delta=1e-5 * max(1, abs(wanted)))

    def numbers(self, channel, record):
        """All of a record's numbers, in order."""
        answer = analyze(channel, [spec(PLANTED, scores={}, lane=BATCH), planted(record)])
        self.assertIsNone(answer.failure)
        self.assertEqual([described(each) for each in answer.results], [expected(record)])
        return list(leaves(answer.results[0]))

    def test_a_caller_does_not_get_all_streams(self):
        server = SinkdProcess(Setting.root.path, "--max-streams", 4, load=(PLANTED,))
        self.addCleanup(server.stop)
        way = SourceAddress(server.address, "127.0.0.2")
        self.addCleanup(way.close)
        streams = [begin_stream(server.channel) for _ in range(2)]
        failure = analyze(server.channel, [spec(PLANTED)]).failure
        self.assertEqual((failure.code, failure.reason), ("RESOURCE_EXHAUSTED", "CALLER_LIMIT"))
        self.assertIn("RetryInfo", failure.details)
        self.assertIn("--max-caller-percent", failure.message)
        with grpc.insecure_channel(way.address) as other:
            self.assertIsNone(analyze(other, [spec(PLANTED)]).failure)
        for sender, _ in streams:
            sender.close()
        server.wait_until_free()
        self.assertIsNone(analyze(server.channel, [spec(PLANTED)]).failure)


def leaves(message):
    for field, value in message.ListFields():
        for each in [value] if isinstance(value, (int, float, str, bytes, Message)) else value:
            if isinstance(each, Message):
                yield from leaves(each)
            elif isinstance(each, float):
                yield each


if __name__ == "__main__":
    main()
