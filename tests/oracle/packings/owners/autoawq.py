"""AutoAWQ: its words of four bits, those of ExLlama that it makes of them, and those of its fast products."""
import numpy
import torch

from ask import packed, unpacked
from owners.words import integers, words


def cases(sources):
    names = ["AWQ_REVERSE_ORDER", "unpack_awq", "reverse_awq_order", "pack_exllama"]
    awq = sources.functions("awq/utils/packing_utils.py", *names, torch=torch)
    for k, n in [(3, 16), (8, 72), (32, 64)]:
        stored = lambda x: words(x, 4).reshape(k, n // 8)
        read = lambda x: awq.reverse_awq_order(*awq.unpack_awq(stored(x), stored(x), 4), 4)
        for part, name in enumerate(["unpack_awq(qweight)", "unpack_awq(qzeros)"]):
            yield unpacked(name, f"u4[{k},{n}]E(4) AWQ", (k, n), 4, lambda x: read(x)[part].numpy() & 15)
    for k, n in [(8, 8), (64, 40)]:
        spec = f"u4[{k},{n}]E(4)"
        for part, name in enumerate(["GPTQ", "GPTQ_ZEROS"]):
            pack = lambda x: awq.pack_exllama(integers(x), integers(x), 4)[part]
            yield packed("pack_exllama", f"{spec} {name}", (k, n), 4, pack)
    fast = sources.functions("awq/modules/linear/gemv_fast.py", "pack_intweight", torch=torch, np=numpy)
    for n, k in [(4, 64), (16, 192)]:
        spec = f"u4[{n},{k}]E(4) AWQ_GEMV_FAST"
        yield packed("pack_intweight", spec, (n, k), 4, lambda x: fast.pack_intweight(integers(x), 4, 64))
