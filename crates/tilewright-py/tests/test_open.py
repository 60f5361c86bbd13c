"""Checkpoints opened for reading: what ``get`` gives next to NumPy and to ``convert`` on the same elements."""

import itertools
import json
import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

DATA = Path(__file__).resolve().parents[3] / "corpus" / "data"
MODEL = DATA / "tiny_llm_mixed.safetensors"
LAYOUTS = ["row-major", "col-major", "zN", "{1,0:T(8,128)(2,1)}"]


def safetensors(path: Path, tensors: dict[str, tuple[str, tuple[int, ...], bytes]]) -> Path:
    """A file of these tensors: type, shape and bytes."""
    header, at = {}, 0
    for name, (dtype, shape, data) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [at, at + len(data)]}
        at += len(data)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"".join(data for _, _, data in tensors.values()))
    return path


def halves(path: Path, shape: tuple[int, ...]) -> np.ndarray[Any, Any]:
    """A file of one tensor ``w``, and its elements."""
    array = np.arange(np.prod(shape, dtype=int)).astype(np.uint16).reshape(shape)
    safetensors(path, {"w": ("F16", shape, array.tobytes())})
    return array.view(np.float16)


def same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and np.asarray(a).tobytes() == np.asarray(b).tobytes()


def test_every_layout_of_a_file_in_every_layout(tmp_path: Path) -> None:
    array = halves(tmp_path / "a.safetensors", (50, 70))
    parts: list[Any] = [None, [slice(8, 30)], (..., slice(-5, None)), [slice(3, 40), slice(10, 60)], [slice(9, 2), ...]]
    for held in LAYOUTS:
        tw.convert(tmp_path / "a.safetensors", tmp_path / "b.safetensors", to=held, force=True)
        with tw.open(tmp_path / "b.safetensors") as m:
            assert same(m["w"], array)
            for to, box, threads in itertools.product([None, *LAYOUTS], parts, [None, 1]):
                part = array if box is None else array[tuple(box)]
                expected = part if to is None else tw.relayout(part, to)
                got = m.get("w", to, box=box, threads=threads)
                assert same(got, np.ascontiguousarray(expected)), (held, to, box)


def test_a_box_is_numpys_basic_indexing(tmp_path: Path) -> None:
    array = halves(tmp_path / "a.safetensors", (4, 5, 6))
    items: list[Any] = [slice(None), slice(1, 3), slice(-2, None), slice(None, 99), 0, -1, ...]
    with tw.open(tmp_path / "a.safetensors") as m:
        for rank in range(4):
            for box in itertools.product(items, repeat=rank):
                if sum(item is ... for item in box) < 2:
                    assert same(m.get("w", box=list(box)), np.ascontiguousarray(array[box]).reshape(array[box].shape)), box
        assert same(m.get("w", box=2), array[2]) and same(m.get("w", box=[0, 0, 0]), array[0, 0, 0].reshape(()))
        assert same(m.get("w", box=np.int64(2)), array[2])
        for box, error, says in [
            ([slice(0, 4, 2)], tw.ArgumentError, "steps; dim 0 has a step of 2"),
            ([slice(None, None, -1)], tw.ArgumentError, "steps"),
            ([..., ...], tw.ArgumentError, "stands once"),
            ([0, 0, 0, 0], tw.ArgumentError, "rank 3"),
            ([4], tw.OutOfRangeError, "4 in dim 0 of extent 4"),
            ([..., -7], tw.OutOfRangeError, "-7 in dim 2"),
            ([None], TypeError, "NoneType"),
            ([True], TypeError, "bool"),
            ([[0, 1]], TypeError, "list"),
            ([1.0], TypeError, "float"),
        ]:
            with pytest.raises(error, match=says):
                m.get("w", box=box)
        with pytest.raises(tw.ArgumentError, match="slices"):
            m.get("w", "row-major", box=[0])


