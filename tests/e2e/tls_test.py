"""TLS and mutual TLS on both ports of a real server, and certificates that change under way."""

import pathlib
import queue
import shutil
import socket
import ssl
import subprocess
import tempfile
import time
import unittest

import grpc

from tests.e2e import model_root
from tests.e2e.calls import open_stream, planted, spec
from tests.e2e.certificates import Authority
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.secure_sinkd import SecureSinkd, call
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main, wait_until

METHOD = "sinks.v1.ModelService/ListFamilies"
H2 = ("h2",)


class Setting:
    root = ca = other = None


def setUpModule():
    root = Setting.root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    Setting.ca, Setting.other = Authority("lab"), Authority("stranger")
    for authority in (Setting.ca, Setting.other):
        unittest.addModuleCleanup(authority.cleanup)


def code_of(failure):
    return failure.code if failure else "OK"


class TlsCase(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="sinkd-tls-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def put(self, certificate, key):
        """Puts the files in place of those before, each as a whole."""
        for source, name in ((certificate, "tls.crt"), (key, "tls.key")):
            shutil.copy(source, self.folder / "new")
            (self.folder / "new").replace(self.folder / name)

    def serve(self, *flags, **options):
        server = SecureSinkd(Setting.root.path, "--tls-cert", self.folder / "tls.crt", "--tls-key",
                             self.folder / "tls.key", *flags, ca=Setting.ca, **options)
        self.addCleanup(server.stop)
        return server

    def attempt(self, server, **credentials):
        channel = server.connect(**credentials)
        self.addCleanup(channel.close)
        return code_of(call(channel, METHOD))

    def run_sinkctl(self, server, *arguments):
        return subprocess.run(
            [Programs.sinkctl, "--server", server.address, *map(str, arguments)],
            capture_output=True, text=True, timeout=PATIENCE)


class TlsTest(TlsCase):
    def test_both_ports_speak_tls_to_who_trusts_their_ca_and_no_plaintext(self):
        self.put(*Setting.ca.issue("server"))
        server = self.serve()
        self.assertEqual(self.attempt(server), "OK")
        self.assertEqual(self.attempt(server, ca=Setting.other), "UNAVAILABLE")
        self.assertEqual(self.attempt(server, name="elsewhere.example"), "UNAVAILABLE")
        with grpc.insecure_channel(server.address) as channel:
            self.assertEqual(code_of(call(channel, METHOD)), "UNAVAILABLE")
        self.assertEqual(server.get("/healthz")[0], 200)
        self.assertIn("sinkd_ready 1", server.metrics_text())
        with self.assertRaises(OSError):
            server.get("/healthz", ca=Setting.other)
        self.assertEqual(self.run_sinkctl(server, "models", "--tls-ca",
                                          Setting.ca.certificate).returncode, 0)

    def test_sinkctl_says_that_it_cannot_reach_what_it_does_not_trust(self):
        self.put(*Setting.ca.issue("server"))
        server = self.serve()
        for flags, words in (
            ([], "give --tls-ca"),
            (["--tls-ca", Setting.other.certificate],
             f"no certificate of --tls-ca {Setting.other.certificate} signed the server's"),
            (["--tls-ca", Setting.ca.certificate, "--tls-server-name", "elsewhere"],
             "--tls-server-name"),
        ):
            done = self.run_sinkctl(server, "models", *flags)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertRegex(done.stderr, r"\Asinkctl: cannot reach [^\n]*\n\Z")
            self.assertIn(words, done.stderr)
        mine, key = Setting.ca.issue("ci")
        for flags, words in (
            (["--tls-ca", self.folder / "none"], "--tls-ca"),
            (["--tls-ca", key], "holds no certificate in PEM"),
            (["--tls-ca", mine, "--tls-cert", mine, "--tls-key", Setting.other.key],
             f"--tls-key {Setting.other.key} is not the key of --tls-cert"),
        ):
            done = self.run_sinkctl(server, "models", *flags)
            self.assertEqual(done.returncode, 2)
            self.assertRegex(done.stderr, r"\Asinkctl: [^\n]*\n\Z")
            self.assertIn(words, done.stderr)

    def test_sinkctl_says_that_a_server_speaks_no_tls_and_shows_the_log_of_grpc_when_asked(self):
        server = SinkdProcess(Setting.root.path)
        self.addCleanup(server.stop)
        flags = ("models", "--tls-ca", Setting.ca.certificate)
        done = self.run_sinkctl(server, *flags)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"\Asinkctl: cannot reach [^\n]*does not speak TLS[^\n]*\n\Z")
        self.assertIn("ssl_transport", self.run_sinkctl(server, *flags, "--verbose").stderr)

    def test_a_large_answer_comes_whole(self):
        self.put(*Setting.ca.issue("server"))
        text = self.serve().metrics_text()
        self.assertGreater(len(text), 16 << 10)  # more than one record of TLS
        self.assertTrue(text.endswith("\n"))

    def cipher_of(self, server, ciphers):
        """What TLS 1.2 agrees on with a client that offers these."""
        context = ssl.create_default_context(cafile=str(Setting.ca.certificate))
        context.maximum_version = ssl.TLSVersion.TLSv1_2
        context.set_ciphers(ciphers)
        host, port = server.http.rsplit(":", 1)
        with socket.create_connection((host, int(port)), timeout=PATIENCE) as raw:
            with context.wrap_socket(raw, server_hostname="localhost") as secured:
                return secured.cipher()[0]

    def test_http_takes_ciphers_with_forward_secrecy_that_authenticate(self):
        self.put(*Setting.ca.issue("server", key_type="rsa"))
        server = self.serve()
        for good in ("ECDHE-RSA-AES128-GCM-SHA256", "ECDHE-RSA-AES256-GCM-SHA384",
                     "ECDHE-RSA-CHACHA20-POLY1305"):
            self.assertEqual(self.cipher_of(server, good), good)
        for bad in ("AES128-GCM-SHA256", "AES256-SHA256", "AES128-SHA", "AES256-CCM",
                    "ECDHE-RSA-AES128-SHA256", "ECDHE-RSA-AES256-SHA"):
            with self.assertRaises(OSError, msg=bad):
                self.cipher_of(server, bad)

    def test_an_expired_certificate_is_told_of_and_served(self):
        expired = Setting.ca.issue("server", days=-1)
        self.put(*Setting.ca.issue("server"))
        server = self.serve()
        self.put(*expired)
        wait_until("the expired one is in force",
                   lambda: "the certificate has expired" in server.log())
        wait_until("a new connection is refused by the client",
                   lambda: self.attempt(server) == "UNAVAILABLE")
        self.assertEqual(self.run_sinkctl(server, "models", "--tls-ca",
                                          Setting.ca.certificate).returncode, 3)


