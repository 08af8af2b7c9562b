"""Converts one run to every format and reads the files back: with numpy, with meshio, byte by byte.

  check.py VERVE PLACE   VERVE: the program; PLACE: a folder of its own, in which check.mjs finds the files afterwards
"""
import json
import os
import shutil
import struct
import subprocess
import sys

try:
    import meshio
    import numpy
except ImportError as missing:
    print(f"SKIPPED: {missing}; scripts/install-deps test installs python3-meshio", flush=True)
    sys.exit(77)

# a cube of six quadrilaterals with texture coordinates, in two materials
CUBE = """mtllib cube.mtl
v -1 -1 -1\nv 1 -1 -1\nv 1 1 -1\nv -1 1 -1\nv -1 -1 1\nv 1 -1 1\nv 1 1 1\nv -1 1 1
vt 0 0\nvt 1 0\nvt 1 1\nvt 0 1
usemtl red
f 4/1 3/2 2/3 1/4\nf 5/1 6/2 7/3 8/4\nf 1/1 2/2 6/3 5/4
usemtl blue paint
f 3/1 4/2 8/3 7/4\nf 1/1 5/2 8/3 4/4\nf 2/1 3/2 7/3 6/4
"""
ROPE = {"name": "rope", "mesh": {"generator": "chain", "vertices": 5}, "place": {"translate": [0, 0.6, 0]}}
FRAMES = 6
BOX = {"generator": "box", "size": [0.2, 0.2, 0.2], "cells": [2, 2, 2]}
PILE = {"version": 1, "name": "pile", "step": 1 / 60, "frames": 60, "gravity": [0, -9.81, 0], "contact": {},
        "colliders": [{"name": "floor", "shape": "plane", "friction": 0.5}],
        "bodies": [{"name": name, "mesh": BOX, "density": 1000, "potentials": [{"type": "tet_strain", "mu": 3e4}],
                    "place": {"translate": [0, height, 0]}, "dials": {"half_life": 0.05}, "restitution": 0}
                   for name, height in (("low", 0.1), ("high", 0.3))]}
HELD = {"version": 1, "name": "held", "frames": 3, "gravity": [0, -9.81, 0],
        "bodies": [{"name": "cloth", "mesh": {"generator": "cloth", "columns": 12, "rows": 4}, "density": 0.2,
                    "potentials": [{"type": "spring", "stiffness": 100}]}],
        "anchors": [{"body": "cloth", "vertices": {"box": [[-1, -1, -1], [0.3, 1, 1]]}, "hard": True}]}


def expect(condition, what):
    if not condition:
        sys.exit("failed: " + what)


def pc2(file):
    data = open(file, "rb").read()
    mark, version, points, start, rate, samples = struct.unpack("<12siiffi", data[:32])
    expect(mark == b"POINTCACHE2\0" and version == 1, "PC2 header")
    return numpy.frombuffer(data, "<f4", offset=32).reshape(samples, points, 3), start, rate


def mdd(file):
    data = open(file, "rb").read()
    samples, points = struct.unpack(">ii", data[:8])
    times = numpy.frombuffer(data, ">f4", samples, 8)
    return numpy.frombuffer(data, ">f4", offset=8 + 4 * samples).reshape(samples, points, 3), times


def exr(file):
    data = open(file, "rb").read()
    expect(data[:8] == b"\x76\x2f\x31\x01\2\0\0\0", "EXR header")
    at, attributes = 8, {}
    while data[at]:
        name, at = data[at:data.index(0, at)], data.index(0, at) + 1
        at = data.index(0, at) + 1
        size, = struct.unpack_from("<i", data, at)
        attributes[name] = data[at + 4:at + 4 + size]
        at += 4 + size
    _, _, right, low = struct.unpack("<4i", attributes[b"dataWindow"])
    width, height = right + 1, low + 1
    offsets = struct.unpack_from(f"<{height}Q", data, at + 1)
    out = numpy.zeros((height, width, 3), "<f4")
    for y, offset in enumerate(offsets):
        row, size = struct.unpack_from("<ii", data, offset)
        expect(row == y and size == 12 * width, "EXR rows")
        out[y] = numpy.frombuffer(data, "<f4", 3 * width, offset + 8).reshape(3, width)[::-1].T
    expect(offsets[-1] + 8 + 12 * width == len(data), "EXR ends with its last row")
    return out


