"""Studies find what was planted: words that become sinks in a context alone, as an attention head
decides three blocks before (tests/testing/planted_design.py).

    python -m tests.e2e.planted_studies_test BUILD_DIR ORACLE_DIR
"""

import json
import random

import torch
from transformers.utils import logging

from tests.e2e.intervention_checks import InterveningCase
from tests.e2e.sinkd_process import Programs, main
from tests.e2e.study_case import SITE_NAMES, Subject, set_up
from tests.e2e.study_checks import ObservingCase
from tests.oracle import studies
from tests.oracle.edited_model import Sample
from tests.testing import planted_design as design
from tests.testing import planted_samples

FOLDER = "planted/planted-context"
VARIANT = design.VARIANTS["context"]
PLANT = VARIANT.plants[0]  # the word that is looked at
START = PLANT.pulses[0].block
DECIDED = START - design.DECIDED_BEFORE
SAMPLES = 6


class Planted:
    """The table of the checkpoint, and samples with its words."""

    def __init__(self):
        folder = Programs.oracle / FOLDER
        table = json.loads((folder / "planted.json").read_text())
        lines = (folder / "records.jsonl").read_text().splitlines()
        self.bos = table["primary"]["token_id"]
        self.ids_of = {}
        for row in table["plants"]:
            self.ids_of[row["word"]] = row["token_ids"]
            after = row.get("only_after")
            if after:
                self.ids_of[after["word"]] = after["token_ids"]
        self._text = json.loads(lines[0])["token_ids"][1:]  # nothing is planted in this one
        self.samples = [self._sample(random.Random(seed), True) for seed in range(SAMPLES)]
        self.steered = [self._sample(random.Random(seed), False) for seed in range(SAMPLES)]

    def _sample(self, generator, elsewhere):
        """The word after its trigger, other sinks, text between, and `elsewhere` the word without
        the trigger, alone and after another: with a trace of the trigger's mark when that came
        before, which makes its MLP output point as a sink's does, at hardly any length."""
        def one_of(word):
            return generator.choice(self.ids_of[word])

        # Each of its forms as often with the trigger as without, so that these tell nothing.
        forms = self.ids_of[PLANT.word]
        groups = [[one_of(PLANT.trigger), form] for form in forms]
        for plant in VARIANT.plants[1:]:
            if elsewhere or plant.word != PLANT.word:
                before = [one_of(plant.trigger)] if plant.trigger else []
                groups.append([*before, one_of(plant.word)])
        if elsewhere:
            groups += [[form] for form in forms]
        generator.shuffle(groups)
        ids = [self.bos]
        for group in groups:
            ids += group + generator.sample(self._text, 4)
        return Sample(tuple(ids))

    def sinks(self, sample):
        return planted_samples.expected_sinks(VARIANT, list(sample.ids), self.ids_of, self.bos)


class Setting:
    planted = model = steered = None


def setUpModule():
    logging.set_verbosity_error()
    torch.set_num_threads(1)
    set_up(FOLDER)
    Setting.planted = Planted()
    Setting.model = Subject(FOLDER, Setting.planted.samples, kinds=("secondary",))
    Setting.steered = Setting.model.with_samples(Setting.planted.steered)


