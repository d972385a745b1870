"""Debian's Prometheus on a free port, with the rules of deploy/prometheus."""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile
import urllib.error
import urllib.parse
import urllib.request

import yaml

from tests.e2e.sinkd_process import PATIENCE, wait_until

DEPLOY = pathlib.Path(__file__).parents[2] / "deploy"


class PrometheusProcess:
    """Scrapes `target` as deploy/prometheus/prometheus.yml says, only far more often. Ready when
    constructed."""

    def __init__(self, target):
        program = shutil.which("prometheus")
        if program is None:
            raise AssertionError("prometheus is not installed; deploy/setup.sh test does it")
        self._folder = tempfile.TemporaryDirectory(prefix="sinkd-prometheus-")
        folder = pathlib.Path(self._folder.name)
        (folder / "prometheus.yml").write_text(yaml.safe_dump(self._configuration(target)))
        self._log = folder / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                [program, f"--config.file={folder / 'prometheus.yml'}",
                 f"--storage.tsdb.path={folder / 'data'}", "--web.listen-address=127.0.0.1:0"],
                stderr=log)
        try:
            self._address = wait_until("prometheus listens", self._listening)
            wait_until("prometheus is ready", self._is_ready)
        except BaseException:
            print(self._log.read_text())
            self.stop()
            raise

    @staticmethod
    def _configuration(target):
        configuration = yaml.safe_load((DEPLOY / "prometheus/prometheus.yml").read_text())
        configuration["global"] = {"scrape_interval": "1s", "scrape_timeout": "1s",
                                   "evaluation_interval": "1s"}
        configuration["rule_files"] = [
            str(DEPLOY / "prometheus" / each) for each in configuration["rule_files"]]
        (job,) = configuration["scrape_configs"]
        job["static_configs"] = [{"targets": [target]}]
        return configuration

    def _listening(self):
        if self._process.poll() is not None:
            raise AssertionError(f"prometheus ended with {self._process.returncode}")
        found = re.search(r'msg="Listening on" address=(\S+)', self._log.read_text())
        return found and found.group(1)

    def _is_ready(self):
        try:
            with urllib.request.urlopen(f"http://{self._address}/-/ready", timeout=PATIENCE) as page:
                return page.status == 200
        except urllib.error.HTTPError:
            return False

    def get(self, path, **parameters):
        """The data of an answer of the API; a refused query fails with what is wrong with it."""
        url = f"http://{self._address}/api/v1/{path}?{urllib.parse.urlencode(parameters)}"
        try:
            with urllib.request.urlopen(url, timeout=PATIENCE) as page:
                return json.load(page)["data"]
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{parameters}: {json.load(error)['error']}") from None

    def query(self, expression):
        """[({label: value}, number)] at this moment."""
        found = self.get("query", query=expression)
        return [(each["metric"], float(each["value"][1])) for each in found["result"]]

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(PATIENCE)
        finally:
            self._process.kill()
            self._process.wait()
            self._folder.cleanup()
