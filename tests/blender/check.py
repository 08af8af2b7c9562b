"""The add-on in Blender, from its zip to the modifiers, and what verve convert writes read by Blender.

  blender --background --factory-startup --python-exit-code 1 --python check.py -- VERVE ZIP PLACE

PLACE: a folder of its own, with spaces in its name.
"""
import json
import math
import os
import shutil
import struct
import subprocess
import sys

import bpy
import numpy

verve, addon_zip, place = sys.argv[sys.argv.index("--") + 1:]
FIRST, LAST = 5, 25


def expect(condition, what):
    if not condition:
        print("failed:", what, flush=True)
        sys.exit(1)


def at(*names):
    return os.path.join(place, *names)


def run(*words):
    done = subprocess.run([verve, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    expect(done.returncode == 0, f"verve {' '.join(words)}: {done.stdout}")


def coordinates(obj):
    """Of the evaluated mesh, in the world."""
    evaluated = obj.evaluated_get(bpy.context.evaluated_depsgraph_get())
    mesh = evaluated.to_mesh()
    x = numpy.empty(3 * len(mesh.vertices), "f4")
    mesh.vertices.foreach_get("co", x)
    matrix = numpy.array(evaluated.matrix_world)
    evaluated.to_mesh_clear()
    return x.reshape(-1, 3).astype(float) @ matrix[:3, :3].T + matrix[:3, 3]


def points_of_ply(file):
    """Of what verve convert writes: float or double x, y, z first."""
    data = open(file, "rb").read()
    head, body = data.split(b"end_header\n", 1)
    n = int(head.split(b"element vertex ")[1].split()[0])
    kind = "<f8" if b"property double x" in head else "<f4"
    return numpy.frombuffer(body, kind, 3 * n).reshape(-1, 3).astype(float)


def truth_of(run_folder, name, frames):
    """The points of a body in Blender's axes, by way of numbered files."""
    run("convert", run_folder, "--to", "ply", "--out", at("truth"), "--up", "z", "--quiet")
    return numpy.stack([points_of_ply(at("truth", f"{name}_{k:04}.ply")) for k in range(frames)])


def run_of(blend):
    """Where results of a file are kept, and the one run that is there."""
    cache = at("verve_" + blend, "Scene")
    folders = [f for f in os.listdir(cache) if f.startswith("simulation-")]
    expect(len(folders) == 1, "one run is kept")
    return cache, os.path.join(cache, folders[0], "run")


def install():
    bpy.ops.preferences.addon_install(filepath=addon_zip)
    bpy.ops.preferences.addon_enable(module="verve_blender")
    bpy.context.preferences.addons["verve_blender"].preferences.program = verve


def empty_scene():
    bpy.ops.wm.read_factory_settings(use_empty=True)
    install()
    scene = bpy.context.scene
    scene.render.fps, scene.frame_start, scene.frame_end = 25, FIRST, LAST
    scene.frame_set(7)
    return scene


def add_body(kind, **settings):
    obj = bpy.context.object
    obj.verve.use, obj.verve.kind = True, kind
    for name, value in settings.items():
        setattr(obj.verve, name, value)
    return obj


def pin(obj, choose):
    group = obj.vertex_groups.new(name="held ones")
    held = [v.index for v in obj.data.vertices if choose(v.co)]
    group.add(held, 1, "REPLACE")
    group.add([v.index for v in obj.data.vertices if v.index not in held], 0.3, "REPLACE")
    obj.verve.pins = group.name
    return held


def build_scene():
    """A solid hung by its top, with a modifier and a material; a flag in the wind; a rope; obstacles, one of them flat
    and moving."""
    scene = empty_scene()
    bpy.ops.mesh.primitive_uv_sphere_add(segments=12, ring_count=8, radius=0.5, location=(0, 0, 2), rotation=(0.3, 0.5, 0.2))
    ball = add_body("SOLID", material="gummy", cells=10)
    ball.name = "my ball, no. 1"
    ball.scale = 1, 0.8, 0.6
    held = {ball: pin(ball, lambda p: p.z > 0.4)}
    ball.modifiers.new("Subdivision", "SUBSURF")
    ball.data.materials.append(bpy.data.materials.new("red"))
    bpy.ops.mesh.primitive_grid_add(x_subdivisions=8, y_subdivisions=8, size=1, location=(3, 0, 2), rotation=(1.2, 0, 0))
    flag = add_body("SHEET", material="cotton")
    flag.name = "flag"
    held[flag] = pin(flag, lambda p: p.x < -0.49)
    flag.keyframe_insert("location", frame=FIRST)  # its pole is carried along
    flag.location.y = 0.3
    flag.keyframe_insert("location", frame=LAST)
    mesh = bpy.data.meshes.new("rope")
    mesh.from_pydata([(-3 + 0.1 * i, 0, 1) for i in range(11)], [(i, i + 1) for i in range(10)], [])
    rope = bpy.data.objects.new("rope", mesh)
    scene.collection.objects.link(rope)
    rope.verve.use, rope.verve.kind = True, "ROPE"
    obstacles = bpy.data.collections.new("obstacles")
    scene.collection.children.link(obstacles)
    bpy.ops.mesh.primitive_plane_add(size=2, location=(-3, 0, 0.8))
    plate = bpy.context.object
    plate.keyframe_insert("location", frame=FIRST)
    plate.keyframe_insert("rotation_euler", frame=FIRST)
    plate.location.x, plate.rotation_euler.z = -2.9, 0.3
    plate.keyframe_insert("location", frame=LAST)
    plate.keyframe_insert("rotation_euler", frame=LAST)
    bpy.ops.mesh.primitive_cube_add(size=0.3, location=(0, 0, 0.5))
    for obj in (plate, bpy.context.object):
        for c in obj.users_collection:
            c.objects.unlink(obj)
        obstacles.objects.link(obj)
    scene.verve.colliders = obstacles
    scene.verve.use_wind, scene.verve.wind = True, (0, 3, 0)
    rope.verve.use_half_life, rope.verve.half_life = True, 1
    rope.keyframe_insert("verve.half_life", frame=FIRST)
    rope.verve.half_life = 0.5
    rope.keyframe_insert("verve.half_life", frame=LAST)
    scene.frame_set(7)
    bpy.ops.wm.save_as_mainfile(filepath=at("my scene.blend"))
    return scene, ball, flag, rope, held


def state(scene):
    """What a cancelled simulation must leave as it was."""
    objects = {o.name: (tuple(m.name for m in o.modifiers), tuple(map(tuple, o.matrix_world)), len(o.data.vertices))
               for o in scene.objects}
    return objects, scene.frame_current, sorted(m.name for m in bpy.data.meshes)


def files_below(folder):
    return {os.path.join(base, f): open(os.path.join(base, f), "rb").read() for base, _, files in os.walk(folder) for f in files}


def check_addon():
    scene, ball, flag, rope, held = build_scene()
    expect(bpy.ops.verve.simulate() == {"FINISHED"}, "Simulate ends well")
    cache, result = run_of("my scene")
    described = json.load(open(os.path.join(result, "scene.json")))
    names = {ball: "my_ball__no__1", flag: "flag", rope: "rope"}
    expect([b["name"] for b in described["bodies"]] == list(names.values()), "bodies by their names")
    expect(scene.frame_current == 7, "the scene is back at its frame")
    expect(ball.modifiers[0].type == "MESH_CACHE" and ball.modifiers[1].type == "SUBSURF", "before the other modifiers")
    expect(ball.modifiers[0].filepath.startswith("//"), "the cache is found beside the file")
    expect(ball.data.materials[0].name == "red" and ball.data.uv_layers, "material and texture coordinates stay")
    scene.frame_set(FIRST)
    smooth = len(coordinates(ball))
    expect(smooth > 2 * len(ball.data.vertices), "the modifier behind it still works")
    ball.modifiers[1].show_viewport = False
    for obj in (ball, flag, rope):
        truth = truth_of(result, names[obj], LAST - FIRST + 1)
        scene.frame_set(FIRST)
        start, origin = coordinates(obj), numpy.array(obj.matrix_world.translation)
        size = numpy.ptp(start, axis=0).max()
        worst = moved = slipped = 0
        for frame in range(FIRST, LAST + 1, 2):
            scene.frame_set(frame)
            x = coordinates(obj)
            worst = max(worst, abs(x - truth[frame - FIRST]).max() / size)
            moved = max(moved, abs(x - start).max() / size)
            if obj in held:
                slipped = max(slipped, abs(x - start - (numpy.array(obj.matrix_world.translation) - origin))[held[obj]].max() / size)
        print(f"{obj.name}: {worst:.1e} from the run, moved by {moved:.2g}, pins by {slipped:.1e} of its size", flush=True)
        expect(worst < 2e-6, f"{obj.name}: the evaluated mesh is the run")  # floats there and back through a matrix
        expect(moved > 0.02, f"{obj.name} moves")
        expect(slipped < 1e-3, f"{obj.name}: pins hold")
        expect(obj is not flag or numpy.linalg.norm(numpy.array(obj.matrix_world.translation) - origin) > 0.29, "the pole moves")
    ball.modifiers[1].show_viewport = True
    half_life = described["bodies"][2]["dials"]["half_life"]["keys"]
    expect(len(half_life) == LAST - FIRST + 1 and half_life[0][1] == 1 and abs(half_life[-1][1] - 0.5) < 1e-6, "dials by keyframes")
    plate = described["colliders"][0]
    expect(abs(plate["rotation"]["keys"][-1][1][1] - math.degrees(0.3)) < 1e-3, "colliders turn")
    expect(abs(plate["position"]["keys"][-1][1][0] + 2.9) < 1e-6, "colliders move")
    expect(described["winds"][0]["velocity"][2] == -3 and described["gravity"][1] == scene.gravity[2], "wind and gravity are turned")

    # what the rope lies on is the plate: its own side, not that of the slab behind it
    scene.frame_set(LAST)
    expect(coordinates(rope)[:, 2].min() > 0.8 - 0.02, "the rope lies on a plate without thickness")

    # cancel
    scene.frame_set(7)
    before, files = state(scene), files_below(cache)
    operators = sys.modules["verve_blender.operators"]
    scene.frame_end = 2000
    job = operators.Simulation(bpy.context)
    expect(job.export.last == 2000 and state(scene) == before, "nothing changes while it runs")
    while job.share() == 0:
        expect(not job.poll(), "2000 frames take a while")
    job.cancel()
    scene.frame_end = LAST
    expect(state(scene) == before and files_below(cache) == files, "cancel leaves all as it was")

    # refusals, in words
    ball.verve.material = "gumy"
    check_refused("gummy", "the nearest name is in the message")
    ball.verve.material = ""
    ball.verve.pins = "nobody"
    check_refused("nobody", "a group that is not there")
    expect(state(scene) == before and files_below(cache) == files, "refusals leave all as it was")
    expect(bpy.ops.verve.clear() == {"FINISHED"} and [m.type for m in ball.modifiers] == ["SUBSURF"], "Clear")

    # the mesh that modifiers make, in other units
    scene = empty_scene()
    scene.unit_settings.scale_length = 0.01
    scene.gravity = 0, 0, -981
    bpy.ops.mesh.primitive_cube_add(size=20, location=(30, 0, 15))
    cube = add_body("SOLID", cells=6, use_modifiers=True)
    mirror = cube.modifiers.new("Mirror", "MIRROR")
    mirror.use_axis, mirror.mirror_object = (True, False, False), None
    array = cube.modifiers.new("Array", "ARRAY")
    array.count = 2
    bpy.ops.wm.save_as_mainfile(filepath=at("centimetres.blend"))
    expect(bpy.ops.verve.simulate() == {"FINISHED"}, "with modifiers")
    expect([m.type for m in cube.modifiers][-1] == "MESH_CACHE", "behind the modifiers")
    run("convert", run_of("centimetres")[1], "--to", "ply", "--out", at("cm"), "--up", "z", "--scale", "100", "--quiet")
    for frame in (FIRST, LAST):
        scene.frame_set(frame)
        expect(abs(coordinates(cube) - points_of_ply(at("cm", f"Cube_{frame - FIRST:04}.ply"))).max() < 1e-4, "units and modifiers")
    expect(coordinates(cube)[:, 2].min() > -0.6, "it rests on the floor")


def check_refused(word, what):
    try:
        bpy.ops.verve.simulate()
    except RuntimeError as refused:  # how operators report errors to scripts
        expect(word in str(refused), f"{what}: {refused}")
    else:
        expect(False, what)


def check_files():
    """PC2, MDD and glTF of a run, read by Blender's own modifiers and importer."""
    empty_scene()
    run("mesh", "bear", "--set", "resolution=10", "--out", at("a bear.obj"))
    run("drop", at("a bear.obj"), "--frames", "20", "--cells", "10", "--out", at("drop"), "--quiet")
    for form in ("pc2", "mdd", "glb"):
        run("convert", at("drop"), "--to", form, "--out", at(form), "--quiet", *(() if form == "glb" else ("--up", "z")))
    truth = truth_of(at("drop"), "a_bear", 21)
    scene = bpy.context.scene
    scene.render.fps = 60
    for form in ("pc2", "mdd"):
        bpy.ops.wm.obj_import(filepath=at(form, "a_bear.obj"), forward_axis="Y", up_axis="Z")
        bear = bpy.context.object
        cache = bear.modifiers.new("cache", "MESH_CACHE")
        cache.cache_format, cache.filepath = form.upper(), at(form, "a_bear." + form)
        cache.frame_start = 0
        for frame in range(0, 21, 10):
            scene.frame_set(frame)
            expect(abs(coordinates(bear) - truth[frame]).max() < 1e-6, f"{form} in Blender, frame {frame}")
    numpy.bool = bool  # Debian 12's importer asks for it, and Debian 12's NumPy no longer has it
    bpy.ops.import_scene.gltf(filepath=at("glb", "a_bear.glb"))
    bear = bpy.context.object
    rate = scene.render.fps
    for frame in range(0, 21, 10):
        scene.frame_set(0)
        scene.frame_set(int(frame / 60 * rate), subframe=frame / 60 * rate % 1)
        x = coordinates(bear)
        # the importer may join or split vertices: every point of one is a point of the other
        expect(max(abs(truth[frame] - p).sum(1).min() for p in x[::7]) < 1e-5, f"glTF in Blender, frame {frame}")
    print("PC2, MDD and glTF are the run", flush=True)


shutil.rmtree(place, ignore_errors=True)
os.makedirs(place)
check_addon()
check_files()
print("all is well in Blender", flush=True)
