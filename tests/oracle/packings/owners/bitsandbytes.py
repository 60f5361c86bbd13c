"""bitsandbytes: values of four bits, NF4 and FP4."""
import math
import typing

import torch

from ask import unpacked
from owners.words import octets


def cases(sources):
    path = "bitsandbytes/backends/default/ops.py"
    known = dict(torch=torch, prod=math.prod, Sequence=typing.Sequence)
    compute = sources.functions(path, "_dequantize_4bit_compute", **known)._dequantize_4bit_compute
    codes = torch.arange(16, dtype=torch.float32)
    for dims in [(6, 16), (5, 6), (64, 128), (3, 4, 32)]:
        spec = f"u4[{','.join(map(str, dims))}]E(4) BNB_4BIT"
        count = math.prod(dims)

        def read(x):
            ones = torch.ones(-(-count // 64))
            return compute(octets(x[::2] | x[1::2] << 4).flatten(), ones, codes, 64, dims, torch.float32).numpy()

        yield unpacked("_dequantize_4bit_compute", spec, dims, 4, read)
