// What the parts of the page begin with, and what the gallery shows besides the catalogue: one text of each
// notation, conversions, and steps.

import type { Fields, Part } from "./state.js";

/** What a part is, in a sentence, and examples to begin with. */
export const STARTS: Readonly<Record<Part, { says: string; chips: readonly (readonly [title: string, fields: Fields])[] }>> = {
  layout: {
    says: "Tilewright shows where each element of a tensor lies in memory. Type a layout in any notation you know, or begin with one of these.",
    chips: [
      ["Ascend zN", { spec: "f16[48,64] zN" }],
      ["TPU tiles with padding", { spec: "f32[12,200]{1,0:T(8,128)}" }],
      ["CuTe", { spec: "((4,2),(4,3)):((4,16),(1,32))" }],
      ["Swizzle and banks", { spec: "Sw<3,3,3> o (8,64):(64,1)", dtype: "f16", colour: "bank", vector: "8" }],
      ["NHWC", { spec: "NHWC", dims: "2,3,4,5" }],
      ["oneDNN", { spec: "aBcd4b", dims: "2,10,3,4" }],
      ["Threads of Triton", { spec: "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>", dims: "8,8", dtype: "f16" }],
      ["Shards on devices", { spec: 'bf16[96,64] @ mesh(dp=2,tp=4) P("dp", "tp")' }],
      ["Rows in an order of their own", { spec: "f16[8,12] table(0; 3,1,-,0,2,7,5,6,4) row-major" }],
      ["A billion elements", { spec: "bf16[32768,32768]{1,0:T(8,128)(2,1)}" }],
    ],
  },
  convert: {
    says: "One array in two layouts: where each element goes, and how the bytes would be moved.",
    chips: [
      ["Weights for the NPU", { a: "row-major", b: "zN", dims: "32,48", dtype: "f16" }],
      ["NCHW to NHWC", { a: "NCHW", b: "NHWC", dims: "2,3,4,5" }],
      ["Tiles of a TPU, with padding", { a: "f32[6,10]{1,0}", b: "f32[6,10]{1,0:T(4,4)}" }],
      ["A transposition", { a: "row-major", b: "col-major", dims: "6,8" }],
      ["VNNI pairs", { a: "row-major", b: "VNNI", dims: "8,8", dtype: "bf16" }],
    ],
  },
  algebra: {
    says: "Layouts are functions from coordinates to offsets: combine two, and see which cells belong together.",
    chips: [
      ["Tiles of a matrix", { op: "zipped_divide", a: "(6,8):(8,1)", b: "<3,4>" }],
      ["One layout through another", { op: "composition", a: "(6,8):(8,1)", b: "(3,4):(2,6)" }],
      ["Blocks of a block", { op: "blocked_product", a: "(2,2):(2,1)", b: "(3,4):(4,1)" }],
      ["Threads and their values", { op: "make_layout_tv", a: "(4,8):(8,1)", b: "(1,2):(2,1)" }],
      ["The way back", { op: "right_inverse", a: "(3,4):(4,1)" }],
    ],
  },
  gallery: { says: "Examples of everything the page shows, and the named formats of makers and libraries.", chips: [] },
};

