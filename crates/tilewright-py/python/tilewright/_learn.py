"""Loaders learned from coded arrays: ``learn`` and its result."""

from __future__ import annotations

import json
import os
import sys
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright import _errors, _tilewright
from tilewright._tilewright import MapDescription, TensorLayout

__all__ = ["Learned", "LoaderPlan", "Unlike", "check", "learn"]


class Learned:
    """What a loader does with each element of its inputs; ``print`` it for a report.

    It says what the loader does, not what it should do: a loader that exchanges two tensors is learned as it is.
    """

    def __init__(self, loader: _Loader, maps: _tilewright._LearnedMaps, drop: Sequence[str], problems: Sequence[str]) -> None:
        self._loader = loader
        self._maps = maps
        self._drop = list(drop)
        self.problems = tuple(problems)
        """What is not explained or not held; always empty unless ``partial=True``."""

    @property
    def terms(self) -> dict[str, list[_tilewright.MapTerm]]:
        """The terms of each result."""
        return {name: described.terms for name, described in self.maps.items()}

    @property
    def maps(self) -> dict[str, MapDescription]:
        """The description of each result."""
        return self._maps.maps

    @property
    def integers(self) -> int:
        """How many integers all terms are."""
        return sum(described.integers for described in self.maps.values())

    @property
    def layouts(self) -> dict[str, TensorLayout | None]:
        """The layout of each result that holds one whole input and padding, else None."""
        return {name: described.layout for name, described in self.maps.items()}

    @property
    def held(self) -> dict[str, tuple[int, int, int]]:
        """How often the elements of each input are held: the least, the most, and the number of those that are not."""
        return self._maps.held

    def plan(self, form: str = "toml") -> str:
        """The plan as a text, ``"toml"`` or ``"json"``."""
        if form not in ("toml", "json"):
            raise _errors.make("arguments", f"form= is 'toml' or 'json', not {form!r}", None, None)
        return self._maps.plan(form == "toml")

    @property
    def recipe(self) -> str:
        """The recipe that makes the results from the inputs, as TOML.

        :raises NoLayoutError: where no recipe expresses a result, such as padding or a part of an input; the plan does
        """
        return self._maps.recipe(False)

    @property
    def inverse_recipe(self) -> str:
        """The recipe that makes the inputs from the results, as TOML; see ``recipe``."""
        return self._maps.recipe(True)

    def compare(self, inputs: Any, results: Any, /) -> str | None:
        """The first difference between results, such as live memory, and what the plan makes of the inputs: a sentence, or None."""
        given = self._loader.given(inputs)
        found = self._loader.named(results, "results")
        sources = [self._loader.bytes_of(name, given[name]) for name in self._loader.names]
        first = self._maps.compare(sources, [self._result(found, made.name) for made in self._loader.made])
        if first is None:
            return None
        name, place, want, have, count = first
        return f"{name}: {count} elements differ, the first at {place}: the bits are {have:#x}, and the inputs give {want:#x}"

    def scatter(self, results: Any, name: str, indices: Any, values: Any, /) -> int:
        """Writes new values of elements of an input to all places of the results that hold them, and returns their number.

        ``results`` are contiguous arrays, which are changed in place. ``indices`` are row-major numbers of elements of the input
        ``name``, an int64 array. ``values`` has its element type.

        >>> import numpy as np
        >>> learned = learn(lambda w: w.T.copy(), np.zeros((2, 3), np.float32))
        >>> memory = np.zeros((3, 2), np.float32)
        >>> learned.scatter(memory, "input", np.array([1, 5]), np.array([7, 8], np.float32))
        2
        >>> memory.tolist()
        [[0.0, 0.0], [7.0, 0.0], [0.0, 8.0]]
        """
        if name not in self._loader.like:
            raise _errors.make("arguments", f"there is no input {name}; choose one of {', '.join(self._loader.names)}", None, None)
        like, found = self._loader.like[name], self._loader.named(results, "results")
        if self._loader.bits[name] is not None or str(values.dtype) != str(like.dtype):
            said = f"values are {values.dtype}, and {name} is {like.dtype} in elements of whole bytes"
            raise _errors.make("dtype", said, None, None)
        numbers, units = _changes(name, like.shape, int(like.dtype.itemsize), indices, values)
        return _scattered(self._maps, self._loader.names.index(name), numbers, units, [found])

    def _result(self, found: Mapping[str, Any], name: str) -> bytes:
        if name not in found:
            raise _errors.make("mismatch", f"the results lack {name}", None, None)
        return self._loader.storage(found[name])

    def apply(self, inputs: Any, /) -> Any:
        """What the loader makes of these inputs, by the plan alone. The results are of the inputs' library."""
        given = self._loader.given(inputs)
        made = self._maps.apply([self._loader.bytes_of(name, given[name]) for name in self._loader.names])
        return self._loader.results(made)

    def invert(self, results: Any, /) -> Any:
        """The inputs from results. Copies of one element must be equal.

        :raises LearnError: if elements are lost; the message names the inputs
        """
        found = self._loader.named(results, "results")
        missing = [result.name for result in self._loader.made if result.name not in found]
        if missing:
            lost = self._lost_without(missing)
            raise _fault("lost", f"the results lack {', '.join(missing)}, so these inputs are lost: {', '.join(lost) or 'none'}")
        back, counts = self._maps.invert([self._loader.storage(found[result.name]) for result in self._loader.made])
        dropped = set(self._maps.dropped(self._drop))
        gone = [f"{name} ({count})" for name, count in zip(self._loader.names, counts) if count and name not in dropped]
        if gone:
            raise _fault("lost", f"these inputs are lost, with the number of elements: {', '.join(gone)}")
        return self._loader.shaped({name: data for name, data in zip(self._loader.names, back) if data is not None})

    def _contradicted(self, seed: int) -> _tilewright._LearnedMaps:
        """The maps without the elements that the results of random bits contradict."""
        sources = self._maps.fresh(seed)
        results, _ = self._loader.run(sources, f"the check with seed {seed}")
        if [result.facts for result in self._loader.made] != _facts(results):
            return self._maps
        return self._maps.without(sources, [self._loader.storage(array) for array in results.values()])

    def check(self, n: int = 1, *, seed: int = 1) -> None:
        """Runs the loader on ``n`` sets of random bits, NaNs with payloads among them, and compares every bit.

        :raises LearnError: with the first element that differs
        """
        for k in range(n):
            sources = self._maps.fresh(seed + k)
            results, _ = self._loader.run(sources, f"the check with seed {seed + k}")
            found = [self._loader.storage(array) for array in results.values()]
            if [result.facts for result in self._loader.made] != _facts(results):
                raise _fault("loader", "the results of fresh data have other names, shapes or element types than those of the coded loads")
            first = self._maps.compare(sources, found)
            if first is not None:
                name, place, want, have, count = first
                raise _fault(
                    "values",
                    f"the loader changes values, or decides by them: element {place} of {name} has the bits {have:#x}, and a move "
                    f"gives {want:#x}; {count} elements differ",
                )

    def _lost_without(self, missing: Sequence[str]) -> list[str]:
        """The inputs that only the missing results hold in full."""
        kept = [described for name, described in self.maps.items() if name not in missing]
        lost: list[str] = []
        for name in self._loader.names:
            if not any(described.held[name][0] for described in kept):
                lost.append(name)
        return lost

    def __str__(self) -> str:
        return self._maps.report(self._drop).rstrip("\n")

    def __repr__(self) -> str:
        count = sum(len(terms) for terms in self.terms.values())
        return f"<Learned: {len(self.maps)} results, {count} terms, {self.integers} integers>"


