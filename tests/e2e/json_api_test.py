"""The JSON API and the page of a real server: bodies are what gRPC answers, described as they are.

    python -m tests.e2e.json_api_test BUILD_DIR ORACLE_DIR
"""

import gzip
import json
import pathlib
import unittest
from urllib.parse import quote, urlencode

import jsonschema
import yaml
from google.protobuf import json_format
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2

from tests.e2e import model_root, stubs
from tests.e2e.calls import analyze, planted, sample, spec
from tests.e2e.json_api_case import EMPTY_RUNS, Site, audits, built_page, level_counts, runs
from tests.e2e.model_root import PLANTED, TINY
from tests.e2e.sinkd_process import main

SMOKE = (pathlib.Path(__file__).parents[2] / "deploy" / "policies" / "smoke.yaml").read_text()

ROOT = pathlib.Path(__file__).parents[2]
assert error_details_pb2  # json_format finds the details by their type


class Shared:
    site = levels = None


def setUpModule():
    Shared.site = Site()
    unittest.addModuleCleanup(Shared.site.stop)
    Shared.site.keep_runs()
    Shared.levels = Shared.site.import_published("published")


def parse(reply, message):
    return json_format.Parse(reply.body, message)


class ApiCase(unittest.TestCase):
    def setUp(self):
        self.site = Shared.site

    def get(self, path, **query):
        target = f"/api/v1/{path}" + ("?" + urlencode(query, doseq=True) if query else "")
        reply = self.site.ask(target)
        self.assertEqual(reply.status, 200, (target, reply.body))
        return reply


