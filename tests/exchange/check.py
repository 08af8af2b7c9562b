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

    def values(index):
        a = document["accessors"][index]
        view = document["bufferViews"][a["bufferView"]]
        n = {"SCALAR": 1, "VEC2": 2, "VEC3": 3}[a["type"]]
        kind = {5126: "<f4", 5125: "<u4"}[a["componentType"]]
        return numpy.frombuffer(body, kind, a["count"] * n, view.get("byteOffset", 0) + a.get("byteOffset", 0)).reshape(-1, n)
    return document, values


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