def learn(
    f: Callable[..., Any],
    inputs: Any,
    *,
    drop: Sequence[str] = (),
    partial: bool = False,
    bits: int | Mapping[str, int] | None = None,
    checks: int = 1,
    seed: int = 1,
) -> Learned:
    """Learns where every element of a loader's results comes from.

    ``f`` runs on arrays whose values code the number of each element, one digit a load. What it returns is decoded and described
    exactly. Then ``f`` runs on random bits, and every bit is compared; no result is returned without this.

    - ``inputs`` is a mapping of names to arrays, with which ``f`` is called; or a list of arrays, which ``f`` takes one by one; or
      one array. Only shapes and element types of the arrays are used. They are NumPy's or torch tensors on the CPU.
    - ``f`` returns a mapping of names to arrays, a list of arrays, or one array. It must return copies, not views of its inputs.
    - Results are read in row-major order.

    :param drop: names of inputs that no result needs to hold; ``*`` stands for any text
    :param partial: True returns what was learned where elements are not explained or not held; ``problems`` has the reasons
    :param bits: 4 or 2 for integer inputs whose values have so few bits and that ``f`` packs; for all inputs, or by name
    :param checks: the number of runs on random bits
    :param seed: of the random bits
    :raises LearnError: if ``f`` raises, changes its inputs, returns views, is random, changes values, or loses elements

    >>> import numpy as np
    >>> def load(tensors):
    ...     return {"gate_up": np.concatenate([tensors["gate"], tensors["up"]]).T.copy()}
    >>> weights = {"gate": np.zeros((6, 4), np.float16), "up": np.zeros((6, 4), np.float16)}
    >>> learned = learn(load, weights)
    >>> print(learned)
    gate_up f16[4,12]
        gate : n k -> k n [n:12] @ 0
        up : n k -> k n [n:12] @ 6
    1 results of 2 sources: 2 terms, 18 integers
    >>> fresh = {name: np.random.rand(6, 4).astype(np.float16) for name in weights}
    >>> bool((learned.apply(fresh)["gate_up"] == load(fresh)["gate_up"]).all())
    True
    >>> bool((learned.invert(load(fresh))["up"] == fresh["up"]).all())
    True

    A loader that computes is refused:

    >>> learn(lambda w: w + 1, np.zeros(3, np.float32), drop=["input"])
    Traceback (most recent call last):
        ...
    tilewright.LearnError: result: 3 of 3 elements are not explained, the first at [0]; its values in each load: 2.0078125, 2.328125
    """
    loader = _Loader(f, inputs, bits)
    space = _tilewright._LearnSpace(loader.sources)
    loads: list[dict[str, bytes]] = []
    for load in range(space.loads):
        coded = [space.coded(k, load) for k in range(len(loader.names))]
        results, again = loader.run(coded, f"load {load}", twice=load == space.loads - 1)
        loader.remember(results, load)
        loads.append({name: loader.storage(array) for name, array in results.items()})
        for name, array in (again or {}).items():
            if loader.storage(array) != loads[-1][name]:
                raise _fault("random", f"two runs on equal inputs differ in {name}: the loader is random, or it returns memory that it did not write")
    maps = space.learn([(result.tensor, [one[result.name] for one in loads]) for result in loader.made])
    for pattern in maps.unmatched(list(drop)):
        warnings.warn(f"drop= has {pattern!r}, which matches no input", stacklevel=2)
    problems = maps.faults(list(drop))
    if problems and not partial:
        raise _fault("unexplained", "\n".join(problems))
    if partial:
        # By chance, one computed element in 128 has the right check digit: fresh data tell.
        for k in range(max(1, checks)):
            maps = Learned(loader, maps, drop, problems)._contradicted(seed + k)
        problems = maps.faults(list(drop))
    learned = Learned(loader, maps, drop, problems)
    learned.check(max(1, checks), seed=seed)
    return learned


