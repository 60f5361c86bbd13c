"""Checkpoints in other shards: plans, their tasks, and what interrupts them."""

import _thread
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

DATA = Path(__file__).resolve().parents[3] / "corpus" / "data"
RULES = {"*": "[Shard(0)]"}


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """Forty small tensors, numbered through."""
    tensors = {f"layer.{n}.weight": np.arange(48, dtype=np.float32).reshape(12, 4) + 48 * n for n in range(40)}
    tw.save({**tensors, "scale": np.array(3, np.float32)}, tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def tensors(folder: Path) -> dict[str, Any]:
    """All that the files of a folder hold, by the names of the files."""
    held = {}
    for path in sorted(folder.glob("*.safetensors")):
        with tw.open(path) as file:
            held[path.name] = {name: np.array(file[name]) for name in file}
    return held


def planned(model: Path, name: str = "out", **more: Any) -> tw.ReshardPlan:
    job = {"mesh": "tp=3", "rules": {"layer.*": "[Shard(0)]"}, **more}
    return tw.reshard(model, model.parent / name, **job)


def test_there_and_back(model: Path) -> None:
    plan = planned(model)
    assert plan.run() == plan.tasks == 41
    held = tensors(plan.output)
    for number in range(40):
        name = f"layer.{number}.weight"
        parts = [held[f"rank_{rank:05}-of-00003.safetensors"][name] for rank in range(3)]
        assert (np.concatenate(parts) == np.arange(48).reshape(12, 4) + 48 * number).all()
    back = tw.reshard(plan.output, model.parent / "back", from_mesh="tp=3", from_rules={"scale": "P()", **RULES})
    back.run(threads=2)
    assert tw.same_data(back.output / "model.safetensors", model)


def test_rules_and_meshes_are_any_spelling(model: Path) -> None:
    rule = tw.Sharded("f32[12,4] @ mesh(tp=3) [Shard(0)]")
    spellings: list[dict[str, Any]] = [
        {"mesh": {"tp": 3}, "rules": {"layer.*": "P('tp')"}},
        {"mesh": "mesh(tp=3)", "rules": {"layer.*": rule}},
        {"mesh": [3], "rules": {"layer.*": "column"}},
    ]
    spellings += [{"mesh": "tp=3", "rules": {"layer.*": "P('tp', None)"}}]
    plan = planned(model)
    plan.run()
    for number, job in enumerate(spellings):
        other = planned(model, str(number), **job)
        other.run()
        # Files record the rules as they are spelled, so their headers differ.
        held, its = tensors(plan.output), tensors(other.output)
        assert held.keys() == its.keys()
        for name, arrays in held.items():
            assert all((its[name][one] == array).all() for one, array in arrays.items())
            assert arrays.keys() == its[name].keys()


def test_a_plan_is_its_bytes(model: Path) -> None:
    plan = planned(model)
    plan.save(model.parent / "plan")
    loaded = tw.ReshardPlan.load(model.parent / "plan")
    copies = [loaded, pickle.loads(pickle.dumps(plan)), tw.ReshardPlan.from_bytes(plan.to_bytes())]
    for copy in copies:
        assert (copy, hash(copy), copy.id, copy.tasks) == (plan, hash(plan), plan.id, plan.tasks)
        assert (copy.files, copy.form, copy.output) == (plan.files, "ranks", model.parent / "out")
    assert (plan.tensors, plan.nbytes) == (41, 40 * 48 * 4 + 4) and plan.written > plan.nbytes
    assert planned(model, memory=1 << 20) != plan and plan.id in repr(plan) and plan.id in plan._repr_html_()
    with pytest.raises(tw.FileExistsError):
        plan.save(model.parent / "plan")
    # A source that changed is another one.
    os.utime(model, (1, 1))
    with pytest.raises(tw.FileError, match="changed since") as changed:
        pickle.loads(pickle.dumps(plan))
    assert changed.value.kind == "changed"


def test_tasks_partition_the_tensors(model: Path) -> None:
    plan = planned(model, memory=1 << 16)
    seen: dict[str, Any] = {}
    for number in range(plan.tasks):
        tensor, box = plan.task(number)
        seen.setdefault(tensor, np.zeros((12, 4) if box else (), int))[box] += 1
    assert len(seen) == 41 and all((count == 1).all() for count in seen.values())
    assert [task for rank in range(7) for task in plan.share(rank, 7)] == list(range(plan.tasks))
    for call in (lambda: plan.task(41), lambda: plan.run_tasks([41]), lambda: plan.share(3, 3)):
        with pytest.raises(tw.OutOfRangeError):
            call()


def test_parts_of_a_run(model: Path) -> None:
    plan = planned(model)
    assert plan.missing() == list(range(41))
    assert plan.run_tasks([3, 7, 3]) == 2 and plan.run_tasks([7]) == 0
    with pytest.raises(tw.FileError, match="39 of 41 tasks are missing; the first is task 0") as missing:
        plan.finish()
    assert missing.value.kind == "incomplete" and not plan.output.exists()
    for rank in range(3):
        pickle.loads(pickle.dumps(plan)).run_tasks(plan.share(rank, 3))
    assert plan.missing() == []
    plan.finish()
    whole = planned(model, "whole")
    whole.run(threads=3)
    for path in whole.output.iterdir():
        assert path.read_bytes() == (plan.output / path.name).read_bytes()
    with pytest.raises(tw.FileExistsError):
        plan.run()


def test_progress_and_what_it_raises(model: Path) -> None:
    plan, seen = planned(model), list[tuple[int, int]]()

    def progress(done: int, total: int) -> None:
        seen.append((done, total))
        if done > total / 2:
            raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        plan.run(progress=progress)
    assert seen[0] == (0, plan.nbytes) and not plan.output.exists()
    assert sorted(done for done, _ in seen) == [done for done, _ in seen]
    # What was done is kept at most up to the end of the last batch, and the rest is done now.
    seen.clear()
    plan.run(threads=2, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] and plan.output.exists()
    with pytest.raises(TypeError, match="progress="):
        planned(model, "other").run(progress=3)


def test_the_interrupt_key_ends_a_run(model: Path) -> None:
    plan = planned(model)
    with pytest.raises(KeyboardInterrupt):
        plan.run(progress=lambda done, _: _thread.interrupt_main() if done else None)
    assert not plan.output.exists()
    plan.run()
    assert tensors(plan.output)


def test_the_interpreter_is_free_meanwhile(model: Path) -> None:
    """Another thread of Python's takes part in a run: it ends what waits for it."""
    plan, turns = planned(model), threading.Semaphore(0)
    other = threading.Thread(target=lambda: [turns.release() for _ in range(1000)])
    other.start()
    plan.run(threads=2, progress=lambda done, total: turns.acquire(timeout=60))
    other.join()
    assert tensors(plan.output)


def test_a_killed_run_goes_on(model: Path) -> None:
    plan = planned(model)
    plan.save(model.parent / "plan")
    code = (
        "import sys, os, signal, tilewright as tw\n"
        "plan = tw.ReshardPlan.load(sys.argv[1])\n"
        "plan.run_tasks(range(5))\n"
        "plan.run(progress=lambda done, total: done > total / 2 and os.kill(os.getpid(), signal.SIGKILL))\n"
    )
    killed = subprocess.run([sys.executable, "-c", code, model.parent / "plan"], check=False)
    assert killed.returncode == -signal.SIGKILL and not plan.output.exists()
    assert plan.missing() == list(range(5, 41))
    assert plan.run() == 36
    whole = planned(model, "whole")
    whole.run()
    for path in whole.output.iterdir():
        assert path.read_bytes() == (plan.output / path.name).read_bytes()


def test_a_result_is_verified_and_replaced(model: Path) -> None:
    planned(model, verify=True).run()
    with pytest.raises(tw.FileExistsError):
        planned(model).run()
    plan = planned(model, force=True, rules={"layer.*": "row"}, mesh="tp=2")
    plan.run()
    assert len(tensors(plan.output)) == 2


def test_a_changed_bit_of_a_finished_task_is_found(model: Path) -> None:
    plan = planned(model, verify=True)
    plan.run_tasks(range(plan.tasks))
    (partial,) = plan.output.parent.glob(f"{plan.output.name}.partial-*")
    file = sorted((partial / "data").iterdir())[0]
    good = file.read_bytes()

    def changed() -> None:
        bad = bytearray(good)
        bad[-1] ^= 1
        file.write_bytes(bad)

    changed()
    with pytest.raises(tw.FileError, match="they differ, first at") as refused:
        plan.finish(verify=True, threads=2)
    assert refused.value.kind == "corrupt" and not plan.output.exists()
    # A run of all tasks repeats the one that differs.
    assert plan.run() == 1
    made = (plan.output / file.name).read_bytes()
    data = 8 + int.from_bytes(made[:8], "little")
    assert made[data:] == good[data:]


def test_copies_are_compared(model: Path) -> None:
    """Ranks that hold all of a tensor hold the same, where one of them is not trusted."""
    plan = planned(model, rules=None)
    plan.run()
    path = plan.output / plan.files[1]
    held = bytearray(path.read_bytes())
    held[-1] ^= 1
    path.write_bytes(held)
    back: dict[str, Any] = {"from_mesh": "tp=3", "from_rules": {"*": "P()"}}
    with pytest.raises(tw.Error):
        tw.reshard(plan.output, model.parent / "back", **back).run()
    tw.reshard(plan.output, model.parent / "trusted", **back, trust_replicas=True).run()


def test_extents_that_are_said(model: Path) -> None:
    """Of boxes that do not say them they are the extents; a box that is missing is then found."""
    plan = planned(model, form="dcp")
    plan.run()
    # Results say how large the whole is.
    assert tw.reshard(plan.output, model.parent / "derived").assumed == {}
    held = tw.open(model)
    shapes = {name: held[name].shape for name in held}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tw.reshard(plan.output, model.parent / "said", extents=shapes).run()
    assert tw.same_data(model.parent / "said", model)
    name, shape = next(iter(shapes.items()))
    with pytest.raises(tw.MismatchError, match=name), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tw.reshard(plan.output, model.parent / "longer", extents={name: (shape[0] + 1, *shape[1:])})
    with pytest.raises(tw.ArgumentError, match="no tensor matches"):
        tw.reshard(model, model.parent / "out", extents={"nothing": (3,)})
    with pytest.raises(TypeError, match="extents= takes a mapping"):
        tw.reshard(model, model.parent / "out", extents=(3, 4))  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="extents= takes a sequence of integers"):
        tw.reshard(model, model.parent / "out", extents={"w": "3"})  # type: ignore[dict-item]
    with pytest.raises(tw.ArgumentError, match="extents= takes an integer from 0"):
        tw.reshard(model, model.parent / "out", extents={"w": (-1,)})


