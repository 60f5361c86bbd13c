"""Files with changed headers, read by the reference readers and by Tilewright: what one accepts the other
accepts with the same tensors, except for the reasons listed here.

    python readers.py COMMAND…        COMMAND and a folder prints a line of JSON for each file of the folder

`READERS_COUNT` and `READERS_SEED` set how many files of each format there are, and which.
"""

import io
import json
import os
import random
import re
import struct
import subprocess
import sys
import tempfile
import warnings
import zlib

import numpy as np
import safetensors

COUNT = int(os.environ.get("READERS_COUNT", "2000"))
SEED = int(os.environ.get("READERS_SEED", "1"))

# Why Tilewright refuses what the reference accepts: words of its error, and the reason.
WE_REFUSE = {
    "safetensors": {
        "occurs twice": "a name that occurs twice says two things",
    },
    "npy": {
        "after its header": "more bytes than the array has",
        "a dtype is an order": "a dtype in words that NumPy does not write",
        "dates and time spans|strings are no": "dates and texts are not elements of a tensor",
        "raw elements are": "raw elements of a width that nothing moves",
        r"\.npy header: byte": "a literal of Python that NumPy does not write",
    },
}
# Why the reference refuses what Tilewright accepts: words of its error, and the reason.
THEY_REFUSE = {
    "safetensors": {},
    "npy": {
        "shape is not valid": "one extent in brackets without a comma, which is not a tuple in Python",
        r"Cannot parse header: .*\dL": "an integer of Python 2 in a version that came after it",
    },
}

DTYPES = {"F64": 8, "F32": 4, "F16": 2, "BF16": 2, "I64": 8, "I32": 4, "I16": 2, "I8": 1, "U8": 1, "BOOL": 1}


def entry(dice, at):
    dtype = dice.choice(list(DTYPES))
    shape = [dice.randrange(4) for _ in range(dice.randrange(4))]
    size = DTYPES[dtype]
    for extent in shape:
        size *= extent
    return {"dtype": dtype, "shape": shape, "data_offsets": [at, at + size]}, at + size


# What is done to the text of a header: each answers the changed text.
def swapped(dice, text, words):
    old, new = dice.choice(words)
    places = [found.start() for found in re.finditer(re.escape(old), text)]
    if not places:
        return text
    at = dice.choice(places)
    return text[:at] + new + text[at + len(old) :]


JSON_WORDS = [
    ("0", "1"), ("1", "-1"), ("2", "2.0"), ("0", "00"), ("3", "3e0"), ("[", "[ "), (",", ", "), (":", " : "),
    ("F32", "f32"), ("F32", "F31"), ("shape", "Shape"), ('"shape"', '"extra":1,"shape"'), ("}", ",}"), ("]", ",]"),
    ('"a"', '"b"'), ('"a"', '""'), ('"a"', '"\\u0061"'), ('"a"', '"__metadata__"'), ("{", "{{"), ('"k":"v"', '"k":1'),
    ('"k":"v"', '"k":null'), ("null", "0"), ("[", "["), ("{", "{\n"), ("}", "} "), ("0", "18446744073709551616"),
    ("dtype", "data_offsets"), ('"v"', '"v","k":"w"'), ("BOOL", "F8_E4M3"), ("U8", "U64"), ("I8", "F4"),
]  # fmt: skip

PYTHON_WORDS = [
    ("'", '"'), ("False", "True"), ("False", "0"), (", }", "}"), (", ", ","), ("'<f4'", "'f4'"), ("'<f4'", "'>f4'"),
    ("'<f4'", "'float32'"), ("<f4", "|u1"), ("<f4", "=i8"), ("<f4", "<U5"), ("<f4", "|V3"), ("<f4", "<M8[s]"), ("<f4", "|O"),
    ("<f4", "?"), ("<f4", "i"), ("<f4", "<f3"), ("<f4", "<c8"), ("<f4", "|b1"), ("(", "["), (",)", ")"), ("2", "2L"), ("3", "0"),
    ("3", "-3"), ("2", "1_0"), ("2", "0x2"), ("2", "True"), ("{", " {"), ("{", "{'x': 1, "), ("'shape'", "u'shape'"),
    ("'descr'", "'Descr'"), ("}", "} #"), ("3", "3 "), (":", " :"), ("'shape'", "'descr'"), ("2", "9223372036854775808"),
]  # fmt: skip


def bytes_changed(dice, data):
    data = bytearray(data)
    for _ in range(dice.randrange(3)):
        at = dice.randrange(len(data) + 1)
        match dice.randrange(3):
            case 0:
                data[at : at + 1] = bytes([dice.randrange(256)])
            case 1:
                del data[at : at + dice.randrange(4)]
            case 2:
                data[at:at] = bytes([dice.randrange(32, 127)])
    return bytes(data)


