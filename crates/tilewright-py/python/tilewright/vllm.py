"""vLLM's own loader on the CPU: its parameters as files for ``tilewright learn read``, and the load format ``tilewright``.

``dump`` loads every checkpoint of a probe with vLLM's code, for any rank of any number of ranks, in this process alone. It writes
the parameters before and, if asked, after vLLM packs them.

``register`` is the plugin of vLLM that adds ``--load-format tilewright``. It copies files of ``convert --plan`` to the parameters.

Both depend on the inside of vLLM, which moves with each release. A version that this module does not know is refused.

>>> import tilewright.vllm  # doctest: +SKIP
>>> tilewright.vllm.dump("probe", "dumps", tensor_parallel_size=2)  # doctest: +SKIP

The same from a shell: ``python -m tilewright.vllm probe dumps --tensor-parallel-size 2``.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import logging
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tilewright import _errors
from tilewright._fingerprints import fingerprint, fingerprints

__all__ = ["KNOWN", "dump", "load", "memories", "register"]

KNOWN = ("0.32.0",)
"""The versions of vLLM whose inside this module knows."""

#: What an engine on a CPU without a network is told, unless the user says otherwise.
_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",
    "VLLM_CPU_CI_ENV": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "VLLM_LOGGING_LEVEL": "ERROR",
}

_log = logging.getLogger("vllm.tilewright")


def dump(
    probe: str | os.PathLike[str],
    dumps: str | os.PathLike[str],
    *,
    packed: str | os.PathLike[str] | None = None,
    tensor_parallel_size: int = 1,
    ranks: Sequence[int] | None = None,
    **engine: Any,
) -> None:
    """Loads each checkpoint of a probe as vLLM does, and writes what its parameters hold before vLLM packs them.

    ``learn make`` makes the probe from a folder with ``config.json``. The result has a folder for each checkpoint with a file for
    each rank, as ``learn read`` takes it. The other ranks do not exist: the process group is torch's fake one.

    :param packed: a second folder, for what the parameters hold after vLLM packed them, with the memory of oneDNN and of MLA on AMX
    :param ranks: the ranks to load; all unless given
    :param engine: further arguments of vLLM's ``EngineArgs``, such as ``dtype``
    :raises UnsupportedError: a version of vLLM that this module does not know

    >>> dump("probe", "dumps", packed="packed", tensor_parallel_size=2)  # doctest: +SKIP
    """
    probe, dumps = os.fspath(probe), os.fspath(dumps)
    folders = _loads(probe)
    for rank in ranks if ranks is not None else range(tensor_parallel_size):
        if not 0 <= rank < tensor_parallel_size:
            raise _errors.make("arguments", f"ranks= has {rank}; there are ranks 0 to {tensor_parallel_size - 1}", None, None)
        with _rank(folders[0][1], tensor_parallel_size, rank, engine) as config:
            for name, folder in folders:
                before, after = _load(config, folder, packed is not None)
                _write(before, dumps, name, rank)
                if packed is not None:
                    _write(after, os.fspath(packed), name, rank)


def load(
    model: str | os.PathLike[str], *, tensor_parallel_size: int = 1, rank: int = 0, **engine: Any
) -> dict[str, Any]:
    """What the parameters of one rank hold after vLLM loaded a checkpoint and before it packs them, by their names.

    The other ranks do not exist, as in ``dump``.

    :param engine: further arguments of vLLM's ``EngineArgs``, such as ``load_format``
    :raises UnsupportedError: a version of vLLM that this module does not know

    >>> memory = load("llama/", tensor_parallel_size=2, rank=1)  # doctest: +SKIP
    """
    folder = os.fspath(model)
    with _rank(folder, tensor_parallel_size, rank, engine) as config:
        return _load(config, folder, False)[0]


def memories(model: Any) -> dict[str, Any]:
    """What a module's state holds in memory: one tensor for each storage, with its elements in the order of their addresses.

    A parameter that fills its storage has its name, its dims sorted by their strides. Of several that share a storage the first
    counts. A storage of which no one covers all is flat.

    >>> import torch
    >>> linear = torch.nn.Linear(3, 2)
    >>> linear.weight = torch.nn.Parameter(torch.zeros(3, 2).t())
    >>> {name: tuple(tensor.shape) for name, tensor in memories(linear).items()}
    {'weight': (3, 2), 'bias': (2,)}
    """
    storages: dict[int, list[tuple[str, Any]]] = {}
    for name, tensor in _state(model):
        if tensor.numel() and tensor.device.type != "meta":
            storages.setdefault(tensor.untyped_storage().data_ptr(), []).append((name, tensor.detach()))
    found = {}
    for sharers in storages.values():
        name, tensor = next((one for one in sharers if _fills(one[1])), sharers[0])
        found[name] = _in_order(tensor)
    return found


def _state(model: Any) -> Iterator[tuple[str, Any]]:
    """The parameters and buffers that checkpoints have, all names of each."""
    yield from model.named_parameters(remove_duplicate=False)
    for prefix, module in model.named_modules():
        for name, buffer in module._buffers.items():
            if buffer is not None and name not in module._non_persistent_buffers_set:
                yield f"{prefix}.{name}" if prefix else name, buffer


def _fills(tensor: Any) -> bool:
    """Whether a tensor is all elements of its storage, each once."""
    order = _order(tensor)
    step = 1
    for dim in reversed(order):
        if tensor.size(dim) != 1 and tensor.stride(dim) != step:
            return False
        step *= tensor.size(dim)
    return bool(step * tensor.element_size() == tensor.untyped_storage().nbytes())


def _order(tensor: Any) -> list[int]:
    """The dims by their strides, the largest first."""
    return sorted(range(tensor.dim()), key=lambda dim: (-tensor.stride(dim), dim))


def _in_order(tensor: Any) -> Any:
    """The memory of a tensor, in the order of addresses; changes of it change the tensor."""
    if _fills(tensor):
        return tensor.permute(_order(tensor)) if tensor.dim() else tensor
    torch: Any = importlib.import_module("torch")

    return torch.empty(0, dtype=tensor.dtype).set_(tensor.untyped_storage())


def _loads(probe: str) -> list[tuple[str, str]]:
    """The names and folders of the checkpoints of a probe."""
    if not os.path.isfile(os.path.join(probe, "probe.json")):
        raise _errors.make("arguments", f"{probe} has no probe.json; `tilewright learn make` makes a probe", None, None)
    named = [name for name in os.listdir(probe) if name == "fresh" or name.startswith("load")]
    folders = [(name, os.path.join(probe, name)) for name in named]
    for _, folder in folders:
        if not os.path.isfile(os.path.join(folder, "config.json")):
            raise _errors.make("arguments", f"{folder} has no config.json; make the probe from the model's folder", None, None)
    return sorted(folders, key=lambda one: (not one[0].startswith("load"), len(one[0]), one[0]))


def _write(memory: Mapping[str, Any], folder: str, name: str, rank: int) -> None:
    save_file: Any = importlib.import_module("safetensors.torch").save_file

    os.makedirs(os.path.join(folder, name), exist_ok=True)
    save_file({key: tensor.contiguous() for key, tensor in memory.items()}, os.path.join(folder, name, f"rank{rank}.safetensors"))


def _vllm(module: str) -> Any:
    """A module of vLLM, of no type: the package is checked where vLLM is not installed."""
    unknown = _unknown()
    if unknown is not None:
        raise _errors.make("unsupported", unknown, None, None)
    return importlib.import_module(f"vllm.{module}" if module else "vllm")


def _unknown() -> str | None:
    """A sentence about a version of vLLM that this module does not know, else None."""
    version = str(importlib.import_module("vllm").__version__).split("+")[0]
    if version in KNOWN:
        return None
    return f"vLLM {version} is installed, and tilewright.vllm knows {', '.join(KNOWN)}; its loader may have changed"


@contextlib.contextmanager
def _rank(model: str, size: int, rank: int, engine: Mapping[str, Any]) -> Iterator[Any]:
    """vLLM's configuration for one rank of a group of this size, of which the other ranks do not exist."""
    args = {
        "dtype": "auto",
        "enforce_eager": True,
        "load_format": "safetensors",
        "max_model_len": 64,
        "skip_tokenizer_init": True,
        "use_tqdm_on_load": False,
        **engine,
    }
    for name, value in _ENVIRONMENT.items():
        os.environ.setdefault(name, value)
    _vllm("")
    if args["load_format"] == "tilewright":
        register()
    executor = "external_launcher" if size > 1 else None
    with _fake_group(size, rank):
        arguments = _vllm("engine.arg_utils").EngineArgs(
            model, tensor_parallel_size=size, distributed_executor_backend=executor, **args
        )
        config = arguments.create_engine_config()
        parallel = _vllm("distributed.parallel_state")
        try:
            with _vllm("config").set_current_vllm_config(config):
                parallel.init_distributed_environment(size, rank, "env://", 0, "gloo")
                parallel.initialize_model_parallel(size, 1)
            yield config
        finally:
            parallel.destroy_model_parallel()
            parallel.destroy_distributed_environment()


