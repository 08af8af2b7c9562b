"""What the Blender scene says, as a scene of Verve: bodies, pins, colliders, wind, dials, frame by frame."""
import json
import math
import os
import re

import numpy
from mathutils import Matrix, Vector

from . import points
from .program import Failed

FLAT = 1e-5  # of its size: thinner than this a collider is a sheet, and is given a back
BACK = 0.1   # of its size, how thick that is


def bodies(context):
    return [o for o in context.scene.objects if o.type == "MESH" and o.verve.use]


def frame_range(scene):
    own = scene.verve
    first, last = (own.frame_start, own.frame_end) if own.use_range else (scene.frame_start, scene.frame_end)
    if last <= first:
        raise Failed(f"found frames {first} to {last}, expected at least two")
    return first, last


class Sampler:
    """Every value that may be animated, in every frame; the scene is back at its frame afterwards."""

    def __init__(self, context, first, last):
        self.context, self.frames = context, range(first, last + 1)
        self.step = context.scene.render.fps_base / context.scene.render.fps
        self._asked = {}

    def ask(self, key, value):
        """`value`: a function of the evaluated scene."""
        self._asked[key] = value, []

    def run(self):
        scene, before, part = self.context.scene, self.context.scene.frame_current, self.context.scene.frame_subframe
        try:
            for frame in self.frames:
                scene.frame_set(frame)
                for value, seen in self._asked.values():
                    seen.append(value())
        finally:
            scene.frame_set(before, subframe=part)

    def __getitem__(self, key):
        return self._asked[key][1]

    def track(self, values):
        """A value, or keyframes where it changes."""
        rows = [v.tolist() if isinstance(v, numpy.ndarray) else v for v in values]
        if all(r == rows[0] for r in rows):
            return rows[0]
        return {"keys": [[k * self.step, r] for k, r in enumerate(rows)]}


def unique(name, used):
    """A name that is good for files, each once."""
    stem = re.sub(r"[^A-Za-z0-9_-]", "_", name) or "body"
    out, number = stem, 1
    while out in used or out == "all":
        number += 1
        out = f"{stem}_{number}"
    used.add(out)
    return out


def shape_of(context, obj, with_modifiers):
    """Points in the object's space, polygons and edges, without what Verve's own modifier does."""
    if not with_modifiers:
        mesh = obj.data
        return points.vertices_of(mesh), [list(p.vertices) for p in mesh.polygons], [list(e.vertices) for e in mesh.edges]
    own = obj.modifiers.get(points.MODIFIER)
    shown = own.show_viewport if own else False
    if own:
        own.show_viewport = False
    try:
        evaluated = obj.evaluated_get(context.evaluated_depsgraph_get())
        mesh = evaluated.to_mesh()
        out = points.vertices_of(mesh), [list(p.vertices) for p in mesh.polygons], [list(e.vertices) for e in mesh.edges]
        evaluated.to_mesh_clear()
    finally:
        if own:
            own.show_viewport = shown
    return out


def with_back(x, faces):
    """A sheet in a plane as a slab: its own side stays where it is."""
    centre = x.mean(0)
    _, spread, axes = numpy.linalg.svd(x - centre, full_matrices=False)
    size = numpy.ptp(x, axis=0).max()
    if len(x) < 3 or spread[2] > FLAT * max(spread[0], 1e-300):
        return x, faces
    normal = sum(numpy.cross(x[f[i]] - x[f[0]], x[f[i + 1]] - x[f[0]]) for f in faces for i in range(1, len(f) - 1))
    n = axes[2] if normal @ axes[2] > 0 else -axes[2]
    seen = {}
    for f in faces:
        for a, b in zip(f, f[1:] + f[:1]):
            seen[a, b] = True
    rim = [(a, b) for a, b in seen if (b, a) not in seen]
    m = len(x)
    back = [[m + v for v in reversed(f)] for f in faces]
    sides = [[b, a, m + a, m + b] for a, b in rim]
    return numpy.concatenate([x, x - n * BACK * size]), faces + back + sides


