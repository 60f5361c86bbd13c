"""Loaders learned from coded arrays: ``learn`` and its result."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tilewright import _errors, _tilewright
from tilewright._tilewright import MapDescription, TensorLayout

__all__ = ["Learned", "LoaderPlan", "PredictedPlan", "Unlike", "check", "learn"]

#: The most runs on random bits that take elements out of a partial plan. One takes out 127 of 128 that are there by chance.
_ROUNDS = 32


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
        ranks = range(self._maps.ranks)
        own = [{**found, **{key.removeprefix(f"rank{rank}/"): array for key, array in found.items()}} for rank in ranks]
        return _scattered(self._maps, name, indices, values, list(enumerate(own)))

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

    def _settled(self, seeds: range) -> _tilewright._LearnedMaps:
        """The maps without the elements that results of random bits contradict: new bits each time, until none are."""
        maps = self._maps
        for seed in seeds:
            sources = maps.fresh(seed)
            results, _ = self._loader.run(sources, f"the check with seed {seed}")
            if [result.facts for result in self._loader.made] != _facts(results):
                break
            found = [self._loader.storage(array) for array in results.values()]
            if maps.compare(sources, found) is None:
                break
            maps = maps.without(sources, found)
        return maps

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
    1 arrays from 2 tensors: 2 terms, 18 integers
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
    maps.check_dropped(list(drop))
    problems = maps.faults(list(drop))
    if problems and not partial:
        raise _fault("unexplained", "\n".join(problems))
    if partial:
        # By chance, one computed element in 128 has the right check digit: fresh data tell, and other fresh data check the rest.
        maps = Learned(loader, maps, drop, problems)._settled(range(seed, seed + _ROUNDS))
        problems, seed = maps.faults(list(drop)), seed + _ROUNDS
    learned = Learned(loader, maps, drop, problems)
    learned.check(max(1, checks), seed=seed)
    return learned


class LoaderPlan:
    """What a loader does, from the file that ``tilewright learn read -o PLAN`` wrote, in TOML or JSON."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._maps = _tilewright._LearnedMaps(_text(path))
        self.path = os.fspath(path)
        """The file of the plan."""

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
        return [(name, tuple(extents), first) for name, extents, _, first in self._maps.sources]

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
        own = next((one[2] for one in self._maps.sources if one[0] == name), None)
        if own is None:
            raise _errors.make("arguments", f"the plan has no tensor {name}", None, None)
        width = int(values.dtype.itemsize) * 8
        if width != own:
            raise _errors.make("dtype", f"values of {width} bits, and {name} has {own}", None, None)
        return _scattered(self._maps, name, indices, values, list(zip(numbers, ranks)))


    @staticmethod
    def predict(
        plans: Sequence[str | os.PathLike[str]],
        model: str | os.PathLike[str],
        *,
        ranks: int = 1,
        sizes: Sequence[Mapping[str, int]] | None = None,
    ) -> PredictedPlan:
        """The plan for a checkpoint of other sizes, from plans at three sizes or more.

        Each number of the plans is a formula in the sizes. Nothing is guessed: formulas of one length that differ for ``model``, and
        sizes in a regime that no plan has, such as fewer heads than ranks, are refused.

        :param plans: files that ``learn read -o PLAN`` wrote; they name the sizes that ``config.json`` has
        :param model: the checkpoint, of which names, types and extents are read, and the sizes in ``config.json`` of its folder
        :param ranks: the number of ranks, which is the size ``tp``
        :param sizes: the sizes of each plan and, as the last, of the model, instead of those in files; without ``tp``, it is the
            number of ranks of the plan, and ``ranks`` for the model

        >>> import numpy as np, tempfile
        >>> import tilewright as tw
        >>> def save(folder, n, k):
        ...     weights = {"w": np.zeros((n, k), np.float16)}
        ...     plan = tw.learn(lambda tensors: {"packed": tensors["w"].T.copy()}, weights).plan()
        ...     with open(f"{folder}/{n}x{k}.toml", "w") as file:
        ...         _ = file.write(plan)
        ...     tw.save(weights, f"{folder}/{n}x{k}.safetensors")
        ...     return f"{folder}/{n}x{k}.toml"
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     plans = [save(folder, 3, 5), save(folder, 7, 5), save(folder, 3, 11)]
        ...     sizes = [{"n": 3, "k": 5}, {"n": 7, "k": 5}, {"n": 3, "k": 11}, {"n": 64, "k": 48}]
        ...     tw.save({"w": np.zeros((64, 48), np.float16)}, f"{folder}/model.safetensors")
        ...     predicted = tw.LoaderPlan.predict(plans, f"{folder}/model.safetensors", sizes=sizes)
        >>> predicted.formulas
        ['elements(terms[..1])', 'k', 'k n', 'n']
        """
        texts = [_text(plan) for plan in plans]
        if sizes is not None and len(sizes) != len(texts) + 1:
            said = f"sizes= has {len(sizes)} entries, and needs {len(texts) + 1}: one for each plan, and that of the model"
            raise _errors.make("arguments", said, None, None)
        if sizes is not None and ranks not in (1, sizes[-1].get("tp", ranks)):
            raise _errors.make("arguments", f"ranks={ranks}, and sizes= has tp={sizes[-1]['tp']}", None, None)
        own = [None] * len(texts) if sizes is None else [dict(one) for one in sizes[:-1]]
        last = None if sizes is None else dict(sizes[-1])
        text, formulas = _tilewright._predicted_plan(list(zip(texts, own)), os.fspath(model), last, ranks)
        return PredictedPlan(text, formulas)


class PredictedPlan:
    """A plan at sizes that it was not learned at. It converts and checks nothing until one load confirms it."""

    def __init__(self, text: str, formulas: Sequence[str]) -> None:
        self._text = text
        self.formulas = list(formulas)
        """The formulas of its numbers, each once."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the plan as JSON, marked as predicted."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self._text)

    def confirm(
        self, checkpoint: str | os.PathLike[str], dump: str | os.PathLike[str], path: str | os.PathLike[str]
    ) -> LoaderPlan:
        """Compares the plan with one load in every bit, writes it to ``path`` as a learned one, and returns it.

        Elements of equal values, such as zeros, are not told apart: a checkpoint of random values confirms the most.

        :param checkpoint: what was loaded
        :param dump: a folder with a file for each rank, as ``learn read`` takes it: what the engine had then
        :raises LearnError: with the first element that differs
        """
        plan, said = _tilewright._confirmed_plan(self._text, os.fspath(checkpoint), os.fspath(dump))
        if plan is None:
            raise _fault("values", f"the load contradicts the prediction: {said}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(plan)
        return LoaderPlan(path)


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

    :param plan: the file that ``learn read -o PLAN`` wrote, or what ``learn`` returned
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


def _text(path: str | os.PathLike[str]) -> str:
    """The text of a plan."""
    with open(path, encoding="utf-8") as file:
        return file.read()


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


def _scattered(
    maps: _tilewright._LearnedMaps, name: str, indices: Any, values: Any, memory: list[tuple[int, Mapping[str, Any]]]
) -> int:
    """Writes new values of elements of a source to memory, and returns the number of places."""
    import numpy as np

    indices = np.ascontiguousarray(indices, np.int64).reshape(-1)
    return maps.scatter(name, indices, _storage(values), memory)


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
