"""deploy/kubernetes: what the chart makes of two values files, for who has no Helm; and the configuration of the
proxy, which compose has from the chart.

    python -m tests.helm.plain_manifests             whether the files are there as they shall be
    python -m tests.helm.plain_manifests --write     writes them
"""

import sys

import yaml

from tests.helm.chart import CHART, ROOT, helm, template

FOLDER = ROOT / "deploy" / "kubernetes"
HEAD = "# Made from helm/sinkd with examples/{} by tests/helm/plain_manifests.py --write.\n"
OF_HELM = ("helm.sh/chart", "app.kubernetes.io/managed-by")
# File: the example it is made of, and the kinds that are taken.
FILES = {
    "server.yaml": ("minimal.yaml", None),
    "sharded-job.yaml": ("sharded-job.yaml", {"Job"}),
}


def _without_helm(each):
    for label in OF_HELM:
        each["metadata"]["labels"].pop(label, None)
    each["metadata"].pop("namespace", None)
    return each


def manifest(example, kinds):
    code, out, err = helm("template", "sinkd", CHART, "--values", CHART / "examples" / example,
                          "--namespace", "default", "--skip-tests")
    if code != 0:
        raise AssertionError(f"helm template: {err}")
    objects = [_without_helm(each) for each in yaml.safe_load_all(out)
               if each and (kinds is None or each["kind"] in kinds)]
    return HEAD.format(example) + yaml.safe_dump_all(objects, sort_keys=False, width=120)


def proxy():
    """Compose's nginx.conf: another container's port, in plaintext between them."""
    (settings,) = [each for each in template(CHART / "examples" / "proxy.yaml") if each["kind"] == "ConfigMap"]
    text = settings["data"]["nginx.conf"]
    for ours, theirs in (("127.0.0.1:50052", "sinkd:50051"), ("grpcs://", "grpc://"),
                         ("/etc/sinkd/tls/", "/run/secrets/")):
        assert ours in text, ours
        text = text.replace(ours, theirs)
    return text + "\n"


def all_files():
    """{file: what it is to hold}."""
    made = {FOLDER / name: manifest(*of) for name, of in FILES.items()}
    return made | {ROOT / "deploy" / "compose" / "nginx.conf": proxy()}


if __name__ == "__main__":
    for file, text in all_files().items():
        if "--write" in sys.argv[1:]:
            file.write_text(text)
        elif not file.exists() or file.read_text() != text:
            sys.exit(f"{file.name} is behind the chart: python -m tests.helm.plain_manifests --write")
