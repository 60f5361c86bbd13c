"""transformers: the FP4 blocks of gpt-oss, the ternary values of BitNet, the values of GGUF's blocks."""
import contextlib

import numpy
import torch

from ask import packed, unpacked
from owners.words import octets, pairs

FP4 = torch.tensor([0.0, 0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, -0.0, -0.5, -1.0, -1.5, -2.0, -3.0, -4.0, -6.0])


def cases(sources):
    known = dict(torch=torch, on_device=lambda device: contextlib.nullcontext())
    names = ["FP4_VALUES", "_convert_moe_packed_tensors"]
    blocks = sources.functions("transformers/integrations/mxfp4.py", *names, **known)
    for experts, n, k in [(1, 2, 32), (3, 5, 96)]:
        spec = f"u4[{experts},{n},{k}]E(4) FP4_PACKED"

        def read(x):
            ones = torch.full((experts, n, k // 32), 127, dtype=torch.uint8)
            values = blocks._convert_moe_packed_tensors(pairs(x).reshape(experts, n, k // 32, 16), ones, dtype=torch.float32)
            # The function transposes what it reads.
            values = values.transpose(1, 2)
            return codes(values)

        yield unpacked("_convert_moe_packed_tensors", spec, (experts, n, k), 4, read)
    yield from of_bitnet(sources)
    yield from of_gguf(sources)


def of_bitnet(sources):
    path, names = "transformers/integrations/bitnet.py", ["VALUES_PER_ITEM", "pack_weights", "unpack_weights"]
    bitnet = sources.functions(path, *names, torch=torch)
    for n, k in [(8, 3), (64, 20)]:
        spec = f"u2[{n},{k}]E(2) BITNET_2BIT"
        # Values are stored with 1 added to them.
        yield packed("pack_weights", spec, (n, k), 2, lambda x: bitnet.pack_weights(torch.from_numpy(x) - 1))
        stored = lambda x: octets((x.reshape(-1, 4) << numpy.arange(0, 8, 2)).sum(axis=1)).reshape(n // 4, k)
        yield unpacked("unpack_weights", spec, (n, k), 2, lambda x: bitnet.unpack_weights(stored(x), torch.int32).numpy() + 1)


def of_gguf(sources):
    dequant = sources.module("transformers.integrations.gguf.dequant")
    heads = {"Q4_0": b"\x00\x3c", "Q4_1": b"\x00\x3c\x00\x00", "IQ4_NL": b"\x00\x3c"}
    for rows, blocks in [(2, 3), (7, 1)]:
        for name, head in heads.items():
            spec, dims = f"u4[{rows},{32 * blocks}]E(4) GGML_QS4", (rows, 32 * blocks)
            yield unpacked(f"dequantize({name})", spec, dims, 4, reader(dequant, name, head, 32, dims))
        # Scales of 1 and minima of 0, of six bits each.
        head = b"\x00\x3c\x00\x00" + bytes([1] * 4 + [0] * 4 + [1] * 4)
        spec, dims = f"u4[{rows},{256 * blocks}]E(4) GGUF_Q4_K_VALUES", (rows, 256 * blocks)
        yield unpacked("dequantize(Q4_K)", spec, dims, 4, reader(dequant, "Q4_K", head, 256, dims))


def reader(dequant, name, head, size, dims):
    """A function of fields: the codes that the values of blocks come from, in the order of the values."""

    def values(bytes_):
        heads = numpy.tile(numpy.frombuffer(head, numpy.uint8), (len(bytes_), 1))
        data = torch.from_numpy(numpy.concatenate([heads, bytes_], axis=1)).flatten()
        return dequant.dequantize(data, getattr(dequant, f"GGML_{name}")).numpy()

    meant = numpy.array([values(numpy.full((1, size // 2), code * 17, numpy.uint8))[0] for code in range(16)])

    def read(fields):
        found = values((fields[::2] | fields[1::2] << 4).astype(numpy.uint8).reshape(-1, size // 2))
        return (found[..., None] == meant).argmax(axis=-1).reshape(dims)

    return read


def codes(values):
    """Which value of four bits each one is; the zeros differ by their signs."""
    same = (values[..., None] == FP4) & (torch.signbit(values)[..., None] == torch.signbit(FP4))
    return same.to(torch.uint8).argmax(dim=-1).numpy()
