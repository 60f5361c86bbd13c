"""Files that other libraries write, opened here and read by these libraries: the same elements, of every type they have.

``cargo xtask oracles`` installs the libraries.
"""

import random
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; tests/requirements.txt lists it")

DIMS = [(), (1,), (0, 3), (257,), (33, 47), (5, 1, 7, 16), (64, 256)]
BOXES = 5


def raw(name: str, count: int) -> np.ndarray[Any, Any]:
    """Any bytes, the same whenever they are asked for."""
    return np.random.default_rng(zlib.crc32(name.encode())).integers(0, 256, count, np.uint8)


def filled(name: str, dims: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    dtype = np.dtype(dtype)
    some = raw(name, int(np.prod(dims)) * dtype.itemsize)
    return (some % 2 if dtype == bool else some).view(dtype).reshape(dims)


def bits(array: np.ndarray[Any, Any]) -> tuple[Any, ...]:
    return array.dtype, array.shape, array.tobytes()


def some_box(dims: tuple[int, ...], rng: random.Random) -> tuple[slice, ...]:
    edges = [sorted((rng.randint(0, extent), rng.randint(0, extent))) for extent in dims]
    return tuple(slice(low, high) for low, high in edges)


def agree(m: Any, name: str, theirs: np.ndarray[Any, Any]) -> None:
    """The whole and boxes, in new arrays and in given ones that begin anywhere, plain and transposed."""
    rng = random.Random(name)
    assert bits(m[name]) == bits(theirs), name
    for skip in [0, 1, 16]:
        out = np.zeros(theirs.nbytes + skip, np.uint8)[skip:]
        m.get(name, out=out)
        assert out.tobytes() == theirs.tobytes(), name
    for _ in range(BOXES):
        box = some_box(theirs.shape, rng)
        assert bits(m.get(name, box=box)) == bits(np.ascontiguousarray(theirs[box]).reshape(theirs[box].shape)), (name, box)
        if theirs.ndim > 1:
            turned = m.get(name, "col-major", box=box)
            assert turned.tobytes() == theirs[box].T.tobytes(), (name, box)


NUMPY = ["bool", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8", "c8"]


def test_safetensors_of_numpy(tmp_path: Path) -> None:
    library = pytest.importorskip("safetensors.numpy", reason="safetensors is not installed")
    dtypes = [np.dtype(name) for name in NUMPY] + [np.dtype(ml_dtypes.bfloat16)]
    made = {f"{dtype}.{dims}": filled(f"{dtype}{dims}", dims, dtype) for dtype in dtypes for dims in DIMS}
    path = tmp_path / "a.safetensors"
    library.save_file(made, path, {"of": "numpy"})
    with tw.open(path) as m:
        assert set(m) == set(made) and m.metadata["of"] == "numpy"
        for name, own in library.load_file(path).items():
            agree(m, name, own)


def test_safetensors_of_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    library = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    names = "bool uint8 int8 uint16 int16 uint32 int32 uint64 int64 float16 bfloat16 float32 float64 complex64".split()
    names += "float8_e4m3fn float8_e5m2 float8_e8m0fnu float8_e4m3fnuz float8_e5m2fnuz float4_e2m1fn_x2".split()
    made = {}
    for dtype in (getattr(torch, name) for name in names if hasattr(torch, name)):
        try:
            library.save({"w": torch.empty(2, dtype=dtype)})
        except (KeyError, ValueError):
            continue  # a type that the library does not write
        # Half a byte is no tensor.
        for dims in DIMS[1:] if "float4" in str(dtype) else DIMS:
            some = filled(f"{dtype}{dims}", (*dims, dtype.itemsize), bool if dtype == torch.bool else np.uint8)
            made[f"{dtype}.{dims}"] = torch.empty(dims, dtype=dtype)
            if some.size:
                own = made[f"{dtype}.{dims}"].reshape(-1).view(torch.uint8)
                own.copy_(torch.from_numpy(some.view(np.uint8).reshape(-1).copy()))
    path = tmp_path / "a.safetensors"
    library.save_file(made, path)
    loaded = library.load_file(path)
    with tw.open(path) as m:
        assert set(m) == set(made)
        for name, theirs in loaded.items():
            got = m.get(name, framework="torch")
            held = got.dtype == theirs.dtype or (got.dtype == torch.uint8 and "float4" in name)
            assert held and got.shape == theirs.shape, (name, got.dtype, got.shape)
            own, other = (tensor.reshape(-1).view(torch.uint8) for tensor in [got, theirs])
            assert torch.equal(own, other), name
            out = torch.zeros(theirs.nbytes, dtype=torch.uint8)
            m.get(name, out=out)
            assert torch.equal(out, other), name


def test_archives_of_numpy(tmp_path: Path) -> None:
    dtypes = [np.dtype(name) for name in [*NUMPY, "c16", ">u2", ">i4", ">f8", ">c8"]]
    made = {}
    for dtype in dtypes:
        for dims in DIMS:
            some = filled(f"{dtype}{dims}", dims, dtype)
            made[f"{dtype.str}.{dims}"] = some
            made[f"{dtype.str}.{dims}.F"] = np.asfortranarray(some)
    for save, name in [(np.savez, "a.npz"), (np.savez_compressed, "b.npz")]:
        save(tmp_path / name, **made)
        with np.load(tmp_path / name) as theirs, tw.open(tmp_path / name) as m:
            assert set(m) == set(theirs)
            for key in theirs:
                # The lowest byte of an element comes first here.
                own = theirs[key]
                agree(m, key, own.astype(own.dtype.newbyteorder("<"), order="C"))


def test_gguf(tmp_path: Path) -> None:
    gguf = pytest.importorskip("gguf", reason="gguf is not installed")
    path = tmp_path / "a.gguf"
    writer = gguf.GGUFWriter(path, "llama")
    for name in ["f2", "f4", "f8", "i1", "i2", "i4", "i8"]:
        for dims in [(1,), (257,), (33, 47), (3, 5, 16)]:
            writer.add_tensor(f"{name}.{dims}", filled(f"{name}{dims}", dims, name))
    kinds = gguf.GGMLQuantizationType
    for kind in kinds:
        elements, size = gguf.GGML_QUANT_SIZES[kind]
        # Of Q8_1, which no file has, the library says 40 bytes a block; ggml has 36.
        if kind != kinds.Q8_1 and (elements > 1 or kind == kinds.BF16):
            for rows in [(3,), (2, 5)]:
                # Blocks of any bytes.
                some = raw(f"{kind}{rows}", int(np.prod(rows)) * 4 * size).reshape(*rows, 4 * size)
                writer.add_tensor(f"{kind.name}.{rows}", some, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    theirs = gguf.GGUFReader(path).tensors
    with tw.open(path) as m:
        assert set(m) == {tensor.name for tensor in theirs}
        for tensor in theirs:
            try:
                got = m[tensor.name]
            except tw.Error as error:
                # Blocks of this type are longer than any that a layout moves; every other type is read.
                assert tensor.tensor_type.name == "Q8_K", (tensor.name, error)
                assert str(error).startswith(f'tensor "{tensor.name}": elements of 2336 bits'), error
                continue
            assert got.tobytes() == tensor.data.tobytes(), tensor.name
            plain = gguf.GGML_QUANT_SIZES[tensor.tensor_type][0] == 1
            assert not plain or got.shape == tuple(int(extent) for extent in tensor.shape[::-1]), tensor.name
            if plain and tensor.data.dtype != np.uint8:
                agree(m, tensor.name, np.array(tensor.data))
