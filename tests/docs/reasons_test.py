"""docs/errors.md tells every reason that the sources give an error, and none besides.

    python -m tests.docs.reasons_test BUILD_DIR ORACLE_DIR
"""

import re
import unittest

from tests.docs.pages import ROOT
from tests.e2e.sinkd_process import main

WORD = re.compile(r'"([A-Z][A-Z0-9]+(?:_[A-Z0-9]+)+)"|\.reason = "([A-Z]+)"')
# Words of that form that are no reasons: types of tensors, instructions, names of variables.
OTHERS = re.compile(r"I?Q\d.*|TQ\d_\d|F8_.*|SINKD_.*|.*_CACHE_CAPACITY|STATE_DIRECTORY|XDG_STATE_HOME|AVX512_BF16|DNNL_MAX_CPU_ISA|"
                    r"GOMP_SPINCOUNT|MKL_CBWR|MKL_ENABLE_INSTRUCTIONS|OMP_WAIT_POLICY|ONEDNN_MAX_CPU_ISA")
ROW = re.compile(r"^\| (`.*?) \|", re.MULTILINE)


def reasons_of_the_sources():
    found = set()
    for folder, suffixes in (("server", (".h", ".cc")), ("server/tokenizer/rust/src", (".rs",))):
        for file in (ROOT / folder).rglob("*"):
            if file.suffix in suffixes:
                found |= {first or second for first, second in WORD.findall(file.read_text())}
    return {each for each in found if not OTHERS.fullmatch(each)}


class Reasons(unittest.TestCase):
    def test_the_page_tells_each_once(self):
        rows = ROW.findall((ROOT / "docs/errors.md").read_text())
        told = [reason for row in rows for reason in re.findall(r"`([A-Z_0-9]+)`", row)]
        self.assertEqual(sorted(told), sorted(reasons_of_the_sources()))


if __name__ == "__main__":
    main()
