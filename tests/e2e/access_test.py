"""Who may call what, over both ports of a real server."""

import contextlib
import http.client
import json
import os
import pathlib
import queue
import random
import select
import signal
import socket
import struct
import subprocess
import tempfile
import unittest

import grpc
import yaml
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import (
    ProtoReflectionDescriptorDatabase,
)
from google.protobuf.descriptor_pool import DescriptorPool

from tests.e2e import h2, model_root, stubs
from tests.e2e.calls import Failure, planted, sample, spec
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.secure_sinkd import SecureSinkd, call, token_line
from tests.e2e.sinkd_process import PATIENCE, Programs, main, wait_until

SOURCE = pathlib.Path(__file__).parents[2]
ROLES = ["read", "analyse", "admin"]
TOKENS = {role: f"secret-of-{role}-Zm9vYmFy" for role in ROLES}
WRONG = "hunter2-is-no-token"

# The least role for each method, as docs/security.md has it; None: open to all.
EXPECTED = {
    "grpc.health.v1.Health/Check": None,
    "grpc.health.v1.Health/Watch": None,
    "grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo": "read",
    "sinks.v1.ModelService/ListModels": "read",
    "sinks.v1.ModelService/GetModel": "read",
    "sinks.v1.ModelService/PlanModel": "read",
    "sinks.v1.ModelService/ListFamilies": "read",
    "sinks.v1.ModelService/LoadModel": "admin",
    "sinks.v1.ModelService/UnloadModel": "admin",
    "sinks.v1.AnalysisService/Analyze": "analyse",
    "sinks.v1.MechanismService/RunStudy": "analyse",
    "sinks.v1.RunService/GetRun": "read",
    "sinks.v1.RunService/ListRuns": "read",
    "sinks.v1.RunService/ListSampleKeys": "read",
    "sinks.v1.RunService/StreamRecords": "read",
    "sinks.v1.RunService/SummarizeRuns": "read",
    "sinks.v1.RunService/ListStudies": "read",
    "sinks.v1.RunService/CreateRun": "analyse",
    "sinks.v1.RunService/UpdateRun": "analyse",
    "sinks.v1.RunService/ImportRecords": "admin",
    "sinks.v1.RunService/DeleteRun": "admin",
    "sinks.v1.RunService/BackUpStore": "admin",
    "sinks.v1.AuditService/AuditRuns": "read",
    "sinks.v1.ServerService/GetServerStatus": "read",
}
OPEN_PATHS = ("/", "/healthz", "/readyz")
REFUSALS = ("UNAUTHENTICATED", "PERMISSION_DENIED")


class Setting:
    root = server = tokens = None


def setUpModule():
    root = Setting.root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    folder = tempfile.TemporaryDirectory(prefix="sinkd-tokens-")
    unittest.addModuleCleanup(folder.cleanup)
    Setting.tokens = pathlib.Path(folder.name) / "tokens"
    write_tokens(*(token_line(role, role, TOKENS[role]) for role in ROLES))
    Setting.server = SecureSinkd(root.path, "--token-file", Setting.tokens, token=TOKENS["read"],
                                 load=(PLANTED,))
    unittest.addModuleCleanup(Setting.server.stop)


def write_tokens(*lines):
    """Replaces the file as a whole."""
    new = Setting.tokens.with_suffix(".new")
    new.write_text("".join(lines))
    new.replace(Setting.tokens)


def all_tokens(*more):
    return (*(token_line(role, role, TOKENS[role]) for role in ROLES), *more)


def offered_methods(channel, token):
    """Every method that a server has, as its reflection tells."""
    stub = ProtoReflectionDescriptorDatabase(
        grpc.intercept_channel(channel, Bearer(token)))
    pool = DescriptorPool(stub)
    methods = set()
    for service in stub.get_services():
        methods |= {f"{service}/{method.name}"
                    for method in pool.FindServiceByName(service).methods}
    return methods


class Bearer(grpc.StreamStreamClientInterceptor):
    def __init__(self, token):
        self._header = ("authorization", f"Bearer {token}")

    def intercept_stream_stream(self, continuation, details, requests):
        metadata = [*(details.metadata or ()), self._header]
        return continuation(details._replace(metadata=metadata), requests)


