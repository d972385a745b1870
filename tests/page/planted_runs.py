"""Runs whose numbers are known: levels, lines, a text with its sinks."""

import math
import random

import numpy
import scipy.stats

from tests.page.messages import analysis, records, runs

BLOCKS = 24
SEED = 7
KINDS = {
    "primary": records.SINK_KIND_PRIMARY,
    "secondary": records.SINK_KIND_SECONDARY,
    "noise": records.SINK_KIND_NOISE,
}
# (first layer, lifetime, kind): sinks.
LEVELS = {
    "demo-a": {
        (3, 17, "primary"): 41, (4, 16, "primary"): 7,
        (10, 6, "secondary"): 180, (12, 5, "secondary"): 1234, (12, 9, "secondary"): 310,
        (14, 5, "secondary"): 95, (16, 5, "secondary"): 12,
        (11, 1, "noise"): 77, (13, 2, "noise"): 20, (18, 3, "noise"): 5,
        (12, 5, "noise"): 6,  # the same cell as a secondary level: another window
    },
    "demo-b": {
        (3, 17, "primary"): 39, (12, 5, "secondary"): 640, (15, 7, "secondary"): 512,
        (11, 1, "noise"): 80,
    },
    "nightly-00": {},
}
# Tokens of the portrayed sample, and the sinks past the first token.
TEXT = ["<s>", "The", " cat", ",", " which", " sat", "\n", "<img src=x onerror=alert(1)>", ".",
        "=1+1", " it\u202e", " \"was\"", "."]
SINKS = {
    3: (12, 5, "secondary"), 6: (14, 5, "secondary"), 7: (11, 1, "noise"), 8: (3, 17, "primary"),
}


def run(name):
    counts = LEVELS.get(name, {})
    total = {kind: sum(n for (_, _, each), n in counts.items() if each == kind) for kind in KINDS}
    day = 1 + sum(name.encode()) % 28
    message = runs.Run(
        name=f"runs/{name}", model="models/planted", state=runs.RUN_STATE_COMPLETE, samples=100,
        failed_samples=1 if name == "demo-a" else 0, tokens=51200, size_bytes=3 << 20,
        primary_sinks=total["primary"], secondary_sinks=total["secondary"],
        noise_sinks=total["noise"],
        spec=analysis.AnalysisSpec(
            model="models/planted",
            detection=analysis.DetectionParameters(
                cosine_threshold=0.9, min_norm_ratio=0, kind_rule=analysis.KIND_RULE_WINDOW)))
    message.create_time.FromJsonString(f"2026-11-{day:02}T08:30:00Z")
    message.update_time.FromJsonString(f"2026-11-{day:02}T08:41:30Z")
    message.labels["stage"] = "release" if name == "demo-a" else "nightly"
    if name == "demo-b":
        message.labels["note"] = "<b>bold</b>"
        message.state = runs.RUN_STATE_OPEN
    return message


def level_report(counts):
    total = {kind: sum(n for (_, _, each), n in counts.items() if each == kind) for kind in KINDS}
    report = records.LevelReport(
        primary=total["primary"], secondary=total["secondary"], noise=total["noise"],
        positions=51200, secondary_per_1000_tokens=total["secondary"] / 51.2,
        samples_with_secondary=97, share_of_samples_with_secondary=0.97,
        position_bins=[5 * i for i in range(10)],
        distinct_levels=sum(kind == "secondary" for _, _, kind in counts))
    for (start, lifetime, kind), count in sorted(counts.items()):
        report.counts.add(l_start=start, lifetime=lifetime, kind=KINDS[kind], count=count)
    shares = [n / total["secondary"] for (_, _, kind), n in counts.items() if kind == "secondary"]
    if shares:
        report.entropy = -sum(share * math.log(share) for share in shares)
    for token, text, count in ((13, ",", 900), (198, "\n", 500), (0, "</script>", 3)):
        report.top_tokens.add(token_id=token, text=text, count=count)
    return report


