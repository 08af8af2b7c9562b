"""One run of a study: what it is known by, what computes it, and where its result is kept."""

from __future__ import annotations

import functools
import hashlib
import importlib
import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Union

import numpy as np
import numpy.typing as npt

from . import _core
from ._errors import SceneError, StepError
from ._scene import Scene
from ._simulation import Run, Simulation

Values = Mapping[str, Any]
Measure = Callable[[Simulation, Run], "Mapping[str, float]"]
Function = Callable[[Values], "Mapping[str, float]"]


def energies(simulation: Simulation, run: Run) -> dict[str, float]:
    """What is measured by default: how much of H is left, its parts at the end [J], and the cost."""
    rows = run.of("all")
    scale = max(float((rows["kinetic"] + np.abs(rows["elastic"])).max()), 1e-300)
    return {
        "total": float(rows["total"][-1]),
        "kept": float((rows["total"][-1] - rows["total"][0]) / scale) + 1,
        "kinetic": float(rows["kinetic"][-1]),
        "elastic": float(rows["elastic"][-1]),
        "iterations": float(rows["iterations"][1:].mean()) if len(rows) > 1 else 0.0,
    }


@dataclass(frozen=True)
class Keep:
    """Which positions of each run stay, as arrays for learning: at `frames`, as `dtype`.

    float16 and float32 hold how each vertex has moved from its place in frame 0 beside the mean motion of all, which
    has its own numbers: half a millimetre of a metre by which a body deforms or turns is the error of float16.
    """

    frames: Sequence[int]
    dtype: str = "float16"

    def __post_init__(self) -> None:
        if self.dtype not in ("float16", "float32", "float64"):
            raise ValueError(f'dtype: found "{self.dtype}", expected float16, float32 or float64')

    def write(self, file: Path, positions: npt.NDArray[np.float64], start: npt.NDArray[np.float64]) -> None:
        """What `read_positions` reads: positions of the chosen frames, beside those of frame 0."""
        drift = (positions - start).mean(axis=1)
        part = file.with_suffix(f".{os.getpid()}.part")
        with part.open("wb") as out:
            np.savez_compressed(
                out,
                frames=np.array(self.frames, np.int64),
                start=start,
                drift=drift,
                moved=(positions - start - drift[:, None]).astype(self.dtype),
            )
        part.replace(file)


