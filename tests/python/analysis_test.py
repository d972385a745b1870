"""Analyses from Python: what was planted is found, inputs of all sorts, tables equal to sinkctl's CSV.

    python -m tests.python.analysis_test BUILD_DIR ORACLE_DIR
"""

import csv
import importlib.util
import io
import json
import os
import subprocess
import tempfile
import unittest
import unittest.mock

import datasets
import numpy as np
import pandas as pd
import sinkd
import yaml
from huggingface_hub.repocard_data import model_index_to_eval_results
from sinkd import export
from sinks.v1 import records_pb2
from sinks.v1.analysis_pb2 import Sample
from tests.e2e import model_root
from tests.e2e.model_root import PLANTED
from tests.e2e.sinkd_process import PATIENCE, Programs, main
from tests.python import client_case
from tests.python.client_case import TEXT, ClientCase, found, planted_ids, samples, wanted

# A score of the oracle's, computed in float32 by transformers, differs by less (tests/e2e/stream_test.py).
SCORE_TOLERANCE = 2e-6
STUDIES = {"align": {}, "pca": {"components": 3}, "cluster": {}, "swap": {"blocks": [9], "loss": True},
           "steer": {"taus": [0, 50]}, "entropy": {}, "norms": {}, "massive": {"per_sample": True},
           "ablate": {"heads": 1, "levels": 1}}


def setUpModule():
    client_case.set_up()


def flags(fields):
    """Keyword arguments as flags of sinkctl."""
    for key, value in fields.items():
        flag = "--" + key.replace("_", "-")
        if value is True:
            yield flag
        else:
            yield from (flag, ",".join(map(str, value)) if isinstance(value, list) else str(value))


class Records(ClientCase):
    def test_what_was_planted_is_found(self):
        rows, planted = planted_ids()
        records = self.client.scores(PLANTED, rows).records
        self.assertEqual([each.sample_id for each in records], list(planted))
        for record in records:
            expected = planted[record.sample_id]
            self.assertEqual(found(record), wanted(expected))
            self.assertAlmostEqual(record.primary.score, expected["primary"]["score"], delta=SCORE_TOLERANCE)

    def test_a_summary_is_that_of_the_records(self):
        analysis = self.client.analyze(PLANTED, samples(), levels=True)
        sinks = [sink for record in analysis for sink in record.sinks]
        self.assertEqual(sum(each.count for each in analysis.summary.levels.counts), len(sinks))
        self.assertEqual(analysis.summary.samples, len(samples()))

    def test_records_taken_one_by_one_are_not_kept(self):
        analysis = self.client.detect(PLANTED, [TEXT, TEXT])
        self.assertEqual(len(list(analysis)), 2)
        with self.assertRaisesRegex(RuntimeError, "read\\(\\) keeps the records"):
            list(analysis)
        with self.assertRaisesRegex(ValueError, "no table 'sinks'"):
            analysis.to_pandas("sinks")

    def test_a_failed_sample_is_told_and_the_others_are_not_lost(self):
        analysis = self.client.detect(PLANTED, [[1, 2, 3], [1 << 30], [4, 5, 6]])
        with self.assertWarnsRegex(sinkd.SampleWarning, "1 sample has no record"):
            self.assertEqual([each.sample_index for each in analysis.records], [0, 2])
        error, = analysis.errors
        self.assertEqual((error.sample_index, error.code, error.reason),
                         (1, "INVALID_ARGUMENT", "TOKEN_ID_OUT_OF_RANGE"))

    def test_without_any_record_the_first_error_is_raised(self):
        with self.assertRaises(sinkd.SampleError) as raised:
            self.client.detect(PLANTED, [1 << 30]).read()
        self.assertEqual(raised.exception.reason, "TOKEN_ID_OUT_OF_RANGE")