def glb(file):
    data = open(file, "rb").read()
    mark, version, length, size, kind = struct.unpack_from("<4sIII4s", data)
    expect(mark == b"glTF" and version == 2 and length == len(data) and kind == b"JSON", "GLB header")
    document = json.loads(data[20:20 + size])
    body = data[28 + size:]

    def view(index, kind, count, n, offset=0):
        about = document["bufferViews"][index]
        width = numpy.dtype(kind).itemsize
        step = about.get("byteStride", n * width)
        begin = about.get("byteOffset", 0) + offset
        return numpy.ndarray((count, n), kind, body, begin, (step, width))

    def values(index):
        a = document["accessors"][index]
        n = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}[a["type"]]
        kind = {5126: "<f4", 5125: "<u4", 5123: "<u2", 5122: "<i2", 5120: "<i1"}[a["componentType"]]
        out = numpy.zeros((a["count"], n), kind)
        if "bufferView" in a:
            out[:] = view(a["bufferView"], kind, a["count"], n, a.get("byteOffset", 0))
        if "sparse" in a:
            some = a["sparse"]
            which = view(some["indices"]["bufferView"], "<u4", some["count"], 1).ravel()
            expect((numpy.diff(which.astype(int)) > 0).all(), "sparse accessors are ascending")
            out[which] = view(some["values"]["bufferView"], kind, some["count"], n)
        return out / numpy.iinfo(kind).max if a.get("normalized") else out
    return document, values


def places(document, values, outer, k):
    """Where a quantised file has the vertices of a body in frame k, as a viewer puts them."""
    inner = document["nodes"][outer["children"][0]]
    animation = document["animations"][0]
    sent = {c["target"]["path"]: values(animation["samplers"][c["sampler"]]["output"]) for c in animation["channels"]
            if c["target"]["node"] == document["nodes"].index(outer)}
    turn = sent["rotation"][k] if "rotation" in sent else numpy.array([0, 0, 0, 1])
    way = sent["translation"][k] if "translation" in sent else numpy.array(outer["translation"])
    primitive = document["meshes"][inner["mesh"]]["primitives"][0]
    x = values(primitive["attributes"]["POSITION"])
    x = x + (values(primitive["targets"][k - 1]["POSITION"]) if k else 0)
    x = x * inner["scale"][0] + inner["translation"]
    return x + 2 * numpy.cross(turn[:3], numpy.cross(turn[:3], x) + turn[3] * x) + way


