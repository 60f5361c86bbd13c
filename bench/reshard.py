"""Measures the resharding of checkpoints, against copying them and torch, and the size of plans.

    python bench/reshard.py PROGRAM                 2.1 GB from 4 ways FSDP to 8 ways TP, and a cut of the last of three dims
    python bench/reshard.py PROGRAM --rivals        also torch's consolidation and load of the same checkpoint
    python bench/reshard.py PROGRAM --scale         plans for 46,000 tensors in 256 files, headers without data
    python bench/reshard.py PROGRAM --old OLD       also another build of the program, in the same turns

Commands run one after another, in turns; each line is the median of the rounds. CPU time is that of the command with its
children, wall time includes the sync of the output, memory is the peak of the anonymous memory of the process (RssAnon).
Files are written under TMPDIR, at most 8 GB, and are removed at the end. PROGRAM is `tilewright`, a release build.
"""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import threading
import time

PAGE = 4096
ALONE = ["--threads", "1"]


def header(entries, metadata):
    said = {"__metadata__": metadata} | entries
    text = json.dumps(said, separators=(",", ":")).encode()
    text += b" " * (-(8 + len(text)) % PAGE)
    return struct.pack("<Q", len(text)) + text


def write(path, tensors, places=None):
    """Writes a file of bf16 tensors, name: shape, with random bytes; with places, in the form of torch's distributed checkpoint."""
    entries, at = {}, 0
    for name, shape in tensors.items():
        size = 2
        for extent in shape:
            size *= extent
        entries[name] = {"dtype": "BF16", "shape": shape, "data_offsets": [at, at + size]}
        at += size
    metadata = {"format": "pt"}
    if places:
        info = {name: {"saved_offsets": start} for name, start in places.items()}
        metadata |= {"DCP_VERSION": "1.0", "DCP_SHARDING_INFO": json.dumps(info)}
    with open(path, "wb") as file:
        file.write(header(entries, metadata))
        while at > 0:
            part = min(at, 16 << 20)
            file.write(os.urandom(part))
            at -= part
        file.flush()
        os.fsync(file.fileno())


def model():
    shapes = {"model.embed_tokens.weight": [32000, 4096], "lm_head.weight": [32000, 4096]}
    for n in range(12):
        shapes[f"model.layers.{n}.mlp.up_proj.weight"] = [8192, 4096]
        shapes[f"model.layers.{n}.mlp.down_proj.weight"] = [4096, 8192]
        shapes[f"model.layers.{n}.norm.weight"] = [4096]
    return shapes


