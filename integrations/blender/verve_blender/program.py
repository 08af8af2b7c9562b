"""The installed program: where it is, what materials it knows, and a run of it that can be watched and cancelled."""
import os
import re
import shutil
import struct
import subprocess

import bpy


class Failed(Exception):
    """What went wrong, in words for the user."""


def find():
    """The path of the program: the one of the preferences, else the one on the path."""
    addon = bpy.context.preferences.addons.get(__package__)
    given = bpy.path.abspath(addon.preferences.program) if addon and addon.preferences.program else ""
    program = shutil.which(given or "verve")
    if not program:
        raise Failed(f"found no program {given!r}, expected verve: set its path in Preferences > Add-ons > Verve" if given
                     else "found no program verve on the path: set it in Preferences > Add-ons > Verve")
    return program


_materials = {}


def materials(program):
    """Names of materials with what they are made for: "tetrahedra", "triangles" or "edges"."""
    if not _materials.get(program):
        listed = subprocess.run([program, "list", "materials"], text=True, capture_output=True).stdout
        rows = re.findall(r"^  (\S+) .*?  (tetrahedra|triangles|edges): ", listed, re.MULTILINE)
        _materials[program] = dict(rows)
    return _materials[program]


class Job:
    """A scene file on its way: simulated, then converted to point caches, in a folder of its own."""

    def __init__(self, program, folder, frames, scale):
        self.folder, self.frames = folder, frames
        self.run = os.path.join(folder, "run")
        self.points = os.path.join(folder, "points")
        self._steps = [
            [program, "simulate", os.path.join(folder, "scene.json"), "--out", self.run, "--quiet"],
            [program, "convert", self.run, "--to", "pc2", "--out", self.points, "--up", "z", "--scale", repr(scale),
             "--quiet"],
        ]
        self._log = os.path.join(folder, "log.txt")
        self._process = None
        self._next()

    def _next(self):
        with open(self._log, "ab") as log:
            self._process = subprocess.Popen(self._steps.pop(0), stdin=subprocess.DEVNULL, stdout=log, stderr=log)

    def poll(self):
        """Whether all is done. Throws Failed with what the program said when it failed."""
        code = self._process.poll()
        if code is None:
            return False
        if code != 0:
            raise Failed(self.said() or f"verve ended with {code}")
        if self._steps:
            self._next()
            return False
        return True

    def said(self):
        with open(self._log, encoding="utf-8", errors="replace") as log:
            return log.read().strip()

    def done(self):
        """Frames that are there in full: the number in the header of positions.npy, which is written last."""
        try:
            with open(os.path.join(self.run, "positions.npy"), "rb") as file:
                start = file.read(10)
                header = file.read(struct.unpack("<H", start[8:10])[0])
            return max(0, int(re.search(rb"'shape': \((\d+),", header).group(1)) - 1)
        except (OSError, AttributeError, struct.error):
            return 0

    def cancel(self):
        """Ends the program and removes what it wrote."""
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(5)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        shutil.rmtree(self.folder, ignore_errors=True)