def rotation_vectors(turns):
    """Of matrices, each near to the one before, in degrees and Verve's axes."""
    out, before = [], Vector((0, 0, 0))
    for turn in turns:
        axis, angle = turn.to_quaternion().to_axis_angle()
        nearest = min((axis * (angle + 2 * math.pi * k) for k in range(-2, 3)), key=lambda v: (v - before).length)
        if nearest.length < 1e-9 and before.length > math.pi:  # a whole turn has no axis of its own: go on about the last
            nearest = before.normalized() * (2 * math.pi * round(before.length / (2 * math.pi)))
        before = nearest
        out.append(points.up(numpy.array(nearest)) * 180 / math.pi)
    return out


class Export:
    """Writes scene.json and its meshes into a folder, and remembers which body is which object."""

    def __init__(self, context, folder):
        self.context, self.folder, self.warnings = context, folder, []
        self.first, self.last = frame_range(context.scene)
        self.objects = bodies(context)
        if not self.objects:
            raise Failed("found no body, expected a mesh object with Verve switched on in its physics tab")
        self.unit = context.scene.unit_settings.scale_length  # metres in a unit of Blender's
        self.names, used = {}, {"floor"}
        for obj in self.objects:
            self.names[obj] = unique(obj.name, used)
        self.obstacles = [o for o in (context.scene.verve.colliders.all_objects if context.scene.verve.colliders else [])
                          if o.type == "MESH" and o not in self.objects]
        self.obstacle_names = {o: unique(o.name, used) for o in self.obstacles}
        self.sampler = Sampler(context, self.first, self.last)
        self._shapes = {}
        self._sample()
        with open(os.path.join(folder, "scene.json"), "w", encoding="utf-8") as out:
            json.dump(self._scene(), out, indent=1)

    def matrices(self, obj):
        return self.sampler[obj, "matrix"]

    def _sample(self):
        ask, context = self.sampler.ask, self.context
        for obj in self.objects + self.obstacles:
            ask((obj, "matrix"), lambda o=obj: o.evaluated_get(context.evaluated_depsgraph_get()).matrix_world.copy())
        for obj in self.objects:
            for dial in ("energy", "half_life"):
                ask((obj, dial), lambda o=obj, d=dial: getattr(o.verve, d))
            for dial in ("momentum", "spin"):
                ask((obj, dial), lambda o=obj, d=dial: points.up(getattr(o.verve, d)))
        ask("wind", lambda: points.up(context.scene.verve.wind))
        ask("gravity", lambda: points.up(context.scene.gravity))
        # shapes are those of the first frame
        def shapes():
            if not self._shapes:
                for obj in self.objects:
                    self._shapes[obj] = shape_of(context, obj, obj.verve.use_modifiers)
                for obj in self.obstacles:
                    self._shapes[obj] = shape_of(context, obj, True)
        ask("shapes", shapes)
        self.sampler.run()

    def _file(self, name, x, faces, edges):
        points.write_ply(os.path.join(self.folder, name + ".ply"), x, faces, edges)
        return name + ".ply"

    def _body(self, obj):
        own, name, metres = obj.verve, self.names[obj], self.unit
        x, faces, edges = self._shapes[obj]
        x = points.up(points.moved(self.matrices(obj)[0], x) * metres)
        if own.kind == "ROPE":
            faces = []
        elif not faces:
            raise Failed(f"{obj.name}: found no faces, expected a surface, or kind Rope")
        else:
            edges = []
        file = self._file(name, x, faces, edges)
        body = {"name": name}
        if own.kind == "SOLID":
            body["mesh"], body["embed"] = {"generator": "solid", "cells": own.cells}, {"file": file}
        else:
            body["mesh"] = {"file": file}
        body["material"] = own.material or {"SOLID": "jelly", "SHEET": "cotton", "ROPE": "rope"}[own.kind]
        body["initial"] = {"velocity": points.up(own.velocity).tolist(),
                           "angular_velocity": points.up(own.angular_velocity).tolist()}
        dials = {dial: self.sampler.track(self.sampler[obj, dial])
                 for dial in ("energy", "momentum", "spin", "half_life") if getattr(own, "use_" + dial)}
        if dials:
            body["dials"] = dials
        if obj.active_material:
            body["color"] = "#" + "".join("%02x" % round(255 * min(1, max(0, c)) ** (1 / 2.2))
                                          for c in obj.active_material.diffuse_color[:3])
        return body

    def _pins(self, obj):
        own = obj.verve
        if not own.pins:
            return []
        group = obj.vertex_groups.get(own.pins)
        if not group:
            raise Failed(f"{obj.name}: found no vertex group {own.pins!r} for its pins")
        if own.use_modifiers and len(self._shapes[obj][0]) != len(obj.data.vertices):
            raise Failed(f"{obj.name}: found pins on a mesh with more vertices than its own, expected With Modifiers off")
        held = [v.index for v in obj.data.vertices
                if any(g.group == group.index and g.weight > 0.5 for g in v.groups)]
        if not held:
            raise Failed(f"{obj.name}: found no vertex with a weight above one half in {own.pins!r}, expected some to hold")
        matrices = self.matrices(obj)
        start = matrices[0]
        if any((m.to_3x3() - start.to_3x3()).median_scale > 1e-6 for m in matrices):
            self.warnings.append(f"{obj.name}: its pins follow where it goes, not how it turns")
        anchor = {"body": self.names[obj], "hard": True,
                  "vertices": {"carried" if own.kind == "SOLID" else "indices": held}}
        path = [points.up(numpy.array(m.translation - start.translation) * self.unit) for m in matrices]
        if any(p.any() for p in path):
            anchor["path"] = self.sampler.track(path)
        return [anchor]

    def _collider(self, obj):
        matrices, name = self.matrices(obj), self.obstacle_names[obj]
        start = matrices[0]
        x, faces, _ = self._shapes[obj]
        if not faces:
            raise Failed(f"{obj.name}: found a collider without faces")
        x, faces = with_back(points.moved(Matrix.Translation(-start.translation) @ start, x) * self.unit, faces)
        back = start.to_3x3().inverted()
        turns = [m.to_3x3() @ back for m in matrices]
        if any(abs(c.length - 1) > 1e-3 for t in turns for c in t.col):
            self.warnings.append(f"{obj.name}: colliders move and turn, but keep the size of the first frame")
        return {"name": name, "shape": "mesh", "mesh": {"file": self._file("collider_" + name, points.up(x), faces, [])},
                "position": self.sampler.track([points.up(numpy.array(m.translation) * self.unit) for m in matrices]),
                "rotation": self.sampler.track(rotation_vectors(turns)), "friction": self.context.scene.verve.friction}

    def _scene(self):
        scene, own = self.context.scene, self.context.scene.verve
        gravity = self.sampler["gravity"][0] * self.unit
        out = {"version": 1, "name": re.sub(r"[^A-Za-z0-9_-]", "_", scene.name), "step": self.sampler.step,
               "frames": self.last - self.first,
               "gravity": gravity.tolist() if scene.use_gravity else [0, 0, 0],
               "solver": {"tolerance": 1e-4, "iterations": 20} if own.quality == "FAST" else {"tolerance": 1e-6},
               "bodies": [self._body(o) for o in self.objects],
               "anchors": [a for o in self.objects for a in self._pins(o)],
               "colliders": [self._collider(o) for o in self.obstacles]}
        if own.floor:
            out["colliders"].append({"name": "floor", "shape": "plane", "friction": own.friction,
                                     "position": [0, own.floor_height * self.unit, 0]})
        if own.use_wind:
            wind = self.sampler.track(self.sampler["wind"])
            out["winds"] = [{"body": self.names[o], "velocity": wind} for o in self.objects if o.verve.kind != "ROPE"]
        if len(self.objects) > 1 or own.self_contact:
            out["contact"] = {"bodies": len(self.objects) > 1, "self": own.self_contact}
        return out