def fit(form, x, y, u, v):
    """scipy's fit of v(y) by u(x) as the protocol has it."""
    result = scipy.stats.linregress(u(x), v(y))
    n = len(x)
    t = scipy.stats.t.ppf(0.975, n - 2)
    residuals = v(y) - result.intercept - result.slope * u(x)
    deviation = math.sqrt((residuals @ residuals) / (n - 2))

    def coefficient(value, error):
        return records.Coefficient(
            value=value, standard_error=error, t=value / error, lower=value - t * error,
            upper=value + t * error, p=2 * scipy.stats.t.sf(abs(value / error), n - 2))

    return records.Fit(
        form=form, n=n, left_out=0, r_squared=result.rvalue ** 2, residual_deviation=deviation,
        intercept=coefficient(result.intercept, result.intercept_stderr),
        slope=coefficient(result.slope, result.stderr), aic=n * math.log(deviation))


def mean_intervals(x, y):
    """95% intervals of the mean of y = a + b ln x at each x, by the normal equations."""
    design = numpy.stack([numpy.ones_like(x), numpy.log(x)], axis=1)
    solution, rss, _, _ = numpy.linalg.lstsq(design, y, rcond=None)
    variance = rss[0] / (len(x) - 2)
    inverse = numpy.linalg.inv(design.T @ design)
    half = scipy.stats.t.ppf(0.975, len(x) - 2) * numpy.sqrt(
        variance * numpy.einsum("ni,ij,nj->n", design, inverse, design))
    mean = design @ solution
    return sorted(zip(x.tolist(), mean.tolist(), (mean - half).tolist(), (mean + half).tolist()))


def regression_result(x, y):
    same, log = (lambda a: a), numpy.log
    forms = [
        (records.REGRESSION_FORM_LINEAR_LOG, log, same),
        (records.REGRESSION_FORM_LOG_LINEAR, same, log),
        (records.REGRESSION_FORM_LOG_LOG, log, log),
        (records.REGRESSION_FORM_LINEAR, same, same),
    ]
    result = records.RegressionResult()
    result.fits.extend(fit(form, x, y, u, v) for form, u, v in forms)
    for name, test in (("pearson", scipy.stats.pearsonr), ("spearman", scipy.stats.spearmanr)):
        found = test(x, y)
        getattr(result, name).MergeFrom(
            records.Correlation(n=len(x), value=float(found[0]), p=float(found[1])))
    return result


def planted_points(seed, points=120):
    draw = numpy.random.default_rng(seed)
    x = numpy.exp(draw.uniform(math.log(20), math.log(900), points))
    score = 0.02 + 0.03 * numpy.log(x) + draw.normal(0, 0.015, points)
    lifetime = numpy.round(1 + 2 * numpy.log(x) + draw.normal(0, 1, points)).clip(1)
    return x, score, lifetime


def regression_report(seed, with_points):
    x, score, lifetime = planted_points(seed)
    report = records.RegressionReport(
        score=regression_result(x, score), lifetime=regression_result(x, lifetime), without_score=4)
    if with_points:
        for y, into in ((score, report.score_points), (lifetime, report.lifetime_points)):
            for each in zip(x, y):
                into.add(x=each[0], y=each[1])
    else:
        broken = report.lifetime.fits[0]
        broken.Clear()
        broken.form = records.REGRESSION_FORM_LINEAR_LOG
        broken.n = 2
        broken.undefined = "fewer than three points"
        report.lifetime.pearson.Clear()
        report.lifetime.pearson.undefined = "no variance in y"
    return report


