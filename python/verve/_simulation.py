"""A running simulation, its bodies, and what is kept of a run."""

from __future__ import annotations

import html
import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import StepError
from ._potential import Potentials, laws_of
from ._queries import Contact, Event, SurfacePoint
from ._scene import Scene

Array = npt.NDArray[np.float64]


class Picture(bytes):
    """A PNG that notebooks show."""

    def _repr_png_(self) -> bytes:
        return bytes(self)

    def save(self, file: str | os.PathLike[str]) -> None:
        """As a file: .png."""
        Path(file).write_bytes(self)


class Page(str):
    """A self-contained page that notebooks show: curves, and a playback to be turned by the mouse."""

    height = 640

    def _repr_html_(self) -> str:
        return f'<iframe srcdoc="{html.escape(self)}" width="100%" height="{self.height}" style="border:0"></iframe>'

    def save(self, file: str | os.PathLike[str]) -> None:
        """As a file: .html."""
        Path(file).write_text(self)


class Body:
    """A body of a simulation. Assigning to `energy`, `momentum` or `spin` turns that dial in the next step."""

    def __init__(self, simulation: Simulation, number: int) -> None:
        self._simulation, self._number = simulation, number

    @property
    def name(self) -> str:
        """As in the scene."""
        return self._simulation.body_name(self._number)

    @property
    def vertices(self) -> slice:
        """Rows of `simulation.positions` that are this body's."""
        first = self._simulation.first_vertex(self._number)
        return slice(first, first + len(self.mesh.vertices))

    @property
    def mesh(self) -> _core.Mesh:
        """At rest, placed."""
        return self._simulation.mesh(self._number)

    @property
    def positions(self) -> Array:
        """(n, 3) [m], a read-only view that step() renews in place."""
        return self._simulation.positions[self.vertices]

    @property
    def velocities(self) -> Array:
        """(n, 3) [m/s], likewise."""
        return self._simulation.velocities[self.vertices]

    @property
    def surface_positions(self) -> Array:
        """Of the surface that the body carries; of its own vertices where it carries none."""
        carried = self._simulation.embedded_mesh(self._number)
        return self._simulation.embedded_positions(self._number) if carried else self.positions

    def measure(self) -> _core.Measures:
        """Momenta and energies of this body."""
        return self._simulation.measure(self._number)

    @property
    def energy(self) -> float:
        """H [J], the total of `measure()`. Assigned to, the next step aims for it and later ones hold it."""
        return self.measure().total

    @energy.setter
    def energy(self, total: float) -> None:
        self._simulation.set_energy(self._number, total)

    @property
    def momentum(self) -> Array:
        """P [kg m/s]."""
        return self.measure().momentum

    @momentum.setter
    def momentum(self, momentum: npt.ArrayLike) -> None:
        self._simulation.set_momentum(self._number, momentum)

    @property
    def spin(self) -> Array:
        """L about the centre of mass [kg m^2/s]."""
        return self.measure().spin

    @spin.setter
    def spin(self, spin: npt.ArrayLike) -> None:
        self._simulation.set_spin(self._number, spin)

    def set_half_life(self, seconds: float) -> None:
        """Of H - K; infinity switches damping off."""
        self._simulation.set_half_life(self._number, seconds)

    def push(self, impulse: npt.ArrayLike, point: npt.ArrayLike | None = None, radius: float = 0.0) -> None:
        """An impulse [N s] at a point of the world, as on a rigid body or spread over a radius [m]."""
        self._simulation.add_impulse(self._number, impulse, point, radius)

    def pin(self, vertices: Sequence[int], stiffness: float = 1e4, hard: bool = False) -> int:
        """Holds vertices, counted within the body, where they are; returns a number for `unpin`, `move_anchor`."""
        return self._simulation.pin(self._number, [int(v) for v in vertices], stiffness, hard)

    def set_parameter(self, name: str, value: float, potential: int = 0) -> None:
        """Of a potential, while it runs: `mu`, `young`, ..."""
        self._simulation.set_parameter(self._number, potential, name, value)

    def __repr__(self) -> str:
        return f"Body({self.name!r}, energy={self.energy:.6g} J)"


