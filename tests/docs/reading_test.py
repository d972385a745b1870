"""How pages are read, and what is shown compared: what the other tests of docs rely on.

    python -m tests.docs.reading_test BUILD_DIR ORACLE_DIR
"""

import pathlib
import tempfile
import unittest
import unittest.mock

from tests.docs import pages
from tests.docs.commands_test import reason_to_skip
from tests.docs.shown import as_shown
from tests.e2e.sinkd_process import main

PAGE = """Text.

```console
$ one --flag \\
    more          # a comment
shown
...
# two <<'END'
$ no command
END
```

```json
$ none either
```

```console
$ A=1 B='x y' \\
    three
```
"""


def read(text):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder) / "page.md"
        page.write_text(text)
        with unittest.mock.patch.object(pages, "ROOT", pathlib.Path(folder)):
            return pages.commands(page)


class Reading(unittest.TestCase):
    def test_commands_with_lines_and_what_they_print(self):
        one, two, three = read(PAGE)
        self.assertEqual(one.text, "one --flag \\\n    more          # a comment")
        self.assertEqual((one.line, one.prints), (4, ["shown", "..."]))
        self.assertEqual(two.text, "two <<'END'\n$ no command\nEND")
        self.assertEqual((three.line, three.program, three.prints), (18, "three", []))

    def test_output_before_any_command_is_an_error(self):
        with self.assertRaisesRegex(AssertionError, "without a prompt"):
            read("```console\nout\n```\n")

    def test_only_what_cannot_run_is_skipped(self):
        def skipped(text):
            return reason_to_skip(pages.Command("page.md", 1, text, []))
        self.assertIsNone(skipped("sinkctl models | docker"))
        self.assertIsNone(skipped("unheard-of --program"))
        self.assertIsNotNone(skipped("A=1 docker run"))
        self.assertIsNotNone(skipped("sinkctl load a --device cuda:0"))


class Shown(unittest.TestCase):
    def test_words_are_exact_and_numbers_nearly(self):
        self.assertTrue(as_shown(["a  1,000 [0.50]"], ["a 1,001  [0.50]"]))
        self.assertTrue(as_shown(["x 0.4686"], ["x 0.4688"]))
        self.assertFalse(as_shown(["x 0.4686"], ["x 0.48"]))
        self.assertFalse(as_shown(["a"], ["b"]))

    def test_nothing_is_missing_or_over_but_at_an_ellipsis(self):
        self.assertFalse(as_shown(["a"], ["a", "b"]))
        self.assertFalse(as_shown(["a", "b"], ["a"]))
        self.assertTrue(as_shown(["a", "...", "d"], ["a", "b", "c", "d"]))
        self.assertTrue(as_shown(["a", "..."], ["a"]))
        self.assertFalse(as_shown(["a", "...", "d"], ["a", "b"]))


if __name__ == "__main__":
    main()
