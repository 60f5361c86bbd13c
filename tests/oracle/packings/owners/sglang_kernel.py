"""triton_kernels, as the wheel of SGLang's kernels carries them: values and scales of Hopper, Blackwell, CDNA4 and gfx1250."""
import torch

from ask import packed, unpacked
from owners.words import octets, packed_pairs, physical

DETAILS = "triton_kernels.tensor_details.layout_details"


def cases(sources):
    layouts = {name: sources.module(f"{DETAILS}.{name}") for name in [
        "hopper_scale", "hopper_value", "blackwell_scale", "blackwell_value", "blackwell_value_shuffled", "cdna4_scale", "gfx1250_scale",
    ]}
    yield from scales(layouts)
    yield from hopper_scales(layouts["hopper_scale"])
    yield from hopper_values(layouts["hopper_value"])
    yield from blackwell_values(layouts)


def both(layout, spec, dims):
    """A layout of bytes in both of the owner's directions."""
    change, name = layout.make_transformation(list(dims), False), type(layout).__name__
    yield packed(f"{name}.swizzle_data", spec, dims, 8, lambda x: physical(change.swizzle_data(octets(x))))
    there = change.swizzle_data(torch.zeros(dims, dtype=torch.uint8))
    stored = lambda x: octets(x).as_strided(there.shape, there.stride())
    yield unpacked(f"{name}.unswizzle_data", spec, dims, 8, lambda x: change.unswizzle_data(stored(x)), there.numel())


def scales(layouts):
    of = {
        "BLACKWELL_MX_SCALE": layouts["blackwell_scale"].BlackwellMXScaleLayout(),
        "BLACKWELL_ACT_MX_SCALE": layouts["blackwell_scale"].BlackwellActMXScaleLayout(None),
        "CDNA4_MX_SCALE": layouts["cdna4_scale"].CDNA4MXScaleLayout(),
        "GFX1250_MX_SCALE": layouts["gfx1250_scale"].GFX1250MXScaleLayout(),
    }
    for name, layout in of.items():
        for dims in [(16, 256), (2, 24, 128), (5, 130), (3, 9, 40)]:
            if name == "BLACKWELL_ACT_MX_SCALE":
                dims = (*dims[:-2], dims[-1], dims[-2])
            yield from both(layout, f"f8e8m0fnu[{','.join(map(str, dims))}] {name}", dims)
    # Below four columns a tile has fewer.
    for dims in [(1, 128), (2, 200)]:
        spec = f"f8e8m0fnu[{dims[0]},{dims[1]}] GFX1250_MX_SCALE[K0={dims[0]}]"
        yield from both(of["GFX1250_MX_SCALE"], spec, dims)


def hopper_scales(module):
    for warps in [4, 8, 2]:
        layout = module.HopperMXScaleLayout(mx_axis=-1, num_warps=warps)
        for dims in [(256, 4), (2, 128, 6), (70, 5)]:
            spec = f"f8e8m0fnu[{','.join(map(str, dims))}] HOPPER_MX_SCALE[NUM_WARPS={warps}]"
            yield from both(layout, spec, dims)


def hopper_values(module):
    """The order of the bytes: the owner's own function takes back how it permutes the bits of each word."""
    for version, name in [(3, "HOPPER_MX_VALUE_BYTES"), (2, "HOPPER_MX_VALUE_BYTES_MMA2")]:
        layout = module.HopperMXValueLayout(mx_axis=-1, mma_version=version)
        for dims in [(256, 64), (2, 64, 96), (300, 70)]:
            change = layout.make_transformation([*dims[:-1], 2 * dims[-1]], True)
            spec = f"u8[{','.join(map(str, dims))}] {name}"
            pack = lambda x: module._unpack_bits(change.swizzle_data(octets(x)).contiguous(), -1)
            yield packed("HopperMXValueLayout.swizzle_data", spec, dims, 8, pack)


def blackwell_values(layouts):
    shuffled = layouts["blackwell_value_shuffled"].BlackwellMX4ValueShuffledLayout
    of = [
        ("BLACKWELL_MX_VALUE", layouts["blackwell_value"].BlackwellMXValueLayout()),
        ("BLACKWELL_MX4_VALUE_SHUFFLED", shuffled()),
        ("BLACKWELL_MX4_VALUE_SHUFFLED[BLOCK_K=64,BLOCK_N=32,K1=4]", shuffled(block_k=64, block_n=32)),
    ]
    for name, layout in of:
        for dims in [(256, 64), (2, 300, 34), (1, 40, 6)]:
            change = layout.make_transformation(list(dims), True)
            spec = f"u4[{','.join(map(str, dims))}]E(4) {name}"
            pack = lambda x: physical(change.swizzle_data(packed_pairs(x)))
            yield packed(f"{type(layout).__name__}.swizzle_data", spec, dims, 4, pack)
