"""The page in headless Chromium: fixtures, a report by the real sinkctl, and Playwright over both.

    python -m tests.page.page_test PAGE_HTML SINKCTL OUT_DIR [Playwright's arguments]
"""

import json
import os
import pathlib
import subprocess
import sys

from tests.page import fake_runs, fixtures

HERE = pathlib.Path(__file__).parent
SOURCE = HERE.parents[1] / "server" / "http" / "page"


def check_types():
    """The bundler drops types unread."""
    subprocess.run(["node", SOURCE / "node_modules" / "typescript" / "bin" / "tsc", "--noEmit"],
                   cwd=SOURCE, check=True)


def write_report(sinkctl, out):
    server, address = fake_runs.serve()
    try:
        subprocess.run([sinkctl, "--server", address, "report", "demo-a", "demo-b", "-o", out],
                       check=True)
        gone = subprocess.run(
            [sinkctl, "--server", address, "report", "gone", "-o", out.with_name("gone.html")],
            capture_output=True, text=True)
        assert gone.returncode == 4 and "there is no run gone" in gone.stderr, gone
        assert not list(out.parent.glob("gone.html*")), "a report that failed leaves no file"
    finally:
        server.stop(None)


def play(out, page, arguments, **environment):
    """Playwright's exit code, on fixtures and on what the environment names beside them."""
    answers = out / "answers.json"
    answers.write_text(json.dumps(list(fixtures.answers())))
    environment |= {"SINKD_PAGE": page, "SINKD_PAGE_ANSWERS": answers,
                    "SINKD_PAGE_OUT": out / "playwright"}
    cli = HERE / "node_modules" / "@playwright" / "test" / "cli.js"
    return subprocess.run(["node", cli, "test", *arguments], cwd=HERE, env={
        **os.environ, **{name: str(value) for name, value in environment.items()}}).returncode


def main():
    page, sinkctl, out, *rest = sys.argv[1:]
    out = pathlib.Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    check_types()
    report = out / "report.html"
    write_report(pathlib.Path(sinkctl).resolve(), report)
    sys.exit(play(out, pathlib.Path(page).resolve(), rest, SINKD_PAGE_REPORT=report))


if __name__ == "__main__":
    main()