class Bodies(ApiCase):
    """Parsed as messages, where an unknown field is an error, and compared with gRPC's."""

    def test_models(self):
        listed = self.site.models.ListModels(stubs.models.ListModelsRequest())
        self.assertEqual(parse(self.get("models"), stubs.models.ListModelsResponse()), listed)
        self.assertEqual(len(listed.models), 2)
        for model in listed.models:
            got = self.site.models.GetModel(stubs.models.GetModelRequest(name=model.name))
            self.assertEqual(parse(self.get(model.name), stubs.models.GetModelResponse()), got)

    def test_runs(self):
        for name in ("full", "small", "empty-00", "published"):
            got = self.site.runs.GetRun(runs.GetRunRequest(name=f"runs/{name}"))
            self.assertEqual(parse(self.get(f"runs/{name}"), runs.GetRunResponse()), got)
        self.assertEqual(dict(got.run.labels), {})
        full = parse(self.get("runs/full"), runs.GetRunResponse()).run
        self.assertEqual(dict(full.labels), {"stage": "release", "team": "a b", "note": "é=&"})

    def test_summaries_of_one_run(self):
        for name, level in (("full", {}), ("small", {}), ("empty-00", {}),
                            ("full", {"l_start": 6}), ("full", {"l_start": 6, "lifetime": 9})):
            asked = runs.SummarizeRunsRequest(
                names=[f"runs/{name}"], grouping=runs.SUMMARY_GROUPING_RUN,
                regression_points=50000, **level)
            [expected] = self.site.runs.SummarizeRuns(asked)
            query = {{"l_start": "lStart"}.get(key, key): value for key, value in level.items()}
            reply = self.get(f"runs/{name}/summary", **query)
            self.assertEqual(parse(reply, runs.SummarizeRunsResponse()), expected)

    def test_records(self):
        asked = runs.StreamRecordsRequest(name="runs/full")
        expected = [each for part in self.site.runs.StreamRecords(asked) for each in part.records]
        reply = parse(self.get("runs/full/records"), runs.StreamRecordsResponse())
        self.assertEqual(list(reply.records), expected)
        self.assertEqual(len(expected), len(model_root.planted_records()))
        self.assertTrue(reply.records[0].record.HasField("portrait"))
        self.assertEqual(self.get("runs/empty-00/records").json(), {"records": []})

    def test_studies(self):
        self.assertEqual(self.get("runs/full/studies").json(), {"studies": []})
        expected = list(self.site.runs.ListStudies(runs.ListStudiesRequest(name="runs/small")))
        self.assertEqual(len(expected), 2)
        studies = self.get("runs/small/studies").json()["studies"]
        self.assertEqual([json_format.ParseDict(each, runs.ListStudiesResponse())
                          for each in studies], expected)

    def summaries(self, **query):
        return [json_format.ParseDict(each, runs.SummarizeRunsResponse())
                for each in self.get("summaries", **query).json()["summaries"]]

    def test_audits(self):
        compare = "name: x\nrules:\n  - {measure: level_divergence, test: true, min_samples: 2}\n"
        for query, request in (
            ({"policy": SMOKE, "candidate": "full"},
             {"policy": SMOKE, "candidate": {"names": ["runs/full"]}}),
            ({"policy": compare, "candidate": "full", "baseline": "full", "seed": 7},
             {"policy": compare, "candidate": {"names": ["runs/full"]},
              "baseline": {"names": ["runs/full"]}, "seed": 7}),
        ):
            expected = self.site.audits.AuditRuns(audits.AuditRunsRequest(**request))
            self.assertEqual(parse(self.get("audit", **query), audits.AuditRunsResponse()),
                             expected)
            self.assertTrue(expected.rules)

    def test_runs_of_different_parameters(self):
        [both] = self.summaries(run=["full", "small"])
        [full] = self.summaries(run="full")
        self.assertEqual(both.summary.samples, full.summary.samples + 3)
        self.assertFalse(both.summary.HasField("scores"))
        self.assertEqual({each.field for each in both.differences},
                         {"scores", "regression", "sink_rate", "compensation"})
        [expected] = self.site.runs.SummarizeRuns(runs.SummarizeRunsRequest(
            names=["runs/full", "runs/small"], common=True))
        self.assertEqual(both, expected)

    def test_summaries_of_many_runs(self):
        by = runs.SummaryGrouping.Value
        small = {"names": ["runs/small", "runs/empty-00"]}
        filtered = {"filter": {"labels": {"stage": "nightly"}}}
        for query, request in (
            ({"run": ["small", "empty-00"]}, {**small, "filter": {}}),
            ({"run": ["small", "empty-00"], "grouping": "RUN"},
             {**small, "grouping": by("SUMMARY_GROUPING_RUN")}),
            ({"grouping": "LABEL", "label": "stage", "run": ["small", "empty-01"]},
             {"names": ["runs/small", "runs/empty-01"], "label": "stage",
              "grouping": by("SUMMARY_GROUPING_LABEL")}),
            ({"label.stage": "nightly"}, filtered),
            ({"grouping": "MODEL", "label.stage": "nightly"},
             {**filtered, "grouping": by("SUMMARY_GROUPING_MODEL")}),
            ({"model": "models/none"}, {"filter": {"model": "models/none"}}),
        ):
            with self.subTest(query):
                expected = list(self.site.runs.SummarizeRuns(runs.SummarizeRunsRequest(**request)))
                self.assertEqual(self.summaries(**query), expected)

    def test_published_rows_give_the_levels_that_were_planted(self):
        self.assertGreater(len(Shared.levels), 5)
        [by_grpc] = self.site.runs.SummarizeRuns(
            runs.SummarizeRunsRequest(names=["runs/published"]))
        self.assertEqual(level_counts(by_grpc.summary), Shared.levels)
        by_http = parse(self.get("runs/published/summary"), runs.SummarizeRunsResponse())
        self.assertEqual(level_counts(by_http.summary), Shared.levels)


