"""Streams from Python: records as they come, sources no further ahead than they need be, ends of all kinds.

    python -m tests.python.streaming_test BUILD_DIR ORACLE_DIR
"""

import itertools
import signal
import subprocess
import sys
import threading

import sinkd
from sinkd.stream import WINDOW
from tests.e2e.model_root import PLANTED
from tests.e2e.sinkd_process import PATIENCE, main
from tests.python import client_case
from tests.python.client_case import TEXT, ClientCase, RestartCase

FOR_EVER = f"""
import itertools, sinkd
client = sinkd.connect("%s")
for record in client.detect("{PLANTED}", itertools.repeat("{TEXT}")):
    print(record.sample_index, flush=True)
"""


def setUpModule():
    client_case.set_up()


class Source:
    """Endless, and counts what was taken of it."""

    def __init__(self):
        self.taken = 0

    def __iter__(self):
        return self

    def __next__(self):
        self.taken += 1
        return TEXT


class Flow(ClientCase):
    def test_records_come_while_the_source_waits(self):
        go_on = threading.Event()

        def source():
            yield TEXT
            go_on.wait(PATIENCE)
            yield TEXT

        stream = iter(self.client.detect(PLANTED, source()))
        self.assertEqual(next(stream).sample_index, 0)
        go_on.set()
        self.assertEqual([each.sample_index for each in stream], [1])

    def test_a_source_is_read_no_further_ahead_than_the_window(self):
        source = Source()
        stream = iter(self.client.detect(PLANTED, source))
        for done in range(1, 4 * WINDOW):
            next(stream)
            self.assertLessEqual(source.taken, done + WINDOW)
        stream.close()

    def test_a_loop_that_ends_early_frees_the_server(self):
        for record in self.client.detect(PLANTED, Source()):
            break
        self.assertEqual(record.sample_index, 0)
        self.server.wait_until_free()

    def test_an_error_of_the_source_is_raised_and_ends_the_stream(self):
        told = threading.Event()

        def source():
            yield TEXT
            told.wait(PATIENCE)
            raise LookupError("no more of these")

        with self.assertRaisesRegex(LookupError, "no more of these"):
            for _ in self.client.detect(PLANTED, source(), run_id="broken"):
                told.set()
        self.server.wait_until_free()
        self.assertEqual(self.client.run("broken").state, 1, "a run that was cut off stays open")

    def test_a_deadline_ends_it(self):
        with self.assertRaises(sinkd.Error) as raised:
            for _ in self.client.detect(PLANTED, Source(), timeout=1):
                pass
        self.assertEqual(raised.exception.code, "DEADLINE_EXCEEDED")
        self.server.wait_until_free()

    def test_ctrl_c_ends_it(self):
        script = FOR_EVER % self.server.address
        client = subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  text=True)
        client.stdout.readline()
        client.send_signal(signal.SIGINT)
        _, said = client.communicate(timeout=PATIENCE)
        self.assertIn("KeyboardInterrupt", said)
        self.assertEqual(client.returncode, -signal.SIGINT)
        self.server.wait_until_free()

    def test_progress_is_told(self):
        seen = []
        self.client.levels(PLANTED, [TEXT] * 300, progress=seen.append).read()
        done = [each.samples_done for each in seen]
        self.assertEqual(done, sorted(done))
        self.assertTrue(all(each.samples_received <= 300 for each in seen))


class Restarted(RestartCase):
    def read_with_a_restart(self, analysis):
        records = []
        for record in analysis:
            records.append(record)
            if len(records) == 10:
                self.restart()
        return records

    def test_a_run_goes_on_from_a_source_that_cannot_be_read_again(self):
        analysis = self.client.scores(PLANTED, iter(self.rows), levels=True, run_id="goes-on")
        self.check(self.read_with_a_restart(analysis))
        self.assertEqual(analysis.summary.message, self.unbroken())

    def test_without_a_run_a_list_is_sent_again_and_nothing_told_twice(self):
        analysis = self.client.scores(PLANTED, self.rows, levels=True)
        self.check(self.read_with_a_restart(analysis))
        self.assertEqual(analysis.summary.message, self.unbroken())

    def test_without_a_run_a_generator_cannot_be_sent_again(self):
        with self.assertRaises(sinkd.Error) as raised:
            self.read_with_a_restart(self.client.scores(PLANTED, itertools.cycle(self.rows)))
        self.assertEqual(raised.exception.code, "UNAVAILABLE")


if __name__ == "__main__":
    main()
