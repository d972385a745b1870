"""Runs that are kept: whoever dies, client or server, loses no record that was told, and what is
taken up afterwards sums up as if nothing had happened.

    python -m tests.e2e.runs_test BUILD_DIR ORACLE_DIR
"""

import collections
import json
import pathlib
import subprocess
import tempfile
import unittest

from tests.e2e import model_root
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.published_rows import published_rows
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main, wait_until

ANALYSES = ("--levels", "--scores", "--regress", "--compensation", "--rate")
COPIES = 3  # of the planted samples, each a sample of its own


def planted_samples():
    """Every planted sample, many times with another last token."""
    for copy in range(COPIES):
        for record in model_root.planted_records().values():
            yield {"id": f"{record['sample_id']}-{copy}",
                   "token_ids": record["token_ids"] + [5] * copy,
                   "chat_rendered": record["chat_rendered"]}


class RunsCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-runs-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.root = ModelRoot()
        self.addCleanup(self.root.cleanup)
        self.root.link(PLANTED, model_root.planted())
        self.server = self.start()
        self.addCleanup(lambda: self.server.stop())

    def start(self, *flags, **options):
        return SinkdProcess(self.root.path, "--read-ahead", 8, *flags, load=[PLANTED],
                            state=self.folder / "state", **options)

    def write(self, name, values):
        file = self.folder / name
        file.write_text("".join(json.dumps(value) + "\n" for value in values))
        return file

    def command(self, *arguments):
        return [str(each) for each in (Programs.sinkctl, "--server", self.server.address, *arguments)]

    def sinkctl(self, *arguments):
        """(standard output, standard error) of a call that succeeds."""
        done = subprocess.run(self.command(*arguments), capture_output=True, text=True,
                              timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout, done.stderr

    def analyze(self, run, file, *flags):
        out, said = self.sinkctl("analyze", PLANTED, *ANALYSES, "--input", file, "--run", run, "-o",
                                 "json", *flags)
        return json.loads(out), said

    def begin(self, run, file, *flags):
        """A client at work, of which the first records have been read."""
        process = subprocess.Popen(
            self.command("analyze", PLANTED, *ANALYSES, "--input", file, "--run", run, "-o", "jsonl",
                         *flags),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for each in (process.stderr.close, process.stdout.close, process.wait, process.kill):
            self.addCleanup(each)  # undone last to first
        lines = []
        for line in process.stdout:
            lines.append(json.loads(line))
            if len(lines) == 6:
                break
        return process, lines

    def run_of(self, name):
        return json.loads(self.sinkctl("runs", "show", name, "-o", "json")[0])

    def keys(self, name):
        lines = self.sinkctl("runs", "export", name)[0].splitlines()[1:]
        return [json.loads(line)["storedRecord"]["sampleKey"] for line in lines]


class BrokenStreams(RunsCase):
    """Summaries are compared as JSON, number by number to the last digit."""

    unbroken = None  # the summary of a stream that nothing broke

    def setUp(self):
        super().setUp()
        self.samples = list(planted_samples())
        self.file = self.write("samples.jsonl", self.samples)
        if self.unbroken is None:
            BrokenStreams.unbroken = self.analyze("unbroken", self.file)[0]["summary"]

    def check_resumed(self, run):
        held = len(self.keys(run))
        self.assertGreater(held, 0)
        self.assertLess(held, len(self.samples))
        answer, said = self.analyze(run, self.file, "--resume")
        self.assertEqual(answer["summary"], self.unbroken)
        self.assertEqual(answer["outcome"]["samplesSent"], len(self.samples) - held)
        self.assertIn(f"{held} sample", said)
        self.assertEqual(self.run_of(run)["state"], "RUN_STATE_COMPLETE")
        self.assertEqual(self.keys(run), [each["id"] for each in self.samples])

    def test_a_killed_client_loses_nothing_it_was_told(self):
        process, lines = self.begin("run", self.file)
        process.kill()
        told = [each["record"]["sampleId"] for each in lines if each["type"] == "record"]
        self.server.wait_until_free()
        self.assertEqual(self.keys("run")[:len(told)], told)
        self.assertEqual(self.run_of("run")["state"], "RUN_STATE_OPEN")
        self.check_resumed("run")

    def test_a_killed_server_loses_nothing_it_told(self):
        process, lines = self.begin("run", self.file)
        self.server.kill()
        process.kill()
        told = [each["record"]["sampleId"] for each in lines if each["type"] == "record"]
        self.server = self.start()
        self.assertEqual(self.keys("run")[:len(told)], told)
        self.check_resumed("run")

    def test_a_client_takes_up_the_run_by_itself_when_the_server_comes_back(self):
        process, lines = self.begin("run", self.file)
        address = self.server.address
        self.server.kill()
        self.server = self.start(listen=address)
        # communicate() would miss what reading the first lines has buffered.
        lines += [json.loads(line) for line in process.stdout]
        said = process.stderr.read()
        self.assertEqual(process.wait(PATIENCE), 0, said)
        self.assertIn("resuming the run", said)
        kinds = collections.Counter(each["type"] for each in lines)
        self.assertEqual(kinds, {"started": 1, "record": len(self.samples), "summary": 1,
                                 "outcome": 1})
        records = [each["record"] for each in lines if each["type"] == "record"]
        self.assertEqual([each["sampleId"] for each in records],
                         [each["id"] for each in self.samples])
        self.assertEqual([int(each["sampleIndex"]) for each in records],
                         list(range(len(self.samples))))
        self.assertEqual(lines[-2]["summary"], self.unbroken)

    def test_all_samples_sent_again_count_once_and_run_no_more(self):
        self.analyze("run", self.file)
        forwards = self.forwards()
        answer, _ = self.analyze("run", self.file)
        self.assertEqual(self.forwards(), forwards)
        self.assertEqual(answer["summary"], self.unbroken)
        self.assertEqual(len(answer["results"]), len(self.samples))

    def test_with_nothing_left_to_send_the_summary_comes_all_the_same(self):
        self.analyze("run", self.file)
        answer, said = self.analyze("run", self.file, "--resume")
        self.assertEqual(answer["summary"], self.unbroken)
        self.assertEqual(answer["outcome"]["samplesSent"], 0)
        self.assertIn("were not sent", said)

    def forwards(self):
        return self.server.metric("sinkd_sample_phase_duration_seconds_count", phase="forward")


class Kept(RunsCase):
    def test_the_same_id_with_another_text_is_an_error_or_takes_its_place(self):
        first = self.write("first.jsonl", [{"id": "a", "text": "a small garden"},
                                           {"id": "b", "text": "behind the house"}])
        self.analyze("run", first)
        mended = self.write("mended.jsonl", [{"id": "a", "text": "a small garden"},
                                             {"id": "b", "text": "behind the large house"},
                                             {"id": "c", "text": "noon"}, {"id": "c", "text": "one"}])
        for flags in ([], ["--resume"]):
            done = subprocess.run(
                self.command("analyze", PLANTED, *ANALYSES, "--input", mended, "--run", "run", *flags),
                capture_output=True, text=True, timeout=PATIENCE, check=False)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertEqual(done.stderr.count("SAMPLE_DIFFERS"), 2, done.stderr)
            self.assertIn("mended.jsonl:2", done.stderr)
            self.assertIn("the first at " + str(mended) + ":4", done.stderr)
        answer, _ = self.analyze("run", mended, "--resume", "--replace")
        self.assertEqual(answer["outcome"]["samplesSent"], 2)
        self.assertEqual(self.keys("run"), ["a", "b", "c"])
        wanted, _ = self.analyze("wanted", self.write("wanted.jsonl", [
            {"id": "a", "text": "a small garden"}, {"id": "b", "text": "behind the large house"},
            {"id": "c", "text": "one"}]))
        self.assertEqual(answer["summary"], wanted["summary"])

    def test_samples_without_a_name_get_one_from_what_they_hold(self):
        texts = [{"text": "a small garden"}, {"text": "behind the house"}, {"text": "a small garden"}]
        answer, _ = self.analyze("run", self.write("texts.jsonl", texts))
        self.assertEqual(answer["summary"]["samples"], "2")
        again, said = self.analyze("run", self.write("more.jsonl", texts[:1] + [{"text": "noon"}]),
                                   "--resume")
        self.assertEqual(again["summary"]["samples"], "3")
        self.assertIn("1 sample of the input was", said)

    def test_exported_records_come_in_again(self):
        self.analyze("run", self.write("samples.jsonl", planted_samples()))
        exported = self.folder / "run.jsonl"
        exported.write_text(self.sinkctl("runs", "export", "run", "--token-ids")[0])
        self.sinkctl("runs", "import", "copy", exported)
        copy = self.sinkctl("runs", "export", "copy", "--token-ids")[0]
        self.assertEqual(copy.splitlines()[1:], exported.read_text().splitlines()[1:])
        summaries = json.loads(self.sinkctl(
            "runs", "summarize", "run", "copy", "--by", "run", "-o", "json")[0])["summaries"]
        self.assertEqual(summaries[0]["summary"], summaries[1]["summary"])

    def test_rows_as_published_give_the_levels_that_were_planted(self):
        rows, planted = published_rows()
        config = json.loads((model_root.planted() / "config.json").read_text())
        self.sinkctl("runs", "import", "rows", self.write("rows.jsonl", rows), "--model", "elsewhere",
                     "--layers", config["num_hidden_layers"], "--kind-rule", "window")
        out, _ = self.sinkctl("runs", "summarize", "rows", "-o", "json")
        summary = json.loads(out)["summaries"][0]["summary"]
        counts = {(each["lStart"], each["lifetime"], each["kind"].removeprefix("SINK_KIND_").lower()):
                  int(each["count"]) for each in summary["levels"]["counts"]}
        self.assertEqual(summary["samples"], str(len(rows)))
        self.assertGreater(len(planted), 5)
        self.assertEqual(counts, planted)

    def test_runs_are_completed_listed_and_deleted(self):
        file = self.write("one.jsonl", [{"id": "a", "token_ids": [0, 5, 6]}])
        self.analyze("kept-open", file, "--keep-open", "--label", "branch=main")
        self.assertEqual(self.run_of("kept-open")["state"], "RUN_STATE_OPEN")
        self.sinkctl("runs", "complete", "kept-open")
        self.assertEqual(self.run_of("kept-open")["state"], "RUN_STATE_COMPLETE")
        self.analyze("other", file)
        listed = self.sinkctl("runs", "list", "--names")[0].split()
        self.assertEqual(listed, ["other", "kept-open"])
        self.assertEqual(self.sinkctl("runs", "list", "--names", "--label", "branch=main")[0],
                         "kept-open\n")
        self.sinkctl("runs", "delete", "other", "kept-open")
        self.assertEqual(self.sinkctl("runs", "list", "--names")[0], "")


class Stores(RunsCase):
    def test_old_runs_are_removed_at_the_start(self):
        file = self.write("one.jsonl", [{"id": "a", "token_ids": [0, 5, 6]}])
        self.analyze("complete", file)
        self.analyze("open", file, "--keep-open")
        self.server.stop()
        self.server = self.start("--retain-age", "0s")
        wait_until("old runs are removed", lambda: (
            self.sinkctl("runs", "list", "--names")[0] == "open\n"))

    def test_a_server_without_a_store_says_so(self):
        self.server.stop()
        self.server = self.start("--store", "off")
        answer, said = self.analyze("run", self.write("one.jsonl", [{"token_ids": [0, 5, 6]}]))
        self.assertIn("run run is not kept", said)
        self.assertNotIn("storedSamples", answer["started"])
        self.assertEqual(answer["started"]["spec"]["runId"], "run")
        self.assertIn("the run is not kept", self.server.log())
        refused = subprocess.run(self.command("runs", "list"), capture_output=True, text=True,
                                 timeout=PATIENCE, check=False)
        self.assertEqual(refused.returncode, 4)
        self.assertIn("STORE_OFF", refused.stderr)

    def start_fails(self, *flags):
        done = subprocess.run(
            [str(each) for each in (Programs.sinkd, "--model-root", self.root.path, "--listen",
                                    "127.0.0.1:0", "--http-listen", "off", *flags)],
            capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 1, done.stderr)
        return done.stderr

    def test_a_store_that_cannot_be_opened_stops_the_start(self):
        damaged = self.folder / "damaged"
        damaged.mkdir()
        (damaged / "runs.db").write_bytes(b"no database" * 1000)
        self.assertIn(str(damaged / "runs.db"), self.start_fails("--state-dir", damaged))
        self.assertIn("/dev/null/x", self.start_fails("--state-dir", "/dev/null/x"))

    def test_no_password_comes_into_the_log(self):
        url = self.folder / "url"
        url.write_text("postgresql://sinkd:hunter2@127.0.0.1:1/runs\n")
        said = self.start_fails("--store-url-file", url)
        self.assertIn("cannot serve", said)
        self.assertNotIn("hunter2", said)


if __name__ == "__main__":
    main()
