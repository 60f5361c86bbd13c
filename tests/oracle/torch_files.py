"""A `.pt` file by torch: made for the corpus, and compared with what a conversion to safetensors makes of it.

    python torch_files.py make FOLDER        writes the file of corpus/data
    python torch_files.py check PROGRAM      converts it and a training checkpoint, and reads the results with safetensors
"""

import os
import subprocess
import sys
import tempfile

import torch
from safetensors.torch import load_file

HERE = os.path.dirname(os.path.abspath(__file__))
DATA = os.path.join(HERE, "..", "..", "corpus", "data")
FILE = "tiny_torch.pt"


def tensors():
    """Numbered elements: views of one storage, every order of strides, and a type of each class of storages."""
    whole = torch.arange(48, dtype=torch.float32).reshape(6, 8)
    return {
        "whole": whole,
        "transposed": whole.t(),
        "cut": whole[1:5:2, 2:7],
        "repeated": torch.arange(3, dtype=torch.int16).expand(4, 3),
        "channels_last": torch.arange(120, dtype=torch.float64).reshape(2, 3, 4, 5).to(memory_format=torch.channels_last),
        "half": torch.arange(6).half().reshape(2, 3),
        "brain": torch.arange(6).bfloat16().reshape(2, 3),
        "eight": torch.arange(8).to(torch.float8_e4m3fn),
        "unsigned": torch.arange(5).to(torch.uint16),
        "bytes": torch.arange(5, dtype=torch.uint8),
        "signed": torch.arange(-2, 3, dtype=torch.int8),
        "int": torch.arange(3, dtype=torch.int32),
        "long": torch.tensor(7),
        "truth": torch.tensor([True, False, True]),
        "complex": torch.arange(4).to(torch.complex64),
        "empty": torch.zeros(0, 3),
    }


def make(folder):
    torch.save({"step": 3, "model": tensors(), "averages": [torch.nn.Parameter(torch.ones(2)), None]}, os.path.join(folder, FILE))


def flat(value, name=""):
    """The tensors in dicts and lists, under the names that their keys make."""
    if isinstance(value, torch.Tensor):
        yield name, value
    elif isinstance(value, (dict, list, tuple)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from flat(part, f"{name}.{key}" if name else str(key))


def compare(program, path, folder):
    result = os.path.join(folder, "result.safetensors")
    words = [program, "convert", path, result, "--to", "row-major", "--verify", "--force"]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wanted, found = dict(flat(torch.load(path, weights_only=True))), load_file(result)
    assert wanted.keys() == found.keys(), wanted.keys() ^ found.keys()
    for name, tensor in wanted.items():
        assert tensor.dtype == found[name].dtype and tensor.shape == found[name].shape, name
        bits = [one.detach().contiguous().reshape(-1).view(torch.uint8) for one in (tensor, found[name])]
        assert torch.equal(*bits), name


def check(program):
    model = torch.nn.Sequential(torch.nn.Linear(4, 3), torch.nn.BatchNorm1d(3))
    optimizer = torch.optim.Adam(model.parameters())
    model(torch.randn(2, 4)).sum().backward()
    optimizer.step()
    with tempfile.TemporaryDirectory() as folder:
        compare(program, os.path.join(DATA, FILE), folder)
        training = os.path.join(folder, "a-long-name-of-a-part-00001-of-00002.bin")
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict()}, training)
        compare(program, training, folder)
    print("ok")


if __name__ == "__main__":
    {"make": make, "check": check}[sys.argv[1]](sys.argv[2])
