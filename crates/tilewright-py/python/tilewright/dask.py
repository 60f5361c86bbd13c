"""Resharding on a Dask cluster whose workers share a file system: ``pip install tilewright[dask]``.

>>> import tilewright as tw, tilewright.dask  # doctest: +SKIP
>>> plan = tw.reshard("llama/", "tp8/", mesh="tp=8", rules={"*_proj.weight": "[Shard(0)]"})  # doctest: +SKIP
>>> tilewright.dask.run(plan, client)  # doctest: +SKIP
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Callable
from typing import Any

from tilewright._tilewright import ReshardPlan
from tilewright._workers import batches, run_batch

__all__ = ["run"]

# Of no type: the package is checked where Dask is not installed.
_distributed: Any = importlib.import_module("distributed")


def run(
    plan: ReshardPlan,
    client: Any,
    *,
    batch: int | None = None,
    retries: int = 5,
    progress: Callable[[int, int], object] | None = None,
    **options: Any,
) -> int:
    """Runs what is missing of a plan on the cluster of a ``distributed.Client``, makes the result visible, and gives the
    number of tasks that were missing.

    A batch of tasks is one task of Dask's, with Dask's retries: where a worker is killed, Dask runs its batch elsewhere, which
    does what is missing of it, as often as ``distributed.scheduler.allowed-failures`` says. Where the client is killed, the
    same call does the rest.

    :param batch: the tasks of a batch; eight batches a thread of the cluster unless given
    :param retries: how often Dask runs a batch again that failed
    :param progress: called with the tasks done and the tasks in all after each batch; what it raises ends the run
    :param options: more of ``Client.submit``, such as ``workers`` or ``resources``
    :raises FileError: what cannot be read or written, a source that changed; as ``plan.run``
    """
    workers = sum(client.nthreads().values())
    parts = batches(plan, batch, workers)
    data = _sent(client, plan.to_bytes())
    send = {"pure": False, "retries": retries, **options}
    waiting = {client.submit(run_batch, data, part, **send): len(part) for part in parts}
    done, total = 0, sum(waiting.values())
    try:
        for future in _distributed.as_completed(list(waiting)):
            if future.status in ("error", "cancelled"):
                future.result()
            # What a batch gave lies in a worker that may be killed by now; what it wrote lies on the disk. So nothing is
            # fetched, and the scheduler is told to keep nothing.
            done += waiting.pop(future)
            if progress is not None:
                progress(done, total)
    finally:
        client.cancel(list(waiting))
    plan.finish()
    return done


def _sent(client: Any, plan: bytes) -> Any:
    """The plan as a task that gives it: the scheduler is told it once, and each worker fetches it once.

    What ``Client.scatter`` sends is lost with the workers that hold it. A task is run again.
    """
    with warnings.catch_warnings():
        # Dask advises to scatter what is large.
        warnings.filterwarnings("ignore", message="Sending large graph")
        return client.submit(bytes, plan, pure=False)
