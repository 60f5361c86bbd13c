"""Who holds what, asked of torch on eight processes and of JAX on eight devices, beside `tilewright shards`.

    python tests/oracle/shards.py torch TILEWRIGHT
    python tests/oracle/shards.py jax TILEWRIGHT

The element at a place of an array is its row-major number, so what a device holds says which indices these are.
"""
import json
import os
import random
import subprocess
import sys
import tempfile
from collections import OrderedDict
from itertools import product

import numpy as np

RANKS = 8
SHAPES = [(16, 24), (13, 7), (3, 5), (9,), (6, 10, 7), (1, 8), (2, 3, 4, 5)]


def main(library, program):
    if library == "torch":
        cases = of_torch()
    else:
        os.environ["XLA_FLAGS"] = f"--xla_force_host_platform_device_count={RANKS}"
        os.environ["JAX_PLATFORMS"] = "cpu"
        cases = of_jax()
    asked = "".join(f"{text}\n" for text, _, _ in cases)
    said = subprocess.run([program, "shards", "-"], input=asked, capture_output=True, text=True, check=False)
    answers = [json.loads(line) for line in said.stdout.splitlines()]
    assert len(answers) == len(cases) > 100, said.stderr
    for (text, shape, held), answer in zip(cases, answers, strict=True):
        assert "error" not in answer, f"{text}: {answer}"
        numbers = np.arange(int(np.prod(shape))).reshape(shape)
        ours = {}
        for device in answer["devices"]:
            lists = [[at for start, n in dim for at in range(start, start + n)] for dim in device["dims"]]
            ours[device["device"]] = numbers[np.ix_(*lists)].ravel().tolist()
        assert set(ours) == set(held), f"{text}: devices {sorted(held)}"
        for device, local in held.items():
            assert ours[device] == local, f"{text}: device {device} holds {local}, we say {ours[device]}"
    print(f"    {library}: {len(cases)} shardings, {sum(len(held) for _, _, held in cases)} shards")


def array(shape):
    return f"s64[{','.join(map(str, shape))}]"


def of_torch():
    """Texts, shapes, and by rank the numbers that its local tensor holds."""
    from torch import multiprocessing

    with tempfile.TemporaryDirectory() as folder:
        multiprocessing.spawn(rank_of_torch, args=(folder,), nprocs=RANKS)
        held = [json.load(open(f"{folder}/{rank}.json")) for rank in range(RANKS)]
    cases = []
    for lines in zip(*held, strict=True):
        ranks = {rank: local for rank, (_, _, local) in enumerate(lines) if local is not None}
        cases.append((*lines[0][:2], ranks))
    return cases


def placements(rank):
    """Every placement of an array of this rank, those of strided shards with two factors."""
    from torch.distributed.tensor import Replicate, Shard
    from torch.distributed.tensor.placement_types import _StridedShard

    dims = range(rank)
    return [Replicate(), *map(Shard, dims), *(_StridedShard(dim, split_factor=n) for dim in dims for n in (2, 3))]


def rank_of_torch(rank, folder):
    import torch
    import torch.distributed as dist
    from torch.distributed.device_mesh import DeviceMesh
    from torch.distributed.tensor import distribute_tensor

    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    ranks = torch.arange(RANKS)
    meshes = [ranks, ranks.reshape(2, 4), ranks.reshape(4, 2), ranks.reshape(2, 4).T.contiguous(), ranks.reshape(2, 2, 2)]
    meshes += [torch.tensor([5, 1, 7]), torch.tensor([[6, 0], [3, 2], [7, 1]])]
    meshes = [DeviceMesh("cpu", mesh) for mesh in meshes]
    draw, cases = random.Random(7), []
    for mesh, shape in product(meshes, SHAPES):
        every = list(product(placements(len(shape)), repeat=mesh.ndim))
        for chosen in draw.sample(every, min(len(every), 12)):
            cases.append(held_by_torch(mesh, shape, chosen, torch, distribute_tensor))
    cases += fully_sharded(ranks, torch, DeviceMesh)
    with open(f"{folder}/{rank}.json", "w") as file:
        json.dump(cases, file)
    dist.barrier()
    dist.destroy_process_group()