def read_positions(file: str | os.PathLike[str]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Frames and positions, (frames, vertices, 3) [m], as Keep has written them."""
    with np.load(file) as data:
        return data["frames"], data["start"] + data["drift"][:, None] + data["moved"].astype(np.float64)


class Job(NamedTuple):
    """Everything that a worker needs: a scene and the values of its keys, or a function of them."""

    key: str
    base: str  # text of the scene; empty: `work` is a function of the values
    values: Values
    frames: int
    work: Any  # Measure, or Function
    keep: Keep | None
    folder: str


@dataclass
class Source:
    """What jobs are made from, the same for all runs of a study."""

    base: Union[Scene, Function]
    frames: int | None
    measure: Measure
    keep: Keep | None
    folder: Path
    meshes: dict[str, str] = field(default_factory=dict)  # hashes of files

    def job(self, values: Values) -> tuple[Job, str]:
        """With what is wrong with its scene, or nothing."""
        if not isinstance(self.base, Scene):
            key = _hash(_core.version, fingerprint(self.base), _plain_values(values))
            return Job(key, "", values, 0, self.base, None, str(self.folder)), ""
        text, fault = self.base.to_json(), ""
        try:
            changed = changed_scene(self.base, values)
            frames = int(changed.frames) if self.frames is None else self.frames
            parts = [frames, fingerprint(self.measure), changed._data, self.mesh_hashes(changed)]
            key = _hash(_core.version, *parts, *([list(self.keep.frames), self.keep.dtype] if self.keep else []))
        except (SceneError, OSError) as error:
            key, frames, fault = _hash(_core.version, self.base._data, _plain_values(values)), 0, str(error)
        return Job(key, text, values, frames, self.measure, self.keep, str(self.folder)), fault

    def mesh_hashes(self, scene: Scene) -> list[str]:
        """Meshes that come from files count by what is in them."""
        found = []
        for file in _files(scene._data):
            if file not in self.meshes:
                self.meshes[file] = hashlib.sha256(Path(file).read_bytes()).hexdigest()[:16]
            found.append(self.meshes[file])
        return found


def changed_scene(base: Scene, values: Values) -> Scene:
    """Checked, with every key written out."""
    changed = Scene(base)
    for path, value in values.items():
        changed.set(path, value)
    return changed.resolve()


def compute(job: Job) -> dict[str, Any]:
    """On one thread; what a worker does. A run that fails is a row with its message."""
    stamp: dict[str, Any] = {"version": _core.version}
    try:
        if not job.base:
            return {**_numbers(job.work(job.values)), **stamp}
        scene = changed_scene(Scene(json.loads(job.base)), job.values)
        simulation = Simulation(scene, threads=1)
        start = simulation.positions.copy()
        run = simulation.record(job.frames, positions=job.work is not energies or _frames_of(job))
        if job.keep:
            kept = run.positions if job.work is energies else _chosen(run.positions, job.keep)
            assert kept is not None
            job.keep.write(positions_place(Path(job.folder), job.key), kept, start)
        meshes = Source(scene, None, energies, None, Path()).mesh_hashes(scene)
        found: dict[str, Any] = dict(_numbers(job.work(simulation, run)))
        found["state_hash"] = f"{simulation.state_hash:016x}"
        return {**found, **stamp, **({"meshes": " ".join(meshes)} if meshes else {})}
    except (SceneError, StepError) as error:
        return {"error": str(error), **stamp}
    except Exception as error:  # of a measure that somebody wrote: one run is lost, not the study
        return {"error": f"{type(error).__name__}: {error}", **stamp}


def _numbers(result: Mapping[str, float]) -> dict[str, float]:
    return {name: float(value) for name, value in dict(result).items()}


def _frames_of(job: Job) -> Sequence[int] | bool:
    return job.keep.frames if job.keep else False


def _chosen(positions: npt.NDArray[np.float64] | None, keep: Keep) -> npt.NDArray[np.float64]:
    assert positions is not None
    out: npt.NDArray[np.float64] = positions[[f for f in keep.frames if f < len(positions)]]
    return out


def result_place(folder: Path, key: str) -> Path:
    return folder / "results" / f"{key}.json"


def positions_place(folder: Path, key: str) -> Path:
    return folder / "positions" / f"{key}.npz"


def keep_result(folder: Path, key: str, result: Mapping[str, Any]) -> None:
    """Whole or not at all: a study that is killed has no half results."""
    place = result_place(folder, key)
    part = place.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(result))
    part.replace(place)


def _hash(*parts: Any) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:24]


def _plain_values(values: Values) -> dict[str, Any]:
    return {k: v.tolist() if hasattr(v, "tolist") else v for k, v in values.items()}


def fingerprint(function: Callable[..., Any]) -> str:
    """Of a function: its name and its source. What it calls is not followed."""
    if isinstance(function, functools.partial):
        return _hash(fingerprint(function.func), repr(function.args), repr(sorted(function.keywords.items())))
    name = getattr(function, "__qualname__", type(function).__qualname__)
    try:
        source = inspect.getsource(function if hasattr(function, "__code__") else type(function))
    except (OSError, TypeError):  # typed at a prompt
        code = getattr(function, "__code__", None)
        source = repr((code.co_code, code.co_consts)) if code else name
    return _hash(name, source)


def _files(data: Any) -> list[str]:
    if isinstance(data, dict):
        own = [data["file"]] if isinstance(data.get("file"), str) and data["file"] else []
        return own + [file for value in data.values() for file in _files(value)]
    if isinstance(data, list):
        return [file for value in data for file in _files(value)] if data and isinstance(data[0], dict) else []
    return []


def load_function(name: str) -> Any:
    """FILE.py:FUNCTION or MODULE:FUNCTION."""
    place, sign, function = name.rpartition(":")
    if not sign or not place or not function:
        raise ValueError(f'found "{name}", expected FILE.py:FUNCTION or MODULE:FUNCTION')
    if place.endswith(".py"):
        if not Path(place).is_file():
            raise ValueError(f'found no file "{place}"')
        # by its name and folder, so that other processes find it as well
        folder = str(Path(place).resolve().parent)
        if folder not in sys.path:
            sys.path.insert(0, folder)
        place = Path(place).stem
    try:
        module = importlib.import_module(place)
    except ImportError as error:
        raise ValueError(f'cannot load "{place}": {error}') from None
    found = getattr(module, function, None)
    if not callable(found):
        names = ", ".join(n for n, f in vars(module).items() if inspect.isfunction(f)) or "none"
        raise ValueError(f'found no function "{function}" in {place}; there are: {names}')
    return found
