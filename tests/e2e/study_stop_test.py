"""A study that is cancelled frees the device at once; one that runs out of time says what it has.

    python -m tests.e2e.study_stop_test BUILD_DIR ORACLE_DIR
"""

import unittest

import grpc

from tests.e2e import model_root
from tests.e2e.calls import Failure, analyze, described, expected, planted, spec
from tests.e2e.model_root import PLANTED
from tests.e2e.sinkd_process import main, wait_until
from tests.e2e.study_calls import RUN_STUDY, open_study, read, request, run_study
from tests.e2e.study_case import Setting, set_up
from tests.oracle.edited_model import Sample

# One sample and every block and site: one step of minutes.
LONG = {"swap": {"blocks": range(30), "controls_per_sample": 1000, "loss": True}}


def setUpModule():
    set_up(f"planted/{PLANTED}")


class Stopping(unittest.TestCase):
    def setUp(self):
        self.server, self.channel = Setting.server, Setting.server.channel
        self.planted = model_root.planted_records()
        # Long ones are too long to be run with another.
        self.long = [Sample(tuple(self.planted["text-60"]["token_ids"]))] * 5
        self.short = [Sample(tuple(self.planted["text-8"]["token_ids"]))] * 3

    def handled(self, code):
        page = self.server.metrics()
        return page.get(("sinkd_rpc_handled_total", (("code", code), ("method", RUN_STUDY))), 0)

    def forwards(self):
        return self.server.metric("sinkd_sample_phase_duration_seconds_count", phase="forward")

    def check_good_requests(self):
        row = self.planted["text-2"]
        answer = analyze(self.channel, [spec(PLANTED), planted(row)])
        self.assertEqual([described(each) for each in answer.results], [expected(row)])
        report = run_study(self.channel, PLANTED, self.short, entropy={}).report
        self.assertEqual((report.partial, report.samples), (False, len(self.short)))

    def test_a_cancelled_sweep_frees_the_device(self):
        """Only the step that ran when it was left may end; nothing of it is reported."""
        sweep = self.forwards() + len(self.long) + 1  # after detection and the head
        call = open_study(self.channel, request(PLANTED, self.long, **LONG))
        wait_until("the sweep runs", lambda: self.forwards() == sweep)
        tokens, handled = self.server.metric("sinkd_tokens_total"), self.handled("CANCELLED")
        cancelled = self.server.metric("sinkd_samples_total", outcome="cancelled")
        call.cancel()
        self.server.wait_until_free()
        self.assertLessEqual(self.forwards(), sweep + 1)
        self.assertEqual(self.server.metric("sinkd_tokens_total"), tokens)
        self.assertEqual(self.server.metric("sinkd_samples_total", outcome="cancelled") - cancelled,
                         len(self.long))
        wait_until("the call ended", lambda: self.handled("CANCELLED") == handled + 1)
        self.check_good_requests()

    def test_others_are_answered_while_a_sweep_runs(self):
        """Between two of its steps; the samples here are short."""
        call = open_study(self.channel, request(PLANTED, self.short * 40, **LONG))
        next(each for each in call if each.HasField("progress"))
        row = self.planted["text-2"]
        answer = analyze(self.channel, [spec(PLANTED), planted(row)])
        self.assertEqual([described(each) for each in answer.results], [expected(row)])
        self.assertTrue(call.is_active())
        call.cancel()
        self.server.wait_until_free()

    def check_partial(self, report, samples, says):
        self.assertTrue(report.partial)
        self.assertIn(says, report.partial_reason)
        self.assertLess(report.samples, len(samples))
        self.assertEqual(report.tokens, report.samples * len(samples[0].ids))
        samples = {each.sample_index for each in report.positions}
        self.assertLessEqual(samples, set(range(report.samples)))

    def test_a_time_budget_gives_what_was_done(self):
        samples = self.short * 20
        whole = run_study(self.channel, PLANTED, samples[:1], **LONG).report
        report, budget = None, 2.0
        while report is None or not report.swap.rows or not report.samples:  # a slow machine
            budget *= 2
            answer = run_study(self.channel, PLANTED, samples, time_budget_seconds=budget, **LONG)
            self.assertEqual(answer.started.request.time_budget_seconds, budget)
            report = answer.report
        self.check_partial(report, samples, "time budget")
        self.assertGreater(report.samples, 0)
        self.assertGreater(whole.targets, 0)
        # All samples are the same, so that some tell what all would, but for the draw of controls.
        for got, want in zip(report.swap.rows, whole.swap.rows, strict=True):
            self.assertEqual(got.targets.suppressed.n, report.samples * want.targets.suppressed.n)
            self.assertEqual(got.loss_change.n, report.samples)
            self.assertAlmostEqual(got.targets.suppressed.value, want.targets.suppressed.value)
        self.check_good_requests()

    def test_a_budget_too_small_for_anything_says_so(self):
        answer = run_study(self.channel, PLANTED, self.long, time_budget_seconds=1e-6, norms={})
        self.check_partial(answer.report, self.long, "time budget")
        self.assertEqual((answer.report.samples, len(answer.report.norms.rows)), (0, 0))

    def test_a_deadline_gives_what_was_done(self):
        samples = self.short * 20
        answer = read(open_study(self.channel, request(PLANTED, samples, **LONG), timeout=4.0))
        self.assertIsNone(answer.failure)
        self.check_partial(answer.report, samples, "deadline")
        self.check_good_requests()

    def test_a_closed_connection_frees_the_device(self):
        channel = self.server.connect()
        call = open_study(channel, request(PLANTED, self.long, **LONG))
        next(each for each in call if each.HasField("progress"))
        handled = self.handled("CANCELLED")
        channel.close()
        self.server.wait_until_free()
        wait_until("the call ended", lambda: self.handled("CANCELLED") == handled + 1)
        self.check_good_requests()


