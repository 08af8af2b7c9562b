"""Studies by other people's engines: Dask, GNU parallel and Slurm. Run where these are installed."""

import importlib.util
import os
import shutil
import socket
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

    @classmethod
    def setUpClass(cls):
        if not importlib.util.find_spec("distributed"):
            raise unittest.SkipTest("DASK IS NOT TESTED: no dask.distributed here (Debian: python3-distributed)")

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


def study_of(values):
    options = ["--grid", f"{mu}={values}", "--frames", "2", "--out", "out"]
    return [sys.executable, "-m", "verve.study", "box.json", *options]


@unittest.skipUnless(shutil.which("parallel"), "GNU PARALLEL IS NOT TESTED: it is not here (Debian: parallel)")
class GnuParallel(unittest.TestCase):
    def test_finishes_a_study_that_was_interrupted(self):
        with tempfile.TemporaryDirectory() as folder:
            small().write(Path(folder, "box.json"))
            command = study_of("1e3,2e3,3e3,4e3")
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


slurm_conf = """ClusterName=here
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldPort=16817
SlurmdPort=16818
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SelectType=select/cons_tres
NodeName={host} NodeAddr=127.0.0.1 CPUs=1
PartitionName=all Nodes={host} Default=YES State=UP
"""


def tool(name):
    return shutil.which(name, path=os.defpath + ":/usr/sbin:/sbin")


@unittest.skipUnless(
    os.geteuid() == 0 and all(map(tool, ("slurmctld", "slurmd", "sbatch", "munged"))),
    "SLURM IS NOT TESTED: it takes root, and Debian's slurmctld, slurmd, slurm-client and munge",
)
class Slurm(unittest.TestCase):
    """A controller, a node and their keys, all of this test."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        for name in ("state", "spool"):
            Path(self.folder, name).mkdir()
        key = Path(self.folder, "munge.key")
        key.write_bytes(os.urandom(128))
        key.chmod(0o600)
        self.folder.chmod(0o755)
        conf = Path(self.folder, "slurm.conf")
        conf.write_text(slurm_conf.format(host=socket.gethostname().partition(".")[0], folder=self.folder))
        self.env = {**os.environ, "SLURM_CONF": str(conf)}
        self.start("munged", "--force", "--foreground", f"--socket={self.folder}/munge.socket", f"--key-file={key}",
                   f"--pid-file={self.folder}/munged.pid", f"--seed-file={self.folder}/seed", "--syslog")  # fmt: skip
        self.wait_for(lambda: Path(self.folder, "munge.socket").exists())
        self.start("slurmctld", "-D")
        self.start("slurmd", "-D")
        self.wait_for(lambda: b"idle" in subprocess.run(["sinfo"], env=self.env, capture_output=True).stdout)

    def start(self, name, *arguments):
        log = open(Path(self.folder, name + ".log"), "w")
        process = subprocess.Popen([tool(name), *arguments], env=self.env, stdout=log, stderr=log)
        self.addCleanup(log.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)

    def wait_for(self, condition):
        for _ in range(300):
            if condition():
                return
            time.sleep(0.1)
        self.fail("".join(f"{p.name}: {p.read_text()[-500:]}" for p in self.folder.glob("*.log")))

    def test_runs_the_array(self):
        small().write(self.folder / "box.json")
        command = study_of("1e3,2e3,3e3")
        subprocess.run([*command, "--write", "slurm", "--tasks", "2"], cwd=self.folder, check=True, capture_output=True)
        subprocess.run(["sbatch", "--wait", "out/slurm.sh"], cwd=self.folder, env=self.env, check=True, capture_output=True)
        results = Path(self.folder, "out", "results")
        times = {f: f.stat().st_mtime_ns for f in results.iterdir()}
        self.assertEqual(len(times), 3)
        subprocess.run(command, cwd=self.folder, check=True, capture_output=True)
        self.assertEqual({f: f.stat().st_mtime_ns for f in results.iterdir()}, times)


if __name__ == "__main__":
    unittest.main()
