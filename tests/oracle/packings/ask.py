"""The owners' packing functions against the named formats: where each puts the elements of an array.

    ask.py PROGRAM OWNER [FOLDER]   PROGRAM is `tilewright`, OWNER a file of owners/, named as the package it asks;
                                    FOLDER holds the sources of the package where it is not installed

An owner's function gets elements that carry their own numbers, in passes of the width of an element, and what it stores is read
field by field. Each element must lie where the named format says, and the program must move other elements there and back.
"""
import __future__
import ast
import collections
import importlib
import importlib.util
import math
import pathlib
import subprocess
import sys
import tempfile
import types


import numpy as np


class Sources:
    """The sources of a package: unpacked from its wheel, or as it is installed."""

    def __init__(self, package, folder=None):
        installed = None if folder else importlib.util.find_spec(package).origin
        self.folder = pathlib.Path(folder or pathlib.Path(installed).parent.parent)
        lines = next(self.folder.glob(f"{package}-*.dist-info/METADATA")).read_text().splitlines()
        values = [next(line for line in lines if line.startswith(key)) for key in ("Name: ", "Version: ")]
        self.name = " ".join(value.split(": ")[1] for value in values)

    def functions(self, path, *names, **known):
        """Functions, classes and constants of a file by name, without what the file imports.

        `Class.name` is a function or constant of a class. Decorators are left out: they compile, trace or register, and need
        the rest of the package.
        """
        tree = ast.parse((self.folder / path).read_text())
        inside = {None: tree.body} | {at.name: at.body for at in tree.body if isinstance(at, ast.ClassDef)}
        found = dict(known)
        for name in names:
            owner, _, short = name.rpartition(".")
            statements = [at for at in inside[owner or None] if short in defined(at)]
            if not statements:
                sys.exit(f"{self.name}: {path} has no {name}")
            for statement in statements:
                statement.decorator_list = []
            body = ast.Module(statements, type_ignores=[])
            exec(compile(body, path, "exec", __future__.annotations.compiler_flag, dont_inherit=True), found)
            if owner:
                setattr(found.setdefault(owner, types.SimpleNamespace()), short, found[short])
        return types.SimpleNamespace(**found)

    def module(self, name):
        """A module of the package as it is, without running the files that make the packages above it."""
        parts = name.split(".")
        for depth in range(1, len(parts)):
            module = types.ModuleType(".".join(parts[:depth]))
            module.__path__ = [str(self.folder.joinpath(*parts[:depth]))]
            sys.modules.setdefault(module.__name__, module)
        return importlib.import_module(name)


def defined(statement):
    """The names that a statement defines."""
    if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
        return [statement.name]
    targets = statement.targets if isinstance(statement, ast.Assign) else []
    return [target.id for target in targets if isinstance(target, ast.Name)]


Case = collections.namedtuple("Case", "function spec bits stored")


def packed(function, spec, dims, bits, pack):
    """A case of a function that stores elements. `pack` gets an array of integers of `bits` bits and gives what is stored."""
    numbers = np.arange(1, math.prod(dims) + 1, dtype=np.int64).reshape(dims)
    stored = 0
    for shift in passes(math.prod(dims), bits):
        stored = stored | fields(pack((numbers >> shift) & mask(bits)), bits) << shift
    return Case(function, spec, bits, stored)


def unpacked(function, spec, dims, bits, unpack, stored=None, told=None):
    """A case of a function that reads stored elements. `unpack` gets the fields of a storage and gives the array of integers.

    `stored` is the number of fields where some are padding, `told` how many bits of a field the function tells apart.
    """
    count, told = stored or math.prod(dims), told or bits
    places = 0
    for shift in passes(count, told):
        values = np.asarray(unpack((np.arange(count, dtype=np.int64) >> shift) & mask(told)))
        if values.shape != tuple(dims):
            sys.exit(f"{function}: {values.shape} of {spec}")
        places = places | (values.astype(np.int64) & mask(told)) << shift
    holds = np.zeros(count, np.int64)
    holds[places.reshape(-1)] = np.arange(1, places.size + 1)
    return Case(function, spec, bits, holds)


def passes(count, bits):
    return range(0, count.bit_length(), min(bits, 32))


def mask(bits):
    return (1 << min(bits, 32)) - 1


