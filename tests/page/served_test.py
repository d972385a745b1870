"""The page in headless Chromium as a real sinkd serves it, of planted runs.

    python -m tests.page.served_test BUILD_DIR ORACLE_DIR OUT_DIR [Playwright's arguments]
"""

import json
import pathlib
import sys

from tests.e2e import model_root
from tests.e2e.json_api_case import Site, built_page
from tests.e2e.model_root import PLANTED
from tests.e2e.sinkd_process import Programs
from tests.page import page_test


def planted_levels():
    """[first layer, lifetime, kind, 1] of every sink past the primary one."""
    return [[sink["layers"][0], len(sink["layers"]), sink["kind"], 1]
            for record in model_root.planted_records().values() for sink in record["sinks"]]


def planted_text(sample_id="text-4"):
    """A text, and [position, kind, first layer, lifetime] of the sinks past its primary one."""
    lines = (model_root.planted() / "samples.jsonl").read_text().splitlines()
    texts = {each["id"]: each["text"] for each in map(json.loads, lines) if "text" in each}
    record = model_root.planted_records()[sample_id]
    return {"text": texts[sample_id], "positions": record["positions"],
            "sinks": [[each["position"], each["kind"], each["layers"][0], len(each["layers"])]
                      for each in record["sinks"]]}


def main():
    build, oracle, out, *rest = sys.argv[1:]
    Programs.sinkd = pathlib.Path(build).resolve() / "server" / "sinkd"
    Programs.sinkctl = pathlib.Path(build).resolve() / "client" / "cli" / "sinkctl"
    Programs.oracle = pathlib.Path(oracle).resolve()
    out = pathlib.Path(out).resolve()
    out.mkdir(parents=True, exist_ok=True)
    site = Site()
    try:
        site.keep_runs()
        published = site.import_published("published")
        first = next(iter(model_root.planted_records().values()))
        served = {
            "site": f"http://{site.server.http}", "model": PLANTED, "positions": first["positions"],
            "runs": len(site.run_names()), "tried": planted_text(),
            "levels": {"full": planted_levels(),
                       "published": [[*level, count] for level, count in published.items()]},
        }
        (out / "served.json").write_text(json.dumps(served))
        (out / "page.html").write_bytes(built_page())
        code = page_test.play(out, out / "page.html", rest, SINKD_PAGE_SERVED=out / "served.json")
    finally:
        site.stop()
    sys.exit(code)


if __name__ == "__main__":
    main()
