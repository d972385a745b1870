"""Comparisons of swap and steering with tests/oracle/studies.py."""

import numpy as np

from tests.e2e.study_case import SITES, StudyCase
from tests.oracle import estimates, studies

COSINE = 0.1  # floors of comparisons
LOSS = 0.1
SCORE = 1e-2


def typical_norm(runs):
    """Of a state, below which a change of a norm means nothing."""
    return float(np.median(np.linalg.norm(runs.passes[0].raw, axis=2)))


class InterveningCase(StudyCase):
    def check_outcome(self, got, want, norm, what):
        floors = {"suppressed": 1, "cosine_change": COSINE, "norm_change": norm,
                  "lifetime_change": 1}
        for name, estimate in want.estimates().items():
            self.check_estimate(getattr(got, name), estimate, floors[name], f"{what}, {name}")

    def check_swap(self, report, runs, targets, blocks, sites, loss):
        """For samples in which all controls are used: enough of controls_per_sample. Where there
        are no more of them than targets, the control swap leaves no choice and is compared too."""
        everyone = range(len(runs.samples))
        swapped = {s: [t.position for t in targets if t.sample == s] for s in everyone}
        controls = {s: runs.never(s) for s in everyone}
        used = [s for s in everyone if swapped[s] and controls[s]]
        self.assertEqual(report.controls, sum(len(controls[s]) for s in used))
        self.assertEqual(report.swap.undefined, "")
        self.assertEqual(report.swap.samples_left_out, len(runs.samples) - len(used))
        self.assertEqual([(row.block, row.site) for row in report.swap.rows],
                         [(block, SITES[site]) for block in blocks for site in sites])
        for row, (block, site) in zip(report.swap.rows, [(b, s) for b in blocks for s in sites],
                                      strict=True):
            what = f"block {block}, {site}"
            want = studies.swap(runs, targets, controls, block, site)
            self.check_target_swap(row, runs, want, what, loss)
            if all(len(controls[s]) <= len(swapped[s]) for s in used):
                want = studies.swap(runs, targets, controls, block, site, controls)
                self.check_control_swap(row, runs, want, what, loss)
        self.check_cost(report.swap.cost, runs, used, 2 * len(report.swap.rows))

    def check_target_swap(self, row, runs, want, what, loss):
        norm = typical_norm(runs)
        self.check_outcome(row.targets, want.targets, norm, f"{what}, targets")
        self.check_outcome(row.untouched, want.untouched, norm, f"{what}, untouched")
        self.assertEqual(row.HasField("loss_change"), loss)
        if loss:
            self.check_estimate(row.loss_change, estimates.mean(want.loss_changes), LOSS, what)

    def check_control_swap(self, row, runs, want, what, loss):
        self.check_outcome(row.control_swap, want.targets, typical_norm(runs), f"{what}, controls")
        self.assertEqual(row.HasField("control_loss_change"), loss)
        if loss:
            self.check_estimate(row.control_loss_change, estimates.mean(want.loss_changes), LOSS,
                                f"{what}, controls")

    def check_cost(self, cost, runs, used, variants):
        """Of `variants` variants on top of one pass over each sample used."""
        whole = sum(len(runs.samples[s].ids) for s in used) * runs.reference.blocks
        self.assertEqual(cost.naive_block_rows, whole * (1 + variants))
        self.assertGreaterEqual(cost.block_rows, whole)
        self.assertLess(cost.block_rows, cost.naive_block_rows)

    def check_steer(self, report, runs, block, taus, threshold, clip=False, loss=True):
        self.check_totals(report, runs)
        steer = report.steer
        self.assertGreater(studies.smallest_steer_margin(runs, block, threshold), 1e-4)
        steered = studies.steered_positions(runs, block, threshold)
        self.assertEqual((steer.block, steer.undefined), (block, ""))
        self.assertEqual(steer.steered, sum(map(len, steered.values())))
        if taus is None:
            mean = estimates.mean(studies.steer(runs, steered, block, None).mlp_norms).value
            taus = [part * mean for part in (0, 0.25, 0.5, 0.75, 1, 1.5, 2)]
        self.assertEqual(len(steer.rows), 1 + len(taus))
        for row, tau in zip(steer.rows, [None, *taus], strict=True):
            self.assertEqual(row.HasField("tau"), tau is not None)
            if tau is not None:
                self.check_close(row.tau, tau, 1e-3)
            want = studies.steer(runs, steered, block, tau, clip)
            self.check_steer_row(row, want, f"tau {tau}", loss)

    def check_steer_row(self, row, want, what, loss):
        alive = [each > 0 for each in want.lifetimes]
        self.check_estimate(row.mlp_norm, estimates.mean(want.mlp_norms), 1e-3, what)
        self.check_estimate(row.lifetime, estimates.mean(want.lifetimes), 1, what)
        self.check_estimate(row.sinks, estimates.share(alive), 1, what)
        self.check_estimate(row.score, estimates.mean(want.scores), SCORE, what)
        if not row.HasField("tau"):
            for beside in (row.untouched_lifetime_change, row.random_lifetime, row.loss_change):
                self.assertFalse(beside.HasField("value"), what)
            return
        self.check_estimate(row.untouched_lifetime_change, estimates.mean(want.untouched_changes),
                            1, what)
        self.assertEqual(row.random_lifetime.n, len(want.lifetimes))
        if row.tau == 0:  # one direction is as good as another
            self.assertEqual(row.random_lifetime.value, row.lifetime.value)
        self.assertEqual(row.HasField("loss_change"), loss)
        if loss:
            self.check_estimate(row.loss_change, estimates.mean(want.loss_changes), LOSS, what)