class Simulation(_core.Simulation):
    """Bodies that move: `step()` advances by a frame, dials act in the next one.

    `scene` is a Scene, a built-in name, a file or a dict; `set` changes keys of it, as `--set` of the program;
    `potentials` are those of one's own, by the name of the body, beside what the scene gives it. Raises SceneError with
    every problem.
    """

    def __init__(
        self,
        scene: Scene | str | os.PathLike[str] | Mapping[str, Any],
        *,
        threads: int = 0,
        set: Mapping[str, Any] | None = None,
        potentials: Potentials | None = None,
    ) -> None:
        scene = scene if isinstance(scene, Scene) else Scene(scene)
        for path, value in (set or {}).items():
            scene = Scene(scene).set(path, value)
        self._given, self._potentials = Scene(scene), dict(potentials or {})
        super().__init__(scene.to_json(), scene._origin, threads, laws_of(potentials))

    @property
    def scene(self) -> Scene:
        """As it runs, every key written out; changing it changes nothing here. Without the potentials of one's own."""
        return self._given.resolve()

    @property
    def bodies(self) -> list[Body]:
        """In the order of the scene; `simulation["cube"]` is one of them."""
        return [Body(self, number) for number in range(self.body_count())]

    def __getitem__(self, body: str | int) -> Body:
        return Body(self, self.find_body(body))

    def run(self, frames: int | None = None, progress: bool = False) -> Iterator[_core.StepReport]:
        """Steps and yields a report for each; raises StepError where a step fails. Default: the scene's frames."""
        frames = int(self.scene.frames) if frames is None else frames
        if frames < 0:
            raise ValueError(f"frames: found {frames}, expected 0 or more")
        for _ in _counted(frames, progress):
            report = self.step()
            if not report.ok:
                raise StepError(report.message)
            yield report

    def cast_ray(
        self, origin: npt.ArrayLike, direction: npt.ArrayLike, longest: float = np.inf
    ) -> SurfacePoint | None:
        """The nearest place where a ray meets a body or a collider, as a mouse picks it; ropes meet none."""
        found = self.ray_values(origin, direction, longest)
        return SurfacePoint(*found) if found else None

    def closest_point(
        self, point: npt.ArrayLike, farthest: float = np.inf, body: str | int | None = None
    ) -> SurfacePoint | None:
        """The nearest place of all bodies, or of one."""
        found = self.nearest_values(point, farthest, body)
        return SurfacePoint(*found) if found else None

    def contacts(self) -> list[Contact]:
        """What touched what in the last frame, by pairs."""
        return [Contact(*values) for values in self.contact_values()]

    def events(self) -> list[Event]:
        """Contacts that began and ended in the last frame, what tore, fell asleep and woke."""
        return [Event(*values) for values in self.event_values()]

    def metrics(self, report: _core.StepReport | None = None) -> npt.NDArray[Any]:
        """The rows of metrics.csv as it is now, one per body and one for `all`."""
        return _table(self, [self.metrics_values(report or _no_step)])

    def record(
        self, frames: int | None = None, progress: bool = False, positions: bool | Sequence[int] = True
    ) -> Run:
        """Runs and keeps metrics and positions in memory, the present frame first.

        `positions` may be False, or the frames whose positions are kept, counted from the present one.
        """
        every = positions is True
        chosen = set() if isinstance(positions, bool) else set(positions)
        rows: list[Array] = []
        kept: list[Array] = []
        torn: dict[tuple[str, str, int], int] = {}

        def keep(report: _core.StepReport) -> None:
            if every or len(rows) in chosen:
                kept.append(self.positions.copy())
            if report.torn > 0 or not rows:
                for body in range(self.body_count()):
                    for kinds, elements in self.removed_elements(body).items():
                        for element in elements:
                            torn.setdefault((self.body_name(body), _one_of[kinds], element), len(rows))
            rows.append(self.metrics_values(report))

        keep(_no_step)
        for report in self.run(frames, progress):
            keep(report)
        gone = [(frame, *element) for element, frame in torn.items()]
        return Run(_table(self, rows), np.array(kept) if every or chosen else None, gone)

    def convert(
        self, run: Run, to: str, out: str | os.PathLike[str], frames: Sequence[int] | None = None
    ) -> None:
        """Writes the positions of a run for other programs: usda, glb, pc2, mdd, vtu, vat, obj, ply or stl.

        `frames` are their numbers where not all of them were kept, counted from where the run began. What tore is left
        out from its frame on, where the format can.
        """
        if run.positions is None:
            raise ValueError("run: found none of its positions, expected record(positions=True) or some frames")
        self.write_animation(run.positions, list(frames or range(len(run.positions))), run.torn, to, Path(out))

    def picture(
        self,
        size: tuple[int, int] = (480, 360),
        color: str = "body",
        camera: tuple[float, float, float] = (30.0, 20.0, 1.0),
    ) -> Picture:
        """As it is now. Colours of bodies, or by "strain" or "speed"; the camera by degrees around, up, and zoom."""
        return Picture(self.draw(size[0], size[1], color, *camera))

    def show(self, frames: int = 90) -> Page:
        """Runs so many frames and shows them: curves, and a playback to be turned by the mouse."""
        return report_page({self.scene.solver.method: self}, frames)

    def __reduce__(self) -> Any:
        return _rebuild, (self._given.resolve().to_json(), self.threads, bytes(self.save()), self._potentials)

    def __repr__(self) -> str:
        names = ", ".join(body.name for body in self.bodies)
        return f"Simulation({names}; frame {self.frame}, {self.vertices} vertices)"


