"""Comparisons of the studies that change nothing: each checks every number of a report against
tests/oracle/studies.py. They are methods of StudyCase's children.
"""

import numpy as np

from tests.e2e.study_case import CONTROL, SITE_NAMES, SITES, TARGET, StudyCase
from tests.oracle import estimates, separation, studies

COSINE = 0.1  # floors of comparisons: sizes below which a quantity means nothing
AUC_SLACK = RAND_SLACK = 0.05  # beside what the draw of folds or starts does


class ObservingCase(StudyCase):
    def check_align(self, report, runs, kinds):
        """Called with points."""
        targets = self.check_targets(report, runs, kinds, any_start=True)
        controls = self.check_controls(report, runs, targets)
        groups = {TARGET: targets, CONTROL: controls}
        sites = studies.align_sites(runs)
        self.assertEqual([SITE_NAMES[site] for site in report.align.sites], sites)
        starts = [None, *sorted({each.l_start for each in targets})]
        rows = iter(report.align.rows)
        for start in starts:
            for site in sites:
                for group, places in groups.items():
                    row = next(rows)
                    self.assertEqual((row.site, row.group), (SITES[site], group))
                    self.assertEqual(row.l_start if row.HasField("l_start") else None, start)
                    self.check_align_row(row, [studies.align(runs, place, site) for place in places
                                               if start in (None, place.l_start)])
        self.assertEqual(list(rows), [])
        points = report.align.points
        self.assertEqual([each.index for each in points], list(range(len(targets + controls))))
        for point, place in zip(points, targets + controls, strict=True):
            for site, value in zip(sites, point.cosines, strict=True):
                self.check_close(value, studies.align(runs, place, site), COSINE, site)

    def check_align_row(self, row, cosines):
        self.check_estimate(row.cosine, estimates.mean(cosines), COSINE)
        if cosines:
            self.check_close(row.minimum, min(cosines), COSINE)
            self.check_close(row.median, float(np.median(cosines)), COSINE)
            self.check_close(row.maximum, max(cosines), COSINE)

    def check_pca(self, report, runs, kinds, scales, count, effective=0.98,
                  start=None):
        targets = self.check_targets(report, runs, kinds, start=start)
        controls = self.check_controls(report, runs, targets)
        pca = report.pca
        self.assertEqual((pca.block, pca.undefined), (report.target_l_start, ""))
        self.assertEqual(pca.rows, len(targets) + len(controls))
        want = studies.components(runs, targets, controls, pca.block)
        self.check_close(pca.mean_norm, want.mean_norm, 1e-3)
        rank = int((want.singular_values > 1e-6 * want.singular_values[0]).sum())
        count = min(count, rank)
        self.assertEqual((len(pca.components), len(pca.random)), (count, count))
        largest, samples = want.singular_values[0], sorted({each.sample for each in targets})
        values = [*want.singular_values, 0.0]
        for index, got in enumerate(pca.components):
            self.check_close(got.singular_value, values[index], 1e-2 * largest)
            self.check_close(got.explained_variance, want.explained[index], 1e-3)
            gaps = [values[index] - values[index + 1], values[max(index - 1, 0)] - values[index]]
            if min(gaps[0], gaps[1] if index else gaps[0]) > 1e-2 * largest:
                self.check_trials(got, runs, pca, want.directions[index], scales, samples)
            self.check_effective(got, effective)
        for got in pca.random:
            self.assertFalse(got.HasField("singular_value") or got.HasField("explained_variance"))
            self.assertEqual(sorted(each.scale for each in got.trials),
                             sorted([*scales, *(-each for each in scales)]))
            self.check_effective(got, effective)

    def check_trials(self, got, runs, pca, direction, scales, samples):
        """Of a direction that is known but for rounding."""
        if direction[np.argmax(np.abs(direction))] < 0:
            direction = -direction
        self.assertEqual([each.scale for each in got.trials],
                         [sign * scale for scale in scales for sign in (1, -1)])
        for trial in got.trials:
            length = trial.scale * pca.mean_norm
            norm, cosine = studies.try_direction(runs, pca.block, direction, length, samples)
            # Where directions are rounded, outputs are by up to as much as the input is long.
            self.check_close(trial.output_norm, norm, abs(length))
            self.check_close(trial.cosine, cosine, 10 * COSINE)

    def check_effective(self, direction, threshold):
        cosines = [abs(each.cosine) for each in direction.trials]
        self.assertEqual(direction.effective, max(cosines) > threshold)

    def check_cluster(self, report, runs, kinds, sites, tsne_sites, before=5,
                      separating=0.95, start=None):
        targets = self.check_targets(report, runs, kinds, start=start)
        controls = self.check_controls(report, runs, targets)
        labels = np.array([1] * len(targets) + [0] * len(controls))
        last = report.target_l_start
        blocks = range(max(0, last - before), last + 1)
        self.assertEqual([(row.block, SITE_NAMES[row.site]) for row in report.cluster.rows],
                         [(block, site) for block in blocks for site in sites])
        for row in report.cluster.rows:
            rows = studies.rows_at(runs, targets + controls, SITE_NAMES[row.site], row.block)
            self.check_cluster_row(row, rows, labels)
        self.check_decisions(report.cluster, sites, separating)
        self.assertEqual([(each.block, SITE_NAMES[each.site]) for each in report.cluster.maps],
                         [(block, site) for block in blocks for site in tsne_sites])
        for each in report.cluster.maps:
            rows = studies.rows_at(runs, targets + controls, SITE_NAMES[each.site], each.block)
            self.check_map(each, rows)

    def check_cluster_row(self, row, rows, labels):
        what = f"block {row.block}, {SITE_NAMES[row.site]}"
        if np.ptp(rows, axis=0).max() == 0:
            return  # all rows are the same: nothing to tell apart
        self.assertEqual(row.undefined, "", what)
        # One number where every start ends at the same split, any of a range where not.
        splits = separation.adjusted_rands(rows, labels)
        slack = RAND_SLACK if max(splits) - min(splits) > 1e-6 else 1e-6
        self.assertGreaterEqual(row.adjusted_rand, min(splits) - slack, what)
        self.assertLessEqual(row.adjusted_rand, max(splits) + slack, what)
        self.check_close(row.silhouette, separation.silhouette(rows, labels), 0.1, what)
        low, high = separation.auc_range(rows, labels)
        self.assertGreaterEqual(row.auc, low - AUC_SLACK, what)
        self.assertLessEqual(row.auc, high + AUC_SLACK, what)
        if low == 1:
            self.assertEqual(row.auc, 1, what)

    def check_decisions(self, cluster, sites, separating):
        """They follow from the AUCs told."""
        found = {}
        for site in sites:
            for row in reversed([row for row in cluster.rows if row.site == SITES[site]]):
                if row.undefined or row.auc < separating:
                    break
                found[site] = row.block
        got = {SITE_NAMES[each.site]: each.block for each in cluster.decision_layers
               if each.HasField("block")}
        self.assertEqual(got, found)
        self.assertEqual([SITE_NAMES[each.site] for each in cluster.decision_layers], list(sites))
        self.assertEqual(cluster.HasField("decision_layer"), bool(found))
        if found:
            earliest = min(found.values())
            self.assertEqual(cluster.decision_layer, earliest)
            site = next(each for each in SITES if found.get(each) == earliest)
            self.assertEqual(SITE_NAMES[cluster.decision_site], site)

    def check_map(self, got, rows):
        self.check_close(got.perplexity, min(30, (len(rows) - 1) / 3), 1)
        coordinates = np.array(got.coordinates, dtype=np.float64).reshape(-1, 2)
        self.assertEqual(len(coordinates), len(rows))
        own = separation.divergence_of(rows, coordinates, got.perplexity)
        self.assertAlmostEqual(got.divergence, own, delta=1e-3)
        reached = separation.tsne_divergences(rows, got.perplexity)
        self.assertLess(own, 1.03 * max(reached) + (max(reached) - min(reached)) + 1e-3)

    def check_entropy(self, report, runs, alpha=1.0, first=0, end=None):
        self.check_totals(report, runs)
        self.assertEqual([row.block for row in report.entropy.rows],
                         list(range(runs.reference.blocks)))
        for row in report.entropy.rows:
            values = {"entropy": [], "normalized": [], "without_sinks": []}
            for index, each in enumerate(runs.passes):
                window = range(len(runs.samples[index].ids))[first:end]
                never = [t for t in runs.never(index, 0) if t in window]
                entropy, normalized = studies.matrix_entropy(each.raw[row.block][list(window)],
                                                             alpha)
                values["entropy"].append(entropy)
                values["normalized"].append(normalized)
                values["without_sinks"].append(
                    studies.matrix_entropy(each.raw[row.block][never], alpha)[0])
            for name, wanted in values.items():
                self.check_estimate(getattr(row, name), estimates.mean(wanted), 1e-3,
                                    f"block {row.block}, {name}")

    def check_norms(self, report, runs):
        self.check_totals(report, runs)
        count = range(len(runs.samples))
        groups = {
            "primary": [(s, runs.primary(s)) for s in count],
            "secondary": [(s, sink["position"]) for s, sink in runs.sinks(("secondary",))],
            "rest": [(s, t) for s in count for t in runs.never(s, 0)],
        }
        self.assertEqual([row.block for row in report.norms.rows],
                         list(range(runs.reference.blocks)))
        for row in report.norms.rows:
            for name, places in groups.items():
                for what in ("key", "value", "state"):
                    values = studies.norms_of(runs, places, what, row.block)
                    group, where = getattr(row, name), f"block {row.block}, {name}, {what}"
                    expected = estimates.positive_mean_by_sample(values, [s for s, _ in places])
                    self.check_estimate(getattr(group, what), expected, 1e-3, where)
                    self.assertEqual(group.HasField(f"{what}_median"), bool(values), where)
                    if values:
                        self.check_close(getattr(group, f"{what}_median"),
                                         float(np.median(values)), 1e-3, where)

    def check_massive(self, report, runs, top, per_sample=False):
        self.check_totals(report, runs)
        rows = iter(report.massive.rows)
        everywhere = range(len(runs.samples))
        for block in range(runs.reference.blocks):
            row = next(rows)
            self.assertFalse(row.HasField("sample_index"))
            self.check_massive_row(row, runs, block, everywhere, top)
        for sample in everywhere if per_sample else ():
            for block in range(runs.reference.blocks):
                row = next(rows)
                self.assertEqual(row.sample_index, sample)
                self.check_massive_row(row, runs, block, [sample], top)
        self.assertEqual(list(rows), [])

    def check_massive_row(self, row, runs, block, samples, top):
        self.assertEqual(row.block, block)
        states = {sample: runs.passes[sample].raw[block] for sample in samples}
        found = sorted(((sample, *entry) for sample, rows in states.items()
                        for entry in studies.largest_entries(rows, top)),
                       key=lambda entry: -abs(entry[-1]))[:top]
        self.assertEqual(len(row.entries), len(found))
        for got, (_, _, _, value) in zip(row.entries, found, strict=True):
            # By value, and then the value at the place named: entries may come near each other.
            self.check_close(abs(got.value), abs(value), 1e-3)
            exact = states[got.sample_index][got.position, got.channel]
            self.check_close(got.value, float(exact), 1e-3)
            self.assertEqual(got.token_id, runs.samples[got.sample_index].ids[got.position])
        places = [(got.sample_index, got.position, got.channel) for got in row.entries]
        self.assertEqual(len(set(places)), len(places))
        medians = [float(np.median(np.abs(rows))) for rows in states.values()]
        self.check_close(row.median, float(np.median(medians)), 1e-6)
        rest = [np.abs(states[sample][runs.never(sample, 0)]).max() for sample in samples
                if runs.never(sample, 0)]
        self.check_close(row.largest_of_rest, float(max(rest, default=0.0)), 1e-3)


