"""Kernels of the benchmark's cases, compiled and run without a GPU.

    devices.py nvidia FOLDER     NVRTC and the disassembler: registers, shared memory, instructions
    devices.py opencl FOLDER     on the processor, by PoCL: every byte of the destination
    devices.py amd FOLDER        compiled for AMD's GPUs by clang

FOLDER is what the example `cases` of tilewright-device wrote. What is not here is skipped, and it says why.
"""
import collections
import concurrent.futures
import ctypes
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Threads, bytes of shared memory and registers of a multiprocessor.
MULTIPROCESSORS = {
    "sm_80": (2048, 164 << 10, 65536),
    "sm_90": (2048, 228 << 10, 65536),
    "sm_100": (2048, 228 << 10, 65536),
    "sm_120": (1536, 100 << 10, 65536),
}
# What must be resident to keep memory busy, and instructions of a thread for the bytes it moves.
RESIDENT = 48 << 10
MOST = {"weave": 2.0, "realigned": 7.0}
MOVES = re.compile(r"(LDG|STG|LDS|STS|LDL|STL)\b")


def skip(why):
    print(f"    skipped: {why}")
    sys.exit(0)


def kernels(folder, end):
    """Each text once: its path, the line of the first case that has it, and the number of the kernel there."""
    texts = {}
    for line in (folder / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        for number, kernel in enumerate(case["kernels"]):
            path = folder / f"{case['name']}.{number}.{end}"
            # The largest launch of a text says most of its bytes.
            seen = texts.setdefault(path.read_text(), (path, case, kernel))
            if kernel["blocks"] > seen[2]["blocks"]:
                texts[path.read_text()] = (path, case, kernel)
    return list(texts.values())


class Nvidia:
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
        program, size = ctypes.c_void_p(), ctypes.c_size_t()
        if self.nvrtc.nvrtcCreateProgram(ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None):
            sys.exit("no program of NVRTC")
        flags = [f"--gpu-architecture={target}".encode(), b"--std=c++17"]
        failed = self.nvrtc.nvrtcCompileProgram(program, len(flags), (ctypes.c_char_p * len(flags))(*flags))
        self.nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
        log = ctypes.create_string_buffer(size.value)
        self.nvrtc.nvrtcGetProgramLog(program, log)
        if failed:
            return None, log.value.decode()
        self.nvrtc.nvrtcGetCUBINSize(program, ctypes.byref(size))
        code = ctypes.create_string_buffer(size.value)
        self.nvrtc.nvrtcGetCUBIN(program, code)
        self.nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
        return code.raw, log.value.decode()

    def read(self, code, entry):
        """The instructions of an entry, and what it uses."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "kernel.cubin")
            path.write_bytes(code)
            said = subprocess.run([self.disassembler, "-c", path], capture_output=True, text=True, check=True).stdout
            used = subprocess.run([self.dumper, "--dump-resource-usage", path], capture_output=True, text=True,
                                  check=True, env={"PATH": f"{pathlib.Path(self.disassembler).parent}:/usr/bin"}).stdout
        own = said.split(f".text.{entry}\n", 1)[-1] if f".text.{entry}\n" in said else said.split(f".text.{entry}:", 1)[-1]
        own = re.split(r"\.section\s+\.text\.|//-+ \.text\.", own)[0]
        names = re.findall(r"/\*[0-9a-f]{4,}\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", own)
        names = [name for name in names if name != "NOP"]
        use = re.search(rf"Function {entry}:\s+REG:(\d+) STACK:(\d+) SHARED:(\d+) LOCAL:(\d+)", used)
        if not names or not use:
            sys.exit(f"the tools say nothing of {entry}:\n{said[:500]}\n{used[:500]}")
        return names, [int(number) for number in use.groups()]


def resident(target, kernel, registers):
    """How many bytes of tiles a multiprocessor holds at a time."""
    threads, shared, all_registers = MULTIPROCESSORS[target]
    own = -(-registers // 8) * 8 * kernel["threads"]
    blocks = min(threads // kernel["threads"], all_registers // own, shared // (kernel["shared"] + 1024), 32)
    return blocks * kernel["shared"]


def judged(tools, target, path, case, kernel):
    code, log = tools.compiled(path.read_text(), target)
    if code is None:
        return [f"{path.name} does not compile for {target}: {log[:300]}"], None
    names, (registers, stack, _, local) = tools.read(code, kernel["entry"])
    wrong, way = [], kernel["way"]
    moves = [name for name in names if MOVES.match(name)]
    if stack or local or any(name.startswith(("LDL", "STL")) for name in moves):
        wrong.append(f"{stack} bytes of stack, {local} of local memory")
    narrow = collections.Counter(name for name in moves if ".128" not in name)
    if way == "weave" and (narrow or not moves):
        wrong.append(f"accesses of less than 16 bytes: {dict(narrow)}")
    each = None
    if way in MOST and len(case["kernels"]) == 1:
        each = len(names) * kernel["threads"] * kernel["blocks"] / case["dst_bytes"]
        if each > MOST[way]:
            wrong.append(f"{each:.2f} instructions a byte, more than {MOST[way]}")
    held = resident(target, kernel, registers)
    if way in MOST and held < RESIDENT:
        wrong.append(f"{held} bytes of tiles a multiprocessor, {registers} registers, less than {RESIDENT}")
    return [f"{path.name} ({way}) on {target}: {one}" for one in wrong], (way, each, held if kernel["shared"] else None)


def nvidia(folder):
    try:
        tools = Nvidia()
    except ImportError:
        skip("the packages of nvidia are not installed")
    all_kernels, wrong, seen = kernels(folder, "cu"), [], []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        jobs = [pool.submit(judged, tools, target, *kernel) for kernel in all_kernels for target in MULTIPROCESSORS]
        for job in jobs:
            found, numbers = job.result()
            wrong += found
            seen += [numbers] if numbers else []
    for way, count in collections.Counter(way for way, _, _ in seen).items():
        each = [each for of, each, _ in seen if of == way and each]
        held = [held for of, _, held in seen if of == way and held]
        most = f", at most {max(each):.2f} instructions a byte" if each else ""
        least = f", at least {min(held) >> 10} KiB resident" if held else ""
        print(f"    {way}: {count} compiled{most}{least}")
    if not any(way == "weave" and each for way, each, _ in seen):
        wrong.append("no weave was judged")
    return wrong


def opencl(folder):
    try:
        import numpy
        import pyopencl
    except ImportError as error:
        skip(f"{error}")
    try:
        devices = [device for platform in pyopencl.get_platforms() for device in platform.get_devices()]
    except pyopencl.Error as error:
        skip(f"no device of OpenCL: {error}")
    if not devices:
        skip("no device of OpenCL")
    context = pyopencl.Context(devices[:1])
    queue, programs, wrong, count = pyopencl.CommandQueue(context), {}, [], 0
    print(f"    {devices[0].name}")
    flags = pyopencl.mem_flags
    for line in (folder / "cases.jsonl").read_text().splitlines():
        case = json.loads(line)
        source = numpy.fromfile(folder / f"{case['name']}.src", numpy.uint8)
        wanted = numpy.fromfile(folder / f"{case['name']}.dst", numpy.uint8)
        got = numpy.full(wanted.size, 0xEE, numpy.uint8)
        src = pyopencl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=source)
        dst = pyopencl.Buffer(context, flags.READ_WRITE | flags.COPY_HOST_PTR, hostbuf=got)
        for number, kernel in enumerate(case["kernels"]):
            text = (folder / f"{case['name']}.{number}.cl").read_text()
            if text not in programs:
                built = pyopencl.Program(context, text).build(["-cl-std=CL1.2"])
                programs[text] = pyopencl.Kernel(built, kernel["entry"])
            entry = programs[text]
            params = numpy.array([int(param) for param in kernel["params"]], numpy.uint64)
            entry.set_args(src, dst, params)
            size = kernel["blocks"] * kernel["threads"]
            pyopencl.enqueue_nd_range_kernel(queue, entry, (size,), (kernel["threads"],))
        pyopencl.enqueue_copy(queue, got, dst)
        queue.finish()
        count += 1
        if not numpy.array_equal(got, wanted):
            at = int(numpy.flatnonzero(got != wanted)[0])
            wrong.append(f"{case['name']}: byte {at} is {got[at]}, not {wanted[at]}")
    print(f"    {count} cases by {len(programs)} kernels")
    return wrong + ([] if count else ["no case was run"])


def amd(folder):
    clang = next((path for path in map(shutil.which, ["clang", "clang-19", "clang-16", "clang-14"]) if path), None)
    if not clang:
        skip("clang is not on the path")
    wrong, all_kernels = [], kernels(folder, "cl")
    for path, _, kernel in all_kernels:
        words = ["-x", "cl", "-cl-std=CL1.2", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a", "-nogpulib", "-O2", "-S"]
        words += ["-Xclang", "-finclude-default-header", "-o", "-", path]
        said = subprocess.run([clang, *words], capture_output=True, text=True)
        if said.returncode:
            wrong.append(f"{path.name}: {said.stderr[:300]}")
        elif kernel["way"] == "weave" and "scratch_" in said.stdout:
            wrong.append(f"{path.name}: registers are spilled")
    print(f"    {len(all_kernels)} kernels for gfx90a")
    return wrong


def main(which, folder):
    wrong = {"nvidia": nvidia, "opencl": opencl, "amd": amd}[which](pathlib.Path(folder))
    for one in wrong[:40]:
        print(f"    {one}")
    if wrong:
        sys.exit(f"{len(wrong)} of {which} are wrong")


main(*sys.argv[1:])
