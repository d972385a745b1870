"""The pages that tell commands, and the commands they tell.

Commands stand in blocks fenced as `console`, behind a prompt: `$`, or `#` for root. A command goes on
after a backslash and to the end of a here-document; what follows up to the next prompt is what it
prints, where `...` alone on a line stands for any lines.
"""

import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
CODE = re.compile(r"`([^`\n]+)`")
HERE_DOCUMENT = re.compile(r"<<'?(\w+)'?")
ASSIGNMENT = re.compile(r"\w+=('[^']*'|\S*)\s+")


@dataclasses.dataclass
class Command:
    page: str
    line: int  # of the page, from 1
    text: str
    prints: list  # lines; none where the page shows nothing

    @property
    def program(self):
        """The first word that is no assignment."""
        text = self.text.replace("\\\n", " ")
        while assigned := ASSIGNMENT.match(text):
            text = text[assigned.end():]
        return text.split()[0]

    def __str__(self):
        return f"{self.page}:{self.line}: {self.text}"


@dataclasses.dataclass
class Block:
    language: str
    line: int  # of its first line within the fences
    lines: list


def all_pages():
    return sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])


def name(page):
    return str(page.relative_to(ROOT))


def blocks(page):
    text = page.read_text()
    for found in FENCE.finditer(text):
        line = text.count("\n", 0, found.start(2)) + 1
        yield Block(found[1], line, found[2].splitlines())


def commands(page):
    """In the page's order."""
    every = []
    for block in blocks(page):
        if block.language == "console":
            every += _commands(name(page), block)
    return every


def prose(page):
    """The page without its blocks."""
    return FENCE.sub("", page.read_text())


def code_in_prose(page):
    return CODE.findall(prose(page))


def _commands(page, block):
    lines, at, found = block.lines, 0, []
    while at < len(lines):
        if not lines[at].startswith(("$ ", "# ")):
            if not found:
                raise AssertionError(f"{page}:{block.line}: a console block begins without a prompt")
            found[-1].prints.append(lines[at])
            at += 1
            continue
        begin = at
        while lines[at].endswith("\\"):
            at += 1
        if document := HERE_DOCUMENT.search(lines[at]):
            at = lines.index(document[1], at)
        at += 1
        text = "\n".join(lines[begin:at])[2:]
        found.append(Command(page, block.line + begin, text, []))
    return found