def fsdp(folder, ways=4):
    folder.mkdir()
    for rank in range(ways):
        shapes = {name: [shape[0] // ways, *shape[1:]] for name, shape in model().items()}
        places = {name: [rank * shape[0]] + [0] * (len(shape) - 1) for name, shape in shapes.items()}
        write(folder / f"shard-{rank + 1:05}-model-00001-of-00001.safetensors", shapes, places)


def measured(command):
    """Returns CPU seconds, wall seconds and megabytes of a command; exits if it fails."""
    peak = [0]
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    over = threading.Event()

    def watch():
        while not over.wait(0.005):
            try:
                lines = pathlib.Path(f"/proc/{process.pid}/status").read_text().splitlines()
            except OSError:
                return
            held = [int(line.split()[1]) for line in lines if line.startswith("RssAnon")]
            peak[0] = max([peak[0], *held])

    watcher = threading.Thread(target=watch)
    watcher.start()
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    over.set()
    watcher.join()
    if process.returncode:
        sys.exit(f"{command} ended with {process.returncode}")
    return used.ru_utime + used.ru_stime, wall, peak[0] / 1024


def turns(commands, rounds, folder):
    """Returns the medians of the commands, run in turns; each writes to a folder that is removed afterwards."""
    found = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            out = folder / "out"
            found[name].append(measured([str(word) for word in command(out)]))
            shutil.rmtree(out, ignore_errors=True)
    return {name: [statistics.median(column) for column in zip(*rows)] for name, rows in found.items()}


def of_builds(args, commands):
    """Returns the commands that a function makes for a program, for each build of it that is compared."""
    new, old = commands(build(args.program)), commands(build(args.old)) if args.old else {}
    pairs = [{name: command} | ({f"{name}, old": old[name]} if old else {}) for name, command in new.items()]
    return {name: command for pair in pairs for name, command in pair.items()}


def build(program):
    return pathlib.Path(shutil.which(program) or program).resolve()


def table(title, found, size, base):
    print(f"\n{title}: {size / 1e9:.2f} GB, load average {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    print(f"{'':<30} {'CPU s':>7} {'× cp':>6} {'wall s':>7} {'× cp':>6} {'GB/s':>6} {'MB':>7}")
    for name, (cpu, wall, peak) in found.items():
        ratios = cpu / found[base][0], wall / found[base][1]
        print(f"{name:<30} {cpu:7.2f} {ratios[0]:6.2f} {wall:7.2f} {ratios[1]:6.2f} {size / wall / 1e9:6.2f} {peak:7.0f}")


CONSOLIDATE = """
import json, os, sys
from torch.distributed.checkpoint._consolidate_hf_safetensors import consolidate_safetensors_files
os.makedirs(sys.argv[2], exist_ok=True)
consolidate_safetensors_files(sys.argv[1], sys.argv[2], dict.fromkeys(json.loads(sys.argv[3]), 1))
"""
LOAD = """
import json, struct, sys, torch, pathlib
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.hf_storage import HuggingFaceStorageReader
held = {name: torch.empty(shape, dtype=torch.bfloat16) for name, shape in json.loads(sys.argv[2]).items()}
dcp.load(held, storage_reader=HuggingFaceStorageReader(sys.argv[1]), no_dist=True)
"""


def copied(source):
    return lambda out: ["sh", "-c", 'cp -r --reflink=never "$0" "$1" && sync "$1"/*', source, out]


def speed(folder, args):
    source = folder / "fsdp4"
    fsdp(source)
    size = sum(file.stat().st_size for file in source.iterdir())
    rules = ["--rule", "*down_proj*=[Shard(1)]", "--rule", "*norm*=[Replicate()]", "--rule", "*=[Shard(0)]"]
    reshard = lambda program, *more: lambda out: [program, "reshard", "-q", source, out, *more]
    commands = {"cp, sync": copied(source)} | of_builds(args, lambda program: {
        "reshard to TP8, 64 MB": reshard(program, "--mesh", "tp=8", *rules, "--memory", "64M"),
        "TP8, one thread": reshard(program, "--mesh", "tp=8", *rules, "--memory", "64M", *ALONE),
        "reshard to one, 64 MB": reshard(program, "--memory", "64M"),
    })
    if args.rivals:
        shapes = json.dumps(model())
        commands["torch consolidates to one"] = lambda out: [sys.executable, "-c", CONSOLIDATE, source, out, shapes]
        commands["torch loads all"] = lambda out: [sys.executable, "-c", LOAD, source, shapes]
    table("FSDP4", turns(commands, args.rounds, folder), size, "cp, sync")
    shutil.rmtree(source)

    source.mkdir()
    write(source / "model.safetensors", {"experts": [32, 4096, 4096]})
    size = (source / "model.safetensors").stat().st_size
    last = ["--mesh", "tp=8", "--rule", "*=[Shard(2)]"]
    commands = {"cp, sync": copied(source)} | of_builds(args, lambda program: {
        "reshard, 64 MB": reshard(program, *last, "--memory", "64M"),
        "64 MB, one thread": reshard(program, *last, "--memory", "64M", *ALONE),
        "reshard, 256 MB": reshard(program, *last),
    })
    table("[32,4096,4096] cut 8 ways in its last dim", turns(commands, args.rounds, folder), size, "cp, sync")


def scale(folder, args):
    program = build(args.program)
    tensors, files = args.tensors, 256
    for even in (True, False):
        source = folder / "ranks"
        source.mkdir()
        last = None
        for rank in range(files):
            # 2048 rows are 8 a file; of 2047 the last file has 7.
            rows = 8 if even or rank + 1 < files else 7
            if rows != last:
                entries, at = {}, 0
                for n in range(tensors):
                    layer, expert, kind = n // 768, n // 3 % 256, ("gate", "up", "down")[n % 3]
                    name = f"model.layers.{layer}.mlp.experts.{expert}.{kind}_proj.weight"
                    size = rows * 7168 * 2
                    entries[name] = {"dtype": "BF16", "shape": [rows, 7168], "data_offsets": [at, at + size]}
                    at += size
                head, last = header(entries, {"format": "pt"}), rows
            with open(source / f"rank_{rank:05}.safetensors", "wb") as file:
                file.write(head)
                file.truncate(len(head) + at)
        plan = folder / "plan"
        asked = ["--from-mesh", "ep=256", "--from-rule", "*=[Shard(0)]", "--mesh", "tp=64", "--rule", "*=[Shard(1)]"]
        command = [program, "reshard", "plan", "-q", source, folder / "result", *asked, "-o", plan]
        cpu, wall, peak = measured([str(word) for word in command])
        kind = "even" if even else "uneven"
        print(f"\n{tensors} tensors in {files} files, {kind}, headers of {len(head) / 1e6:.1f} MB each")
        print(f"plan      {wall:6.2f} s, {cpu:6.2f} s of processor, {peak:5.0f} MB, file {plan.stat().st_size / 1e6:.1f} MB")
        command = [program, "reshard", "run", "-q", plan, "--rank", 10**6 - 1, "--world", 10**6]
        cpu, wall, peak = measured([str(word) for word in command])
        print(f"run, none {wall:6.2f} s, {cpu:6.2f} s of processor, {peak:5.0f} MB")
        for left in folder.iterdir():
            shutil.rmtree(left) if left.is_dir() else left.unlink()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program")
    parser.add_argument("--old", help="another build of the program, measured in the same turns")
    parser.add_argument("--rivals", action="store_true", help="measure torch as well, which must be installed")
    parser.add_argument("--scale", action="store_true", help="measure plans for many tensors instead of speed")
    parser.add_argument("--tensors", type=int, default=46000)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as made:
        (scale if args.scale else speed)(pathlib.Path(made), args)


if __name__ == "__main__":
    main()