@contextlib.contextmanager
def _fake_group(size: int, rank: int) -> Iterator[None]:
    """A process group of torch whose other members do not exist."""
    dist: Any = importlib.import_module("torch.distributed")
    fake: Any = importlib.import_module("torch.testing._internal.distributed.fake_pg")

    communicator = _vllm("distributed.device_communicators.cpu_communicator").CpuCommunicator
    queue = _vllm("distributed.device_communicators.shm_broadcast").MessageQueue
    real: Any = dist.new_group

    def new_group(ranks: Any = None, timeout: Any = None, **_: Any) -> Any:
        return real(ranks, backend="fake", **({} if timeout is None else {"timeout": timeout}))

    replaced = [
        (dist, "new_group", new_group),
        (communicator, "_all_group_ranks_share_shm_group_name", lambda self: False),
        (queue, "create_from_process_group", staticmethod(lambda *_, **__: None)),
        (_vllm("distributed.parallel_state"), "in_the_same_node_as", lambda *_, **__: [True] * size),
    ]
    kept = [(owner, name, owner.__dict__[name]) for owner, name, _ in replaced]
    dist.init_process_group("fake", store=fake.FakeStore(), rank=rank, world_size=size)
    try:
        for owner, name, value in replaced:
            setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in kept:
            setattr(owner, name, value)
        if dist.is_initialized():
            dist.destroy_process_group()