def compensation_report(seed):
    draw = random.Random(seed)
    report = records.CompensationReport(samples=99)
    for block in range(BLOCKS):
        dip = math.exp(-((block - 13) / 3) ** 2)
        primary, secondary = 0.62 - 0.35 * dip, 0.02 + 0.22 * dip
        spread = 0.01 + 0.02 * draw.random()
        report.blocks.add(
            primary=primary, secondary=secondary, rest=1 - primary - secondary,
            primary_norm=30 + 900 * (3 <= block <= 20),
            primary_interval=records.Interval(lower=primary - spread, upper=primary + spread),
            secondary_interval=records.Interval(lower=secondary - spread, upper=secondary + spread))
    for block, count in ((12, 20), (13, 60), (14, 19)):
        report.weakest_block[block] = count
    for offset, count in ((-3, 100), (-1, 1300), (1, 431)):
        report.start_minus_weakest[offset] = count
    report.pearson.MergeFrom(records.Correlation(n=1800, value=-0.81, p=1e-9))
    report.spearman.MergeFrom(records.Correlation(n=1800, value=-0.78, p=1e-9))
    report.pearson_interval.MergeFrom(records.Interval(lower=-0.85, upper=-0.77))
    report.spearman_interval.MergeFrom(records.Interval(lower=-0.83, upper=-0.74))
    return report


def score_report():
    def statistics(kind, count, mean):
        return records.ScoreStatistics(
            kind=kind, count=count, undefined=2, mean=mean, deviation=0.04, minimum=mean / 2,
            maximum=2 * mean)
    return records.ScoreReport(
        primary_position=statistics(records.SINK_KIND_PRIMARY, 99, 0.44),
        by_kind=[statistics(records.SINK_KIND_SECONDARY, 1827, 0.12),
                 records.ScoreStatistics(kind=records.SINK_KIND_NOISE, count=0, undefined=108)])


def head_report(blocks=BLOCKS, heads=4):
    """Head h of block b attends (b + h) / (blocks + heads) to the primary sink."""
    primary = [(block + head) / (blocks + heads) for block in range(blocks) for head in range(heads)]
    return records.HeadReport(
        samples=98, left_out=2, samples_with_secondary=61, heads=heads, primary=primary,
        entropy=[1 - each for each in primary], max_weight=primary, rest=[1 - each for each in primary],
        secondary=[0.1] * len(primary), primary_value_share=[each / 2 for each in primary],
        dormant=[records.HeadPlace(block=23, head=3)], collapsed=[records.HeadPlace(block=23, head=3)])


def summary(name, level=None):
    counts = {key: n for key, n in LEVELS[name].items() if level is None or key[:2] == level}
    answer = runs.SummarizeRunsResponse(group=f"runs/{name}", runs=[f"runs/{name}"], run_count=1)
    answer.summary.MergeFrom(
        records.Summary(samples=100, positions=51200, levels=level_report(counts)))
    if name != "nightly-00":
        answer.summary.scores.MergeFrom(score_report())
        answer.summary.regression.MergeFrom(regression_report(SEED, with_points=name == "demo-a"))
        answer.summary.compensation.MergeFrom(compensation_report(sum(name.encode())))
    if name == "demo-a":
        answer.summary.sink_rate.MergeFrom(records.SinkRateReport(
            samples=96, left_out=4, rates=[0.7] + [0.05 / i for i in range(1, 64)],
            cells=[100] * 64, hits=[70] + [5] * 63))
        answer.summary.learned_sinks.MergeFrom(
            records.LearnedSinkReport(samples=99, mass=[0.1 + 0.01 * i for i in range(BLOCKS)]))
        answer.summary.heads.MergeFrom(head_report())
        answer.summary.notes.append("kinds by the window rule")
    return answer


def curve(start, lifetime, most):
    """Attention block by block: `most` where blocks read the sink, little elsewhere."""
    return [most if start < block <= start + lifetime else 0.01 for block in range(BLOCKS)]


