"""The chart, rendered by Helm as a user would have it."""

import pathlib
import subprocess
import sys
import tempfile

import yaml

ROOT = pathlib.Path(__file__).resolve().parents[2]
CHART = ROOT / "helm" / "sinkd"
HELM = pathlib.Path(sys.executable).with_name("helm")
EXAMPLES = sorted((CHART / "examples").glob("*.yaml"))
# The oldest that the chart takes, one between, the newest that kubernetes-validate knows.
VERSIONS = ("1.29", "1.33", "1.37")
MINIMAL = {"models": {"existingClaim": "models"}}


def helm(*arguments):
    """Exit code and all it says."""
    if not HELM.exists():
        raise AssertionError(f"{HELM} is missing; deploy/setup.sh test installs it")
    done = subprocess.run([HELM, *map(str, arguments)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def template(values, version=VERSIONS[1], *arguments):
    """The objects that a release `sinks` in the namespace `lab` consists of. `values` is a file or
    a dictionary."""
    if isinstance(values, dict):
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            yaml.safe_dump(values, file)
            file.flush()
            return template(pathlib.Path(file.name), version, *arguments)
    code, out, err = helm("template", "sinks", CHART, "--namespace", "lab", "--values", values,
                          "--kube-version", version, *arguments)
    if code != 0:
        raise AssertionError(f"helm template: {err}")
    return [each for each in yaml.safe_load_all(out) if each]


def refusal(values):
    """What Helm says to values that it refuses."""
    try:
        template(values)
    except AssertionError as error:
        return str(error)
    raise AssertionError(f"these values were taken: {values}")


def of_kind(objects, kind):
    return [each for each in objects if each["kind"] == kind]


def only(objects, kind):
    (one,) = of_kind(objects, kind)
    return one


def pod_specs(objects):
    """(name, pod spec) of each object that makes pods."""
    for each in objects:
        name = f"{each['kind']}/{each['metadata']['name']}"
        if each["kind"] == "Pod":
            yield name, each["spec"]
        elif "template" in each.get("spec", {}):
            yield name, each["spec"]["template"]["spec"]
