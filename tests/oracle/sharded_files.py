"""Checkpoints in shards that torch wrote and torch reads, rewritten by `tilewright reshard` in between.

    python tests/oracle/sharded_files.py check TILEWRIGHT

The corpus' checkpoint is cut over several meshes, and torch loads every tensor whole. Eight processes of torch save a model
under tensor parallelism over four and FSDP2 over two; it goes to two shards, to whole tensors, to eight shards, and torch loads
it again, whole and as tensors of its own mesh. What is compared with is the model before it was cut. Extents are even, uneven,
and smaller than the mesh. Megatron's rules, computed here by slices, go from four ranks to eight and to whole tensors.
"""
import logging
import os
import pathlib
import subprocess
import sys
import tempfile
import warnings

import numpy as np
import torch
import torch.distributed as dist
import torch.distributed.checkpoint as dcp
from safetensors.numpy import load_file as load_arrays
from safetensors.numpy import save_file as save_arrays
from safetensors.torch import load_file, save_file
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader, HuggingFaceStorageWriter

warnings.filterwarnings("ignore")
DATA = pathlib.Path(__file__).resolve().parents[2] / "corpus/data/sharded"
CUTS = [
    ("tp=2", []),
    ("dp=2,tp=2", ["*S0*=[Shard(0), Shard(0)]", "*.RS1=[Replicate(), Shard(1)]"]),
    ("tp=8", ["*S?S?=[Shard(1)]", "*.S0R=[Shard(0)]"]),
    # Two boxes a shard: the second goes to a file of its own.
    ("tp=3", ["*S0*=[_StridedShard(0, sf=2)]"]),
]


def main(program, folder):
    corpus(program, folder / "corpus")
    torch.multiprocessing.spawn(rank, args=(program, folder), nprocs=RANKS)
    megatron(program, folder / "megatron")


def reshard(program, source, out, *options):
    subprocess.run([program, "reshard", source, out, *options, "-q"], check=True, stdout=subprocess.DEVNULL)


def options(name, mesh, rules):
    prefix = "--from-" if name == "from" else "--"
    return [f"{prefix}mesh", mesh, *(word for rule in rules for word in (f"{prefix}rule", rule))]


def same(one, other):
    """Whether two tensors are the same bits."""
    bits = [tensor.contiguous().reshape(-1).view(torch.uint8) for tensor in (one, other)]
    return one.shape == other.shape and one.dtype == other.dtype and torch.equal(*bits)


def loads(out, whole):
    """torch loads every tensor of a result, whole."""
    held = {name: torch.full_like(tensor, 1) for name, tensor in whole.items()}
    dcp.load(held, storage_reader=HuggingFaceStorageReader(str(out)), no_dist=True)
    for name, tensor in whole.items():
        assert same(held[name], tensor), f"{out.name}: {name} is another"


def corpus(program, folder):
    whole = load_file(DATA / "dcp_hf/full.safetensors")
    for number, (mesh, rules) in enumerate(CUTS):
        out = folder.parent / f"{folder.name}{number}"
        reshard(program, DATA / "dcp_hf/ckpt", out, "--as", "dcp", *options("to", mesh, rules))
        loads(out, whole)
        print(f"    {mesh}: {len(whole)} tensors, {len(list(out.iterdir()))} files")


#: The processes of torch: a mesh of 2 for FSDP2 and 4 for tensor parallelism.
MESH = (2, 4)
RANKS = MESH[0] * MESH[1]
#: The columns and rows of linear layers, each of which is cut by columns and by rows.
LAYERS = [(24, 64), (7, 52), (10, 17), (3, 5)]


