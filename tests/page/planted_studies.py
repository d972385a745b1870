"""Studies whose numbers are known: a t-SNE map of two clouds, a swap that works at one place."""

import random

from tests.page.messages import mechanism, runs

TARGETS, CONTROLS = 30, 30
SITES = [mechanism.SITE_RESID_POST, mechanism.SITE_ATTN_OUT, mechanism.SITE_MLP_OUT]


def estimate(value, n=30):
    return mechanism.Estimate(value=value, lower=max(0, value - 0.1), upper=value + 0.1, n=n)


def study(day, **report):
    message = runs.ListStudiesResponse(
        request=mechanism.RunStudyRequest(model="models/planted"),
        report=mechanism.StudyReport(samples=40, tokens=2048, sinks=64, targets=TARGETS,
                                     controls=CONTROLS, target_l_start=12, seconds=3.5, **report))
    message.create_time.FromJsonString(f"2026-11-{day:02}T10:00:00Z")
    return message


def cluster():
    draw = random.Random(3)
    report = mechanism.ClusterReport(decision_layer=11, decision_site=mechanism.SITE_MLP_OUT)
    for block in range(9, 13):
        for site in SITES:
            found = block >= 11 and site == mechanism.SITE_MLP_OUT
            report.rows.add(block=block, site=site, auc=0.99 if found else 0.6,
                            adjusted_rand=0.97 if found else 0.02, silhouette=0.8 if found else 0.1)
    report.rows[0].Clear()
    report.rows[0].MergeFrom(mechanism.ClusterRow(
        block=9, site=mechanism.SITE_RESID_POST, undefined="all rows are equal"))
    centres = [0.0] * TARGETS + [20.0] * CONTROLS
    coordinates = [centre + draw.gauss(0, 2) for centre in centres for _ in range(2)]
    report.maps.add(block=12, site=mechanism.SITE_MLP_OUT, perplexity=19, divergence=0.31,
                    coordinates=coordinates)
    message = study(2, cluster=report)
    for i in range(TARGETS + CONTROLS):
        is_target = i < TARGETS
        group = "POSITION_GROUP_TARGET" if is_target else "POSITION_GROUP_CONTROL"
        message.report.positions.add(
            sample_index=i // 4, position=3 + i, token_id=13 if is_target else 40 + i, l_start=12,
            group=group)
    return message


def swap():
    report = mechanism.SwapReport()
    for block in range(8, 13):
        for site in SITES:
            works = block == 12 and site == mechanism.SITE_MLP_OUT
            row = report.rows.add(block=block, site=site, loss_change=estimate(0.02))
            row.targets.suppressed.MergeFrom(estimate(0.9 if works else 0.1))
            row.targets.cosine_change.MergeFrom(estimate(0.5))
            row.targets.norm_change.MergeFrom(mechanism.Estimate(undefined="nothing was left", n=0))
            row.untouched.suppressed.MergeFrom(estimate(0.05))
            row.control_swap.suppressed.MergeFrom(estimate(0.02))
    return study(3, swap=report, partial=True, partial_reason="12 of 40 samples were left")


def steer():
    report = mechanism.SteerReport(block=12, steered=30)
    report.rows.add(lifetime=estimate(5), random_lifetime=estimate(5), sinks=estimate(1))
    for i, tau in enumerate((0, 50, 100, 200)):
        report.rows.add(tau=tau, lifetime=estimate(2.0 * i), random_lifetime=estimate(0.1),
                        sinks=estimate(0.25 * (1 + i) - 0.2), score=estimate(0.1))
    return study(4, steer=report)


def others():
    align = mechanism.AlignReport(sites=SITES)
    for site in SITES:
        align.rows.add(site=site, group=mechanism.POSITION_GROUP_TARGET, cosine=estimate(0.9))
        align.rows.add(site=site, group=mechanism.POSITION_GROUP_CONTROL, cosine=estimate(0.2))
    yield study(5, align=align)
    entropy = mechanism.EntropyReport()
    norms = mechanism.NormsReport()
    massive = mechanism.MassiveReport()
    for block in range(24):
        entropy.rows.add(block=block, entropy=estimate(4 - block / 10), without_sinks=estimate(4.2))
        row = norms.rows.add(block=block)
        for group, norm in (("primary", 900), ("secondary", 150), ("rest", 20)):
            for what in ("key", "value", "state"):
                getattr(getattr(row, group), what).MergeFrom(estimate(norm + block))
        entry = massive.rows.add(block=block, median=0.5, largest_of_rest=9)
        entry.entries.add(
            sample_index=0, position=0, token_id=1, token_text="<s>", channel=1415, value=-800.0)
    yield study(6, entropy=entropy)
    yield study(7, norms=norms)
    yield study(8, massive=massive)
    pca = mechanism.PcaReport(block=12, rows=60, mean_norm=31)
    pca.components.add(explained_variance=0.6, singular_value=9, effective=True).trials.add(
        scale=1, output_norm=140, cosine=0.99)
    pca.random.add(effective=False).trials.add(scale=-2, output_norm=12, cosine=0.1)
    yield study(9, pca=pca)


def studies(name):
    return [cluster(), swap(), steer(), *others()] if name == "demo-a" else []