class Inputs(ClientCase):
    """However a sample is given, it is the same sample."""

    def check_same(self, source, rows, **options):
        of_rows = self.client.detect(PLANTED, rows).to_pandas()
        pd.testing.assert_frame_equal(self.client.detect(PLANTED, source, **options).to_pandas(), of_rows)

    def test_texts(self):
        for source in (TEXT, [TEXT], (each for each in [TEXT]), {"text": TEXT}, [Sample(text={"text": TEXT})]):
            self.check_same(source, [{"text": TEXT}])

    def test_pairs(self):
        row = next(each for each in samples() if "prompt" in each)
        pair = (row["prompt"], row["response"])
        plain = {"prompt": pair[0], "response": pair[1]}
        self.check_same(pair, [plain])
        self.check_same([pair, pair], [plain, plain])

    def test_chats(self):
        row = next(each for each in samples() if "messages" in each)
        self.check_same(row["messages"], [{"messages": row["messages"]}])
        self.check_same([row["messages"]] * 2, [{"messages": row["messages"]}] * 2)

    def test_token_ids(self):
        for source in ([0, 948, 16], np.array([0, 948, 16]), [[0, 948, 16]], [np.array([0, 948, 16])],
                       np.array([[0, 948, 16]])):
            self.check_same(source, [{"token_ids": [0, 948, 16]}])

    def test_tables(self):
        rows = [each for each in samples() if "text" in each]
        frame = pd.DataFrame(rows)
        self.check_same(frame, rows)
        self.check_same(frame.rename(columns={"text": "body", "id": "key"}), rows,
                        columns={"text": "body", "id": "key"})
        self.check_same(frame.assign(topic="x"), rows)
        split = datasets.Dataset.from_pandas(frame.assign(topic="x"))
        self.check_same(split, rows)
        self.check_same(split.to_iterable_dataset(), rows)
        self.check_same(datasets.Dataset.from_list([{"messages": each["messages"]} for each in samples()
                                                    if "messages" in each]),
                        [{"messages": each["messages"]} for each in samples() if "messages" in each])

    def test_what_is_no_sample_is_refused_before_anything_is_sent(self):
        cases = {
            "a sample cannot be 3": [3, TEXT],
            "'txt' is no parameter; did you mean 'text'": {"txt": "a"},
            "has 2 inputs": {"text": "a", "prompt": "b"},
            "'raw' does not go with 'text'": {"text": "a", "raw": True},
            "half a surrogate pair": "a\ud800",
            "a turn of a chat is": [{"role": "user", "content": "a"}, {"role": "user"}],
            "the id 'aaa": {"id": "a" * 257, "text": "a"},
            "bytes; a message to the server holds at most": "a" * (5 << 20),
            "the table has none: title": pd.DataFrame({"title": ["a"]}),
            "the table has more than one: text, prompt": pd.DataFrame({"text": ["a"], "prompt": ["b"]}),
            "a dataset has splits, train": datasets.DatasetDict(
                {"train": datasets.Dataset.from_dict({"text": ["a"]})}),
        }
        for text, source in cases.items():
            with self.subTest(text), self.assertRaisesRegex((TypeError, ValueError), text):
                self.client.detect(PLANTED, source).read()


class Parameters(ClientCase):
    def test_keywords_are_fields_and_the_server_says_what_it_took(self):
        analysis = self.client.scores(
            PLANTED, TEXT, divisor="all", exclude_self=True, cosine_threshold=0.95, kind_rule="published",
            levels={"min_share": 0.5}, lane="batch").read()
        spec = analysis.started.spec
        self.assertEqual((spec.scores.divisor, spec.scores.exclude_self, spec.detection.cosine_threshold,
                          spec.detection.kind_rule, spec.levels.min_share, spec.lane), (2, True, 0.95, 2, 0.5, 2))

    def test_a_wrong_keyword_or_value_is_named_with_what_is_meant(self):
        cases = {
            "scores: 'curve' is no parameter; did you mean 'curves'": {"curve": True},
            "scores: divisor cannot be 'al'; did you mean 'all'": {"divisor": "al"},
            "scores: curves takes True or False, not 'yes'": {"curves": "yes"},
            "scores: levels takes a LevelParameters": {"levels": 3},
            "scores: levels: 'share' is no parameter": {"levels": {"share": 1}},
            "scores: cosine_threshold takes a number": {"cosine_threshold": "high"},
        }
        for text, fields in cases.items():
            with self.subTest(text), self.assertRaisesRegex((TypeError, ValueError), text):
                self.client.scores(PLANTED, TEXT, **fields)
        with self.assertRaisesRegex(ValueError, "there is no study 'alin'"):
            self.client.study("alin", PLANTED, TEXT)

    def test_the_servers_errors_tell_reason_and_fix(self):
        with self.assertRaises(sinkd.Error) as raised:
            self.client.detect("planted-tabel", TEXT).read()
        self.assertEqual((raised.exception.code, raised.exception.reason), ("NOT_FOUND", "MODEL_NOT_FOUND"))
        self.assertIn("did you mean planted-table?", str(raised.exception))


