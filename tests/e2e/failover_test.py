"""Several servers behind one `--server`: one that dies costs nothing but time.

    python -m tests.e2e.failover_test BUILD_DIR ORACLE_DIR
"""

import json
import subprocess
import unittest

from tests.e2e.corpus_case import ANALYSES, CorpusCase, corpus
from tests.e2e.model_root import PLANTED
from tests.e2e.postgres_process import PostgresProcess
from tests.e2e.sinkd_process import PATIENCE, main, wait_until

DEAD = "127.0.0.1:1"  # nobody listens


class WithoutARun(CorpusCase):
    """The corpus is more than what pipes and windows hold, so that a client whose output is not
    read stays in the middle of it."""

    def setUp(self):
        super().setUp()
        self.start(), self.start()
        self.samples = list(corpus(12))
        self.file = self.write("corpus.jsonl", self.samples)

    def lines(self, text):
        lines = [json.loads(line) for line in text.splitlines()]
        return [each for each in lines if each["type"] != "started"]  # it tells of the request

    def kill_under(self, *arguments):
        """What a client writes and says whose server dies after its first record."""
        client = self.client(self.addresses(), *arguments)
        client.read_record()
        busy = wait_until("a server is busy", self.busy)
        self.assertEqual(len(busy), 1)
        self.kill(busy[0])
        code, said = client.finish()
        self.assertEqual(code, 0, said)
        self.assertIn("starting over", said)
        return [each for each in client.lines if each["type"] != "started"]

    def test_the_output_is_that_of_an_unbroken_stream(self):
        arguments = ("--records", "-i", self.file)
        unbroken, _ = self.sinkctl(self.servers[0].address, "analyze", PLANTED, *ANALYSES, "-o",
                                   "jsonl", *arguments)
        self.assertGreater(len(unbroken), 1 << 19)
        self.assertEqual(self.kill_under(*arguments), self.lines(unbroken))

    def test_bad_lines_and_failed_samples_are_told_once(self):
        lines = [json.dumps(each) for each in self.samples]
        lines.insert(0, "{no sample")
        lines.insert(1, json.dumps({"id": "failing", "token_ids": [1 << 30]}))
        self.file.write_text("\n".join(lines))
        client = self.client(self.addresses(), "--records", "-i", self.file)
        client.read_record()
        self.kill(wait_until("a server is busy", self.busy)[0])
        code, said = client.finish()
        self.assertEqual(code, 4, said)
        self.assertIn("starting over", said)
        kinds = [each["type"] for each in client.lines]
        self.assertEqual(kinds.count("record"), len(self.samples))
        self.assertEqual(said.count("corpus.jsonl:1:"), 1)
        self.assertEqual(said.count('corpus.jsonl:2 ("failing")'), 1)

    def test_samples_from_a_pipe_cannot_be_had_again(self):
        client = self.client(self.addresses(), "--records")
        client.send(self.samples[:3])
        client.read_record()
        self.kill(self.busy()[0])
        code, said = client.finish()
        self.assertEqual(code, 3, said)


class WithARun(CorpusCase):
    def test_another_server_of_the_store_takes_the_run_up(self):
        postgres = PostgresProcess()
        self.addCleanup(postgres.stop)
        for _ in range(3):
            self.start("--store", postgres.url)
        samples = list(corpus(3))
        file = self.write("corpus.jsonl", samples)
        whole, _ = self.analyze(self.addresses(), "-i", file, "--run", "whole")
        client = self.client(self.addresses(), "--records", "--run", "nightly")
        client.send(samples[:7])
        for _ in range(5):
            client.read_record()
        self.kill(self.busy()[0])
        client.send(samples[7:])
        code, said = client.finish()
        self.assertEqual(code, 0, said)
        self.assertIn("resuming the run", said)
        self.assertEqual([each["sampleId"] for each in client.records],
                         [each["id"] for each in samples])
        summary = next(each["summary"] for each in client.lines if each["type"] == "summary")
        self.assertEqual(summary, whole["summary"])

    def test_a_server_with_another_store_is_no_help_and_says_so(self):
        self.start(), self.start()
        client = self.client(self.addresses(), "--records", "--run", "nightly")
        client.send(list(corpus(1))[:2])
        client.read_record()
        self.kill(self.busy()[0])
        code, said = client.finish()
        self.assertEqual(code, 4, said)
        self.assertIn("servers that share their work must share one store", said)


class Addresses(CorpusCase):
    def test_names_and_numbers_may_be_mixed_and_some_dead(self):
        server = self.start()
        port = server.address.rsplit(":", 1)[1]
        for servers in (f"{DEAD},localhost:{port}", f"localhost:{port},unknown.invalid:{port}",
                        f"dns:///localhost:{port}", f"ipv4:{DEAD},{server.address}"):
            out, _ = self.sinkctl(servers, "models", "-o", "json")
            self.assertEqual(len(json.loads(out)["models"]), 1)

    def test_flags_add_up_and_the_environment_may_hold_a_list(self):
        server = self.start()
        out, _ = self.sinkctl(DEAD, "--server", server.address, "models", "--names")
        self.assertEqual(out.strip(), PLANTED)
        program, *_ = self.command("")
        done = subprocess.run([program, "models", "--names"], capture_output=True, text=True,
                              env={"SINKCTL_SERVER": f"{DEAD},{server.address}"}, timeout=PATIENCE,
                              check=False)
        self.assertEqual((done.returncode, done.stdout.strip()), (0, PLANTED), done.stderr)

    def test_all_dead_is_told_at_once(self):
        _, said = self.sinkctl(f"{DEAD},127.0.0.1:2", "detect", PLANTED, "--text", "a", code=3)
        self.assertIn(f"cannot reach {DEAD},127.0.0.1:2", said)

    def test_a_server_that_lacks_the_model_is_named(self):
        server = self.start(load=())
        _, said = self.sinkctl(f"{DEAD},{server.address}", "detect", PLANTED, "--text", "a", code=4)
        self.assertIn("MODEL_NOT_LOADED", said)
        self.assertIn(f"the server that answered is ipv4:{server.address}", said)


if __name__ == "__main__":
    main()
