"""The operations of transformers, applied to expressions of axes instead of tensors.

Each operation is a function by the name of its class. An operation that is not listed, or that computes, is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Container
from dataclasses import dataclass
from typing import Any

from tilewright._errors import UnsupportedError
from tilewright._transformers.axes import Axis, Expr, Pieces, Product, Space, Sum
from tilewright._transformers.published import Published

__all__ = ["Job", "Stack", "State", "applied"]

Dims = list[Expr]


@dataclass
class Stack:
    """Tensors that differ by a number in their names."""

    number: Axis
    dims: Dims
    #: The dimension whose extents differ with the number, if there is one.
    ragged: int | None = None


#: By pattern: a tensor, or a list of tensors.
State = dict[str, Dims | Stack]


@dataclass
class Job:
    """One converter at work on one target."""

    space: Space
    converter: Any
    published: Published
    #: The name of the first target.
    target: str
    #: Targets of which two dims are equal, and which are not transposed.
    kept: Container[str] = ()

    @property
    def config(self) -> Any:
        """The configuration of the model."""
        return self.published.model.config

    def shape(self, name: str) -> list[int]:
        """The shape of a tensor of the model."""
        tensor = self.published.meta.get(name)
        if tensor is None:
            raise UnsupportedError(f"the model has no tensor {name}")
        return list(tensor.shape)


def applied(job: Job, state: State) -> State:
    """Applies all operations of a converter.

    :raises UnsupportedError: for an operation that a recipe cannot say, with its name
    """
    for operation in job.converter.operations:
        name = type(operation).__name__
        act = _OPERATIONS.get(name)
        if act is None:
            raise UnsupportedError(f"{name}: a recipe cannot express this operation of transformers ({job.target})")
        try:
            state = act(job, operation, state)
        except UnsupportedError as error:
            raise UnsupportedError(f"{name}: {error} ({job.target})") from None
        except IndexError:
            raise UnsupportedError(f"{name}: a tensor has fewer dims than it needs ({job.target})") from None
    return state


def _one(state: State) -> Dims:
    if len(state) != 1:
        raise UnsupportedError("several tensors for one operation")
    found = next(iter(state.values()))
    if isinstance(found, Stack):
        raise UnsupportedError("a list of tensors for an operation on one")
    return list(found)


def _merge(job: Job, operation: Any, state: State) -> State:
    out: State = {}
    for pattern, found in state.items():
        if not isinstance(found, Stack) or found.ragged is not None:
            raise UnsupportedError("tensors of unequal extents cannot be stacked")
        target = operation.get_target_pattern(len(state), pattern, job.converter.target_patterns)
        out[target] = [*found.dims[: operation.dim], found.number, *found.dims[operation.dim :]]
    return out


def _concatenate(job: Job, operation: Any, state: State) -> State:
    space, dim = job.space, operation.dim
    tensors = [_in_line(space, state[one], dim) for one in job.converter.source_patterns if one in state]
    first = list(tensors[0])
    parts = [first[dim]]
    for tensor in tensors[1:]:
        for at, expr in enumerate(tensor):
            if at != dim:
                space.unify(first[at], expr)
        part, lead = space.walk(tensor[dim]), space.walk(parts[0])
        if isinstance(part, Axis) and isinstance(lead, Axis) and part != lead and space.extent(part) == space.extent(lead):
            space.like.setdefault(part, lead)
        parts.append(tensor[dim])
    space.state(parts)
    first[dim] = Sum(tuple(parts)) if len(parts) > 1 else parts[0]
    return {operation.get_target_pattern(job.converter.target_patterns): first}


def _in_line(space: Space, found: Dims | Stack, dim: int) -> Dims:
    """A list of tensors, one after the other along a dimension."""
    if not isinstance(found, Stack):
        return found
    if found.ragged not in (None, dim):
        raise UnsupportedError("tensors of unequal extents along another dimension")
    if found.ragged is None:
        space.given[found.number] = space.extent(found.number)
    whole = found.dims[dim]
    if found.ragged is not None:
        assert isinstance(whole, Axis)
        line: Expr = Pieces(found.number, whole)
    else:
        line = Product((found.number, whole))
    return [line if at == dim else expr for at, expr in enumerate(found.dims)]


def _chunk(job: Job, operation: Any, state: State) -> State:
    names = list(operation.get_target_patterns(job.converter.target_patterns, config=job.config))
    total = job.space.extent(_one(state)[operation.dim])
    size = -(-total // len(names))
    sizes = [min(size, total - at * size) for at in range(len(names))]
    if min(sizes) <= 0:
        raise UnsupportedError(f"{len(names)} chunks of a dimension of {total}")
    return _cut(job, operation, state, (names, sizes))


def _split(job: Job, operation: Any, state: State) -> State:
    names = list(job.converter.target_patterns)
    sizes = [job.shape(job.target.replace(names[0], name))[operation.dim] for name in names]
    return _cut(job, operation, state, (names, sizes))


def _cut(job: Job, operation: Any, state: State, parts: tuple[list[str], list[int]]) -> State:
    tensor, (names, sizes) = _one(state), parts
    space, dim = job.space, operation.dim
    turns = any(type(one).__name__ == "PermuteForRope" for one in job.converter.operations)
    if turns and len(set(sizes)) == 1:
        # Equal parts that are ordered differently: the part is the outermost digit, so that all sizes follow.
        outer, inner = space.digits(tensor[dim], (len(names), sizes[0]))
        space.split(outer, [1] * len(names))
        tensor[dim] = Product((outer, inner))
    cut = space.split(tensor[dim], sizes)
    return {name: [part if at == dim else expr for at, expr in enumerate(tensor)] for name, part in zip(names, cut)}


def _interleave(job: Job, operation: Any, state: State) -> State:
    tensor, space, dim = _one(state), job.space, operation.dim
    half = space.extent(tensor[dim]) // 2
    first, second = space.digits(tensor[dim], (2, half) if operation.inverse else (half, 2))
    two = first if operation.inverse else second
    assert isinstance(two, Axis)
    space.given[two] = 2
    tensor[dim] = Product((second, first))
    return {job.converter.target_patterns[0]: tensor}


def _transpose(job: Job, operation: Any, state: State) -> State:
    tensor = _one(state)
    one, other = operation.dim0, operation.dim1
    if not operation.check_dims or _is_turned(job, operation, tensor):
        tensor[one], tensor[other] = tensor[other], tensor[one]
    patterns = (job.converter.source_patterns, job.converter.target_patterns)
    return {operation.get_target_pattern(dict.fromkeys(state), *patterns): tensor}


def _is_turned(job: Job, operation: Any, tensor: Dims) -> bool:
    """True if a tensor is transposed. The loader leaves a square one as it is, which is wrong for a published checkpoint."""
    have = [job.space.extent(expr) for expr in tensor]
    return have != job.shape(job.target) or (have[operation.dim0] == have[operation.dim1] and job.target not in job.kept)


def _permute(job: Job, operation: Any, state: State) -> State:
    space, patterns = job.space, (job.converter.source_patterns, job.converter.target_patterns)
    own = getattr(job.config, operation.subconfig_key or "", job.config)
    heads = getattr(own, "num_attention_heads", 1)
    out: State = {}
    for pattern, found in state.items():
        if isinstance(found, Stack):
            raise UnsupportedError("a list of tensors for an operation on one")
        tensor = list(found)
        named = operation.permute_layer_names
        if named is None or any(name in pattern for name in named):
            half = space.extent(tensor[0]) // heads // 2
            order = (heads, 2, half) if operation.inverse else (heads, half, 2)
            tensor[0] = _turned(space, tensor[0], (order, operation.inverse))
            _state_heads(space, tensor[0], (heads, operation.subconfig_key if own is not job.config else None))
        out[operation.get_target_pattern(pattern, *patterns)] = tensor
    return out


def _turned(space: Space, expr: Expr, order: tuple[tuple[int, int, int], bool]) -> Expr:
    """The digits of a head with the last two exchanged."""
    sizes, inverse = order
    head, one, other = space.digits(expr, sizes)
    pair = space.walk(one if inverse else other)
    if isinstance(pair, Axis):
        space.given[pair] = 2
    whole = space.walk(expr)
    short = [part for part in (whole.parts if isinstance(whole, Product) else ()) if space.extent(part) == 1]
    return Product((*short, head, other, one))


def _state_heads(space: Space, expr: Expr, stated: tuple[int, str | None]) -> None:
    heads, key = stated
    whole = space.walk(expr)
    parts = whole.parts if isinstance(whole, Product) else (whole,)
    head = next((part for part in parts if isinstance(part, Axis) and space.extent(part) == heads), None)
    if head is not None and head not in space.given:
        space.given[head] = f"config.{key + '.' if key else ''}num_attention_heads"


def _unpad(job: Job, operation: Any, state: State) -> State:
    if operation.inverse:
        raise UnsupportedError("the operation makes rows that no tensor has")
    tensor, space = _one(state), job.space
    keep, total = job.config.get_text_config().unpadded_vocab_size, space.extent(_one(state)[0])
    if keep < total:
        rows, rest = space.split(tensor[0], [keep, total - keep])
        assert isinstance(rest, Axis)
        space.dropped.append(rest)
        tensor[0] = rows
    return {job.converter.target_patterns[0]: tensor}


def _merge_queries(job: Job, operation: Any, state: State) -> State:
    """Queries of loop layers: the first, two others, the last."""
    if operation.inverse:
        raise UnsupportedError("the opposite direction of the published one")
    space = job.space
    ends, middle = (_one({one: state[one]}) for one in job.converter.source_patterns)
    loops = space.extent(ends[0]) // 2
    (loop, end), (other, inner) = space.digits(ends[0], (loops, 2)), space.digits(middle[0], (loops, 2))
    space.unify(loop, other)
    space.unify(ends[1], middle[1])
    first, last = space.split(end, [1, 1])
    pair = space.walk(inner)
    assert isinstance(pair, Axis)
    space.given[pair] = 2
    return {job.converter.target_patterns[0]: [loop, Sum((first, inner, last)), ends[1]]}


_OPERATIONS: dict[str, Callable[[Job, Any, State], State]] = {
    "MergeModulelist": _merge,
    "Concatenate": _concatenate,
    "Chunk": _chunk,
    "Split": _split,
    "Interleave": _interleave,
    "Transpose": _transpose,
    "PermuteForRope": _permute,
    "Inkling2UnpadVocab": _unpad,
    "Inkling2LoopMergeMessageQueries": _merge_queries,
}