class LoaderPlan:
    """What a loader does, from the file that ``tilewright learn read -o PLAN.json`` wrote."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        self.path = os.fspath(path)
        """The file of the plan."""
        self._maps = _tilewright._LearnedMaps(text)
        plan = json.loads(text)
        self._sources = plan["source"]
        self._sizes = {result["name"]: int(result["size"]) for result in plan["result"]}

    @property
    def ranks(self) -> int:
        """The number of ranks; 1 if the plan names none."""
        return self._maps.ranks

    @property
    def maps(self) -> dict[str, MapDescription]:
        """The description of each array; ``rank{T}/NAME`` has the rank as its first axis."""
        return self._maps.maps

    @property
    def held(self) -> dict[str, tuple[int, int, int]]:
        """How often the elements of each tensor are held: the least, the most, and the number of those that are not."""
        return self._maps.held

    @property
    def sources(self) -> list[tuple[str, tuple[int, ...], int]]:
        """The tensors of the checkpoint as ``describe_map`` takes them: name, shape, first id."""
        return [(one["name"], tuple(one["extents"]), int(one["first"])) for one in self._sources]

    def check(
        self,
        checkpoint: str | os.PathLike[str],
        memory: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        *,
        rank: int | None = None,
    ) -> Unlike | None:
        """The first tensor of a checkpoint that an engine's memory does not hold, else None; see ``check``."""
        return _checked(self._maps, checkpoint, memory, rank)

    def scatter(
        self,
        memory: Mapping[str, Any] | Sequence[Mapping[str, Any]],
        name: str,
        indices: Any,
        values: Any,
        *,
        rank: int | None = None,
    ) -> int:
        """Writes new values of elements of a checkpoint's tensor to all places of memory that hold them; returns their number.

        :param memory: the arrays of each rank by their names, or those of one rank; contiguous, changed in place
        :param indices: row-major numbers of elements of the tensor, int64
        :param values: new values, of the tensor's element type
        :param rank: the rank of the arrays, if they are of one
        :raises Error: if the plan has no such tensor, or the sizes do not fit
        """
        numbers, ranks = _ranks(self._maps, memory, rank)
        place = next((k for k, one in enumerate(self._sources) if one["name"] == name), None)
        if place is None:
            raise _errors.make("arguments", f"the plan has no tensor {name}", None, None)
        width = int(values.dtype.itemsize)
        known = _tilewright._LearnSpace([(name, self._sources[place]["extents"], self._sources[place]["dtype"])])
        if width * 8 != known.bits(0):
            raise _errors.make("dtype", f"values of {width * 8} bits, and {name} has {known.bits(0)}", None, None)
        changed, units = _changes(name, self._sources[place]["extents"], width, indices, values)
        return _scattered(self._maps, place, changed, units, ranks, numbers, self._sizes)


