"""Runs what README.md and docs tell, page by page, command by command, on a real server.

    python -m tests.docs.commands_test BUILD_DIR ORACLE_DIR

A command that a page tells runs here unless SKIPPED says why not: a new one is run, or fails.
"""

import fnmatch
import importlib
import re
import unittest

from tests.docs import pages
from tests.docs.shown import as_shown
from tests.docs.workplace import Workplace
from tests.e2e import stubs
from tests.e2e.sinkd_process import main

# Programs, as patterns, that cannot run here, or whose run is another test.
SKIPPED = {
    "make": "builds and tests the project, as it does with this test",
    "cmake": "the same",
    "build/bench/*": "of an optimized build",
    "tests/device/*": "needs a GPU to tell more than tests/device does",
    "docker": "needs a container engine; deploy_images builds and tries the images",
    "docker/build.sh": "the same",
    "helm": "needs a cluster; tests/helm renders and checks the chart",
    "kubectl": "the same",
    "pip": "downloads",
    "hf": "the same",
    "install": "writes to the system's folders",
    "systemctl": "manages the system's services",
}
# What a skipped command would have left behind for those after it.
INSTEAD = {
    "kubectl wait": "sinkctl analyze smollm2 --levels -i corpus.jsonl --run corpus-2026-11 --shard 0/1",
}
# What stands in prose for something of the reader's, and something of that kind.
PLACEHOLDERS = {"MODEL": "smollm2", "NAME": "nightly", "FILE": "prompts.jsonl", "N": "1024",
                "ADDRESS": "127.0.0.1:50051", "HTTP": "127.0.0.1:9464"}
PLACEHOLDER = re.compile(rf"\b({'|'.join(PLACEHOLDERS)})\b")
# Before each of those, which may delete or unload what the next one asks for.
PREPARED = "sinkctl load smollm2 && sinkctl analyze smollm2 --levels -i prompts.jsonl --run nightly"
NEEDS_GPU = re.compile(r"\bcuda:\d")
# Exit codes beside 0 that are an answer.
ANSWERS = {"sinkctl plan": {6}, "sinkctl audit --policy deploy/policies/quantized-release.yaml": {1, 7},
           "curl -s http://HTTP/metrics | grep": {1}}


def reason_to_skip(command):
    for pattern, reason in SKIPPED.items():
        if fnmatch.fnmatch(command.program, pattern):
            return reason
    return "needs GPUs" if NEEDS_GPU.search(command.text) else None


def instead(command):
    return [text for start, text in INSTEAD.items() if command.text.startswith(start)]


def right_codes(text):
    return {0}.union(*(codes for start, codes in ANSWERS.items() if text.startswith(start)))


class Commands(unittest.TestCase):
    def check(self, place, command):
        if reason_to_skip(command):
            for text in instead(command):
                self.assertEqual(place.run(text)[0], 0, text)
            return
        act = place.serve if command.program == "sinkd" else place.run
        code, out, said = act(command.text)
        self.assertIn(code, right_codes(command.text), f"{command}\n{out}{said}\n{place.log()[-2000:]}")
        printed = out.rstrip().splitlines()
        if command.prints and not as_shown(command.prints, printed):
            self.fail("\n".join([f"{command}", "shown:", *command.prints, "printed:", *printed]))

    def test_every_command_runs_and_prints_what_is_shown(self):
        for page in pages.all_pages():
            commands = list(pages.commands(page))
            if any(reason_to_skip(each) is None for each in commands):
                with self.subTest(page=pages.name(page)):
                    place = Workplace(page.read_text())
                    try:
                        for each in commands:
                            self.check(place, each)
                    finally:
                        place.cleanup()


    def test_commands_with_placeholders_in_prose_run(self):
        every = {(pages.name(page), code) for page in pages.all_pages()
                 for code in pages.code_in_prose(page)}
        place = Workplace()
        try:
            for page, code in sorted(every):
                if re.match(r"(sinkctl|curl) ", code) and PLACEHOLDER.search(code) and "..." not in code:
                    with self.subTest(page=page, command=code):
                        self.assertEqual(place.run(PREPARED)[0], 0)
                        text = PLACEHOLDER.sub(lambda each: PLACEHOLDERS[each[0]], code)
                        answer = place.run(text)
                        self.assertIn(answer[0], right_codes(code), answer)
        finally:
            place.cleanup()


class Pages(unittest.TestCase):
    def test_every_command_is_in_a_console_block(self):
        program = re.compile(r"(\$ |sinkd |sinkctl |curl |grpcurl |make |docker |helm |kubectl |psql )")
        for page in pages.all_pages():
            for block in pages.blocks(page):
                if block.language != "console":
                    found = [line for line in block.lines if program.match(line)]
                    self.assertEqual(found, [], f"{pages.name(page)}:{block.line}")

    def test_every_rule_that_skips_is_needed(self):
        every = {each.program for page in pages.all_pages() for each in pages.commands(page)}
        unused = [rule for rule in SKIPPED if not fnmatch.filter(every, rule)]
        self.assertEqual(unused, [])

    def test_every_method_of_the_protocol_has_an_example(self):
        called = "\n".join(each.text for each in pages.commands(pages.ROOT / "docs/api.md"))
        self.assertEqual([each for each in methods() if each not in called], [])


def methods():
    """Full names of every method of the protocol."""
    for file in sorted((stubs.PROTO / "sinks" / "v1").glob("*.proto")):
        descriptor = importlib.import_module(f"sinks.v1.{file.stem}_pb2").DESCRIPTOR
        for service in descriptor.services_by_name.values():
            yield from (f"{service.full_name}/{method.name}" for method in service.methods)


if __name__ == "__main__":
    main()