def call_without_end(stack, address):
    """Sends a unary request but for its last byte, until the call has an answer; the connection stays open."""
    host, port = address.rsplit(":", 1)
    connection = stack.enter_context(socket.create_connection((host, int(port)), timeout=PATIENCE))
    wide = h2.frame(h2.WINDOW_UPDATE, payload=struct.pack(">I", 1 << 30))
    size = (8 << 20) - 16
    rest = memoryview(
        h2.PREFACE + h2.frame(h2.SETTINGS) + wide +
        h2.frame(h2.HEADERS, h2.END_HEADERS, 1, h2.request("/sinks.v1.ModelService/GetModel")) +
        h2.data(1, h2.message(bytes(size - 1), size)))
    received = b""
    while not any(kind == h2.HEADERS and flags & h2.END_STREAM for kind, flags, _, _ in h2.frames(received)):
        readable, writable, _ = select.select([connection], [connection] if rest else [], [], PATIENCE)
        if not readable and not writable:
            raise TimeoutError("the call has no answer")
        if readable:
            received += connection.recv(1 << 16)
        elif writable:
            rest = rest[connection.send(rest[:1 << 14]):]
    return received


class AccessCase(unittest.TestCase):
    CHEAP = "sinks.v1.ModelService/ListFamilies"

    def setUp(self):
        self.server = Setting.server
        self.channel = self.server.connect()
        self.addCleanup(self.channel.close)

    def code(self, token):
        failure = call(self.channel, self.CHEAP, token)
        return failure.code if failure else "OK"


class RpcTest(AccessCase):
    def test_every_method_that_is_offered_has_a_role_that_was_decided_upon(self):
        self.assertEqual(offered_methods(self.channel, TOKENS["read"]), set(EXPECTED))

    def test_every_method_is_refused_without_a_token_and_with_an_unknown_one(self):
        for method, least in EXPECTED.items():
            if least is None:
                continue
            for token, reason in ((None, "TOKEN_MISSING"), (WRONG, "TOKEN_UNKNOWN")):
                with self.subTest(method=method, token=token):
                    failure = call(self.channel, method, token)
                    self.assertEqual(failure.code, "UNAUTHENTICATED")
                    self.assertNotIn(WRONG, repr(failure))
                    if method.startswith("sinks."):
                        self.assertEqual(failure.reason, reason)

    def test_every_method_is_refused_to_lower_roles_and_to_no_higher_one(self):
        for method, least in EXPECTED.items():
            for role in ROLES:
                with self.subTest(method=method, role=role):
                    failure = call(self.channel, method, TOKENS[role])
                    code = failure.code if failure else "OK"
                    if least and ROLES.index(role) < ROLES.index(least):
                        self.assertEqual(code, "PERMISSION_DENIED")
                        self.assertEqual(failure.reason, "ROLE_TOO_LOW")
                    else:
                        self.assertNotIn(code, REFUSALS)

    def test_a_refused_call_holds_nothing_of_its_request(self):
        """60 connections, each with a request of 8 MiB that lacks its last byte."""
        before = self.server.peak_memory()
        with contextlib.ExitStack() as stack:
            for _ in range(60):
                self.assertIn(b"grpc-status\x0216", call_without_end(stack, self.server.address))
        self.assertLess(self.server.peak_memory() - before, 64 << 20)

    def test_probes_need_no_token(self):
        self.assertEqual(self.server.health(), "SERVING")
        self.assertIsNone(call(self.channel, "grpc.health.v1.Health/Watch"))

    def test_a_refusal_does_not_tell_whether_a_model_exists(self):
        stub = "sinks.v1.ModelService/GetModel"
        failures = [call(self.channel, stub, message=bytes([10, len(name)]) + name.encode())
                    for name in (f"models/{PLANTED}", "models/none")]
        self.assertEqual(failures[0], failures[1])

    def test_the_caller_is_named_in_the_log(self):
        self.assertIsNone(call(self.channel, self.CHEAP, TOKENS["admin"]))
        wait_until("the call is logged", lambda: "caller=admin" in self.server.log())

    def test_metadata_is_bounded(self):
        call_with = self.channel.stream_stream(f"/{self.CHEAP}")
        header = ("authorization", f"Bearer {TOKENS['read']}")
        self.assertTrue(list(call_with(iter([b""]), metadata=[header, ("x-more", "a" * 8000)],
                                       timeout=PATIENCE)))
        with self.assertRaises(grpc.RpcError) as refused:
            list(call_with(iter([b""]), metadata=[header, ("x-more", "a" * 20000)],
                           timeout=PATIENCE))
        self.assertEqual(refused.exception.code(), grpc.StatusCode.RESOURCE_EXHAUSTED)

    def test_headers_of_all_sorts_are_refused(self):
        source = random.Random(3)
        letters = "".join(map(chr, range(0x20, 0x7f)))
        for _ in range(300):
            text = "".join(source.choices(letters, k=source.randrange(60))).strip()
            header = source.choice(["", "Bearer ", "bearer ", "Basic "]) + text
            failure = call(self.channel, self.CHEAP, header=header)
            self.assertEqual(failure.code, "UNAUTHENTICATED", header)