/** A text in each notation, with the array where the text does not say it. */
export const NOTATIONS: readonly (readonly [title: string, spec: string, dims?: string, dtype?: string])[] = [
  ["CuTe", "((4,2),(4,3)):((4,16),(1,32))"],
  ["CuTe, swizzled", "Sw<3,3,3> o (8,64):(64,1)", "", "f16"],
  ["TLA, sizes in types", "(_2,4):(_12,_1)"],
  ["XLA, tiled", "f32[3,5]{1,0:T(2,2)}"],
  ["XLA, tiles in tiles", "bf16[20,200]{1,0:T(8,128)(2,1)}"],
  ["XLA, padded to a width", "f32[2,3]{0,1}pad(3,5)fill(0)"],
  ["XLA, a vector in tiles", "bf16[300]{0:T(8,128)}"],
  ["pattern", "(m1 m0:4) (n1 n0:4) -> n1 m1 m0 n0", "8,12"],
  ["NumPy", "numpy:shape=(3,5),strides=(20,4),dtype=f32"],
  ["PyTorch", "torch:size=(4,6),stride=(6,1)"],
  ["PyTorch, channels last", "channels_last", "2,3,4,5"],
  ["JAX", "Layout(major_to_minor=(0, 1), tiling=((2, 4),))", "6,10", "f32"],
  ["MLIR memref", "memref<3x5xf32, strided<[5, 1]>>"],
  ["MLIR affine map", "memref<8x12xf16, affine_map<(d0, d1) -> (d1 floordiv 4, d0, d1 mod 4)>>"],
  ["MLIR pack", "linalg.pack inner_dims_pos = [0, 1] inner_tiles = [4, 4]", "8,12"],
  ["C++ mdspan", "std::layout_left::mapping(std::extents(3, 5))"],
  ["einops", "rearrange('(m1 m0) n -> m1 n m0', m0=4)", "8,12"],
  ["Halide", "halide:{0,3,5},{0,5,1}"],
  ["oneDNN", "aBcd4b", "2,10,3,4"],
  ["Triton, shared memory", "#ttg.swizzled_shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0]}>", "8,64", "f16"],
  ["Triton, registers of threads", "#ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [8, 4], warpsPerCTA = [1, 1], order = [1, 0]}>", "8,8", "f16"],
  ["DLPack", "dlpack:shape=(3,5),strides=(8,1)"],
  ["GGUF", "gguf:ne=[5,3]"],
  ["orders", "NHWC", "2,3,4,5"],
  ["column-major", "[6,8] col-major"],
  ["an expression", "logical_divide((6,8):(8,1), <3,4>)"],
  ["an index table", "f16[8,12] table(0; 3,1,-,0,2,7,5,6,4) row-major"],
  ["TVM's Axe", "T.TileLayout(T.S[(8, 4, 2):(4, 1, 32)])"],
  ["a million elements", "[1024,1024] (m1 m0:16) (n1 n0:16) -> n1 m1 m0 n0"],
  ["a billion", "bf16[32768,32768]{1,0:T(8,128)(2,1)}"],
];

/** Tiles of shared memory under the reads of a warp: a number of elements a thread at once. */
export const BANKS: readonly (readonly [title: string, spec: string, dtype: string, vector: string])[] = [
  ["Rows of 128 bytes, read by ldmatrix", "(8,64):(64,1)", "f16", "8"],
  ["The same with a swizzle", "Sw<3,3,3> o (8,64):(64,1)", "f16", "8"],
  ["Columns of words", "(32,32):(32,1)", "f32", "1"],
  ["The same with a word more a row", "(32,32):(33,1)", "f32", "1"],
];

/** Conversions people wait for. */
export const CONVERSIONS: readonly (readonly [title: string, a: string, b: string, dims: string, dtype?: string])[] = [
  ["Row-major to zN", "row-major", "zN[M0=4,C0=4]", "8,12"],
  ["Weights for the NPU", "row-major", "zN", "32,48", "f16"],
  ["NCHW to NHWC", "NCHW", "NHWC", "2,3,4,5"],
  ["Tiles of a TPU, with padding", "f32[6,10]{1,0}", "f32[6,10]{1,0:T(4,4)}", ""],
  ["A transposition", "row-major", "col-major", "6,8"],
  ["cuBLASLt's int8 order", "COL", "COL32", "8,64", "s8"],
  ["VNNI pairs", "row-major", "VNNI", "8,8", "bf16"],
  ["Experts in an order of their own", "row-major", "table(0/4; 2,0,1) row-major", "12,6"],
];

/** Steps of the algebra. */
export const STEPS: readonly (readonly [title: string, op: string, a: string, b: string])[] = [
  ["Tiles of a matrix", "zipped_divide", "(6,8):(8,1)", "<3,4>"],
  ["Each axis in tiles", "logical_divide", "(6,8):(8,1)", "<3,4>"],
  ["A layout read through another", "composition", "(6,8):(8,1)", "(3,4):(2,6)"],
  ["Blocks of a block", "blocked_product", "(2,2):(2,1)", "(3,4):(4,1)"],
  ["Threads that take turns", "raked_product", "(2,2):(2,1)", "(3,4):(4,1)"],
  ["Threads and their values", "make_layout_tv", "(4,8):(8,1)", "(1,2):(2,1)"],
  ["What is left out", "complement", "(2,2):(1,8)", "32"],
  ["The way back", "right_inverse", "(3,4):(4,1)", ""],
  ["Fewer modes", "coalesce", "((2,3),4):((1,2),6)", ""],
  ["Calls in calls", "expression", "zipped_divide(blocked_product((2,2):(2,1), (3,4):(4,1)), <2,4>)", ""],
];
