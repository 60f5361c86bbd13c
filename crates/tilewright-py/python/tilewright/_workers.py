"""Helpers for runners on clusters: a plan's missing tasks in batches, and a batch run in a worker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from tilewright._tilewright import ReshardPlan

__all__ = ["batches", "run_batch"]

#: The batches that each worker gets unless the caller says how long they are.
_EACH = 8


def batches(plan: ReshardPlan, batch: int | None, workers: int) -> list[list[int]]:
    """The tasks that are missing, in batches of neighbours.

    Neighbours read and write the same files, and a batch is synced to the disk at its end.
    """
    missing = plan.missing()
    size = batch if batch is not None else -(-len(missing) // (_EACH * max(workers, 1)))
    return list(_cut(missing, max(size, 1)))


def _cut(tasks: list[int], size: int) -> Iterator[list[int]]:
    for first in range(0, len(tasks), size):
        yield tasks[first : first + size]


def run_batch(plan: bytes, tasks: list[int]) -> int:
    """Runs a batch in a worker, and gives the number of its tasks that were not done yet."""
    return _read(plan).run_tasks(tasks)


@lru_cache(maxsize=4)
def _read(plan: bytes) -> ReshardPlan:
    """A plan, whose sources are looked at once a worker."""
    return ReshardPlan.from_bytes(plan)