class Unlike:
    """The first tensor of a checkpoint that memory does not hold, as ``check`` finds it; ``str`` says it in words."""

    def __init__(self, tensor: str, result: str, rank: int, coordinate: Sequence[int], differing: int) -> None:
        self.tensor = tensor
        """The tensor of the checkpoint."""
        self.result = result
        """The array in memory."""
        self.rank = rank
        """The rank that has it."""
        self.coordinate = tuple(coordinate)
        """The first element of the tensor that differs in this part of the array."""
        self.differing = differing
        """How many elements of this part differ."""

    def __str__(self) -> str:
        at = list(self.coordinate)
        return f"{self.tensor} differs in {self.result} of rank {self.rank}: {self.differing} elements, the first is {at}"

    def __repr__(self) -> str:
        return f"<Unlike: {self}>"


def check(
    plan: str | os.PathLike[str] | Learned | LoaderPlan,
    checkpoint: str | os.PathLike[str],
    memory: Mapping[str, Any] | Sequence[Mapping[str, Any]],
    /,
    *,
    rank: int | None = None,
) -> Unlike | None:
    """Whether an engine's memory holds a checkpoint: None if it does, else the first tensor that differs.

    Fingerprints of each part are compared, of the file and of memory, so nothing is converted. Padding and constants are not in the
    file and are not compared.

    :param plan: the file that ``learn read -o PLAN.json`` wrote, or what ``learn`` returned
    :param checkpoint: the file or folder, such as the one that a trainer wrote
    :param memory: the arrays of each rank by their names, or those of one rank: NumPy's or tensors on the CPU, row-major
    :param rank: the rank of the arrays, if they are of one; each rank can compare its own
    :raises Error: if the file lacks a tensor, or memory an array, or one has another size

    >>> import numpy as np, tempfile
    >>> import tilewright as tw
    >>> weights = {"w": np.arange(6, dtype=np.float32).reshape(2, 3)}
    >>> learned = tw.learn(lambda tensors: {"packed": tensors["w"].T.copy()}, weights)
    >>> memory = {"packed": weights["w"].T.copy()}
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tw.save(weights, f"{folder}/model.safetensors")
    ...     same = check(learned, f"{folder}/model.safetensors", memory)
    ...     memory["packed"][2, 1] = 7
    ...     found = check(learned, f"{folder}/model.safetensors", memory)
    >>> print(same, found)
    None w differs in packed of rank 0: 1 elements, the first is [1, 2]
    """
    maps = (plan if isinstance(plan, (Learned, LoaderPlan)) else LoaderPlan(plan))._maps
    return _checked(maps, checkpoint, memory, rank)


