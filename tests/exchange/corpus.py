"""A corpus of damaged surfaces, made of Verve's own shapes in several formats, filled by the program: each gives a sound
solid of the volume it should have, or one message.

  corpus.py VERVE PLACE [SEED]
"""
import itertools
import math
import os
import random
import shutil
import struct
import subprocess
import sys

VERVE, PLACE = sys.argv[1:3]
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 7
SHAPES = {  # the shape, and cells along it
    "sphere": (["sphere", "frequency=16"], 16),
    "torus": (["torus", "resolution=22"], 24),
    "bear": (["bear", "resolution=20"], 18),
}
LEAST, MOST = 9.2, 161.7  # dihedral angles of the tetrahedraliser, docs/meshes.md


def expect(condition, what):
    if not condition:
        sys.exit("failed: " + what)


def run(*words):
    return subprocess.run([VERVE, *words], text=True, capture_output=True)


def read_obj(file):
    x, faces = [], []
    for line in open(file):
        words = line.split()
        if words[:1] == ["v"]:
            x.append(tuple(map(float, words[1:4])))
        elif words[:1] == ["f"]:
            faces.append(tuple(int(w) - 1 for w in words[1:4]))
    return x, faces


def write_obj(file, x, faces):
    with open(file, "w") as out:
        out.writelines("v %.9g %.9g %.9g\n" % p for p in x)
        out.writelines("f %d %d %d\n" % (a + 1, b + 1, c + 1) for a, b, c in faces)


def write_off(file, x, faces):
    with open(file, "w") as out:
        out.write("OFF\n%d %d 0\n" % (len(x), len(faces)))
        out.writelines("%.9g %.9g %.9g\n" % p for p in x)
        out.writelines("3 %d %d %d\n" % f for f in faces)


def write_ply(file, x, faces):
    with open(file, "wb") as out:
        out.write(b"ply\nformat binary_big_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\nproperty double z\n"
                  b"element face %d\nproperty list uchar int vertex_indices\nend_header\n" % (len(x), len(faces)))
        out.writelines(struct.pack(">3d", *p) for p in x)
        out.writelines(struct.pack(">B3i", 3, *f) for f in faces)


def write_stl(file, x, faces):
    with open(file, "wb") as out:
        out.write(bytes(80) + struct.pack("<I", len(faces)))
        for f in faces:
            out.write(struct.pack("<12fH", 0, 0, 0, *x[f[0]], *x[f[1]], *x[f[2]], 0))


WRITERS = {".obj": write_obj, ".off": write_off, ".ply": write_ply, ".stl": write_stl}


