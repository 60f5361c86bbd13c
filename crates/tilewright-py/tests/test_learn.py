"""Loaders learned from coded arrays, and descriptions of maps."""

import json

import numpy as np
import pytest
import tilewright as tw


def packed(w: np.ndarray) -> np.ndarray:
    """oneDNN's blocks: (n n0:64) (k k0:2) -> n k n0 k0, rows padded to 64 and columns to 32."""
    rows, columns = w.shape
    padded = np.zeros((-(-rows // 64) * 64, -(-columns // 32) * 32), w.dtype)
    padded[:rows, :columns] = w
    blocks = padded.reshape(-1, 64, padded.shape[1] // 2, 2)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3))


def described(ids: np.ndarray, sources: list) -> tw.MapDescription:
    found = tw.describe_map(ids, sources)
    assert found.expand().dtype == np.int64 and (found.expand() == ids).all()
    return found


def test_packed_layouts_have_their_pattern() -> None:
    ids = np.arange(1, 193 * 96 - 95, dtype=np.int64).reshape(192, 96)
    found = described(packed(ids).ravel(), [("w", (192, 96), 1)])
    assert [str(term) for term in found.terms] == ["w : (n n0:64) (k k0:2) -> n k n0 k0"]
    assert found.integers <= 15 and found.layout.dims == (192, 96)
    assert found.layout.same("(n n0:64) (k k0:2) -> n k n0 k0")


def test_padding_is_of_the_term() -> None:
    ids = np.arange(1, 8001, dtype=np.int64).reshape(100, 80)
    image = packed(ids).ravel()
    found = described(np.where(image == 0, -1, image), [("w", (100, 80), 1)])
    assert [term.pattern for term in found.terms] == ["w : (n n0:64) (k k0:2) -> n k n0 k0 [k:48]"]


def test_experts_are_one_term() -> None:
    names = [(f"layers.0.experts.{e}.{part}", (6, 8), 1 + 49 * (2 * e + k)) for e in range(12) for k, part in enumerate(["gate", "up"])]
    ids = np.concatenate([np.arange(first, first + 48) for _, _, first in names]).astype(np.int64)
    # In the order of texts, as checkpoints have them: 0, 1, 10, 11, 2.
    found = described(ids.reshape(12, 12, 8), sorted(names))
    assert [str(term) for term in found.terms] == [
        "layers.0.experts.{x}.gate : n k -> x n k [n:12]",
        "layers.0.experts.{x}.up : n k -> x n k [n:12]",
    ]
    assert found.integers <= 40
    assert found.held["layers.0.experts.11.up"] == (1, 1, 0)


def test_other_elements_are_kept() -> None:
    ids = np.array([1, -1, -2, -3, 2, -1], np.int64)
    found = described(ids, [("w", (2,), 1)])
    assert {term.source for term in found.terms} <= {"w", "constant", "computed", "zero"}
    assert found.rest == "zero"


def test_a_swizzle_is_one_term() -> None:
    rows, columns = np.divmod(np.arange(64 * 64), 64)
    ids = 1 + rows * 64 + (columns ^ (rows % 8 * 8))
    found = described(ids, [("w", (64, 64), 1)])
    assert len(found.terms) == 1 and found.terms[0].xor


def test_maps_through_a_parameter_are_layouts_of_it() -> None:
    sources = [("gate", (96, 32), 1), ("up", (96, 32), 3074)]
    parameter = np.concatenate([np.arange(first, first + 96 * 32).reshape(96, 32) for _, _, first in sources])
    found = tw.describe_map(packed(parameter), sources, through=parameter)
    assert [str(term) for term in found.terms] == ["parameter : (n n0:64) (k k0:2) -> n k n0 k0"]
    assert (found.expand() == packed(parameter)).all()
    with pytest.raises(tw.OutOfRangeError, match="does not hold"):
        tw.describe_map(packed(parameter), sources, through=parameter[:100])


def test_maps_that_are_not_maps_are_refused() -> None:
    with pytest.raises(tw.OutOfRangeError, match="no source has the number 7"):
        tw.describe_map(np.array([7], np.int64), [("w", (2,), 1)])
    with pytest.raises(tw.IllegalError, match="share the number 2"):
        tw.describe_map(np.array([1], np.int64), [("a", (2,), 1), ("b", (2,), 2)])
    with pytest.raises(tw.IllegalError, match="occurs twice"):
        tw.describe_map(np.array([1], np.int64), [("a", (2,), 1), ("a", (2,), 5)])
    # As JSON has them: lists.
    assert tw.describe_map(ids=np.array([2, 1]), sources=[["a", [2], 1]]).terms[0].elements == 2
    with pytest.raises(tw.ArgumentError, match="name, shape, first_id"):
        tw.describe_map(np.array([1]), [("a", (2,))])
    with pytest.raises(tw.DtypeError, match="int64"):
        tw.describe_map(np.array([1], np.int32), [("a", (2,), 1)])
    with pytest.raises(tw.OutOfRangeError):
        tw.describe_map(np.array([-4], np.int64), [("a", (2,), 1)])


WEIGHTS = {"gate": np.zeros((48, 32), np.float16), "up": np.zeros((48, 32), np.float16), "norm": np.zeros(32, np.float32)}


def load(tensors: dict) -> dict:
    fused = np.concatenate([tensors["gate"], tensors["up"]])
    return {"w13": packed(fused), "norm": tensors["norm"].copy(), "ones": np.ones(4, np.float16)}


def test_a_loader_is_learned_and_runs_in_both_directions() -> None:
    learned = tw.learn(load, WEIGHTS)
    assert learned.problems == () and learned.integers < 100
    rng = np.random.default_rng(5)
    fresh = {name: rng.standard_normal(like.shape).astype(like.dtype) for name, like in WEIGHTS.items()}
    made = learned.apply(fresh)
    assert all((made[name] == array).all() for name, array in load(fresh).items())
    back = learned.invert(load(fresh))
    assert all((back[name] == array).all() for name, array in fresh.items())
    learned.check(3)
    assert learned.held["gate"] == (1, 1, 0)
    assert "w13 f16[2,16,64,2]" in str(learned)
    assert learned.plan().startswith("tilewright_plan = 1")
    assert '"tilewright_plan":1' in learned.plan("json")


def test_lists_and_single_arrays() -> None:
    learned = tw.learn(lambda a, b: (np.concatenate([a, b]),), [np.zeros(3, np.int8), np.zeros(4, np.int8)])
    assert learned.apply([np.arange(3, dtype=np.int8), np.arange(4, dtype=np.int8)])[0].tolist() == [0, 1, 2, 0, 1, 2, 3]
    one = tw.learn(lambda w: w.T.copy(), np.zeros((3, 4), np.float32))
    assert one.layouts["result"].same("(3,4):(1,3)")
    assert one.apply(np.arange(12, dtype=np.float32).reshape(3, 4))[1].tolist() == [1, 5, 9]


@pytest.mark.parametrize("width", [4, 2])
@pytest.mark.parametrize("order", [1, -1])
def test_packed_words(width: int, order: int) -> None:
    per = 32 // width

    def pack(q: np.ndarray) -> np.ndarray:
        shifts = (np.arange(per, dtype=np.uint32) * width)[::order]
        return (q.reshape(-1, per).astype(np.uint32) << shifts).sum(1, dtype=np.uint32).view(np.int32)

    learned = tw.learn(pack, np.zeros((16, 64), np.int32), bits=width)
    assert len(learned.terms["result"]) == 1
    fresh = np.random.default_rng(1).integers(0, 1 << width, (16, 64)).astype(np.int32)
    assert (learned.apply(fresh) == pack(fresh)).all()
    assert (learned.invert(pack(fresh)) == fresh).all()


CHANGES = {
    "add": lambda w: w + 1,
    "scale": lambda w: w * np.float32(0.5),
    "exp": lambda w: -np.exp(w),
    "average": lambda w: (w + np.roll(w, 1)) / 2,
    "sort": np.sort,
    "clamp": lambda w: np.clip(w, -10, 10),
    "cast": lambda w: w.astype(np.float16).astype(np.float32),
    "absmax": lambda w: w / np.abs(w).max(),
    "abs": np.abs,
}


@pytest.mark.parametrize("name", CHANGES)
@pytest.mark.parametrize("percent", [1, 30, 100])
def test_changed_values_are_never_a_move(name: str, percent: int) -> None:
    chosen = slice(0, 10 * percent)

    def change(w: np.ndarray) -> np.ndarray:
        made = w.copy()
        with np.errstate(all="ignore"):
            made[chosen] = CHANGES[name](w[chosen])
        return made

    with pytest.raises(tw.LearnError) as raised:
        tw.learn(change, np.zeros(1000, np.float32))
    assert raised.value.kind in ("unexplained", "values")


def test_bad_loaders_are_named() -> None:
    w = np.zeros((4, 4), np.float32)

    def refused(f, text: str, kind: str = "loader", inputs=w, **more) -> None:
        with pytest.raises(tw.LearnError, match=text) as raised:
            tw.learn(f, inputs, **more)
        assert raised.value.kind == kind

    def changes(x):
        x[0, 0] = 7
        return x.copy()

    def value(x):
        assert x[0, 0] == 0, "a weight of another model"
        return x.copy()

    random = np.random.default_rng(0)
    refused(lambda x: 1 / 0, "raised ZeroDivisionError in load 0")
    refused(value, "raised AssertionError in load 0: a weight of another model")
    refused(lambda x: x.T, "result is a view of the input")
    refused(lambda x: x, "result is a view of the input")
    refused(changes, "changes its input")
    refused(lambda x: random.random((4, 4)).astype(np.float32), "two runs on equal inputs differ", "random")
    refused(lambda x: [1, 2], "result0 of the results is of int")
    refused(lambda x: (x.copy(), None), "result1 of the results is of NoneType")
    refused(lambda x: x.reshape(-1)[: 1 + int(x.sum()) % 7].copy(), "other names, shapes")
    refused(lambda x: x[:3].copy(), r"4 of 16 elements are held by no result, the first at \[3, 0\]", "unexplained")
    refused(lambda x: {}, "there are no inputs", inputs={})
    assert tw.learn(lambda x: x[:3].copy(), w, drop=["input"]).problems == ()
    partial = tw.learn(lambda x: x[:3] * 1, w, partial=True)
    assert len(partial.problems) == 1 and len(partial.terms["result"]) == 1


def test_loaders_of_a_device_are_named() -> None:
    torch = pytest.importorskip("torch")
    inputs = torch.zeros(4)
    if not torch.cuda.is_available():
        with pytest.raises(tw.LearnError, match="the loader raised .* in load 0"):
            tw.learn(lambda w: w.cuda(), inputs)
    # A device that every build of torch has.
    with pytest.raises(tw.LearnError, match="a tensor on meta; the loader must work on the CPU"):
        tw.learn(lambda w: w.to("meta"), inputs)


def test_copies_that_differ_and_lost_inputs() -> None:
    learned = tw.learn(lambda t: {"a": np.concatenate([t["x"], t["x"]]), "b": t["y"].copy()}, {"x": np.zeros(3, np.int16), "y": np.zeros(2, np.int16)})
    with pytest.raises(tw.MismatchError, match=r"two places hold element \[1\] of x and differ"):
        learned.invert({"a": np.array([1, 2, 3, 1, 9, 3], np.int16), "b": np.zeros(2, np.int16)})
    with pytest.raises(tw.LearnError, match="these inputs are lost: y"):
        learned.invert({"a": np.zeros(6, np.int16)})
    with pytest.raises(tw.MismatchError, match="the inputs lack y"):
        learned.apply({"x": np.zeros(3, np.int16)})


def test_torch() -> None:
    torch = pytest.importorskip("torch")
    learned = tw.learn(lambda t: {"w": torch.cat([t["a"], t["b"]]).t().contiguous()}, {"a": torch.zeros(3, 4, dtype=torch.bfloat16), "b": torch.zeros(2, 4, dtype=torch.bfloat16)})
    fresh = {"a": torch.randn(3, 4).bfloat16(), "b": torch.randn(2, 4).bfloat16()}
    assert torch.equal(learned.apply(fresh)["w"], torch.cat([fresh["a"], fresh["b"]]).t())
    assert torch.equal(learned.invert(learned.apply(fresh))["b"], fresh["b"])


def test_recipes_are_those_of_convert() -> None:
    def fuse(t: dict) -> dict:
        return {"w13": np.concatenate([t["gate"], t["up"]]), "norm": t["norm"].copy()}

    learned = tw.learn(fuse, WEIGHTS)
    assert 'to = "w13 : (c0_0 + c1_0) b0_0"' in learned.recipe
    assert "w13" in learned.inverse_recipe
    with pytest.raises(tw.NoLayoutError, match="its plan does"):
        _ = tw.learn(load, WEIGHTS).recipe


def test_live_memory_is_compared_and_updated() -> None:
    learned = tw.learn(load, WEIGHTS)
    rng = np.random.default_rng(8)
    weights = {name: rng.standard_normal(like.shape).astype(like.dtype) for name, like in WEIGHTS.items()}
    memory = load(weights)
    assert learned.compare(weights, memory) is None
    changed = rng.permutation(48 * 32)[:50]
    weights["up"].reshape(-1)[changed] = 3
    said = learned.compare(weights, memory)
    assert said is not None and said.startswith("w13: 50 elements differ")
    assert learned.scatter(memory, "up", changed, np.full(50, 3, np.float16)) == 50
    assert learned.compare(weights, memory) is None
    assert all((memory[name] == array).all() for name, array in load(weights).items())
    with pytest.raises(tw.OutOfRangeError):
        learned.scatter(memory, "up", np.array([48 * 32]), np.zeros(1, np.float16))
    with pytest.raises(tw.DtypeError):
        learned.scatter(memory, "up", np.array([0]), np.zeros(1, np.float32))
    with pytest.raises(tw.MismatchError):
        learned.scatter(memory, "up", np.array([0, 1]), np.zeros(1, np.float16))
    with pytest.raises(tw.ArgumentError):
        learned.scatter(memory, "down", np.array([0]), np.zeros(1, np.float16))


def planned(folder: str, form: str = "json") -> tuple[str, str, dict]:
    """A plan of the loader in a file, a checkpoint, and what the loader makes of it."""
    learned = tw.learn(load, WEIGHTS)
    rng = np.random.default_rng(7)
    weights = {name: rng.standard_normal(like.shape).astype(like.dtype) for name, like in WEIGHTS.items()}
    tw.save(weights, f"{folder}/model.safetensors")
    with open(f"{folder}/plan.{form}", "w") as file:
        file.write(learned.plan(form))
    return f"{folder}/plan.{form}", f"{folder}/model.safetensors", load(weights)


def test_memory_is_checked_against_a_file(tmp_path: object) -> None:
    plan, model, memory = planned(str(tmp_path))
    assert tw.check(plan, model, memory) is None
    assert tw.check(tw.learn(load, WEIGHTS), model, [memory]) is None
    memory["w13"].reshape(-1)[100] += 1
    found = tw.check(plan, model, memory)
    assert isinstance(found, tw.Unlike) and (found.tensor, found.result, found.differing) == ("up", "w13", 1)
    assert str(found).startswith("up differs in w13 of rank 0: 1 elements, the first is [2, 0]")
    with pytest.raises(tw.MismatchError, match="lacks norm"):
        tw.check(plan, model, {"w13": memory["w13"]})
    with pytest.raises(tw.MismatchError, match="bytes"):
        tw.check(plan, model, {**memory, "norm": np.zeros(3, np.float32)})
    with pytest.raises(tw.ArgumentError, match="memory has 2 ranks, and the plan has 1"):
        tw.check(plan, model, [memory, memory])


@pytest.mark.parametrize("form", ["json", "toml"])
def test_plans_of_files_scatter(tmp_path: object, form: str) -> None:
    path, model, memory = planned(str(tmp_path), form)
    plan = tw.LoaderPlan(path)
    assert plan.ranks == 1 and plan.held["up"] == (1, 1, 0) and plan.sources[0][0] == "gate"
    assert plan.scatter(memory, "up", np.array([5, 40]), np.array([1, 2], np.float16)) == 2
    found = plan.check(model, memory)
    assert found is not None and (found.tensor, found.coordinate, found.differing) == ("up", (0, 5), 2)
    with pytest.raises(tw.ArgumentError, match="no tensor down"):
        plan.scatter(memory, "down", np.array([5]), np.array([1], np.float16))
    with pytest.raises(tw.DtypeError, match="32 bits"):
        plan.scatter(memory, "up", np.array([5]), np.array([1], np.float32))


def test_scatter_changes_all_memory_or_none(tmp_path: object) -> None:
    path, model, memory = planned(str(tmp_path))
    text = json.loads(open(path, encoding="utf-8").read())
    for rank in (1, 0):
        for result in list(text["result"]):
            if "/" not in result["name"]:
                text["result"].append({**result, "name": f"rank{rank}/{result['name']}"})
    text["result"] = [result for result in text["result"] if "/" in result["name"]]
    with open(path, "w", encoding="utf-8") as file:
        json.dump(text, file)
    plan = tw.LoaderPlan(path)
    assert plan.ranks == 2
    memories = [{name: array.copy() for name, array in memory.items()} for _ in range(2)]
    changed, values = np.array([5, 40]), np.array([1, 2], np.float16)
    for wrong in (memory["w13"].reshape(-1)[:-1].copy(), memory["w13"].astype(np.float32), memory["w13"].T):
        with pytest.raises((tw.MismatchError, tw.CopyError)):
            plan.scatter([{**memories[0], "w13": wrong}, memories[1]], "up", changed, values)
        with pytest.raises((tw.MismatchError, tw.CopyError)):
            plan.scatter([memories[0], {**memories[1], "w13": wrong}], "up", changed, values)
    assert plan.check(model, memories) is None
    # A rank that does not exist holds nothing.
    for rank in (2, 7, -1):
        with pytest.raises(tw.ArgumentError, match="the plan has 2 ranks, from 0"):
            plan.check(model, memories[0], rank=rank)
        with pytest.raises(tw.ArgumentError, match="the plan has 2 ranks, from 0"):
            plan.scatter(memories[0], "up", changed, values, rank=rank)
    assert plan.scatter(memories, "up", changed, values) == 4


def test_chance_is_not_a_move_in_partial_plans() -> None:
    # Averages have digits in every load; by chance one in 128 has the right check digit as well.
    def half(w: np.ndarray) -> np.ndarray:
        out = w.copy()
        out[::2] = (w[::2] + np.roll(w[::2], 1, axis=0)) / 2
        return out

    learned = tw.learn(half, np.zeros((64, 64), np.float32), partial=True)
    assert learned.problems
    learned.check(2, seed=9)


def test_loaders_that_decide_by_values_are_refused_in_partial_plans() -> None:
    # Coded values are from 1 to 2, so clamping changes random values alone: other ones each time.
    weights = np.zeros((64, 64), np.float32)
    with pytest.raises(tw.LearnError, match="4096 of 4096 elements are not explained|decides by"):
        tw.learn(lambda w: np.clip(w, -10, 10), weights)
    with np.errstate(invalid="ignore"):
        learned = tw.learn(lambda w: np.clip(w, -10, 10), weights, partial=True)
    # No element passes as a move because one run did not contradict it.
    assert learned.maps["result"].held["input"][1] == 0, learned
    assert "4096 of 4096 elements are not explained" in learned.problems[0]


def test_scatter_writes_arrays_that_share_memory_once_for_each_name(tmp_path: object) -> None:
    learned = tw.learn(lambda w: {"a": w.copy(), "b": w.copy()}, np.zeros(8, np.float32))
    shared = np.arange(8, dtype=np.float32)
    assert learned.scatter({"a": shared, "b": shared}, "input", np.array([5]), np.array([9], np.float32)) == 2
    assert shared.tolist() == [0, 1, 2, 3, 4, 9, 6, 7]
    frozen = shared.copy()
    frozen.flags.writeable = False
    with pytest.raises(tw.Error, match="read-only"):
        learned.scatter({"a": shared, "b": frozen}, "input", np.array([5]), np.array([1], np.float32))
    assert shared[5] == 9


def test_patterns_without_a_match_are_refused() -> None:
    with pytest.raises(tw.Error, match="drop=: no tensor matches"):
        tw.learn(lambda w: w.copy(), np.zeros(3, np.float32), drop=["lm_head.*"])
