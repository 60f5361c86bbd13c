"""`.npy` and `.npz` files by NumPy: made for the corpus; the `.npz` files are read back after a conversion.

    python npz_files.py make FOLDER        writes the files of corpus/data
    python npz_files.py check PROGRAM      converts them there and back, and reads every step with NumPy
"""

import os
import subprocess
import sys
import tempfile
import zipfile

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "corpus", "data")
STORED, DEFLATED, CONVOLUTION = "tiny_stored.npz", "tiny_deflated.npz", "tiny_conv.npy"


def arrays():
    random = np.random.default_rng(7)
    return {
        "weight": random.integers(-99, 99, (20, 33)).astype(np.float32),
        "fortran": np.asfortranarray(random.integers(0, 99, (5, 6)).astype(np.int16)),
        "big": random.integers(0, 99, (3, 4, 5)).astype(">u4"),
        "raw": random.integers(0, 256, (7, 10), np.uint16).view("V2"),
        "deep/name": random.integers(0, 2, (2, 3)).astype(bool),
        "scalar": np.float64(2.5),
        "empty": np.zeros((0, 4), np.complex64),
    }


def make(folder):
    np.savez(os.path.join(folder, STORED), **arrays())
    np.savez_compressed(os.path.join(folder, DEFLATED), **arrays())
    numbered = np.arange(8 * 20 * 3 * 3, dtype=np.float32)
    np.save(os.path.join(folder, CONVOLUTION), numbered.reshape(8, 20, 3, 3))


def same(path, expected):
    with np.load(path) as found:
        names = [name for name in found.files if name != "tilewright.json"]
        assert names == list(expected), (names, list(expected))
        for name, array in expected.items():
            is_same = found[name].dtype == array.dtype and found[name].tobytes() == array.tobytes()
            assert is_same and found[name].shape == array.shape, name
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None


def moved(name, array):
    """What an array is in blocks of 2 × 3, by NumPy."""
    if array.ndim != 2 or array.size == 0:
        return array
    m, n = array.shape
    padded = np.zeros((-(-m // 2) * 2, -(-n // 3) * 3), array.dtype)
    padded[:m, :n] = array
    blocks = padded.reshape(padded.shape[0] // 2, 2, padded.shape[1] // 3, 3)
    return np.ascontiguousarray(blocks.transpose(0, 2, 1, 3))


def check(program):
    with tempfile.TemporaryDirectory() as folder:
        there, back = os.path.join(folder, "there.npz"), os.path.join(folder, "back.npz")
        for file in (STORED, DEFLATED):
            original = os.path.join(DATA, file)
            rules = [f"--rule={name}=(m m0:2) (n n0:3) -> m n m0 n0" for name in ("weight", "fortran", "raw", "deep/name")]
            for words in ([original, there, *rules], [there, back, "--to", "row-major"]):
                subprocess.run([program, "convert", *words, "--verify", "--force"], check=True, stdout=subprocess.DEVNULL)
            same(original, arrays())
            same(there, {name: moved(name, array) for name, array in arrays().items()})
            # A conversion to row-major leaves no Fortran order.
            same(back, {name: np.ascontiguousarray(array) if array.ndim else array for name, array in arrays().items()})
    print("ok")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](sys.argv[2])
