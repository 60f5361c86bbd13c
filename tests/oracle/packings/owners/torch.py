"""torch: CUTLASS's metadata of 2:4 sparse weights."""
import torch

from ask import packed, unpacked


def cases(sources):
    path = "torch/sparse/_semi_structured_conversions.py"
    name = "_calculate_meta_reordering_scatter_offsets"
    offsets = getattr(sources.functions(path, name, torch=torch), name)
    for rows, columns, bits in [(32, 4, 16), (96, 6, 16), (16, 4, 32), (80, 2, 32)]:
        dims = (rows, columns)
        spec, dtype = f"u{bits}[{rows},{columns}] CUTLASS_SPARSE_META", {16: torch.int16, 32: torch.int32}[bits]
        places = offsets(rows, columns, dtype, "cpu")
        typed = lambda x: torch.from_numpy(x.astype(f"uint{bits}").view(f"int{bits}")).view(-1)
        yield packed(name, spec, dims, bits, lambda x: torch.empty(rows * columns, dtype=dtype).scatter_(0, places, typed(x)))
        yield unpacked(f"{name}, gathered", spec, dims, bits, lambda x: typed(x).gather(0, places).view(dims).numpy())
