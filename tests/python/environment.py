"""Builds the wheel of client/python and installs it into a fresh environment, BUILD_DIR/python.

    python -m tests.python.environment BUILD_DIR

What the wheel needs comes from .venv/client, which deploy/setup.sh installs; the environment sees it
through a .pth file, so that it takes no download and no minute.
"""

import pathlib
import shutil
import subprocess
import sys
import sysconfig
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / ".venv" / "client"


def packages(environment):
    folder = sysconfig.get_path("purelib", "venv", {"base": str(environment)})
    return pathlib.Path(folder)


def make(build):
    if not (TOOLS / "bin" / "python").exists():
        sys.exit(f"{TOOLS} is missing; run `make oracles`")
    python, environment = TOOLS / "bin" / "python", build / "python"
    shutil.rmtree(environment, ignore_errors=True)
    subprocess.run([python, "-m", "venv", "--without-pip", environment], check=True)
    (packages(environment) / "dependencies.pth").write_text(f"{packages(TOOLS)}\n")
    pip = [python, "-m", "pip", "--disable-pip-version-check", "--quiet"]
    with tempfile.TemporaryDirectory(prefix="sinkd-wheel-") as folder:
        subprocess.run([*pip, "wheel", "--no-build-isolation", "--no-deps", "-w", folder, ROOT / "client/python"],
                       check=True)
        wheel, = pathlib.Path(folder).glob("sinkd-*.whl")
        subprocess.run([*pip, "--python", environment / "bin/python", "install", "--no-deps", wheel], check=True)
    subprocess.run([*pip, "--python", environment / "bin/python", "check"], check=True)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]).resolve())
