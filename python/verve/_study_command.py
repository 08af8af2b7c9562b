"""verve study: many runs from a shell, here or as jobs of a batch system."""

from __future__ import annotations

import argparse
import csv
import importlib
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import study
from ._errors import SceneError
from ._scene import Scene
from ._study_runs import Job, Keep, Source, compute, energies, keep_result, load_function, result_place

Problems = list[str]

epilog = """\
examples:
  verve study cube --grid bodies.cube.potentials.tet_strain.mu=1e3,1e4,1e5 --out runs/mu
  verve study cube --grid solver.method=cpd,pd --range bodies.cube.density=500:2000 --samples 20 --seed 3
  verve study cube --range bodies.cube.potentials.tet_strain.mu=1e3:1e5:log --samples 500 --keep-positions 0:60:5
  verve study my_scene.json --list values.csv --measure measures.py:height --dask 127.0.0.1:8786
  verve study cube --range bodies.cube.density=500:2000 --samples 1000 --write slurm --out runs/many

A study that was interrupted goes on where it stopped: the same command again. With --write it writes a script, and
the same command without --write makes the table of what the jobs have computed.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog=_command(), description="Many runs of a scene, one table: study.csv and study.npz.", epilog=epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    add = parser.add_argument
    add("scene", nargs="?", help="a built-in scene, a file, or a function FILE.py:NAME of the values")
    add("--grid", action="append", default=[], metavar="PATH=V1,V2,...", help="values of a key, all combined")
    add("--range", action="append", default=[], metavar="PATH=A:B[:log]", help="values to be sampled (needs --samples)")
    add("--samples", type=int, metavar="N", help="how many of the ranges")
    add("--sample", choices=["latin", "random"], default="latin", help="Latin hypercube (default) or each by itself")
    add("--seed", type=int, default=0, help="of the samples (default 0)")
    add("--list", metavar="FILE", help="samples as a CSV with a column per key, or a JSON list of objects")
    add("--set", action="append", default=[], metavar="PATH=VALUE", help="a key of the scene, the same in all runs")
    add("--frames", type=int, metavar="N", help="default: the scene's")
    add("--measure", metavar="FILE.py:NAME", help="function of simulation and run that returns numbers by name")
    add("--keep-positions", metavar="A:B:STEP", help="leave positions of these frames, B left out")
    add("--dtype", default="float16", help="of the positions: float16 (default), float32, float64")
    add("--workers", type=int, metavar="N", help="processes (default: one per core)")
    add("--dask", metavar="ADDRESS", help="a Dask scheduler; or local: two workers and more, one per core")
    add("--write", choices=["slurm", "parallel"], help="write a job array or a list for GNU parallel, compute nothing")
    add("--tasks", type=int, default=100, metavar="N", help="jobs of the array at most (default 100)")
    add("--out", default="runs/study", metavar="DIR", help="folder (default runs/study)")
    add("--run", metavar="KEY", help=argparse.SUPPRESS)  # what a job does: one run of DIR/jobs
    add("--share", metavar="I/N", help=argparse.SUPPRESS)  # every N-th of them
    given = parser.parse_args(arguments)
    if given.run or given.share:
        return _do_jobs(Path(given.out), given.run, given.share)
    problems: Problems = []
    plan = _plan(given, problems)
    if problems or plan is None:
        for text in problems:
            print(f"{_command()}: {text}", file=sys.stderr)
        print("nothing was run", file=sys.stderr)
        return 2
    base, samples, measure, keep = plan
    if given.write:
        return _write_jobs(given, study.source_of(base, given.out, given.frames, measure, keep), samples)
    options: dict[str, Any] = {"out": given.out, "frames": given.frames, "measure": measure, "keep": keep}
    if given.dask:
        try:
            distributed: Any = importlib.import_module("distributed")
        except ImportError:
            print(f"{_command()}: --dask: no dask.distributed here (Debian: python3-distributed)", file=sys.stderr)
            return 2
        address = {} if given.dask == "local" else {"address": given.dask}
        local = {} if address else {"threads_per_worker": 1, "n_workers": given.workers, "dashboard_address": None}
        with distributed.Client(**address, **local) as client:
            rows = study.run(base, samples, client=client, **options)
    else:
        rows = study.run(base, samples, workers=given.workers, progress=sys.stderr.isatty(), **options)
    failed = [row for row in rows if "error" in row]
    print(f"{given.out}/study.csv: {_runs(len(rows))}" + (f", {len(failed)} failed" if failed else ""))
    if failed:
        print(f"{_command()}: the first that failed: {failed[0]['error']}", file=sys.stderr)
    return 1 if failed else 0


def _plan(given: argparse.Namespace, problems: Problems) -> tuple[Any, list[Any], Any, Keep | None] | None:
    """What the command line asks for; everything that is wrong with it goes to `problems`."""
    base: Any = None
    if not given.scene:
        problems.append("found no scene, expected a built-in name (verve list scenes), a file or FILE.py:FUNCTION")
    elif ":" in given.scene:
        base = _try(problems, "scene", lambda: load_function(given.scene))
    else:
        base = _try(problems, "", lambda: Scene(given.scene))
    for text in given.set:
        path, value = _pair(text, "--set", "PATH=VALUE", problems)
        if isinstance(base, Scene) and path:
            _try(problems, "--set", lambda: base.set(path, _value(value)))
    samples = _samples(given, problems)
    measure = _try(problems, "--measure", lambda: load_function(given.measure)) if given.measure else energies
    keep = None
    if given.keep_positions:
        keep = _try(problems, "--keep-positions", lambda: Keep(_frames(given.keep_positions), given.dtype))
    if given.frames is not None and given.frames < 1:
        problems.append(f"--frames: found {given.frames}, expected a whole number >= 1")
    if given.workers is not None and given.workers < 1:
        problems.append(f"--workers: found {given.workers}, expected a whole number >= 1")
    if given.tasks < 1:
        problems.append(f"--tasks: found {given.tasks}, expected a whole number >= 1")
    return None if problems else (base, samples, measure, keep)


def _samples(given: argparse.Namespace, problems: Problems) -> list[Any]:
    parts: list[list[dict[str, Any]]] = []
    values = {}
    for text in given.grid:
        path, listed = _pair(text, "--grid", "PATH=V1,V2,...", problems)
        values[path] = [_value(each) for each in _split(listed)]
    if values:
        parts.append(study.grid(values))
    ranges, log = {}, []
    for text in given.range:
        path, limits = _pair(text, "--range", "PATH=A:B or PATH=A:B:log", problems)
        words = limits.split(":")
        try:
            ranges[path] = (float(words[0]), float(words[1]))
            if words[2:] not in ([], ["log"]):
                raise ValueError
        except (ValueError, IndexError):
            problems.append(f'--range: found "{text}", expected PATH=A:B or PATH=A:B:log')
        if words[2:] == ["log"]:
            log.append(path)
    if bool(ranges) != bool(given.samples) or (given.samples or 1) < 1:
        problems.append(f"--samples: found {given.samples}, expected a number >= 1 where there is a --range")
    elif ranges and not problems:
        draw = study.latin_hypercube if given.sample == "latin" else study.random
        parts.append(_try(problems, "--range", lambda: draw(ranges, given.samples, given.seed, log)) or [])
    if given.list:
        parts.append(_try(problems, "--list", lambda: _read_list(Path(given.list))) or [])
    return study.product(*parts)


def _read_list(file: Path) -> list[dict[str, Any]]:
    if file.suffix == ".json":
        found = json.loads(file.read_text())
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise ValueError(f"{file}: expected a list of objects, PATH: VALUE each")
        return found
    with file.open(newline="") as lines:
        return [{path: _value(text) for path, text in row.items() if path and text} for row in csv.DictReader(lines)]


def _write_jobs(given: argparse.Namespace, source: Source, samples: list[Any]) -> int:
    """A file for each run that is missing, their list, and the script."""
    folder = source.folder
    (folder / "jobs").mkdir(exist_ok=True)
    names = {"measure": given.measure or "", "function": given.scene if callable(source.base) else ""}
    keys: list[str] = []
    missing = []
    for job in study.jobs_of(source, samples, keys):
        task = {"base": job.base, "values": job.values, "frames": job.frames, **names}
        task["keep"] = [list(job.keep.frames), job.keep.dtype] if job.keep else None
        (folder / "jobs" / f"{job.key}.json").write_text(json.dumps(task))
        missing.append(job.key)
    (folder / "runs.txt").write_text("".join(key + "\n" for key in missing))
    if not missing:
        print(f"{given.out}: all {_runs(len(keys))} are there")
        return 0
    command = f"{_invocation()} --out {shlex.quote(str(folder))}"
    if given.write == "parallel":
        script = folder / "parallel.sh"
        script.write_text(
            f"#!/bin/sh\n# {_runs(len(missing))} by GNU parallel, one per core; begun again, it goes on where it stopped\n"
            f"cd {shlex.quote(os.getcwd())} || exit 1\n"
            f"exec parallel --resume --joblog {shlex.quote(str(folder / 'joblog'))} \"$@\" "
            f"{command} --run {{}} :::: {shlex.quote(str(folder / 'runs.txt'))}\n"
        )
        start = f"sh {script}"
    else:
        tasks = min(given.tasks, len(missing))
        script = folder / "slurm.sh"
        script.write_text(
            f"#!/bin/sh\n#SBATCH --job-name=verve-study\n#SBATCH --array=0-{tasks - 1}\n#SBATCH --cpus-per-task=1\n"
            f"#SBATCH --output={folder}/slurm-%a.log\n# {_runs(len(missing))} in {tasks} tasks\n"
            f"cd {shlex.quote(os.getcwd())} || exit 1\n"
            f'exec {command} --share "$SLURM_ARRAY_TASK_ID/{tasks}"\n'
        )
        start = f"sbatch {script}"
    print(f"{script}: {_runs(len(missing))}. Start them by: {start}")
    return 0


def _do_jobs(out: Path, run: str | None, share: str | None) -> int:
    """What a job does. Runs that are there cost nothing."""
    keys = [run] if run else []
    if share:
        first, _, of = share.partition("/")
        keys += (out / "runs.txt").read_text().split()[int(first) :: int(of)]
    failed = 0
    for key in keys:
        if result_place(out, key).exists():
            continue
        try:
            task = json.loads((out / "jobs" / f"{key}.json").read_text())
            name = task["function"] or task["measure"]
            work = load_function(name) if name else energies
            keep = Keep(*task["keep"]) if task["keep"] else None
        except (OSError, ValueError) as error:
            print(f"{_command()}: run {key}: {error}", file=sys.stderr)
            return 2
        result = compute(Job(key, task["base"], task["values"], task["frames"], work, keep, str(out.resolve())))
        keep_result(out, key, result)
        if "error" in result:
            print(f"{_command()}: run {key}: {result['error']}", file=sys.stderr)
            failed += 1
    return 1 if failed else 0


def _command() -> str:
    return os.environ.get("VERVE_STUDY_COMMAND", "python -m verve.study")


def _invocation() -> str:
    """As a job starts it, wherever it runs: with the package that this is."""
    package = Path(__file__).absolute().parent.parent
    return f"env PYTHONPATH={shlex.quote(str(package))} {shlex.quote(sys.executable)} -m verve.study"


def _try(problems: Problems, where: str, make: Any) -> Any:
    try:
        return make()
    except (SceneError, ValueError, OSError) as error:
        problems.append(f"{where}: {error}" if where else str(error))
        return None


def _pair(text: str, flag: str, expected: str, problems: Problems) -> tuple[str, str]:
    path, sign, value = text.partition("=")
    if not sign or not path or not value:
        problems.append(f'{flag}: found "{text}", expected {expected}')
    return path, value


def _split(text: str) -> list[str]:
    """By commas that are not inside brackets or quotes."""
    parts, depth, quoted = [""], 0, False
    for c in text:
        quoted ^= c == '"'
        depth += (c in "[{") - (c in "]}") if not quoted else 0
        if c == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += c
    return parts


def _value(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _frames(text: str) -> list[int]:
    words = text.split(":")
    try:
        numbers = [int(word) for word in words]
    except ValueError:
        numbers = []
    if not numbers or len(numbers) > 3 or min(numbers) < 0 or (len(numbers) == 3 and numbers[2] < 1):
        raise ValueError(f'found "{text}", expected A:B:STEP, A:B or one frame')
    return [numbers[0]] if len(numbers) == 1 else list(range(*numbers))


def _runs(count: int) -> str:
    return f"{count} run" + ("" if count == 1 else "s")