def fields(stored, bits):
    """The fields of what is stored, the lowest bits of each byte and word first."""
    data = np.ascontiguousarray(stored).reshape(-1).view(np.uint8)
    if bits >= 8:
        return data.view(f"<u{bits // 8}").astype(np.int64)
    single = np.unpackbits(data, bitorder="little").reshape(-1, bits).astype(np.int64)
    return (single << np.arange(bits)).sum(axis=1)


def bytes_of(values, bits):
    """Fields of `bits` bits as bytes: the inverse of `fields`."""
    values = np.asarray(values, np.int64).reshape(-1)
    if bits >= 8:
        return values.astype(f"<u{bits // 8}").tobytes()
    single = (values[:, None] >> np.arange(bits)) & 1
    return np.packbits(single.astype(np.uint8).reshape(-1), bitorder="little").tobytes()


class Program:
    """The program, asked where elements lie and to move them."""

    def __init__(self, path, folder):
        self.path, self.folder = path, pathlib.Path(folder)

    def offsets(self, questions):
        """The offset of each element that is asked for, by array and coordinate."""
        lines = "".join(f'offset("{spec}", ({",".join(map(str, coord))},))\n' for spec, coord in questions)
        said = subprocess.run([self.path, "eval", "-"], input=lines, capture_output=True, text=True).stdout
        return said.splitlines()

    def moved(self, data, at, to):
        """Bytes of one array in another layout."""
        source, result = self.folder / "source", self.folder / "result"
        source.write_bytes(data)
        words = ["convert", f"raw:{source}", f"raw:{result}", "--from", at, "--to", to, "--force", "-q"]
        run = subprocess.run([self.path, *words], capture_output=True, text=True)
        if run.returncode:
            sys.exit(f"{at} to {to}: {run.stderr}")
        return result.read_bytes()


def array_of(spec):
    """The extents of the array of a SPEC such as `u4[3,64]E(4) AWQ`."""
    return [int(extent) for extent in spec[spec.index("[") + 1 : spec.index("]")].split(",")]


def differs(case, program, random):
    """Why an owner's storage is not what the format says, or None."""
    array, name = case.spec.split(" ", 1)
    dims = array_of(case.spec)
    count = math.prod(dims)
    place = lambda values: fields(program.moved(bytes_of(values, case.bits), f"{array} row-major", name), case.bits)
    numbers = np.arange(1, count + 1)
    ours = sum(place((numbers >> shift) & mask(case.bits)) << shift for shift in passes(count, case.bits))
    if len(ours) != len(case.stored):
        return f"{len(case.stored)} fields are stored, the format has {len(ours)}"
    # Padding holds what an owner likes.
    wrong = np.flatnonzero((ours != 0) & (ours != case.stored))
    if wrong.size:
        element = ours[wrong[0]]
        coord = [int(at) for at in np.unravel_index(element - 1, dims)]
        there = np.flatnonzero(case.stored == element)
        return f"element {coord} lies at {there}, the format says {wrong[0]}; {wrong.size} of {count} differ"
    values = random.integers(0, mask(case.bits) + 1, count)
    theirs = random.integers(0, mask(case.bits) + 1, len(ours))
    theirs[ours != 0] = values[ours[ours != 0] - 1]
    if program.moved(bytes_of(theirs, case.bits), case.spec, "row-major") != bytes_of(values, case.bits):
        return "the program moves elements back to other places"
    some = random.choice(count, min(count, 50), replace=False)
    places = np.argsort(ours)[len(ours) - count :]
    questions = [(case.spec, np.unravel_index(element, dims)) for element in some]
    for (_, coord), element, said in zip(questions, some, program.offsets(questions), strict=True):
        if said != str(places[element]):
            return f"the offset of {[int(at) for at in coord]} is {said}, it lies at {places[element]}"
    return None


def main(path, owner, folder=None):
    sources = Sources(owner, folder)
    cases = list(importlib.import_module(f"owners.{owner}").cases(sources))
    random = np.random.default_rng(20)
    wrong, counts = [], collections.Counter()
    with tempfile.TemporaryDirectory() as room:
        program = Program(path, room)
        for case in cases:
            counts[case.function] += 1
            why = differs(case, program, random)
            if why:
                wrong.append(f"{case.function}, {case.spec}: {why}")
    covered = ", ".join(f"{function} {count}" for function, count in counts.items())
    print(f"    {sources.name}: {len(cases)} arrays there and back, by {covered}")
    if wrong or not cases:
        sys.exit("\n".join(wrong) or f"{owner} has no cases")


if __name__ == "__main__":
    sys.modules["ask"] = sys.modules["__main__"]
    main(*sys.argv[1:])
