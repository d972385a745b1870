"""The faults of docs/faults.md, one by one: each is survived as the table says.

    python -m tests.e2e.faults_test BUILD_DIR ORACLE_DIR
"""

import concurrent.futures
import contextlib
import os
import pathlib
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile
import time
import unittest

from tests.e2e import h2, model_root
from tests.e2e.broken_checkpoints import WEIGHTS
from tests.e2e.calls import (
    Failure, analyze, described, expected, ids, load, model_call, open_stream, plan, planted, read, spec,
)
from tests.e2e.model_root import PLANTED, ModelRoot, edit_json
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main, wait_until
from tests.e2e.stream_case import Sender, begin_stream, next_of

LONG = 2000  # tokens


class FaultCase(unittest.TestCase):
    def setUp(self):
        self.root = ModelRoot()
        self.addCleanup(self.root.cleanup)
        self.root.link(PLANTED, model_root.planted())
        self.row = model_root.planted_records()["text-2"]

    def start(self, *flags, models=(PLANTED,), **options):
        server = SinkdProcess(self.root.path, *flags, load=models, **options)
        self.addCleanup(server.stop)
        return server

    def check_serves(self, server, model=PLANTED, channel=None):
        answer = analyze(channel or server.channel, [spec(model), planted(self.row)])
        self.assertIsNone(answer.failure)
        self.assertEqual([described(each) for each in answer.results], [expected(self.row)])

    def address(self, server):
        host, port = server.address.rsplit(":", 1)
        return host, int(port)

    def connect(self, server):
        connection = socket.create_connection(self.address(server), PATIENCE)
        with contextlib.suppress(OSError):  # it may be closed already
            connection.sendall(h2.PREFACE)
        self.addCleanup(connection.close)
        return connection


