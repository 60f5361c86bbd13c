"""Arrays saved: what is read back is what was given, whatever library, strides and element type; what is refused."""

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

DATA = Path(__file__).resolve().parents[3] / "corpus" / "data"
LAYOUTS = [None, "row-major", "col-major", "zN", "{1,0:T(8,128)(2,1)}"]


def same(a: Any, b: Any) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and np.asarray(a).tobytes() == np.asarray(b).tobytes()


def views(base: np.ndarray[Any, Any]) -> dict[str, np.ndarray[Any, Any]]:
    """Matrices of every kind of strides."""
    rows, columns = base.shape
    return {
        "whole": base,
        "turned": base.T,
        "part": base[3:, 2:-1],
        "steps": base[::2, ::3],
        "backwards": base[::-1, ::-2],
        "fortran": np.asfortranarray(base),
        "repeated": np.broadcast_to(base[0], (5, columns)),
        "column": base[:, :1],
        "none": base[:0],
    }


def test_a_layout_for_each_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    w = np.arange(100 * 30, dtype=np.float32).reshape(100, 30)
    tw.save({"w": w}, "out.safetensors", to="zN", rules={"*w*": "zN"})
    with pytest.raises(tw.ArgumentError, match="norm"):
        tw.save({"w": w}, "other.safetensors", to="zN", rules={"*norm*": "row-major"})
    tw.save({"w": w, "a.norm": w[0]}, "other.safetensors", to="zN", rules={"*norm*": "row-major"})
    for name in ["out.safetensors", "other.safetensors"]:
        with tw.open(name) as m:
            assert same(m["w"], w) and m.layout("w").spec == "f32[100,30] zN"


@pytest.mark.parametrize("name", ["a.safetensors", "a.npz"])
def test_every_stride_in_every_layout(tmp_path: Path, name: str) -> None:
    arrays = views((np.arange(40 * 56) * 7).astype(np.int16).reshape(40, 56))
    for to in LAYOUTS:
        for threads in (1, None):
            tw.save(arrays, tmp_path / name, to=to, threads=threads, overwrite=True, verify=True)
            with tw.open(tmp_path / name) as m:
                assert list(m) == list(arrays) if name.endswith("npz") else set(m) | set(m.tied) == set(arrays)
                for key, array in arrays.items():
                    assert same(m[key], np.ascontiguousarray(array)), (to, key)


def test_every_element_type(tmp_path: Path) -> None:
    names = ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"]
    arrays: dict[str, Any] = {name: np.arange(24).reshape(4, 6).astype(name) for name in names}
    ml_dtypes = pytest.importorskip("ml_dtypes", reason="ml_dtypes is not installed; tests/requirements.txt lists it")
    for name in ["bfloat16", "float8_e4m3fn", "float8_e5m2", "int4", "uint4"]:
        arrays[name] = np.arange(24).reshape(4, 6).astype(getattr(ml_dtypes, name))
    arrays["big"] = np.arange(24).reshape(4, 6).astype(">i4")
    for path in [tmp_path / "a.safetensors", tmp_path / "a.npz"]:
        for to in ["row-major", "col-major", "zN[M0=2,C0=4]"]:
            tw.save({key: array.T for key, array in arrays.items()}, path, to=to, overwrite=True, verify=True)
            with tw.open(path) as m:
                for key, array in arrays.items():
                    expected = np.ascontiguousarray(array.T)
                    if key == "big":
                        expected = expected.astype("i4")
                    assert same(m[key], expected), (path.name, to, key)


