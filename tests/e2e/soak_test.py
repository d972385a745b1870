"""A server under more than it can do: it answers or refuses, forgets nothing, and keeps nothing.

    python -m tests.e2e.soak_test BUILD_DIR ORACLE_DIR
"""

import asyncio
import collections
import concurrent.futures
import contextlib
import os
import random
import time
import unittest

from tests.e2e import model_root
from tests.e2e.calls import analyze, described, expected, ids, planted, spec
from tests.e2e.load_client import Stream, connect, counted
from tests.e2e.model_root import PLANTED, TINY, ModelRoot
from tests.e2e.sinkd_process import SinkdProcess, main
from tests.e2e.stream_case import ANALYZE

MIB = 1 << 20


class SoakCase(unittest.TestCase):
    def start(self, *flags, **options):
        root = ModelRoot()
        self.addCleanup(root.cleanup)
        root.link(PLANTED, model_root.planted())
        root.link(TINY, model_root.tiny())
        server = SinkdProcess(root.path, "--max-caller-percent", 100, *flags, load=(PLANTED, TINY), **options)
        self.addCleanup(self.stop, server)
        os.sched_setaffinity(server.pid, sorted(os.sched_getaffinity(0))[:2])
        return server

    def stop(self, server):
        server.stop()
        self.assertNotRegex(server.log(), "(Address|Thread|UndefinedBehavior)Sanitizer")

    def resident(self, server):
        return server.metric("sinkd_process_resident_memory_bytes")

    def check_serves(self, server):
        record = model_root.planted_records()["text-2"]
        answer = analyze(server.channel, [spec(PLANTED), planted(record)])
        self.assertEqual([described(each) for each in answer.results], [expected(record)])


def handled(page):
    """How many Analyze calls ended, by code."""
    return {dict(labels)["code"]: count for (name, labels), count in page.items()
            if name == "sinkd_rpc_handled_total" and dict(labels)["method"] == ANALYZE and count}


def samples_done(page):
    return {outcome: page["sinkd_samples_total", (("outcome", outcome),)]
            for outcome in ("ok", "failed", "cancelled")}


class ThousandStreams(SoakCase):
    STREAMS, TAKEN, SAMPLES, ROUNDS = 1000, 800, 4, 5
    # What is kept of shapes that passes had is bounded; with small bounds it is full at once.
    FEW_SHAPES = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "8", "LRU_CACHE_CAPACITY": "8"}

    async def round(self, server):
        """All are open at once before the first sends a sample."""
        async with contextlib.AsyncExitStack() as stack:
            channels = [await stack.enter_async_context(connect(server)) for _ in range(4)]
            streams = [Stream(channels[i % 4], timeout=600) for i in range(self.STREAMS)]
            opened = await asyncio.gather(*(each.open(spec(TINY)) for each in streams))
            open_now = await asyncio.to_thread(server.metric, "sinkd_streams_in_flight")
            self.assertEqual(open_now, sum(opened))
            samples = [ids([1] + [5 + i] * 20) for i in range(self.SAMPLES)]
            return await asyncio.gather(*(
                each.finish(samples) for each, taken in zip(streams, opened) if taken
            )), [each.outcome for each, taken in zip(streams, opened) if not taken]

    def test_each_is_answered_or_told_to_come_back_and_nothing_is_left(self):
        server = self.start("--max-streams", self.TAKEN, "--read-ahead", 2, "--store", "off",
                            environment=self.FEW_SHAPES)
        idle, after = self.resident(server), []
        for _ in range(self.ROUNDS):
            taken, refused = asyncio.run(self.round(server))
            self.assertEqual(counted(taken), {"OK": self.TAKEN})
            self.assertEqual({each.samples for each in taken}, {self.SAMPLES})
            self.assertEqual({each.records for each in taken}, {self.SAMPLES})
            self.assertEqual({(each.word, each.failure.reason) for each in refused},
                             {("RESOURCE_EXHAUSTED", "TOO_MANY_STREAMS")})
            self.assertEqual(len(taken) + len(refused), self.STREAMS)
            server.wait_until_free()
            after.append(self.resident(server))
        page, rounds = server.metrics(), self.ROUNDS
        ended = {"OK": rounds * self.TAKEN,
                 "RESOURCE_EXHAUSTED": rounds * (self.STREAMS - self.TAKEN)}
        self.assertEqual(handled(page), ended)
        started = page["sinkd_rpc_started_total", (("method", ANALYZE),)]
        self.assertEqual(started, sum(ended.values()))
        self.assertEqual(samples_done(page), {"ok": rounds * self.TAKEN * self.SAMPLES,
                                              "failed": 0, "cancelled": 0})
        peak = server.peak_memory()
        print(f"resident MiB: idle {idle / MIB:.0f}, after each round "
              f"{[round(each / MIB) for each in after]}, peak {peak / MIB:.0f}")
        self.assertLess(peak - idle, 1024 * MIB)
        self.assertLess(max(after[2:]) - after[1], 16 * MIB)


