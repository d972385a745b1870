"""What tests of studies share: a server, models both it and transformers hold, and comparisons."""

import copy
import random
import unittest

from tests.e2e.model_root import ModelRoot
from tests.e2e.sinkd_process import Programs, SinkdProcess
from tests.e2e.study_calls import run_study
from tests.oracle import detection, edited_model, studies
from tests.oracle.edited_model import Sample
from tests.oracle.studies import Place

TOLERANCE = 1e-4
ALL_KINDS = ("primary", "secondary", "noise")
KINDS = {name: number for number, name in enumerate(ALL_KINDS, start=1)}
TARGET, CONTROL = 1, 2
SITES = {name: number for number, name in enumerate(
    ("resid_pre", "attn_out", "mlp_in", "gate", "up", "act", "product", "mlp_out", "resid_post"),
    start=1)}
SITE_NAMES = {number: name for name, number in SITES.items()}


class Subject:
    """A model with samples, run by transformers."""

    def __init__(self, folder, samples, threshold=0.9, kinds=ALL_KINDS):
        self.name = folder.rsplit("/", 1)[-1].lower()
        self.kinds = kinds
        parameters = detection.Parameters(cosine_threshold=threshold)
        reference = edited_model.Reference(Programs.oracle / folder)
        self.runs = studies.Runs(reference, samples, parameters)

    def with_samples(self, samples):
        """The same model with others."""
        other = copy.copy(self)
        other.runs = studies.Runs(self.runs.reference, samples, self.runs.parameters)
        return other

    def study(self, channel, **fields):
        """The report; the samples are this subject's."""
        fields.setdefault("targets", {"kinds": [KINDS[kind] for kind in self.kinds]})
        threshold = self.runs.parameters.cosine_threshold
        answer = run_study(channel, self.name, self.runs.samples,
                           detection={"cosine_threshold": threshold}, **fields)
        if answer.failure:
            raise AssertionError(answer.failure)
        return answer.report


def drawn_samples(vocabulary, seed, share):
    """Samples of a tiny random checkpoint (tests/oracle/checkpoint_cases.py): the first token and
    about this share of all are among those that have a direction in common."""
    generator = random.Random(seed)
    shared = range(1, vocabulary, 12)
    samples = []
    for length in (40, 33, 26, 48, 30):
        ids = [generator.choice(shared) if at == 0 or generator.random() < share
               else generator.randrange(3, vocabulary) for at in range(length)]
        samples.append(Sample(tuple(ids), chat_rendered=len(samples) % 2 == 1))
    return samples


class Setting:
    server = None


def set_up(*folders):
    """For setUpModule: a server that holds these checkpoints; undone at the module's end."""
    root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    names = [folder.rsplit("/", 1)[-1].lower() for folder in folders]
    for name, folder in zip(names, folders, strict=True):
        root.link(name, Programs.oracle / folder)
    Setting.server = SinkdProcess(root.path, load=names)
    unittest.addModuleCleanup(Setting.server.stop)


class StudyCase(unittest.TestCase):
    longMessage = True

    @property
    def channel(self):
        return Setting.server.channel

    def check_close(self, got, want, floor, what=""):
        """Within 1e-4 of `want`, or of `floor` where that is larger: the size below which the
        quantity means nothing."""
        self.assertAlmostEqual(got, want, delta=TOLERANCE * max(abs(want), floor), msg=what)

    def check_estimate(self, got, want, floor, what=""):
        """`want` is an estimates.Estimate."""
        self.assertEqual(got.n, want.n, what)
        self.assertEqual(bool(got.undefined), want.value is None, f"{what}: {got.undefined}")
        for field in ("value", "lower", "upper"):
            exact = getattr(want, field)
            self.assertEqual(got.HasField(field), exact is not None, f"{what}: {field}")
            if exact is not None:
                self.check_close(getattr(got, field), exact, floor, f"{what}: {field}")

    def places(self, report, group):
        return [Place(each.sample_index, each.position, each.l_start) for each in report.positions
                if each.group == group]

    def check_totals(self, report, runs):
        self.assertFalse(report.partial, report.partial_reason)
        self.assertEqual(report.samples, len(runs.samples))
        self.assertEqual(report.tokens, sum(len(each.ids) for each in runs.samples))
        self.assertEqual(report.sinks, len(runs.sinks()))
        self.assertGreater(runs.smallest_margin, 2e-4)  # so that nobody finds other sinks

    def check_targets(self, report, runs, kinds, any_start=False, start=None):
        """They are the sinks of these kinds, at their most frequent l_start unless `any_start` or
        another `start` was asked for."""
        self.check_totals(report, runs)
        sinks = runs.sinks(kinds)
        self.assertEqual(report.HasField("target_l_start"), not any_start)
        if not any_start:
            start = studies.most_frequent_start(sinks) if start is None else start
            self.assertEqual(report.target_l_start, start)
            sinks = [each for each in sinks if each[1]["level"][0] == start]
        want = [Place(sample, sink["position"], sink["level"][0]) for sample, sink in sinks]
        targets = self.places(report, TARGET)
        self.assertEqual(targets, want)
        self.assertEqual(report.targets, len(want))
        for each in report.positions:
            token = runs.samples[each.sample_index].ids[each.position]
            self.assertEqual(each.token_id, token)
        return targets

    def check_controls(self, report, runs, targets):
        """As many as targets where there are, first those with a target's token, none a sink."""
        controls = [each for each in report.positions if each.group == CONTROL]
        never = {(sample, position) for sample in range(len(runs.samples))
                 for position in runs.never(sample)}
        got = [(each.sample_index, each.position) for each in controls]
        self.assertEqual(len(set(got)), len(got))
        self.assertLessEqual(set(got), never)
        self.assertEqual(report.controls, len(controls))
        self.assertEqual(len(controls), min(len(targets), len(never)))
        tokens = {runs.samples[each.sample].ids[each.position] for each in targets}
        same = [runs.samples[sample].ids[position] in tokens for sample, position in never]
        flags = [each.same_token for each in controls]
        self.assertEqual(flags, sorted(flags, reverse=True))
        self.assertEqual(sum(flags), min(len(targets), sum(same)))
        self.assertEqual(flags, [each.token_id in tokens for each in controls])
        self.assertEqual([each.l_start for each in controls],
                         [each.l_start for each in targets[:len(controls)]])
        return self.places(report, CONTROL)