def portrayed_record():
    record = records.SampleRecord(
        sample_index=0, sample_id="first", layers=BLOCKS, positions=len(TEXT), prompt_tokens=9,
        response_tokens=len(TEXT) - 9, window_start=3, window_end=20)
    record.primary.MergeFrom(records.Sink(
        position=0, token_id=1, token_text=TEXT[0], kind=records.SINK_KIND_PRIMARY, l_start=3,
        lifetime=17, layers=range(3, 20), mlp_norm=930.5, state_norm=931, score=0.44,
        score_curve=curve(3, 17, 0.44)))
    for position, (start, lifetime, kind) in SINKS.items():
        record.sinks.add(
            position=position, token_id=position, token_text=TEXT[position], kind=KINDS[kind],
            l_start=start, lifetime=lifetime, layers=range(start, start + lifetime),
            mlp_norm=100 + position, state_norm=200 + position,
            score=None if kind == "noise" else 0.1 + position / 100,
            score_curve=curve(start, lifetime, 0.1 + position / 100))
    record.portrait.token_texts.extend(TEXT)
    record.portrait.columns = len(TEXT)
    for layer in range(BLOCKS):
        for position in range(len(TEXT)):
            start, lifetime = (3, 17) if position == 0 else SINKS.get(position, (0, 0, ""))[:2]
            inside = start <= layer < start + lifetime
            strong = 1000.0 if position == 0 else 150.0 + position
            record.portrait.state_norms.append(strong if inside else 5.0 + layer + position / 10)
    return record


def records_of(name):
    if name != "demo-a":
        return
    yield runs.StoredRecord(sequence=1, sample_key="first", record=portrayed_record())
    plain = portrayed_record()
    plain.ClearField("portrait")
    plain.sample_id = "second"
    yield runs.StoredRecord(sequence=2, sample_key="second", record=plain)
    failed = runs.StoredRecord(sequence=3, sample_key="third")
    failed.error.sample_id = "third"
    failed.error.status.code = 3
    failed.error.status.message = "the sample has 9000 tokens, the model takes 8192"
    yield failed


def stored_records(name):
    return runs.StreamRecordsResponse(records=records_of(name))


HEADS = 4


def alpha(block, head, position):
    return (1000 * block + 100 * head + position + 100) / 100000


def analysis_answer():
    """What POST /api/v1/analyze answers to one sample, line by line."""
    yield analysis.AnalyzeResponse(started=analysis.AnalyzeStarted(
        spec=analysis.AnalysisSpec(model="models/planted"), blocks=BLOCKS, heads=HEADS,
        compute_type="float32", device="cpu"))
    for block in range(BLOCKS):
        for first in range(0, HEADS, 2):
            yield analysis.AnalyzeResponse(alpha=records.AlphaChunk(
                sample_index=0, block=block, first_head=first, heads=2, positions=len(TEXT),
                values=[alpha(block, head, position) for head in (first, first + 1)
                        for position in range(len(TEXT))]))
    whole = portrayed_record()
    rest = records.SampleRecord(sample_index=0, sinks=whole.sinks[2:])
    del whole.sinks[2:]
    whole.continued = True
    yield analysis.AnalyzeResponse(record=whole)
    yield analysis.AnalyzeResponse(record=rest)
    counts = {level: 1 for level in SINKS.values()}
    yield analysis.AnalyzeResponse(summary=records.Summary(
        samples=1, positions=len(TEXT), levels=level_report(counts)))


def ordered_summaries():
    """By training step; the share of samples jumps between 512 and 1000."""
    steps, shares = [64, 128, 256, 512, 1000, 2000], [0.0, 0.125, 0.0, 0.125, 0.75, 0.875]
    every = [summary("demo-a") for _ in steps]
    for each, step in zip(every, steps):
        each.group, each.label_value = str(step), step
    change = runs.ChangePoint(last_before=512, first_after=1000, mean_before=0.0625,
                              mean_after=0.8125, p=0.133,
                              interval=records.Interval(lower=512, upper=1000))
    every[-1].series.add(name="share_of_samples_with_secondary", label_values=steps, values=shares,
                         change_point=change)
    every[-1].series.add(name="entropy", label_values=steps[4:], values=[1.0, 1.5]
                         ).change_point.undefined = "needs at least 5 values; there are 2"
    return every
