"""What tests of the Python client share: a server with the planted model, and a client of it."""

import json
import unittest

import sinkd
from tests.e2e import model_root
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.sinkd_process import SinkdProcess

TEXT = "First we count. Wait, that is wrong, because two is even. Thus we are done."


class Setting:
    root = server = None


def set_up():
    """For setUpModule; undone at the module's end."""
    root = Setting.root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    Setting.server = SinkdProcess(root.path, "--read-ahead", 4, load=(PLANTED,))
    unittest.addModuleCleanup(Setting.server.stop)


def samples():
    """Those of the planted model: texts, pairs, a chat, token ids."""
    return [json.loads(line) for line in (model_root.planted() / "samples.jsonl").read_text().splitlines()]


def planted_ids():
    """The same as token ids, with what must be found in them."""
    planted = model_root.planted_records()
    rows = [{"id": key, "token_ids": each["token_ids"], "chat_rendered": each["chat_rendered"]}
            for key, each in planted.items()]
    return rows, planted


class ClientCase(unittest.TestCase):
    def setUp(self):
        self.server = Setting.server
        self.client = sinkd.connect(self.server.address)
        self.addCleanup(self.client.close)


def found(record):
    """A record's sinks in the words of a planted records.jsonl."""
    kinds = {1: "primary", 2: "secondary", 3: "noise"}
    return [(each.position, kinds[each.kind], list(each.layers)) for each in record.sinks]


def wanted(planted):
    return [(each["position"], each["kind"], each["layers"]) for each in planted["sinks"]]
