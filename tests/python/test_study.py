"""Studies: the same rows whoever computes them, nothing computed twice, failures kept."""

import csv
import importlib.util
import tempfile
import unittest
from pathlib import Path

from test_verve import small
from verve import study

mu = "bodies.box.potentials.tet_strain.mu"


class AStudy(unittest.TestCase):
    def test_has_the_same_rows_in_one_process_and_in_two(self):
        samples = study.grid({mu: [1e3, 1e4], "solver.method": ["cpd", "pd"]})
        with tempfile.TemporaryDirectory() as folder:
            one = study.run(small(), samples, out=folder + "/one", frames=5, workers=1)
            two = study.run(small(), samples, out=folder + "/two", frames=5, workers=2)
            self.assertEqual(one, two)
            self.assertEqual(len({row["state_hash"] for row in one}), 4)
            with open(folder + "/one/study.csv") as file:
                self.assertEqual([row["run"] for row in csv.DictReader(file)], [row["run"] for row in one])

    @unittest.skipUnless(importlib.util.find_spec("distributed"), "DASK IS NOT TESTED: no dask.distributed here")
    def test_has_the_same_rows_from_dask(self):
        from distributed import Client, LocalCluster

        samples = study.grid({mu: [1e3, 1e4, 1e5]})
        with tempfile.TemporaryDirectory() as folder:
            one = study.run(small(), samples, out=folder + "/one", frames=3, workers=1)
            with LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=None) as cluster:
                with Client(cluster) as client:
                    two = study.run(small(), samples, out=folder + "/two", frames=3, client=client)
            self.assertEqual(one, two)

    def test_computes_nothing_twice(self):
        with tempfile.TemporaryDirectory() as folder:
            samples = study.latin_hypercube({mu: (1e3, 1e5)}, 3, seed=7, log=True)
            rows = study.run(small(), samples, out=folder, frames=2, workers=1)
            times = {f: f.stat().st_mtime_ns for f in Path(folder, "results").iterdir()}
            first = Path(folder, "results", rows[0]["run"] + ".json")
            first.unlink()  # as if it had been interrupted
            self.assertEqual(study.run(small(), samples, out=folder, frames=2, workers=1), rows)
            after = {f: f.stat().st_mtime_ns for f in Path(folder, "results").iterdir()}
            self.assertEqual([f for f in times if after[f] != times[f]], [first])

    def test_keeps_runs_that_fail(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = study.run(small(), [{mu: -1}, {mu: 1e4}], out=folder, frames=2, workers=1)
            self.assertIn("expected", rows[0]["error"])
            self.assertNotIn("error", rows[1])

    def test_samples_each_part_of_a_range_once(self):
        values = sorted(s["a"] for s in study.latin_hypercube({"a": (0, 10), "b": (1, 2)}, 10, seed=3))
        self.assertEqual([int(v) for v in values], list(range(10)))


if __name__ == "__main__":
    unittest.main()