def rank(number, program, folder):
    from torch.distributed.device_mesh import init_device_mesh

    torch.set_num_threads(1)
    logging.getLogger("torch.distributed.tensor").setLevel(logging.ERROR)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=number, world_size=RANKS)
    mesh = init_device_mesh("cpu", MESH, mesh_dim_names=("dp", "tp"))
    saved, whole = model(mesh)
    writer = HuggingFaceStorageWriter(str(folder / "saved"), save_distributed=True)
    dcp.save(saved, storage_writer=writer, checkpoint_id=str(folder / "saved"))
    if number == 0:
        there_and_back(program, folder, whole)
    dist.barrier()
    loads_in_shards(folder / "tp8", mesh, whole)
    dist.destroy_process_group()


def model(mesh):
    """A state dict of DTensors, and the same whole: of linear layers as FSDP2 cut them, and of any placements."""
    from torch.distributed.tensor import Replicate, Shard, distribute_tensor

    saved, whole = layers(mesh)
    placements = {"rows": [Shard(0), Shard(0)], "both": [Shard(0), Shard(1)], "last": [Replicate(), Shard(-1)]}
    for dtype, shape in [(torch.float32, (37, 29)), (torch.float16, (3, 5)), (torch.int64, (6, 10, 7))]:
        for name, chosen in placements.items():
            numbers = torch.arange(torch.Size(shape).numel()).reshape(shape).to(dtype)
            named = f"{name}.{'x'.join(map(str, shape))}"
            whole[named] = numbers
            saved[named] = distribute_tensor(numbers, mesh, chosen, src_data_rank=None)
    saved["step"] = whole["step"] = torch.tensor(7.5)
    return saved, whole


def layers(mesh):
    """Linear layers by columns and by rows under tensor parallelism, then under FSDP2."""
    from torch.distributed.fsdp import fully_shard
    from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

    torch.manual_seed(0)
    pairs = [torch.nn.Linear(*size) for columns, rows in LAYERS for size in ((columns, rows), (rows, columns))]
    net = torch.nn.Sequential(*pairs).to(torch.bfloat16)
    whole = {f"net.{name}": tensor.detach().clone() for name, tensor in net.state_dict().items()}
    ways = {str(n): (ColwiseParallel(), RowwiseParallel())[n % 2] for n in range(len(pairs))}
    parallelize_module(net, mesh["tp"], ways)
    fully_shard(net, mesh=mesh["dp"])
    return {f"net.{name}": tensor for name, tensor in net.state_dict().items()}, whole


def there_and_back(program, folder, whole):
    """To two shards, to whole tensors, to eight shards: each step by other rules, and nothing changed."""
    sources = sorted((folder / "saved").glob("*.safetensors"))
    assert len(sources) == RANKS
    columns = ["net.*.weight=[Shard(1)]", "step=[Replicate()]", "*=[Shard(0)]"]
    reshard(program, folder / "saved", folder / "tp2", *options("to", "tp=2", columns))
    reshard(program, folder / "tp2", folder / "full", *options("from", "tp=2", columns))
    full = load_file(folder / "full/model.safetensors")
    assert set(full) == set(whole) and all(same(full[name], whole[name]) for name in whole)
    rows = ["step=[Replicate()]", "*=[Shard(0)]"]
    reshard(program, folder / "full", folder / "tp8", "--as", "dcp", *options("to", "tp=8", rows))
    loads(folder / "tp8", whole)
    size = sum(tensor.numel() * tensor.element_size() for tensor in whole.values())
    print(f"    FSDP2 over TP{MESH[1]}, {RANKS} files, to TP2, whole, TP8: {len(whole)} tensors of {size} bytes")


def loads_in_shards(out, mesh, whole):
    """torch loads a result as tensors of its own placements, which together are the whole."""
    from torch.distributed.tensor import DTensor, Replicate, Shard, distribute_tensor

    if not whole:
        return
    held = {}
    for number, (name, tensor) in enumerate(whole.items()):
        empty = torch.zeros_like(tensor)
        chosen = [[Shard(0), Replicate()], [Replicate(), Shard(0)], [Shard(0), Shard(0)]][number % 3]
        held[name] = distribute_tensor(empty, mesh, chosen, src_data_rank=None) if tensor.dim() else empty
    dcp.load(held, storage_reader=HuggingFaceStorageReader(str(out)))
    for name, tensor in held.items():
        full = tensor.full_tensor() if isinstance(tensor, DTensor) else tensor
        assert same(full, whole[name]), f"{name} in shards is another"
    if dist.get_rank() == 0:
        print(f"    loaded by {RANKS} processes: {len(held)} tensors")


