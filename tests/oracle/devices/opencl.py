"""Kernels run by OpenCL on the processor: every byte of every destination.

    opencl.py FOLDER …     each is what the example `cases` of tilewright-device wrote, with data

First each plan alone, by the entry for one array; then all arrays of a folder twice, with different data, by the entry
for many: one launch a text. Arrays begin where the plans were told, behind multiples of 16.
"""
import pathlib
import sys

from cases import finish, lines, skip

try:
    import numpy
    import pyopencl
except ImportError as error:
    skip(f"{error}")

# What destinations hold before, and what lies between arrays and stays.
BEFORE, BETWEEN = 0xEE, 0xA5


def device():
    """A processor: the entry for many takes addresses, which there are the host's."""
    try:
        devices = [device for platform in pyopencl.get_platforms() for device in platform.get_devices()]
    except pyopencl.Error as error:
        skip(f"no device of OpenCL: {error} (Debian: apt-get install pocl-opencl-icd)")
    devices = [device for device in devices if device.type & pyopencl.device_type.CPU]
    if not devices:
        skip("no processor is a device of OpenCL (Debian: apt-get install pocl-opencl-icd)")
    return devices[0]


class Arena:
    """Arrays in one piece of memory that the device uses where it is."""

    def __init__(self, context, arrays):
        """Arrays are bytes with the offset from a multiple of 16 at which they begin."""
        self.at, size = [], 64
        for content, offset in arrays:
            self.at.append(size + offset)
            size = (size + offset + len(content) + 15) // 16 * 16 + 64
        memory = numpy.full(size + 64, BETWEEN, numpy.uint8)
        self.memory = memory[-memory.ctypes.data % 64:][:size]
        for at, (content, _) in zip(self.at, arrays):
            self.memory[at:at + len(content)] = content
        flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.USE_HOST_PTR
        self.buffer = pyopencl.Buffer(context, flags, hostbuf=self.memory)

    def address(self, number):
        return self.memory.ctypes.data + self.at[number]

    def result(self, queue):
        result = numpy.empty_like(self.memory)
        pyopencl.enqueue_copy(queue, result, self.buffer)
        queue.finish()
        return result


