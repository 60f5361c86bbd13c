"""Resharding on a Ray cluster whose nodes share a file system: ``pip install tilewright[ray]``.

>>> import tilewright as tw, tilewright.ray  # doctest: +SKIP
>>> plan = tw.reshard("llama/", "tp8/", mesh="tp=8", rules={"*_proj.weight": "[Shard(0)]"})  # doctest: +SKIP
>>> tilewright.ray.run(plan)  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from tilewright._tilewright import ReshardPlan
from tilewright._workers import batches, run_batch

__all__ = ["run"]

# Of no type: the package is checked where Ray is not installed.
_ray: Any = importlib.import_module("ray")


def run(
    plan: ReshardPlan,
    *,
    batch: int | None = None,
    retries: int = 5,
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> int:
    """Runs what is missing of a plan on the cluster that this process is connected to, makes the result visible, and gives
    the number of tasks that were run.

    A batch of tasks is one task of Ray's, with Ray's retries: where a worker is killed, Ray runs its batch again, which does
    what is missing of it. Where the driver is killed, the same call does the rest.

    :param batch: the tasks of a batch; eight batches a processor of the cluster unless given
    :param retries: how often Ray runs a batch again whose worker died
    :param progress: called with the tasks done and the tasks in all after each batch; what it raises ends the run
    :param options: more of ``ray.remote``, such as ``num_cpus`` or ``scheduling_strategy``
    :raises FileError: what cannot be read or written, a source that changed; as ``plan.run``
    """
    workers = int(_ray.cluster_resources().get("CPU", 1))
    parts = batches(plan, batch, workers)
    send = _ray.remote(max_retries=retries, **{"num_cpus": 1, **options})(run_batch)
    # Every batch names the plan, which goes to each node once.
    data = _ray.put(plan.to_bytes())
    waiting = {send.remote(data, part): len(part) for part in parts}
    ran, done, total = 0, 0, sum(waiting.values())
    try:
        while waiting:
            for one in _ray.wait(list(waiting))[0]:
                ran += _ray.get(one)
                done += waiting.pop(one)
                if progress is not None:
                    progress(done, total)
    finally:
        for one in waiting:
            _ray.cancel(one)
    plan.finish()
    return ran