def _checked(maps: _tilewright._LearnedMaps, checkpoint: str | os.PathLike[str], memory: Any, rank: int | None) -> Unlike | None:
    numbers, ranks = _ranks(maps, memory, rank)
    found = maps.check(os.fsdecode(checkpoint), list(zip(numbers, ranks)))
    return None if found is None else Unlike(*found)


def _ranks(maps: _tilewright._LearnedMaps, memory: Any, rank: int | None) -> tuple[list[int], list[Mapping[str, Any]]]:
    """The numbers of the ranks of memory, and their arrays."""
    ranks = [memory] if isinstance(memory, Mapping) else list(memory)
    numbers = list(range(len(ranks))) if rank is None else [rank]
    if len(numbers) != len(ranks) or (rank is None and len(ranks) != maps.ranks):
        said = f"memory has {len(ranks)} ranks, and the plan has {maps.ranks}; give all of them, or one and rank="
        raise _errors.make("arguments", said, None, None)
    for number in numbers:
        if not 0 <= number < maps.ranks:
            raise _errors.make("arguments", f"rank={number}, and the plan has {maps.ranks} ranks, from 0", None, None)
    return numbers, ranks


def _changes(name: str, shape: Sequence[int], width: int, indices: Any, values: Any) -> tuple[Any, Any]:
    """The numbers of elements as int64, and their new values as units of so many bytes."""
    import numpy as np

    indices = np.ascontiguousarray(indices, np.int64).reshape(-1)
    size = int(np.prod(shape, dtype=np.int64))
    if len(indices) and not (0 <= indices.min() and indices.max() < size):
        raise _errors.make("out-of-range", f"indices= has a number outside of the {size} elements of {name}", None, None)
    raw = np.frombuffer(_storage(values), np.uint8)
    if len(raw) != width * len(indices):
        raise _errors.make("mismatch", f"{len(indices)} indices for {len(raw) // width} values", None, None)
    return indices, raw.view(f"u{width}")


