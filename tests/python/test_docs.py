"""The Python that docs show runs."""

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class TheDocs(unittest.TestCase):
    def test_show_python_that_runs(self):
        source = Path(os.environ["VERVE_SOURCE"])
        pages = [(source / name).read_text() for name in ("README.md", "docs/python.md")]
        blocks = [block for page in pages for block in re.findall(r"```python\n(.*?)```", page, re.S)]
        self.assertGreaterEqual(len(blocks), 4)
        before = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            os.chdir(folder)
            try:
                for block in blocks:
                    if "scipy" in block and not importlib.util.find_spec("scipy"):
                        continue
                    with self.subTest(block), contextlib.redirect_stdout(io.StringIO()) as printed:
                        exec(compile(block, "docs", "exec"), {})
                        if "print(" in block:
                            self.assertTrue(printed.getvalue())
            finally:
                os.chdir(before)

    def test_have_examples_that_run(self):
        examples = sorted((Path(os.environ["VERVE_SOURCE"]) / "examples").glob("*.py"))
        self.assertEqual([e.name for e in examples], ["hello.py", "study.py"])
        with tempfile.TemporaryDirectory() as folder:
            for example in examples:
                done = subprocess.run([sys.executable, example], cwd=folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertTrue(done.stdout)

    def test_name_everything_with_its_docstring(self):
        source = Path(os.environ["VERVE_SOURCE"])
        made = subprocess.run([sys.executable, source / "scripts" / "python-api"], capture_output=True, text=True)
        self.assertEqual(made.returncode, 0, made.stderr)
        written = (source / "docs" / "python_api.md").read_text()
        self.assertEqual(made.stdout, written, "make it again: ./run python scripts/python-api > docs/python_api.md")


if __name__ == "__main__":
    unittest.main()
