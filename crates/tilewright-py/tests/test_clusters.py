"""Plans run by ranks, Ray and Dask whose processes are killed: the result is whole or absent, and a rerun completes it.

``TILEWRIGHT_KILLS`` is how many processes are killed in all, a quarter of them ranks, workers of Ray, workers of Dask, and
clients of either. Killed are processes that a test started, by their own ids.
"""

import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

pytestmark = pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="processes are listed in /proc")

KILLS = -(-int(os.environ.get("TILEWRIGHT_KILLS", "8")) // 4)
RULES = {"layer.*": "[Shard(0)]"}
#: A run that is killed more often than this does not end.
MOST = 1000


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tensors of some thirty tasks each where the memory is least: 64 KiB."""
    path = tmp_path_factory.mktemp("clusters") / "model.safetensors"
    draw = np.random.default_rng(3)
    tw.save({f"layer.{n}": draw.integers(0, 1 << 30, (512, 512), np.int32) for n in range(4)}, path)
    return path


@pytest.fixture(scope="module")
def expected(model: Path) -> dict[str, bytes]:
    """The files of a run by one process."""
    plan = planned(model, "expected")
    assert plan.run() == plan.tasks > 100
    return {path.name: path.read_bytes() for path in plan.output.iterdir()}


def planned(model: Path, name: str) -> tw.ReshardPlan:
    return tw.reshard(model, model.parent / name, mesh="tp=3", rules=RULES, memory=1 << 16)


def runs(model: Path, expected: dict[str, bytes], name: str, run: Callable[[tw.ReshardPlan, int], int]) -> None:
    """Runs plans until enough was killed: ``run`` is told how many kills are left, and gives how many it made."""
    killed, number = 0, 0
    while killed < KILLS:
        plan = planned(model, f"{name}-{number}")
        killed += run(plan, KILLS - killed)
        assert {path.name: path.read_bytes() for path in plan.output.iterdir()} == expected
        number += 1
        assert number < MOST


def children() -> dict[int, list[int]]:
    """The processes of this machine by their parents."""
    found: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            found.setdefault(parent, []).append(int(entry.name))
    return found


def started(title: bytes) -> list[int]:
    """The processes that this one started, they or theirs, whose command begins so."""
    below, found, turn = children(), list[int](), [os.getpid()]
    while turn:
        turn = [child for one in turn for child in below.get(one, [])]
        for one in turn:
            try:
                command = Path(f"/proc/{one}/cmdline").read_bytes()
            except (FileNotFoundError, ProcessLookupError):
                continue
            found += [one] if command.startswith(title) else []
    return found


def kill(processes: list[int], draw: random.Random) -> int:
    """Kills one of these processes, if there is one."""
    if not processes:
        return 0
    try:
        os.kill(draw.choice(processes), signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def until_killed(command: list[Any], draw: random.Random, least: int) -> bool:
    """Starts a process that writes a line for each step, and kills it after some; whether it was killed."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for _ in range(least + draw.randrange(12)):
        if not process.stdout.readline():
            break
    else:
        process.kill()
    process.stdout.close()
    return process.wait() == -signal.SIGKILL


def test_killed_ranks(model: Path, expected: dict[str, bytes]) -> None:
    draw = random.Random(1)
    code = (
        "import sys, tilewright as tw\n"
        "plan, rank = tw.ReshardPlan.load(sys.argv[1]), int(sys.argv[2])\n"
        "say = lambda done, total: print(done, flush=True)\n"
        "tasks = plan.share(rank, 2)\n"
        "for first in range(0, len(tasks), 8):\n"
        "    plan.run_tasks(tasks[first : first + 8], progress=say)\n"
    )

    def run(plan: tw.ReshardPlan, left: int) -> int:
        path, killed = plan.output.with_suffix(".plan"), 0
        plan.save(path)
        for rank in (0, 1):
            command = [sys.executable, "-c", code, path, str(rank)]
            while left > killed and until_killed(command, draw, 1):
                killed += 1
                assert not plan.output.exists()
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        plan.finish()
        return killed

    runs(model, expected, "ranks", run)


@pytest.fixture(scope="module")
def cluster_of_dask() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 100}),
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield cluster, client