class Run:
    """What `Simulation.record` kept."""

    def __init__(
        self,
        metrics: npt.NDArray[Any],
        positions: Array | None,
        torn: Sequence[tuple[int, str, str, int]] = (),
    ) -> None:
        self.metrics = metrics  #: a row per frame and body, and one for `all`: pandas.DataFrame(run.metrics)
        self.positions = positions  #: (frames + 1, vertices, 3) [m], those that were chosen, or None
        self.torn = torn  #: (frame, body, "tetrahedron" or "triangle" or "edge", its number), as torn.csv

    def of(self, body: str = "all") -> npt.NDArray[Any]:
        """The rows of one body."""
        rows: npt.NDArray[Any] = self.metrics[self.metrics["body"] == body]
        return rows


def compare(
    scene: Scene | str | os.PathLike[str] | Mapping[str, Any],
    methods: Sequence[str],
    frames: int | None = None,
    threads: int = 0,
    set: Mapping[str, Any] | None = None,
) -> dict[str, Run]:
    """The same start by several methods."""
    out = {}
    for method in methods:
        simulation = Simulation(scene, threads=threads, set={**(set or {}), "solver.method": method})
        out[method] = simulation.record(frames)
    return out


def report_page(simulations: Mapping[str, Simulation], frames: int) -> Page:
    """Runs simulations side by side and makes one page of them."""
    runs = []
    for label, simulation in simulations.items():
        run = _core.ReportRun(label, simulation, frames)
        for report in simulation.run(frames):
            run.frame(simulation, report)
        runs.append(run)
    first = next(iter(simulations.values())).scene
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "report.html"
        _core.write_report(file, first.name, first.description, runs)
        return Page(file.read_text())


def _rebuild(scene: str, threads: int, snapshot: bytes, potentials: Potentials) -> Simulation:
    simulation = Simulation(json.loads(scene), threads=threads, potentials=potentials)
    simulation.restore(_core.Snapshot.from_bytes(snapshot))
    return simulation


def _counted(frames: int, progress: bool) -> Iterator[int]:
    if progress:
        try:
            from tqdm.auto import tqdm  # type: ignore[import]
        except ImportError:
            pass
        else:
            yield from tqdm(range(frames), unit="frame")
            return
    yield from range(frames)


_no_step = _core.StepReport()
_one_of = {"tetrahedra": "tetrahedron", "triangles": "triangle", "edges": "edge"}
_whole = {"frame", "iterations"}


def _table(simulation: Simulation, rows: list[Array]) -> npt.NDArray[Any]:
    columns = _core.metrics_columns()
    names = [body.name for body in simulation.bodies] + ["all"]
    values = np.concatenate(rows).reshape(-1, len(columns))
    width = max(len(name) for name in names)
    out = np.empty(
        len(values),
        [(c, f"U{width}" if c == "body" else np.int64 if c in _whole else np.float64) for c in columns],
    )
    for k, column in enumerate(columns):
        out[column] = np.array(names)[values[:, k].astype(int)] if column == "body" else values[:, k]
    return out
