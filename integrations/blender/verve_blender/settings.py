"""What the panels show: of an object, of the scene, and where the program is."""
import bpy
from bpy.props import BoolProperty, EnumProperty, FloatProperty, FloatVectorProperty, IntProperty, PointerProperty, StringProperty

from . import program

MADE_OF = {"SOLID": "tetrahedra", "SHEET": "triangles", "ROPE": "edges"}


def search_materials(self, context, text):
    try:
        known = program.materials(program.find())
    except program.Failed:
        return []
    return [name for name, made_of in known.items() if made_of == MADE_OF[self.kind] and text.lower() in name]


class VerveObject(bpy.types.PropertyGroup):
    use: BoolProperty(name="Verve", description="Simulate this object as a deformable body")
    kind: EnumProperty(
        name="Kind", default="SOLID",
        items=[("SOLID", "Solid", "Filled with tetrahedra, whatever the faults of its surface"),
               ("SHEET", "Cloth", "The faces as they are"),
               ("ROPE", "Rope", "The edges as they are")])
    material: StringProperty(
        name="Material", search=search_materials, search_options={"SUGGESTION"},
        description="A material by its name in Verve; nothing: jelly, cotton or rope")
    cells: IntProperty(name="Cells", default=24, min=4, max=200,
                       description="Of a solid: lattice cells along its longest side")
    use_modifiers: BoolProperty(
        name="With Modifiers",
        description="Simulate the mesh that the modifiers make; the points come back behind them instead of before them")
    pins: StringProperty(name="Pins", description="Vertices with a weight above one half in this group are held")
    velocity: FloatVectorProperty(name="Velocity", subtype="VELOCITY", description="At the start")
    angular_velocity: FloatVectorProperty(name="Rotation", subtype="XYZ", description="At the start, about the centre of mass [rad/s]")

    use_energy: BoolProperty(name="Energy", description="Aim at this total energy instead of keeping it")
    energy: FloatProperty(name="Energy", description="Kinetic, elastic and potential energy together [J]")
    use_momentum: BoolProperty(name="Momentum", description="Aim at this momentum instead of keeping it")
    momentum: FloatVectorProperty(name="Momentum", description="Mass times velocity [kg m/s]")
    use_spin: BoolProperty(name="Spin", description="Aim at this angular momentum instead of keeping it")
    spin: FloatVectorProperty(name="Spin", description="Angular momentum about the centre of mass [kg m²/s]")
    use_half_life: BoolProperty(name="Half-life", description="In place of the material's")
    half_life: FloatProperty(name="Half-life", default=1, min=1e-3, unit="TIME_ABSOLUTE",
                             description="After which half of the oscillation is left [s]")


class VerveScene(bpy.types.PropertyGroup):
    floor: BoolProperty(name="Floor", default=True, description="A plane below everything")
    floor_height: FloatProperty(name="Height", unit="LENGTH")
    friction: FloatProperty(name="Friction", default=0.5, min=0, soft_max=1, description="Of floor and colliders")
    colliders: PointerProperty(name="Colliders", type=bpy.types.Collection,
                               description="Mesh objects in here are rigid obstacles, with their movement")
    self_contact: BoolProperty(name="Self Contact", description="Bodies touch themselves, too")
    use_wind: BoolProperty(name="Wind")
    wind: FloatVectorProperty(name="Wind", subtype="VELOCITY", description="Velocity of the air")
    use_range: BoolProperty(name="Own Frames", description="In place of the scene's frame range")
    frame_start: IntProperty(name="Start", default=1)
    frame_end: IntProperty(name="End", default=100)
    quality: EnumProperty(
        name="Quality", default="FAST",
        items=[("FAST", "Fast", "What a viewer can see"), ("EXACT", "Exact", "To six digits")])


class VervePreferences(bpy.types.AddonPreferences):
    bl_idname = __package__
    program: StringProperty(name="Program", subtype="FILE_PATH", description="verve; nothing: the one on the path")

    def draw(self, context):
        self.layout.prop(self, "program")


classes = (VerveObject, VerveScene, VervePreferences)


def register():
    for c in classes:
        bpy.utils.register_class(c)
    bpy.types.Object.verve = PointerProperty(type=VerveObject)
    bpy.types.Scene.verve = PointerProperty(type=VerveScene)


def unregister():
    del bpy.types.Object.verve
    del bpy.types.Scene.verve
    for c in reversed(classes):
        bpy.utils.unregister_class(c)
