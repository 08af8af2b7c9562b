"""Who computes the runs of a study: this process, processes of this machine, or Dask."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from typing import Any

from ._study_runs import Job, compute

Result = tuple[str, "dict[str, Any]"]  # key and row

deaths_allowed = 3  # of the process that computes a run, before the run counts as failed
ahead = 4  # runs that each worker has waiting: what is in memory does not grow with the number of runs


def serially(jobs: Iterable[Job]) -> Iterator[Result]:
    for job in jobs:
        yield job.key, compute(job)


def by_processes(jobs: Iterable[Job], workers: int) -> Iterator[Result]:
    """A process that dies breaks its pool: the runs that were waiting begin anew one by one, which shows who it was."""
    source = iter(jobs)
    suspects: list[Job] = []
    deaths: dict[str, int] = {}
    while True:
        alone = bool(suspects)
        queue = iter([suspects.pop()]) if alone else source
        todo: list[Job] = []
        running: dict[Future[dict[str, Any]], Job] = {}
        try:
            with ProcessPoolExecutor(1 if alone else workers) as pool:
                while True:
                    todo += islice(queue, max(0, workers * ahead - len(running)))
                    while todo:
                        running[pool.submit(compute, todo[-1])] = todo[-1]
                        todo.pop()
                    if not running:
                        break
                    for future in wait(running, return_when=FIRST_COMPLETED).done:
                        result = future.result()
                        yield running.pop(future).key, result
            if not alone:
                return
        except BrokenProcessPool:
            for job in [*running.values(), *todo]:
                deaths[job.key] = deaths.get(job.key, 0) + alone
                if deaths[job.key] < deaths_allowed:
                    suspects.append(job)
                else:
                    yield job.key, {"error": f"the process that computed it died {deaths_allowed} times"}


def by_dask(jobs: Iterable[Job], client: Any) -> Iterator[Result]:
    """`client` has submit(function, *arguments), as distributed.Client; it gives runs of workers that die to others."""
    distributed: Any = importlib.import_module("distributed")
    source = iter(jobs)
    workers = sum(client.ncores().values()) or 1

    def submit(job: Job) -> Any:
        return client.submit(compute, job, key="verve-" + job.key, pure=False)

    running = {submit(job): job for job in islice(source, workers * ahead)}
    done = distributed.as_completed(list(running))
    for future in done:
        job = running.pop(future)
        try:
            result = future.result()
        except distributed.KilledWorker as error:
            result = {"error": f"the workers that computed it died: {error}"}
        future.release()
        for following in islice(source, 1):
            new = submit(following)
            running[new] = following
            done.add(new)
        yield job.key, result
