"""What tests of the Python client share: a server with the planted model, and a client of it."""

import json
import pathlib
import tempfile
import unittest

import sinkd
from sinkd.stream import WINDOW
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


class RestartCase(unittest.TestCase):
    """A server that dies under a stream and comes back at the same address, with the same runs."""

    def setUp(self):
        root = ModelRoot()
        self.addCleanup(root.cleanup)
        root.link(PLANTED, model_root.planted())
        folder = tempfile.TemporaryDirectory(prefix="sinkd-state-")
        self.addCleanup(folder.cleanup)
        self.path, self.state = root.path, pathlib.Path(folder.name)
        self.server = self.start("127.0.0.1:0")
        self.addCleanup(lambda: self.server.stop())
        self.client = sinkd.connect(self.server.address)
        self.addCleanup(self.client.close)
        rows, self.planted = planted_ids()
        self.rows = [{**row, "id": f"{row['id']}-{turn}"} for turn in range(5) for row in rows]
        # When ten are told, some are not sent yet: what breaks then is not at its end.
        self.assertGreater(len(self.rows), 10 + WINDOW)

    def start(self, listen):
        return SinkdProcess(self.path, "--read-ahead", 4, load=(PLANTED,), state=self.state, listen=listen)

    def restart(self):
        address = self.server.address
        self.server.kill()
        self.server = self.start(address)

    def check(self, records):
        self.assertEqual([each.sample_id for each in records], [each["id"] for each in self.rows])
        self.assertEqual([each.sample_index for each in records], list(range(len(self.rows))))
        for record in records:
            self.assertEqual(found(record), wanted(self.planted[record.sample_id.rsplit("-", 1)[0]]))
            self.assertEqual(record.sample.sample_id, record.sample_id)

    def unbroken(self):
        client = sinkd.connect(Setting.server.address)
        self.addCleanup(client.close)
        return client.scores(PLANTED, self.rows, levels=True).read().summary.message
