"""The panels in the physics tab of mesh objects."""
import bpy

from . import operators


class Panel:
    bl_space_type = "PROPERTIES"
    bl_region_type = "WINDOW"
    bl_context = "physics"

    def begin(self):
        self.layout.use_property_split = True
        return self.layout.column()


class VERVE_PT_body(Panel, bpy.types.Panel):
    bl_label = "Verve"

    @classmethod
    def poll(cls, context):
        return context.object and context.object.type == "MESH"

    def draw_header(self, context):
        self.layout.prop(context.object.verve, "use", text="")

    def draw(self, context):
        own, column = context.object.verve, self.begin()
        if not own.use:
            return
        column.prop(own, "kind")
        column.prop(own, "material")
        if own.kind == "SOLID":
            column.prop(own, "cells")
        column.prop(own, "use_modifiers")
        column.prop_search(own, "pins", context.object, "vertex_groups")
        column.prop(own, "velocity")
        column.prop(own, "angular_velocity")


class Child(Panel):
    bl_parent_id = "VERVE_PT_body"

    @classmethod
    def poll(cls, context):
        return context.object.verve.use


class VERVE_PT_dials(Child, bpy.types.Panel):
    bl_label = "Dials"
    bl_options = {"DEFAULT_CLOSED"}

    def draw(self, context):
        own, column = context.object.verve, self.begin()
        for dial in ("energy", "momentum", "spin", "half_life"):
            column.prop(own, "use_" + dial)
            row = column.column()
            row.active = getattr(own, "use_" + dial)
            row.prop(own, dial, text=" ")


class VERVE_PT_world(Child, bpy.types.Panel):
    bl_label = "World"

    def draw(self, context):
        own, column = context.scene.verve, self.begin()
        column.prop(own, "floor")
        row = column.row()
        row.active = own.floor
        row.prop(own, "floor_height")
        column.prop(own, "colliders")
        column.prop(own, "friction")
        column.prop(own, "self_contact")
        column.prop(own, "use_wind")
        row = column.column()
        row.active = own.use_wind
        row.prop(own, "wind", text=" ")


class VERVE_PT_run(Child, bpy.types.Panel):
    bl_label = "Simulation"

    def draw(self, context):
        own, column = context.scene.verve, self.begin()
        column.prop(own, "quality")
        column.prop(own, "use_range")
        if own.use_range:
            column.prop(own, "frame_start")
            column.prop(own, "frame_end")
        running = operators.running
        if running:
            column.label(text=f"{running.job.done()} of {running.job.frames} frames")
            column.operator("verve.cancel", icon="X")
            return
        column.operator("verve.simulate", icon="PLAY")
        row = column.row(align=True)
        row.operator("verve.clear")
        row.operator("verve.report")


classes = (VERVE_PT_body, VERVE_PT_run, VERVE_PT_world, VERVE_PT_dials)


def register():
    for c in classes:
        bpy.utils.register_class(c)


def unregister():
    for c in reversed(classes):
        bpy.utils.unregister_class(c)
