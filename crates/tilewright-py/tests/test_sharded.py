"""Arrays in shards: who holds what, from texts and from the objects of torch and JAX."""

import pickle
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

import tilewright as tw

#: The meshes and rules of the law: every pair is a sharding of 6 × 7.
MESHES = ["mesh(2,3)", "mesh(a=3,b=2)", "mesh(4,1; 3,1,0,2)"]
PLACEMENTS = ["Replicate()", "Shard(0)", "Shard(1)", "_StridedShard(0, sf=2)"]


def all_of_them() -> Iterator[tw.Sharded]:
    for mesh, first, second in product(MESHES, PLACEMENTS, PLACEMENTS):
        yield tw.Sharded(f"f32[6,7] @ {mesh} [{first}, {second}]")


def test_the_shards_of_an_array_are_its_elements() -> None:
    """Every element is held, as often as the axes that cut nothing have positions."""
    for array in all_of_them():
        held = np.zeros(array.shape, int)
        for shard in array.shards():
            local = np.full(shard.shape, -1)
            for there, here in shard.boxes():
                held[there] += 1
                local[here] = 1
            assert (local == 1).all()
        copies = np.prod([array.mesh[axis] for axis in array.replicated], dtype=int)
        assert (held == copies).all(), array


def test_intervals_and_boxes_say_the_same() -> None:
    whole = np.arange(42).reshape(6, 7)
    for array in all_of_them():
        for shard in array.shards():
            rows, columns = ([at for start, n in dim for at in range(start, start + n)] for dim in shard.intervals)
            local = np.empty(shard.shape, int)
            for there, here in shard.boxes():
                local[here] = whole[there]
            assert (local == whole[np.ix_(rows, columns)]).all()


def test_a_value_is_its_text() -> None:
    for array in all_of_them():
        for again in (pickle.loads(pickle.dumps(array)), eval(repr(array), {"Sharded": tw.Sharded})):
            assert (again, hash(again), again.spec) == (array, hash(array), array.spec)
        assert array.devices is not None
        for device in array.devices:
            shard = array.of(device)
            assert pickle.loads(pickle.dumps(shard)) == shard == array.at(shard.position)
            assert shard.device == device and str(shard).startswith(f"{device} (")
            assert hash(shard) == hash(array.at(shard.position))


def test_two_are_equal_where_devices_hold_the_same() -> None:
    text = tw.Sharded("f32[8,6] @ mesh(dp=2,tp=2) P('dp','tp')")
    for notation in ["torch", "jax", "hlo", "shardy"]:
        said = text.to(notation)
        assert said == text and hash(said) == hash(text) and said.difference(text) is None
    other = tw.Sharded("f32[8,6] @ mesh(dp=2,tp=2) P('tp','dp')")
    assert other != text and text.difference(other) == "device 1 holds [0,4) of dim 0 in one and [4,8) in the other"
    # Element types, layouts of shards, and what is no sharding, tell them apart.
    assert tw.Sharded("bf16[8,6] @ mesh(dp=2,tp=2) P('dp','tp')") != text
    assert tw.Sharded(f"{text.spec} / zN") != text
    assert text != text.spec and text.shards()[0] != 0


def test_the_array_is_said_once() -> None:
    said = tw.sharded("[Shard(0)]", (9, 4), np.float32, mesh={"dp": 4})
    assert said.spec == "f32[9,4] @ mesh(dp=4) [Shard(0)]" and said.mesh == {"dp": 4}
    assert tw.sharded(said.spec) == tw.sharded(said) == tw.sharded(said.spec, (9, 4), "f32") == said
    assert tw.sharded("[Shard(0)]", (9, 4), mesh="4").dtype is None
    assert tw.sharded("mesh(2,2) [R, S(0)]", [4]) == tw.sharded("[R, S(0)]", [4], mesh=(2, 2))
    with pytest.raises(tw.MismatchError, match=r"the text describes f32\[9,4\], the arguments describe \(9, 5\)"):
        tw.sharded(said.spec, (9, 5))
    with pytest.raises(tw.NeedsDimsError, match="dims="):
        tw.sharded("mesh(4) [Shard(0)]", dtype="f32")
    for wrong in (3, [], [object()]):
        with pytest.raises(TypeError, match="sharding= takes a text"):
            tw.sharded(wrong, (4,))
    with pytest.raises(TypeError, match="mesh= takes"):
        tw.sharded("[Shard(0)]", (4,), mesh=3)


def test_what_is_refused() -> None:
    with pytest.raises(tw.ParseError, match="no placement is called `Shart`; did you mean `Shard`") as refused:
        tw.Sharded("f32[8] @ mesh(2) [Shart(0)]")
    assert refused.value.span == (18, 23)
    assert str(refused.value).splitlines()[1:] == ["  f32[8] @ mesh(2) [Shart(0)]", " " * 20 + "^^^^^"]
    with pytest.raises(tw.UnsupportedError, match="each device holds a summand"):
        tw.Sharded("f32[8] @ mesh(2) [Partial(sum)]")
    with pytest.raises(tw.OutOfRangeError, match=r"mesh\(2\) lacks the device 2"):
        tw.Sharded("f32[8] @ mesh(2) [Shard(0)]").of(2)
    with pytest.raises(tw.NoLayoutError, match="position 3"):
        tw.Sharded("f32[9] @ mesh(4) [Shard(0)]").as_layout()
    with pytest.raises(tw.UnsupportedError, match="no notation of shardings is called `cute`"):
        tw.Sharded("f32[8] @ mesh(2) [Shard(0)]").to("cute")


