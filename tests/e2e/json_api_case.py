"""What tests of the JSON API share: a server with runs, and both ways to ask it."""

import dataclasses
import http.client
import importlib
import json
import pathlib
import subprocess
import tempfile

from tests.e2e import model_root, stubs
from tests.e2e.calls import analyze, planted, spec
from tests.e2e.model_root import PLANTED, TINY, ModelRoot
from tests.e2e.published_rows import published_rows
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess

audits = importlib.import_module("sinks.v1.audit_pb2")
audits_service = importlib.import_module("sinks.v1.audit_pb2_grpc")
runs = importlib.import_module("sinks.v1.runs_pb2")
runs_service = importlib.import_module("sinks.v1.runs_pb2_grpc")

PORTRAITS = 2
EMPTY_RUNS = 23  # beside those with records


@dataclasses.dataclass
class Reply:
    status: int
    headers: http.client.HTTPMessage
    body: bytes

    def json(self):
        return json.loads(self.body)

    def reason(self):
        """Of an error."""
        return self.json()["details"][0]["reason"]


class Site:
    """A sinkd with the planted model, runs of it, and one more model that is not loaded."""

    def __init__(self, *flags):
        self.root = ModelRoot()
        self.root.link(PLANTED, model_root.planted())
        self.root.link(TINY, model_root.tiny())
        self.server = SinkdProcess(self.root.path, *flags, load=[PLANTED])
        self.models = stubs.models_service.ModelServiceStub(self.server.channel)
        self.runs = runs_service.RunServiceStub(self.server.channel)
        self.audits = audits_service.AuditServiceStub(self.server.channel)

    def stop(self):
        self.server.stop()
        self.root.cleanup()

    def ask(self, target, method="GET", body=None, **headers):
        """Header names with _ for -; one of None is left out."""
        connection = http.client.HTTPConnection(self.server.http, timeout=PATIENCE)
        try:
            names = {name.replace("_", "-"): value for name, value in headers.items()}
            connection.putrequest(method, target, skip_host="Host" in names,
                                  skip_accept_encoding=True)
            for name, value in names.items():
                connection.putheader(name, value)
            if body is not None:
                connection.putheader("Content-Length", str(len(body)))
            connection.endheaders(body)
            response = connection.getresponse()
            return Reply(response.status, response.headers, response.read())
        finally:
            connection.close()

    def keep(self, run, samples, **fields):
        """Analyses planted samples into a run."""
        answer = analyze(self.server.channel, [
            spec(PLANTED, run_id=run, levels={}, **fields), *map(planted, samples)])
        assert answer.failure is None, answer.failure

    def keep_runs(self):
        """Runs of all planted samples, with pictures; of three, with studies; and of none."""
        samples = list(model_root.planted_records().values())
        every = {"scores": {}, "regression": {}, "sink_rate": {},
                 "compensation": {"bootstrap_samples": 20}}
        self.keep("full", samples, portrait={"samples": PORTRAITS}, **every,
                  run_labels={"stage": "release", "team": "a b", "note": "é=&"})
        self.keep("small", samples[:3], run_labels={"stage": "nightly"})
        for index in range(EMPTY_RUNS):
            self.runs.CreateRun(runs.CreateRunRequest(
                run_id=f"empty-{index:02}", spec={"model": f"models/{PLANTED}", "levels": {}},
                labels={"stage": "empty"}))
        for study in ({"norms": {}}, {"massive": {}}):
            list(stubs.mechanism_service.MechanismServiceStub(self.server.channel).RunStudy(
                stubs.mechanism.RunStudyRequest(
                    model=f"models/{PLANTED}", run="runs/small", **study)))

    def run_names(self):
        """Of all runs, newest first."""
        return [run.name for run in self.runs.ListRuns(runs.ListRunsRequest(page_size=1000)).runs]

    def import_published(self, run):
        """Rows as the paper's detection files have them, made of what was planted: (first layer,
        lifetime, kind) -> sinks."""
        rows, levels = published_rows()
        config = json.loads((model_root.planted() / "config.json").read_text())
        with tempfile.NamedTemporaryFile("w", suffix=".jsonl") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
            file.flush()
            self.sinkctl("runs", "import", run, file.name, "--model", "elsewhere", "--layers",
                         config["num_hidden_layers"], "--kind-rule", "window")
        return levels

    def sinkctl(self, *arguments):
        done = subprocess.run(
            [str(each) for each in (Programs.sinkctl, "--server", self.server.address, *arguments)],
            capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout


def level_counts(summary):
    """Of a Summary message, as `import_published` tells levels."""
    kinds = stubs.records.SinkKind.Name
    return {(each.l_start, each.lifetime, kinds(each.kind).removeprefix("SINK_KIND_").lower()):
            each.count for each in summary.levels.counts}


def built_page():
    """The bytes that Node built; None when the server was built without the page."""
    html = pathlib.Path(Programs.sinkd).parent / "http" / "page" / "built" / "index.html"
    return html.read_bytes() if html.exists() else None
