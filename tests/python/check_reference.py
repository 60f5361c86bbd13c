"""Do the reference Python libraries read what the program wrote, and is it what they would have written?

    python tests/python/check_reference.py PROGRAM [--torch]

Files go through the program and are read back by safetensors and NumPy. Every storage is compared byte
for byte with a formula of NumPy's own operations (pad, reshape, transpose), never with the program's
idea of the layout. Exit code 1 at the first disagreement.
"""

import argparse
import fnmatch
import json
import pathlib
import subprocess
import sys
import tempfile

import ml_dtypes  # Registers bfloat16 and the 8-bit floats with NumPy.
import numpy as np
import safetensors
import safetensors.numpy

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "corpus" / "data"

# The bytes of one element, by the spelling of safetensors.
WIDTH = {"BOOL": 1, "U8": 1, "I8": 1, "F8_E4M3": 1, "F8_E5M2": 1, "U16": 2, "I16": 2, "F16": 2, "BF16": 2}
WIDTH |= {"U32": 4, "I32": 4, "F32": 4, "U64": 8, "I64": 8, "F64": 8, "C64": 8}


class Disagreement(Exception):
    """What the program did and what it should have done."""


def require(truth, *said):
    if not truth:
        raise Disagreement(" ".join(str(part) for part in said))


class Program:
    def __init__(self, path):
        self.path = path

    def answer(self, *words):
        """The exit code, with what was printed."""
        command = [str(self.path), *[str(word) for word in words]]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300)
        return done.returncode, f"`{' '.join(command)}` exit {done.returncode}\n{done.stdout}{done.stderr}"

    def does(self, *words):
        code, said = self.answer(*words)
        require(code == 0, said)

    def converts(self, source, there, *words):
        self.does("convert", source, there, *words)
        require(pathlib.Path(str(there).removeprefix("raw:")).exists(), "no file was written:", there)

    def refuses(self, *words):
        code, said = self.answer(*words)
        require(code in (2, 3), "should have been refused:", said)


# What the layouts mean, in NumPy's operations.


def padded(array, *multiples):
    widths = [(0, -extent % multiple) for extent, multiple in zip(array.shape, multiples, strict=True)]
    return np.pad(array, widths)


