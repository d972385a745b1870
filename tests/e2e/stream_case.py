"""What tests of streams share: a server with two models, and requests sent one by one."""

import queue
import unittest

from tests.e2e import model_root
from tests.e2e.calls import analyze, described, expected, open_stream, planted, spec
from tests.e2e.model_root import PLANTED, TINY, ModelRoot
from tests.e2e.sinkd_process import SinkdProcess

ANALYZE = "sinks.v1.AnalysisService/Analyze"
SERVICES = ("sinks.v1.AnalysisService", "sinks.v1.AuditService", "sinks.v1.MechanismService",
            "sinks.v1.ModelService", "sinks.v1.RunService")
READ_AHEAD = 8


class Setting:
    root = server = None


def set_up():
    """For setUpModule; undone at the module's end."""
    root = Setting.root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    root.link(TINY, model_root.tiny())
    Setting.server = SinkdProcess(root.path, "--read-ahead", READ_AHEAD, load=(PLANTED, TINY))
    unittest.addModuleCleanup(Setting.server.stop)


class Sender:
    """The requests of a stream, sent one by one when the test says so."""

    def __init__(self):
        self._queue = queue.SimpleQueue()

    def send(self, *requests):
        for each in requests:
            self._queue.put(each)

    def close(self):
        self._queue.put(None)

    def __iter__(self):
        return iter(self._queue.get, None)


def begin_stream(channel, **parameters):
    """A stream of PLANTED that has started: its sender and its call."""
    sender = Sender()
    call = open_stream(channel, sender)
    sender.send(spec(PLANTED, **parameters))
    next_of(call, "started")
    return sender, call


def next_of(call, kind):
    """The next message of this kind."""
    return next(getattr(each, kind) for each in call if each.WhichOneof("message") == kind)


class StreamCase(unittest.TestCase):
    def setUp(self):
        self.server, self.channel = Setting.server, Setting.server.channel
        self.planted = model_root.planted_records()

    def check_good_request(self):
        record = self.planted["text-2"]
        answer = analyze(self.channel, [spec(PLANTED), planted(record)])
        self.assertEqual([described(each) for each in answer.results], [expected(record)])
