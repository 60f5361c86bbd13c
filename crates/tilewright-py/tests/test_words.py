"""Words that hold smaller elements: packed here with NumPy alone, as their makers' own code packs them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tilewright as tw

Array = np.ndarray[Any, Any]
AWQ = {4: [0, 2, 4, 6, 1, 3, 5, 7], 8: [0, 2, 1, 3]}


def values(rows: int, columns: int, bits: int, seed: int = 0) -> Array:
    return np.random.default_rng([rows, columns, bits, seed]).integers(0, 1 << bits, (rows, columns), dtype=np.uint32)


def gptq(x: Array, bits: int) -> Array:
    per = 32 // bits
    words = np.zeros((x.shape[0] // per, x.shape[1]), np.uint32)
    for row in range(x.shape[0]):
        words[row // per] |= x[row] << np.uint32(bits * (row % per))
    return words.view(np.int32)


def awq(x: Array, bits: int) -> Array:
    per = 32 // bits
    words = np.zeros((x.shape[0], x.shape[1] // per), np.uint32)
    for i in range(per):
        words |= x[:, AWQ[bits][i] :: per] << np.uint32(bits * i)
    return words.view(np.int32)


def pack_quantized(x: Array, bits: int) -> Array:
    per = 32 // bits
    x = np.pad(x, ((0, 0), (0, -x.shape[1] % per)))
    words = np.zeros((x.shape[0], x.shape[1] // per), np.uint32)
    for i in range(per):
        words |= x[:, i::per] << np.uint32(bits * i)
    return words.view(np.int32)


def marlin(x: Array, bits: int) -> Array:
    perm = []
    for i in range(32):
        one = [
            16 * row + i // 4 + 8 * block
            for block in [0, 1]
            for row in [2 * (i % 4), 2 * (i % 4) + 1, 2 * (i % 4 + 4), 2 * (i % 4 + 4) + 1]
        ]
        perm += [p + 256 * j for j in range(4) for p in one]
    order = np.array(perm).reshape(-1, len(AWQ[bits]))[:, AWQ[bits]].ravel()
    rows, columns = x.shape
    tiled = x.reshape(rows // 16, 16, columns // 16, 16).transpose(0, 2, 1, 3).reshape(-1, 1024)[:, order]
    tiled, per = tiled.reshape(rows // 16, columns * 16), 32 // bits
    words = np.zeros((rows // 16, columns * 16 // per), np.uint32)
    for i in range(per):
        words |= tiled[:, i::per] << np.uint32(bits * i)
    return words.view(np.int32)


PACKED = {"GPTQ": gptq, "AWQ": awq, "CT_PACK_INT32": pack_quantized, "MARLIN": marlin}


def same(a: Any, b: Array) -> bool:
    return a.dtype == b.dtype and a.shape == b.shape and bool((a == b).all())


@pytest.mark.parametrize("bits", [4, 8])
@pytest.mark.parametrize(("rows", "columns"), [(16, 64), (32, 128), (64, 192)])
def test_every_pair_is_what_the_makers_pack(rows: int, columns: int, bits: int) -> None:
    x = values(rows, columns, bits)
    for source, pack in PACKED.items():
        words = pack(x, bits)
        for target, expected in PACKED.items():
            got = tw.relayout(words, f"{target} as s32", from_=source, dtype=f"u{bits}")
            assert same(got, expected(x, bits)), (source, target)
        plain = tw.relayout(words, "row-major", from_=source, dtype=f"u{bits}", bits=8)
        assert (plain.reshape(rows, columns) == x).all()


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_small_shapes(bits: int) -> None:
    per = 32 // bits
    for rows, columns in ((m * per, n * per) for m in range(1, 4) for n in range(1, 4)):
        x = values(rows, columns, bits).astype(np.uint8)
        for name in ["GPTQ"] if bits == 2 else ["GPTQ", "AWQ", "CT_PACK_INT32"]:
            got = tw.relayout(x, f"{name} as s32", dtype=f"u{bits}")
            assert same(got, PACKED[name](x.astype(np.uint32), bits)), (name, rows, columns)
            back = tw.relayout(got, f"{name} as u8", from_=name, dtype=f"u{bits}")
            assert back.tobytes() == got.tobytes() and back.dtype == np.uint8
    # Rows that end within a word.
    x = values(5, 44, 4)
    words = pack_quantized(x, 4)
    got = tw.relayout(words, "row-major", from_="CT_PACK_INT32", dims=(5, 44), dtype="u4", bits=8)
    assert (got == x).all()
    assert same(tw.relayout(x.astype(np.uint8), "CT_PACK_INT32 as s32", dtype="u4"), words)


def test_bytes_with_the_first_value_high() -> None:
    x = values(6, 10, 4).astype(np.uint8)
    flat = x.ravel()
    packed = (flat[::2] << 4 | flat[1::2]).reshape(-1, 1)
    assert same(tw.relayout(x, "BNB_4BIT as u8", dtype="u4"), packed)
    got = tw.relayout(packed, "row-major", from_="BNB_4BIT", dims=(6, 10), dtype="u4", bits=8)
    assert (got == x).all()
    with pytest.raises(tw.Error, match="needs the array's dims"):
        tw.relayout(packed, "row-major", from_="BNB_4BIT", dtype="u4")


def test_torch_has_words_too() -> None:
    torch = pytest.importorskip("torch")
    x = values(64, 128, 4)
    words = torch.from_numpy(gptq(x, 4))
    got = tw.relayout(words, "MARLIN as s32", from_="GPTQ", dtype="u4")
    assert got.dtype == torch.int32 and tuple(got.shape) == (4, 256)
    assert same(got.numpy(), marlin(x, 4))
    out = torch.empty_like(got)
    assert tw.relayout(words, "MARLIN as s32", from_="GPTQ", dtype="u4", out=out) is out
    assert bool((out == got).all())


def test_layouts_say_their_words() -> None:
    spec = tw.TensorLayout("u4[4096,4096] MARLIN as s32[256,8192]")
    assert spec.spec == "u4[4096,4096]E(4) MARLIN as s32[256,8192]"
    assert spec.stored_as == ("s32", (256, 8192))
    assert (spec.dims, spec.dtype, spec.bits, spec.nbytes) == ((4096, 4096), "u4", 4, 8 << 20)
    assert tw.TensorLayout("u4[4096,4096] MARLIN").stored_as is None
    assert tw.parse("u4[64,12] GPTQ as s32").stored_as == ("s32", (8, 12))
    with pytest.raises(tw.Error, match=r"s32\[4,128\] fits"):
        tw.parse("u4[64,64] MARLIN as s32[4,127]")


def test_what_is_no_array_of_these_words_is_refused() -> None:
    words = gptq(values(64, 64, 4), 4)
    for array, from_, dtype, match in [
        (words.byteswap().view(">i4"), "GPTQ", "u4", "little-endian"),
        (words.astype(np.int64), "GPTQ as s32", "u4", "stored as s32, and the array is s64"),
        (words, "GPTQ as s32[8,65]", "u4", r"the array is s32\[8,64\]"),
        (words, "GPTQ", None, "s32 has 32"),
        (words, "MARLIN", "u3", "no element type"),
        (words[:, :33], "MARLIN", "u4", "needs the array's dims"),
    ]:
        with pytest.raises(tw.Error, match=match):
            tw.relayout(array, "row-major", from_=from_, dtype=dtype)
    with pytest.raises(tw.Error, match="bits=8"):
        tw.relayout(words, "MARLIN as s32", from_="GPTQ", dtype="u4", bits=8)
    with pytest.raises(tw.Error, match="an output of"):
        out = np.empty((4, 128), np.float32)
        tw.relayout(words, "MARLIN as s32", from_="GPTQ", dtype="u4", out=out)


def layer(path: Path, words: Array, table: Array) -> None:
    header, at = {}, 0
    for name, array in [("l.qweight", words), ("l.g_idx", table)]:
        header[name] = {"dtype": "I32", "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header).encode()
    path.write_bytes(len(text).to_bytes(8, "little") + text + words.tobytes() + table.tobytes())


def test_files_are_repacked_in_one_line(tmp_path: Path) -> None:
    x = values(64, 128, 4)
    table = (np.arange(64) // 16).astype(np.int32)
    layer(tmp_path / "gptq.safetensors", gptq(x, 4), table)
    out = tmp_path / "marlin.safetensors"
    report = tw.convert(
        tmp_path / "gptq.safetensors", out, tensors="*qweight", from_="GPTQ", dtype="u4", to="MARLIN", store="s32"
    )
    converted = [tensor for tensor in report.tensors if tensor.action == "convert"]
    assert [tensor.to.spec for tensor in converted] == ["u4[64,128]E(4) MARLIN as s32[4,256]"]
    with tw.open(out) as m:
        assert same(m.get("l.qweight", to="MARLIN as s32"), marlin(x, 4))
        assert same(m.get("l.qweight", to="GPTQ as s32"), gptq(x, 4))
        assert m.layout("l.qweight").stored_as == ("s32", (4, 256))
    with tw.open(tmp_path / "gptq.safetensors") as m:
        assert same(m["l.qweight"], gptq(x, 4))
        assert same(m.get("l.qweight", to="MARLIN as s32", from_="GPTQ", dtype="u4"), marlin(x, 4))
        part = m.get("l.qweight", to="GPTQ as s32", box=[slice(0, 32), ...], from_="GPTQ", dtype="u4")
        assert same(part, gptq(x, 4)[:4])
        with pytest.raises(tw.Error, match="go with from_="):
            m.get("l.qweight", dtype="u4")
    table[[3, 40]] = table[[40, 3]]
    layer(tmp_path / "sorted.safetensors", gptq(x, 4), table)
    with pytest.raises(tw.Error, match='"l.g_idx" permutes the rows'):
        tw.convert(
            tmp_path / "sorted.safetensors",
            tmp_path / "no.safetensors",
            tensors="*qweight",
            from_="GPTQ",
            dtype="u4",
            to="MARLIN",
            store="s32",
        )
    assert not (tmp_path / "no.safetensors").exists()
    # Plain dims keep the rows as they are, and the table goes along.
    plain = tmp_path / "plain.safetensors"
    tw.convert(tmp_path / "sorted.safetensors", plain, tensors="*qweight", from_="GPTQ", dtype="u4", to="row-major")
    with tw.open(plain) as m, tw.open(tmp_path / "sorted.safetensors") as source:
        assert same(m["l.g_idx"], table) and same(m.get("l.qweight", to="GPTQ as s32"), gptq(x, 4))
        keywords = {"from_": "GPTQ", "dtype": "u4"}
        assert m["l.qweight"].tobytes() == source.get("l.qweight", to="row-major", **keywords).tobytes()
        with pytest.raises(tw.Error, match="needs the groups in order"):
            source.get("l.qweight", to="AWQ", **keywords)


def test_fingerprints_of_words_are_those_of_the_elements() -> None:
    x = values(64, 64, 4)
    plain = tw.fingerprint(x.astype(np.uint8), dtype="u4")
    for name, pack in PACKED.items():
        assert tw.fingerprint(pack(x, 4), layout=name, dtype="u4") == plain, name


def test_values_above_the_type_are_refused() -> None:
    x = np.arange(32, dtype=np.uint8).reshape(4, 8)
    for to in ["col-major", "GPTQ", "AWQ as s32", "zN[C0=8]"]:
        with pytest.raises(tw.Error, match=r"cuts element \(2, 0\), which is 16; 0 to 15 fit"):
            tw.relayout(x, to, dtype="u4")
    with pytest.raises(tw.Error, match=r"dtype=u4 cuts element \(2, 0\)"):
        tw.fingerprint(x, dtype="u4")
    assert tw.relayout(x % 16, "col-major", dtype="u4").tolist() == (x % 16).T.tolist()
    tw.fingerprint(x % 16, dtype="u4")
    # A truth value is any number but 0, and what has the type itself has no value above it.
    tw.relayout(x, "col-major", dtype="pred")
    ml_dtypes = pytest.importorskip("ml_dtypes")
    tw.relayout((x % 16).astype(ml_dtypes.uint4), "col-major")