class Pages(ApiCase):
    def names(self, **query):
        """Of all pages, each of which must hold as many as it may."""
        names, token = [], ""
        while True:
            page = parse(self.get("runs", pageSize=7, pageToken=token, **query),
                         runs.ListRunsResponse())
            names += [run.name for run in page.runs]
            token = page.next_page_token
            if not token:
                return names
            self.assertEqual(len(page.runs), 7)

    def listed(self, **filter):
        request = runs.ListRunsRequest(page_size=1000, filter=runs.RunFilter(**filter))
        return [run.name for run in self.site.runs.ListRuns(request).runs]

    def test_every_run_is_on_one_page(self):
        names = self.names()
        self.assertEqual(names, self.listed())
        self.assertEqual(len(names), EMPTY_RUNS + 3)

    def test_filters_hold_on_every_page(self):
        empty = self.names(**{"label.stage": "empty"})
        self.assertEqual(empty, self.listed(labels={"stage": "empty"}))
        self.assertEqual(len(empty), EMPTY_RUNS)
        self.assertEqual(self.names(**{"label.team": "a b", "label.note": "é=&"}), ["runs/full"])
        self.assertEqual(self.names(model="models/elsewhere"), ["runs/published"])
        made = self.site.runs.GetRun(runs.GetRunRequest(name="runs/empty-20")).run.create_time
        at = made.ToJsonString()
        self.assertEqual(self.names(createdFrom=at), self.listed(created_from=made))
        self.assertEqual(self.names(createdBefore=at), self.listed(created_before=made))
        self.assertEqual(len(self.names(createdFrom=at) + self.names(createdBefore=at)),
                         EMPTY_RUNS + 3)

    def test_models_come_by_pages_too(self):
        first = self.get("models", pageSize=1).json()
        rest = self.get("models", pageSize=1, pageToken=first["nextPageToken"]).json()
        self.assertNotIn("nextPageToken", rest)
        self.assertEqual(first["models"] + rest["models"], self.get("models").json()["models"])

    def test_records_come_by_pages_too(self):
        sequences, token = [], ""
        while True:
            page = self.get("runs/full/records", pageToken=token, pageSize=4).json()
            sequences += [int(each["sequence"]) for each in page["records"]]
            token = page.get("nextPageToken")
            if not token:
                break
            self.assertEqual(len(page["records"]), 4)
        self.assertEqual(sequences, list(range(1, len(model_root.planted_records()) + 1)))
        whole = self.get("runs/full/records", pageSize=len(sequences)).json()
        self.assertNotIn("nextPageToken", whole)

    def test_long_answers_are_compressed_on_request(self):
        for path in ("/api/v1/runs/full/records", "/metrics"):
            with self.subTest(path):
                gzipped = self.site.ask(path, Accept_Encoding="gzip")
                self.assertEqual(gzipped.headers["Content-Encoding"], "gzip")
                text = gzip.decompress(gzipped.body)
                self.assertGreater(len(text), 2 * len(gzipped.body))
                if path != "/metrics":  # which change between two requests
                    self.assertEqual(text, self.site.ask(path).body)