class Tables(ClientCase):
    """Each DataFrame has the columns, the rows and the values of sinkctl's CSV, to the last bit."""

    def setUp(self):
        super().setUp()
        folder = tempfile.TemporaryDirectory(prefix="sinkd-python-")
        self.addCleanup(folder.cleanup)
        self.input = f"{folder.name}/samples.jsonl"
        self.rows = samples()[:6]
        with open(self.input, "w") as file:
            file.writelines(json.dumps(row) + "\n" for row in self.rows)

    def csv(self, *arguments):
        command = [Programs.sinkctl, "--server", self.server.address, "-o", "csv", *arguments]
        done = subprocess.run([str(each) for each in command], capture_output=True, text=True, check=False,
                              timeout=PATIENCE)
        self.assertEqual(done.returncode, 0, done.stderr)
        return list(csv.DictReader(io.StringIO(done.stdout, newline="")))

    def check(self, frame, rows):
        self.assertGreater(len(rows), 0)
        self.assertEqual(list(frame.columns), list(rows[0]))
        self.assertEqual(len(frame), len(rows))
        for name in frame.columns:
            values = [None if pd.isna(each) else each for each in frame[name]]
            self.assertEqual(values, [self.read(frame[name], row[name]) for row in rows], name)

    @staticmethod
    def read(column, text):
        """The field of a CSV as the column's type has it."""
        if pd.api.types.is_string_dtype(column.dtype):
            return text if text or not column.isna().any() else None
        if text == "":
            return None
        if pd.api.types.is_bool_dtype(column.dtype):
            return {"true": True, "false": False}[text]
        return column.dtype.type(text)

    def test_of_samples(self):
        for name, fields in (("detect", {}), ("scores", {"curves": True})):
            with self.subTest(name):
                frame = getattr(self.client, name)(PLANTED, self.rows, **fields).to_pandas()
                self.check(frame, self.csv(name, PLANTED, "-i", self.input, *flags(fields)))

    def test_of_heads(self):
        frame = self.client.scores(PLANTED, TEXT, all_positions=True, exclude_self=True).to_pandas("heads")
        self.assertTrue(frame["alpha"].isna().any())
        self.check(frame, self.csv("scores", PLANTED, "--text", TEXT, "--all-positions", "--exclude-self"))

    def test_of_summaries(self):
        for name in ("levels", "regress", "compensation", "rate", "heads"):
            with self.subTest(name):
                frame = getattr(self.client, name)(PLANTED, self.rows).to_pandas()
                self.check(frame, self.csv(name, PLANTED, "-i", self.input))

    def test_of_studies(self):
        for name, fields in STUDIES.items():
            with self.subTest(name):
                frame = self.client.study(name, PLANTED, self.rows, **fields).to_pandas()
                self.check(frame, self.csv(name, PLANTED, "-i", self.input, *flags(fields)))

    def test_of_models_plans_and_runs(self):
        self.client.detect(PLANTED, self.rows, run_id="tabled", run_labels={"b": "2", "a": "1"}).read()
        plan = self.client.plan(PLANTED, positions=512)
        models = self.client.models().to_pandas()
        self.check(models, self.csv("models"))
        self.check(self.client.runs().to_pandas(), self.csv("runs", "list"))
        self.check(self.client.run("tabled").to_pandas(), self.csv("runs", "export", "tabled"))
        of_plan = self.csv("plan", PLANTED, "--length", "512")
        # What is free changes from one moment to the next.
        for row in of_plan:
            del row["free_bytes"]
        self.check(plan.to_pandas().drop(columns="free_bytes"), of_plan)
        self.check(plan.to_pandas("tensors"), self.csv("plan", PLANTED, "--tensors"))


class Exports(ClientCase):
    """What other tools read of a run's numbers."""

    def setUp(self):
        super().setUp()
        reports = {"scores": True, "levels": True, "regression": True, "compensation": True, "sink_rate": True}
        self.client.detect(PLANTED, samples(), run_id="exported", run_labels={"branch": "main"}, **reports).read()
        self.run_message = self.client.run("exported").message
        self.summary = self.client.run("exported").summary().message
        self.levels = [sink for each in model_root.planted_records().values() for sink in each["sinks"]
                       if sink["kind"] == "secondary"]

    def test_numbers_are_those_that_were_planted(self):
        found = export.metrics(self.summary)
        self.assertEqual(found["secondary_sinks"], len(self.levels))
        self.assertEqual(found["secondary_per_1000_tokens"], 1000 * len(self.levels) / found["tokens"])
        self.assertEqual(export.metrics(records_pb2.Summary()), {"samples": 0, "tokens": 0})

    def test_a_model_card_holds_them(self):
        text = export.model_index(self.run_message, self.summary, dataset="pro: mpts\n")
        name, results = model_index_to_eval_results(yaml.safe_load(text)["model-index"])
        self.assertEqual(name, PLANTED)
        self.assertEqual({each.metric_type: each.metric_value for each in results}, export.metrics(self.summary))
        self.assertEqual({each.dataset_name for each in results}, {"pro: mpts\n"})
        section = export.model_card(self.run_message, self.summary, dataset="<b>|`x`")
        self.assertIn(f"| secondary sinks | {len(self.levels)} |", section)
        self.assertNotIn("<b>", section)

    @unittest.skipUnless(importlib.util.find_spec("mlflow"), "MLflow is not installed")
    def test_mlflow_reads_them(self):
        from mlflow import MlflowClient
        os.environ["MLFLOW_ALLOW_FILE_STORE"] = "true"
        with tempfile.TemporaryDirectory(prefix="sinkd-mlflow-") as folder:
            where = {"tracking_uri": f"file:{folder}/mlruns"}
            made = [export.to_mlflow(self.run_message, self.summary, **where) for _ in range(2)]
            data = MlflowClient(**where).get_run(made[1]).data
        self.assertEqual(data.metrics, export.metrics(self.summary))
        self.assertEqual(data.params, {"model": f"models/{PLANTED}", "sinkd_run": "runs/exported"})
        self.assertEqual(data.tags["sinkd.branch"], "main")