class MutualTlsTest(TlsCase):
    def setUp(self):
        super().setUp()
        self.put(*Setting.ca.issue("server"))
        self.mine = Setting.ca.issue("ci.lab.example")
        self.server = self.serve("--tls-client-ca", Setting.ca.certificate, pair=self.mine)

    def test_only_certificates_of_the_client_ca_are_taken(self):
        self.assertEqual(self.attempt(self.server), "OK")
        self.assertEqual(self.attempt(self.server, pair=()), "UNAVAILABLE")
        self.assertEqual(self.attempt(self.server, pair=Setting.other.issue("ci")), "UNAVAILABLE")
        wait_until("the name is logged", lambda: "caller=ci.lab.example" in self.server.log())

    def test_http_gives_probes_to_all_and_the_rest_to_certificates(self):
        self.assertEqual(self.server.get("/healthz", pair=())[0], 200)
        for path in ("/metrics", "/api/v1/models"):
            self.assertEqual(self.server.get(path)[0], 200, path)
            self.assertEqual(self.server.get(path, pair=())[0], 401, path)
            with self.assertRaises(OSError):
                self.server.get(path, pair=Setting.other.issue("ci"))

    def test_a_certificate_has_one_name_on_both_ports(self):
        for common, names, caller in (
                ("c.example", ("DNS:d.example",), "c.example"),
                (None, ("DNS:d.example", "email:n@lab.example"), "d.example"),
                (None, ("email:nora@lab.example", "DNS:d.example"), "nora@lab.example"),
                (None, ("URI:spiffe://lab/ci",), "spiffe://lab/ci"),
                (None, ("IP:10.1.2.3",), "10.1.2.3")):
            pair = Setting.ca.issue(common, hosts=names)
            self.assertEqual(self.attempt(self.server, pair=pair), "OK", caller)
            self.assertEqual(self.server.get("/api/v1/models", pair=pair)[0], 200, caller)
            lines = lambda: [line for line in self.server.log().splitlines()
                             if "request done" in line and f"caller={caller}" in line]
            wait_until("both calls are logged",
                       lambda: any(" status=200" in line for line in lines()) and
                       any(METHOD in line for line in lines()))

    def test_sinkctl_shows_its_certificate(self):
        flags = ["--tls-ca", Setting.ca.certificate]
        done = self.run_sinkctl(self.server, "models", *flags, "--tls-cert", self.mine[0],
                                "--tls-key", self.mine[1])
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.run_sinkctl(self.server, "models", *flags)
        self.assertEqual(done.returncode, 3)
        self.assertRegex(done.stderr, r"\Asinkctl: cannot reach [^\n]*give --tls-cert\n\Z")