class Refusals(ApiCase):
    def refused(self, target, status, reason, subject=None, **headers):
        reply = self.site.ask(target, **headers)
        with self.subTest(target):
            self.assertEqual((reply.status, reply.headers["Content-Type"]),
                             (status, "application/json"))
            error = json_format.Parse(reply.body, status_pb2.Status())
            info = error_details_pb2.ErrorInfo()
            self.assertTrue(error.details[0].Unpack(info))
            self.assertEqual((info.reason, info.domain), (reason, "sinkd"))
            self.assertTrue(info.metadata["fix"])
            if subject:
                self.assertEqual(info.metadata["subject"], subject)
            self.assertNotIn("ETag", reply.headers)
        return reply

    def test_what_is_not_there(self):
        for target, reason in (
            ("models/none", "MODEL_NOT_FOUND"), ("runs/none", "RUN_NOT_FOUND"),
            ("runs/none/summary", "RUN_NOT_FOUND"), ("runs/none/records", "RUN_NOT_FOUND"),
            ("runs/none/studies", "RUN_NOT_FOUND"), ("summaries?run=none", "RUN_NOT_FOUND"),
            ("nothing", "PATH_NOT_FOUND"), ("runs/full/nothing", "PATH_NOT_FOUND"),
            ("runs/", "INVALID_RUN_NAME"),
        ):
            self.refused(f"/api/v1/{target}", 400 if reason.startswith("INV") else 404, reason)
        for target in ("/api", "/api/", "/api/v2/runs", "/api/v1"):
            self.refused(target, 404, "PATH_NOT_FOUND")

    def test_parameters_that_are_none(self):
        for target, subject in (
            ("models?pagesize=1", "pagesize"), ("models/x?pageSize=1", "pageSize"),
            ("runs?label=x", "label"), ("runs/full?verbose", "verbose"),
            ("summaries?lStart=1", "lStart"), ("runs/full/records?limit=1", "limit"),
            ("openapi.yaml?x=1", "x"),
        ):
            self.refused(f"/api/v1/{target}", 400, "UNKNOWN_PARAMETER", subject)

    def test_values_of_another_type(self):
        for target, subject in (
            ("models?pageSize=0", "pageSize"), ("models?pageSize=1001", "pageSize"),
            ("runs?pageSize=ten", "pageSize"), ("runs?pageSize=", "pageSize"),
            ("runs?pageSize=%2B5", "pageSize"), ("runs?pageSize=1e2", "pageSize"),
            ("runs?createdFrom=yesterday", "createdFrom"), ("runs?createdFrom=", "createdFrom"),
            ("runs?createdBefore=2026-01-01", "createdBefore"),
            ("runs?createdBefore=2026-13-01T00:00:00Z", "createdBefore"),
            ("runs?createdBefore=2026-01-01T00:00:00", "createdBefore"),
            ("runs/full/records?pageSize=0", "pageSize"),
            ("runs/full/records?pageSize=-1", "pageSize"),
            ("runs/full/summary?lStart=2147483648", "lStart"),
            ("runs/full/summary?lifetime=x", "lifetime"),
            ("summaries?grouping=model", "grouping"), ("summaries?run=runs/full", "run"),
            ("summaries?grouping=LABEL", "grouping"), ("summaries?label=stage", "label"),
        ):
            self.refused(f"/api/v1/{target}", 400, "INVALID_PARAMETER", subject)
        self.refused("/api/v1/summaries?grouping=RUN&order=NUMERIC", 400, "ORDER_NEEDS_LABEL", "order")
        by_stage = "/api/v1/summaries?grouping=LABEL&label=stage&order=NUMERIC"
        self.refused(f"{by_stage}&run=full", 409, "LABEL_NOT_NUMERIC", "runs/full")
        self.refused(f"{by_stage}&run=published", 409, "LABEL_MISSING", "runs/published")
        self.refused("/api/v1/runs?model=planted", 400, "INVALID_MODEL_NAME", "model")
        self.refused("/api/v1/runs?pageToken=x", 400, "PAGE_TOKEN_INVALID")
        for token in ("x", "-1", "9223372036854775808"):
            self.refused(f"/api/v1/runs/full/records?pageToken={token}", 400, "PAGE_TOKEN_INVALID")
        self.refused("/api/v1/runs?label.%00=x", 400, "TEXT_INVALID")
        self.refused("/api/v1/runs?pageSize=1&pageSize=1", 400, "REPEATED_PARAMETER", "pageSize")
        self.refused("/api/v1/runs?label.a=1&label.a=2", 400, "REPEATED_PARAMETER", "label.a")

    def test_audits_that_cannot_be(self):
        full = "candidate=full"
        for query in (full, "policy=x", f"{full}&policy=name:%20x", "policy=x&candidate=UPPER"):
            reply = self.site.ask(f"/api/v1/audit?{query}")
            self.assertEqual(reply.status, 400, (query, reply.body))
        policy = urlencode({"policy": SMOKE})
        self.refused(f"/api/v1/audit?{policy}&candidate=gone", 404, "RUN_NOT_FOUND")

    def test_names_that_are_none(self):
        for name in ("UPPER", "-", "..%2fx", "a%00", quote("é"), "x" * 65):
            self.refused(f"/api/v1/runs/{name}", 400, "INVALID_RUN_NAME", "id")
            self.refused(f"/api/v1/models/{name}", 400, "INVALID_MODEL_NAME", "id")
        self.refused("/api/v1/runs/%", 400, "ADDRESS_MALFORMED")

    def test_an_address_of_any_length(self):
        self.refused("/api/v1/runs?model=" + "x" * 9000, 414, "ADDRESS_TOO_LONG")
        self.refused("/api/v1/runs", 431, "HEADERS_TOO_LARGE", A="x" * 9000)

    def test_other_methods(self):
        for method in ("POST", "PUT", "PATCH", "DELETE", "TRACE", "QUERY"):
            reply = self.site.ask("/api/v1/runs/full", method=method, body=b"{}" * 1000)
            self.assertEqual((reply.status, reply.reason()), (405, "METHOD_NOT_ALLOWED"), method)
            self.assertEqual(reply.headers["Allow"], "GET, HEAD, OPTIONS")
        self.assertEqual(self.get("runs/full").status, 200)

    def test_names_of_other_hosts(self):
        for target in ("/api/v1/runs", "/api/v1/openapi.yaml"):
            self.refused(target, 403, "HOST_NOT_ALLOWED", Host="rebound.example:9464")
        self.assertEqual(self.site.ask("/", Host="rebound.example").status, 403)
        self.assertEqual(self.site.ask("/metrics", Host="rebound.example").status, 403)
        for host in ("localhost:1", "127.0.0.1", "[::1]:80", "10.2.3.4:9464"):
            for target in ("/api/v1/models", "/metrics"):
                self.assertEqual(self.site.ask(target, Host=host).status, 200)
        for target in ("/healthz", "/readyz"):
            self.assertEqual(self.site.ask(target, Host="rebound.example").status, 200)