class RunsAndAudits(ClientCase):
    POLICY = "name: few\nrules:\n  - {name: sinks, measure: secondary_per_1000_tokens, at_most: %s, min_samples: 5}\n"

    def test_a_run_holds_the_records_and_is_resumed(self):
        rows, planted = planted_ids()
        first = self.client.scores(PLANTED, rows[:5], run_id="resumed", levels=True).read()
        self.assertEqual(first.left_out, 0)
        rest = self.client.scores(PLANTED, rows, run_id="resumed", levels=True, resume=True).read()
        self.assertEqual((rest.left_out, len(rest.records)), (5, len(rows) - 5))
        run = self.client.run("resumed")
        self.assertEqual({each.sample_id: found(each) for each in run.records()},
                         {key: wanted(each) for key, each in planted.items()})
        whole = self.client.scores(PLANTED, rows, levels=True).read()
        self.assertEqual(rest.summary.message, whole.summary.message)
        self.assertEqual(run.summary().message, whole.summary.message)

    def test_names_of_nameless_samples_are_those_of_sinkctl(self):
        self.client.detect(PLANTED, [TEXT], run_id="named").read()
        command = [Programs.sinkctl, "--server", self.server.address, "detect", PLANTED, "--text", TEXT, "--run",
                   "named", "--resume"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.assertIn("1 sample of the input was in run named before and was not sent", done.stderr)

    def test_a_study_of_a_run_stays_with_it(self):
        self.client.detect(PLANTED, samples(), run_id="studied").read()
        study = self.client.study("entropy", PLANTED, run="studied")
        kept, = self.client.run("studied").studies()
        self.assertEqual(kept.message, study.message)
        pd.testing.assert_frame_equal(kept.to_pandas(), study.to_pandas())

    def test_runs_are_judged(self):
        self.client.analyze(PLANTED, samples(), levels=True, run_id="judged",
                            run_labels={"gate": "yes"}).read()
        self.assertTrue(self.client.audit(self.POLICY % 900, "judged").passed)
        failed = self.client.audit(self.POLICY % 0, "judged")
        self.assertFalse(failed.passed)
        self.assertEqual(failed.to_pandas()["verdict"].tolist(), ["fail"])
        of_filter = self.client.audit(self.POLICY % 0, {"model": PLANTED, "labels": {"gate": "yes"}})
        self.assertEqual(of_filter.candidate_runs, ["runs/judged"])

    def test_runs_are_completed_opened_and_deleted(self):
        self.client.detect(PLANTED, TEXT, run_id="brief").read()
        run = self.client.run("brief")
        self.assertEqual(run.state, 2)
        run.reopen()
        self.assertEqual(run.state, 1)
        run.delete()
        self.assertNotIn("runs/brief", [each.name for each in self.client.runs()])


class Models(ClientCase):
    def test_a_model_is_unloaded_and_loaded_with_progress(self):
        self.assertEqual(self.client.unload(PLANTED).state, 1)
        seen = []
        model = self.client.load(PLANTED, progress=lambda each: seen.append((each.bytes_done, each.bytes_total)))
        self.assertEqual((model.state, model.name), (3, f"models/{PLANTED}"))
        self.assertEqual(seen[-1][0], seen[-1][1])

    def test_another_version_of_the_server_is_told(self):
        with unittest.mock.patch("sinkd.calls.VERSION", "9.1.0"):
            with self.assertWarnsRegex(sinkd.VersionWarning, "this package 9.1.0"):
                sinkd.connect(self.server.address).close()

    def test_who_does_not_answer_is_told_at_once(self):
        with self.assertRaises(sinkd.Error) as raised:
            sinkd.connect("127.0.0.1:1", timeout=5)
        self.assertEqual(raised.exception.code, "UNAVAILABLE")


if __name__ == "__main__":
    main()
