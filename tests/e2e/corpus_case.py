"""What tests of corpora share: samples in numbers, servers of the planted model, and clients that
read their samples from a pipe, so that a test decides how far they get."""

import hashlib
import json
import pathlib
import subprocess
import tempfile
import unittest

from tests.e2e import model_root
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess

ANALYSES = ("--levels", "--scores", "--regress", "--compensation", "--rate")


def corpus(copies):
    """Every planted sample, many times with other last tokens."""
    for copy in range(copies):
        for record in model_root.planted_records().values():
            yield {"id": f"{record['sample_id']}-{copy}",
                   "token_ids": record["token_ids"] + [5 + copy % 7] * (copy % 11),
                   "chat_rendered": record["chat_rendered"]}


def shard_of(sample_id, count):
    return int.from_bytes(hashlib.sha256(sample_id.encode()).digest()[:8], "big") % count


class Client:
    """A sinkctl that takes its samples from a pipe."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True)
        self.records = []
        self.lines = []

    def send(self, samples):
        for each in samples:
            self.process.stdin.write(json.dumps(each) + "\n")
        self.process.stdin.flush()

    def read_record(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))
            if self.lines[-1]["type"] == "record":
                self.records.append(self.lines[-1]["record"])
                return self.records[-1]
        raise AssertionError("sinkctl ended: " + self.process.stderr.read())

    def finish(self):
        """(exit code, what it said)."""
        self.process.stdin.close()
        for line in self.process.stdout:
            self.lines.append(json.loads(line))
            if self.lines[-1]["type"] == "record":
                self.records.append(self.lines[-1]["record"])
        said = self.process.stderr.read()
        return self.process.wait(PATIENCE), said

    def kill(self):
        self.process.kill()
        self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        for each in (self.process.stdout, self.process.stderr):
            each.close()
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass


class CorpusCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-corpus-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = ModelRoot()
        self.addCleanup(self.root.cleanup)
        self.root.link(PLANTED, model_root.planted())
        self.servers = []
        self.addCleanup(lambda: [each.stop() for each in self.servers])

    def start(self, *flags, load=(PLANTED,), **options):
        server = SinkdProcess(self.root.path, "--read-ahead", 4, *flags, load=load, **options)
        self.servers.append(server)
        return server

    def kill(self, server):
        """Its address, at which nobody answers any more."""
        self.servers.remove(server)
        server.kill()
        return server.address

    def addresses(self):
        return ",".join(each.address for each in self.servers)

    def busy(self):
        """The servers that hold a stream."""
        return [each for each in self.servers if each.metric("sinkd_streams_in_flight") > 0]

    def write(self, name, values):
        file = self.folder / name
        file.write_text("".join(json.dumps(value) + "\n" for value in values))
        return file

    def command(self, servers, *arguments):
        return [str(each) for each in (Programs.sinkctl, "--server", servers, *arguments)]

    def sinkctl(self, servers, *arguments, code=0, **options):
        """(standard output, standard error)."""
        done = subprocess.run(self.command(servers, *arguments), capture_output=True, text=True,
                              timeout=PATIENCE, check=False, **options)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout, done.stderr

    def analyze(self, servers, *arguments, **options):
        out, said = self.sinkctl(servers, "analyze", PLANTED, *ANALYSES, "-o", "json", *arguments,
                                 **options)
        return json.loads(out), said

    def client(self, servers, *arguments):
        client = Client(self.command(servers, "analyze", PLANTED, *ANALYSES, "-o", "jsonl",
                                     *arguments))
        self.addCleanup(client.close)
        return client