def test_killed_workers_of_dask(cluster_of_dask: Any, model: Path, expected: dict[str, bytes]) -> None:
    import tilewright.dask

    (cluster, client), draw = cluster_of_dask, random.Random(2)

    def run(plan: tw.ReshardPlan, left: int) -> int:
        killed = 0

        def progress(_done: int, _total: int) -> None:
            nonlocal killed
            if killed < min(left, 3) and draw.random() < 0.3:
                # A worker that dies while its nanny starts it is not started again.
                nannies = [nanny for nanny in cluster.workers.values() if nanny.status.name == "running"]
                answer = client.run(os.getpid, on_error="ignore").values()
                killed += kill([nanny.pid for nanny in nannies if nanny.pid in answer], draw)
            assert not plan.output.exists()

        assert tilewright.dask.run(plan, client, batch=8, progress=progress) <= plan.tasks
        return killed

    runs(model, expected, "dask", run)


@pytest.fixture(scope="module")
def cluster_of_ray() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Sockets have short names.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = {"num_cpus": 2, "object_store_memory": 80 << 20, "_node_ip_address": "127.0.0.1", "_temp_dir": folder}
        ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", **options)
        yield ray
        ray.shutdown()


def test_killed_workers_of_ray(cluster_of_ray: Any, model: Path, expected: dict[str, bytes]) -> None:
    import tilewright.ray

    draw = random.Random(3)

    def run(plan: tw.ReshardPlan, left: int) -> int:
        killed = 0

        def progress(_done: int, _total: int) -> None:
            nonlocal killed
            killed += kill(started(b"ray::run_batch"), draw) if killed < min(left, 3) and draw.random() < 0.5 else 0
            assert not plan.output.exists()

        assert tilewright.ray.run(plan, batch=8, retries=100, progress=progress) <= plan.tasks
        return killed

    runs(model, expected, "ray", run)


def clients(model: Path, expected: dict[str, bytes], name: str, connect: str, run: str) -> None:
    """Clients that are killed while the cluster goes on, and one that does the rest."""
    draw = random.Random(name)
    code = (
        "import sys, tilewright as tw\n"
        f"{connect}\n"
        "say = lambda done, total: print(done, flush=True)\n"
        f"{run}(tw.ReshardPlan.load(sys.argv[1]), *cluster, batch=8, progress=say)\n"
    )

    def until_done(plan: tw.ReshardPlan, left: int) -> int:
        path, killed = plan.output.with_suffix(".plan"), 0
        plan.save(path)
        command = [sys.executable, "-c", code, path]
        while left > killed and until_killed(command, draw, 0):
            killed += 1
            if plan.output.exists():
                return killed
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return killed

    runs(model, expected, f"{name}-client", until_done)


def test_killed_clients_of_dask(cluster_of_dask: Any, model: Path, expected: dict[str, bytes]) -> None:
    address = cluster_of_dask[0].scheduler_address
    connect = f"import tilewright.dask, distributed\ncluster = [distributed.Client({address!r})]"
    clients(model, expected, "dask", connect, "tilewright.dask.run")


def test_killed_clients_of_ray(cluster_of_ray: Any, model: Path, expected: dict[str, bytes]) -> None:
    address = cluster_of_ray.get_runtime_context().gcs_address
    connect = f"import tilewright.ray, ray\nray.init({address!r}, log_to_driver=False, logging_level='ERROR')\ncluster = []"
    clients(model, expected, "ray", connect, "tilewright.ray.run")


def test_a_plan_is_sent_once(cluster_of_dask: Any, model: Path, expected: dict[str, bytes]) -> None:
    """Of what the scheduler is told, one task holds the plan; the batches name that task."""
    import tilewright.dask

    sent = list[int]()

    class Counting:
        def __getattr__(self, name: str) -> Any:
            return getattr(cluster_of_dask[1], name)

        def submit(self, *arguments: Any, **options: Any) -> Any:
            sent.append(sum(len(one) for one in arguments if isinstance(one, bytes)))
            return cluster_of_dask[1].submit(*arguments, **options)

    plan = planned(model, "once")
    assert tilewright.dask.run(plan, Counting(), batch=8) == plan.tasks
    assert {path.name: path.read_bytes() for path in plan.output.iterdir()} == expected
    assert [size for size in sent if size > 0] == [len(plan.to_bytes())] and len(sent) > 10


def test_what_fails_in_a_worker_is_raised(cluster_of_dask: Any, model: Path) -> None:
    """A source that changed ends a run, with the error of the package."""
    import tilewright.dask

    copy = model.parent / "changed" / "model.safetensors"
    copy.parent.mkdir()
    copy.write_bytes(model.read_bytes())
    plan = planned(copy, "out")
    os.utime(copy, (1, 1))
    with pytest.raises(tw.FileError, match="it was changed since") as changed:
        tilewright.dask.run(plan, cluster_of_dask[1], retries=0)
    assert changed.value.kind == "changed" and not plan.output.exists()