class StalledReaders(SoakCase):
    READERS, SECONDS = 50, 60

    async def stall(self, server, done):
        """Streams that send as long as they may and read nothing."""
        async with contextlib.AsyncExitStack() as stack:
            channels = [await stack.enter_async_context(connect(server))
                        for _ in range(self.READERS)]
            streams = [Stream(each, timeout=600) for each in channels]
            for each in streams:
                self.assertTrue(await each.open(spec(PLANTED, scores={"all_positions": True})))
            sending = [asyncio.create_task(self.send_on(each)) for each in streams]
            await done.wait()
            for task, stream in zip(sending, streams):
                task.cancel()
                stream.call.cancel()
            await asyncio.gather(*sending, return_exceptions=True)

    async def send_on(self, stream):
        while True:
            await stream.call.write(self.sample())

    def sample(self):
        return ids([0] + [5] * 400)

    async def serve_others(self, server, done):
        served, most, idle = 0, 0, self.resident(server)
        end = time.monotonic() + self.SECONDS
        while time.monotonic() < end:
            await asyncio.to_thread(self.check_serves, server)
            served += 1
            most = max(most, await asyncio.to_thread(self.resident, server))
        done.set()
        return served, most - idle

    def test_cost_little_memory_and_hold_up_nobody(self):
        server = self.start("--store", "off", "--write-timeout", "1h")
        requests = [spec(PLANTED, scores={"all_positions": True}), *[self.sample()] * 50]
        self.assertEqual(analyze(server.channel, requests).summary.samples, 50)

        async def both():
            done = asyncio.Event()
            stalled = asyncio.create_task(self.stall(server, done))
            outcome = await self.serve_others(server, done)
            await stalled
            return outcome

        served, growth = asyncio.run(both())
        print(f"{self.READERS} stalled readers, {self.SECONDS} s: {served} other streams served, "
              f"resident memory grew by {growth / MIB:.1f} MiB at most")
        self.assertGreater(served, 10)
        self.assertLess(growth, 50 * MIB)
        server.wait_until_free()


class ShortDeadlines(SoakCase):
    STREAMS, AT_ONCE = 2000, 32

    def run_one(self, channels, seed):
        source = random.Random(seed)
        requests = [spec(source.choice((PLANTED, TINY)), scores={})]
        requests += [ids([0] + [5] * source.randint(1, 200)) for _ in range(source.randint(0, 3))]
        return analyze(source.choice(channels), requests, timeout=source.uniform(0.001, 0.050))

    def run_all(self, server):
        channels = [server.connect() for _ in range(4)]
        with concurrent.futures.ThreadPoolExecutor(self.AT_ONCE) as clients:
            answers = list(clients.map(lambda seed: self.run_one(channels, seed),
                                       range(self.STREAMS)))
        for each in channels:
            each.close()
        return collections.Counter(each.failure.code if each.failure else "OK" for each in answers)

    def test_end_streams_at_any_moment_and_leave_nothing_behind(self):
        server = self.start("--max-streams", 200)
        outcomes = self.run_all(server)
        print(f"{self.STREAMS} streams with deadlines of 1 to 50 ms: {dict(outcomes)}")
        self.assertEqual(outcomes.total(), self.STREAMS)
        self.assertLessEqual(set(outcomes), {"OK", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED"})
        self.assertGreater(outcomes["DEADLINE_EXCEEDED"], self.STREAMS // 10)
        server.wait_until_free()
        page = server.metrics()
        self.assertEqual(page["sinkd_rpc_started_total", (("method", ANALYZE),)],
                         sum(handled(page).values()))
        # What a client that has gone is told, it does not see; one that goes before its first message
        # looks like one that has nothing to say.
        self.assertLessEqual(set(handled(page)), {"OK", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED",
                                                  "CANCELLED", "INVALID_ARGUMENT"})
        self.check_serves(server)


if __name__ == "__main__":
    main()
