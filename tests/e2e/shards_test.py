"""Shards of a corpus: any number of them gives the same union, whatever the input looks like.

    python -m tests.e2e.shards_test BUILD_DIR ORACLE_DIR
"""

import collections
import json
import random
import unittest

from tests.e2e.corpus_case import CorpusCase, corpus, shard_of
from tests.e2e.model_root import PLANTED
from tests.e2e.sinkd_process import main


class Shards(CorpusCase):
    def setUp(self):
        super().setUp()
        self.server = self.start()

    def ids(self, *arguments, **options):
        """The ids that an analysis answers, in its order."""
        out, _ = self.sinkctl(self.server.address, "detect", PLANTED, "-o", "jsonl", *arguments,
                              **options)
        lines = map(json.loads, out.splitlines())
        return [each["record"].get("sampleId") for each in lines if each["type"] == "record"]

    def test_every_sample_is_in_the_shard_that_its_hash_names(self):
        samples = list(corpus(2))
        ids = [each["id"] for each in samples]
        file = self.write("corpus.jsonl", samples)
        for count in (1, 3, 8):
            for index in range(count):
                expected = [each for each in ids if shard_of(each, count) == index]
                self.assertEqual(self.ids("-i", file, "--shard", f"{index}/{count}"), expected)

    def test_it_does_not_matter_where_a_sample_stands_and_in_which_input(self):
        samples = list(corpus(1))
        whole = collections.Counter(
            self.ids("-i", self.write("whole.jsonl", samples), "--shard", "1/3"))
        random.Random(3).shuffle(samples)
        half = len(samples) // 2
        parts = [self.write("a.jsonl", samples[:half]), self.write("b.jsonl", samples[half:])]
        self.assertEqual(collections.Counter(
            self.ids("-i", parts[0], "-i", parts[1], "--shard", "1/3")), whole)
        both = parts[1].read_text() + parts[0].read_text()
        self.assertEqual(collections.Counter(self.ids("--shard", "1/3", input=both)), whole)
        self.assertGreater(len(whole), 0)

    def test_lines_of_text_are_taken_by_what_they_hold(self):
        texts = [f"a small garden behind house {number}" for number in range(20)]
        file = self.folder / "texts.txt"
        file.write_text("\n".join(texts) + "\n")
        shuffled = self.folder / "shuffled.txt"
        shuffled.write_text("\n".join(reversed(texts)) + "\n")
        for index in range(4):
            keys = []
            for name, each in ((f"in-order-{index}", file), (f"shuffled-{index}", shuffled)):
                self.analyze(self.server.address, "--run", name, "--lines", "-i", each, "--shard",
                             f"{index}/4")
                exported = self.sinkctl(self.server.address, "runs", "export", name)[0]
                keys.append(sorted(json.loads(line)["storedRecord"]["sampleKey"]
                                   for line in exported.splitlines()[1:]))
            self.assertEqual(*keys)
        out, _ = self.sinkctl(self.server.address, "runs", "list", "-o", "json")
        counts = [int(each["samples"]) for each in json.loads(out)["runs"]]
        self.assertEqual(sum(counts), 2 * len(texts))

    def test_a_line_that_cannot_be_read_is_told_by_one_shard(self):
        samples = self.write("corpus.jsonl", corpus(1)).read_text()
        said = []
        for index in range(3):
            code = 2 if index == self.shard_of_bad_line(samples) else 0
            _, each = self.analyze(self.server.address, "--shard", f"{index}/3", code=code,
                                   input="{no sample\n" + samples)
            said.append("standard input:1" in each)
        self.assertEqual(said.count(True), 1)

    def shard_of_bad_line(self, samples):
        _, said = self.analyze(self.server.address, code=2, input="{no sample\n" + samples)
        line = next(each for each in said.splitlines() if "standard input:1" in each)
        return shard_of(line.removeprefix("sinkctl: "), 3)

    def test_an_empty_shard_is_no_error_and_says_what_there_is(self):
        file = self.write("one.jsonl", [{"id": "a", "token_ids": [0, 5, 6]}])
        other = (shard_of("a", 5) + 1) % 5
        _, said = self.analyze(self.server.address, "-i", file, "--shard", f"{other}/5")
        self.assertIn(f"1 sample of the input is of other shards than {other}/5", said)

    def test_shards_that_cannot_be_are_refused(self):
        for text in ("8/8", "1/0", "three", "-1/3", "0/100001"):
            _, said = self.sinkctl(self.server.address, "detect", PLANTED, f"--shard={text}",
                                   code=2)
            self.assertIn(f'"{text}" is not INDEX/COUNT', said)

    def test_a_run_of_shards_stays_open_and_sums_up_as_if_it_were_one(self):
        file = self.write("corpus.jsonl", corpus(2))
        whole, _ = self.analyze(self.server.address, "-i", file, "--run", "whole")
        order = list(range(5))
        random.Random(4).shuffle(order)
        for index in order:
            self.analyze(self.server.address, "-i", file, "--run", "nightly", "--shard",
                         f"{index}/5", "--resume")
        show = json.loads(self.sinkctl(self.server.address, "runs", "show", "nightly", "-o",
                                       "json")[0])
        self.assertEqual(show["state"], "RUN_STATE_OPEN")
        self.sinkctl(self.server.address, "runs", "complete", "nightly")
        out, _ = self.sinkctl(self.server.address, "runs", "summarize", "nightly", "-o", "json")
        self.assertEqual(json.loads(out)["summaries"][0]["summary"], whole["summary"])


if __name__ == "__main__":
    main()