def is_closed(connection):
    """Waits for what the server does first: close it, or speak."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def refused(server, reason):
    return server.metric("sinkd_connections_refused_total", port="grpc", reason=reason)


class Connections(FaultCase):
    def test_without_descriptors_new_clients_are_told_at_once_and_old_ones_served(self):
        server = self.start("--store", "off")
        self.check_serves(server)
        used = len(list(pathlib.Path(f"/proc/{server.pid}/fd").iterdir()))
        _, most = resource.prlimit(server.pid, resource.RLIMIT_NOFILE)
        resource.prlimit(server.pid, resource.RLIMIT_NOFILE, (used + 8, most))  # two connections
        connections = [self.connect(server) for _ in range(30)]
        closed = [is_closed(each) for each in connections]
        self.assertEqual(closed[-20:], [True] * 20)
        self.check_serves(server)
        for each in connections:
            each.close()
        wait_until("the server has seen them close", lambda: not is_closed(self.connect(server)))
        with server.connect() as channel:
            self.check_serves(server, channel=channel)
        self.assertGreaterEqual(refused(server, "descriptors"), 20)
        lines = [each for each in server.log().splitlines() if "connections refused" in each]
        self.assertEqual(len(lines), 1)
        self.assertIn("ulimit -n", lines[0])

    def test_an_address_with_too_many_connections_gets_no_more_until_some_are_closed(self):
        server = self.start("--max-connections-per-address", 4)
        held = [self.connect(server) for _ in range(3)]  # beside the test's own
        self.assertEqual([is_closed(each) for each in held], [False] * 3)
        self.assertTrue(is_closed(self.connect(server)))
        self.check_serves(server)
        held[0].close()
        wait_until("its place is free", lambda: not is_closed(self.connect(server)))
        self.assertGreaterEqual(refused(server, "address"), 1)
        self.assertEqual(refused(server, "descriptors"), 0)

    def test_a_socket_in_the_file_system_serves_too_and_is_gone_afterwards(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "grpc"
            server = SinkdProcess(self.root.path, load=(PLANTED,), listen=f"unix:{path}")
            self.assertEqual(server.address, f"unix:{path}")
            self.check_serves(server)
            server.stop()
            self.assertFalse(path.exists())


class HeldStill(FaultCase):
    def test_a_stopped_process_goes_on_where_it_was(self):
        server = self.start("--stuck-after", "1s")
        sender = Sender()
        call = open_stream(server.channel, sender)
        sender.send(spec(PLANTED), planted(self.row))
        self.assertEqual(described(next_of(call, "record")), expected(self.row))
        os.kill(server.pid, signal.SIGSTOP)
        try:
            late = analyze(server.channel, [spec(PLANTED), planted(self.row)], timeout=3)
            self.assertEqual(late.failure.code, "DEADLINE_EXCEEDED")
        finally:
            os.kill(server.pid, signal.SIGCONT)
        sender.send(planted(self.row))
        sender.close()
        self.assertEqual(described(next_of(call, "record")), expected(self.row))
        self.assertEqual(next_of(call, "summary").samples, 2)
        self.assertEqual(server.health(), "SERVING")
        self.assertNotIn("stuck", server.log())
        server.wait_until_free()


class WallClock(FaultCase):
    LIBRARY = "faketime/libfaketimeMT.so.1"

    def set_clock(self, offset):
        self.clock.write_text(offset)

    def test_jumps_end_no_call_and_hold_none(self):
        library = next(pathlib.Path("/usr/lib").glob(f"*/{self.LIBRARY}"), None)
        self.assertIsNotNone(library, "Debian's package faketime is missing")
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.clock = pathlib.Path(folder.name) / "clock"
        self.set_clock("+0")
        server = self.start(environment={
            "LD_PRELOAD": library, "FAKETIME_TIMESTAMP_FILE": str(self.clock),
            "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "ASAN_OPTIONS": "verify_asan_link_order=0"})
        sender = Sender()
        call = open_stream(server.channel, sender, timeout=PATIENCE)
        sender.send(spec(PLANTED))
        next_of(call, "started")
        for offset in ("+1d", "-1d", "+0"):
            self.set_clock(offset)
            sender.send(planted(self.row))  # has waited, and its deadline has not passed
            self.assertEqual(described(next_of(call, "record")), expected(self.row))
            self.check_serves(server)
            late = read(open_stream(server.channel, self.endless(), timeout=1))
            self.assertEqual(late.failure.code, "DEADLINE_EXCEEDED")
        sender.close()
        self.assertEqual(next_of(call, "summary").samples, 3)
        days = {line[:10] for line in server.log().splitlines()}
        self.assertGreaterEqual(len(days), 3)  # it did see the jumps
        server.wait_until_free()

    def endless(self):
        yield spec(PLANTED)
        while True:
            yield ids([0] + [5] * LONG)


class FullDisk(FaultCase):
    def test_a_run_is_refused_or_ended_and_the_rest_served(self):
        with tempfile.TemporaryDirectory(prefix="sinkd-full-") as folder:
            mount = ["unshare", "--mount", "sh", "-c",
                     'mount -t tmpfs -o size=1m none "$0" && exec "$@"', folder]
            if subprocess.run([*mount, "true"], capture_output=True, check=False).returncode != 0:
                self.skipTest("this machine lets nobody mount a file system")
            server = self.start(state=pathlib.Path(folder) / "state", prefix=mount)
            samples = [ids([0] + [5 + i % 900] * 20, sample_id=f"s-{i}") for i in range(20000)]
            answer = analyze(server.channel, [spec(PLANTED, run_id="full"), *samples])
            self.assertEqual(answer.failure.code, "RESOURCE_EXHAUSTED", answer.failure)
            self.assertIn("disk", answer.failure.message)
            self.check_serves(server)
            self.assertEqual(server.health(), "SERVING")
            server.wait_until_free()


class OutOfMemory(FaultCase):
    MODEL, POSITIONS = "longer", 18_000
    RESERVE = 64 << 20  # bytes, of docs/memory.md

    def setUp(self):
        super().setUp()
        self.root.variation(
            self.MODEL, model_root.planted(),
            lambda folder: edit_json(folder / "config.json",
                                     max_position_embeddings=self.POSITIONS))

    @contextlib.contextmanager
    def short_of_memory(self, server):
        """The kernel gives the server its reserve and a part of what the longest sample takes."""
        name = f"models/{self.MODEL}"
        device = plan(server.channel, name, positions=self.POSITIONS).plan.devices[0]
        _, most = resource.prlimit(server.pid, resource.RLIMIT_DATA)
        status = pathlib.Path(f"/proc/{server.pid}/status").read_text()
        held = int(re.search(r"VmData:\s+(\d+) kB", status)[1]) << 10
        resource.prlimit(server.pid, resource.RLIMIT_DATA,
                         (held + self.RESERVE + device.activation_bytes * 6 // 10, most))
        yield
        resource.prlimit(server.pid, resource.RLIMIT_DATA, (most, most))

    def test_costs_the_long_samples_alone_and_is_over_with_the_shortage(self):
        server = self.start("--store", "off", models=(self.MODEL,))
        short = planted(self.row)
        long = ids([0] + [5 + i % 900 for i in range(self.POSITIONS - 1)])

        def answers(*samples):
            with concurrent.futures.ThreadPoolExecutor(4) as clients:
                calls = [clients.submit(analyze, server.channel, [spec(self.MODEL), *samples])
                         for _ in range(4)]
            return [each.result() for each in calls]

        answers(short, short)  # the threads are there
        with self.short_of_memory(server):
            under_shortage = answers(short, long, short, long, short)
        for answer in under_shortage:
            self.assertIsNone(answer.failure)
            for number in (1, 3):
                refused = Failure.of_status(answer.results[number].status)
                self.assertEqual((refused.code, refused.reason),
                                 ("RESOURCE_EXHAUSTED", "DEVICE_OUT_OF_MEMORY"))
            self.assertEqual([described(each) for each in answer.records], [expected(self.row)] * 3)
        self.assertEqual(server.health(), "SERVING")
        self.assertEqual(len(analyze(server.channel, [spec(self.MODEL), long]).records), 1)


class Checkpoints(FaultCase):
    """Files of a checkpoint that change under the server."""

    def copy(self, name, source):
        folder = self.root.path / name
        folder.mkdir()
        for file in source.iterdir():
            shutil.copy(file, folder / file.name)
        return folder

    def test_cut_while_serving_from_memory_changes_nothing(self):
        folder = self.copy("copy", model_root.planted())
        server = self.start(models=("copy",))
        os.truncate(folder / WEIGHTS, 1000)
        self.check_serves(server, model="copy")

    def test_cut_while_served_from_disk_fails_the_samples_until_it_is_whole_again(self):
        folder = self.copy("copy", model_root.planted())
        server = self.start("--residency", "streamed", models=("copy",))
        self.check_serves(server, model="copy")
        whole = (folder / WEIGHTS).read_bytes()
        os.truncate(folder / WEIGHTS, len(whole) // 2)
        answer = analyze(server.channel, [spec("copy"), planted(self.row)])
        self.assertEqual([Failure.of_status(each.status).code for each in answer.results],
                         ["FAILED_PRECONDITION"])
        self.assertEqual(server.health(), "SERVING")
        with (folder / WEIGHTS).open("r+b") as file:  # the one that the server holds open
            file.write(whole)
        self.check_serves(server, model="copy")

    def test_replaced_while_served_from_disk_the_old_one_goes_on(self):
        folder = self.copy("copy", model_root.planted())
        server = self.start("--residency", "streamed", models=("copy",))
        other = folder / "other"
        other.write_bytes(os.urandom(1 << 20))
        other.replace(folder / WEIGHTS)
        self.check_serves(server, model="copy")

    def test_cut_or_replaced_while_loading_the_load_fails_or_is_right(self):
        server = self.start()
        source, chance = random.Random(3), []
        for i in range(20):
            folder = self.copy(f"copy-{i}", model_root.planted())
            with concurrent.futures.ThreadPoolExecutor(1) as clients:
                loading = clients.submit(load, server.channel, f"models/copy-{i}")
                time.sleep(source.uniform(0, 0.05))  # any moment will do
                if i % 2:
                    os.truncate(folder / WEIGHTS, source.randint(0, 1 << 20))
                else:
                    (folder / "other").write_bytes(os.urandom(1 << 20))
                    (folder / "other").replace(folder / WEIGHTS)
                outcome = loading.result()
            if isinstance(outcome, Failure):
                self.assertEqual(outcome.code, "FAILED_PRECONDITION", outcome)
            else:
                self.check_serves(server, model=f"copy-{i}")
                model_call(server.channel, "UnloadModel", f"models/copy-{i}")
            chance.append(isinstance(outcome, Failure))
        print(f"{sum(chance)} of {len(chance)} loads failed")
        self.check_serves(server)


class StuckDevice(FaultCase):
    """Weights are streamed from storage that hangs, in the middle of a pass."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.hanging = pathlib.Path(folder.name) / "hanging"
        self.server = SinkdProcess(
            self.root.path, "--residency", "streamed", "--store", "off", "--stuck-after", "1s",
            "--drain-timeout", "10s", load=(PLANTED,), environment={
                "LD_PRELOAD": Programs.hanging_reads, "HANGING_READS": self.hanging,
                "ASAN_OPTIONS": "verify_asan_link_order=0"})
        self.check_serves(self.server)
        self.hanging.touch()
        self.call = open_stream(self.server.channel, [spec(PLANTED), planted(self.row)])
        wait_until("the device is stuck", lambda: self.server.metric("sinkd_stuck_devices") == 1)

    def test_ends_with_the_time_to_drain_and_an_error(self):
        self.server.terminate()
        answer = read(self.call)
        self.assertEqual((answer.failure.code, answer.failure.reason),
                         ("UNAVAILABLE", "SERVER_STOPPING"))
        self.assertEqual(self.server.wait(), 1)
        self.assertIn("a device is stuck and does not stop", self.server.log())

    def test_finishes_its_work_when_it_goes_on_before_that(self):
        self.server.terminate()
        wait_until("it drains", lambda: "stopping" in self.server.log())
        self.hanging.unlink()
        answer = read(self.call)
        self.assertIsNone(answer.failure)
        self.assertEqual([described(each) for each in answer.results], [expected(self.row)])
        self.assertEqual(self.server.wait(), 0, self.server.log())