def safetensors_file(dice):
    header, at = {}, 0
    if dice.randrange(3) == 0:
        header["__metadata__"] = {"k": "v"}
    for name in ["a", "b", "weight.é"][: dice.randrange(4)]:
        header[name], at = entry(dice, at)
    if dice.randrange(6) == 0:
        at += dice.choice([-1, 1, 8])
    text = json.dumps(header, separators=(",", ":"), ensure_ascii=dice.randrange(2) == 0)
    for _ in range(dice.randrange(3)):
        text = swapped(dice, text, JSON_WORDS)
    text += " " * dice.choice([0, 0, -len(text) % 8, 3])
    data = dice.randbytes(max(at, 0))
    raw = text.encode("utf-8", "surrogatepass")
    if dice.randrange(4) == 0:
        raw = bytes_changed(dice, raw)
    length = len(raw) + (dice.choice([-1, 1, 1 << 40]) if dice.randrange(30) == 0 else 0)
    return struct.pack("<Q", max(length, 0)) + raw + data


def npy_file(dice):
    shape = tuple(dice.choice([0, 2, 3]) for _ in range(dice.randrange(4)))
    text = f"{{'descr': '<f4', 'fortran_order': {dice.randrange(2) == 0}, 'shape': {shape}, }}"
    size = 4
    for extent in shape:
        size *= extent
    for _ in range(dice.randrange(3)):
        text = swapped(dice, text, PYTHON_WORDS)
    raw = text.encode("latin1")
    if dice.randrange(5) == 0:
        raw = bytes_changed(dice, raw)
    raw += b" " * (-(len(raw) + 11) % 64) + dice.choice([b"\n", b"\n", b""])
    version = dice.choice([1, 1, 1, 2, 3, 4])
    length = struct.pack("<H", len(raw)) if version == 1 else struct.pack("<I", len(raw))
    data = dice.randbytes(max(size + dice.choice([0, 0, 0, 0, 1, -1, 40]), 0))
    return b"\x93NUMPY" + bytes([version, dice.choice([0] * 20 + [1])]) + length + raw + data


def reads_safetensors(data):
    found = {}
    for name, tensor in safetensors.deserialize(data):
        found[name] = [tensor["dtype"], list(tensor["shape"]), zlib.crc32(bytes(tensor["data"]))]
    return found


def reads_npy(data):
    array = np.load(io.BytesIO(data), allow_pickle=False)
    # What is no array may be an archive.
    if not isinstance(array, np.ndarray):
        raise ValueError("no array")
    return [list(array.shape), zlib.crc32(array.tobytes(order="A"))]


def theirs(read, data):
    try:
        return read(data), None
    except Exception as error:
        return None, f"{type(error).__name__}: {error}"


def same(kind, ours, found):
    if kind == "safetensors":
        return ours == found
    if len(ours) != 1:
        return False
    ((_, shape, check),) = ours.values()
    # NumPy's arrays of Fortran order are stored with their dims reversed.
    return check == found[1] and sorted(shape) == sorted(found[0])


def listed(reasons, said):
    return next((why for words, why in reasons.items() if re.search(words, said)), None)


def compare(kind, make, read, command):
    dice = random.Random(SEED)
    counts, wrong = {}, []
    with tempfile.TemporaryDirectory() as folder:
        files = [make(dice) for _ in range(COUNT)]
        for number, data in enumerate(files):
            with open(os.path.join(folder, f"{number:06}.{kind}"), "wb") as file:
                file.write(data)
        lines = subprocess.run([*command, folder], check=True, stdout=subprocess.PIPE).stdout.decode().splitlines()
    assert len(lines) == len(files), (len(lines), len(files))
    warnings.simplefilter("ignore")
    for data, line in zip(files, lines):
        said = json.loads(line)
        found, refused = theirs(read, data)
        ours, error = said.get("tensors"), said.get("error")
        if ours is not None and found is not None:
            verdict = "both read the same" if same(kind, ours, found) else None
        elif ours is None and found is None:
            verdict = "both refuse"
        elif ours is None:
            why = listed(WE_REFUSE[kind], error)
            verdict = why and f"refused: {why}"
        else:
            why = listed(THEY_REFUSE[kind], refused)
            verdict = why and f"read: {why}"
        if verdict is None:
            wrong.append((data[:400], ours or error, found or refused))
        counts[verdict] = counts.get(verdict, 0) + 1
    for verdict, count in sorted(counts.items(), key=lambda it: -it[1]):
        print(f"    {kind}: {count:6} {verdict or 'DIFFERENT'}")
    for case in wrong[:12]:
        print("      ", *case, sep="\n        ")
    return not wrong


if __name__ == "__main__":
    command = sys.argv[1:]
    done = [
        compare("safetensors", safetensors_file, reads_safetensors, command),
        compare("npy", npy_file, reads_npy, command),
    ]
    sys.exit(0 if all(done) else 1)
