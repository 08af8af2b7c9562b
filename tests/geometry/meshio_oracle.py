"""Meshes written by meshio, read by verve, written as .mesh and read back by meshio: the same numbers.

  meshio_oracle.py VERVE PLACE   VERVE: the program; PLACE: a folder of its own
"""
import os
import shutil
import subprocess
import sys

try:
    import meshio
    import numpy
except ImportError as missing:
    print(f"SKIPPED: {missing}; scripts/install-deps test installs python3-meshio", flush=True)
    sys.exit(77)

# a ball of tetrahedra around its centre: coordinates that no short decimal number is
rng = numpy.random.default_rng(5)
points = rng.normal(size=(40, 3)) * 0.3
tets = numpy.array([[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10, 11], [12, 13, 14, 15], [3, 17, 20, 39]])
for t in tets:  # positively oriented, as verve keeps them
    a, b, c, d = points[t]
    if numpy.dot(numpy.cross(b - a, c - a), d - a) < 0:
        t[[0, 1]] = t[[1, 0]]
triangles = numpy.array([[16, 18, 19], [21, 22, 23], [24, 25, 26], [27, 28, 29], [0, 30, 31]])
solid = [("tetra", tets), ("triangle", triangles)]
surface = [("triangle", triangles)]

CASES = [  # file, cells, options of meshio, whether points come as doubles
    ("a.mesh", solid, {"file_format": "medit"}, True),
    ("gmsh22.msh", solid, {"file_format": "gmsh22", "binary": False}, True),
    ("gmsh22b.msh", solid, {"file_format": "gmsh22", "binary": True}, True),
    ("gmsh41.msh", [("tetra", tets)], {"file_format": "gmsh", "binary": False}, True),
    ("gmsh41b.msh", [("tetra", tets)], {"file_format": "gmsh", "binary": True}, True),
    ("old.vtk", solid, {"file_format": "vtk42", "binary": False}, True),
    ("oldb.vtk", solid, {"file_format": "vtk42", "binary": True}, True),
    ("new.vtk", solid, {"file_format": "vtk51", "binary": False}, True),
    ("newb.vtk", solid, {"file_format": "vtk51", "binary": True}, True),
    ("text.vtu", solid, {"file_format": "vtu", "binary": False}, True),
    ("base64.vtu", solid, {"file_format": "vtu", "binary": True, "compression": None}, True),
    ("t.ele", [("tetra", tets)], {"file_format": "tetgen"}, True),
    ("text.ply", surface, {"file_format": "ply", "binary": False}, True),
    ("binary.ply", surface, {"file_format": "ply", "binary": True}, True),
    ("s.obj", surface, {"file_format": "obj"}, True),
    ("s.off", surface, {"file_format": "off"}, True),
    ("text.stl", surface, {"file_format": "stl", "binary": False}, True),
    ("binary.stl", surface, {"file_format": "stl", "binary": True}, False),
]


def cells(mesh, kind):
    found = [block.data for block in mesh.cells if block.type == kind]
    return numpy.concatenate(found) if found else numpy.zeros((0, 3), int)


def main(verve, place):
    shutil.rmtree(place, ignore_errors=True)
    os.makedirs(place)
    for name, blocks, options, exact in CASES:
        file = os.path.join(place, name)
        meshio.write(file, meshio.Mesh(points, blocks), **options)
        back = file + ".out.mesh"
        done = subprocess.run([verve, "mesh", file, "--out", back], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode:
            sys.exit(f"{name}: verve mesh ended with {done.returncode}: {done.stdout}")
        theirs, ours = meshio.read(file), meshio.read(back)
        for kind, data in blocks:
            a, b = theirs.points[cells(theirs, kind)], ours.points[cells(ours, kind)]
            if a.shape != b.shape or not numpy.array_equal(a, b):
                sys.exit(f"{name}: {kind} differ from what meshio reads: {a.shape}, {b.shape}")
            if exact and not name.endswith("stl") and not numpy.allclose(points[data], b, rtol=0, atol=1e-5):
                sys.exit(f"{name}: {kind} differ from what was written")
        if not name.endswith("stl") and not numpy.array_equal(theirs.points, ours.points):
            sys.exit(f"{name}: points differ from what meshio reads")
    # a compressed one is refused with one message
    file = os.path.join(place, "zlib.vtu")
    meshio.write(file, meshio.Mesh(points, solid))
    done = subprocess.run([verve, "mesh", "info", file], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    if done.returncode != 2 or "compressed by vtkZLibDataCompressor" not in done.stderr:
        sys.exit(f"zlib.vtu: expected a refusal, found {done.returncode}: {done.stderr}")
    print(f"{len(CASES) + 1} files")


main(*sys.argv[1:])