def _load(config: Any, folder: str, packed: bool) -> tuple[dict[str, Any], dict[str, Any]]:
    """Loads a checkpoint, and returns what the parameters hold before and after they are packed."""
    loaders, base = _vllm("model_executor.model_loader"), _vllm("model_executor.model_loader.base_loader")
    before: dict[str, Any] = {}
    pack = base.process_weights_after_loading

    def seen(model: Any, *args: Any, **kwargs: Any) -> Any:
        before.update({name: tensor.clone() for name, tensor in memories(model).items()})
        return pack(model, *args, **kwargs)

    config.model_config.model = folder
    config.compilation_config.static_forward_context.clear()
    getattr(config.compilation_config, "static_all_moe_layers", []).clear()
    base.process_weights_after_loading = seen
    try:
        with _vllm("config").set_current_vllm_config(config):
            model = loaders.get_model_loader(config.load_config).load_model(config, config.model_config)
    finally:
        base.process_weights_after_loading = pack
    after = {name: tensor.clone() for name, tensor in memories(model).items()} if packed else {}
    if packed:
        from tilewright import _onednn

        after.update(_onednn.packed(model, before))
        after.update(_attention(model))
    return before, after


#: The attributes of an attention backend that hold weights packed for AMX.
_PACKED_BY_ATTENTION = ("_w_uk_packed", "_w_uv_packed")


def _attention(model: Any) -> dict[str, Any]:
    """The weights that MLA's backend packed for AMX, by the paths of their attributes.

    With AMX the halves of ``kv_b_proj.weight`` are held by the backend, which is no module, and the parameter is emptied.
    """
    found = {}
    for prefix, module in model.named_modules():
        backend = getattr(module, "impl", None)
        for name in _PACKED_BY_ATTENTION:
            tensor = getattr(backend, name, None)
            if tensor is not None:
                found[f"{prefix}.impl.{name}"] = _in_order(tensor).clone()
    return found