def test_one_layout_and_the_layout_of_each() -> None:
    array = tw.Sharded("f16[100,64] @ mesh(tp=2) row / zN")
    layout = array.of(1).layout
    assert layout is not None and layout.spec == "f16[100,32] zN"
    plain = tw.Sharded("f16[8,6] @ mesh(2,2) [Shard(0), Shard(1)]")
    one = plain.as_layout()
    # Device after device, each row-major.
    for shard in plain.shards():
        (rows, columns), local = shard.boxes()[0][0], 0
        for row, column in product(range(rows.start, rows.stop), range(columns.start, columns.stop)):
            assert one.offset(row, column) == shard.position * 12 + local
            local += 1
    assert plain.of(0).layout is None and plain.translate("cute") == one.translate("cute")


def test_it_shows_itself() -> None:
    array = tw.Sharded("f32[1000] @ mesh(a=100) P('a')")
    shown = array._repr_html_()
    assert "0 (a=0)  [0,10)" in shown and "… and 36 more devices" in shown
    assert "cut: 10" in array.explain()


torch = pytest.importorskip("torch") if __import__("importlib").util.find_spec("torch") else None


@pytest.fixture
def ranks() -> Iterator[Any]:
    """What this process is as one rank of several, without the others."""
    if torch is None:
        pytest.skip("torch is not installed")
    dist = pytest.importorskip("torch.distributed")
    fake = pytest.importorskip("torch.testing._internal.distributed.fake_pg")

    def start(rank: int, shape: tuple[int, ...], names: tuple[str, ...] | None) -> Any:
        if dist.is_initialized():
            dist.destroy_process_group()
        world = int(np.prod(shape))
        dist.init_process_group("fake", rank=rank, world_size=world, store=fake.FakeStore())
        return dist.device_mesh.init_device_mesh("cpu", shape, mesh_dim_names=names)

    yield start
    if dist.is_initialized():
        dist.destroy_process_group()


@pytest.mark.parametrize("shape", [(13, 4), (3, 5), (16, 8)])
def test_tensors_of_torch(ranks: Any, shape: tuple[int, ...]) -> None:
    """The shard of this rank has the extents of its local tensor."""
    tensor = pytest.importorskip("torch.distributed.tensor")
    kinds = [tensor.Shard(0), tensor.Shard(1), tensor.Replicate()]
    assert torch is not None
    for rank in range(6):
        mesh = ranks(rank, (2, 3), ("dp", "tp"))
        for placements in product(kinds, kinds):
            held = tensor.distribute_tensor(torch.zeros(shape), mesh, list(placements), src_data_rank=None)
            array = tw.sharded(held)
            assert array.of(rank).shape == tuple(held.to_local().shape)
            assert (array.dtype, array.shape, array.mesh) == ("f32", shape, {"dp": 2, "tp": 3})
            assert array == tw.sharded(held.placements, shape, torch.float32, mesh=mesh)


def test_rows_that_fully_shard_cut(ranks: Any) -> None:
    """Uneven rows: the local tensor says which of two readings of the same placements is held."""
    tensor = pytest.importorskip("torch.distributed.tensor")
    kinds = pytest.importorskip("torch.distributed.tensor.placement_types")
    assert torch is not None
    strided = [kinds._StridedShard(0, split_factor=2), tensor.Shard(0)]
    readings = {
        "said": tw.sharded("mesh(4,2) [_StridedShard(0, sf=2), Shard(0)]", (17,), "f32"),
        "held": tw.sharded("mesh(4,2) [Shard(0), Shard(0)] order(1,0)", (17,), "f32"),
    }
    seen = set()
    for rank in range(8):
        mesh = ranks(rank, (4, 2), None)
        for name, reading in readings.items():
            local = torch.zeros(reading.of(rank).shape)
            held = tensor.DTensor.from_local(local, mesh, strided, run_check=False, shape=torch.Size([17]), stride=(1,))
            if len({one.of(rank).shape for one in readings.values()}) == 1:
                with pytest.raises(tw.AmbiguousError, match="fully_shard"):
                    tw.sharded(held)
            else:
                assert tw.sharded(held) == reading
                seen.add(name)
        held = tensor.DTensor.from_local(torch.zeros(9), mesh, strided, run_check=False, shape=torch.Size([17]), stride=(1,))
        with pytest.raises(tw.MismatchError, match=f"rank {rank} holds"):
            tw.sharded(held)
    assert seen == {"said", "held"}


def test_shardings_of_jax() -> None:
    sharding = pytest.importorskip("jax.sharding")
    spec = sharding.PartitionSpec
    mesh = sharding.AbstractMesh((2, 4), ("x", "y"))
    array = tw.sharded(spec(("y", "x"), None), (16, 3), "bf16", mesh=mesh)
    assert array == tw.Sharded("bf16[16,3] @ mesh(x=2,y=4) P(('y','x'))")
    assert tw.sharded(sharding.NamedSharding(mesh, spec("x")), (16, 3), "bf16").of(7).intervals[0] == ((8, 8),)
    with pytest.raises(tw.UnsupportedError, match="summand"):
        tw.sharded(spec("x", unreduced={"y"}), (16,), mesh=mesh)
    with pytest.raises(tw.MismatchError, match="not divisible"):
        tw.sharded(spec("x"), (15,), mesh=mesh)
