"""GGUF files by the reference library, `gguf`: made for the corpus, and read back after a conversion.

    python gguf_files.py make FOLDER        writes the files of corpus/data
    python gguf_files.py check PROGRAM      converts them there and back, and reads every step with `gguf`
"""

import os
import subprocess
import sys
import tempfile

import gguf
import numpy as np
from gguf import GGMLQuantizationType as Type
from gguf import GGUFValueType as Kind

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "corpus", "data")
WHOLE = "tiny_quantised.gguf"
SPLIT = "tiny_split"
# Name, type, dims in logical order.
TENSORS = [
    ("token_embd.weight", Type.F16, (20, 64)),
    ("blk.0.attn_norm.weight", Type.F32, (9,)),
    ("blk.0.ffn_up.weight", Type.Q4_0, (24, 64)),
    ("blk.0.ffn_down.weight", Type.Q8_0, (6, 96)),
    ("blk.0.ffn_gate.weight", Type.Q6_K, (3, 512)),
    ("blk.0.attn_q.weight", Type.BF16, (7, 10)),
    ("blk.0.experts.weight", Type.MXFP4, (2, 5, 64)),
    ("blk.0.ids", Type.I32, (3, 4)),
    ("blk.0.codes", Type.I8, (5, 3, 2)),
]
NUMBERS = [
    (Kind.UINT8, 200), (Kind.INT8, -100), (Kind.UINT16, 60000), (Kind.INT16, -30000), (Kind.UINT32, 4000000000),
    (Kind.INT32, -2000000000), (Kind.FLOAT32, 1.5), (Kind.BOOL, True), (Kind.UINT64, 1 << 63), (Kind.INT64, -(1 << 62)),
    (Kind.FLOAT64, -0.1),
]


def metadata(writer):
    """A pair of every kind, alone and in an array."""
    for kind, value in NUMBERS:
        writer.add_key_value(f"test.{kind.name.lower()}", value, kind)
        writer.add_key_value(f"test.{kind.name.lower()}s", [value] * 3, Kind.ARRAY, sub_type=kind)
    writer.add_string("general.name", "tiny: né en 2024")
    writer.add_array("tokenizer.ggml.tokens", [f"<{i}>" for i in range(20)])
    writer.add_custom_alignment(64)


def tensors(writer, wanted=TENSORS):
    random = np.random.default_rng(7)
    for name, kind, dims in wanted:
        elements, bytes_ = gguf.GGML_QUANT_SIZES[kind]
        shape = (*dims[:-1], dims[-1] // elements * bytes_)
        plain = {Type.F16: np.float16, Type.F32: np.float32, Type.I32: np.int32, Type.I8: np.int8}
        data = random.integers(0, 256, shape, np.uint8) if elements > 1 or kind == Type.BF16 else random.integers(
            -99, 99, dims).astype(plain[kind])
        writer.add_tensor(name, data, raw_dtype=None if data.dtype != np.uint8 else kind)


def write(writer):
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def make(folder):
    whole = gguf.GGUFWriter(os.path.join(folder, WHOLE), "tiny")
    metadata(whole)
    tensors(whole)
    write(whole)
    split = gguf.GGUFWriter(os.path.join(folder, SPLIT + ".gguf"), "tiny", split_max_tensors=1)
    split.add_string("general.name", "three parts")
    tensors(split, [TENSORS[0], TENSORS[2], TENSORS[5]])
    write(split)


def facts(path):
    """Everything that the reference reads: fields but its own and those of parts, and tensors."""
    reader = gguf.GGUFReader(path)
    fields = {
        name: (field.types, field.contents()) for name, field in reader.fields.items()
        if not name.startswith(("GGUF.", "split.", "tilewright."))
    }
    found = {
        tensor.name: (tensor.tensor_type, tuple(tensor.shape.tolist()), tensor.data.tobytes(), tensor.data_offset % reader.alignment)
        for tensor in reader.tensors
    }
    return fields, found


def run(program, *words):
    subprocess.run([program, *words], check=True, stdout=subprocess.DEVNULL)


def moved(name, kind, dims, data):
    """What a tensor is after `MOVES`: its bytes, by numpy."""
    elements, bytes_ = gguf.GGML_QUANT_SIZES[kind]
    blocks = np.frombuffer(data, np.dtype((np.void, bytes_))).reshape(*dims[:-1], dims[-1] // elements)
    return np.ascontiguousarray(np.moveaxis(blocks, -1, 0)).tobytes()


def check(program):
    with tempfile.TemporaryDirectory() as folder:
        there, back = os.path.join(folder, "there.gguf"), os.path.join(folder, "back.gguf")
        original = os.path.join(DATA, WHOLE)
        rules = []
        for name, kind, dims in TENSORS:
            elements, _ = gguf.GGML_QUANT_SIZES[kind]
            letters = "abc"[: len(dims)]
            last = letters[-1]
            inner = f"({last} {last}0:{elements})" if elements > 1 else f"({last})"
            axes = " ".join(f"({letter})" for letter in letters[:-1])
            order = " ".join([last, *letters[:-1], *([f"{last}0"] if elements > 1 else [])])
            rules += ["--rule", f"{name}={axes} {inner} -> {order}"]
        run(program, "convert", original, there, *rules, "--verify")
        fields, before = facts(original)
        fields_there, after = facts(there)
        assert fields == fields_there, "metadata passes through"
        for name, kind, dims in TENSORS:
            expected = moved(name, kind, dims, before[name][2])
            marked = name if len(dims) == 1 else f"tilewright:{name}"
            is_kind, _, data, offset = after[marked]
            assert (is_kind, data, offset) == (kind, expected, 0), name
        run(program, "convert", there, back, "--to", "row-major", "--verify")
        with open(original, "rb") as one, open(back, "rb") as other:
            assert one.read() == other.read(), "there and back gives the file's bytes"
        merged = os.path.join(folder, "merged.gguf")
        parts = os.path.join(DATA, f"{SPLIT}-00002-of-00003.gguf")
        run(program, "convert", parts, merged, "--to", "row-major", "--verify")
        fields, whole = facts(merged)
        for part in range(3):
            own, few = facts(os.path.join(DATA, f"{SPLIT}-{part + 1:05}-of-00003.gguf"))
            assert own.items() <= fields.items() and few.items() <= whole.items(), "the parts are in the whole"
        assert len(whole) == 3
        resharded(program, original, folder)
    print("ok")


def resharded(program, original, folder):
    """Files of ranks have whole blocks of the source, and join to its bytes."""
    ranks, joined = os.path.join(folder, "ranks"), os.path.join(folder, "joined.gguf")
    cut = ("--format", "gguf", "--mesh", "tp=2", "--rule", "*ffn*=[Shard(0)]")
    run(program, "reshard", original, ranks, *cut, "--verify")
    fields, whole = facts(original)
    files = [facts(os.path.join(ranks, f"rank_{rank:05}-of-00002.gguf")) for rank in range(2)]
    for own, _ in files:
        assert fields.items() <= own.items(), "the metadata are those of the source"
    for name, _, dims in TENSORS:
        parts = [few[name] for _, few in files]
        assert all(part[0] == whole[name][0] and part[3] == 0 for part in parts), name
        cuts = "ffn" in name and len(dims) > 1
        data = parts[0][2] + parts[1][2] if cuts else parts[1][2]
        assert data == whole[name][2], name
    run(program, "reshard", ranks, joined, "--verify")
    fields_joined, after = facts(joined)
    assert fields_joined == fields
    assert {name: fact[:3] for name, fact in after.items()} == {name: fact[:3] for name, fact in whole.items()}


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](sys.argv[2])
