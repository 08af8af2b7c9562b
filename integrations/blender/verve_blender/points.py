"""Points to and from files: meshes out, point caches in and onto objects."""
import os
import struct

import bpy
import numpy

MODIFIER = "Verve"


def up(x):
    """Blender's z up to Verve's y up, for rows of vectors."""
    x = numpy.asarray(x, float)
    return numpy.stack([x[..., 0], x[..., 2], -x[..., 1]], -1)


def vertices_of(mesh):
    out = numpy.empty(3 * len(mesh.vertices), "f4")
    mesh.vertices.foreach_get("co", out)
    return out.reshape(-1, 3).astype(float)


def moved(matrix, x):
    """Rows of points by a matrix of Blender's."""
    m = numpy.array(matrix, float)
    return x @ m[:3, :3].T + m[:3, 3]


def write_ply(file, x, faces, edges):
    """Polygons keep their corners, vertices their order."""
    with open(file, "wb") as out:
        out.write(b"ply\nformat binary_little_endian 1.0\nelement vertex %d\nproperty double x\nproperty double y\n"
                  b"property double z\nelement face %d\nproperty list int int vertex_indices\nelement edge %d\n"
                  b"property int vertex1\nproperty int vertex2\nend_header\n" % (len(x), len(faces), len(edges)))
        out.write(numpy.ascontiguousarray(x, "<f8").tobytes())
        for face in faces:
            out.write(struct.pack("<%di" % (len(face) + 1), len(face), *face))
        out.write(numpy.asarray(edges, "<i4").tobytes())


def read_pc2(file):
    """(frames, vertices, 3), looked up in the file as it is asked for."""
    with open(file, "rb") as data:
        mark, _, points, _, _, samples = struct.unpack("<12siiffi", data.read(32))
    assert mark == b"POINTCACHE2\0"
    return numpy.memmap(file, "<f4", "r", 32, (samples, points, 3))


def write_local(source, file, inverses):
    """A point cache of the world as one of an object; `inverses`: of its matrix in each frame."""
    world = read_pc2(source)
    part = file + ".part"
    with open(part, "wb") as out:
        out.write(struct.pack("<12siiffi", b"POINTCACHE2\0", 1, world.shape[1], 0, 1, world.shape[0]))
        for frame, inverse in zip(world, inverses):
            out.write(numpy.ascontiguousarray(moved(inverse, frame.astype(float)), "<f4").tobytes())
    os.replace(part, file)


def show(obj, file, frame_start, behind):
    """The cache as a modifier of the object: before its other modifiers, or behind them."""
    modifier = obj.modifiers.get(MODIFIER) or obj.modifiers.new(MODIFIER, "MESH_CACHE")
    with bpy.context.temp_override(object=obj):
        bpy.ops.object.modifier_move_to_index(modifier=MODIFIER, index=len(obj.modifiers) - 1 if behind else 0)
    modifier.cache_format = "PC2"
    modifier.frame_start = frame_start
    modifier.frame_scale = 1
    modifier.forward_axis, modifier.up_axis = "POS_Y", "POS_Z"
    modifier.show_viewport = modifier.show_render = True
    modifier.filepath = file  # last: behind other modifiers it would not fit