def zn(array):
    """zN: blocks of 16 rows by 32 bytes, column of blocks after column of blocks, each block by rows."""
    c0 = 32 // array.itemsize
    full = padded(array, 16, c0)
    rows, columns = full.shape
    return np.ascontiguousarray(full.reshape(rows // 16, 16, columns // c0, c0).transpose(2, 0, 1, 3))


def tiles(array):
    """Tiles of 8 rows by 128 columns, row of tiles after row of tiles, also where there is one."""
    full = padded(array, 8, 128)
    rows, columns = full.shape
    return np.ascontiguousarray(full.reshape(rows // 8, 8, columns // 128, 128).transpose(0, 2, 1, 3))


def nc1hwc0(array):
    """NC1HWC0: channels in groups of 32 bytes, each group innermost."""
    c0 = 32 // array.itemsize
    full = padded(array, 1, c0, 1, 1)
    n, c, h, w = full.shape
    return np.ascontiguousarray(full.reshape(n, c // c0, c0, h, w).transpose(0, 1, 3, 4, 2))


# Reading safetensors files by the reference library.


class Tensor:
    def __init__(self, fields):
        self.dtype, self.shape, self.data = fields["dtype"], tuple(fields["shape"]), bytes(fields["data"])

    def array(self):
        """The bits as unsigned integers of the same width: layouts move bits, not numbers."""
        return np.frombuffer(self.data, dtype=f"<u{WIDTH[self.dtype]}").reshape(self.shape)

    def key(self):
        return self.dtype, self.shape, self.data


def tensors(path):
    return {name: Tensor(fields) for name, fields in safetensors.deserialize(path.read_bytes())}


def metadata(path):
    with safetensors.safe_open(path, framework="numpy") as file:
        return file.metadata() or {}


def opens(path, expected, torch):
    """Every reader of the reference library sees the names, and the shapes and bits where it has the dtype."""
    with safetensors.safe_open(path, framework="numpy") as file:
        require(set(file.keys()) == set(expected), path.name, "holds", sorted(file.keys()))
        for name, tensor in expected.items():
            require(tuple(file.get_slice(name).get_shape()) == tensor.shape, name, "has another shape")
            if not tensor.dtype.startswith("F8_"):
                require(file.get_tensor(name).tobytes() == tensor.data, name, "reads otherwise")
    if torch:
        opens_in_torch(path, expected)


def opens_in_torch(path, expected):
    import torch

    with safetensors.safe_open(path, framework="pt") as file:
        for name, tensor in expected.items():
            read = file.get_tensor(name)
            require(tuple(read.shape) == tensor.shape, name, "has another shape in torch")
            bits = read.contiguous().reshape(-1).view(torch.uint8).numpy().tobytes()
            require(bits == tensor.data, name, "reads otherwise in torch")


# The checks.


def safetensors_there_and_back(program, folder, source, pattern, spec, formula, torch):
    """To `spec`, against the formula; and back, against the file we began with."""
    there, back = folder / f"there-{source.name}", folder / f"back-{source.name}"
    program.converts(source, there, "--to", spec, "--tensor", pattern, "--verify")
    before, after = tensors(source), tensors(there)
    require(set(before) == set(after), "the names changed:", sorted(set(before) ^ set(after)))
    chosen = [name for name in before if fnmatch.fnmatchcase(name, pattern)]
    require(chosen, pattern, "matches no tensor of", source.name)
    for name, tensor in before.items():
        if name in chosen:
            expected = formula(tensor.array())
            same_storage(f"{source.name}: {name} as {spec}", after[name], tensor.dtype, expected)
        else:
            require(after[name].key() == tensor.key(), name, "was not to be touched")
    keeps_metadata(source, there, chosen)
    opens(there, after, torch)
    program.does("verify", there, "--against", source)
    program.converts(there, back, "--to", "row-major", "--verify")
    for name, tensor in before.items():
        require(tensors(back)[name].key() == tensor.key(), name, "did not come back from", spec)
    return len(chosen)


def same_storage(what, tensor, dtype, expected):
    require(tensor.dtype == dtype, what, "is stored as", tensor.dtype, "instead of", dtype)
    require(tensor.shape == expected.shape, what, "has shape", tensor.shape, "instead of", expected.shape)
    found = np.frombuffer(tensor.data, dtype=expected.dtype)
    differ = np.flatnonzero(found != expected.reshape(-1))
    require(differ.size == 0, what, "differs at", differ.size, "places, first", differ[:1])


def keeps_metadata(source, there, chosen):
    before, after = metadata(source), metadata(there)
    kept = {key: value for key, value in after.items() if not key.startswith("tilewright.")}
    require(kept == before, "the metadata changed:", before, "->", kept)
    for name in chosen:
        require(after.get(f"tilewright.layout.{name}"), "no tilewright.layout for", name, "in", json.dumps(after))


def written_by_numpy(folder):
    """A file of the reference library's own, with every dtype it writes and awkward shapes."""
    random = np.random.default_rng(7)
    kinds = [np.float16, ml_dtypes.bfloat16, np.float32, np.float64, np.int8, np.uint8, np.int16]
    kinds += [np.uint16, np.int32, np.uint32, np.int64, np.uint64]
    shapes = [(1, 1), (16, 32), (17, 33), (3, 200), (100, 5)]
    contents = {}
    for kind in kinds:
        for shape in shapes:
            values = random.integers(0, 256, (*shape, np.dtype(kind).itemsize), dtype=np.uint8)
            contents[f"{np.dtype(kind).name}.{shape[0]}x{shape[1]}"] = values.view(kind)[..., 0]
    path = folder / "numpy.safetensors"
    safetensors.numpy.save_file(contents, path, metadata={"made by": "the reference library"})
    return path


def check_safetensors(program, folder, torch):
    mixed, cnn = DATA / "tiny_llm_mixed.safetensors", DATA / "tiny_cnn_f32.safetensors"
    count = safetensors_there_and_back(program, folder, mixed, "*proj.weight", "zN", zn, torch)
    count += safetensors_there_and_back(program, folder, cnn, "[012].weight", "NC1HWC0[C0=8]", nc1hwc0, torch)
    count += safetensors_there_and_back(program, folder, written_by_numpy(folder), "*", "zN", zn, torch)
    for spec in ("{1,0:T(8,128)}", "TPU_8x128"):
        own = folder / spec
        own.mkdir()
        count += safetensors_there_and_back(program, own, written_by_numpy(own), "*", spec, tiles, torch)
    return count


def arrays():
    """Arrays of several dtypes, in C and in Fortran order, none of a size that tiles divide."""
    kinds = ["|b1", "|u1", "|i1", "<i2", "<u2", "<f2", "<i4", "<f4", "<f8", "<c8", "<c16"]
    for kind in kinds:
        numbers = np.arange(50 * 30).reshape(50, 30)
        array = (numbers % 3 == 0) if kind == "|b1" else numbers.astype(kind)
        yield f"{kind[1:]}-c", np.ascontiguousarray(array)
        yield f"{kind[1:]}-f", np.asfortranarray(array)


def check_npy(program, folder):
    count = 0
    for name, array in arrays():
        source = folder / f"{name}.npy"
        np.save(source, array)
        for spec, order in [("col-major", "F"), ("row-major", "C")]:
            there = folder / f"{name}-{spec}.npy"
            program.converts(source, there, "--to", spec, "--verify")
            npy_equals(there, array, order)
        there = folder / f"{name}-zn.npy"
        program.converts(source, there, "--to", "zN", "--verify")
        npy_equals(there, zn(array), "C")
        there = folder / f"{name}-tiles.npy"
        program.converts(source, there, "--to", "{1,0:T(8,128)}", "--verify")
        npy_equals(there, tiles(array), "C")
        count += 4
    return count


def npy_equals(path, array, order):
    read = np.load(path)
    require(read.dtype == array.dtype, path.name, "has dtype", read.dtype, "instead of", array.dtype)
    require(read.shape == array.shape, path.name, "has shape", read.shape, "instead of", array.shape)
    require(read.tobytes() == array.tobytes(), path.name, "holds other values")
    flag = read.flags.f_contiguous if order == "F" else read.flags.c_contiguous
    require(flag, path.name, f"is not in {order} order")


def check_raw(program, folder):
    array = np.arange(50 * 30, dtype="<f4").reshape(50, 30)
    source, there = folder / "in.bin", folder / "out.bin"
    source.write_bytes(array.tobytes())
    shape = ["--from", "row-major", "--dims", "50,30", "--dtype", "f32"]
    program.converts(f"raw:{source}", f"raw:{there}", "--to", "zN", *shape)
    require(there.read_bytes() == zn(array).tobytes(), "raw bytes as zN differ")
    return 1


def check_refusals(program, folder):
    """What must not be done is not done, and nothing is left changed."""
    source, there = folder / "refused.npy", folder / "kept.npy"
    np.save(source, np.zeros((4, 4), dtype="<f4"))
    there.write_bytes(b"not to be overwritten")
    before = source.read_bytes()
    program.refuses("convert", source, there, "--to", "zN")
    require(there.read_bytes() == b"not to be overwritten", "an existing file was overwritten without --force")
    program.refuses("convert", source, source, "--to", "zN", "--force")
    require(source.read_bytes() == before, "a file was converted onto itself")
    program.refuses("convert", source, folder / "new.npy", "--to", "no-such-layout")
    require(not (folder / "new.npy").exists(), "a refused conversion left a file")
    return 3


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--torch", action="store_true", help="let torch read the files as well")
    arguments = parser.parse_args()
    program = Program(arguments.program)
    checks = {
        "safetensors": lambda folder: check_safetensors(program, folder, arguments.torch),
        "npy": lambda folder: check_npy(program, folder),
        "raw": lambda folder: check_raw(program, folder),
        "refusals": lambda folder: check_refusals(program, folder),
    }
    for name, check in checks.items():
        with tempfile.TemporaryDirectory() as folder:
            try:
                print(f"{name}: {check(pathlib.Path(folder))} agree")
            except Disagreement as why:
                print(f"{name}: {why}", file=sys.stderr)
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
