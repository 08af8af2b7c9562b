"""Verve: deformable bodies that keep their energy, their momentum and their spin.

>>> import verve
>>> sim = verve.Simulation("cube")
>>> for report in sim.run(60):
...     print(sim.frame, sim.measure().total)
>>> sim["cube"].energy *= 0.5

SI units; y is up. Vertices are numbered as in the scene's meshes, bodies one after another.
"""

from ._core import (
    Measures,
    Mesh,
    Recorder,
    Snapshot,
    StepReport,
    generate_mesh,
    generators,
    materials,
    methods,
    potentials,
    read_mesh,
    scene_schema,
    scenes,
    shapes,
    tetrahedralize,
)
from ._core import version as __version__
from ._errors import Diagnostic, SceneError, StepError
from ._model import Model
from ._potential import Potential
from ._queries import Contact, Event, SurfacePoint
from ._scene import Scene
from ._simulation import Body, Page, Picture, Run, Simulation, compare, report_page

__all__ = [
    "Body",
    "Contact",
    "Diagnostic",
    "Event",
    "Measures",
    "Mesh",
    "Model",
    "Page",
    "Picture",
    "Potential",
    "Recorder",
    "Run",
    "Scene",
    "SceneError",
    "Simulation",
    "Snapshot",
    "StepError",
    "StepReport",
    "SurfacePoint",
    "__version__",
    "compare",
    "generate_mesh",
    "generators",
    "materials",
    "methods",
    "potentials",
    "read_mesh",
    "report_page",
    "scene_schema",
    "scenes",
    "shapes",
    "tetrahedralize",
]