def text_of(mesh, shape, rule):
    sizes = ",".join(map(str, mesh.mesh.shape))
    order = ",".join(map(str, mesh.mesh.flatten().tolist()))
    return f"{array(shape)} @ mesh({sizes}; {order}) {rule}"


def held_by_torch(mesh, shape, chosen, torch, distribute_tensor):
    """torch's cut is that of the placements: from left to right, each what the ones before left."""
    numbers = torch.arange(int(np.prod(shape))).reshape(shape)
    local = None
    if mesh.get_coordinate() is not None:
        local = distribute_tensor(numbers, mesh, list(chosen), src_data_rank=None).to_local().flatten().tolist()
    rule = f"[{', '.join(map(repr, chosen))}]"
    return text_of(mesh, shape, rule), list(shape), local


def fully_sharded(ranks, torch, mesh_of):
    """Parameters that tensor parallelism cut and then `fully_shard`, of rows that neither divides."""
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    cases = []
    for shape, rows, columns in product([(2, 4), (4, 2)], (8, 17, 52), (3, 24)):
        mesh = mesh_of("cpu", ranks.reshape(shape), mesh_dim_names=("dp", "tp"))
        layers = {name: torch.nn.Linear(columns, rows, bias=False) for name in ("up", "down")}
        model = torch.nn.Sequential(OrderedDict(layers))
        numbers = torch.arange(rows * columns).reshape(rows, columns)
        with torch.no_grad():
            for layer in model:
                layer.weight.copy_(numbers)
        parallelize_module(model, mesh["tp"], {"up": ColwiseParallel(), "down": RowwiseParallel()})
        fully_shard(model, mesh=mesh["dp"])
        for name, dim in (("up", 0), ("down", 1)):
            local = getattr(model, name).weight.to_local().flatten().long().tolist()
            rule = f"[Shard(0), Shard({dim})] order(1,0)"
            cases.append((text_of(mesh, (rows, columns), rule), [rows, columns], local))
    return cases


def of_jax():
    """Texts, shapes, and by device the numbers of the indices that JAX gives it."""
    import jax
    from jax.sharding import Mesh, NamedSharding, PartitionSpec

    devices, cases = np.array(jax.devices()), []
    shuffled = devices[[3, 0, 6, 5, 1, 7, 2, 4]]
    grids = [devices.reshape(2, 4), devices.reshape(2, 4).T, shuffled.reshape(4, 2)]
    meshes = [Mesh(grid, ("x", "y")) for grid in grids] + [Mesh(shuffled.reshape(2, 2, 2), ("x", "y", "z"))]
    for mesh, shape in product(meshes, [(16, 24), (8,), (16, 8, 24), (64, 3)]):
        entries = [None, "x", "y", ("x", "y"), ("y", "x"), PartitionSpec.UNCONSTRAINED]
        entries += ["z", ("z", "x"), ("z", "y", "x")] if "z" in mesh.axis_names else []
        for chosen in product(entries, repeat=len(shape)):
            axes = [entry if isinstance(entry, tuple) else (entry,) for entry in chosen]
            names = [name for entry in axes for name in entry if isinstance(name, str)]
            if len(names) != len(set(names)):
                continue
            sharding = NamedSharding(mesh, PartitionSpec(*chosen))
            try:
                places = sharding.devices_indices_map(shape)
            except ValueError:
                continue  # A dim that its axes do not divide, which JAX refuses.
            numbers = np.arange(int(np.prod(shape))).reshape(shape)
            held = {device.id: numbers[index].ravel().tolist() for device, index in places.items()}
            order = [device.id for device in mesh.devices.flat]
            axes = ",".join(f"{name}={size}" for name, size in mesh.shape.items())
            text = f"{array(shape)} @ mesh({axes}; {','.join(map(str, order))}) {sharding.spec!r}"
            cases.append((text, shape, held))
            hlo = sharding._to_xla_hlo_sharding(len(shape))
            if "replicated}" not in str(hlo):
                # Its devices are places of the mesh.
                places = {order.index(device): local for device, local in held.items()}
                cases.append((f"{array(shape)} @ {hlo}", shape, places))
    return cases


if __name__ == "__main__":
    main(*sys.argv[1:])
