"""Nothing that a client was told of is lost, however often the server is killed while others write,
take backups and try its file with programs of their own; and a second server is kept out.

    python -m tests.e2e.store_test BUILD_DIR ORACLE_DIR

SINKD_STORE_ROUNDS says how many rounds of that there are; 200 take a quarter of an hour.
"""

import contextlib
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import threading
import unittest

import grpc

from tests.e2e import model_root
from tests.e2e.calls import ids, open_stream, spec
from tests.e2e.model_root import TINY, ModelRoot
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main, wait_until

ROUNDS = int(os.environ.get("SINKD_STORE_ROUNDS", "4"))
WRITERS = 3


class Writer:
    """A client that writes to a run of its own until its server dies; `told` are the ids of the
    records that it was told of, of all its streams."""

    def __init__(self, number):
        self.run = f"writer-{number}"
        self.told = []
        self._thread = None

    def begin(self, server, prefix):
        self._thread = threading.Thread(target=self._write, args=(server, prefix))
        self._thread.start()

    def end(self):
        self._thread.join(PATIENCE)

    def _requests(self, prefix):
        yield spec(TINY, run_id=self.run)
        for number in range(1_000_000):
            yield ids([0, 5, 6 + number % 50], sample_id=f"{prefix}-{number}")

    def _write(self, server, prefix):
        stream = open_stream(server.connect(), self._requests(prefix))
        with contextlib.suppress(grpc.RpcError):
            for answer in stream:
                if answer.HasField("record"):
                    self.told.append(answer.record.sample_id)


class StoreCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-store-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.state = self.folder / "state"
        self.root = ModelRoot()
        self.addCleanup(self.root.cleanup)
        self.root.link(TINY, model_root.tiny())

    def start(self):
        server = SinkdProcess(self.root.path, load=[TINY], state=self.state)
        self.addCleanup(lambda: server._process.poll() is None and server.kill())
        return server

    def sinkctl(self, server, *arguments):
        return subprocess.run([Programs.sinkctl, "--server", server.address, *arguments],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)

    def shell(self, command):
        """What another program does to the file."""
        return subprocess.run(["sqlite3", self.state / "runs.db", command], capture_output=True,
                              text=True, timeout=PATIENCE, check=False)

    def keys(self, file, told):
        """Of each run in a database that nobody has open, the keys; it is whole, and holds `told`."""
        with contextlib.closing(sqlite3.connect(file)) as database:
            self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
            runs = database.execute("SELECT number, id, samples FROM runs").fetchall()
            for number, run, samples in runs:
                rows = database.execute(
                    "SELECT sequence, sample_key FROM records WHERE run = ? ORDER BY sequence",
                    [number]).fetchall()
                self.assertEqual([sequence for sequence, _ in rows], list(range(1, samples + 1)))
                lost = set(told.get(run, ())) - {key for _, key in rows}
                self.assertFalse(lost, f"{run} lost {sorted(lost)[:5]} of {samples}")
        self.assertLessEqual(set(told), {run for _, run, _ in runs})


class Killed(StoreCase):
    def told(self):
        return {each.run: list(each.told) for each in self.writers}

    def wait_for_more(self, least):
        before = [len(each.told) for each in self.writers]
        wait_until("every writer is told of more", lambda: all(
            len(each.told) >= had + least for each, had in zip(self.writers, before)))

    def test_nothing_that_was_told_is_lost(self):
        self.writers = [Writer(number) for number in range(WRITERS)]
        backup = self.folder / "backup.db"
        for number in range(ROUNDS):
            server = self.start()
            for writer in self.writers:
                writer.begin(server, f"round-{number}")
            self.wait_for_more(3)
            # By others, who are refused.
            for command in ("PRAGMA wal_checkpoint(TRUNCATE)", f".backup {self.folder / 'other.db'}"):
                self.assertNotEqual(self.shell(command).returncode, 0, command)
            before = self.told()
            done = self.sinkctl(server, "runs", "backup", backup)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.wait_for_more(1 + number % 7)
            server.kill()
            for writer in self.writers:
                writer.end()
            self.keys(backup, before)
            if number % 2:  # and by others, who are not
                done = self.shell("PRAGMA wal_checkpoint(TRUNCATE)")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.keys(self.state / "runs.db", self.told())
        server = self.start()
        server.stop()
        self.keys(self.state / "runs.db", self.told())
        print(f"{ROUNDS} rounds, {sum(len(each) for each in self.told().values())} records told")

    def test_a_backup_is_a_store_again(self):
        server = self.start()
        self.writers = [Writer(0)]
        self.writers[0].begin(server, "before")
        self.wait_for_more(3)
        backup = self.folder / "backup.db"
        before = self.told()
        self.assertEqual(self.sinkctl(server, "runs", "backup", backup).returncode, 0)
        server.kill()
        self.writers[0].end()
        for name in ("runs.db", "runs.db-wal"):
            (self.state / name).unlink(missing_ok=True)
        backup.rename(self.state / "runs.db")
        server = self.start()
        exported = self.sinkctl(server, "runs", "export", "writer-0").stdout
        for key in before["writer-0"]:
            self.assertIn(f'"sampleKey":"{key}"', exported)


class SecondServer(StoreCase):
    def test_is_refused_and_told_of_the_first(self):
        server = self.start()
        done = subprocess.run(
            [Programs.sinkd, "--model-root", self.root.path, "--listen", "127.0.0.1:0",
             "--http-listen", "off", "--state-dir", self.state],
            capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertIn(f"process {server.pid} on {os.uname().nodename} since 2", done.stderr)
        self.assertIn("--state-dir", done.stderr)
        self.assertEqual(self.sinkctl(server, "runs", "list").returncode, 0)
        server.kill()
        self.start().stop()


class Files(StoreCase):
    """What becomes of a client's records when somebody takes the file away under the server."""

    def analyze(self, server, key):
        file = self.folder / "samples.jsonl"
        file.write_text(f'{{"id": "{key}", "token_ids": [0, 5, 6]}}\n')
        return self.sinkctl(server, "detect", TINY, "--input", file, "--run", "run")

    def test_a_deleted_file_is_an_error_and_what_the_server_holds_can_be_saved(self):
        server = self.start()
        self.assertEqual(self.analyze(server, "told").returncode, 0)
        (self.state / "runs.db").unlink()
        done = self.analyze(server, "lost")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("STORE_CHANGED", done.stderr)
        self.assertIn("runs backup", done.stderr)
        backup = self.folder / "backup.db"
        done = self.sinkctl(server, "runs", "backup", backup)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.keys(backup, {"run": ["told"]})

    def test_a_file_that_may_only_be_read_is_an_error_until_it_may_be_written_to(self):
        server = self.start()
        self.assertEqual(self.analyze(server, "told").returncode, 0)
        (self.state / "runs.db").chmod(0o400)
        done = self.analyze(server, "not-told")
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("STORE_CHANGED", done.stderr)
        (self.state / "runs.db").chmod(0o600)
        self.assertEqual(self.analyze(server, "again").returncode, 0)


if __name__ == "__main__":
    main()