def test_arrays_of_other_libraries(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    path = tmp_path / "a.safetensors"
    base = torch.arange(24 * 20, dtype=torch.float32).reshape(24, 20)
    tensors = {
        "turned": base.t(),
        "bf16": base.to(torch.bfloat16)[::3],
        "fp8": base.to(torch.float8_e4m3fn).t(),
        "grad": torch.nn.Parameter(base.double()),
        "view": base[2:8, 3:9],
        "bytes": bytearray(range(16)),
    }
    tw.save(tensors, path, to="row-major", verify=True)
    with tw.open(path) as m:
        for name in ["turned", "bf16", "fp8", "grad", "view"]:
            got, array = m.get(name, framework="torch"), tensors[name].detach().contiguous()
            assert got.dtype == array.dtype and torch.equal(got.view(torch.uint8), array.view(torch.uint8)), name
        assert m["bytes"].tobytes() == bytes(range(16))
    # What safetensors itself reads.
    safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")
    loaded = safetensors.load_file(path)
    assert torch.equal(loaded["turned"], base.t()) and loaded["bf16"].dtype == torch.bfloat16


def test_pairs_of_4_bit_floats(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    if not hasattr(torch, "float4_e2m1fn_x2"):
        pytest.skip("this torch has no 4-bit floats")
    raw = torch.arange(8 * 16, dtype=torch.uint8).reshape(8, 16)
    pairs = raw.view(torch.float4_e2m1fn_x2)
    tw.save({"w": pairs, "t": pairs[:, ::2]}, tmp_path / "a.safetensors", verify=True)
    with tw.open(tmp_path / "a.safetensors") as m:
        assert m.layout("w").dims == (8, 32) and m.layout("t").dims == (8, 16)
        assert m["w"].tobytes() == raw.numpy().tobytes() and m["t"].tobytes() == raw[:, ::2].numpy().tobytes()
        zn = m.get("w", to="(m m0:4) (n n0:8) -> n m m0 n0")
    tw.save({"w": pairs}, tmp_path / "b.safetensors", to="(m m0:4) (n n0:8) -> n m m0 n0", verify=True)
    with tw.open(tmp_path / "b.safetensors") as m:
        assert m.get("w", to="(m m0:4) (n n0:8) -> n m m0 n0").tobytes() == zn.tobytes()


def test_arrays_of_jax(tmp_path: Path) -> None:
    jnp = pytest.importorskip("jax.numpy", reason="jax is not installed")
    array = jnp.arange(600, dtype=jnp.bfloat16).reshape(20, 30)
    tw.save({"w": array}, tmp_path / "a.safetensors", to="zN", verify=True)
    with tw.open(tmp_path / "a.safetensors") as m:
        assert same(m["w"], np.asarray(array)) and m.layout("w").spec == "bf16[20,30] zN"


def test_storages_are_saved_as_what_they_are(tmp_path: Path) -> None:
    w = np.arange(100 * 30, dtype=np.float16).reshape(100, 30)
    zn = tw.relayout(w, "zN")
    for to in ["zN", "row-major"]:
        tw.save({"w": zn}, tmp_path / "a.npz", from_="zN", dims=(100, 30), to=to, overwrite=True, verify=True)
        with tw.open(tmp_path / "a.npz") as m:
            assert same(m["w"], w) and m.layout("w").spec == f"f16[100,30] {to}"
    tw.save({"w": w.view(np.uint16)}, tmp_path / "b.safetensors", dtype="bf16")
    assert tw.info(tmp_path / "b.safetensors")["w"].dtype == "bf16"
    with pytest.raises(tw.Error, match=r"tensors\['w'\]"):
        tw.save({"w": w}, tmp_path / "c.npz", from_="zN", dims=(100, 30))


def test_one_array_and_its_note(tmp_path: Path) -> None:
    w = np.arange(24, dtype=np.int32).reshape(4, 6)
    tw.save({"w": w.T}, tmp_path / "a.npy", to="col-major")
    assert same(np.ascontiguousarray(np.load(tmp_path / "a.npy")), np.ascontiguousarray(w.T))
    tw.save({"w": w}, tmp_path / "b.npy", to="{1,0:T(4,4)}")
    assert (tmp_path / "b.npy.tilewright.json").exists()
    with tw.open(tmp_path / "b.npy") as m:
        assert same(m[m.keys()[0]], w)
    tw.save({"w": w}, f"raw:{tmp_path / 'c.bin'}")
    assert (tmp_path / "c.bin").read_bytes() == w.tobytes()


def test_tied_tensors_are_stored_once(tmp_path: Path) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    path = tmp_path / "a.safetensors"
    embed = torch.arange(6000, dtype=torch.float32).reshape(100, 60)
    tw.save({"embed": embed, "head": embed, "turned": embed.t(), "first": embed[:50]}, path, metadata={"format": "pt"})
    assert path.stat().st_size < 2.6 * embed.nbytes
    with tw.open(path) as m:
        assert list(m) == ["embed", "turned", "first"] and m.tied == {"head": "embed"}
        assert m.metadata == {"format": "pt", "head": "embed"}
        assert "head" in m and same(m["head"], embed.numpy()) and m.layout("head").dims == (100, 60)
        assert same(m["turned"], embed.numpy().T)
    # Files of safetensors' own say it in the same way.
    safetensors = pytest.importorskip("safetensors.torch", reason="safetensors is not installed")

    class Tied(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.embed = torch.nn.Embedding(100, 60)
            self.head = torch.nn.Linear(60, 100, bias=False)
            self.head.weight = self.embed.weight

    model, other = Tied(), Tied()
    safetensors.save_model(model, tmp_path / "b.safetensors")
    with tw.open(tmp_path / "b.safetensors") as m:
        assert set(m) | set(m.tied) == set(model.state_dict())
        assert all(same(m[name], model.embed.weight.detach().numpy()) for name in model.state_dict())
    tw.save(model.state_dict(), tmp_path / "c.safetensors")
    safetensors.load_model(other, tmp_path / "c.safetensors")
    assert torch.equal(other.head.weight, model.head.weight)


def test_metadata_is_given_or_inherited(tmp_path: Path) -> None:
    w = np.arange(24, dtype=np.float32).reshape(4, 6)
    first, second = tmp_path / "a.safetensors", tmp_path / "b.safetensors"
    tw.save({"w": w}, first, to="col-major", metadata={"format": "pt", "by": "x"})
    with tw.open(first) as m:
        noted = {"tilewright.layout.w": "f32[4,6] col-major", "tilewright.data.w": str(tw.fingerprint(w))}
        assert m.metadata == {"format": "pt", "by": "x", **noted}
        for given in (m, m.metadata):
            tw.save({"w": w}, second, metadata=given, overwrite=True)
            with tw.open(second) as n:
                assert n.metadata == {"format": "pt", "by": "x"} and same(n["w"], w)
    with pytest.raises(tw.ArgumentError, match="is closed"):
        tw.save({"w": w}, second, metadata=m, overwrite=True)
    for wrong in ({"a": 1}, [("a", "b")], "text", {3: "a"}):
        with pytest.raises(TypeError, match="metadata="):
            tw.save({"w": w}, second, metadata=wrong, overwrite=True)  # type: ignore[arg-type]


def test_what_is_refused(tmp_path: Path) -> None:
    w = np.arange(24, dtype=np.float32).reshape(4, 6)
    out = tmp_path / "a.safetensors"
    structured = np.zeros(4, [("a", "i4"), ("b", "f4")])
    cases: list[tuple[Any, dict[str, Any], type[BaseException], str]] = [
        ({"w": w, "v": structured}, {}, tw.DtypeError, r"tensors\['v'\]"),
        ({"v": np.array(["a", "b"], object)}, {}, tw.DtypeError, r"tensors\['v'\]"),
        ({"v": [1, 2]}, {}, tw.ArrayError, r"tensors\['v'\]"),
        ({"v": np.ma.masked_array(w, mask=w > 3)}, {}, tw.ArrayError, r"tensors\['v'\]"),
        ({"v": w.reshape(-1)}, {"to": "zN"}, tw.ArgumentError, 'tensor "v" of dims .* rank 1'),
        ({"v": w}, {"to": "zM"}, tw.ParseError, "zM"),
        ({"v": w}, {"rules": {"w*": "zN"}}, tw.ArgumentError, 'w\\*'),
        ({"v": w}, {"rules": ["zN"]}, TypeError, "mapping"),
        ({3: w}, {}, TypeError, "tensors= takes a text"),
        ([w], {}, TypeError, "mapping from names to arrays"),
        ({"v": w}, {"dtype": "bf16"}, tw.DtypeError, r"tensors\['v'\]"),
        ({"v": w}, {"dims": (6, 4)}, tw.MismatchError, r"tensors\['v'\]"),
        ({"v": w}, {"fill": "much"}, tw.ParseError, "fill"),
        ({"v": w}, {"threads": -1}, tw.Error, "threads"),
        ({"v": w}, {"progress": 3}, TypeError, "progress="),
    ]
    for tensors, keywords, error, says in cases:
        with pytest.raises(error, match=says):
            tw.save(tensors, out, **keywords)
    for name, error, says in [
        ("a.gguf", tw.ArgumentError, "can be saved as .safetensors"),
        ("a", tw.ArgumentError, "can be saved as"),
        ("none/a.npz", FileNotFoundError, "none"),
    ]:
        with pytest.raises(error, match=says):
            tw.save({"w": w}, tmp_path / name)
    with pytest.raises(tw.ArgumentError, match="holds one array, and the result is 2"):
        tw.save({"w": w, "v": w}, tmp_path / "a.npy")
    torch = pytest.importorskip("torch", reason="torch is not installed")
    for tensor in (torch.zeros(3, device="meta"), torch.zeros(3, 3).to_sparse()):
        with pytest.raises(tw.ArrayError, match=r"tensors\['v'\]"):
            tw.save({"w": w, "v": tensor}, out)
    assert list(tmp_path.iterdir()) == []
    tw.save({"w": w}, out)
    with pytest.raises(tw.FileExistsError, match="overwrite=True"):
        tw.save({"w": w}, out)
    tw.save({"w": w * 2}, out, overwrite=True)
    with tw.open(out) as m:
        assert same(m["w"], w * 2)


class Stop(Exception):
    pass


def test_an_exception_of_progress_leaves_nothing(tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    w = np.zeros((2000, 500), np.float32)
    tw.save({"w": w}, tmp_path / "a.npz", to="col-major", progress=lambda done, total: seen.append((done, total)))
    assert seen[-1][0] == seen[-1][1] >= w.nbytes

    def stop(done: int, _: int) -> None:
        if done > 0:
            raise Stop

    with pytest.raises(Stop):
        tw.save({"w": w}, tmp_path / "b.npz", to="col-major", progress=stop)
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_other_threads_run_meanwhile(tmp_path: Path) -> None:
    """The callback needs the interpreter in the thread that saves; another thread has it between two calls."""
    w = np.zeros((4000, 500), np.float32)
    asked, answered = threading.Event(), threading.Event()

    def answer() -> None:
        assert asked.wait(60)
        answered.set()

    def progress(done: int, total: int) -> None:
        asked.set()
        assert answered.wait(60)

    thread = threading.Thread(target=answer)
    thread.start()
    tw.save({"w": w}, tmp_path / "a.npz", to="col-major", progress=progress)
    thread.join()


MEMORY = """
import resource, sys
import numpy as np
import tilewright as tw
w = np.ones((8192, 8192), np.float16)
peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
tw.save({"w": w[:64]}, sys.argv[1] + "/small.safetensors", to="col-major", threads=1)
before = peak()
tw.save({"w": w}, sys.argv[1] + "/a.safetensors", to="col-major", threads=1, memory=16 << 20)
print(peak() - before, end=" ")
before = peak()
with tw.open(sys.argv[1] + "/a.safetensors") as m:
    out = m.get("w", threads=1)
after = peak()
assert (out == w).all()
print(after - before - out.nbytes)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the peak of memory is counted in KiB on Linux")
def test_memory_while_saving_and_reading(tmp_path: Path) -> None:
    """Beside 128 MiB of array, less than 64 MiB are held while it is saved, and beside the result while it is read."""
    code = [sys.executable, "-c", MEMORY, os.fspath(tmp_path)]
    done = subprocess.run(code, check=True, capture_output=True, text=True)  # noqa: S603
    saving, reading = map(int, done.stdout.split())
    assert saving < 64 << 20 and reading < 64 << 20, (saving, reading)