def _scattered(
    maps: _tilewright._LearnedMaps,
    source: int,
    indices: Any,
    units: Any,
    ranks: Sequence[Mapping[str, Any]],
    numbers: Sequence[int] = (0,),
    sizes: Mapping[str, int] | None = None,
) -> int:
    """Writes units to the places of elements of a source, and returns their number."""
    import numpy as np

    writes: list[tuple[Any, Any, Any]] = []
    for result, elements, places in maps.places(source, indices):
        at, changed = np.frombuffer(places, np.int64), units[np.frombuffer(elements, np.int64)]
        rank, _, name = result.partition("/")
        if sizes is None or not name or not rank.startswith("rank"):
            rank, name = "", result
        size = maps.maps[result].size // (maps.ranks if rank == "rank{T}" else 1)
        for number, arrays in zip(numbers, ranks):
            if rank not in ("", "rank{T}", f"rank{number}"):
                continue
            memory = _memory(arrays, name, number, size, units.dtype)
            if rank == "rank{T}":
                own = (at >= number * size) & (at < (number + 1) * size)
                writes.append((memory, at[own] - number * size, changed[own]))
            else:
                writes.append((memory, at, changed))
    # Nothing is written before all memory was checked.
    for memory, at, changed in writes:
        memory[at] = changed
    return sum(len(at) for _, at, _ in writes)


def _memory(arrays: Mapping[str, Any], name: str, rank: int, size: int, dtype: Any) -> Any:
    """The units of an array of a rank, shared with it, after its length was checked."""
    if name not in arrays:
        raise _errors.make("mismatch", f"memory of rank {rank} lacks {name}", None, None)
    raw = _bytes_in_place(arrays[name], name)
    if len(raw) != size * dtype.itemsize:
        said = f"{name} of rank {rank} has {len(raw)} bytes, and {size * dtype.itemsize} were learned"
        raise _errors.make("mismatch", said, None, None)
    return raw.view(dtype)


def _fault(kind: str, message: str) -> _errors.Error:
    error = _errors.LearnError(message)
    error.kind = kind
    error.message = message
    return error


class _Made:
    """One result: its name, shape and element type."""

    def __init__(self, name: str, array: Any, bits: int | None) -> None:
        self.name = name
        self.shape = tuple(int(extent) for extent in array.shape)
        self.dtype = array.dtype
        self.facts = (name, self.shape, str(array.dtype))
        self.tensor = (name, self.shape, array.dtype)
        if bits is not None:
            # The storage is read in units of so few bits.
            units = array.nbytes * 8 // bits
            self.tensor = (name, (units,), f"u{bits}")


def _facts(results: Mapping[str, Any]) -> list[tuple[str, tuple[int, ...], str]]:
    return [_Made(name, array, None).facts for name, array in results.items()]


