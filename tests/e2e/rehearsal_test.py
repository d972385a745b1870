"""A corpus in eight shards over three servers and one PostgreSQL. Two shards are killed and tried
again, a server is killed and comes back: the summary is that of one stream on one machine.

    python -m tests.e2e.rehearsal_test BUILD_DIR ORACLE_DIR
"""

import json
import random
import unittest

from tests.e2e.corpus_case import CorpusCase, corpus, shard_of
from tests.e2e.postgres_process import PostgresProcess
from tests.e2e.sinkd_process import main, wait_until

SHARDS = 8
SEED = 20


class Rehearsal(CorpusCase):
    def setUp(self):
        super().setUp()
        self.random = random.Random(SEED)
        self.samples = list(corpus(8))
        self.file = self.write("corpus.jsonl", self.samples)
        alone = self.start()
        self.expected = self.analyze(alone.address, "-i", self.file)[0]["summary"]
        self.servers.remove(alone)
        alone.stop()
        postgres = PostgresProcess()
        self.addCleanup(postgres.stop)
        self.flags = ("--store", postgres.url)
        for _ in range(3):
            self.start(*self.flags)

    def shard(self, index):
        """A client that has read half of the corpus and told of its first records."""
        client = self.client(self.addresses(), "--records", "--run", "nightly", "--resume",
                             "--shard", f"{index}/{SHARDS}")
        half = self.samples[:len(self.samples) // 2]
        client.send(half)
        most = sum(shard_of(each["id"], SHARDS) == index for each in half)
        for _ in range(self.random.randint(1, most)):
            client.read_record()
        return client

    def test_the_summary_is_that_of_one_machine(self):
        clients = [self.shard(index) for index in range(SHARDS)]
        killed = self.random.sample(range(SHARDS), 2)
        for index in killed:
            clients[index].kill()
        busy = self.random.choice(wait_until("a server is busy", self.busy))
        address = self.kill(busy)

        for index, client in enumerate(clients):
            if index not in killed:
                client.send(self.samples[len(self.samples) // 2:])
        self.start(*self.flags, listen=address)
        for index in killed:
            told, _ = self.analyze(self.addresses(), "-i", self.file, "--run", "nightly",
                                   "--resume", "--shard", f"{index}/{SHARDS}", "--no-records")
            self.assertEqual((told["results"], told.get("summary")), ([], None))
        taken_up = 0
        for index, client in enumerate(clients):
            if index in killed:
                continue
            code, said = client.finish()
            self.assertEqual(code, 0, said)
            taken_up += "resuming the run" in said
            self.assertNotIn("summary", [each["type"] for each in client.lines])
            ids = [each["sampleId"] for each in client.records]
            self.assertEqual(ids, [each["id"] for each in self.samples
                                   if shard_of(each["id"], SHARDS) == index])
        self.assertGreater(taken_up, 0)

        self.sinkctl(self.addresses(), "runs", "complete", "nightly")
        run = json.loads(self.sinkctl(self.addresses(), "runs", "show", "nightly", "-o", "json")[0])
        self.assertEqual(int(run["samples"]), len(self.samples))
        out, _ = self.sinkctl(self.addresses(), "runs", "summarize", "nightly", "-o", "json")
        self.assertEqual(json.loads(out)["summaries"][0]["summary"], self.expected)


if __name__ == "__main__":
    main()
