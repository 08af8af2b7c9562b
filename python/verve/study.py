"""Many runs: of one scene with a grid or a sample of any of its keys, or of a function. One table of results.

>>> from verve import study
>>> table = study.run("cube", study.grid({"bodies.cube.potentials.tet_strain.mu": [1e3, 1e4, 1e5]}), out="runs/mu")

A run is known by a hash of its scene with every key written out, its meshes, its frames, the source of what measures it
and the version of Verve: a study that was interrupted goes on where it stopped, and a finished one costs nothing. Runs
that fail are rows with a message. `verve study` does the same from a shell.
"""

from __future__ import annotations

import csv
import itertools
import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from . import _study_engines as engines
from ._scene import Scene
from ._study_runs import (
    Function,
    Job,
    Keep,
    Measure,
    Source,
    Values,
    energies,
    keep_result,
    positions_place,
    read_positions,
    result_place,
)

__all__ = [
    "Keep",
    "energies",
    "grid",
    "latin_hypercube",
    "positions",
    "product",
    "random",
    "read_positions",
    "run",
]


def grid(values: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Every combination."""
    return [dict(zip(values, each)) for each in itertools.product(*values.values())]


def latin_hypercube(
    ranges: Mapping[str, tuple[float, float]], count: int, seed: int = 0, log: bool | Iterable[str] = False
) -> list[dict[str, Any]]:
    """`count` samples, of which each range, cut into as many parts, has one in each part (McKay et al. 1979).

    `log`: all ranges, or those named, are spaced by ratios.
    """
    generator = np.random.default_rng(seed)
    places = {path: (generator.permutation(count) + generator.random(count)) / count for path in ranges}
    return _spread(ranges, places, count, log)


def random(
    ranges: Mapping[str, tuple[float, float]], count: int, seed: int = 0, log: bool | Iterable[str] = False
) -> list[dict[str, Any]]:
    """`count` samples, each by itself."""
    generator = np.random.default_rng(seed)
    return _spread(ranges, {path: generator.random(count) for path in ranges}, count, log)


def product(*samples: Sequence[Values]) -> list[dict[str, Any]]:
    """Every sample of each with every one of the others: product(grid(...), latin_hypercube(...))."""
    return [{k: v for each in chosen for k, v in each.items()} for chosen in itertools.product(*samples)]


def run(
    base: Scene | str | os.PathLike[str] | Mapping[str, Any] | Function,
    samples: Iterable[Values],
    *,
    out: str | os.PathLike[str],
    frames: int | None = None,
    measure: Measure = energies,
    workers: int | None = None,
    client: Any = None,
    keep: Keep | None = None,
    progress: bool = False,
) -> list[dict[str, Any]]:
    """Runs the scene once for each sample of its keys and returns a row for each, in the order of the samples.

    `measure(simulation, run)` returns numbers by name; it is called after the last frame. In place of a scene `base`
    may be a function of the values that returns such numbers itself. `workers` processes of this machine (default: its
    cores), or a `client` with submit(function, *arguments), such as dask.distributed.Client. Each run has one thread.
    Results are kept in `out`: one file per run, and the table as study.csv and study.npz (study.parquet where pandas
    can write it). `keep` leaves positions of chosen frames as well.
    """
    samples = list(samples)
    source = source_of(base, out, frames, measure, keep)
    keys: list[str] = []
    found = compute_missing(jobs_of(source, samples, keys), workers, client)
    _count(found, len(samples), progress)
    rows = [{**values, "run": key, **_result(source.folder, key)} for key, values in zip(keys, samples)]
    write_tables(source.folder, rows)
    return rows


def positions(out: str | os.PathLike[str], run: str) -> tuple[Any, Any]:
    """Frames and positions, (frames, vertices, 3) [m], that `keep` has left of a run: its entry "run" in the table."""
    return read_positions(positions_place(Path(out), run))


def source_of(
    base: Any, out: str | os.PathLike[str], frames: int | None, measure: Measure, keep: Keep | None
) -> Source:
    folder = Path(out)
    (folder / "results").mkdir(parents=True, exist_ok=True)
    if keep:
        (folder / "positions").mkdir(exist_ok=True)
    made = base if isinstance(base, Scene) or callable(base) else Scene(base)
    return Source(made, frames, measure, keep, folder.resolve())


def jobs_of(source: Source, samples: Iterable[Values], keys: list[str]) -> Iterator[Job]:
    """Those that are not there yet; `keys` has that of every sample in the end."""
    asked = set()
    for values in samples:
        job, fault = source.job(values)
        keys.append(job.key)
        if job.key in asked or result_place(source.folder, job.key).exists():
            continue
        asked.add(job.key)
        if fault:
            keep_result(source.folder, job.key, {"error": fault})
        else:
            yield job


def compute_missing(jobs: Iterator[Job], workers: int | None, client: Any) -> Iterator[str]:
    """Keeps each result as it comes, and says whose it is."""
    folders: dict[str, Path] = {}

    def watched() -> Iterator[Job]:
        for job in jobs:
            folders[job.key] = Path(job.folder)
            yield job

    workers = workers or len(os.sched_getaffinity(0))
    computed = (
        engines.by_dask(watched(), client)
        if client is not None
        else engines.serially(watched())
        if workers == 1
        else engines.by_processes(watched(), workers)
    )
    for key, result in computed:
        keep_result(folders.pop(key), key, result)
        yield key


def write_tables(folder: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    """study.csv and study.npz, and study.parquet where pandas and pyarrow are there."""
    columns = list(dict.fromkeys(name for row in rows for name in row))
    text = [{k: json.dumps(v) if isinstance(v, (list, tuple, dict)) else v for k, v in row.items()} for row in rows]
    part = folder / "study.csv.part"
    with part.open("w", newline="") as out:
        writer = csv.DictWriter(out, columns)
        writer.writeheader()
        writer.writerows(text)
    part.replace(folder / "study.csv")
    part = folder / "study.npz.part"
    with part.open("wb") as out_bytes:
        np.savez(out_bytes, **{column: _column(column, text) for column in columns})
    part.replace(folder / "study.npz")
    try:
        import pandas  # type: ignore[import]
        import pyarrow  # type: ignore[import] # noqa: F401
    except ImportError:
        return
    part = folder / "study.parquet.part"
    pandas.DataFrame(text, columns=columns).to_parquet(part)
    part.replace(folder / "study.parquet")


def _column(name: str, rows: Sequence[Mapping[str, Any]]) -> Any:
    """Numbers where all that is there are numbers, else text."""
    values = [row.get(name) for row in rows]
    if all(v is None or isinstance(v, (int, float)) and not isinstance(v, bool) for v in values):
        return np.array([np.nan if v is None else v for v in values], float)
    return np.array(["" if v is None else str(v) for v in values])


def _result(folder: Path, key: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(result_place(folder, key).read_text())
    return found


def _count(found: Iterator[str], total: int, progress: bool) -> None:
    bar = None
    if progress:
        try:
            from tqdm.auto import tqdm  # type: ignore[import]
        except ImportError:
            pass
        else:
            bar = tqdm(total=total, unit="run")
    for _ in found:
        if bar is not None:
            bar.update()
    if bar is not None:
        bar.close()


def _spread(
    ranges: Mapping[str, tuple[float, float]], places: Mapping[str, Any], count: int, log: bool | Iterable[str]
) -> list[dict[str, Any]]:
    """Where in each range the places 0 ... 1 are."""
    ratios = set(ranges) if log is True else set() if log is False else set(log)
    columns = {}
    for path, (low, high) in ranges.items():
        if path in ratios and not (low > 0 and high > 0):
            raise ValueError(f"{path}: found {low} to {high}, expected limits > 0 where they are spaced by ratios")
        columns[path] = low * (high / low) ** places[path] if path in ratios else low + (high - low) * places[path]
    return [{path: float(column[k]) for path, column in columns.items()} for k in range(count)]


if __name__ == "__main__":
    import sys

    from verve._study_command import main

    sys.exit(main())