class Refusals(unittest.TestCase):
    def refused(self, **fields):
        fields.setdefault("model", f"models/{PLANTED}")
        call = open_study(Setting.server.channel, request(PLANTED, []).__class__(**fields))
        with self.assertRaises(grpc.RpcError) as caught:
            list(call)
        return Failure.of_call(caught.exception)

    def test_what_cannot_be_studied_is_refused(self):
        samples = [{"token_ids": {"ids": [0, 5, 6]}}]
        for fields, code, mentions in (
            ({"samples": samples}, "INVALID_ARGUMENT", "study"),
            ({"norms": {}}, "INVALID_ARGUMENT", "samples"),
            ({"samples": samples, "norms": {}, "model": "models/none"}, "NOT_FOUND", "none"),
            ({"samples": samples, "pca": {"scales": [0.0]}}, "INVALID_ARGUMENT", "scales"),
            ({"samples": samples, "swap": {"blocks": [30]}}, "INVALID_ARGUMENT", "30"),
            ({"samples": samples, "swap": {"sites": [4]}}, "INVALID_ARGUMENT", "sites"),
            ({"samples": samples, "steer": {"taus": [-1.0]}}, "INVALID_ARGUMENT", "taus"),
            ({"samples": samples, "entropy": {"alpha": 0.0}}, "INVALID_ARGUMENT", "alpha"),
            ({"samples": samples, "massive": {"top": 101}}, "INVALID_ARGUMENT", "101"),
            ({"samples": samples, "align": {}, "targets": {"limit": 5001}}, "INVALID_ARGUMENT",
             "5001"),
            ({"samples": samples, "norms": {}, "time_budget_seconds": 0.0}, "INVALID_ARGUMENT",
             "time_budget"),
        ):
            with self.subTest(mentions=mentions):
                failure = self.refused(**fields)
                self.assertEqual(failure.code, code, failure.message)
                self.assertIn(mentions, failure.message)

    def test_a_bad_sample_is_told_and_the_others_are_studied(self):
        samples = [Sample((0, 5, 6)), Sample((-1,)), Sample((0, 7, 8, 9))]
        answer = run_study(Setting.server.channel, PLANTED, samples, norms={})
        self.assertEqual([each.sample_index for each in answer.errors], [1])
        self.assertEqual((answer.report.samples, answer.report.tokens), (2, 7))
        self.assertFalse(answer.report.partial)


if __name__ == "__main__":
    main()