#: Query heads, groups of keys and values, rows of a head, rows of gate and of up, the vocabulary.
HEADS, GROUPS, ROWS, HALF, WORDS, PAD = 16, 8, 4, 96, 503, 16


def megatron_rank(full, number, ranks):
    """What a rank of several holds, by slices: the fused heads of ``qkv`` as Megatron has them, group by group, those of
    ``qkv_vllm`` as vLLM has them, all queries, all keys, all values."""
    part = lambda array, axis: np.split(array, ranks, axis)[number]  # noqa: E731
    padded = -(-WORDS // (PAD * ranks)) * PAD * ranks
    words = np.zeros((padded, full["embed"].shape[1]), np.float16)
    words[:WORDS] = full["embed"]
    heads = lambda name: np.split(full[name], [HEADS * ROWS, (HEADS + GROUPS) * ROWS])  # noqa: E731
    by_group = [part.reshape(GROUPS, -1, part.shape[1]) for part in heads("qkv")]
    grouped = np.concatenate(by_group, axis=1).reshape(full["qkv"].shape)
    return {
        "embed": part(words, 0),
        "qkv": part(grouped, 0),
        "qkv_vllm": np.concatenate([part(array, 0) for array in heads("qkv_vllm")]),
        "gate_up": np.concatenate([part(full["gate_up"][:HALF], 0), part(full["gate_up"][HALF:], 0)]),
        "down": np.ascontiguousarray(part(full["down"], 1)),
        "norm": full["norm"],
    }


def megatron(program, folder):
    """Four ranks to eight, and to whole tensors."""
    draw = np.random.default_rng(0)
    fused = ((HEADS + 2 * GROUPS) * ROWS, 24)
    shapes = {"embed": (WORDS, 24), "qkv": fused, "qkv_vllm": fused, "gate_up": (2 * HALF, 24), "down": (24, HALF), "norm": (24,)}
    full = {name: draw.standard_normal(shape).astype(np.float16) for name, shape in shapes.items()}
    folder.mkdir()
    (folder / "tp4").mkdir()
    for number in range(4):
        save_arrays(megatron_rank(full, number, 4), folder / f"tp4/mp_rank_{number:02}.safetensors")
    numbers, array = f"h={HEADS},g={GROUPS},d={ROWS}", f"[{fused[0]},24]"
    qkv = [f"qkv={array} @ megatron:qkv({numbers},array=concat)", f"qkv_vllm={array} @ vllm:qkv({numbers})"]
    rules = [f"embed=[{WORDS},24] @ megatron:vocab(pad={PAD})", *qkv, "gate_up=gate_up", "down=row", "norm=replicated"]
    reshard(program, folder / "tp4", folder / "tp8", *options("from", "tp=4", rules), *options("to", "tp=8", rules))
    files = sorted((folder / "tp8").iterdir())
    for number, path in enumerate(files):
        held, expected = load_arrays(path), megatron_rank(full, number, 8)
        assert set(held) == set(expected)
        for name, array in expected.items():
            assert held[name].shape == array.shape and (held[name] == array).all(), f"rank {number}: {name}"
    reshard(program, folder / "tp8", folder / "full", *options("from", "tp=8", rules))
    whole = load_arrays(folder / "full/model.safetensors")
    assert len(files) == 8 and all((whole[name] == array).all() for name, array in full.items())
    print(f"    Megatron's four ranks to eight and to whole tensors: {len(full)} tensors")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(os.path.abspath(sys.argv[2]), pathlib.Path(made))