class Leaving(FaultCase):
    def test_on_sigterm_many_streams_finish_and_the_server_leaves_with_0(self):
        server = SinkdProcess(self.root.path, "--max-caller-percent", 100, load=(PLANTED,))
        senders = [Sender() for _ in range(40)]
        calls = [open_stream(server.channel, each) for each in senders]
        for sender, call in zip(senders, calls, strict=True):
            sender.send(spec(PLANTED))
            next_of(call, "started")
        server.terminate()
        wait_until("health flips", lambda: server.health() == "NOT_SERVING")
        for sender in senders:
            sender.send(planted(self.row))
            sender.close()
        for call in calls:
            self.assertEqual(described(next_of(call, "record")), expected(self.row))
            self.assertEqual(next_of(call, "summary").samples, 1)
        self.assertEqual(server.wait(), 0)

    def test_a_second_signal_ends_it_at_once(self):
        server = SinkdProcess(self.root.path, "--drain-timeout", "1h", load=(PLANTED,))
        _, call = begin_stream(server.channel)
        server.terminate()
        wait_until("it drains", lambda: server.health() == "NOT_SERVING")
        server.terminate()
        self.assertEqual(server.wait(), 128 + signal.SIGTERM)
        self.assertEqual(read(call).failure.code, "UNAVAILABLE")


if __name__ == "__main__":
    main()