class Folder:
    def __init__(self, path, context, programs):
        self.path, self.programs = pathlib.Path(path), programs
        self.context = context
        self.queue = pyopencl.CommandQueue(self.context)
        self.wrong, self.cases, self.refused = [], lines(path), 0

    def data(self, case, end, which):
        return numpy.fromfile(self.path / f"{case['name']}.{end}{which}", numpy.uint8)

    def text(self, case, number):
        return (self.path / f"{case['name']}.{number}.cl").read_text()

    def entry(self, text, name):
        if text not in self.programs:
            self.programs[text] = pyopencl.Program(self.context, text).build([self.version(text)])
        return pyopencl.Kernel(self.programs[text], name)

    def version(self, text):
        """1.2 wherever it serves; it refuses long tables, in words, and a later version takes them."""
        if "#error index tables" not in text:
            return "-cl-std=CL1.2"
        try:
            pyopencl.Program(self.context, text).build(["-cl-std=CL1.2"])
            self.wrong.append(("long tables", f"{self.path.name}: OpenCL C 1.2 takes more than its constants"))
        except pyopencl.RuntimeError as error:
            if "index tables of" not in str(error):
                self.wrong.append(("long tables", f"{self.path.name}: {str(error)[:300]}"))
            self.refused += 1
        return "-cl-std=CL2.0"

    def arena(self, jobs):
        """Sources and destinations of cases with the number of their data."""
        arrays = []
        for case, which in jobs:
            arrays.append((self.data(case, "src", which), case["src_at"]))
            arrays.append((numpy.full(case["dst_bytes"], BEFORE, numpy.uint8), case["dst_at"]))
        return Arena(self.context, arrays)

    def compare(self, how, jobs, arena):
        got, wanted = arena.result(self.queue), numpy.full(arena.memory.size, BETWEEN, numpy.uint8)
        for number, (case, which) in enumerate(jobs):
            for end, at in (("src", arena.at[2 * number]), ("dst", arena.at[2 * number + 1])):
                content = self.data(case, end, which)
                wanted[at:at + content.size] = content
                if not numpy.array_equal(got[at:at + content.size], content):
                    byte = int(numpy.flatnonzero(got[at:at + content.size] != content)[0])
                    found = f"byte {byte} of {end} is {got[at + byte]}, not {content[byte]}"
                    self.wrong.append((how, f"{self.path.name}/{case['name']}: {found}"))
        if not any(one == how for one, _ in self.wrong) and not numpy.array_equal(got, wanted):
            self.wrong.append((how, f"{self.path.name}: bytes between the arrays are written"))

    def launch(self, entry, kernel, blocks):
        pyopencl.enqueue_nd_range_kernel(self.queue, entry, (blocks * kernel["threads"],), (kernel["threads"],))

    def many(self, text, jobs, arena):
        """One launch of a text: jobs are numbers of the arena's pairs of arrays with their kernels."""
        rows, first = [], 0
        for number, kernel in jobs:
            addresses = [arena.address(2 * number), arena.address(2 * number + 1)]
            rows.append([*addresses, first, *map(int, kernel["params"])])
            first += kernel["blocks"]
        flags = pyopencl.mem_flags.READ_ONLY | pyopencl.mem_flags.COPY_HOST_PTR
        table = pyopencl.Buffer(self.context, flags, hostbuf=numpy.array(rows, numpy.uint64))
        entry = self.entry(text, jobs[0][1]["entry"] + "_many")
        entry.set_args(table, numpy.uint32(len(jobs)))
        self.launch(entry, jobs[0][1], first)
        self.queue.finish()

    def one(self, text, kernel, case):
        """The entry for one array, which takes whole buffers."""
        params = numpy.array([int(param) for param in kernel["params"]], numpy.uint64)
        entry = self.entry(text, kernel["entry"])
        entry.set_args(*case["buffers"], params)
        self.launch(entry, kernel, kernel["blocks"])

    def alone(self):
        """The plans between whole buffers, one by one; how many there are."""
        cases = [case for case in self.cases if case["src_at"] == case["dst_at"] == 0]
        for case in cases:
            flags = pyopencl.mem_flags.READ_WRITE | pyopencl.mem_flags.COPY_HOST_PTR
            contents = [self.data(case, "src", 0), numpy.full(case["dst_bytes"], BEFORE, numpy.uint8)]
            case["buffers"] = [pyopencl.Buffer(self.context, flags, hostbuf=content) for content in contents]
            for number, kernel in enumerate(case["kernels"]):
                self.one(self.text(case, number), kernel, case)
            got, wanted = contents[1], self.data(case, "dst", 0)
            pyopencl.enqueue_copy(self.queue, got, case.pop("buffers")[1])
            self.queue.finish()
            if not numpy.array_equal(got, wanted):
                at = int(numpy.flatnonzero(got != wanted)[0])
                self.wrong.append(("alone", f"{self.path.name}/{case['name']}: byte {at} is {got[at]}, not {wanted[at]}"))
        return len(cases)

    def together(self):
        """All arrays twice, a launch a text, those that fill all of a destination before the others; their counts."""
        jobs = [(case, which) for case in self.cases for which in (0, 1)]
        arena, groups = self.arena(jobs), ({}, {})
        for pair, (case, _) in enumerate(jobs):
            for number, kernel in enumerate(case["kernels"]):
                group = groups[number >= case["first"]]
                group.setdefault(self.text(case, number), []).append((pair, kernel))
        for text, group in [one for group in groups for one in group.items()]:
            self.many(text, group, arena)
        self.compare("together", jobs, arena)
        return len(jobs), sum(map(len, groups))


def main(folders):
    found, programs, wrong, counts = device(), {}, [], {"alone": 0, "together": 0, "launches of many": 0, "long tables refused by 1.2": 0}
    context = pyopencl.Context([found])
    print(f"    {found.platform.version}, {found.name}")
    for path in folders:
        folder = Folder(path, context, programs)
        alone, (together, launches) = folder.alone(), folder.together()
        print(f"    {folder.path.name}: {len(folder.cases)} cases, {alone} alone, {together} arrays by {launches} launches")
        wrong += folder.wrong + ([] if folder.cases else [("nothing checked", folder.path.name)])
        counts = dict(zip(counts, map(sum, zip(counts.values(), (alone, together, launches, folder.refused)))))
    finish("OpenCL", wrong, counts | {"programs": len(programs)})


main(sys.argv[1:])