class PlantedStudies(ObservingCase, InterveningCase):
    def setUp(self):
        self.planted, self.model, self.runs = Setting.planted, Setting.model, Setting.model.runs

    def study(self, **fields):
        return self.model.study(self.channel, targets={"kinds": [2], "l_start": START}, **fields)

    def targets(self, report):
        return self.check_targets(report, self.runs, ("secondary",), start=START)

    def test_transformers_finds_the_planted_sinks(self):
        for sample, record in zip(self.planted.samples, self.runs.records, strict=True):
            want = [(s["position"], s["layers"], s["kind"]) for s in self.planted.sinks(sample)]
            self.assertEqual([(s["position"], s["layers"], s["kind"]) for s in record["sinks"]],
                             want)
            self.assertIn(START, [layers[0] for _, layers, _ in want])

    def test_inputs_are_orthogonal_and_outputs_aligned(self):
        report = self.model.study(self.channel, align={"points": True})
        self.check_align(report, self.runs, ("secondary",))
        sites = [SITE_NAMES[site] for site in report.align.sites]
        for row in report.align.rows:
            if row.group == 1 and SITE_NAMES[row.site] in ("mlp_in", "mlp_out"):
                aligned = SITE_NAMES[row.site] == "mlp_out"
                self.assertGreater(row.minimum, 0.95 if aligned else -0.3)
                self.assertLess(row.maximum, 1.01 if aligned else 0.3)
        self.assertIn("gate", sites)

    def test_the_planted_component_is_effective_and_no_random_direction(self):
        report = self.study(pca={})
        self.check_pca(report, self.runs, ("secondary",), (0.5, 1.0, 2.0), 10, start=START)
        self.assertTrue(report.pca.components[0].effective)
        self.assertFalse(any(each.effective for each in report.pca.random))

    def test_clusters_part_where_attention_decides(self):
        report = self.study(cluster={"tsne_sites": [3]})
        self.assertTrue(all(each.same_token for each in report.positions if each.group == 2))
        sites = ("resid_pre", "attn_out", "mlp_in", "mlp_out")
        self.check_cluster(report, self.runs, ("secondary",), sites, ("mlp_in",), start=START)
        self.assertEqual(report.cluster.decision_layer, DECIDED)
        self.assertEqual(SITE_NAMES[report.cluster.decision_site], "mlp_in")

    def test_a_swap_on_the_way_of_the_decision_suppresses(self):
        report = self.study(swap={"controls_per_sample": 1000, "loss": True})
        sites = ("resid_post", "attn_out", "mlp_out")
        self.check_swap(report, self.runs, self.targets(report), range(START - 5, START + 1), sites,
                        loss=True)
        for row in report.swap.rows:
            site, what = SITE_NAMES[row.site], f"block {row.block}, {SITE_NAMES[row.site]}"
            # The word itself is in the residual stream, whatever was decided.
            flows = site == "resid_post" or (site, row.block) in (("attn_out", DECIDED),
                                                                  ("mlp_out", START))
            self.assertEqual(row.targets.suppressed.value, 1 if flows else 0, what)
            self.assertEqual(row.untouched.suppressed.value, 0, what)
            self.assertEqual(row.untouched.lifetime_change.value, 0, what)
            if row.block >= DECIDED or site != "resid_post":  # a control may be somebody's trigger
                self.assertEqual(row.control_swap.suppressed.value, 0, what)
                self.assertEqual(row.control_swap.lifetime_change.value, 0, what)

    def test_a_full_sweep_costs_at_most_half_of_whole_passes(self):
        one = self.model.with_samples(self.planted.samples[:1])
        report = one.study(self.channel, targets={"kinds": [2], "l_start": START},
                           swap={"blocks": range(design.BLOCKS), "loss": True})
        self.assertEqual(len(report.swap.rows), design.BLOCKS * 3)
        self.check_cost(report.swap.cost, one.runs, [0], 2 * len(report.swap.rows))
        self.assertLessEqual(2 * report.swap.cost.block_rows, report.swap.cost.naive_block_rows)

    def test_steering_gives_the_planted_lifetimes(self):
        taus = tuple(PLANT.pulses[0].strength * part for part in (0, 0.25, 0.5, 0.75, 1, 1.5))
        report = Setting.steered.study(self.channel, steer={"taus": taus},
                                       targets={"kinds": [2], "l_start": START})
        self.check_steer(report, Setting.steered.runs, START, taus, 0.98)
        steered = [plant for sample in self.planted.steered for plant in self.plants(sample)
                   if plant.pulses[0].block <= START]
        lifetimes = []
        for row in report.steer.rows:
            change = (START, row.tau) if row.HasField("tau") else None
            want = [len(VARIANT.layers_of(plant, change)) for plant in steered]
            self.assertAlmostEqual(row.lifetime.value, sum(want) / len(want), delta=1e-9)
            lifetimes.append(row.lifetime.value)
            if change:
                self.assertLessEqual(row.random_lifetime.value, row.lifetime.value)
        self.assertEqual(lifetimes[1:], sorted(lifetimes[1:]))
        self.assertLess(report.steer.rows[-1].random_lifetime.value, lifetimes[-1] / 2)

    def plants(self, sample):
        """What each sink of the sample grew from."""
        starts = {plant.pulses[0].block: plant for plant in VARIANT.plants}
        return [starts[sink["layers"][0]] for sink in self.planted.sinks(sample)]

    def test_states_lose_their_entropy_to_the_sinks(self):
        report = self.model.study(self.channel, entropy={})
        self.check_entropy(report, self.runs)
        row = report.entropy.rows[design.PRIMARY_BLOCK]
        self.assertLess(row.entropy.value, 0.01)
        self.assertGreater(row.without_sinks.value, 1)

    def test_the_primary_sink_is_the_massive_activation(self):
        report = self.model.study(self.channel, massive={})
        self.check_massive(report, self.runs, 3)
        for row in report.massive.rows[design.PRIMARY_BLOCK:design.BLOCKS]:
            self.assertEqual((row.entries[0].position, row.entries[0].channel), (0, design.SINK))


if __name__ == "__main__":
    main()
