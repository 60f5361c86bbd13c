"""What `tilewright reshard --as dcp` writes, loaded by torch's distributed checkpoint.

    python tests/oracle/sharded_files.py check TILEWRIGHT

The corpus' checkpoint is cut over several meshes. torch loads every tensor whole, and each is the one of the checkpoint.
"""
import pathlib
import subprocess
import sys
import tempfile

import torch
import torch.distributed.checkpoint as dcp
from safetensors.torch import load_file
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader

DATA = pathlib.Path(__file__).resolve().parents[2] / "corpus/data/sharded"
CUTS = [
    ("tp=2", []),
    ("dp=2,tp=2", ["*S0*=[Shard(0), Shard(0)]", "*.RS1=[Replicate(), Shard(1)]"]),
    ("tp=8", ["*S?S?=[Shard(1)]", "*.S0R=[Shard(0)]"]),
    # Two boxes a shard: the second goes to a file of its own.
    ("tp=3", ["*S0*=[_StridedShard(0, sf=2)]"]),
]


def main(program, folder):
    whole = load_file(DATA / "dcp_hf/full.safetensors")
    for number, (mesh, rules) in enumerate(CUTS):
        out = pathlib.Path(folder) / str(number)
        options = [word for rule in rules for word in ("--rule", rule)]
        command = [program, "reshard", DATA / "dcp_hf/ckpt", out, "--as", "dcp", "--mesh", mesh]
        subprocess.run([*command, *options, "-q"], check=True)
        held = {name: torch.full_like(tensor, 1) for name, tensor in whole.items()}
        dcp.load(held, storage_reader=HuggingFaceStorageReader(str(out)), no_dist=True)
        for name, tensor in whole.items():
            bits = [t.contiguous().reshape(-1).view(torch.uint8) for t in (held[name], tensor)]
            assert torch.equal(*bits), f"{mesh}: {name} is another"
        print(f"{mesh}: {len(whole)} tensors, {len(list(out.iterdir()))} files")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        main(sys.argv[2], made)
