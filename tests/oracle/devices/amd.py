"""Kernels of the benchmark's cases, compiled for AMD's GPUs by clang: as OpenCL C and as HIP.

    amd.py FOLDER …     each is what the example `cases` of tilewright-device wrote

Neither a GPU nor ROCm is needed: what the languages promise and ROCm's library has is stated in `amd.h`. Of every
entry: no scratch memory, and at most 64 KiB of local memory, as the code's own metadata says.
"""
import collections
import concurrent.futures
import pathlib
import re
import shutil
import subprocess
import sys

from cases import finish, skip, texts

CLANGS = ["clang", *(f"clang-{number}" for number in range(22, 13, -1))]
TARGETS = ["gfx90a", "gfx942", "gfx1100"]
ENTRIES = ["tw_move", "tw_move_many"]
LOCAL = 64 << 10
HEADER = str(pathlib.Path(__file__).with_name("amd.h"))
COMMON = ["-nogpulib", "-O3", "-S", "-o", "-", "-include", HEADER]
LANGUAGES = {
    "cl": lambda target: ["-x", "cl", "-cl-std=CL2.0", "-target", "amdgcn-amd-amdhsa", f"-mcpu={target}"],
    "cu": lambda target: ["-x", "hip", "--cuda-device-only", "-nogpuinc", f"--offload-arch={target}"],
}
FIELDS = ["private_segment_fixed_size", "group_segment_fixed_size", "vgpr_spill_count", "sgpr_spill_count", "vgpr_count"]


def knows(clang, target):
    words = [clang, *LANGUAGES["cl"](target), "-nogpulib", "-S", "-o", "-", "-"]
    run = subprocess.run(words, input="kernel void k(global int *x) { *x = 1; }", capture_output=True, text=True)
    return run.returncode == 0 and "amdhsa" in run.stdout


def found():
    """The clang that knows the most of the targets, and these."""
    here = [path for path in map(shutil.which, CLANGS) if path]
    known = [(path, [target for target in TARGETS if knows(path, target)]) for path in here]
    return max(known, key=lambda one: len(one[1]), default=(None, []))


def metadata(said):
    """The numbers of each entry."""
    entries = {}
    for part in re.split(r"^  - (?=\.)", said.partition("amdhsa.kernels:")[2], flags=re.M)[1:]:
        name = re.search(r"^    \.name:\s+(\S+)", part, re.M)
        numbers = {field: re.search(rf"\.{field}:\s+(\d+)", part) for field in FIELDS}
        if name and all(numbers[field] for field in FIELDS[:2]):
            entries[name[1]] = {field: int(number[1]) for field, number in numbers.items() if number}
    return entries


def judged(clang, end, target, path, kernel):
    run = subprocess.run([clang, *LANGUAGES[end](target), *COMMON, path], capture_output=True, text=True)
    where = f"{path.name} ({kernel['way']}) for {target}"
    if run.returncode:
        return [("refused", f"{where}: {run.stderr[:300]}")]
    entries, wrong = metadata(run.stdout), []
    for entry in ENTRIES:
        if entry not in entries:
            wrong.append(("no metadata", f"{where}: {entry}"))
            continue
        used = entries[entry]
        spilled = used["private_segment_fixed_size"] or used.get("vgpr_spill_count", 0)
        if spilled:
            wrong.append((f"scratch memory, {end}", f"{where}: {entry} uses {used}"))
        if not kernel["shared"] <= used["group_segment_fixed_size"] <= LOCAL:
            wrong.append(("local memory", f"{where}: {entry} has {used['group_segment_fixed_size']}, not {kernel['shared']}"))
    return wrong


def main(folders):
    clang, targets = found()
    if not targets:
        skip("no clang on the path knows AMD's GPUs (Debian: apt-get install clang-19)")
    version = subprocess.run([clang, "--version"], capture_output=True, text=True).stdout.splitlines()[0]
    print(f"    {version}")
    wrong, counts = [], collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [(f"of {end} for {target}", pool.submit(judged, clang, end, target, path, kernel))
                for end in LANGUAGES for target in targets for folder in folders for path, _, kernel in texts(folder, end)]
        for name, job in jobs:
            wrong += job.result()
            counts[name] += 1
    finish("AMD", wrong, counts or {"text": 0})


main(list(map(pathlib.Path, sys.argv[1:])))
