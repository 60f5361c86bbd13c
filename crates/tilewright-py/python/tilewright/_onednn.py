"""Weights that vLLM gave to oneDNN or packed in a closure: the bytes, read from this process's own memory.

vLLM keeps a handler with a map from kinds of arguments to oneDNN's memory objects. The way from the handler to the bytes is
searched word by word, and a block counts only if it holds the values of the weight and zeros.
"""

from __future__ import annotations

import importlib
import struct
from collections.abc import Iterator, Mapping
from typing import Any

#: The key of weights among the arguments of oneDNN, ``DNNL_ARG_WEIGHTS``.
_WEIGHTS = 33


def packed(model: Any, before: Mapping[str, Any]) -> dict[str, Any]:
    """The packed weights of the layers of a model, by the names of their parameters, in the order of memory."""
    torch: Any = importlib.import_module("torch")

    found: dict[str, Any] = {}
    with open("/proc/self/mem", "rb", buffering=0) as memory:
        for prefix, module in model.named_modules():
            name = f"{prefix}.weight"
            for value in _closed_over(module.__dict__.get("cpu_linear")):
                if isinstance(value, torch.Tensor) and value.numel() and value.data_ptr() != module.weight.data_ptr():
                    found[name] = value.detach().clone()
                elif type(value).__name__ == "CPUDNNLGEMMHandler" and name in before:
                    block = _block(_Memory(memory), int(value.handler_tensor.item()), before[name])
                    if block is not None:
                        found[name] = block
    return found


def _closed_over(function: Any) -> list[Any]:
    """The values that a function closes over."""
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    cells = getattr(function, "__closure__", None) or ()
    return [cell.cell_contents for name, cell in zip(names, cells) if name != "origin_weight"]


class _Memory:
    """The memory of this process. What is not mapped reads as nothing."""

    def __init__(self, file: Any) -> None:
        self._file = file

    def read(self, address: int, size: int) -> bytes:
        if not 4096 < address < 1 << 47:
            return b""
        try:
            self._file.seek(address)
            return bytes(self._file.read(size))
        except (OSError, ValueError):
            return b""

    def pointers(self, address: int, size: int) -> Iterator[int]:
        """The words of a range that could be addresses."""
        data = self.read(address, size)
        for (word,) in struct.iter_unpack("<Q", data[: len(data) // 8 * 8]):
            if 4096 < word < 1 << 47:
                yield word

    def weights(self, handler: int) -> Iterator[int]:
        """The memory objects of weights in the maps of a handler: nodes of a list with a key and a pointer."""
        for node in self.pointers(handler, 512):
            for _ in range(8):
                head = self.read(node, 24)
                if len(head) < 24:
                    break
                node, key, value = struct.unpack("<QixxxxQ", head)
                if key == _WEIGHTS:
                    yield value


def _up(size: int, unit: int) -> int:
    """A size rounded up to whole units."""
    return -(-size // unit) * unit


def _block(memory: _Memory, handler: int, weight: Any) -> Any:
    """The block behind a handler that holds the values of a weight, padded by zeros; None if there is none."""
    import numpy as np
    torch: Any = importlib.import_module("torch")

    width = weight.element_size()
    values = np.sort(weight.contiguous().reshape(-1).view(torch.uint8).numpy().view(f"u{width}"))
    values = values[values != 0]
    n, k = weight.shape
    sizes = sorted({width * _up(n, a) * _up(k, b) for a in (1, 16, 32, 48, 64) for b in (1, 2, 4, 16, 32, 64)})
    for weights in memory.weights(handler):
        for vector in memory.pointers(weights, 1024):
            for storage in memory.pointers(vector, 8):
                for data in memory.pointers(storage, 64):
                    for size in sizes:
                        block = memory.read(data, size)
                        if len(block) != size:
                            break
                        units = np.sort(np.frombuffer(block, f"u{width}"))
                        if np.array_equal(units[units != 0], values):
                            return torch.frombuffer(bytearray(block), dtype=weight.dtype)
    return None
