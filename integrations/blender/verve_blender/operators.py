"""Simulate with progress and cancel; clear; open the report."""
import glob
import os
import pathlib
import re
import shutil
import tempfile
import time

import bpy

from . import export, points, program

PREFIX = "simulation-"  # of the folder of one: its scene, its meshes and its run
running = None  # the Simulation that is under way


def cache_folder(scene):
    """Beside the .blend file; for one that was never saved, where Blender keeps what is temporary."""
    if bpy.data.filepath:
        stem = os.path.splitext(os.path.basename(bpy.data.filepath))[0]
        base = os.path.join(os.path.dirname(bpy.data.filepath), "verve_" + stem)
    else:
        base = os.path.join(bpy.app.tempdir, "verve")
    return os.path.join(base, re.sub(r"[^A-Za-z0-9_-]", "_", scene.name))


class Simulation:
    """From the scene to modifiers. The Blender scene is changed by finish() alone."""

    def __init__(self, context):
        self.cache = cache_folder(context.scene)
        found = program.find()
        os.makedirs(self.cache, exist_ok=True)
        self.folder = tempfile.mkdtemp(prefix=PREFIX, dir=self.cache)
        try:
            self.export = export.Export(context, self.folder)
            self.job = program.Job(found, self.folder, self.export.last - self.export.first, 1 / self.export.unit)
        except Exception:
            shutil.rmtree(self.folder, ignore_errors=True)
            raise

    def share(self):
        return self.job.done() / self.job.frames

    def poll(self):
        return self.job.poll()

    def finish(self):
        """The result onto the objects, in place of an earlier one."""
        for obj in self.export.objects:
            name = self.export.names[obj]
            file = os.path.join(self.cache, name + ".pc2")
            inverses = [m.inverted_safe() for m in self.export.matrices(obj)]
            points.write_local(os.path.join(self.job.points, name + ".pc2"), file, inverses)
            points.show(obj, bpy.path.relpath(file) if bpy.data.filepath else file, self.export.first,
                        obj.verve.use_modifiers)
        for entry in os.scandir(self.cache):  # of earlier results
            if entry.name.startswith(PREFIX) and entry.path != self.folder:
                shutil.rmtree(entry.path, ignore_errors=True)
        shutil.rmtree(self.job.points, ignore_errors=True)
        said = self.job.said()
        warnings = self.export.warnings + ([said] if said else [])
        if not bpy.data.filepath:
            warnings.append("the result is in a temporary folder: save the file and simulate again to keep it")
        return warnings

    def cancel(self):
        self.job.cancel()


class VERVE_OT_simulate(bpy.types.Operator):
    bl_idname = "verve.simulate"
    bl_label = "Simulate"
    bl_description = "Simulate all bodies of the scene over its frames. Escape cancels"
    bl_options = {"UNDO"}

    _timer = _result = None

    @classmethod
    def poll(cls, context):
        return running is None

    def _start(self, context):
        global running
        try:
            running = Simulation(context)
        except program.Failed as failed:
            self.report({"ERROR"}, str(failed))
        return running is not None

    def _poll(self):
        """Whether it is over, well or not; self._result says which."""
        try:
            if not running.poll():
                return False
            for warning in running.finish():
                self.report({"WARNING"}, warning)
            self._result = {"FINISHED"}
        except program.Failed as failed:
            running.cancel()
            self.report({"ERROR"}, str(failed))
            self._result = {"CANCELLED"}
        except Exception:
            running.cancel()
            raise
        return True

    def execute(self, context):
        """At once, as scripts ask for it."""
        global running
        if not self._start(context):
            return {"CANCELLED"}
        try:
            while not self._poll():
                time.sleep(0.05)
            return self._result
        finally:
            running = None

    def invoke(self, context, event):
        if not self._start(context):
            return {"CANCELLED"}
        self._timer = context.window_manager.event_timer_add(0.2, window=context.window)
        context.window_manager.progress_begin(0, 100)
        context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context, event):
        if running is None:  # the button Cancel
            return self._leave(context, {"CANCELLED"})
        if event.type == "ESC":
            bpy.ops.verve.cancel()
            return self._leave(context, {"CANCELLED"})
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        context.window_manager.progress_update(100 * running.share())
        for area in context.screen.areas:
            if area.type == "PROPERTIES":
                area.tag_redraw()
        try:
            over = self._poll()
        except Exception:
            self._leave(context, {"CANCELLED"})
            raise
        return self._leave(context, self._result) if over else {"PASS_THROUGH"}

    def _leave(self, context, result):
        global running
        running = None
        context.window_manager.event_timer_remove(self._timer)
        context.window_manager.progress_end()
        return result


class VERVE_OT_cancel(bpy.types.Operator):
    bl_idname = "verve.cancel"
    bl_label = "Cancel"
    bl_description = "End the simulation and leave everything as it was"

    @classmethod
    def poll(cls, context):
        return running is not None

    def execute(self, context):
        global running
        running.cancel()
        running = None
        return {"FINISHED"}


class VERVE_OT_clear(bpy.types.Operator):
    bl_idname = "verve.clear"
    bl_label = "Clear"
    bl_description = "Remove the result from all bodies"
    bl_options = {"UNDO"}

    def execute(self, context):
        for obj in context.scene.objects:
            if obj.type == "MESH" and points.MODIFIER in obj.modifiers:
                obj.modifiers.remove(obj.modifiers[points.MODIFIER])
        return {"FINISHED"}


class VERVE_OT_report(bpy.types.Operator):
    bl_idname = "verve.report"
    bl_label = "Report"
    bl_description = "Open the report of the last simulation: curves of energy and momentum, and a playback"

    @staticmethod
    def files(context):
        return glob.glob(os.path.join(glob.escape(cache_folder(context.scene)), PREFIX + "*", "run", "report.html"))

    @classmethod
    def poll(cls, context):
        return running is None and bool(cls.files(context))

    def execute(self, context):
        bpy.ops.wm.url_open(url=pathlib.Path(self.files(context)[0]).as_uri())
        return {"FINISHED"}


classes = (VERVE_OT_simulate, VERVE_OT_cancel, VERVE_OT_clear, VERVE_OT_report)


def register():
    for c in classes:
        bpy.utils.register_class(c)


def unregister():
    if running:
        bpy.ops.verve.cancel()
    for c in reversed(classes):
        bpy.utils.unregister_class(c)