class RotationTest(TlsCase):
    def test_a_stream_goes_on_while_new_connections_see_the_new_certificate(self):
        self.put(*Setting.ca.issue("first"))
        server = self.serve(load=(PLANTED,))
        before = server.certificate_served(server.address, H2)
        record = model_root.planted_records()["text-2"]
        sent = queue.SimpleQueue()
        stream = open_stream(server.channel, iter(sent.get, None))
        sent.put(spec(PLANTED))
        self.assertEqual(next(stream).WhichOneof("message"), "started")

        self.put(*Setting.ca.issue("second"))
        wait_until("gRPC shows the new certificate",
                   lambda: server.certificate_served(server.address, H2) != before)
        wait_until("HTTP shows the new certificate",
                   lambda: server.certificate_served(server.http) != before)
        self.assertEqual(self.attempt(server), "OK")

        sent.put(planted(record))
        sent.put(None)
        answers = list(stream)
        self.assertTrue(any(each.HasField("record") for each in answers))
        self.assertEqual(stream.code(), grpc.StatusCode.OK)

    def test_a_pair_that_does_not_fit_together_leaves_the_old_one_in_force(self):
        self.put(*Setting.ca.issue("first"))
        server = self.serve()
        before = server.certificate_served(server.address, H2)
        failed = lambda: server.metric("sinkd_access_reloads_total", file="certificate",
                                       outcome="failed")
        certificate, _ = Setting.ca.issue("second")
        _, key = Setting.ca.issue("third")
        self.put(certificate, key)
        wait_until("the pair is found broken", lambda: failed() > 0)
        self.assertEqual(server.certificate_served(server.address, H2), before)
        self.assertEqual(server.certificate_served(server.http), before)
        self.assertIn("the certificate before them stays", server.log())

    def test_the_end_of_the_certificate_in_force_is_a_metric(self):
        self.put(*Setting.ca.issue("first", days=2))
        server = self.serve()
        end = lambda: server.metric("sinkd_tls_certificate_expiry_timestamp_seconds")
        self.assertAlmostEqual(end(), time.time() + 2 * 86400, delta=3600)
        self.put(*Setting.ca.issue("second", days=30))
        wait_until("the metric follows", lambda: end() > time.time() + 29 * 86400)


if __name__ == "__main__":
    main()
