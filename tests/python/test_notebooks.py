"""Every notebook runs from top to bottom; build/notebooks has them as pages."""

import importlib.util
import os
import unittest
from pathlib import Path

notebooks = Path(os.environ["VERVE_SOURCE"]) / "python" / "notebooks"


class Notebooks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        missing = [m for m in ("nbconvert", "ipykernel", "matplotlib", "scipy") if not importlib.util.find_spec(m)]
        if missing:
            raise unittest.SkipTest("NOTEBOOKS ARE NOT TESTED: missing " + ", ".join(missing))


def add_test(file):
    def test(self):
        import nbformat
        from nbconvert import HTMLExporter
        from nbconvert.preprocessors import ExecutePreprocessor

        notebook = nbformat.read(file, as_version=4)
        self.assertFalse([c for c in notebook.cells if c.cell_type == "code" and c.outputs], "outputs are not kept")
        ExecutePreprocessor(timeout=300, kernel_name="python3").preprocess(notebook, {"metadata": {"path": file.parent}})
        printed = [o for c in notebook.cells if c.cell_type == "code" for o in c.outputs]
        self.assertTrue(any("image/png" in o.get("data", {}) for o in printed))
        warnings = [o["text"] for o in printed if o.get("name") == "stderr" and "warning" in o["text"].lower()]
        self.assertEqual(warnings, [])
        if out := os.environ.get("VERVE_NOTEBOOKS"):
            Path(out).mkdir(parents=True, exist_ok=True)
            Path(out, file.stem + ".html").write_text(HTMLExporter().from_notebook_node(notebook)[0])

    setattr(Notebooks, "test_" + file.stem, test)


for file in sorted(notebooks.glob("*.ipynb")):
    add_test(file)


if __name__ == "__main__":
    unittest.main()