def test_extents_that_nothing_states(tmp_path: Path) -> None:
    """Of boxes of other writers the last one is the end, which a warning says, until the extents are stated or trusted."""
    boxes = tmp_path / "boxes"
    boxes.mkdir()
    for number in range(3):
        places = {"DCP_SHARDING_INFO": f'{{"w": {{"saved_offsets": [{2 * number}, 0]}}}}'}
        box = np.full((2, 4), number, np.float32)
        tw.save({"w": box}, boxes / f"shard-{number + 1:05}-model-00001-of-00001.safetensors", metadata=places)
    with pytest.warns(UserWarning, match=r'"w" \[6, 4\].*state them as extents=, or accept them with trust_extents=True'):
        plan = tw.reshard(boxes, tmp_path / "out")
    assert plan.assumed == {"w": (6, 4)}
    (tmp_path / "extents.toml").write_text("w = [6, 4]")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert tw.reshard(boxes, tmp_path / "out", trust_extents=True).assumed == {"w": (6, 4)}
        for stated in ({"w": (6, 4)}, tmp_path / "extents.toml", str(tmp_path / "extents.toml")):
            assert tw.reshard(boxes, tmp_path / "out", extents=stated).assumed == {}
    (boxes / "shard-00003-model-00001-of-00001.safetensors").unlink()
    with pytest.raises(tw.MismatchError, match="a shard file may be missing"):
        tw.reshard(boxes, tmp_path / "out", extents=tmp_path / "extents.toml")