class Caching(ApiCase):
    PATHS = ("models", "runs/full", "runs/full/summary", "runs/full/records", "summaries?run=full",
             "openapi.yaml")

    def test_the_same_answer_has_the_same_tag(self):
        for path in self.PATHS:
            first, again = (self.get(path) for _ in range(2))
            self.assertEqual(first.headers["ETag"], again.headers["ETag"], path)
            held = self.site.ask(f"/api/v1/{path}", If_None_Match=first.headers["ETag"])
            self.assertEqual((held.status, held.body), (304, b""), path)
            self.assertEqual(held.headers["ETag"], first.headers["ETag"])

    def test_another_answer_has_another_tag(self):
        self.site.runs.CreateRun(runs.CreateRunRequest(
            run_id="changing", spec={"model": f"models/{PLANTED}"}))
        tag = self.get("runs/changing").headers["ETag"]
        self.site.runs.UpdateRun(runs.UpdateRunRequest(
            name="runs/changing", state=runs.RUN_STATE_COMPLETE))
        changed = self.site.ask("/api/v1/runs/changing", If_None_Match=tag)
        self.assertEqual(changed.status, 200)
        self.assertNotEqual(changed.headers["ETag"], tag)
        self.site.runs.DeleteRun(runs.DeleteRunRequest(name="runs/changing"))

    def test_head_has_the_headers_of_get(self):
        for target in (*(f"/api/v1/{path}" for path in self.PATHS), "/", "/api/v1/runs/none"):
            get, head = (self.site.ask(target, method, X_Request_Id="the-same")
                         for method in ("GET", "HEAD"))
            self.assertEqual(head.body, b"")
            self.assertEqual((head.status, head.headers.items()), (get.status, get.headers.items()))

    def test_browsers_are_told_to_trust_nothing(self):
        headers = self.get("runs").headers
        for name, value in (("Cache-Control", "no-cache"), ("X-Content-Type-Options", "nosniff"),
                            ("Referrer-Policy", "no-referrer"),
                            ("Cross-Origin-Resource-Policy", "same-origin")):
            self.assertEqual(headers[name], value)
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])