def main(verve, place):
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    at = lambda *names: os.path.join(place, *names)

    def run(*words):
        done = subprocess.run([verve, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        expect(done.returncode == 0, f"verve {' '.join(words)}: {done.stdout}")

    open(at("a cube.obj"), "w").write(CUBE)
    run("drop", at("a cube.obj"), "--cells", "6", "--frames", str(FRAMES), "--out", at("run"), "--quiet")
    for file in ("metrics.csv", "positions.npy", "scene.json", "report.html", "picture.png"):
        expect(os.path.exists(at("run", file)), f"verve drop leaves {file}")
    scene = json.load(open(at("run", "scene.json")))
    scene["bodies"].append(ROPE)
    json.dump(scene, open(at("two.json"), "w"))
    run("simulate", at("two.json"), "--frames", str(FRAMES), "--out", at("two"), "--quiet")
    for form in ("usda", "glb", "pc2", "mdd", "vtu", "vat", "obj", "ply", "stl"):
        run("convert", at("two"), "--to", form, "--out", at(form), "--quiet")
    body = scene["bodies"][0]["name"]

    # the numbered files are the measure of the others
    truth = numpy.stack([meshio.read(at("ply", f"{body}_{k:04}.ply")).points for k in range(FRAMES + 1)]).astype("f4")
    expect(truth.shape == (FRAMES + 1, 8, 3) and abs(truth[-1] - truth[0]).max() > 0.01, "eight corners that fall")
    rope = numpy.load(at("two", "positions.npy"))[:, -5:]
    x, start, rate = pc2(at("pc2", body + ".pc2"))
    expect(numpy.array_equal(x, truth) and start == 0 and rate == 1, "PC2 has the points of the run")
    expect(numpy.array_equal(pc2(at("pc2", "rope.pc2"))[0], rope), "PC2 of the rope")
    x, times = mdd(at("mdd", body + ".mdd"))
    expect(numpy.array_equal(x, truth) and abs(times[-1] - FRAMES / 60) < 1e-6, "MDD has the points of the run")
    text = open(at("pc2", body + ".obj")).read()
    expect(text.count("\nvt ") == 4 and "usemtl blue paint\n" in text and "f 4/1 3/2 2/3 1/4" in text, "OBJ keeps its polygons, texture and materials")
    for k in range(FRAMES + 1):
        mesh = meshio.read(at("vtu", f"{body}_{k:04}.vtu"))
        expect(numpy.array_equal(mesh.points.astype("f4"), truth[k]), "VTU has the points of the run")
        v = mesh.point_data["velocity"]
        expect(numpy.allclose(v, 0 if k == 0 else (truth[k] - truth[k - 1]) * 60, atol=1e-3), "VTU has velocities")
        stl = meshio.read(at("stl", f"{body}_{k:04}.stl"))
        expect(sum(len(c.data) for c in stl.cells) == 12, "STL has twelve triangles")
        expect(numpy.allclose(sorted(map(tuple, stl.points)), sorted(map(tuple, truth[k])), atol=1e-6), "STL has the corners")
        expect(len(meshio.read(at("vtu", f"rope_{k:04}.vtu")).cells[0].data) == 4, "VTU has the rope's edges")
    expect(open(at("vtu", os.path.basename(at(scene["name"] + ".pvd")))).read().count("<DataSet") == 2 * (FRAMES + 1), "PVD counts the files")
    image = exr(at("vat", body + ".exr"))
    expect(numpy.array_equal(image, truth), "EXR has the points of the run")
    document, values = glb(at("vat", body + ".glb"))
    about = json.load(open(at("vat", body + ".json")))
    primitive = document["meshes"][0]["primitives"][0]["attributes"]
    lookup = values(primitive["TEXCOORD_1"])
    u = (lookup[:, 0] * about["width"]).astype(int)
    row = (lookup[:, 1] * about["height"]).astype(int)
    expect(numpy.array_equal(image[row, u], values(primitive["POSITION"])), "the lookup coordinates find each vertex")
    document, values = glb(at("glb", scene["name"] + ".glb"))
    cube = document["meshes"][0]
    expect([m["name"] for m in document["materials"][:2]] == ["red", "blue paint"], "GLB keeps materials")
    expect(sum(len(values(p["indices"])) for p in cube["primitives"]) == 36, "GLB has twelve triangles")
    base = values(cube["primitives"][0]["attributes"]["POSITION"])
    which = [int(numpy.argmin(abs(truth[0] - p).sum(1))) for p in base]
    for k, target in enumerate(cube["primitives"][0]["targets"]):
        moved = base.astype("f8") + values(target["POSITION"])
        expect(abs(moved - truth[k + 1][which]).max() < 1e-7, "GLB's morph targets are the frames")
    sampler = document["animations"][0]["samplers"][0]
    weights = values(sampler["output"]).reshape(FRAMES + 1, FRAMES)
    expect(numpy.array_equal(weights[1:], numpy.eye(FRAMES)) and not weights[0].any(), "one target at a time")

    # 16 bits: what a body does as a whole is its node's, and the rest of its vertices the targets'
    run("convert", at("two"), "--to", "glb", "--out", at("small"), "--quantize", "--quiet")
    document, values = glb(at("small", scene["name"] + ".glb"))
    outer = next(n for n in document["nodes"] if n["name"] == body)
    step = document["nodes"][outer["children"][0]]["scale"][0] / 32767
    for k in range(FRAMES + 1):
        # half a step of the first frame, and of the change from it
        expect(abs(places(document, values, outer, k) - truth[k][which]).max() < step + 1e-6, f"quantised frame {k}")
    sizes = [os.path.getsize(at(folder, scene["name"] + ".glb")) for folder in ("glb", "small")]
    expect(sizes[1] < sizes[0], "a quantised file is smaller")

    # two boxes, the one on the other on the floor: forces of contact carry their weight
    json.dump(PILE, open(at("pile.json"), "w"))
    run("simulate", at("pile.json"), "--out", at("pile"), "--quiet")
    run("convert", at("pile"), "--to", "vtu", "--simulated", "--frames", "60", "--up", "z", "--quiet")
    forces = {name: meshio.read(at("pile", "vtu", name + "_0060.vtu")).point_data["contact_force"].sum(0) for name in ("low", "high")}
    expect(numpy.allclose(forces["high"], [0, 0, 9.81 * 8], atol=0.5), f"the upper box is carried: {forces}")
    expect(numpy.allclose(forces["low"], [0, 0, 9.81 * 8], atol=0.5), f"the lower box by more than it carries: {forces}")
    rows = numpy.load(at("pile", "contact_forces.npy"))
    last = rows[rows["frame"] == 60]
    expect(numpy.allclose(last["force"].sum(0), [0, 9.81 * 16, 0], atol=1), "NumPy reads the forces")
    expect(len(meshio.read(at("vtu", "rope_0000.vtu")).point_data["contact_force"]) == 5, "no force before the first step")

    # where little changes, little is written: a strip that is held but for one end
    json.dump(HELD, open(at("held.json"), "w"))
    run("simulate", at("held.json"), "--out", at("held"), "--quiet")
    run("convert", at("held"), "--to", "glb", "--quantize", "--quiet")
    document, values = glb(at("held", "glb", "held.glb"))
    some = [a["sparse"]["count"] for a in document["accessors"] if "sparse" in a and a["type"] == "VEC3"]
    expect(len(some) > 0 and max(some) < 40, f"targets of which little changes are sparse: {some}")
    x = places(document, values, document["nodes"][document["scenes"][0]["nodes"][0]], 3)
    truth_of_it = numpy.load(at("held", "positions.npy"))
    expect(max(abs(truth_of_it[3] - p).sum(1).min() for p in x) < 1e-4, "and the frames are there")

    # up axis, scale, one body, a range of frames
    run("convert", at("two"), "--to", "pc2", "--out", at("turned"), "--up", "z", "--scale", "100", "--body", body,
        "--frames", "2:6:2", "--quiet")
    x, start, rate = pc2(at("turned", body + ".pc2"))
    y = truth[2::2].astype("f8") * 100
    expect(numpy.allclose(x, numpy.stack([y[..., 0], -y[..., 2], y[..., 1]], -1), rtol=1e-6, atol=1e-5), "--up z --scale 100")
    expect((start, rate) == (2, 2) and os.listdir(at("turned")).count("rope.pc2") == 0, "--frames and --body")
    # the simulated mesh with its inside
    run("convert", at("two"), "--to", "vtu", "--out", at("inside"), "--simulated", "--body", body, "--quiet")
    mesh = meshio.read(at("inside", f"{body}_{FRAMES:04}.vtu"))
    everything = numpy.load(at("two", "positions.npy"))[FRAMES, :-5]
    expect(numpy.array_equal(mesh.points.astype("f4"), everything), "the simulated mesh has all vertices")
    run("convert", at("two"), "--to", "usda", "--out", at("inside_usda"), "--simulated", "--body", body, "--quiet")
    strain = mesh.cell_data["strain"][0]
    stress, size = mesh.cell_data["stress"][0].astype(float), mesh.cell_data["von_mises_stress"][0].ravel().astype(float)
    xx, yy, zz, xy, yz, zx = stress.T
    expect(stress.shape == (len(strain), 6) and numpy.allclose(
        size, numpy.sqrt(((xx - yy)**2 + (yy - zz)**2 + (zz - xx)**2) / 2 + 3 * (xy**2 + yz**2 + zx**2)), rtol=1e-4), "stress")
    # jelly of 1 to 100 kPa: stiffer where it is strained more
    expect(numpy.corrcoef(numpy.ravel(strain), size)[0, 1] > 0.5 and size.max() > 0, "stress goes with strain")
    expect(mesh.cells[0].type == "tetra" and len(strain) == len(mesh.cells[0].data) and (strain >= 0).all(), "strain of tetrahedra")
    # what was written can be read, too
    for file, corners in (("usda/%s.usda" % scene["name"], None), ("glb/%s.glb" % scene["name"], None), ("stl/%s_0000.stl" % body, 8)):
        run("mesh", "info", at(*file.split("/")))
    numpy.save(at("truth.npy"), truth)
    json.dump({"name": scene["name"], "points": truth.astype(float).tolist()}, open(at("truth.json"), "w"))
    print("all formats agree")


main(*sys.argv[1:])
