"""The proxy of compose and chart: a real nginx with their configuration, in front of a real server.

    python -m tests.deploy.proxy_test BUILD_DIR
"""

import collections
import concurrent.futures
import pathlib
import re
import shutil
import socket
import ssl
import subprocess
import tempfile
import unittest

import grpc
import yaml
from grpc_health.v1 import health_pb2, health_pb2_grpc

from tests.deploy.built import ROOT, Build, main, run
from tests.e2e import h2
from tests.e2e.certificates import Authority
from tests.e2e.secure_sinkd import SecureSinkd, call, token_line
from tests.e2e.sinkd_process import PATIENCE, Programs, wait_until

COMPOSE = ROOT / "deploy/compose"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin:/bin")
METHOD = "sinks.v1.ModelService/ListFamilies"
TOKEN = "of the proxy's caller"


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as probe:
        return probe.getsockname()[1]


@unittest.skipUnless(NGINX, "there is no nginx")
class ProxyTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-proxy-")
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        cls.ca = Authority("lab")
        cls.addClassCleanup(cls.ca.cleanup)
        for source, name in zip(cls.ca.issue("server"), ("tls.crt", "tls.key")):
            shutil.copy(source, cls.folder / name)
        (cls.folder / "models").mkdir()
        (cls.folder / "tokens").write_text(token_line("ci", "read", TOKEN))
        settings = yaml.safe_load((COMPOSE / "proxy.yaml").read_text())["services"]["sinkd"]["environment"]
        settings |= {"SINKD_TOKEN_FILE": cls.folder / "tokens"}
        Programs.sinkd = Build.sinkd()
        cls.server = SecureSinkd(cls.folder / "models", "--store", "off", environment=settings)
        cls.addClassCleanup(cls.server.stop)

    def serve(self, **changes):
        """The address of an nginx with compose's configuration, in which no more than addresses, paths and these
        limits are other ones."""
        address = f"127.0.0.1:{free_port()}"
        text = (COMPOSE / "nginx.conf").read_text()
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        changes = {"/tmp/": f"{folder}/", "/run/secrets/": f"{self.folder}/", "listen 50051": f"listen {address}",
                   "server sinkd:50051;": f"server {self.server.address};"} | changes
        for old, new in changes.items():
            self.assertIn(old, text)
            text = text.replace(old, new)
        file = folder / "nginx.conf"
        file.write_text(text)
        code, said, problem = run(NGINX, "-t", "-c", file, "-e", folder / "log")
        self.assertEqual(code, 0, said + problem)
        process = subprocess.Popen([NGINX, "-c", str(file), "-e", str(folder / "log")])
        self.addCleanup(process.wait, PATIENCE)
        self.addCleanup(process.terminate)
        host, port = address.split(":")
        wait_until("nginx listens", lambda: self.listens(host, int(port)))
        return address

    @staticmethod
    def listens(host, port):
        with socket.socket() as probe:
            return probe.connect_ex((host, port)) == 0

    def connect(self, address):
        credentials = grpc.ssl_channel_credentials(self.ca.certificate.read_bytes())
        channel = grpc.secure_channel(address, credentials, [("grpc.ssl_target_name_override", "localhost"),
                                                             ("grpc.use_local_subchannel_pool", 1)])
        self.addCleanup(channel.close)
        return channel

    def check(self, channel):
        try:
            health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(), timeout=PATIENCE)
            return "OK"
        except grpc.RpcError as error:
            return error.code().name, error.details()

    def test_callers_come_through_with_their_tokens(self):
        channel = self.connect(self.serve())
        self.assertEqual(self.check(channel), "OK")
        self.assertEqual(call(channel, METHOD).code, "UNAUTHENTICATED")
        self.assertIsNone(call(channel, METHOD, TOKEN))

    def test_who_calls_too_often_is_told_so(self):
        channel = self.connect(self.serve(**{"rate=1000r/s": "rate=1r/s", "burst=1000": "burst=9"}))
        seen = collections.Counter(self.check(channel) for _ in range(40))
        self.assertEqual(set(seen), {"OK", ("RESOURCE_EXHAUSTED", "too many calls from this address; retry later")})
        self.assertGreaterEqual(seen["OK"], 10)

    def test_who_has_too_many_calls_open_is_told_so(self):
        channel = self.connect(self.serve(**{"limit_conn open 128;": "limit_conn open 5;"}))
        stub = health_pb2_grpc.HealthStub(channel)
        watches = [stub.Watch(health_pb2.HealthCheckRequest(), timeout=PATIENCE) for _ in range(5)]
        for each in watches:
            next(each)
        self.assertEqual(self.check(channel)[0], "RESOURCE_EXHAUSTED")
        watches[0].cancel()
        wait_until("its place is free", lambda: self.check(channel) == "OK")

    def test_resets_do_not_reach_the_server_in_numbers(self):
        address = self.serve()
        host, port = address.split(":")
        headers = h2.request(f"/{METHOD}", h2.field("authorization", f"Bearer {TOKEN}"))
        reset = h2.CANCEL.to_bytes(4, "big")
        script = h2.PREFACE + h2.frame(h2.SETTINGS) + b"".join(
            h2.frame(h2.HEADERS, h2.END_HEADERS, stream, headers) + h2.frame(h2.RST_STREAM, 0, stream, reset)
            for stream in range(1, 40_000, 2))
        before = self.started()
        context = self.context()
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as raw:
            with context.wrap_socket(raw, server_hostname="localhost") as secured:
                try:
                    secured.sendall(script)
                    while secured.recv(65536):
                        pass
                except OSError:  # it closed before it had read all
                    pass
        # The limits of an address: a burst of 1,000, and 1,000 a second.
        self.assertLess(self.started() - before, 10_000)
        self.assertEqual(self.check(self.connect(self.serve())), "OK")

    def started(self):
        return sum(value for (name, _), value in self.server.metrics().items()
                   if name == "sinkd_rpc_started_total")

    def test_a_server_that_is_not_there_is_unavailable(self):
        channel = self.connect(self.serve(**{f"server {self.server.address};": f"server 127.0.0.1:{free_port()};"}))
        self.assertEqual(self.check(channel)[0], "UNAVAILABLE")

    def context(self):
        context = ssl.create_default_context(cafile=str(self.ca.certificate))
        context.set_alpn_protocols(["h2"])
        return context


if __name__ == "__main__":
    main()