class Page(ApiCase):
    def setUp(self):
        super().setUp()
        self.html = built_page()
        if self.html is None:
            self.skipTest("built without the page")

    def test_the_page_is_the_one_that_was_built(self):
        plain = self.site.ask("/")
        self.assertEqual((plain.status, plain.body == self.html), (200, True))
        squeezed = self.site.ask("/", Accept_Encoding="br, gzip")
        self.assertEqual(squeezed.headers["Content-Encoding"], "gzip")
        self.assertTrue(gzip.decompress(squeezed.body) == self.html)
        self.assertNotEqual(squeezed.headers["ETag"], plain.headers["ETag"])
        self.assertEqual(self.site.ask("/", If_None_Match=plain.headers["ETag"]).status, 304)
        self.assertIn("script-src 'sha256-", plain.headers["Content-Security-Policy"])


class Elsewhere(unittest.TestCase):
    """Servers of other flags."""

    def start(self, *flags):
        site = Site(*flags)
        self.addCleanup(site.stop)
        return site

    def test_pages_of_allowed_origins_read_the_api(self):
        site = self.start("--http-allow-origin", "https://a.example", "--http-allow-origin",
                          "http://localhost:3000", "--http-allow-host", "sinkd.example")
        for origin, allowed in (("https://a.example", True), ("http://localhost:3000", True),
                                ("https://b.example", False), ("null", False)):
            reply = site.ask("/api/v1/models", Origin=origin)
            self.assertEqual(reply.status, 200)
            self.assertEqual(reply.headers["Access-Control-Allow-Origin"],
                             origin if allowed else None)
            self.assertEqual(reply.headers["Vary"], "Accept-Encoding, Origin")
            before = site.ask("/api/v1/models", method="OPTIONS", Origin=origin,
                              Access_Control_Request_Method="GET",
                              Access_Control_Request_Headers="if-none-match")
            self.assertEqual(before.headers["Access-Control-Allow-Headers"],
                             "Authorization, If-None-Match, traceparent" if allowed else None)
        for target in ("/api/v1/models", "/metrics"):
            self.assertEqual(site.ask(target, Host="sinkd.example:80").status, 200)
            self.assertEqual(site.ask(target, Host="other.example").status, 403)

    def test_a_server_without_a_store_says_so(self):
        site = self.start("--store", "off")
        self.assertEqual(site.ask("/api/v1/models").status, 200)
        for path in ("runs", "runs/a", "runs/a/summary", "runs/a/records", "runs/a/studies",
                     "summaries"):
            reply = site.ask(f"/api/v1/{path}")
            self.assertEqual((reply.status, reply.reason()), (409, "STORE_OFF"), path)


class Description(ApiCase):
    def setUp(self):
        super().setUp()
        self.text = (ROOT / "docs" / "openapi.yaml").read_text()
        self.description = yaml.safe_load(self.text)

    def test_the_server_hands_out_the_file(self):
        reply = self.get("openapi.yaml")
        self.assertEqual((reply.body.decode(), reply.headers["Content-Type"]),
                         (self.text, "application/yaml"))

    def schema_of(self, path):
        answer = self.description["paths"][path]["get"]["responses"]["200"]
        name = answer["$ref"].rsplit("/", 1)[1]
        content = self.description["components"]["responses"][name]["content"]
        return {**content["application/json"]["schema"],
                "components": self.description["components"]}

    def test_bodies_with_everything_in_them_are_as_described(self):
        """Each schema forbids what it does not name."""
        for path in self.description["paths"]:
            if path.endswith("openapi.yaml") or path == "/api/v1/analyze":
                continue
            schema = self.schema_of(path)
            jsonschema.Draft202012Validator.check_schema(schema)
            validator = jsonschema.Draft202012Validator(schema)
            name = PLANTED if "models" in path else "small" if "studies" in path else "full"
            query = {"summaries": "?grouping=RUN",
                     "audit": "?" + urlencode({"policy": SMOKE, "candidate": "full"})}
            reply = self.site.ask(
                path.replace("{id}", name) + query.get(path.rpartition("/")[2], ""))
            self.assertEqual(reply.status, 200, reply.body)
            self.assertEqual([each.message[:300] for each in validator.iter_errors(reply.json())],
                             [], path)
            self.assertTrue(list(validator.iter_errors({"unknown": 1})), path)

    def test_an_analysis_with_everything_in_it_is_as_described(self):
        content = self.description["paths"]["/api/v1/analyze"]["post"]["responses"]["200"]["content"]
        validator = jsonschema.Draft202012Validator({**content["application/jsonl"]["schema"],
                                                     "components": self.description["components"]})
        requests = [spec(PLANTED, scores={"curves": True, "all_positions": True}, levels={},
                         regression={"points": True}, sink_rate={}, compensation={}, portrait={}),
                    planted(next(iter(model_root.planted_records().values())))]
        body = "\n".join(json_format.MessageToJson(each, indent=None) for each in requests)
        reply = self.site.ask("/api/v1/analyze", method="POST", body=body.encode(),
                              Content_Type="application/jsonl")
        lines = [json.loads(line) for line in reply.body.splitlines()]
        self.assertGreater(len(lines), 3)
        for line in lines:
            self.assertEqual([each.message[:300] for each in validator.iter_errors(line)], [])
        self.assertTrue(list(validator.iter_errors({"unknown": 1})))


