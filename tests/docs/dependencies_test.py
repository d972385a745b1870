"""The table of dependencies in docs/building.md has all that is installed, with the versions that are pinned.

    python -m tests.docs.dependencies_test BUILD_DIR ORACLE_DIR
"""

import json
import re
import tomllib
import unittest

from tests.docs.pages import ROOT
from tests.e2e.sinkd_process import main

# What the page calls Debian's packages where that is not the package's own name.
CALLED = {
    "libboost-math-dev": "Boost.Math", "libssl-dev": "OpenSSL", "libgtest-dev": "GoogleTest",
    "libgmock-dev": "GoogleTest", "libgrpc++-dev": "gRPC", "protobuf-compiler": "Protobuf",
    "protobuf-compiler-grpc": "gRPC", "nlohmann-json3-dev": "nlohmann-json", "ninja-build": "Ninja",
    "python3-venv": "Python", "python3-pip": "Python", "cargo-web": "Rust", "rustc-web": "Rust",
    "nodejs": "Node.js", "clang-16": "Clang", "libclang-rt-16-dev": "Clang", "libsqlite3-dev": "SQLite",
    "sqlite3": "SQLite", "libbenchmark-dev": "google-benchmark", "libtomlplusplus-dev": "toml++",
    "nginx-light": "nginx",
}
PINNED = re.compile(r"^([\w.-]+)==(\S+)", re.MULTILINE)


def debian_packages():
    script = (ROOT / "deploy/setup.sh").read_text()
    for words in re.findall(r"^readonly \w+_packages=\((.*?)\)", script, re.MULTILINE | re.DOTALL):
        yield from words.split()


def python_packages():
    """(name, version)."""
    for file in sorted(ROOT.glob("**/requirements.txt")):
        if not {".venv", "build", "node_modules"} & set(file.relative_to(ROOT).parts):
            yield from PINNED.findall(file.read_text())


def node_packages():
    for folder in ("server/http/page", "tests/page"):
        file = json.loads((ROOT / folder / "package.json").read_text())
        yield from {**file.get("dependencies", {}), **file.get("devDependencies", {})}.items()


def crates():
    yield from tomllib.loads((ROOT / "server/tokenizer/rust/Cargo.toml").read_text())["dependencies"]


def go_tools():
    tools = re.search(r"^tool \((.*?)\)", (ROOT / "tests/helm/tools/go.mod").read_text(), re.M | re.S)[1]
    return [each.rsplit("/", 1)[1] for each in tools.split()]


class Dependencies(unittest.TestCase):
    def setUp(self):
        text = (ROOT / "docs/building.md").read_text()
        table = text[text.index("| dependency | for | version |"):].split("\n\n")[0]
        self.rows = [line.lower() for line in table.splitlines()[2:]]

    def rows_of(self, name):
        name = re.escape(name.lower())
        return [row for row in self.rows
                if re.search(rf"(?<![\w-]){name}(?![\w-])", row.split("|")[1])]

    def check(self, name, version=None):
        with self.subTest(name):
            rows = self.rows_of(name)
            self.assertNotEqual(rows, [], "not in docs/building.md")
            if version:
                last = [row.split("|")[3] for row in rows]
                self.assertTrue(any(version in each or "](" in each for each in last),
                                f"{version} is not what docs/building.md says: {last}")

    def test_all_are_in_the_table(self):
        for package in debian_packages():
            self.check(CALLED.get(package, re.sub(r"^lib(?!pq)|-dev$", "", package)))
        for name, version in python_packages():
            self.check("libtorch" if name == "torch" else name, version)
        for name, version in node_packages():
            self.check(name.removeprefix("@").removesuffix("/test"), version)
        for name in (*crates(), *go_tools()):
            self.check(name)


if __name__ == "__main__":
    main()
