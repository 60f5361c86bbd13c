//! The options of `shards`.

use clap::Args;

/// The text after the options in the help.
pub(super) const HELP: &str = "\
SPEC is ARRAY @ SHARDING, such as f32[8,6] @ mesh(dp=2,tp=2) P(\"dp\",\"tp\").
SHARDING is one of

  mesh(2,4) [Shard(0), _StridedShard(0, sf=2)]     torch; add order(1,0) for
                                                   the order of cuts
  mesh(x=2,y=4) P(\"x\", None, (\"y\",))             JAX
  {devices=[2,1,4]<=[8] last_tile_dim_replicate}   HLO
  sdy <mesh<[\"x\"=2]>, [{\"x\"}, {}]>               Shardy
  mesh(tp=4) column                                Megatron and vLLM: also row,
                                                   replicated, gate_up
  mesh(tp=4) megatron:qkv(h=8,g=2,d=64)            vLLM: vllm:qkv(…), which is
                                                   another order of rows
  mesh(tp=4) megatron:vocab(pad=128)               vLLM: vllm:vocab(pad=64)

mesh(2,4; 0,2,4,6,1,3,5,7) lists the devices in order. Add / LAYOUT for the
layout of each shard. A line has the device, its position in the mesh, and for
each dim the indices that it holds, in local order. With -, each line of stdin
is a SPEC and each line of stdout its answer, a JSON object; an error among them
sets the exit code to 1.

Examples:
  tilewright shards 'f32[37] @ mesh(2,2) [Shard(0), Shard(0)]'
  tilewright shards 'bf16[96,64] @ mesh(tp=2) megatron:qkv(h=8,g=2,d=8)' --json
  tilewright shards - < shardings.txt";

#[derive(Args, Debug)]
pub(crate) struct Shards {
    /// The array in shards, or - to read one from every line of stdin
    #[arg(allow_hyphen_values = true)]
    pub(crate) spec: String,
}
