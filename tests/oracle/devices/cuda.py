"""Kernels of the benchmark's cases, compiled by NVRTC for four architectures and read by the disassembler.

    cuda.py FOLDER     FOLDER is what the example `cases` of tilewright-device wrote, in the size of memory

No GPU is needed. Of every kernel: no local memory, in either entry. Of transposes: accesses of 16 bytes alone on both sides
of global memory; how many store less in shared memory is said. Of both transposes: instructions of all threads for a byte of
the destination, and bytes of tiles that a multiprocessor holds.

Instructions are counted as they stand in the code: of transposes all of them, for their code has no loops; of realigned
transposes those outside of loops, for what remains a loop is the ends of rows and the squares with the first and last rows of
the source.
"""
import collections
import concurrent.futures
import ctypes
import pathlib
import re
import subprocess
import sys
import tempfile

from cases import finish, lines, skip, texts

# Threads, bytes of shared memory, and registers of a multiprocessor; the blocks it holds at most.
MULTIPROCESSORS = {
    "sm_80": (2048, 164 << 10, 65536, 32),
    "sm_90": (2048, 228 << 10, 65536, 32),
    "sm_100": (2048, 228 << 10, 65536, 32),
    "sm_120": (1536, 100 << 10, 65536, 24),
}
# What must be resident to keep memory busy, and instructions of a thread for the bytes it moves.
RESIDENT = 48 << 10
MOST = {"transpose": 2.0, "realigned": 7.0}
ENTRIES = ["tw_move", "tw_move_many"]
MOVES = re.compile(r"(LDG|STG|LDS|STS|LDL|STL|LD|ST)\b")
# Accesses of global memory, and those whose memory the code does not say.
GLOBAL = ("LDG", "STG", "LD.", "ST.", "LDGSTS")
INSTRUCTION = re.compile(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)([^;]*)")
LABEL = re.compile(r"\.(L_x_\d+):")


class Tools:
    def __init__(self):
        import nvidia

        def found(pattern):
            for folder in nvidia.__path__:
                for path in sorted(pathlib.Path(folder).rglob(pattern)):
                    return str(path)
            skip(f"no {pattern} beside the package nvidia")

        self.nvrtc = ctypes.CDLL(found("libnvrtc.so.*"))
        self.disassembler, self.dumper = found("nvdisasm"), found("cuobjdump")

    def compiled(self, text, target):
        """The code, or none, and what the compiler says."""
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        if self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None):
            sys.exit("no program of NVRTC")
        flags = [f"--gpu-architecture={target}".encode(), b"--std=c++17"]
        failed = self.nvrtc.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
        self.nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.nvrtc.nvrtcGetProgramLog(program, log)
        code = None
        if not failed:
            self.nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
            code = ctypes.create_string_buffer(size.value)
            self.nvrtc.nvrtcGetCUBIN(program, code)
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        return code and code.raw, log.value.decode()

    def read(self, code):
        """Of each entry its instructions, those outside of loops, and what it uses."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kernel.cubin")
            path.write_bytes(code)
            said = subprocess.run([self.disassembler, "-c", path], capture_output=True, text=True, check=True).stdout
            used = subprocess.run([self.dumper, "--dump-resource-usage", path], capture_output=True, text=True,
                                  check=True, env={"PATH": f"{pathlib.Path(self.disassembler).parent}:/usr/bin"}).stdout
        sections, current = {}, None
        for line in said.splitlines():
            if started := re.match(r"\s*\.section\s+(\S+?),", line):
                current = sections.setdefault(started[1], [])
            elif current is not None:
                current.append(line)
        read = {}
        for entry in ENTRIES:
            use = re.search(rf"Function {entry}:\s+REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", used)
            names, once = instructions(sections.get(f".text.{entry}", []))
            if not names or not use:
                sys.exit(f"the tools say nothing of {entry}:\n{said[:500]}\n{used[:500]}")
            read[entry] = names, once, [int(number) for number in use.groups()]
        return read


def instructions(section):
    """The names of a section's instructions, without those that fill it up; and how many are in no loop."""
    names, labels, branches = [], {}, []
    for line in section:
        if label := LABEL.match(line.strip()):
            labels[label[1]] = len(names)
        found = INSTRUCTION.search(line)
        if not found or found[1] == "NOP":
            continue
        if found[1].startswith("BRA") and (to := re.search(r"\.(L_x_\d+)", found[2])):
            branches.append((len(names), to[1]))
        names.append(found[1])
    in_loops = set()
    for at, label in branches:
        # A branch to itself behind the end is never reached.
        if labels.get(label, at) <= at:
            in_loops.update(range(labels.get(label, at), at + 1))
    return names, len(names) - len(in_loops)


