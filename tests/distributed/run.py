"""Runs of several ranks beside those of one process: run.py TEST PROGRAM FOLDER."""

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
WINDY = os.path.join(HERE, "scenes", "windy.json")
# as root in a container, and with more ranks than processors
AROUND = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
              OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_mpi_yield_when_idle="1", OMP_NUM_THREADS="1")


def skip(reason):
    print("THE DISTRIBUTED BUILD IS NOT TESTED: " + reason)
    sys.exit(0)


test, program, folder = sys.argv[1], *map(os.path.abspath, sys.argv[2:4])


def refuse_alone():
    """Without verve-distributed beside it, the program says so under mpirun in place of running several times."""
    os.makedirs(folder, exist_ok=True)
    alone = shutil.copy(program, os.path.join(folder, "verve"))
    done = subprocess.run([alone, "simulate", "cube"], env=dict(os.environ, OMPI_COMM_WORLD_SIZE="2"), cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    os.remove(alone)
    if done.returncode != 2 or "-DVERVE_PETSC=ON" not in done.stderr or os.path.exists(os.path.join(folder, "runs")):
        sys.exit(f"run.py: found exit code {done.returncode} and\n{done.stderr}")


if test == "absent":
    refuse_alone()
    skip("it is not built; scripts/install-deps distributed, then -DVERVE_PETSC=ON")
if not shutil.which("mpirun"):
    skip("there is no mpirun; scripts/install-deps distributed")
try:
    import numpy
except ImportError:
    skip("there is no NumPy; scripts/install-deps test")
shutil.rmtree(folder, ignore_errors=True)
os.makedirs(folder)
os.chdir(folder)


def expect(good, message):
    if not good:
        sys.exit("run.py: " + message)


def call(command, code=0):
    done = subprocess.run(command, env=AROUND, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    expect(done.returncode == code, f"{' '.join(command)}: found exit code {done.returncode}, expected {code}\n"
           + done.stdout + done.stderr)
    return done.stdout + done.stderr


def on_ranks(ranks, *words, code=0):
    return call(["mpirun", "-n", str(ranks), program, *words], code)


class Run:
    def __init__(self, out):
        self.x = numpy.load(os.path.join(out, "positions.npy"))
        with open(os.path.join(out, "metrics.csv")) as file:
            self.rows = [row for row in csv.DictReader(file) if row["body"] == "all"]

    def column(self, *names):
        return numpy.array([[float(row[name]) for name in names] for row in self.rows])


def simulate(ranks, out, scene, *words):
    """Ranks 0: one process, without MPI."""
    words = ["simulate", scene, "--out", out, "--record", "double", "--quiet", *words]
    if ranks == 0:
        call([program, *words, "--no-report"])
    else:
        on_ranks(ranks, *words)
    return Run(out)


def compare(what, one, other, bound=1e-6):
    """Positions to 1e-6 of the size, P and L to 1e-10 of their scales, H to the tolerance, and the same iterations."""
    expect(one.x.shape == other.x.shape, f"{what}: found {other.x.shape}, expected {one.x.shape}")
    size = numpy.ptp(one.x[0], axis=0).max()
    apart = abs(one.x - other.x).max() / size
    expect(apart < bound, f"{what}: positions are {apart:.1e} of the size apart, expected {bound:.0e}")
    energy = one.column("kinetic", "elastic", "total")
    scale = abs(energy).max()
    mass = 1000  # of the bodies here, in orders of magnitude
    momentum = numpy.sqrt(2 * mass * scale)
    for names in (("px", "py", "pz"), ("lx", "ly", "lz")):
        off = abs(one.column(*names) - other.column(*names)).max() / momentum
        expect(off < 1e-10 * bound / 1e-6, f"{what}: {names} are {off:.1e} apart")
    off = abs(energy - other.column("kinetic", "elastic", "total"))[:, 2].max() / scale
    expect(off < 1e-6, f"{what}: H is {off:.1e} apart")
    print(f"{what}: {apart:.1e} of the size apart, {int(other.column('iterations').sum())} iterations "
          f"for {int(one.column('iterations').sum())}")


def motion():
    """One process, and 1, 2 and 4 ranks, of bodies that are not chaotic."""
    for scene, words in (("cube", ["--frames", "50"]), ("hippo", ["--frames", "3"])):
        one = simulate(0, f"{scene}_0", scene, *words)
        for ranks in (1, 2, 4) if scene == "cube" else (2,):
            other = simulate(ranks, f"{scene}_{ranks}", scene, *words)
            compare(f"{scene} on {ranks} ranks", one, other)
            expect((one.column("iterations") == other.column("iterations")).all(),
                   f"{scene} on {ranks} ranks: found other numbers of iterations")
    again = simulate(2, "cube_again", "cube", "--frames", "8")
    expect((again.x == Run("cube_2").x[:9]).all(), "cube on 2 ranks: found other bits in a second run")
    # what swings takes round-off on from frame to frame unless its steps have converged
    words = ["--frames", "2", "--set", "solver.tolerance=1e-10", "--set", "solver.iterations=400"]
    compare("pendulum on 2 ranks", simulate(0, "pendulum_0", "pendulum", *words), simulate(2, "pendulum_2", "pendulum", *words))


def methods():
    """Every method, with anchors, gravity, winds, forces, pushes, dials, a half-life and a material that changes."""
    for method in ("pd", "pd_bdf2", "pd_alpha", "cpd", "cpd_bdf2", "cpd_euler"):
        words = ["--method", method, "--frames", "9", "--set", "solver.iterations=12"]
        compare(f"windy by {method}", simulate(0, f"{method}_0", WINDY, *words), simulate(2, f"{method}_2", WINDY, *words))


def outputs():
    """The files of a run, and the pieces of the ranks."""
    words = ["--frames", "4", "--pieces-every", "2"]
    simulate(3, "run", WINDY, *words)
    for name in ("metrics.csv", "positions.npy", "scene.json"):
        expect(os.path.exists(f"run/{name}"), f"found no {name}")
    again = simulate(2, "again", "run/scene.json")
    compare("from its scene.json", Run("run"), again)
    single = simulate(2, "float", WINDY, "--frames", "1", "--record", "float")
    expect(single.x.dtype == numpy.float32, f"found {single.x.dtype}, expected float32")
    cells = {"sheet": 0, "cube": 0}
    for body in cells:
        with open(f"run/pieces/{body}_000002.pvtu") as file:
            sources = re.findall('Source="([^"]+)"', file.read())
        expect(len(sources) == 3, f"found {len(sources)} pieces of {body}, expected 3")
        for source in sources:
            with open("run/pieces/" + source, "rb") as file:
                cells[body] += int(re.search(rb'NumberOfCells="(\d+)"', file.read())[1])
    whole = json.load(open(WINDY))
    expect(cells == {"sheet": 242, "cube": 625}, f"found {cells} cells in pieces of {whole['name']}, expected every cell once")


def checkpoint():
    """A rank that is killed leaves the last checkpoint, from which another number of ranks goes on."""
    whole = simulate(0, "whole", WINDY, "--frames", "20")
    command = ["mpirun", "-n", "2", program, "simulate", WINDY, "--out", "killed", "--frames", "100000", "--snapshot-every", "5",
               "--quiet"]
    running = subprocess.Popen(command, env=AROUND, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    end = time.time() + 300
    while not os.path.exists("killed/snapshots/000010.verve"):
        expect(running.poll() is None and time.time() < end, "found no checkpoint")
        time.sleep(0.02)
    ranks = subprocess.run(["pgrep", "-P", str(running.pid)], stdout=subprocess.PIPE, text=True).stdout.split()
    expect(len(ranks) == 2, f"found {len(ranks)} processes of mpirun, expected 2")
    os.kill(int(ranks[-1]), signal.SIGKILL)
    running.communicate(timeout=120)
    expect(running.returncode != 0, "found exit code 0 of a run that was killed")
    
    rest = simulate(3, "rest", WINDY, "--frames", "20", "--resume", "killed/snapshots/000010.verve")
    part = Run("whole")
    part.x, part.rows = part.x[10:], part.rows[10:]
    expect(len(rest.x) == 11, f"found {len(rest.x)} frames, expected 11")
    compare("from a checkpoint, on another number of ranks", part, rest)
    text = on_ranks(2, "simulate", "cube", "--out", "other", "--resume", "killed/snapshots/000010.verve", code=1)
    expect(text.count("those of the scene") == 1, "found:\n" + text)


def refusals():
    """Everything that several ranks cannot do, by name and at once; nothing is written."""
    refuse_alone()
    scene = json.load(open(WINDY))
    scene["solver"] = {"method": "newton"}
    scene["bodies"][1]["mass_matrix"] = "consistent"
    scene["bodies"][1]["potentials"][0]["yield"] = 0.1
    scene["bodies"][1]["potentials"].append({"type": "shape_matching", "mu": 100})
    scene["anchors"].append({"body": "sheet", "to_body": "cube", "vertices": {"indices": [0]}, "stiffness": 10})
    scene["colliders"] = [{"shape": "plane"}]
    scene["contact"] = {}
    with open("all.json", "w") as file:
        json.dump(scene, file)
    text = on_ranks(2, "simulate", "all.json", "--out", "refused", code=2)
    for place in ("solver.method", "bodies[1].mass_matrix", "bodies[1].potentials[0].yield", "bodies[1].potentials[1].type",
                  "anchors[1].to_body", "colliders[0]", "contact"):
        expect(text.count(place + ": found") == 1, f"found no single word of {place}:\n{text}")
    expect("7 problems; nothing was written" in text and not os.path.exists("refused"), "found:\n" + text)
    text = on_ranks(2, "simulate", "cube", "--set", "solver.budget=5", code=2)
    expect(text.count("solver.budget: found 5 ms") == 1, "found:\n" + text)
    text = on_ranks(2, "simulate", "twisting_bar", code=2)
    expect("searched for their length" in text, "found:\n" + text)
    text = on_ranks(2, "simulate", "cube", "--frames", "0", "--flames", "3", code=2)
    expect(text.count("--flames: unknown option") == 1, "found:\n" + text)
    text = on_ranks(2, "simulate", "nothing.json", code=2)
    expect(text.count("nothing.json") == 1, "found:\n" + text)
    with open("file", "w") as file:
        file.write("")
    text = on_ranks(2, "simulate", "cube", "--out", "file/run", code=1)
    expect(text.count("file/run: ") == 1, "found:\n" + text)


def options():
    """Options of PETSc reach it, and another solver ends in the same place."""
    one = simulate(0, "one", "cube", "--frames", "5")
    for name, words in {"hypre": ["-pc_type", "hypre"], "jacobi": ["-pc_type", "jacobi"],
                        "mumps": ["-ksp_type", "preonly", "-pc_type", "cholesky", "-pc_factor_mat_solver_type", "mumps"]}.items():
        compare(name, one, simulate(2, name, "cube", "--frames", "5", *words))
    text = on_ranks(2, "simulate", "cube", "--frames", "1", "--out", "view", "-pc_type", "jacobi", "-log_view")
    expect("cg with jacobi, 810 rows on 2 ranks" in text and "KSPSolve" in text, "found:\n" + text)
    expect("1 set-ups" in text or "1 set-up" in text, "found:\n" + text)


{"motion": motion, "methods": methods, "outputs": outputs, "checkpoint": checkpoint, "refusals": refusals,
 "options": options}[test]()