def test_what_is_refused(model: Path) -> None:
    out = model.parent / "out"
    with pytest.raises(tw.FileNotFoundError):
        tw.reshard(model.parent / "none", out)
    with pytest.raises(tw.ParseError, match="no placement is called `Shart`"):
        tw.reshard(model, out, mesh="2", rules={"layer.*": "[Shart(0)]"})
    with pytest.raises(tw.ArgumentError, match="rules= needs mesh="):
        tw.reshard(model, out, rules=RULES)
    with pytest.raises(tw.ArgumentError, match="no tensor matches"):
        tw.reshard(model, out, mesh="2", rules={"nothing": "[Shard(0)]"})
    with pytest.raises(tw.ArgumentError, match="form= takes hf, dcp or ranks"):
        tw.reshard(model, out, form="zip")
    with pytest.raises(TypeError, match="rules= takes a mapping"):
        tw.reshard(model, out, mesh="2", rules=["[Shard(0)]"])  # type: ignore[arg-type]
    with pytest.raises(tw.MismatchError, match="1 file "):
        tw.reshard(model.parent, model.parent.with_name("out"), from_mesh="2", from_rules=RULES)
    with pytest.raises(tw.Error, match="the result must be a separate folder") as inside:
        tw.reshard(model.parent, out, from_mesh="2", from_rules=RULES)
    assert inside.value.kind == "same-file"
    (model.parent / "plan").write_text("{}")
    with pytest.raises(tw.FileError, match="is not a plan") as corrupt:
        tw.ReshardPlan.load(model.parent / "plan")
    assert corrupt.value.kind == "corrupt"


