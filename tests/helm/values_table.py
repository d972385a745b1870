"""The table of docs/kubernetes.md: what helm/sinkd/values.yaml holds and says of it.

    python -m tests.helm.values_table             whether the page has it
    python -m tests.helm.values_table --write     writes it
"""

import json
import sys

import yaml

from tests.helm.chart import CHART, ROOT

PAGE = ROOT / "docs" / "kubernetes.md"
BEGIN, END = "<!-- written by tests/helm/values_table.py --write -->\n", "<!-- end -->\n"


def rows(text):
    """(path, default as JSON or None, meaning) of each value, in order."""
    lines = text.splitlines()
    found = []

    def comment_above(line):
        first = line
        while first > 0 and lines[first - 1].lstrip().startswith("#"):
            first -= 1
        return " ".join(each.strip().lstrip("# ") for each in lines[first:line])

    def walk(node, path):
        for key, value in node.value:
            name, meaning = f"{path}{key.value}", comment_above(key.start_mark.line)
            if isinstance(value, yaml.MappingNode) and value.value and not value.flow_style:
                if meaning:
                    found.append((name, None, meaning))
                walk(value, f"{name}.")
            else:
                default = yaml.SafeLoader("").construct_document(value)
                found.append((name, json.dumps(default), meaning))

    walk(yaml.compose(text), "")
    return found


def table():
    lines = ["| value | default | meaning |", "|---|---|---|"]
    for name, default, meaning in rows((CHART / "values.yaml").read_text()):
        shown = f"`{default}`" if default is not None else ""
        lines.append(f"| `{name}` | {shown} | {meaning} |".replace("  ", " "))
    return "\n".join(lines) + "\n"


def parts():
    """The page before, within and after the table."""
    before, rest = PAGE.read_text().split(BEGIN)
    within, after = rest.split(END)
    return before, within, after


if __name__ == "__main__":
    head, there, tail = parts()
    if "--write" in sys.argv[1:]:
        PAGE.write_text(head + BEGIN + table() + END + tail)
    elif there != table():
        sys.exit(f"{PAGE} is behind values.yaml: python -m tests.helm.values_table --write")