class HttpTest(AccessCase):
    def paths(self):
        described = yaml.safe_load((SOURCE / "docs" / "openapi.yaml").read_text())["paths"]
        return [path.replace("{id}", "none") for path, methods in described.items() if "get" in methods]

    def test_every_path_of_the_api_and_metrics_are_refused_without_a_token(self):
        paths = [*self.paths(), "/metrics", "/api/v1/none", "/api"]
        self.assertGreater(len(paths), 8)
        for path in paths:
            for headers in ([], [f"Bearer {WRONG}"], [f"Basic {TOKENS['admin']}"],
                            [f"Bearer {TOKENS['read']}"] * 2):
                with self.subTest(path=path, headers=headers):
                    status, told, text = self.server.get(path, *headers)
                    self.assertEqual(status, 401, text)
                    self.assertTrue(told["WWW-Authenticate"].startswith("Bearer"))
                    self.assertNotIn(WRONG, text)

    def test_every_path_takes_every_role(self):
        for path in (*self.paths(), "/metrics"):
            for role in ROLES:
                with self.subTest(path=path, role=role):
                    status, _, _ = self.server.get(path, f"Bearer {TOKENS[role]}")
                    self.assertNotIn(status, (401, 403))

    def test_who_may_post_analyses(self):
        for role, status in ((None, 401), ("read", 403), ("analyse", 400), ("admin", 400)):  # 400: it is empty
            connection = http.client.HTTPConnection(self.server.http, timeout=PATIENCE)
            headers = {"Content-Type": "application/jsonl"}
            if role:
                headers["Authorization"] = f"Bearer {TOKENS[role]}"
            connection.request("POST", "/api/v1/analyze", b"", headers)
            self.assertEqual(connection.getresponse().status, status, role)
            connection.close()

    def test_the_page_and_probes_are_open(self):
        for path in OPEN_PATHS:
            self.assertIn(self.server.get(path)[0], (200, 404), path)  # 404: built without a page

    def test_headers_of_all_sorts_are_refused_and_the_server_goes_on(self):
        source = random.Random(4)
        host, port = self.server.http.rsplit(":", 1)
        for _ in range(500):
            value = bytes(source.choices(range(256), k=source.randrange(200)))
            request = b"GET /api/v1/models HTTP/1.1\r\nHost: localhost\r\nAuthorization: " + value
            with socket.create_connection((host, int(port)), timeout=PATIENCE) as raw:
                raw.sendall(request + b"\r\n\r\n")
                raw.shutdown(socket.SHUT_WR)
                line = raw.makefile("rb").readline()
            self.assertNotIn(b" 200 ", line, value)
        self.assertEqual(self.server.get("/healthz")[0], 200)


class ReloadTest(AccessCase):
    def tearDown(self):
        write_tokens(*all_tokens())
        wait_until("the tokens are back", lambda: self.code("late") == "UNAUTHENTICATED")

    def failed(self):
        return self.server.metric("sinkd_access_reloads_total", file="tokens", outcome="failed")

    def test_a_new_token_is_taken_once_the_file_holds_it_and_no_longer_than_that(self):
        self.assertEqual(self.code("late"), "UNAUTHENTICATED")
        write_tokens(*all_tokens(token_line("late", "read", "late")))
        wait_until("the token is taken", lambda: self.code("late") == "OK")
        write_tokens(*all_tokens())
        wait_until("the token is gone", lambda: self.code("late") == "UNAUTHENTICATED")
        self.assertEqual(self.code(TOKENS["read"]), "OK")

    def test_a_broken_file_changes_nothing_but_a_counter(self):
        before = self.failed()
        write_tokens("admin admin not-a-digest\n")
        wait_until("the file is found broken", lambda: self.failed() > before)
        self.assertEqual(self.code(TOKENS["admin"]), "OK")
        self.assertIn("the tokens before it stay", self.server.log())
        self.assertNotIn("not-a-digest", self.server.log())

    def test_sighup_reads_the_file_again(self):
        read = lambda: self.server.metric("sinkd_access_reloads_total", file="tokens", outcome="ok")
        before = read()
        os.kill(self.server.pid, signal.SIGHUP)
        wait_until("the file is read", lambda: read() > before)


