# Verve in Blender: mesh objects as deformable bodies, simulated by the installed program, back as a Mesh Cache.
bl_info = {
    "name": "Verve",
    "description": "Soft bodies, cloth and ropes that keep their energy, simulated by the program verve",
    "author": "The authors of Verve",
    "version": (1, 0, 0),
    "blender": (3, 4, 0),
    "location": "Properties > Physics > Verve",
    "category": "Physics",
}

from . import operators, panel, settings

modules = (settings, operators, panel)


def register():
    for module in modules:
        module.register()


def unregister():
    for module in reversed(modules):
        module.unregister()
