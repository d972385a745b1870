"""Every number of every study against plain transformers with hooks, on tiny random checkpoints.

    python -m tests.e2e.studies_test BUILD_DIR ORACLE_DIR
"""

import functools

import torch
from transformers.utils import logging

from tests.e2e.intervention_checks import InterveningCase
from tests.e2e.sinkd_process import main
from tests.e2e.study_case import Subject, drawn_samples, set_up
from tests.e2e.study_checks import ObservingCase
from tests.oracle import studies

SWAP_SITES = ("resid_post", "attn_out", "mlp_out")
CLUSTER_SITES = ("resid_pre", "attn_out", "mlp_in", "mlp_out")
SCALES = (0.5, 1.0, 2.0)
# Folder, vocabulary, seed of the samples and threshold: such that no sink is in doubt.
LLAMA = "tiny/llama_grouped", 300, 2, 0.3
QWEN2 = "tiny/qwen2_plain", 300, 2, 0.3
NEOX = "families/gpt_neox_parallel", 301, 1, 0.4
GEMMA2 = "families/gemma2_softcap", 301, 1, 0.3
MIXTRAL = "families/mixtral_experts", 301, 0, 0.4
FAMILIES = LLAMA, QWEN2, NEOX, GEMMA2, MIXTRAL
MANY = 0.7  # share of positions that become sinks, where there are to be more than controls


def setUpModule():
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    torch.set_num_threads(1)  # matrices this small only lose by more
    set_up(*(folder for folder, *_ in FAMILIES))


@functools.cache
def subject(family, share=0.25):
    folder, vocabulary, seed, threshold = family
    return Subject(folder, drawn_samples(vocabulary, seed, share), threshold)


class EveryFamily(ObservingCase, InterveningCase):
    def for_each_family(self, check, families=FAMILIES, share=0.25):
        for family in families:
            model = subject(family, share)
            with self.subTest(model.name):
                check(model)

    def test_align(self):
        def check(model):
            report = model.study(self.channel, align={"points": True})
            self.check_align(report, model.runs, model.kinds)

        self.for_each_family(check)

    def test_pca(self):
        def check(model):
            report = model.study(self.channel, pca={"scales": SCALES, "components": 8})
            self.check_pca(report, model.runs, model.kinds, SCALES, 8)

        self.for_each_family(check)

    def test_cluster(self):
        def check(model):
            report = model.study(self.channel, cluster={})
            self.check_cluster(report, model.runs, model.kinds, CLUSTER_SITES, ())

        self.for_each_family(check, (LLAMA, NEOX, GEMMA2))

    def test_cluster_draws_maps(self):
        model = subject(LLAMA)
        report = model.study(self.channel, cluster={
            "sites": [4], "tsne_sites": [3], "blocks_before": 1, "separating_auc": 0.7})
        self.check_cluster(report, model.runs, model.kinds, ("gate",), ("mlp_in",), 1, 0.7)

    def test_swap(self):
        def check(model):
            report = model.study(self.channel, swap={"controls_per_sample": 1000, "loss": True})
            last = report.target_l_start
            blocks = range(max(0, last - 5), last + 1)
            targets = self.check_targets(report, model.runs, model.kinds)
            self.check_swap(report, model.runs, targets, blocks, SWAP_SITES, loss=True)

        self.for_each_family(check, share=MANY)

    def test_swap_past_the_start_and_without_loss(self):
        model = subject(LLAMA, MANY)
        report = model.study(self.channel, swap={
            "controls_per_sample": 1000, "blocks": [3, 1], "sites": [8]})
        targets = self.check_targets(report, model.runs, model.kinds)
        self.check_swap(report, model.runs, targets, [3, 1], ["mlp_out"], loss=False)

    def test_a_control_swap_draws_some_control(self):
        """With one target, it is one of the controls, the same for every block and site."""
        model = subject(LLAMA)
        sample, sink = next(
            (sample, sink) for sample, sink in model.runs.sinks()
            if (ids := model.runs.samples[sample].ids).count(ids[sink["position"]]) == 1)
        alone = model.with_samples([model.runs.samples[sample]])
        start, never = sink["level"][0], alone.runs.never(0)
        report = alone.study(
            self.channel, swap={"controls_per_sample": 1000, "loss": True, "blocks": [0, 1]},
            targets={"kinds": [1, 2, 3], "l_start": start,
                     "token_ids": [alone.runs.samples[0].ids[sink["position"]]]})
        self.assertEqual(report.targets, 1)
        target = studies.Place(0, report.positions[0].position, start)
        places = [(block, site) for block in (0, 1) for site in SWAP_SITES]
        drawn = [
            position for position in never
            if all(abs(studies.swap(alone.runs, [target], {0: never}, block, site, {0: [position]})
                       .loss_changes[0] - row.control_loss_change.value) < 1e-5
                   for (block, site), row in zip(places, report.swap.rows, strict=True))
        ]
        self.assertEqual(len(drawn), 1, f"one of {never}")

    def test_steer(self):
        def check(model):
            runs, kinds = model.runs, model.kinds
            block = studies.most_frequent_start(runs.sinks(kinds))
            for fields, clip in (({}, False), ({"mode": 2, "taus": (0.5, 3.0, 20.0)}, True)):
                report = model.study(self.channel, steer={"cosine_threshold": 0.4, **fields})
                self.check_steer(report, runs, block, fields.get("taus"), 0.4, clip)

        self.for_each_family(check)

    def test_steer_elsewhere_and_without_loss(self):
        model = subject(QWEN2)
        report = model.study(self.channel, steer={
            "block": 0, "taus": (0.0, 40.0), "cosine_threshold": 0.5, "loss": False})
        self.check_steer(report, model.runs, 0, (0.0, 40.0), 0.5, loss=False)

    def test_entropy(self):
        def check(model):
            report = model.study(self.channel, entropy={})
            self.check_entropy(report, model.runs)
            report = model.study(self.channel, entropy={"alpha": 2.5, "first": 3, "end": 20})
            self.check_entropy(report, model.runs, 2.5, 3, 20)

        self.for_each_family(check)

    def test_norms(self):
        self.for_each_family(lambda model: self.check_norms(
            model.study(self.channel, norms={}), model.runs))

    def test_massive(self):
        def check(model):
            report = model.study(self.channel, massive={"top": 5, "per_sample": True})
            self.check_massive(report, model.runs, 5, per_sample=True)

        self.for_each_family(check)


if __name__ == "__main__":
    main()
