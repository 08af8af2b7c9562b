"""Snapshots taken on by a new process: frame K of scenes by methods, saved, restored elsewhere and stepped on: same bits?

  snapshots.py LIBRARY SCENES [--scenes NAMES] [--methods NAMES] [--at K] [--frames N] [--seconds S] [--table FILE]

LIBRARY: libverve; SCENES: the folder of the built-in scenes. Without names: all scenes, all methods that they offer; method
"own" is the one that the scene has. Ends with 1 where bits differ. A method that cannot drive a scene is refused by words,
which are printed once each. --seconds: pairs whose first frames say that they would take longer get fewer frames, which
the table says. --table FILE: lines "scene<TAB>method<TAB>result", added to what is there, pairs that are there are left out.
"""
import argparse
import ctypes
import json
import os
import subprocess
import sys
import tempfile
import time


class Options(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), ("threads", ctypes.c_int32), ("origin", ctypes.c_char_p),
                ("run_tasks", ctypes.c_void_p), ("user", ctypes.c_void_p)]


class Refused(Exception):
    pass


class Simulation:
    def __init__(self, library, text, origin):
        self.verve = ctypes.CDLL(library)
        self.verve.verve_last_error.restype = ctypes.c_char_p
        self.verve.verve_state_hash.restype = ctypes.c_uint64
        self.verve.verve_scene_json.restype = ctypes.c_char_p
        options = Options(ctypes.sizeof(Options), 1, origin.encode(), None, None)
        self.handle = ctypes.c_void_p()
        if self.verve.verve_create(text.encode(), ctypes.byref(options), ctypes.byref(self.handle)):
            raise Refused(self.error())

    def error(self):
        return self.verve.verve_last_error().decode()

    def __del__(self):
        self.verve.verve_destroy(self.handle)

    def step(self, frames):
        """How many could be taken: a method that diverges does so on either way."""
        for frame in range(frames):
            if self.verve.verve_step(self.handle, None):
                return frame
        return frames

    def save(self, path):
        snapshot = ctypes.c_void_p()
        assert self.verve.verve_save(self.handle, ctypes.byref(snapshot)) == 0, self.error()
        assert self.verve.verve_write_snapshot(snapshot, path.encode()) == 0, self.error()
        self.verve.verve_destroy_snapshot(snapshot)

    def restore(self, path):
        snapshot = ctypes.c_void_p()
        assert self.verve.verve_read_snapshot(path.encode(), ctypes.byref(snapshot)) == 0, self.error()
        assert self.verve.verve_restore(self.handle, snapshot) == 0, self.error()

    def json(self):
        return self.verve.verve_scene_json(self.handle).decode()

    def hash(self):
        return f"{self.verve.verve_state_hash(self.handle):016x}"


def with_method(library, scenes, name, method):
    """The text of a scene, and where it is from."""
    path = os.path.join(scenes, name + ".json")
    if method == "own":
        with open(path) as file:
            return file.read(), path
    scene = json.loads(Simulation(library, path, path).json())  # (files have comments)
    scene["solver"] = {"method": method, "precision": scene["solver"]["precision"]}
    if method in ("symplectic_euler", "explicit_euler", "verlet"):
        scene["solver"]["substeps"] = 20
    return json.dumps(scene), path


def compare(arguments, name, method, place):
    """The result in words, and whether it is good."""
    text, origin = with_method(arguments.library, arguments.scenes_folder, name, method)
    try:
        sim = Simulation(arguments.library, text, origin)
    except Refused as why:
        return "refused: " + str(why).splitlines()[-1].replace(origin + ": ", ""), True
    begin = time.process_time()
    taken = sim.step(arguments.at)
    each = (time.process_time() - begin) / max(1, taken)
    frames = arguments.frames
    if each * frames > arguments.seconds:
        frames = max(3, int(arguments.seconds / each))
    path = os.path.join(place, "state.verve")
    sim.save(path)
    done = sim.step(frames)
    expected = f"{sim.hash()} {done}"
    child = subprocess.run([sys.executable, __file__, arguments.library, arguments.scenes_folder, "--scenes", name,
                            "--methods", method, "--frames", str(frames), "--go-on", path],
                           text=True, stdout=subprocess.PIPE, check=True)
    if child.stdout.strip() != expected:
        return f"{frames} frames: DIFFERENT", False
    return f"{done} frames: same" + ("" if done == frames else ", then it diverges"), True


def all_methods(arguments):
    """As the refusal of one that there is not says."""
    text, origin = with_method(arguments.library, arguments.scenes_folder, "cube", "?")
    try:
        Simulation(arguments.library, text, origin)
    except Refused as why:
        words = str(why).split("expected one of ", 1)[1].splitlines()[0].split(";")[0]
        return [word.strip(' "') for word in words.split(",") if not word.startswith(" or ")]
    raise AssertionError("found a method \"?\"")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("library")
    parser.add_argument("scenes_folder")
    parser.add_argument("--scenes", nargs="*")
    parser.add_argument("--methods", nargs="*")
    parser.add_argument("--at", type=int, default=8)
    parser.add_argument("--frames", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--table")
    parser.add_argument("--go-on")
    arguments = parser.parse_args()
    if arguments.go_on:
        text, origin = with_method(arguments.library, arguments.scenes_folder, arguments.scenes[0], arguments.methods[0])
        sim = Simulation(arguments.library, text, origin)
        sim.restore(arguments.go_on)
        done = sim.step(arguments.frames)
        print(sim.hash(), done)
        return
    scenes = arguments.scenes or sorted(f[:-5] for f in os.listdir(arguments.scenes_folder)
                                        if f.endswith(".json") and f != "schema.json")
    known = set()
    if arguments.table and os.path.exists(arguments.table):
        with open(arguments.table) as file:
            known = {tuple(line.split("\t")[:2]) for line in file}
    methods = arguments.methods or ["own"] + all_methods(arguments)
    bad, refusals, same = 0, set(), 0
    with tempfile.TemporaryDirectory() as place:
        for method in methods:
            for name in scenes:
                if (name, method) in known:
                    continue
                result, good = compare(arguments, name, method, place)
                bad += not good
                same += good and not result.startswith("refused")
                if arguments.table:
                    with open(arguments.table, "a") as file:
                        file.write(f"{name}\t{method}\t{result}\n")
                if not good:
                    print(f"{name}, {method}: {result}")
                if result.startswith("refused") and result not in refusals:
                    refusals.add(result)
                    print(f"{name}, {method}: {result}")
    print(f"{same} pairs go on bit for bit, {bad} do not")
    sys.exit(1 if bad else 0)


main()