class _Loader:
    """A callable with the names, shapes and types of its inputs, and how arrays go in and come out."""

    def __init__(self, f: Callable[..., Any], inputs: Any, bits: int | Mapping[str, int] | None) -> None:
        self.f = f
        self.form = "mapping" if isinstance(inputs, Mapping) else "list" if isinstance(inputs, (list, tuple)) else "one"
        arrays = self.named(inputs, "inputs", "input")
        if not arrays:
            raise _fault("loader", "there are no inputs; give the arrays that the loader reads")
        self.names = list(arrays)
        self.like = {name: _Like(name, array) for name, array in arrays.items()}
        self.bits = {name: bits if not isinstance(bits, Mapping) else bits.get(name) for name in self.names}
        for name, width in self.bits.items():
            if width not in (None, 2, 4):
                raise _errors.make("arguments", f"bits= of {name} is {width}; it is 2 or 4", None, None)
        self.unit = min((width for width in self.bits.values() if width), default=None)
        self.sources = [
            (name, self.like[name].shape, f"u{self.bits[name]}" if self.bits[name] else self.like[name].dtype) for name in self.names
        ]
        self.made: list[_Made] = []
        self.answer = "mapping"

    def named(self, arrays: Any, what: str, one: str = "result") -> dict[str, Any]:
        """Arrays by their names."""
        if isinstance(arrays, Mapping):
            found = dict(arrays)
        elif isinstance(arrays, (list, tuple)):
            found = {f"{one}{k}": array for k, array in enumerate(arrays)}
        else:
            found = {one: arrays}
        for name, array in found.items():
            if not isinstance(name, str):
                raise _fault("loader", f"the {what} have a name that is not a text: {name!r}")
            if not (_is_numpy(array) or _is_torch(array)):
                raise _fault("loader", f"{name} of the {what} is of {type(array).__name__}, not an array of NumPy or a tensor of torch")
        return found

    def given(self, inputs: Any) -> dict[str, Any]:
        """Inputs by their names, with the shapes and types that were learned."""
        found = self.named(inputs, "inputs", "input")
        for name in self.names:
            if name not in found:
                raise _errors.make("mismatch", f"the inputs lack {name}", None, None)
            like, array = self.like[name], found[name]
            if (tuple(array.shape), str(array.dtype)) != (like.shape, str(like.dtype)):
                said = f"{name} is {array.dtype} {tuple(array.shape)}, and {like.dtype} {like.shape} was learned"
                raise _errors.make("mismatch", said, None, None)
        return found

    def bytes_of(self, name: str, array: Any) -> bytes:
        """The bytes of an input as the plan reads them."""
        width = self.bits[name]
        return _storage(array) if width is None else _packed(_storage(array), array, width)

    def storage(self, array: Any) -> bytes:
        """The bytes of a result, row-major."""
        return _storage(array)

    def shaped(self, sources: Mapping[str, bytes]) -> Any:
        """Arrays of the inputs' library from their bytes."""
        arrays = {name: self.like[name].array(_unpacked(data, self.like[name], self.bits[name])) for name, data in sources.items()}
        if self.form == "mapping" or len(arrays) < len(self.names):
            return arrays
        return list(arrays.values()) if self.form == "list" else next(iter(arrays.values()))

    def results(self, made: Sequence[bytes]) -> Any:
        """Arrays of the results from their bytes."""
        arrays = {one.name: _array(data, one.shape, one.dtype) for one, data in zip(self.made, made)}
        if self.answer == "mapping":
            return arrays
        return list(arrays.values()) if self.answer == "list" else next(iter(arrays.values()))

    def run(self, sources: Sequence[bytes], where: str, *, twice: bool = False) -> tuple[dict[str, Any], dict[str, Any] | None]:
        """Runs the loader once or twice on arrays of these bytes."""
        first = self._run(sources, where)
        return first, self._run(sources, where) if twice else None

    def _run(self, sources: Sequence[bytes], where: str) -> dict[str, Any]:
        arrays = self.shaped(dict(zip(self.names, sources)))
        named = self.named(arrays, "inputs", "input")
        before = {name: _storage(array) for name, array in named.items()}
        try:
            answer = self.f(*arrays) if self.form == "list" else self.f(arrays)
        except Exception as error:
            raise _fault("loader", f"the loader raised {type(error).__name__} in {where}: {error}") from error
        self.answer = "mapping" if isinstance(answer, Mapping) else "list" if isinstance(answer, (list, tuple)) else "one"
        results = self.named(answer, "results")
        for name, array in named.items():
            if _storage(array) != before[name]:
                raise _fault("loader", f"the loader changes its input {name}; let it work on a copy")
            for result, made in results.items():
                if _shares(array, made):
                    raise _fault("loader", f"the result {result} is a view of the input {name}; return a copy")
        return results

    def remember(self, results: Mapping[str, Any], load: int) -> None:
        """Keeps the facts of the results, or compares them with those of the first load."""
        made = [_Made(name, array, self.unit) for name, array in results.items()]
        if load == 0:
            self.made = made
        elif [one.facts for one in made] != [one.facts for one in self.made]:
            raise _fault("loader", f"the results of load {load} have other names, shapes or element types than those of load 0")


class _Like:
    """The library, shape and element type of an array."""

    def __init__(self, name: str, array: Any) -> None:
        self.name = name
        self.shape = tuple(int(extent) for extent in array.shape)
        self.dtype = array.dtype

    def array(self, data: bytes) -> Any:
        return _array(data, self.shape, self.dtype)