def register() -> None:
    """Registers the load format ``tilewright``: vLLM calls this as the plugin ``tilewright``.

    The model is a folder with ``config.json`` and the files ``rank0.safetensors``, ``rank1.safetensors`` and so on that ``convert
    --plan`` wrote. Each rank copies its file to its parameters, compares fingerprints of both, and logs the time. Then vLLM packs.

    ``--model-loader-extra-config '{"beside": "CHECKPOINT"}'`` first loads the checkpoint as vLLM does, compares its parameters with
    the file, and logs the time of both. In a version of vLLM that this module does not know nothing is registered.

    >>> register()  # doctest: +SKIP
    """
    unknown = _unknown()
    if unknown is not None:
        # Other load formats must go on working.
        _log.warning("the load format tilewright is not registered: %s", unknown)
        return
    loaders = _vllm("model_executor.model_loader")
    if "tilewright" in getattr(loaders, "_LOAD_FORMAT_TO_MODEL_LOADER", {}):
        return
    base = _vllm("model_executor.model_loader.base_loader").BaseModelLoader

    class TilewrightLoader(base):  # type: ignore[misc, valid-type]
        """Copies the files of ``convert --plan`` to the parameters of a model."""

        def __init__(self, load_config: Any) -> None:
            super().__init__(load_config)
            extra = dict(load_config.model_loader_extra_config or {})
            self.beside = extra.pop("beside", None)
            if extra:
                said = f"the load format tilewright knows the extra setting beside, and not {', '.join(sorted(extra))}"
                raise _errors.make("arguments", said, None, None)

        def download_model(self, model_config: Any) -> None:
            """Does nothing: the files are in the folder of the model."""

        def load_weights(self, model: Any, model_config: Any) -> None:
            """Copies the file of this rank."""
            rank = _vllm("distributed").get_tensor_model_parallel_rank()
            path = os.path.join(model_config.model, f"rank{rank}.safetensors")
            own = None
            if self.beside is not None:
                own = _own_load(loaders, self.load_config, model, model_config, self.beside)
                _compared(path, memories(model), f"what vLLM loads from {self.beside}")
            copied = _copied(path, memories(model))
            compared = _compared(path, memories(model), "memory")
            said = f"rank {rank}: copied in {copied:.3f} s, fingerprints compared in {compared:.3f} s"
            _log.warning("%s", said if own is None else f"{said}; vLLM's own load took {own:.3f} s")

    loaders.register_model_loader("tilewright")(TilewrightLoader)


def _own_load(loaders: Any, load_config: Any, model: Any, model_config: Any, checkpoint: str) -> float:
    """Loads a checkpoint as vLLM does, and returns the seconds."""
    import copy

    plain, there = copy.copy(load_config), copy.copy(model_config)
    plain.load_format, plain.model_loader_extra_config, there.model = "safetensors", {}, checkpoint
    start = time.perf_counter()
    loaders.get_model_loader(plain).load_weights(model, there)
    return time.perf_counter() - start


def _copied(path: str, memory: Mapping[str, Any]) -> float:
    """Copies the tensors of a file to memory, and returns the seconds."""
    safe_open: Any = importlib.import_module("safetensors").safe_open

    if not os.path.isfile(path):
        raise _errors.make("io", f"{path} is missing; `convert --plan` writes a file for each rank", None, None)
    start = time.perf_counter()
    with safe_open(path, framework="pt") as file:
        names = set(file.keys())
        for fault, missing in (("lacks", set(memory) - names), ("has, and the model has not,", names - set(memory))):
            if missing:
                raise _errors.make("mismatch", f"{path} {fault} {', '.join(sorted(missing)[:8])}; make it again from this model", None, None)
        for name, tensor in memory.items():
            found = file.get_tensor(name)
            if found.shape != tensor.shape or found.dtype != tensor.dtype:
                said = f"{name} is {tensor.dtype} {tuple(tensor.shape)} in the model, and {found.dtype} {tuple(found.shape)} in {path}"
                raise _errors.make("mismatch", said, None, None)
            tensor.copy_(found)
    return time.perf_counter() - start


def _compared(path: str, memory: Mapping[str, Any], what: str) -> float:
    """Compares fingerprints of a file with those of memory, and returns the seconds."""
    start = time.perf_counter()
    for name, found in fingerprints(path).items():
        if name not in memory or fingerprint(memory[name]) != found:
            raise _errors.make("mismatch", f"{name} differs between {path} and {what}", None, None)
    return time.perf_counter() - start


def _main() -> None:
    import argparse

    parser = argparse.ArgumentParser(prog="python -m tilewright.vllm", description="Load each checkpoint of a probe as vLLM does.")
    parser.add_argument("probe", help="the folder that `tilewright learn make` made")
    parser.add_argument("dumps", help="the folder for the parameters before they are packed")
    parser.add_argument("--packed", help="the folder for the parameters after they are packed")
    parser.add_argument("--tensor-parallel-size", type=int, default=1, metavar="N")
    parser.add_argument("--rank", type=int, action="append", metavar="R", help="load this rank alone; may be repeated")
    parser.add_argument("--engine", type=json.loads, default={}, metavar="JSON", help="further arguments of vLLM's EngineArgs")
    asked = parser.parse_args()
    dump(
        asked.probe,
        asked.dumps,
        packed=asked.packed,
        tensor_parallel_size=asked.tensor_parallel_size,
        ranks=asked.rank,
        **asked.engine,
    )


if __name__ == "__main__":
    _main()