def test_results_in_gguf(tmp_path: Path) -> None:
    """One file and files of ranks, with the metadata of another file, which has to fit unless it is trusted."""
    quantised = DATA / "tiny_quantised.gguf"
    tw.reshard(quantised, tmp_path / "one.gguf", verify=True).run()
    assert (tmp_path / "one.gguf").read_bytes() == quantised.read_bytes()
    ranks = tw.reshard(quantised, tmp_path / "tp2", mesh="tp=2", rules={"*ffn*": "[Shard(0)]"}, format="gguf")
    assert ranks.files == ("rank_00000-of-00002.gguf", "rank_00001-of-00002.gguf")
    ranks.run()
    assert tw.same_data(tmp_path / "tp2", quantised)
    cnn = DATA / "tiny_cnn_f32.safetensors"
    with pytest.raises(tw.ArgumentError, match="give it as metadata="):
        tw.reshard(cnn, tmp_path / "cnn.gguf")
    with pytest.warns(UserWarning, match="metadata that gguf does not get"):
        tw.reshard(cnn, tmp_path / "cnn.gguf", metadata=quantised, trust_metadata=True).run()
    assert tw.same_data(tmp_path / "cnn.gguf", cnn)
    with pytest.raises(tw.ArgumentError, match="options about metadata are for GGUF"):
        tw.reshard(cnn, tmp_path / "out", trust_metadata=True)
    with pytest.raises(tw.ArgumentError, match="safetensors or gguf, not npz"):
        tw.reshard(cnn, tmp_path / "out", format="npz")


def test_shards_are_compared_as_whole_arrays(model: Path) -> None:
    """In ``fingerprints``, ``same_data`` and ``verify``: of files that record their rules, and of others by rules."""
    shards = planned(model, "shards")
    shards.run()
    assert tw.fingerprints(shards.output) == tw.fingerprints(model)
    assert tw.same_data(model, shards.output)
    assert tw.verify(shards.output, model) is None and tw.verify(model, shards.output) is None
    bare = model.parent / "bare"
    bare.mkdir()
    for name, arrays in tensors(shards.output).items():
        tw.save(arrays, bare / name)
    rules: dict[str, Any] = {"from_mesh": {"tp": 3}, "from_rules": {"scale": "P()", **RULES}}
    with pytest.warns(UserWarning, match="nothing states the extents of 40 tensors"):
        assert tw.fingerprints(bare, **rules) == tw.fingerprints(model)
    with pytest.warns(UserWarning, match="nothing states the extents"):
        assert tw.same_data(model, bare, **rules)
    with pytest.warns(UserWarning, match="nothing states the extents"):
        assert tw.verify(bare, model, **rules) is None
    with pytest.raises(tw.ArgumentError, match="from_mesh= needs a folder with several files"):
        tw.fingerprints(model, **rules)
    with pytest.raises(tw.ArgumentError, match="from_rules= needs from_mesh="):
        tw.same_data(model, bare, from_rules=RULES)
    with pytest.raises(tw.ArgumentError, match="against= names the checkpoint"):
        tw.verify(shards.output)
    with pytest.raises(tw.ArgumentError, match="to= does not apply to shards"):
        tw.verify(shards.output, model, to="zN")
    changed = bytearray((shards.output / shards.files[0]).read_bytes())
    changed[-1] ^= 1
    (shards.output / shards.files[0]).write_bytes(changed)
    with pytest.raises(tw.Error, match="differs from its copy in"):
        tw.same_data(model, shards.output)
