"""deploy/kubernetes: what the chart makes of two values files, for who has no Helm.

    python -m tests.helm.plain_manifests             whether the files are there as they shall be
    python -m tests.helm.plain_manifests --write     writes them
"""

import sys

import yaml

from tests.helm.chart import CHART, ROOT, helm

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


if __name__ == "__main__":
    for name, (example, kinds) in FILES.items():
        file = FOLDER / name
        if "--write" in sys.argv[1:]:
            file.write_text(manifest(example, kinds))
        elif not file.exists() or file.read_text() != manifest(example, kinds):
            sys.exit(f"{name} is behind the chart: python -m tests.helm.plain_manifests --write")
