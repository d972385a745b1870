"""What pages say of commands in passing is there: flags, subcommands, variables, files, and what they link to.

    python -m tests.docs.mentions_test BUILD_DIR ORACLE_DIR
"""

import functools
import re
import subprocess
import unittest

from tests.docs import pages
from tests.docs.pages import ROOT
from tests.e2e.sinkd_process import PATIENCE, Programs, main

FLAG = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
VARIABLE = re.compile(r"\bSINKD_[A-Z_]+|\bSINKCTL_[A-Z_]+")
LINK = re.compile(r"\]\(([^)\s]+)\)")
OF_TESTS = {"SINKD_FIXTURES"}
TARGET = re.compile(r"^[\w.-][\w./-]*/[\w.-]+\.(sh|py|toml|yaml|yml|json|md|cc|h|conf|service)$")


@functools.cache
def help_of(program, *words):
    """What `program words --help` prints; None where that is no command."""
    done = subprocess.run([program, *words, "--help"], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    return done.stdout if done.returncode == 0 else None


def flags_of(text):
    return set(FLAG.findall(text))


def subcommands(text):
    """The words of this line that are sinkctl's commands, so many as there are: runs, export."""
    words = []
    for word in text.split()[1:]:
        if not re.fullmatch(r"[a-z]+", word) or help_of(Programs.sinkctl, *words, word) is None:
            break
        words.append(word)
    return words


def anchors(page):
    titles = re.findall(r"^#+ (.*)$", pages.prose(page), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-") for title in titles}


class Mentions(unittest.TestCase):
    def each(self):
        for page in pages.all_pages():
            for code in pages.code_in_prose(page):
                yield f"{pages.name(page)}: `{code}`", code

    def test_flags_and_commands_of_sinkctl(self):
        common = flags_of(help_of(Programs.sinkctl))
        for where, code in self.each():
            if code.startswith("sinkctl "):
                with self.subTest(where):
                    words = subcommands(code)
                    first = code.split()[1]
                    self.assertTrue(words or first.startswith("-") or first.isupper(), "no such command")
                    # With COMMAND, any command's.
                    known = common | flags_of(help_of(Programs.sinkctl, *words) or "")
                    self.assertEqual(flags_of(code) - known, set())

    def test_flags_of_sinkd(self):
        known = flags_of(help_of(Programs.sinkd))
        for where, code in self.each():
            if code.startswith("sinkd "):
                with self.subTest(where):
                    self.assertEqual(flags_of(code) - known, set())

    def test_variables(self):
        flags = flags_of(help_of(Programs.sinkd))
        known = {"SINKD_" + flag[2:].upper().replace("-", "_") for flag in flags} | OF_TESTS
        known |= set(VARIABLE.findall(help_of(Programs.sinkctl) + help_of(Programs.sinkctl, "detect")))
        for file in sorted((ROOT / "deploy/compose").glob("*.yaml")):
            known |= set(VARIABLE.findall(file.read_text()))
        for page in pages.all_pages():
            with self.subTest(page=pages.name(page)):
                self.assertEqual(set(VARIABLE.findall(page.read_text())) - known, set())

    def test_settings_stand_where_a_flag_stands_alone(self):
        """`--max-queue` alone is a setting of sinkd, or a flag of some command."""
        programs = {flag for text in self.every_help() for flag in flags_of(text)}
        for where, code in self.each():
            if code.startswith("--"):
                with self.subTest(where):
                    self.assertEqual(flags_of(code) - programs, set())

    def every_help(self):
        yield help_of(Programs.sinkd)
        top = help_of(Programs.sinkctl)
        yield top
        for command in re.findall(r"^  ([a-z]+)  ", top, re.MULTILINE):
            text = help_of(Programs.sinkctl, command)
            yield text
            for inner in re.findall(r"^  ([a-z]+)  ", text.partition("Subcommands:")[2], re.MULTILINE):
                yield help_of(Programs.sinkctl, command, inner) or ""

    def test_links_lead_somewhere(self):
        for page in [*pages.all_pages(), ROOT / "ARCHITECTURE.md"]:
            for link in LINK.findall(pages.prose(page)):
                if "://" not in link:
                    path, _, anchor = link.partition("#")
                    target = (page.parent / path).resolve() if path else page
                    with self.subTest(page=pages.name(page), link=link):
                        self.assertTrue(target.exists(), "no such file")
                        if anchor:
                            self.assertIn(anchor, anchors(target))

    def test_files_that_are_named_are_there(self):
        for page in pages.all_pages():
            for code in pages.code_in_prose(page):
                if TARGET.match(code):
                    with self.subTest(page=pages.name(page), file=code):
                        self.assertTrue(any((base / code).exists() for base in
                                            (ROOT, page.parent, ROOT / "helm/sinkd", ROOT / "server")))


if __name__ == "__main__":
    main()