def resident(target, kernel, registers, moved):
    """How many bytes of tiles a multiprocessor holds at a time; a kernel without shared memory moves its tile at once."""
    threads, shared, all_registers, blocks = MULTIPROCESSORS[target]
    warps = kernel["threads"] // 32
    own = -(-registers * 32 // 256) * 256 * warps
    held = min(threads // kernel["threads"], all_registers // own, shared // (kernel["shared"] + 1024), blocks)
    return held * (kernel["shared"] or moved)


def judged(tools, target, path, case, kernel):
    """The findings of a text, and its numbers."""
    code, log = tools.compiled(path.read_text(), target)
    where = f"{path.stem} ({kernel['way']}) on {target}"
    if code is None:
        return [("refused", f"{where}: {log[:300]}")], None
    wrong, way, read = [], kernel["way"], tools.read(code)
    for entry, (names, _, (_, stack, _, local)) in read.items():
        spilled = sum(name.startswith(("LDL", "STL")) for name in names)
        if stack or local or spilled:
            wrong.append(("local memory", f"{where}: {entry} has {stack} + {local} bytes, {spilled} accesses"))
    names, once, (registers, *_) = read["tw_move"]
    moves = collections.Counter(name for name in names if MOVES.match(name))
    sides = {side for side in ("LDG", "STG") if any(name.startswith(side) and ".128" in name for name in moves)}
    narrow = {name: count for name, count in moves.items() if ".128" not in name and name.startswith(GLOBAL)}
    halves = any(".128" not in name and not name.startswith(GLOBAL) for name in moves)
    if way == "transpose" and (narrow or len(sides) < 2) or way == "realigned" and len(sides) < 2:
        wrong.append(("accesses of less than 16 bytes", f"{where}: {narrow}, {sorted(sides)} of 16"))
    executed = once if way == "realigned" else len(names)
    held = resident(target, kernel, registers, case["dst_bytes"] // kernel["blocks"])
    if way in MOST and held < RESIDENT:
        wrong.append(("tiles resident", f"{where}: {held >> 10} KiB, {registers} registers, less than {RESIDENT >> 10}"))
    return wrong, (executed, held, halves)


def costs(folder, targets, numbers):
    """For cases whose largest launch is a transpose of either kind: instructions of all its kernels a byte, by target."""
    for case in lines(folder):
        kernels = list(enumerate(case["kernels"]))
        if not kernels:
            continue
        way = max(kernels, key=lambda one: one[1]["blocks"] * one[1]["threads"])[1]["way"]
        for target in targets:
            all_of = 0
            for number, kernel in kernels:
                text = pathlib.Path(folder, f"{case['name']}.{number}.cu").read_text()
                executed = numbers.get((text, target), (None,))[0]
                if executed is None or all_of is None:
                    all_of = None
                    break
                all_of += executed * kernel["threads"] * kernel["blocks"]
            if way in MOST and all_of is not None:
                yield way, all_of / case["dst_bytes"], case["name"], target


def main(folder):
    try:
        tools = Tools()
    except ImportError:
        skip("the packages of nvidia are not installed")
    all_texts, wrong, numbers = texts(folder, "cu"), [], {}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = {(path.read_text(), target): (kernel, pool.submit(judged, tools, target, path, case, kernel))
                for path, case, kernel in all_texts for target in MULTIPROCESSORS}
    compiled, held = collections.Counter(), []
    for (text, target), (kernel, job) in jobs.items():
        found, seen = job.result()
        wrong += found
        if seen:
            numbers[text, target] = seen
            compiled[kernel["way"]] += 1
            if kernel["way"] in MOST:
                held.append((seen[1], kernel["way"], target))
    counts = {f"{way} compiled": count for way, count in compiled.items()}
    narrow = {path.stem for path, _, kernel in all_texts if kernel["way"] == "transpose"
              for target in MULTIPROCESSORS if numbers.get((path.read_text(), target), (0, 0, False))[2]}
    print("    less than 16 bytes in shared memory:", ", ".join(sorted(narrow)) or "none")
    each = list(costs(folder, MULTIPROCESSORS, numbers))
    for way, most in MOST.items():
        of_way = sorted((cost, name, target) for one, cost, name, target in each if one == way)[::-1]
        print(f"    instructions a byte, {way}:", ", ".join(f"{name} {target} {cost:.2f}" for cost, name, target in of_way[:10]))
        wrong += [("instructions", f"{name} ({way}) on {target}: {cost:.2f} a byte, more than {most}")
                  for cost, name, target in of_way if cost > most]
        counts[f"{way} costed"] = len(of_way)
    print("    least resident:", ", ".join(f"{way} {target} {least >> 10} KiB" for least, way, target in sorted(held)[:10]))
    finish("NVRTC", wrong, counts)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
