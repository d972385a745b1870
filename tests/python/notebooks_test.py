"""The notebooks of docs: every cell runs in a kernel of the fresh environment, and shows what it should.

    python -m tests.python.notebooks_test BUILD_DIR ORACLE_DIR
"""

import os
import sys
import tempfile
import unittest
import unittest.mock

import nbclient
import nbformat
import sinkd
from tests.docs.pages import ROOT
from tests.e2e import model_root
from tests.e2e.model_root import PLANTED, ModelRoot
from tests.e2e.sinkd_process import PATIENCE, Programs, SinkdProcess, main

NOTEBOOKS = ROOT / "docs/notebooks"
SMOLLM2 = "smollm2-135m-instruct"  # another planted model stands for it


class Setting:
    server = None


def setUpModule():
    root = ModelRoot()
    unittest.addModuleCleanup(root.cleanup)
    root.link(PLANTED, model_root.planted())
    root.link(SMOLLM2, Programs.oracle / "planted" / "planted-weakening")
    Setting.server = SinkdProcess(root.path, load=(PLANTED, SMOLLM2))
    unittest.addModuleCleanup(Setting.server.stop)


class Notebooks(unittest.TestCase):
    def run_notebook(self, name):
        """The outputs of its code cells, by what the cell begins with."""
        notebook = nbformat.read(NOTEBOOKS / name, as_version=4)
        nbformat.validate(notebook)
        for cell in notebook.cells:
            self.assertFalse(cell.get("outputs"), "notebooks are kept without output")
        with tempfile.TemporaryDirectory(prefix="sinkd-kernel-") as folder, unittest.mock.patch.dict(os.environ, {
                "SINKCTL_SERVER": Setting.server.address, "IPYTHONDIR": folder,
                "MPLBACKEND": "module://matplotlib_inline.backend_inline"}):
            client = nbclient.NotebookClient(notebook, timeout=10 * PATIENCE,
                                             resources={"metadata": {"path": str(ROOT)}})
            client.create_kernel_manager().kernel_spec.argv[0] = sys.executable
            client.execute()
        return {cell.source: cell.outputs for cell in notebook.cells if cell.cell_type == "code"}

    def data(self, outputs, start, kind):
        every = next(value for source, value in outputs.items() if source.startswith(start))
        return next(each.data[kind] for each in every if kind in each.get("data", {}))

    def test_the_first_look(self):
        outputs = self.run_notebook("first_look.ipynb")
        self.assertEqual(self.data(outputs, "text =", "text/html").count("<mark"), 5)
        for start in ("analysis.records[0].plot", 'many.plot("levels")', 'many.plot("fits")', 'many.plot("blocks")',
                      'server.study("norms"'):
            self.assertGreater(len(self.data(outputs, start, "image/png")), 1000)

    def test_the_audit_of_two_models(self):
        outputs = self.run_notebook("audit_of_two_models.ipynb")
        self.assertIn("3 rules", self.data(outputs, "POLICY", "text/plain"))
        with sinkd.connect(Setting.server.address) as client:
            runs = client.runs(labels={"notebook": "audit"})
        self.assertEqual(sorted(each.name for each in runs), [f"runs/audit-{PLANTED}", f"runs/audit-{SMOLLM2}"])
        self.assertIn("no samples fail", self.data(outputs, "audit.to_pandas", "text/html"))


if __name__ == "__main__":
    main()