def test_an_output_of_the_callers(tmp_path: Path) -> None:
    array = halves(tmp_path / "a.safetensors", (40, 24))
    with tw.open(tmp_path / "a.safetensors") as m:
        out = np.zeros((40, 24), np.float16)
        assert m.get("w", out=out) is out and same(out, array)
        rows = np.zeros((60, 24), np.float16)
        part = rows[10:20]
        assert m.get("w", box=[slice(5, 15)], out=part) is part and same(part, array[5:15])
        assert not rows[:10].any() and not rows[20:].any()
        raw = np.zeros(40 * 24 * 2, np.uint8)
        assert m.get("w", "col-major", out=raw).tobytes() == array.T.tobytes()
        memory = bytearray(40 * 24 * 2)
        assert m.get("w", out=memory) is memory and bytes(memory) == array.tobytes()
        for wrong, error, says in [
            (np.zeros((40, 23), np.float16), tw.MismatchError, "1840 bytes"),
            (np.zeros((40, 24), np.int16), tw.DtypeError, "s16 but the result has f16"),
            (np.zeros((40, 24), ">f2"), tw.DtypeError, "big-endian"),
            (np.zeros((40, 48), np.float16)[:, ::2], tw.CopyError, "not contiguous: .*tilewright.copy_"),
            (bytes(40 * 24 * 2), tw.ReadOnlyError, "read-only"),
            (3, tw.ArrayError, "out"),
        ]:
            with pytest.raises(error, match=says):
                m.get("w", out=wrong)


def test_every_container(tmp_path: Path) -> None:
    array = np.arange(240, dtype=np.int32).reshape(12, 20)
    np.savez(tmp_path / "a.npz", w=array, f=np.asfortranarray(array), big=array.astype(">i4"))
    np.savez_compressed(tmp_path / "b.npz", w=array)
    np.save(tmp_path / "c.npy", np.asfortranarray(array))
    (tmp_path / "d.bin").write_bytes(array.tobytes())
    with tw.open(tmp_path / "a.npz") as m:
        assert m.format == "npz" and set(m) == {"w", "f", "big"} and len(m) == 3
        assert all(same(m[name], array) for name in m)
        assert same(m.get("big", "col-major", box=[slice(3, 9)]), np.ascontiguousarray(array[3:9].T))
    with tw.open(tmp_path / "b.npz") as m:
        assert same(m["w"], array)
    with tw.open(tmp_path / "c.npy") as m:
        assert same(m[next(iter(m))], array)
    with tw.open(f"raw:{tmp_path / 'd.bin'}", dims=(20, 12), dtype="s32", from_="col-major") as m:
        assert same(m[m.keys()[0]], array.reshape(12, 20).T)
    with tw.open(DATA / "tiny_quantised.gguf") as m:
        name = "blk.0.ffn_up.weight"
        layout = m.layout(name)
        blocks = m[name]
        assert blocks.dtype == np.uint8 and blocks.shape[:-1] == layout.dims[:-1] and blocks.flags.c_contiguous
        assert same(m.get(name, box=[slice(2, 5)]), blocks[2:5])
        with pytest.raises(tw.Error, match="multiples of"):
            m.get(name, box=[..., slice(0, 3)])


