"""sinkd.aio: the same calls for asyncio, with the same answers.

    python -m tests.python.aio_test BUILD_DIR ORACLE_DIR
"""

import asyncio
import inspect
import unittest

import pandas as pd
import sinkd
from sinkd.stream import WINDOW
from tests.e2e.model_root import PLANTED
from tests.e2e.sinkd_process import main
from tests.python import client_case
from tests.python.client_case import TEXT, RestartCase, Setting, found, planted_ids, samples, wanted


def setUpModule():
    client_case.set_up()


class Twins(unittest.TestCase):
    def test_every_method_has_its_twin_with_the_same_parameters(self):
        for mine, theirs in ((sinkd.Client, sinkd.aio.Client),):
            for name, method in inspect.getmembers(mine, inspect.isfunction):
                if not name.startswith("_"):
                    self.assertEqual(list(inspect.signature(method).parameters),
                                     list(inspect.signature(getattr(theirs, name)).parameters), name)


class Aio(unittest.IsolatedAsyncioTestCase):
    async def asyncSetUp(self):
        self.server = Setting.server
        self.client = await sinkd.aio.connect(self.server.address)

    async def asyncTearDown(self):
        await self.client.close()

    async def test_records_come_one_by_one(self):
        rows, planted = planted_ids()
        analysis = self.client.scores(PLANTED, rows, levels=True)
        seen = {record.sample_id: found(record) async for record in analysis}
        self.assertEqual(seen, {key: wanted(each) for key, each in planted.items()})
        self.assertEqual(analysis.summary.samples, len(rows))

    async def test_tables_are_those_of_the_blocking_client(self):
        with sinkd.connect(self.server.address) as blocking:
            for name in ("scores", "levels", "regress", "compensation", "rate", "heads"):
                theirs = getattr(blocking, name)(PLANTED, samples()).to_pandas()
                pd.testing.assert_frame_equal((await getattr(self.client, name)(PLANTED, samples())).to_pandas(), theirs)
            study = await self.client.study("norms", PLANTED, samples())
            pd.testing.assert_frame_equal(study.to_pandas(), blocking.study("norms", PLANTED, samples()).to_pandas())

    async def test_an_async_source_is_read_no_further_ahead_than_the_window(self):
        taken = 0

        async def source():
            nonlocal taken
            while True:
                await asyncio.sleep(0)
                taken += 1
                yield TEXT

        done = 0
        async for _ in self.client.detect(PLANTED, source()):
            done += 1
            self.assertLessEqual(taken, done + WINDOW)
            if done == 3 * WINDOW:
                break
        await asyncio.to_thread(self.server.wait_until_free)

    async def test_a_cancelled_task_frees_the_server(self):
        begun = asyncio.Event()

        async def source():
            while True:
                begun.set()
                await asyncio.sleep(0)
                yield TEXT

        task = asyncio.create_task(self.client.detect(PLANTED, source()).read())
        await begun.wait()
        task.cancel()
        with self.assertRaises(asyncio.CancelledError):
            await task
        await asyncio.to_thread(self.server.wait_until_free)

    async def test_an_error_of_the_source_is_raised(self):
        async def source():
            yield TEXT
            raise LookupError("no more of these")

        with self.assertRaisesRegex(LookupError, "no more of these"):
            await self.client.detect(PLANTED, source())
        await asyncio.to_thread(self.server.wait_until_free)

    async def test_many_analyses_at_once(self):
        every = await asyncio.gather(*(self.client.detect(PLANTED, [TEXT] * 5) for _ in range(8)))
        first = every[0].to_pandas()
        for each in every[1:]:
            pd.testing.assert_frame_equal(each.to_pandas(), first)

    async def test_runs_plans_and_errors(self):
        await self.client.detect(PLANTED, samples(), run_id="aio")
        run = await self.client.run("aio")
        self.assertEqual(len([each async for each in run.records()]), len(samples()))
        self.assertEqual((await run.summary(spec={"levels": True})).samples, len(samples()))
        self.assertIn("runs/aio", [each.name for each in await self.client.runs(model=PLANTED)])
        self.assertTrue((await self.client.plan(PLANTED)).fits)
        await run.delete()
        with self.assertRaises(sinkd.Error) as raised:
            await self.client.run("aio")
        self.assertEqual((raised.exception.code, raised.exception.reason), ("NOT_FOUND", "RUN_NOT_FOUND"))

    async def test_a_deadline_ends_it(self):
        async def source():
            while True:
                await asyncio.sleep(0)
                yield TEXT

        # A write that the end of the call meets must not hide why it ended.
        for _ in range(10):
            with self.assertRaises(sinkd.Error) as raised:
                await self.client.detect(PLANTED, source(), timeout=0.2)
            self.assertEqual(raised.exception.code, "DEADLINE_EXCEEDED")
        await asyncio.to_thread(self.server.wait_until_free)


class Restarted(RestartCase):
    def test_a_run_goes_on_from_a_source_that_cannot_be_read_again(self):
        async def source():
            for row in self.rows:
                yield row

        async def read():
            records = []
            async with await sinkd.aio.connect(self.server.address) as client:
                analysis = client.scores(PLANTED, source(), levels=True, run_id="goes-on")
                async for record in analysis:
                    records.append(record)
                    if len(records) == 10:
                        await asyncio.to_thread(self.restart)
                return records, analysis.summary.message

        records, summary = asyncio.run(read())
        self.check(records)
        self.assertEqual(summary, self.unbroken())


if __name__ == "__main__":
    main()
