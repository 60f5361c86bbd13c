"""Records what llama.cpp's converter makes of tiny models, for tests that have no Python.

    python -B tests/oracle/recipes/record.py > corpus/recipes/gguf.jsonl

A line for each recipe: the keys of `config.json` that the recipe reads, names and extents of the tensors of the model, and names,
extents and a checksum (FNV-1a) of what the converter makes of them. All elements are f32: element j of tensor t, by name, is 8192 t + j.
"""

import json
import pathlib
import re
import sys
import tempfile

import torch
from safetensors import safe_open
from safetensors.torch import save_file

import by_llama_cpp as llama_cpp
import cases

RECIPES = pathlib.Path(__file__).resolve().parents[3] / "crates/tilewright-recipe/recipes"


def checksum(data):
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 & 0xFFFFFFFFFFFFFFFF
    return f"{found:016x}"


def recorded(case, folder):
    made = case.made("apart", torch.float32)
    case.published(made, folder / "model")
    path = folder / "model/model.safetensors"
    with safe_open(path, "pt") as file:
        extents = {name: list(file.get_slice(name).get_shape()) for name in sorted(file.keys())}
    number = lambda at, shape: torch.arange(torch.Size(shape).numel(), dtype=torch.float32).reshape(shape) + 8192 * at  # noqa: E731
    save_file({name: number(at, shape) for at, (name, shape) in enumerate(extents.items())}, path, {"format": "pt"})
    llama_cpp.converted(folder / "model", folder / "made.gguf")
    found = llama_cpp.tensors(folder / "made.gguf")
    text = (RECIPES / f"{case.recipe}.toml").read_text()
    config = json.loads((folder / "model/config.json").read_text())
    wanted = {"dtype", "model_type", "new_decoder_architecture", *re.findall(r"config\.(\w+)", text)}
    config = {key: value for key, value in config.items() if key in wanted}
    after = {name: [list(reversed(dims)), checksum(data)] for name, (kind, dims, data) in sorted(found.items()) if kind == "F32"}
    assert len(after) == len(found), case.recipe
    return {"recipe": case.recipe, "family": case.family, "config": config, "before": extents, "after": after}


def main():
    seen = set()
    for case in cases.CASES:
        if isinstance(case, cases.Gguf) and (case.recipe, case.family) not in seen and (not sys.argv[1:] or case.recipe in sys.argv[1:]):
            seen.add((case.recipe, case.family))
            with tempfile.TemporaryDirectory() as folder:
                print(json.dumps(recorded(case, pathlib.Path(folder)), separators=(",", ":")))


if __name__ == "__main__":
    main()
