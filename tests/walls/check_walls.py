"""Holds the walls between the rooms: which headers each room's files really read.

Reads `ninja -t deps`, the compiler's own list, so that an include through three others counts too.
Usage: check_walls.py SOURCE_DIR BUILD_DIR
"""

import functools
import pathlib
import re
import subprocess
import sys

TORCH = re.compile(r"/torch/include/(ATen|c10|torch|caffe2)/")
PROTOBUF = re.compile(r"/(google/protobuf|grpcpp|grpc)/|\.pb\.h$")

# What a room may include: (torch, protobuf and gRPC, other rooms). None: any room.
ROOMS = {
    "server/base": (False, False, set()),
    "server/tokenizer": (False, False, {"server/base"}),
    "server/engine": (True, False, {"server/base"}),
    "server/analysis": (False, False, {"server/base", "server/engine"}),
    "server/audit": (False, False, {"server/base", "server/engine", "server/analysis"}),
    "server/models": (False, False, {"server/base", "server/engine", "server/tokenizer"}),
    "server/mechanism": (
        False, False,
        {"server/base", "server/engine", "server/analysis", "server/models", "server/tokenizer"},
    ),
    "server/access": (False, False, {"server/base"}),
    "server/scheduler": (False, False, {"server/base", "server/engine"}),
    "server/store": (False, False, {"server/base"}),
    "server/telemetry": (False, False, {"server/base"}),
    "server/net": (False, False, {"server/base", "server/telemetry"}),
    "server/service": (False, True, None),
    "server/http": (
        False, False, {"server/access", "server/base", "server/http/page", "server/net", "server/telemetry"},
    ),
    # The page as bytes, which the client writes into reports.
    "server/http/page": (False, False, set()),
    "client": (False, True, {"server/http/page"}),
}
# The engine's headers that other rooms may read; the rest are its own.
FACADE = {
    "model.h", "model_plan.h", "family_facts.h", "trace.h", "decoder_spec.h", "tokenizer_files.h",
    "capture.h", "decomposition.h", "device_fault.h", "edits.h", "intervention.h", "matrix.h", "site.h",
    "state_statistics.h", "device_memory.h", "memory_estimate.h", "activation_memory.h", "placement.h",
}


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


def room_of(path):
    matches = [room for room in ROOMS if path.startswith(room + "/")]
    return max(matches, key=len) if matches else None


@functools.lru_cache(maxsize=None)
def relative(path, source, build):
    full = pathlib.Path(path)
    full = (full if full.is_absolute() else build / full).resolve()
    try:
        return str(full.relative_to(source))
    except ValueError:
        return None


def breaches(source, build):
    seen = 0
    for unit, headers in read_deps(build):
        unit_path = relative(unit, source, build)
        room = unit_path and room_of(unit_path)
        torch = next((h for h in headers if TORCH.search(h)), None)
        protobuf = next((h for h in headers if PROTOBUF.search(h)), None)
        if torch and protobuf:
            yield f"{unit_path or unit} reads torch ({torch}) and protobuf ({protobuf}) together"
        if not room:
            continue
        seen += 1
        may_torch, may_protobuf, rooms = ROOMS[room]
        if torch and not may_torch:
            yield f"{unit_path} reads torch: {torch}"
        if protobuf and not may_protobuf:
            yield f"{unit_path} reads protobuf or gRPC: {protobuf}"
        for header in headers:
            path = relative(header, source, build)
            other = path and room_of(path)
            if not other or other == room:
                continue
            if rooms is not None and other not in rooms:
                yield f"{unit_path} reads {path}, which its room may not"
            if other == "server/engine" and pathlib.Path(path).name not in FACADE:
                yield f"{unit_path} reads {path}, which is internal to the engine"
    if seen < 20:
        yield f"only {seen} files of the rooms were found in the dependency list"


def main():
    source, build = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
    found = sorted(set(breaches(source, build)))
    for line in found:
        print(line)
    print(f"{len(found)} breaches")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
