"""What clients of the HTTP port that mean harm can do to a real server without tokens: nothing to
probes, to its memory, or to its end.

    python -m tests.e2e.http_attack_test BUILD_DIR ORACLE_DIR
"""

import contextlib
import socket
import time
import unittest

from tests.e2e.certificates import Authority
from tests.e2e.model_root import ModelRoot
from tests.e2e.secure_sinkd import SecureSinkd
from tests.e2e.sinkd_process import PATIENCE, main

CONNECTIONS = 200  # of one address, of 256 that it may have
MEMORY = 64 << 20  # what all of them together may take; answers that are not read are not ours
LAST = 20          # seconds to the end of a server that waits for nobody
HOST = "Host: localhost\r\n"


class Case(unittest.TestCase):
    def setUp(self):
        root = ModelRoot()
        self.addCleanup(root.cleanup)
        self.server = self.start(root.path)
        self.addCleanup(self.kill)
        self.stack = contextlib.ExitStack()
        self.addCleanup(self.stack.close)

    def open(self, sent=b""):
        host, port = self.server.http.rsplit(":", 1)
        connection = self.stack.enter_context(
            socket.create_connection((host, int(port)), timeout=PATIENCE))
        if sent:
            with contextlib.suppress(OSError):
                connection.sendall(sent)
        return connection

    def many(self, *sent):
        return [self.open(sent[i % len(sent)]) for i in range(CONNECTIONS)]

    def probe(self):
        connection = self.server.http_connection()
        try:
            for path in ("/healthz", "/readyz", "/metrics", "/api/v1/models"):
                connection.request("GET", path)
                answer = connection.getresponse()
                answer.read()
                self.assertEqual(answer.status, 200, path)
        finally:
            connection.close()

    def kill(self):
        if self.server:  # the test failed on its way to the end
            self.server.kill()

    def end(self):
        server, self.server = self.server, None
        begin = time.monotonic()
        server.stop()
        self.assertLess(time.monotonic() - begin, LAST)

    def check_silence(self, *sent):
        held = self.many(*sent)
        self.probe()
        for each in held[::len(sent)]:
            each.setblocking(False)
            with self.assertRaises(BlockingIOError):  # it is still there
                each.recv(1)
        self.end()


class Attack(Case):
    def start(self, root):
        return SecureSinkd(root)

    def test_silence(self):
        half = f"GET /metrics HTTP/1.1\r\n{HOST}".encode()
        self.check_silence(b"", half, b"G", half + b"Content-Length: 5\r\n\r\nab")

    def test_memory(self):
        self.probe()
        before = self.server.peak_memory()
        ranges = "Range: bytes=0-" + ",0-" * 1500 + "\r\n"
        short, long = "A: b\r\n" * 200_000, "A: " + "x" * (2 << 20) + "\r\n"
        lines = [f"GET {path} HTTP/1.1\r\n{HOST}{more}\r\n".encode()
                 for path in ("/metrics", "/", "/api/v1/openapi.yaml") for more in ("", ranges)]
        lines += [f"GET / HTTP/1.1\r\n{HOST}{more}\r\n".encode() for more in (short, long)]
        lines += [f"POST /api HTTP/1.1\r\n{HOST}Content-Length: 99999999999\r\n\r\n{long}".encode(),
                  lines[0] * 100]
        self.many(*lines)
        self.probe()
        self.assertLess(self.server.peak_memory() - before, MEMORY)
        self.end()


class AttackOverTls(Case):
    def start(self, root):
        ca = Authority("lab")
        self.addCleanup(ca.cleanup)
        certificate, key = ca.issue("server")
        return SecureSinkd(root, "--tls-cert", certificate, "--tls-key", key, ca=ca)

    def test_silence(self):
        # A record of a handshake that does not come to its end.
        self.check_silence(b"", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03")


if __name__ == "__main__":
    main()