class QuotaTest(AccessCase):
    def quota(self, *settings):
        write_tokens(*all_tokens(token_line("small", "analyse", "small", *settings)))
        wait_until("the token is taken", lambda: self.code("small") != "UNAUTHENTICATED")

    def tearDown(self):
        write_tokens(*all_tokens())
        wait_until("the token is gone", lambda: self.code("small") == "UNAUTHENTICATED")

    def check_exhausted(self, failure, subject):
        self.assertEqual(failure.code, "RESOURCE_EXHAUSTED")
        self.assertEqual(failure.reason, "QUOTA_USED_UP")
        self.assertEqual(failure.metadata["subject"], subject)
        self.assertEqual(failure.details, ("ErrorInfo", "QuotaFailure", "RetryInfo"))

    def test_requests_are_bounded_over_both_ports(self):
        self.quota("requests-per-minute=3")
        wait_until("the quota is used up", lambda: self.code("small") != "OK")
        self.check_exhausted(call(self.channel, self.CHEAP, "small"), "requests-per-minute")
        status, headers, _ = self.server.get("/api/v1/models", "Bearer small")
        self.assertEqual(status, 429)
        self.assertGreater(int(headers["Retry-After"]), 0)

    def stream(self, requests):
        return self.channel.stream_stream("/sinks.v1.AnalysisService/Analyze")(
            requests, metadata=[("authorization", "Bearer small")], timeout=PATIENCE)

    def test_streams_are_bounded(self):
        self.quota("streams=1")
        opened = spec(PLANTED).SerializeToString()
        held = queue.SimpleQueue()
        first = self.stream(iter(held.get, None))
        held.put(opened)
        next(first)
        self.check_exhausted(call(self.channel, "sinks.v1.AnalysisService/Analyze", "small",
                                  message=opened), "streams")
        held.put(None)
        for _ in first:
            pass
        wait_until("the place is free again", lambda: call(
            self.channel, "sinks.v1.AnalysisService/Analyze", "small", message=opened) is None)

    def test_tokens_of_samples_are_bounded_sample_by_sample(self):
        self.quota("tokens-per-minute=1")
        record = model_root.planted_records()["text-2"]
        answers = self.analyze(planted(record), planted(record))
        errors = [each.sample_error for each in answers if each.HasField("sample_error")]
        self.assertEqual(sum(each.HasField("record") for each in answers), 1)
        self.assertEqual(len(errors), 1)
        self.check_exhausted(Failure.of_status(errors[0].status), "tokens-per-minute")

    def test_a_text_that_is_too_long_counts_too(self):
        self.quota("tokens-per-minute=1")
        record = model_root.planted_records()["text-2"]
        answers = self.analyze(sample(text={"text": "one " * 500_000}), planted(record))
        first, second = (Failure.of_status(each.sample_error.status) for each in answers
                         if each.HasField("sample_error"))
        self.assertEqual(first.reason, "SAMPLE_TOO_LONG")
        self.check_exhausted(second, "tokens-per-minute")

    def analyze(self, *samples):
        requests = (each.SerializeToString() for each in (spec(PLANTED), *samples))
        return [stubs.analysis.AnalyzeResponse.FromString(each) for each in self.stream(requests)]


