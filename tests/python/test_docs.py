"""The Python that docs show runs."""

import contextlib
import io
import os
import re
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
                    with self.subTest(block), contextlib.redirect_stdout(io.StringIO()) as printed:
                        exec(compile(block, "docs", "exec"), {})
                        if "print(" in block:
                            self.assertTrue(printed.getvalue())
            finally:
                os.chdir(before)


if __name__ == "__main__":
    unittest.main()
