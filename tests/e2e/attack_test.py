"""What clients of the gRPC port without a token can do to a real server: nothing to its memory, to a polite
caller, or to its end.

    python -m tests.e2e.attack_test BUILD_DIR ORACLE_DIR

ATTACK_SECONDS, 60 for the whole of it, is how long all kinds at once go on.
"""

import contextlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

from tests.e2e import attackers, model_root
from tests.e2e.calls import analyze, ids, spec
from tests.e2e.certificates import Authority
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.secure_sinkd import SecureSinkd, token_line
from tests.e2e.sinkd_process import PATIENCE, main

SECONDS = float(os.environ.get("ATTACK_SECONDS", 10))
CONNECTIONS = 64
LARGEST = 8 << 20   # --max-message-bytes
TOKENS = 500
DRAIN = 2           # seconds, --drain-timeout
TOKEN = "polite"
MIB = 1 << 20


class Attackers:
    """A process of their own, so that they take no time of who looks on."""

    def __init__(self, server, seconds, count, *kinds):
        speak = "tls" if server.ca else "plaintext"
        command = [sys.executable, "-m", "tests.e2e.attackers", speak, server.address, str(seconds), str(count), *kinds]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self._process.stdout.readline() == "begun\n"

    @property
    def running(self):
        return self._process.poll() is None

    def wait(self):
        """What each kind saw."""
        return json.loads(self._process.communicate(timeout=PATIENCE)[0])

    def kill(self):
        self._process.kill()
        self._process.communicate()


class Case(unittest.TestCase):
    def setUp(self):
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)
        root = ModelRoot()
        self.addCleanup(root.cleanup)
        root.link(PLANTED, model_root.planted())
        folder = pathlib.Path(self.stack.enter_context(tempfile.TemporaryDirectory()))
        tokens = folder / "tokens"
        tokens.write_text(token_line("polite", "analyse", TOKEN))
        flags, more = self.options()
        self.server = SecureSinkd(root.path, "--token-file", tokens, "--drain-timeout", f"{DRAIN}s", "--store", "off",
                                  "--max-message-bytes", LARGEST, *flags, load=(PLANTED,), token=TOKEN, **more)
        self.addCleanup(self.kill)

    def options(self):
        """Flags and the rest."""
        return [], {}

    def kill(self):
        if self.server:  # the test failed on its way to the end
            print(self.server.log()[-4000:], file=sys.stderr)
            self.server.kill()

    def end(self):
        server, self.server = self.server, None
        begin = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - begin, DRAIN + 2)
        return server.log()

    def attack(self, seconds, count, *kinds):
        attack = Attackers(self.server, seconds, count, *kinds)
        self.addCleanup(attack.kill)
        return attack

    def be_polite(self):
        """A health check and a sample, and the seconds that each took."""
        begin = time.monotonic()
        self.assertEqual(self.server.health(), "SERVING")
        checked = time.monotonic()
        answer = analyze(self.server.channel, [spec(PLANTED), ids([1] + [5 + i % 7 for i in range(TOKENS - 1)])],
                         metadata=[("authorization", f"Bearer {TOKEN}")])
        self.assertIsNone(answer.failure)
        self.assertEqual(answer.records[0].positions, TOKENS)
        return checked - begin, time.monotonic() - checked

    def be_polite_while(self, attack, least=3):
        took = [self.be_polite() for _ in range(least)]
        while attack.running:
            took.append(self.be_polite())
        return [statistics.median(each) for each in zip(*took)]


class Alone(Case):
    """Each kind by itself, for two seconds."""

    SECONDS, COUNT = 2, 8

    def test_each_kind_takes_little_memory_and_leaves_room_for_others(self):
        begin = time.monotonic()
        self.be_polite()
        for kind in attackers.KINDS:
            with self.subTest(kind=kind):
                before = self.server.peak_memory()
                seen = self.attack(self.SECONDS, self.COUNT, kind)
                self.be_polite()
                seen = seen.wait()[kind]
                self.be_polite()
                grown = self.server.peak_memory() - before
                print(f"{kind}: {seen}, {grown / MIB:.0f} MiB", flush=True)
                self.assertGreaterEqual(seen["connections"], self.COUNT)
                self.assertLess(grown, 192 * MIB)
        log = self.end()
        told = log.count("client disconnected for what it sent")
        self.assertGreaterEqual(told, 1)
        self.assertLessEqual(told, 1 + (time.monotonic() - begin) / 60)  # a line a minute
        self.assertLess(len(log), 4 * MIB)


class Budget(Case):
    """All kinds at once."""

    def test_a_polite_caller_is_served_within_memory_and_time(self):
        self.be_polite()
        alone = [statistics.median(each) for each in zip(*(self.be_polite() for _ in range(9)))]
        before = self.server.peak_memory()
        attack = self.attack(SECONDS, CONNECTIONS)
        under = self.be_polite_while(attack)
        peak = self.server.peak_memory()
        print(f"MiB: {before / MIB:.0f} before, {peak / MIB:.0f} at most; seconds of a health check and a sample: "
              f"alone {alone}, under attack {under}; {attack.wait()}", flush=True)
        self.assertLess(peak, 2 * before + CONNECTIONS * LARGEST)
        self.assertLess(sum(under), 3 * sum(alone))
        self.assertLess(under[0], 3 * alone[0] + alone[1])  # a check is too short to be compared with itself alone
        # Stopped while it goes on.
        self.attack(30, CONNECTIONS)
        self.be_polite()
        log = self.end()
        self.assertLess(len(log), 4 * MIB)


class BudgetOverTls(Budget):
    def options(self):
        ca = Authority("lab")
        self.addCleanup(ca.cleanup)
        certificate, key = ca.issue("server")
        return ["--tls-cert", certificate, "--tls-key", key], {"ca": ca}


if __name__ == "__main__":
    main()
