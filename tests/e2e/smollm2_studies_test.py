"""Studies of SmolLM2-135M on a paragraph of text, against transformers.

    python -m tests.e2e.smollm2_studies_test BUILD_DIR ORACLE_DIR
"""

from transformers import AutoTokenizer
from transformers.utils import logging

from tests.e2e.intervention_checks import InterveningCase
from tests.e2e.sinkd_process import Programs, main
from tests.e2e.study_case import Subject, set_up
from tests.e2e.study_checks import ObservingCase
from tests.oracle.edited_model import Sample

FOLDER = "smollm2/smollm2-135m-instruct"
TEXT = (
    "The first token of a text draws much of the attention of a language model, whatever it says."
    " Its state grows far beyond all others in one of the early layers, in two or three channels"
    " alone, and stays so until the last. Other tokens can take its part for a while: wait,"
    " however, we should look at them one by one."
)
JUMP, CHANNEL, NORM = 11, 507, 25_000  # of the primary sink
# Here the MLP already writes at some words what it writes at the first token.
STEERED_BLOCK, STEERED_COSINE, TAUS = 9, 0.95, (0.0, 3000.0, 30000.0)


class Setting:
    model = None


def setUpModule():
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    set_up(FOLDER)
    ids = AutoTokenizer.from_pretrained(Programs.oracle / FOLDER)(TEXT)["input_ids"]
    Setting.model = Subject(FOLDER, [Sample(tuple(ids))])


class SmolLm2(ObservingCase, InterveningCase):
    def setUp(self):
        self.model, self.runs = Setting.model, Setting.model.runs

    def test_massive_shows_the_primary_sink(self):
        report = self.model.study(self.channel, massive={})
        self.check_massive(report, self.runs, 3)
        for row in report.massive.rows:
            entry = row.entries[0]
            massive = abs(entry.value) > NORM / 2
            self.assertEqual(massive, JUMP <= row.block < 28, row.block)
            if massive:
                self.assertEqual((entry.position, entry.channel), (0, CHANNEL))

    def test_norms_jump(self):
        report = self.model.study(self.channel, norms={})
        self.check_norms(report, self.runs)
        norms = [row.primary.state.value for row in report.norms.rows]
        self.assertLess(norms[JUMP - 1], 1000)
        self.assertAlmostEqual(norms[JUMP], NORM, delta=0.01 * NORM)
        self.assertGreater(norms[JUMP], 50 * report.norms.rows[JUMP].rest.state_median)

    def test_entropy_falls(self):
        report = self.model.study(self.channel, entropy={})
        self.check_entropy(report, self.runs)
        rows = report.entropy.rows
        self.assertLess(rows[JUMP].entropy.value, 0.1)
        self.assertGreater(rows[JUMP].without_sinks.value, 1)

    def test_steering_makes_sinks(self):
        report = self.model.study(self.channel, steer={
            "block": STEERED_BLOCK, "cosine_threshold": STEERED_COSINE, "taus": TAUS})
        self.check_steer(report, self.runs, STEERED_BLOCK, TAUS, STEERED_COSINE)
        self.assertEqual([row.sinks.value for row in report.steer.rows], [0, 0, 1, 1])


if __name__ == "__main__":
    main()
