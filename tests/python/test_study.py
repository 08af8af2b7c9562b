"""Studies: the same rows whoever computes them, nothing computed twice, failures kept."""

import csv
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

import numpy as np
import verve
from test_verve import small
from verve import study

mu = "bodies.box.potentials.tet_strain.mu"


# what studies measure here; at module level, so that other processes find them
def raises_for_stiff(simulation, run):
    return {"one": 1 / int(simulation.scene.bodies["box"].potentials["tet_strain"].mu < 5e3)}


def half(values):
    return {"half": values["a"] / 2}


def dies_at_three(values):
    if values["number"] == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": values["number"] ** 2}


def dies_once_at_three(values):
    before = Path(values["folder"], "died")
    if values["number"] == 3 and not before.exists():
        before.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return {"square": values["number"] ** 2}


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

    def test_goes_on_where_a_measure_raises(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = study.run(small(), [{mu: 1e3}, {mu: 1e4}], out=folder, frames=2, workers=1, measure=raises_for_stiff)
            self.assertEqual([row.get("error") for row in rows], [None, "ZeroDivisionError: division by zero"])

    def test_knows_a_measure_by_its_source(self):
        with tempfile.TemporaryDirectory() as folder:
            keys = set()
            for factor in (1, 2):  # two functions of one name
                scope = {}
                exec(f"def height(sim, run): return {{'y': {factor} * sim.positions[0, 1]}}", scope)
                keys.add(study.run(small(), [{}], out=folder, frames=1, workers=1, measure=scope["height"])[0]["run"])
            self.assertEqual(len(keys), 2)

    def test_runs_functions_of_the_values(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = study.run(half, study.grid({"a": [1, 2, 4]}), out=folder, workers=2)
            self.assertEqual([row["half"] for row in rows], [0.5, 1, 2])

    def test_keeps_positions_as_small_as_asked(self):
        with tempfile.TemporaryDirectory() as folder:
            keep = study.Keep([0, 4, 8], "float16")
            row = study.run(small(), [{mu: 1e3}], out=folder, frames=8, workers=1, keep=keep)[0]
            frames, kept = study.positions(folder, row["run"])
            exact = verve.Simulation(small(), threads=1, set={mu: 1e3}).record(8).positions[[0, 4, 8]]
            self.assertEqual(list(frames), [0, 4, 8])
            moved = np.abs(exact - exact[0]).max()
            # float16 has 11 digits of 2; the motion is at most twice what it is beside the mean one
            self.assertLessEqual(np.abs(kept - exact).max(), 2 * moved * 2**-11)
            self.assertGreater(moved, 0.1)

    def test_writes_a_table_for_numpy(self):
        with tempfile.TemporaryDirectory() as folder:
            rows = study.run(small(), [{mu: 1e3}, {mu: -1}], out=folder, frames=2, workers=1)
            with np.load(folder + "/study.npz") as table:
                self.assertEqual(table["total"][0], rows[0]["total"])
                self.assertTrue(np.isnan(table["total"][1]))
                self.assertEqual(table["run"][1], rows[1]["run"])
            self.assertEqual(rows[0]["version"], verve.__version__)

    def test_survives_the_death_of_its_processes(self):
        with tempfile.TemporaryDirectory() as folder:
            values = [{"number": k, "folder": folder} for k in range(8)]
            rows = study.run(dies_once_at_three, values, out=folder, workers=2)
            self.assertEqual([row.get("square") for row in rows], [k * k for k in range(8)])
            rows = study.run(dies_at_three, [{"number": k} for k in range(5)], out=folder, workers=2)
            self.assertEqual([row["number"] for row in rows if "error" in row], [3])
            self.assertIn("died 3 times", rows[3]["error"])

    def test_samples_each_part_of_a_range_once(self):
        values = sorted(s["a"] for s in study.latin_hypercube({"a": (0, 10), "b": (1, 2)}, 10, seed=3))
        self.assertEqual([int(v) for v in values], list(range(10)))

    def test_draws_the_same_sample_from_the_same_seed(self):
        draw = lambda seed: study.random({"a": (1, 100)}, 50, seed=seed, log=["a"])
        self.assertEqual(draw(2), draw(2))
        self.assertNotEqual(draw(2), draw(3))
        below = sum(s["a"] < 10 for s in draw(2))  # half of them, by ratios: 25 +- 3.5
        self.assertTrue(11 < below < 39, below)
        with self.assertRaisesRegex(ValueError, "limits > 0"):
            study.random({"a": (0, 1)}, 3, log=True)


class TheCommand(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        small().write(Path(self.folder.name, "box.json"))

    def run_study(self, *arguments, code=0):
        command = [os.environ["VERVE_PROGRAM"], "study", *arguments]
        done = subprocess.run(command, cwd=self.folder.name, capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stdout + done.stderr

    def test_has_the_rows_that_python_has(self):
        self.run_study("box.json", "--grid", mu + "=1e3,1e4", "--range", "bodies.box.density=500:2000", "--samples", "2",
                       "--seed", "5", "--frames", "2", "--out", "made", "--workers", "1")  # fmt: skip
        samples = study.product(study.grid({mu: [1e3, 1e4]}), study.latin_hypercube({"bodies.box.density": (500, 2000)}, 2, 5))
        rows = study.run(verve.Scene(Path(self.folder.name, "box.json")), samples, out=self.folder.name + "/own", frames=2, workers=1)
        with open(self.folder.name + "/made/study.csv") as file:
            self.assertEqual([r["state_hash"] for r in csv.DictReader(file)], [r["state_hash"] for r in rows])

    def test_tells_all_problems_at_once(self):
        said = self.run_study("cubee", "--grid", "mu", "--range", "a=1", "--measure", "nowhere:f", "--workers", "0", code=2)
        for part in ("nearest", 'found "mu", expected PATH=V1', "PATH=A:B:log", "nowhere", "--workers: found 0"):
            self.assertIn(part, said)
        self.assertFalse(Path(self.folder.name, "runs").exists())
        said = self.run_study("box.json", "--grid", mu + "=1e4,-1", "--frames", "1", "--out", "made", code=1)
        self.assertIn("2 runs, 1 failed", said)

    def test_writes_jobs_that_a_slurm_array_would_run(self):
        arguments = ("box.json", "--grid", mu + "=1e3,2e3,3e3", "--frames", "2", "--out", "jobs")
        self.run_study(*arguments, "--write", "slurm", "--tasks", "2")
        script = Path(self.folder.name, "jobs", "slurm.sh")
        self.assertIn("#SBATCH --array=0-1\n", script.read_text())
        for task in "01":  # as slurmd starts it
            subprocess.run(["bash", script], check=True, env={**os.environ, "SLURM_ARRAY_TASK_ID": task})
        results = Path(self.folder.name, "jobs", "results")
        times = {f: f.stat().st_mtime_ns for f in results.iterdir()}
        self.assertEqual(len(times), 3)
        self.run_study(*arguments)  # the table
        self.assertEqual({f: f.stat().st_mtime_ns for f in results.iterdir()}, times)
        self.assertIn("all 3 runs are there", self.run_study(*arguments, "--write", "slurm"))


if __name__ == "__main__":
    unittest.main()