def sub(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def enclosed(x, faces):
    return sum(dot(x[a], cross(x[b], x[c])) for a, b, c in faces) / 6


def sound(file, what):
    """The volume of a .mesh of tetrahedra, all of them positive and of bounded angles."""
    words = open(file).read().split()
    at = words.index("Vertices")
    n = int(words[at + 1])
    x = [tuple(map(float, words[at + 2 + 4 * i:at + 5 + 4 * i])) for i in range(n)]
    at = words.index("Tetrahedra")
    tets = [tuple(int(w) - 1 for w in words[at + 2 + 5 * i:at + 6 + 5 * i]) for i in range(int(words[at + 1]))]
    volume = 0
    for t in tets:
        p = [x[v] for v in t]
        v = dot(cross(sub(p[1], p[0]), sub(p[2], p[0])), sub(p[3], p[0])) / 6
        expect(v > 0, f"{what}: a tetrahedron of volume {v}")
        volume += v
        normals = []
        for i in range(4):  # outward: the face across from corner i
            a, b, c = [p[k] for k in range(4) if k != i]
            m = cross(sub(b, a), sub(c, a))
            if dot(m, sub(p[i], a)) > 0:
                m = (-m[0], -m[1], -m[2])
            length = math.sqrt(dot(m, m))
            normals.append((m[0] / length, m[1] / length, m[2] / length))
        for a, b in itertools.combinations(normals, 2):
            angle = math.degrees(math.acos(max(-1, min(1, -dot(a, b)))))
            expect(LEAST < angle < MOST, f"{what}: a dihedral angle of {angle}")
    return volume


def moved(x, scale, by=(0, 0, 0)):
    return [tuple(scale * p[k] + by[k] for k in range(3)) for p in x]


def joined(*parts):
    x, faces = [], []
    for px, pf in parts:
        faces += [tuple(v + len(x) for v in f) for f in pf]
        x = x + list(px)
    return x, faces


def unwelded(x, faces):
    return [x[v] for f in faces for v in f], [(3 * i, 3 * i + 1, 3 * i + 2) for i in range(len(faces))]


def faults(shape, x, faces, rng):
    """(name, points, faces, expected volume over the intact one, tolerance)"""
    deleted = [f for f in faces if rng.random() > 0.2]
    flipped = [f if rng.random() > 0.3 else f[::-1] for f in faces]
    size = max(max(p[k] for p in x) - min(p[k] for p in x) for k in range(3))
    yield "intact", x, faces, 1, 0.03
    yield "deleted", x, deleted, 1, 0.05
    yield "flipped", x, flipped, 1, 0.05
    yield "inside out", x, [f[::-1] for f in faces], 1, 0.03
    yield "doubled", *joined((x, faces), (x, faces)), 1, 0.03
    yield "unwelded", *unwelded(x, faces), 1, 0.03
    yield "deleted, flipped, unwelded", *unwelded(x, [f if rng.random() > 0.3 else f[::-1] for f in deleted]), 1, 0.05
    yield "tiny", moved(x, 1e-5), faces, 1e-15, 0.03
    yield "huge and far", moved(x, 1e6, (3e7, 0, 0)), faces, 1e18, 0.03
    # (of the torus the smaller one lies in the hole)
    yield "nested", *joined((x, faces), (moved(x, 0.4), faces)), 1 if shape != "torus" else 1 + 0.4**3, 0.03
    yield "crossing", *joined((x, faces), (moved(x, 1, (0.15 * size, 0, 0)), faces)), None, None


def main():
    shutil.rmtree(PLACE, ignore_errors=True)
    os.makedirs(PLACE)
    at = lambda name: os.path.join(PLACE, name)
    formats, count, worst = itertools.cycle(WRITERS), 0, {}
    for shape, (words, cells) in SHAPES.items():
        done = run("mesh", words[0], "--set", words[1], "--out", at(shape + ".obj"))
        expect(done.returncode == 0, done.stderr)
        x, faces = read_obj(at(shape + ".obj"))
        whole = enclosed(x, faces)
        for name, px, pf, factor, tolerance in faults(shape, x, faces, random.Random(SEED)):
            extension = next(formats)
            file, body = at("a" + extension), at("body.mesh")
            WRITERS[extension](file, px, pf)
            what = f"{shape}, {name}, as {extension}"
            # (two that cross reach further: as many cells along each)
            done = run("mesh", "solid", "--around", file, "--set", f"cells={cells * (1.15 if factor is None else 1)}", "--out", body)
            expect(done.returncode == 0, f"{what}: {done.stderr}")
            volume = sound(body, what)
            if factor is None:
                expect(whole < volume < 2 * whole, f"{what}: volume {volume / whole} of one")
            else:
                off = volume / (whole * factor) - 1
                worst[name] = max(worst.get(name, 0), abs(off))
                expect(abs(off) < tolerance, f"{what}: volume {100 * off:+.1f} %, expected within {100 * tolerance:.0f} %")
            count += 1
    # without thickness, and nothing at all
    sheet = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)]
    write_obj(at("sheet.obj"), *sheet)
    expect(run("mesh", "solid", "--around", at("sheet.obj"), "--out", at("body.mesh")).returncode == 0, "a sheet")
    expect(0.5 / 24 < sound(at("body.mesh"), "a sheet") < 2 / 24, "a sheet is filled to about a cell")
    for name, points in (("point.obj", [(1, 2, 3)] * 3), ("nan.obj", [(0, 0, float("nan")), (1, 0, 0), (0, 1, 0)])):
        write_obj(at(name), points, [(0, 1, 2)])
        done = run("mesh", "solid", "--around", at(name), "--out", at("none.mesh"))
        expect(done.returncode == 2 and "1 problem" in done.stderr and not os.path.exists(at("none.mesh")), f"{name}: {done.stderr}")
    print(count + 1, "sound solids; volume off by at most:", ", ".join(f"{k} {100 * v:.1f} %" for k, v in worst.items()))


main()