def test_quantised_tensors_are_blocks() -> None:
    """Of a file with several quantised types each tensor is as its blocks are, and others beside it as ever."""
    with tw.open(DATA / "tiny_quantised.gguf") as m:
        plain = {name for name in m if m[name].shape == tuple(m.layout(name).dims)}
        types = {name: m.layout(name).spec.split("[")[0] for name in m}
        assert {types[name] for name in set(m) - plain} == {"q4_0", "q8_0", "q6_k", "mxfp4"}
        assert {types[name] for name in plain} == {"f16", "f32", "bf16", "s32", "s8"}
        for name, (elements, size) in {
            "blk.0.ffn_up.weight": (32, 18),
            "blk.0.ffn_down.weight": (32, 34),
            "blk.0.ffn_gate.weight": (256, 210),
            "blk.0.experts.weight": (32, 17),
        }.items():
            *rows, last = m.layout(name).dims
            blocks = m[name]
            assert blocks.dtype == np.uint8 and blocks.shape == (*rows, last // elements * size)
            assert same(m.get(name, to="row-major"), blocks)
            box = m.get(name, box=[..., slice(0, elements)])
            assert same(box, np.ascontiguousarray(blocks[..., :size]))
            # Blocks move as one: to a layout that takes none apart.
            rank = ["e", "m"][2 - len(rows) :]
            to = f"{' '.join(rank)} (n n0:{elements}) -> n {' '.join(rank)} n0"
            moved = m.get(name, to=to)
            assert same(moved.reshape(last // elements, *rows, size), np.moveaxis(blocks.reshape(*rows, -1, size), -2, 0).copy())
            for to, says in [("zN", "elements in blocks"), ("col-major", "block"), ("f32", "f32")]:
                with pytest.raises(tw.Error, match=says):
                    m.get(name, to=to)
            with pytest.raises(tw.Error, match=f"multiples of {elements}"):
                m.get(name, box=[..., slice(0, elements - 1)])


def test_a_folder_is_opened_by_what_it_holds(tmp_path: Path) -> None:
    with pytest.raises(tw.FileError, match="holds no checkpoint"):
        tw.open(tmp_path)
    array = halves(tmp_path / "model-1.safetensors", (6, 8))
    with tw.open(tmp_path) as m:
        assert same(m["w"], array)
    safetensors(tmp_path / "model-2.safetensors", {"v": ("U8", (3,), b"abc")})
    with pytest.raises(tw.ArgumentError, match="holds 2 files"):
        tw.open(tmp_path)
    index = {"weight_map": {"w": "model-1.safetensors", "v": "model-2.safetensors"}}
    (tmp_path / "model.safetensors.index.json").write_text(json.dumps(index))
    with tw.open(os.fsencode(tmp_path)) as m:
        assert set(m) == {"v", "w"} and same(m["w"], array) and m["v"].tobytes() == b"abc"


def test_element_types_are_kept(tmp_path: Path) -> None:
    data = bytes(range(64))
    kinds = {"F32": "float32", "I8": "int8", "U16": "uint16", "BOOL": "bool", "C64": "complex64"}
    path = safetensors(tmp_path / "a.safetensors", {kind: (kind, (64 // np.dtype(name).itemsize,), data) for kind, name in kinds.items()})
    with tw.open(path) as m:
        assert all(m[kind].dtype == name and m[kind].tobytes() == data for kind, name in kinds.items())
    narrow = {"BF16": "bfloat16", "F8_E4M3": "float8_e4m3fn", "F8_E5M2": "float8_e5m2"}
    path = safetensors(tmp_path / "b.safetensors", {kind: (kind, (64 // (2 if kind == "BF16" else 1),), data) for kind in narrow})
    with tw.open(path) as m:
        raw = np.zeros(64, np.uint8)
        assert all(m.get(kind, out=raw).tobytes() == data for kind in narrow)
        ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; tests/requirements.txt lists it")
        for kind, name in narrow.items():
            assert m[kind].dtype == getattr(ml_dtypes, name) and m[kind].tobytes() == data
    # Nibbles are bytes, as relayout packs them.
    path = safetensors(tmp_path / "c.safetensors", {"t": ("F4", (8, 16), data)})
    with tw.open(path) as m:
        assert m["t"].shape == (8, 8) and m["t"].tobytes() == data
        assert m.get("t", box=[slice(2, 4)]).tobytes() == data[16:32]
    path = safetensors(tmp_path / "d.safetensors", {"t": ("F6_E2M3", (4,), b"abc")})
    with tw.open(path) as m, pytest.raises(tw.Error, match="straddle bytes"):
        m["t"]


def test_tensors_of_torch(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    array = halves(tmp_path / "a.safetensors", (20, 30))
    with tw.open(tmp_path / "a.safetensors") as m:
        got = m.get("w", framework="torch")
        assert isinstance(got, torch.Tensor) and got.dtype == torch.float16 and same(got.numpy(), array)
        assert m.get("w", "zN", framework="torch").shape == (2, 2, 16, 16)
        out = torch.zeros(20, 30, dtype=torch.float16)
        assert m.get("w", out=out) is out and same(out.numpy(), array)
        with pytest.raises(tw.ReadOnlyError):
            m.get("w", out=torch.zeros(20, 30, dtype=torch.float16, requires_grad=True))
    with tw.open(MODEL) as m:
        name = next(name for name in m if "k_proj" in name)
        assert m.get(name, framework="torch").dtype == torch.bfloat16
        assert m.get("scale.e4m3", framework="torch").dtype == torch.float8_e4m3fn


def test_what_is_refused(tmp_path: Path) -> None:
    halves(tmp_path / "a.safetensors", (20, 30))
    with pytest.raises(FileNotFoundError):
        tw.open(tmp_path / "none.safetensors")
    (tmp_path / "b.safetensors").write_bytes(b"nothing")
    with pytest.raises(tw.FileError):
        tw.open(tmp_path / "b.safetensors")
    m = tw.open(tmp_path / "a.safetensors")
    assert "w" in m and "v" not in m and 3 not in m
    with pytest.raises(KeyError, match="lacks the tensor 'ww'; did you mean"):
        m["ww"]
    with pytest.raises(TypeError, match="name= takes a text"):
        m[3]  # type: ignore[index]
    with pytest.raises(tw.ParseError):
        m.get("w", "zM")
    # A mistake of the caller's is no failure of the file.
    with pytest.raises(tw.ArgumentError, match="rank 2"):
        m.get("w", "NCHW")
    with pytest.raises(tw.ArgumentError, match="'numpy' or 'torch', not 'jax'"):
        m.get("w", framework="jax")
    m.close()
    m.close()
    assert m.closed and "closed" in repr(m) and "closed" in m._repr_html_()
    for ask in [lambda: m["w"], lambda: len(m), lambda: list(m), lambda: "w" in m, lambda: m.layout("w"), m.__enter__]:
        with pytest.raises(tw.ArgumentError, match="is closed"):
            ask()


def test_a_file_that_is_cut_short_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    array = halves(path, (100, 300))
    whole = path.read_bytes()
    with tw.open(path) as m:
        assert same(m["w"], array)
        os.truncate(path, len(whole) - 1)
        for ask in [{}, {"to": "zN"}, {"box": [slice(0, 3)]}]:
            with pytest.raises(tw.FileError):
                m.get("w", **ask)  # type: ignore[arg-type]
        # Of its old length again, and of other bytes.
        path.write_bytes(whole[:-8] + bytes(8))
        with pytest.raises(tw.FileError, match="changed"):
            m["w"]


@pytest.mark.skipif(os.name != "posix", reason="permissions and links of POSIX")
def test_permissions_and_links_are_no_change(tmp_path: Path) -> None:
    path = tmp_path / "a.safetensors"
    array = halves(path, (100, 300))
    with tw.open(path) as m:
        for change in [lambda: path.chmod(0o400), lambda: os.link(path, tmp_path / "b"), lambda: (tmp_path / "b").unlink()]:
            change()
            assert same(m["w"], array)
        # A time of writing that is set back is one.
        path.chmod(0o600)
        times, whole = path.stat().st_mtime_ns, path.read_bytes()
    with tw.open(path) as m:
        path.write_bytes(whole)
        os.utime(path, ns=(times, times))
        with pytest.raises(tw.FileError, match="changed"):
            m["w"]


def test_what_it_says_of_itself(tmp_path: Path) -> None:
    path = safetensors(tmp_path / "<a>.safetensors", {f"layers.{i}": ("U8", (3, 4), bytes(12)) for i in range(25)})
    with tw.open(path) as m:
        assert "safetensors, 25 tensors" in repr(m)
        shown = m._repr_html_()
        assert "layers.19<" in shown and "layers.20" not in shown and ">5 more<" in shown and "&lt;a&gt;" in shown
        assert m.path == path and m.layout("layers.3").spec == "u8[3,4] row-major" and m.metadata == {}
    with tw.open(MODEL) as m:
        assert m.metadata == {"format": "pt"} and ">2 more<" in m._repr_html_()


def test_many_tensors_are_opened_lazily(tmp_path: Path) -> None:
    count = 20_000
    path = safetensors(tmp_path / "a.safetensors", {f"layers.{i}.weight": ("U8", (2, 2), i.to_bytes(4, "little")) for i in range(count)})
    with tw.open(path) as m:
        assert len(m) == count and m["layers.777.weight"].tobytes() == (777).to_bytes(4, "little")


def test_threads_read_while_one_closes(tmp_path: Path) -> None:
    array = halves(tmp_path / "a.safetensors", (500, 300))
    m, wrong = tw.open(tmp_path / "a.safetensors"), []

    def read() -> None:
        try:
            while True:
                if not same(m.get("w", threads=1), array):
                    wrong.append("other elements")
        except tw.ArgumentError:
            return

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    time.sleep(0.2)
    m.close()
    for thread in threads:
        thread.join()
    assert not wrong


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers")
def test_the_interrupt_key_ends_a_reading(tmp_path: Path) -> None:
    array = halves(tmp_path / "a.safetensors", (8000, 8000))
    out = np.zeros_like(array)

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    try:
        with tw.open(tmp_path / "a.safetensors") as m, pytest.raises(KeyboardInterrupt):
            signal.setitimer(signal.ITIMER_REAL, 0.05)
            for _ in range(10_000):
                m.get("w", "col-major", out=out, threads=1)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