class Analyses(unittest.TestCase):
    """POST /api/v1/analyze."""

    @classmethod
    def setUpClass(cls):
        cls.site = Site()
        cls.addClassCleanup(cls.site.stop)

    def post(self, *lines, **headers):
        body = "\n".join(
            json_format.MessageToJson(line, indent=None) if isinstance(line, Message) else line
            for line in lines)
        headers = {"Content_Type": "application/jsonl", **headers}
        return self.site.ask("/api/v1/analyze", method="POST", body=body.encode(), **headers)

    def test_gives_what_grpc_gives(self):
        samples = [planted(each) for each in list(model_root.planted_records().values())[:3]]
        requests = [spec(PLANTED, scores={"curves": True}, levels={}), *samples, sample("empty")]
        reply = self.post(*requests)
        self.assertEqual(reply.status, 200, reply.body[:2000])
        self.assertEqual(reply.headers["Content-Type"], "application/jsonl")
        lines = [json.loads(line) for line in reply.body.decode().splitlines()]
        self.assertEqual([next(iter(line)) for line in lines],
                         ["started", "record", "record", "record", "sampleError", "summary"])
        answer = analyze(self.site.server.channel, requests)
        for line, result in zip(lines[1:], [*answer.results, answer.summary], strict=True):
            told = json_format.ParseDict(*line.values(), type(result)())
            if "sampleError" in line:  # whose details stand in any order
                told, result = told.status.message, result.status.message
            self.assertEqual(told, result)

    def test_errors_have_the_status_of_http(self):
        for line, status, reason in [(spec("none"), 404, "MODEL_NOT_FOUND"),
                                     (spec(TINY), 409, "MODEL_NOT_LOADED"),
                                     ("nonsense", 400, "MALFORMED_MESSAGE"),
                                     ("", 400, "MALFORMED_MESSAGE")]:
            with self.subTest(line=line):
                reply = self.post(line)
                self.assertEqual((reply.status, reply.reason()), (status, reason))

    def test_pages_of_other_sites_are_refused(self):
        spec_line = spec(PLANTED)
        own = f"http://{self.site.server.http}"
        self.assertEqual(self.post(spec_line, Origin=own).status, 200)
        for origin in ("http://evil.example", "null", own + "0", "https://" + own):
            reply = self.post(spec_line, Origin=origin)
            self.assertEqual((reply.status, reply.reason()), (403, "ORIGIN_NOT_ALLOWED"), origin)
        # What a form can send without asking first.
        for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""):
            reply = self.post(spec_line, Content_Type=kind)
            self.assertEqual((reply.status, reply.reason()), (415, "CONTENT_TYPE_NOT_ALLOWED"))

    def test_a_server_may_only_read(self):
        site = Site("--http-read-only")
        self.addCleanup(site.stop)
        reply = site.ask("/api/v1/analyze", method="POST", body=b"{}",
                         Content_Type="application/jsonl")
        self.assertEqual((reply.status, reply.reason()), (403, "HTTP_READ_ONLY"))


if __name__ == "__main__":
    main()