class SecretTest(AccessCase):
    def test_no_secret_is_in_the_log_metrics_command_line_or_configuration(self):
        call(self.channel, self.CHEAP, TOKENS["admin"])
        call(self.channel, self.CHEAP, WRONG)
        call(self.channel, "sinks.v1.ModelService/LoadModel", TOKENS["read"])
        self.server.get("/api/v1/models", f"Bearer {WRONG}")
        wait_until("calls are logged", lambda: "ROLE" in self.server.log() or
                   "needs the role" in self.server.log())
        texts = {
            "log": self.server.log(),
            "metrics": self.server.metrics_text(),
            "command line": pathlib.Path(f"/proc/{self.server.pid}/cmdline").read_text(),
            "environment": pathlib.Path(f"/proc/{self.server.pid}/environ").read_text(),
            "configuration": subprocess.run(
                [Programs.sinkd, "--model-root", Setting.root.path, "--token-file", Setting.tokens,
                 "--print-config"], capture_output=True, text=True, check=True).stdout,
        }
        for name, text in texts.items():
            for secret in (*TOKENS.values(), WRONG):
                self.assertNotIn(secret, text, name)
            for line in Setting.tokens.read_text().splitlines():
                self.assertNotIn(line.split()[2], text, name)


class SinkctlTest(AccessCase):
    def run_sinkctl(self, *arguments, **environment):
        return subprocess.run(
            [Programs.sinkctl, "--server", self.server.address, *map(str, arguments)],
            capture_output=True, text=True, timeout=PATIENCE,
            env={**os.environ, **environment})

    def token_file(self, text):
        file = Setting.tokens.with_name("client-token")
        file.write_text(text)
        self.addCleanup(file.unlink, missing_ok=True)
        return file

    def test_a_token_comes_from_a_file_named_by_flag_or_variable(self):
        file = self.token_file(TOKENS["read"] + "\n")
        self.assertEqual(self.run_sinkctl("models", "--token-file", file).returncode, 0)
        self.assertEqual(self.run_sinkctl("models", SINKCTL_TOKEN_FILE=str(file)).returncode, 0)

    def test_without_a_token_it_says_what_is_missing(self):
        done = self.run_sinkctl("models")
        self.assertEqual(done.returncode, 4)
        self.assertIn("UNAUTHENTICATED (TOKEN_MISSING)", done.stderr)
        self.assertIn("--token-file", done.stderr)

    def test_a_token_of_too_low_a_role_is_told_so(self):
        done = self.run_sinkctl("unload", PLANTED, "--token-file", self.token_file(TOKENS["read"]))
        self.assertEqual(done.returncode, 4)
        self.assertIn("PERMISSION_DENIED (ROLE_TOO_LOW)", done.stderr)

    def test_a_file_that_holds_no_token_is_named_and_not_quoted(self):
        done = self.run_sinkctl("models", "--token-file", self.token_file("hunter2 and more\n"))
        self.assertEqual(done.returncode, 2)
        self.assertIn("client-token", done.stderr)
        self.assertNotIn("hunter2", done.stderr)

    def test_a_token_does_not_leave_the_machine_in_plaintext(self):
        for server in ("192.0.2.1:50051", "127.evil.example:50051",
                       "127.0.0.1:50051,192.0.2.1:50051"):
            done = self.run_sinkctl("models", "--server", server, "--token-file",
                                    self.token_file("abc"))
            self.assertEqual(done.returncode, 2, server)
            self.assertIn("--tls-ca", done.stderr)

    def test_a_token_that_it_makes_is_taken_with_its_line(self):
        done = self.run_sinkctl("token", "new", "--name", "made", "--role", "read", "--streams",
                                "2", "--output", "json")
        self.assertEqual(done.returncode, 0, done.stderr)
        made = json.loads(done.stdout)
        self.assertTrue(made["token"].startswith("sinkd_"))
        self.assertGreaterEqual(len(made["token"]), 49)  # 256 bits
        self.assertTrue(made["line"].endswith(" streams=2"))
        write_tokens(*all_tokens(made["line"] + "\n"))
        self.addCleanup(write_tokens, *all_tokens())
        wait_until("the token is taken", lambda: call(
            self.channel, self.CHEAP, made["token"]) is None)


class OpenMetricsTest(unittest.TestCase):
    def test_metrics_are_open_where_the_operator_says_so(self):
        server = SecureSinkd(Setting.root.path, "--token-file", Setting.tokens, "--metrics-open")
        self.addCleanup(server.stop)
        self.assertEqual(server.get("/metrics")[0], 200)
        self.assertEqual(server.get("/api/v1/models")[0], 401)


if __name__ == "__main__":
    main()
