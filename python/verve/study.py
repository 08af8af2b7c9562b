"""Many runs of one scene: a grid or a sample of any of its keys, one table of results.

>>> from verve import study
>>> table = study.run("cube", study.grid({"bodies.cube.potentials.tet_strain.mu": [1e3, 1e4, 1e5]}), out="runs/mu")

A run is known by a hash of its scene with every key written out, its meshes, its frames, what is measured and the
version of Verve: a study that was interrupted goes on where it stopped, and a finished one costs nothing. Runs that fail
are rows with a message.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import numpy as np

from . import _core
from ._errors import SceneError, StepError
from ._scene import Scene
from ._simulation import Run, Simulation

Values = Mapping[str, Any]
Measure = Callable[[Simulation, Run], "Mapping[str, float]"]


def grid(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination."""
    return [dict(zip(values, each)) for each in itertools.product(*values.values())]


def latin_hypercube(ranges: Mapping[str, tuple[float, float]], count: int, seed: int = 0, log: bool = False) -> list[dict[str, Any]]:
    """`count` samples, of which each range, cut into as many parts, has one in each part (McKay et al. 1979)."""
    generator = np.random.default_rng(seed)
    columns = {}
    for path, (low, high) in ranges.items():
        places = (generator.permutation(count) + generator.random(count)) / count
        columns[path] = low * (high / low) ** places if log else low + (high - low) * places
    return [{path: float(column[k]) for path, column in columns.items()} for k in range(count)]


def energies(simulation: Simulation, run: Run) -> dict[str, float]:
    """What is measured by default: how much of H is left, its parts at the end, and the cost."""
    rows = run.of("all")
    scale = max(float((rows["kinetic"] + np.abs(rows["elastic"])).max()), 1e-300)
    return {
        "total": float(rows["total"][-1]),
        "kept": float((rows["total"][-1] - rows["total"][0]) / scale) + 1,
        "kinetic": float(rows["kinetic"][-1]),
        "elastic": float(rows["elastic"][-1]),
        "iterations": float(rows["iterations"][1:].mean()) if len(rows) > 1 else 0.0,
    }


def key_of(scene: Scene, frames: int, measure: Measure) -> str:
    """Of a run. Meshes that come from files count by what is in them."""
    digest = hashlib.sha256(json.dumps([_core.version, frames, f"{measure.__module__}.{measure.__qualname__}"]).encode())
    digest.update(json.dumps(scene._data, sort_keys=True).encode())
    for file in _files(scene._data):
        digest.update(Path(file).read_bytes())
    return digest.hexdigest()[:24]


def run(
    base: Scene | str | os.PathLike[str] | Mapping[str, Any],
    samples: Iterable[Values],
    *,
    out: str | os.PathLike[str],
    frames: int | None = None,
    measure: Measure = energies,
    workers: int | None = None,
    client: Any = None,
) -> list[dict[str, Any]]:
    """Runs the scene once for each sample of its keys and returns a row for each, in the order of the samples.

    `workers` processes of this machine (default: its cores), or a `client` with submit(function, *arguments), such as
    dask.distributed.Client. Results are kept in `out`: one file per run, and the table as study.csv.
    """
    folder = Path(out)
    (folder / "results").mkdir(parents=True, exist_ok=True)
    scene = base if isinstance(base, Scene) else Scene(base)
    jobs: list[tuple[str, str, Values, int]] = []
    for values in samples:
        try:
            changed = Scene(scene)
            for path, value in values.items():
                changed.set(path, value)
            changed = changed.resolve()
        except SceneError as error:
            name = hashlib.sha256(json.dumps([scene._data, dict(values)], sort_keys=True).encode()).hexdigest()[:24]
            _keep(folder, name, {"error": str(error)})
            jobs.append((name, "", values, 0))
            continue
        count = int(changed.frames) if frames is None else frames
        jobs.append((key_of(changed, count, measure), changed.to_json(), values, count))
    missing = {key: (text, count) for key, text, _, count in jobs if not _place(folder, key).exists()}
    _compute(folder, missing, measure, workers, client)
    rows = [{**values, "run": key, **json.loads(_place(folder, key).read_text())} for key, _, values, _ in jobs]
    _write_table(folder / "study.csv", rows)
    return rows


def compute(text: str, frames: int, measure: Measure) -> dict[str, Any]:
    """One run, on one thread; what a worker does."""
    try:
        simulation = Simulation(json.loads(text), threads=1)
        result = dict(measure(simulation, simulation.record(frames, positions=measure is not energies)))
        return {**{name: float(value) for name, value in result.items()}, "state_hash": f"{simulation.state_hash:016x}"}
    except (SceneError, StepError) as error:
        return {"error": str(error)}


def _compute(folder: Path, missing: Mapping[str, tuple[str, int]], measure: Measure, workers: int | None, client: Any) -> None:
    if client is not None:
        futures = {key: client.submit(compute, text, count, measure) for key, (text, count) in missing.items()}
        for key, future in futures.items():
            _keep(folder, key, future.result())
    elif workers == 1:
        for key, (text, count) in missing.items():
            _keep(folder, key, compute(text, count, measure))
    elif missing:
        with ProcessPoolExecutor(workers) as pool:
            keys = {pool.submit(compute, text, count, measure): key for key, (text, count) in missing.items()}
            for future in as_completed(keys):
                _keep(folder, keys[future], future.result())


def _place(folder: Path, key: str) -> Path:
    return folder / "results" / f"{key}.json"


def _keep(folder: Path, key: str, result: Mapping[str, Any]) -> None:
    """Whole or not at all: a study that is killed has no half results."""
    part = _place(folder, key).with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(result))
    part.replace(_place(folder, key))


def _files(data: Any) -> list[str]:
    if isinstance(data, dict):
        own = [data["file"]] if isinstance(data.get("file"), str) and data["file"] else []
        return own + [file for value in data.values() for file in _files(value)]
    if isinstance(data, list):
        return [file for value in data for file in _files(value)] if data and isinstance(data[0], dict) else []
    return []


def _write_table(file: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    columns = list(dict.fromkeys(name for row in rows for name in row))
    part = file.with_suffix(".part")
    with part.open("w", newline="") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows({k: json.dumps(v) if isinstance(v, (list, dict)) else v for k, v in row.items()} for row in rows)
    part.replace(file)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m verve.study", description="Many runs of one scene, one table.")
    parser.add_argument("scene", help="a built-in scene or a file")
    parser.add_argument("--grid", action="append", default=[], metavar="PATH=V1,V2,...", help="values of a key, all combined")
    parser.add_argument("--frames", type=int, help="default: the scene's")
    parser.add_argument("--workers", type=int, help="processes; default: one per core")
    parser.add_argument("--out", default="runs/study", help="folder (default runs/study)")
    given = parser.parse_args(arguments)
    values: dict[str, list[Any]] = {}
    for text in given.grid:
        path, sign, listed = text.partition("=")
        if not sign or not listed:
            parser.error(f'--grid: found "{text}", expected PATH=V1,V2,...')
        values[path] = [_value(each) for each in listed.split(",")]
    try:
        rows = run(given.scene, grid(values), out=given.out, frames=given.frames, workers=given.workers)
    except SceneError as error:
        print(error, file=sys.stderr)
        return 2
    failed = sum("error" in row for row in rows)
    print(f"{given.out}/study.csv: {len(rows)} runs, {failed} failed")
    return 1 if failed else 0


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


if __name__ == "__main__":
    sys.exit(main())