def _is_torch(array: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(array, torch.Tensor)


def _is_numpy(array: Any) -> bool:
    numpy = sys.modules.get("numpy")
    return numpy is not None and isinstance(array, numpy.ndarray)


def _array(data: bytes, shape: Sequence[int], dtype: Any) -> Any:
    """A new array from its bytes, of NumPy or of torch as its element type is."""
    torch = sys.modules.get("torch")
    if torch is not None and isinstance(dtype, torch.dtype):
        raw = torch.frombuffer(bytearray(data), dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)
        return raw.view(dtype).reshape(tuple(shape))
    import numpy as np

    return np.frombuffer(bytearray(data), dtype=np.uint8).view(dtype).reshape(tuple(shape))


def _storage(array: Any) -> bytes:
    """The bytes of an array, row-major."""
    if _is_torch(array):
        torch = sys.modules["torch"]
        if array.device.type != "cpu":
            raise _fault("loader", f"a tensor on {array.device}; the loader must work on the CPU")
        flat = array.detach().contiguous().reshape(-1)
        return bytes(flat.view(torch.uint8).numpy().tobytes()) if flat.numel() else b""
    return bytes(array.tobytes())


def _bytes_in_place(array: Any, name: str) -> Any:
    """The bytes of a contiguous array, shared with it."""
    import numpy as np

    if _is_torch(array) and array.is_contiguous():
        return array.detach().reshape(-1).view(sys.modules["torch"].uint8).numpy()
    if _is_numpy(array) and array.flags.c_contiguous and array.flags.writeable:
        return array.reshape(-1).view(np.uint8)
    raise _errors.make("copy", f"{name} must be a contiguous array that can be written", None, None)


def _shares(a: Any, b: Any) -> bool:
    """Whether two arrays share memory."""
    if _is_torch(a) and _is_torch(b):
        return bool(a.numel() and b.numel() and a.untyped_storage().data_ptr() == b.untyped_storage().data_ptr())
    if _is_numpy(a) and _is_numpy(b):
        import numpy as np

        return bool(np.may_share_memory(a, b) and a.size and b.size)
    return False


def _unpacked(data: bytes, like: _Like, width: int | None) -> bytes:
    """Elements of few bits, as the values of integers."""
    if width is None:
        return data
    import numpy as np

    raw = np.frombuffer(data, np.uint8)
    values = np.stack([raw >> shift & (1 << width) - 1 for shift in range(0, 8, width)], axis=1).reshape(-1)
    values = values[: int(np.prod(like.shape, dtype=np.int64))]
    if _is_torch_dtype(like.dtype):
        torch = sys.modules["torch"]
        return _storage(torch.from_numpy(values).to(like.dtype))
    return values.astype(like.dtype).tobytes()


def _packed(data: bytes, array: Any, width: int) -> bytes:
    """The values of integers, as elements of few bits."""
    import numpy as np

    size = len(data) // (array.nbytes // max(1, int(np.prod(array.shape, dtype=np.int64))))
    raw = np.frombuffer(data, np.uint8).reshape(size, -1)
    values = raw[:, 0]
    if raw[:, 1:].any() or (values >> width).any():
        raise _errors.make("arguments", f"an input has values of more than {width} bits; with bits={width} they are 0 to {(1 << width) - 1}", None, None)
    per = 8 // width
    padded = np.zeros(-(-size // per) * per, np.uint8)
    padded[:size] = values
    packed = np.zeros(len(padded) // per, np.uint8)
    for k in range(per):
        packed |= padded[k::per] << (k * width)
    return packed.tobytes()


def _is_torch_dtype(dtype: Any) -> bool:
    torch = sys.modules.get("torch")
    return torch is not None and isinstance(dtype, torch.dtype)
