"""Plans run by ranks, Ray and Dask whose processes are killed: the result is whole or absent, and a rerun completes it.

``TILEWRIGHT_KILLS`` is how many processes are killed in all: a quarter of them are ranks, a quarter workers of Ray, a quarter
workers of Dask, and a quarter clients, half of them of each. Killed are processes that a test started, by their own ids. A test
that waits for more than a minute and twenty seconds a kill is ended.
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
CLIENTS = -(-KILLS // 2)
RULES = {"layer.*": "[Shard(0)]"}
#: Seconds after which a test is ended.
LONGEST = 60 + 20 * KILLS


@pytest.fixture(autouse=True)
def bounded() -> Iterator[None]:
    """Ends a test that waits for what does not come, whatever it waits in."""

    def end(*_: object) -> None:
        raise TimeoutError(f"the test waited for {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, end)
    signal.alarm(LONGEST)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


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


def is_whole(plan: tw.ReshardPlan, expected: dict[str, bytes]) -> bool:
    """Whether the result is there, and then it is whole."""
    if not plan.output.exists():
        return False
    assert {path.name: path.read_bytes() for path in plan.output.iterdir()} == expected
    return True


#: Prints a line where the number of kills is the caller's.
Say = Callable[[str], None]


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    def line(text: str) -> None:
        with capsys.disabled():
            print(f"\n    {text}", end="", flush=True)

    return line if "TILEWRIGHT_KILLS" in os.environ else lambda _: None


def runs(
    model: Path, expected: dict[str, bytes], say: Say, name: str, run: Callable[[tw.ReshardPlan, int], int], kills: int = KILLS
) -> None:
    """Runs plans until enough was killed: ``run`` is told how many kills are left, and gives how many it made."""
    killed, number = 0, 0
    while killed < kills:
        plan = planned(model, f"{name}-{number}")
        killed += run(plan, kills - killed)
        assert is_whole(plan, expected)
        number += 1
    say(f"{name}: {killed} killed, nothing half done after any; {number} results complete")


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


def kill(processes: list[int], draw: random.Random, gone: set[int]) -> int:
    """Kills one of these processes, if there is one that was not killed before."""
    processes = [one for one in processes if one not in gone]
    if not processes:
        return 0
    chosen = draw.choice(processes)
    gone.add(chosen)
    try:
        os.kill(chosen, signal.SIGKILL)
    except ProcessLookupError:
        return 0
    return 1


def until_killed(command: list[Any], draw: random.Random, least: int) -> bool:
    """Starts a process that writes a line for each step, and kills it after some; whether it was killed."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        ended = any(not process.stdout.readline() for _ in range(least + draw.randrange(12)))
    except TimeoutError:
        process.kill()
        raise
    if not ended:
        process.kill()
    process.stdout.close()
    return process.wait() == -signal.SIGKILL


def test_killed_ranks(model: Path, expected: dict[str, bytes], say: Say) -> None:
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
            command = [sys.executable, "-c", code, str(path), str(rank)]
            while left > killed and until_killed(command, draw, 1):
                killed += 1
                assert not is_whole(plan, expected)
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        plan.finish()
        return killed

    runs(model, expected, say, "ranks", run)


@pytest.fixture(scope="module")
def cluster_of_dask() -> Iterator[Any]:
    distributed = pytest.importorskip("distributed")
    dask = pytest.importorskip("dask")
    # A cluster lets a nanny go whose worker is absent when this time after an earlier absence is over, as one that is killed
    # again may be. Without nannies no worker comes back, and all tasks wait.
    lasting = {"distributed.scheduler.allowed-failures": 1000, "distributed.deploy.lost-worker-timeout": "1 day"}
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None, "silence_logs": 50}
    with (
        dask.config.set(lasting),
        distributed.LocalCluster(**options) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield cluster, client


def test_killed_workers_of_dask(cluster_of_dask: Any, model: Path, expected: dict[str, bytes], say: Say) -> None:
    import tilewright.dask

    (cluster, client), draw, gone = cluster_of_dask, random.Random(2), set[int]()

    def at_work() -> list[int]:
        """The workers that the scheduler knows. One that dies while its nanny starts it is not started again."""
        nannies = [nanny for nanny in cluster.workers.values() if nanny.worker_address in cluster.scheduler.workers]
        return [nanny.pid for nanny in nannies if nanny.pid is not None]

    def run(plan: tw.ReshardPlan, left: int) -> int:
        killed = 0

        def progress(_done: int, _total: int) -> None:
            nonlocal killed
            if killed < min(left, 3) and draw.random() < 0.3:
                killed += kill(at_work(), draw, gone)
            assert not is_whole(plan, expected)

        assert tilewright.dask.run(plan, client, batch=8, progress=progress) <= plan.tasks
        return killed

    runs(model, expected, say, "workers of Dask", run)


@pytest.fixture(scope="module")
def cluster_of_ray() -> Iterator[Any]:
    ray = pytest.importorskip("ray")
    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    # Sockets have short names.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        options = {"num_cpus": 2, "object_store_memory": 80 << 20, "_node_ip_address": "127.0.0.1", "_temp_dir": folder}
        # Ray gives its own processes 30 seconds, which a busy machine may not have.
        for left in (2, 1, 0):
            try:
                ray.init(include_dashboard=False, log_to_driver=False, logging_level="ERROR", **options)
                break
            except Exception:
                ray.shutdown()
                if left == 0:
                    raise
        yield ray
        ray.shutdown()


def test_killed_workers_of_ray(cluster_of_ray: Any, model: Path, expected: dict[str, bytes], say: Say) -> None:
    import tilewright.ray

    draw, gone = random.Random(3), set[int]()

    def run(plan: tw.ReshardPlan, left: int) -> int:
        killed = 0

        def progress(_done: int, _total: int) -> None:
            nonlocal killed
            if killed < min(left, 3) and draw.random() < 0.5:
                killed += kill(started(b"ray::run_batch"), draw, gone)
            assert not is_whole(plan, expected)

        assert tilewright.ray.run(plan, batch=8, retries=100, progress=progress) <= plan.tasks
        return killed

    runs(model, expected, say, "workers of Ray", run)


def clients(model: Path, expected: dict[str, bytes], say: Say, name: str, connect: str, run: str) -> None:
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
        command = [sys.executable, "-c", code, str(path)]
        while left > killed and until_killed(command, draw, 0):
            killed += 1
            if is_whole(plan, expected):
                return killed
        # One that was not killed in time has made the result.
        if not is_whole(plan, expected):
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        return killed

    runs(model, expected, say, f"clients of {name}", until_done, CLIENTS)


def test_killed_clients_of_dask(cluster_of_dask: Any, model: Path, expected: dict[str, bytes], say: Say) -> None:
    address = cluster_of_dask[0].scheduler_address
    connect = f"import tilewright.dask, distributed\ncluster = [distributed.Client({address!r})]"
    clients(model, expected, say, "Dask", connect, "tilewright.dask.run")


def test_killed_clients_of_ray(cluster_of_ray: Any, model: Path, expected: dict[str, bytes], say: Say) -> None:
    address = cluster_of_ray.get_runtime_context().gcs_address
    connect = f"import tilewright.ray, ray\nray.init({address!r}, log_to_driver=False, logging_level='ERROR')\ncluster = []"
    clients(model, expected, say, "Ray", connect, "tilewright.ray.run")


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
