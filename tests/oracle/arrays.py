"""Where NumPy, PyTorch and JAX put the elements of arrays: questions for `tilewright eval -` with their
answers, a tab between them.

    python tests/oracle/arrays.py [numpy] [torch] [jax]

Arrays are views of an iota, so that an element's value is its place. `cargo xtask oracles` asks the
questions and compares; libraries that are not named are left out.
"""

import ctypes
import itertools
import sys

import ml_dtypes
import numpy as np


def ask(spec, coordinate, place):
    coordinate = "(" + "".join(f"{c}," for c in coordinate) + ")"
    print(f'offset("{spec}", {coordinate})\t{place}')


def some(shape, most=24):
    """Some coordinates of an array, the first and the last among them."""
    every = list(itertools.product(*map(range, shape)))
    step = max(1, len(every) // most)
    return every[::step] + every[-1:]


def numpy_views():
    for dtype in ["<f4", "<i2", "|u1", "<f8", "<c16", "|b1"]:
        # Truth values are no iota; their places are those of the bytes below them.
        base = np.arange(720).astype("<i8" if dtype == "|b1" else dtype)
        if dtype == "|b1":
            base = np.zeros(720, dtype)
        cube = base.reshape(8, 9, 10)
        views = [cube, cube.T, cube[::2, 1:, ::3], cube[::-1], cube[:, ::-2, 4], cube.transpose(1, 2, 0)]
        views += [np.broadcast_to(cube[0, :, :1], (4, 9, 7)), np.asfortranarray(cube), cube[3, 4, 5:6], cube[2:3]]
        for view in views:
            own = view if view.base is None else view
            first = own.ctypes.data - base.ctypes.data
            if not 0 <= first < base.nbytes:
                base_data, first = own.ctypes.data, 0
            else:
                base_data = base.ctypes.data
            interface = own.__array_interface__
            strides = "" if interface["strides"] is None else f",strides={interface['strides']}"
            offset = f",offset={first}" if first else ""
            spec = f"numpy:shape={interface['shape']}{strides}{offset},dtype={interface['typestr']}"
            for at in some(own.shape):
                place = (own[at[:-1] + (slice(at[-1], at[-1] + 1),)].ctypes.data - base_data) // own.itemsize
                ask(spec, at, place)
                if not first:
                    ask(str(interface), at, place)


def numpy_types():
    """An element of every type has the width that its name stands for."""
    names = [name for name in dir(ml_dtypes) if isinstance(getattr(ml_dtypes, name), type)]
    names = [name for name in names if name.startswith(("float8", "float4", "bfloat", "int", "uint"))]
    for name in names:
        width = np.dtype(getattr(ml_dtypes, name)).itemsize
        ask(f"numpy:shape=(3,),strides=({2 * width},),dtype={name}", (2,), 4)


def torch_tensors():
    import torch

    base = torch.arange(2 * 3 * 4 * 5 * 6)
    block, cube = base.reshape(2, 3, 4, 30), base.reshape(6, 10, 12)
    for tensor in [
        block,
        block.permute(3, 0, 2, 1),
        block[:, 1:, ::2, 3],
        cube.transpose(0, 2).narrow(1, 2, 5),
        cube.diagonal(),
        cube[2:3, :, 5:6].expand(6, 10, 12),
        torch.as_strided(base, (4, 5), (7, 3), 11),
    ]:
        size, stride = tuple(tensor.size()), tensor.stride()
        spec = f"torch:size={size},stride={stride},storage_offset={tensor.storage_offset()},dtype={tensor.dtype}"
        for at in some(size):
            ask(spec, at, tensor[at].item())
    for dims, form in [((2, 3, 4, 5), "channels_last"), ((2, 3, 2, 4, 5), "channels_last_3d")]:
        count = int(np.prod(dims))
        packed = torch.arange(count).reshape(dims).contiguous(memory_format=getattr(torch, form))
        stored = torch.as_strided(packed, (count,), (1,)).tolist()
        for at in some(dims):
            ask(f"torch:size={dims},memory_format={getattr(torch, form)}", at, stored.index(packed[at].item()))
            ask(f"[{','.join(map(str, dims))}] {form}", at, stored.index(packed[at].item()))


def jax_arrays():
    import jax
    from jax.experimental.layout import Format, Layout

    sharding = jax.sharding.SingleDeviceSharding(jax.devices("cpu")[0])
    for shape in [(2, 3), (3, 4, 5), (2, 3, 4, 5)]:
        count = int(np.prod(shape))
        values = np.arange(count, dtype=np.int32).reshape(shape)
        for order in itertools.permutations(range(len(shape))):
            array = jax.device_put(values, Format(Layout(major_to_minor=order), sharding))
            stored = list((ctypes.c_int32 * count).from_address(array.unsafe_buffer_pointer()))
            spec = f"[{','.join(map(str, shape))}] {array.format.layout}"
            for at in some(shape, 6):
                ask(spec, at, stored.index(values[at]))


CHECKS = {"numpy": [numpy_views, numpy_types], "torch": [torch_tensors], "jax": [jax_arrays]}

if __name__ == "__main__":
    for name in sys.argv[1:] or CHECKS:
        for check in CHECKS[name]:
            check()
