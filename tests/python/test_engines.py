"""Studies by other people's engines: Dask and GNU parallel. Run where these are installed."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from test_verve import small
from verve import study

mu = "bodies.box.potentials.tet_strain.mu"


class Dask(unittest.TestCase):
    """Two workers that are processes of their own."""

    def setUp(self):
        from distributed import Client, LocalCluster

        cluster = LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None)
        self.addCleanup(cluster.close)
        self.client = Client(cluster)
        self.addCleanup(self.client.close)
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)

    def test_has_the_rows_of_one_process_and_computes_nothing_twice(self):
        samples = study.latin_hypercube({mu: (1e3, 1e5), "bodies.box.density": (500, 2000)}, 200, seed=1)
        one = study.run(small(), samples, out=self.folder.name + "/one", frames=3, workers=1)
        two = study.run(small(), samples, out=self.folder.name + "/two", frames=3, client=self.client)
        self.assertEqual(one, two)
        self.assertEqual(len({row["state_hash"] for row in one}), 200)
        again = study.run(small(), samples, out=self.folder.name + "/two", frames=3, client=NobodyThere())
        self.assertEqual(again, two)

    def test_loses_no_run_where_a_worker_is_killed(self):
        values = [{"number": k, "folder": self.folder.name} for k in range(60)]
        rows = study.run(kills_its_worker_once, values, out=self.folder.name + "/out", client=self.client)
        self.assertTrue(Path(self.folder.name, "killed").exists())
        self.assertEqual([row.get("square") for row in rows], [k * k for k in range(60)])


class NobodyThere:
    def ncores(self):
        return {}

    def submit(self, *_, **__):
        raise AssertionError("a run was computed again")


def kills_its_worker_once(values):
    """SIGKILL in the middle of a run."""
    import signal

    time.sleep(0.005)
    mark = Path(values["folder"], "killed")
    if values["number"] == 25 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": values["number"] ** 2}


class GnuParallel(unittest.TestCase):
    def test_finishes_a_study_that_was_interrupted(self):
        with tempfile.TemporaryDirectory() as folder:
            small().write(Path(folder, "box.json"))
            command = [sys.executable, "-m", "verve.study", "box.json", "--grid", mu + "=1e3,2e3,3e3,4e3", "--frames", "2", "--out", "out"]
            subprocess.run([*command, "--write", "parallel"], cwd=folder, check=True, capture_output=True)
            script = ["sh", folder + "/out/parallel.sh", "-j1"]
            # stops after the first two that succeed, as a machine that goes down would
            subprocess.run([*script, "--halt", "now,success=2"], capture_output=True)
            results = Path(folder, "out", "results")
            first = {f: f.stat().st_mtime_ns for f in results.iterdir()}
            self.assertTrue(2 <= len(first) < 4, first)
            subprocess.run(script, check=True, capture_output=True)
            self.assertEqual(len(list(results.iterdir())), 4)
            self.assertEqual({f: f.stat().st_mtime_ns for f in first}, first)
            subprocess.run(command, cwd=folder, check=True, capture_output=True)
            self.assertEqual(len(Path(folder, "out", "study.csv").read_text().splitlines()), 5)


def load_tests(loader, tests, pattern):
    import importlib.util

    if not importlib.util.find_spec("distributed"):
        print("DASK IS NOT TESTED: no dask.distributed here (Debian: python3-distributed)", file=sys.stderr)
        tests = unittest.TestSuite(t for t in tests if "Dask" not in str(t))
    if not shutil.which("parallel"):
        print("GNU PARALLEL IS NOT TESTED: it is not here (Debian: parallel)", file=sys.stderr)
        tests = unittest.TestSuite(t for t in tests if "GnuParallel" not in str(t))
    return tests


if __name__ == "__main__":
    unittest.main()
