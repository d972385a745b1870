"""Holds the walls between modules: which headers each module's files really read.

The rules are the table of modules in ARCHITECTURE.md. What is read comes from `ninja -t deps`, the
compiler's own list, so that an include through three others counts too.
Usage: check_walls.py SOURCE_DIR BUILD_DIR
"""

import functools
import pathlib
import re
import subprocess
import sys
from typing import NamedTuple

TORCH = re.compile(r"/torch/include/(ATen|c10|torch|caffe2)/")
PROTOBUF = re.compile(r"/(google/protobuf|grpcpp|grpc)/|\.pb\.h$")
ENGINE = "server/engine"


class Rules(NamedTuple):
    torch: bool
    protobuf: bool
    modules: frozenset | None  # None: any


def read_table(source):
    """The rows of ARCHITECTURE.md's first table under "## Modules": {folder: Rules}."""
    text = (source / "ARCHITECTURE.md").read_text()
    section = text.split("\n## Modules\n", 1)[1].split("\n## ", 1)[0]
    allowed = {}
    for line in section.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) != 5 or not cells[0].startswith("`"):
            continue
        torch, protobuf, modules = cells[2:]
        if torch not in ("yes", "no") or protobuf not in ("yes", "no"):
            sys.exit(f"ARCHITECTURE.md: neither yes nor no in the row of {cells[0]}")
        named = {"none": [], "any": None}.get(modules, [name.strip() for name in modules.split(",")])
        allowed[cells[0].strip("`")] = Rules(
            torch == "yes", protobuf == "yes",
            named if named is None else frozenset("server/" + name for name in named))
    for folder, rules in allowed.items():
        for missing in [folder, *(rules.modules or [])]:
            if not (source / missing).is_dir():
                sys.exit(f"ARCHITECTURE.md: {missing} in the row of {folder} is not a folder")
    return allowed


def read_deps(build):
    """Yields (source, [headers]) of every compiled file."""
    out = subprocess.run(["ninja", "-C", build, "-t", "deps"], capture_output=True, text=True, check=True)
    block = []
    for line in out.stdout.splitlines() + [""]:
        if line.startswith("    "):
            block.append(line.strip())
        elif block:
            yield block[0], block[1:]
            block = []


@functools.lru_cache(maxsize=None)
def relative(path, source, build):
    full = pathlib.Path(path)
    full = (full if full.is_absolute() else build / full).resolve()
    try:
        return str(full.relative_to(source))
    except ValueError:
        return None


def breaches(source, build):
    allowed = read_table(source)

    def module_of(path):
        matches = [folder for folder in allowed if path.startswith(folder + "/")]
        return max(matches, key=len) if matches else None

    used = {folder: set() for folder in allowed}
    seen = 0
    for unit, headers in read_deps(build):
        unit_path = relative(unit, source, build)
        module = unit_path and module_of(unit_path)
        torch = next((h for h in headers if TORCH.search(h)), None)
        protobuf = next((h for h in headers if PROTOBUF.search(h)), None)
        if torch and protobuf:
            yield f"{unit_path or unit} reads torch ({torch}) and protobuf ({protobuf}) together"
        if not module:
            continue
        seen += 1
        rules = allowed[module]
        if torch and not rules.torch:
            yield f"{unit_path} reads torch: {torch}"
        if protobuf and not rules.protobuf:
            yield f"{unit_path} reads protobuf or gRPC: {protobuf}"
        for header in headers:
            path = relative(header, source, build)
            other = path and module_of(path)
            if not other or other == module:
                continue
            used[module].add(other)
            if rules.modules is not None and other not in rules.modules:
                yield f"{unit_path} reads {path}, which its module may not"
            if other == ENGINE and str(pathlib.PurePath(path).parent) != ENGINE:
                yield f"{unit_path} reads {path}, which is internal to the engine"
    for module, rules in allowed.items():
        for unused in sorted((rules.modules or set()) - used[module]):
            yield f"ARCHITECTURE.md lets {module} read {unused}, and it does not"
    if seen < 20:
        yield f"only {seen} files of the modules were found in the dependency list"


def main():
    source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    found = sorted(set(breaches(source, build)))
    for line in found:
        print(line)
    print(f"{len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
