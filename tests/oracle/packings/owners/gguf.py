"""gguf: the values of blocks of four bits, as GGUF stores them."""
import numpy

from ask import unpacked

# Scales of 1; a minimum of 0 where there is one.
HEADS = {"Q4_0": b"\x00\x3c", "Q4_1": b"\x00\x3c\x00\x00", "IQ4_NL": b"\x00\x3c", "MXFP4": b"\x80"}
K_HEAD = b"\x00\x3c\x00\x00" + bytes([1] * 4 + [0] * 4 + [1] * 4)


def cases(sources):
    quants = sources.module("gguf.quants")
    for rows, blocks in [(1, 1), (3, 4), (10, 3)]:
        for name, head in HEADS.items():
            spec, dims = f"u4[{rows},{32 * blocks}]E(4) GGML_QS4", (rows, 32 * blocks)
            # Two codes of FP4 are 0.
            told = 3 if name == "MXFP4" else 4
            yield unpacked(name, spec, dims, 4, reader(getattr(quants, name), head, 32, dims), told=told)
        spec, dims = f"u4[{rows},{256 * blocks}]E(4) GGUF_Q4_K_VALUES", (rows, 256 * blocks)
        yield unpacked("Q4_K", spec, dims, 4, reader(quants.Q4_K, K_HEAD, 256, dims))


def reader(kind, head, size, dims):
    """A function of fields: the codes that the values of blocks come from, in the order of the values."""

    def values(bytes_):
        heads = numpy.tile(numpy.frombuffer(head, numpy.uint8), (len(bytes_), 1))
        return kind.dequantize_blocks(numpy.concatenate([heads, bytes_], axis=1))

    meant = numpy.array([values(numpy.full((1, size // 2), code * 17, numpy.uint8))[0, 0] for code in range(16)])

    def read(fields):
        found = values((fields[::2] | fields[1::2] << 4).astype(numpy.uint8).reshape(-1, size // 2))
        return (found[..., None] == meant).argmax(axis=-1).reshape(dims)

    return read
