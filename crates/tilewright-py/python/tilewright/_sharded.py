"""Arrays in shards: the shardings of torch and JAX as the text that the library reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from tilewright import _errors
from tilewright._tilewright import Sharded, Shard

__all__ = ["Shard", "Sharded", "sharded"]


def sharded(
    sharding: Any,
    /,
    dims: Sequence[int] | None = None,
    dtype: Any = None,
    *,
    mesh: Any = None,
    layout: str | None = None,
) -> Sharded:
    """An array cut over a mesh of devices: who holds what.

    ``sharding`` is one of

    - a text: ``ARRAY @ SHARDING [/ SPEC]``, or the sharding alone with ``dims``: torch's placements, JAX's
      ``P(…)``, XLA's ``{devices=…}``, Shardy's ``sdy <…>``, Megatron's and vLLM's ``column``, ``gate_up``,
      ``megatron:qkv(…)``, ``vllm:vocab(pad=64)``
    - a DTensor of torch, or its placements with ``mesh``, its DeviceMesh. Of a DTensor the extents of the local tensor are
      compared: where ``fully_shard`` cut uneven rows that tensor parallelism had cut, its placements say other rows than
      its ranks hold, and the rows held are what is given
    - an array of JAX, a ``NamedSharding``, or a ``PartitionSpec`` with ``mesh``

    :param dims: the extents of the whole array, where ``sharding`` does not say them
    :param dtype: its element type, by any library's name or object
    :param mesh: the mesh of a sharding that says none: ``"dp=2,tp=4"``, a mapping from names to sizes, sizes alone, a
        DeviceMesh of torch, a Mesh of JAX
    :param layout: the layout of each shard, a SPEC
    :raises ParseError: no sharding; ``span`` has the bytes at fault
    :raises MismatchError: for the array or the mesh that is given
    :raises UnsupportedError: partial sums, which are stored nowhere

    >>> held = sharded("P('tp')", (8, 6), "bf16", mesh={"dp": 2, "tp": 2})
    >>> held
    Sharded("bf16[8,6] @ mesh(dp=2,tp=2) P('tp')")
    >>> held.of(3).intervals
    (((4, 4),), ((0, 6),))
    >>> held == sharded("[Replicate(), Shard(0)]", (8, 6), "bf16", mesh="dp=2,tp=2")
    True
    """
    if isinstance(sharding, Sharded) and dims is None and dtype is None and mesh is None and layout is None:
        return sharding
    # A tensor of torch in shards, and an array of JAX, say the array as well.
    if hasattr(sharding, "placements") and hasattr(sharding, "device_mesh"):
        return _of_tensor(sharding, layout)
    if hasattr(sharding, "sharding") and hasattr(sharding, "shape"):
        sharding, dims, dtype = sharding.sharding, sharding.shape, sharding.dtype
    if mesh is None and hasattr(sharding, "spec") and hasattr(sharding, "mesh"):
        sharding, mesh = sharding.spec, sharding.mesh
    return _read(rule(sharding), dims, dtype, mesh, layout)


def _read(text: str, dims: Any, dtype: Any, mesh: Any, layout: str | None) -> Sharded:
    if mesh is not None:
        text = f"mesh({axes(mesh)}) {text}"
    if layout is not None:
        text = f"{text} / {layout}"
    return Sharded(text, None if dims is None else [int(extent) for extent in dims], dtype)


def _of_tensor(tensor: Any, layout: str | None) -> Sharded:
    """The sharding of a DTensor, which determines the part that this process holds."""
    mesh, text, shape = tensor.device_mesh, rule(tensor.placements), tensor.shape
    said = _read(text, shape, tensor.dtype, mesh, layout)
    if mesh.get_coordinate() is None:
        return said
    # `fully_shard` cuts what tensor parallelism left, the last axis of the mesh first.
    order = ",".join(str(axis) for axis in reversed(range(len(tensor.placements))))
    plain = [f"Shard({one.dim})" if hasattr(one, "dim") else "Replicate()" for one in tensor.placements]
    readings = [said]
    if any(hasattr(one, "split_factor") for one in tensor.placements):
        other = _read(f"[{', '.join(plain)}] order({order})", shape, tensor.dtype, mesh, layout)
        readings += [other] if other != said else []
    rank = mesh.get_rank()
    local = tuple(tensor.to_local().shape)
    fits = [one for one in readings if one.of(rank).shape == local]
    if len(fits) == 1:
        return fits[0]
    if not fits:
        extents = said.of(rank).shape
        message = f"rank {rank} holds {local} of the tensor, but by its placements {text} {extents}"
        raise _errors.make("mismatch", message, None, None)
    message = (
        f"the placements {text} of {tuple(shape)} may be torch's own, or those of fully_shard over tensor parallelism, "
        f"which cut uneven extents otherwise; rank {rank} holds {local} under both: give the text of the intended one"
    )
    raise _errors.make("ambiguous", message, None, None)


def rule(sharding: Any) -> str:
    """A sharding without its mesh, as text; that of a ``Sharded`` has the extents of the array as well."""
    if isinstance(sharding, str):
        return sharding
    if isinstance(sharding, Sharded):
        return f"{list(sharding.dims)} @ {sharding.spec.partition(' @ ')[2]}"
    if type(sharding).__module__.partition(".")[0] in ("jax", "jaxlib"):
        if getattr(sharding, "unreduced", None):
            message = f"{sharding!r}: each device holds a summand, so no device stores the values"
            raise _errors.make("unsupported", message, None, None)
        return repr(sharding)
    if isinstance(sharding, Sequence) and sharding and all(hasattr(one, "is_shard") for one in sharding):
        return f"[{', '.join(repr(one) for one in sharding)}]"
    raise TypeError(
        "sharding= takes a text, placements or a DTensor of torch, a PartitionSpec, a NamedSharding or an array of JAX; "
        f"not {type(sharding).__name__}"
    )


def rules_of(rules: Any) -> Any:
    """Rules as texts by patterns of names; what is not a mapping is refused where it is read."""
    if not isinstance(rules, Mapping):
        return rules
    return {name: rule(sharding) for name, sharding in rules.items()}


def source(mesh: Any, rules: Any) -> dict[str, Any]:
    """The mesh and the rules of a folder of shards, for the keywords of a job."""
    return {"from_mesh": None if mesh is None else axes(mesh), "from_rules": rules_of(rules)}


def axes(mesh: Any) -> str:
    """The axes of a mesh as text, and its devices where they are not in order: ``dp=2,tp=2; 0,2,1,3``."""
    if isinstance(mesh, str):
        return mesh.removeprefix("mesh(").removesuffix(")") if mesh.startswith("mesh(") else mesh
    if isinstance(mesh, Mapping):
        return ",".join(f"{name}={size}" for name, size in mesh.items())
    if isinstance(mesh, Sequence):
        return ",".join(str(size) for size in mesh)
    if hasattr(mesh, "mesh_dim_names"):
        return _axes(mesh.mesh_dim_names, mesh.mesh.shape, mesh.mesh.flatten().tolist())
    if hasattr(mesh, "axis_names"):
        return _axes(mesh.axis_names, mesh.axis_sizes, _devices(mesh))
    raise TypeError(
        "mesh= takes a text such as dp=2,tp=4, a mapping from names to sizes, sizes, a DeviceMesh of torch or a Mesh of "
        f"JAX; not {type(mesh).__name__}"
    )


def _devices(mesh: Any) -> list[int] | None:
    """The devices of a mesh of JAX; None of an abstract one, which has none."""
    try:
        return [one.id for one in mesh.devices.flat]
    except (AttributeError, ValueError):
        return None


def _axes(names: Sequence[str] | None, sizes: Sequence[int], devices: Sequence[int] | None) -> str:
    text = ",".join(f"{name}={size}" for name, size in zip(names, sizes, strict=True)) if names else axes(list(sizes))
    plain = devices is None or list(devices) == list(range(len(devices)))
    return text if devices is None or plain else f"{text}; {','.join(map(str, devices))}"
