"""The installed transformers, and a model without memory: parameters have shapes and element types only."""

from __future__ import annotations

import contextlib
import copy
import importlib
import pathlib
from collections.abc import Iterator, Mapping
from typing import Any

from tilewright._errors import ArgumentError, UnsupportedError
from tilewright._transformers.files import Head

__all__ = ["Library", "attention_of", "class_of", "config_of", "library", "model_of"]

#: Names of attention that are code of transformers and torch. transformers downloads kernels for others.
_OWN = {None, "eager", "sdpa", "flex_attention"}


class Library:
    """The parts of transformers and torch that are used. Internals are looked up when they are needed."""

    def __init__(self, transformers: Any, torch: Any) -> None:
        self.transformers, self.torch = transformers, torch
        self.loading = self._internal("core_model_loading")
        self.mapping = self._internal("conversion_mapping")

    def _internal(self, name: str) -> Any:
        try:
            return importlib.import_module(f"transformers.{name}")
        except ImportError:
            version = self.transformers.__version__
            message = f"transformers {version} has no module {name}; version 5 or later is needed: pip install -U transformers"
            raise UnsupportedError(message) from None

    @property
    def version(self) -> str:
        """The version of transformers."""
        return str(self.transformers.__version__)


def library() -> Library:
    """Gives the installed transformers.

    :raises ImportError: if transformers or torch is missing; the message says how to install them
    """
    try:
        torch = importlib.import_module("torch")
        transformers = importlib.import_module("transformers")
    except ImportError as error:
        message = f"{error.name} is missing; recipes of transformers need it: pip install transformers torch"
        raise ImportError(message, name=error.name) from None
    return Library(transformers, torch)


@contextlib.contextmanager
def _without_memory(lib: Library, dtype: Any) -> Iterator[None]:
    """Makes tensors on the meta device, with this element type where none is requested."""
    before = lib.torch.get_default_dtype()
    lib.torch.set_default_dtype(dtype)
    try:
        with lib.torch.device("meta"):
            yield
    finally:
        lib.torch.set_default_dtype(before)


def class_of(lib: Library, config: Any, cls: Any) -> Any:
    """Gives the class of a model: itself, by its name, or the one that the configuration names.

    :raises ArgumentError: if transformers has no such class
    """
    if isinstance(cls, type):
        return cls
    names = [cls] if cls else getattr(config, "architectures", None) or []
    if not isinstance(names, (list, tuple)) or not all(isinstance(one, str) for one in names):
        raise ArgumentError(f"`architectures` of config.json must be a list of names of classes, not {names!r}; or name one with --class")
    for one in names:
        found = getattr(lib.transformers, one, None)
        if isinstance(found, type) and issubclass(found, lib.transformers.PreTrainedModel):
            return found
    if not names:
        raise ArgumentError("config.json has no `architectures`; name the class, as in --class Qwen3MoeForCausalLM")
    message = f"transformers {lib.version} has no class of a model with the name {names[0]}; code of a checkpoint's folder is never run"
    raise ArgumentError(f"{message}; name another class with --class")


def config_of(lib: Library, folder: pathlib.Path) -> Any:
    """Reads the configuration in a folder, without running code of the folder.

    :raises ArgumentError: if transformers does not know the type of the model
    """
    try:
        return lib.transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False, local_files_only=True)
    except Exception as error:  # noqa: BLE001  (checks of configurations have exceptions of their own)
        first = " ".join(str(error).splitlines()[:2]) or type(error).__name__
        raise ArgumentError(f"{folder}: transformers {lib.version} cannot read the configuration: {first}") from error


def _attention(config: Any, depth: int = 8) -> Iterator[Any]:
    """A configuration and those within it, if they name an attention."""
    if depth and hasattr(config, "_attn_implementation_internal"):
        yield config
        for value in list(vars(config).values()):
            yield from _attention(value, depth - 1)


@contextlib.contextmanager
def _plain_attention(config: Any) -> Iterator[None]:
    """Uses transformers' own attention for a while: a model without memory needs no kernel."""
    before = [(one, one._attn_implementation_internal) for one in _attention(config)]
    for one, _ in before:
        one._attn_implementation_internal = "eager"
    try:
        yield
    finally:
        for one, name in before:
            one._attn_implementation_internal = name


def attention_of(config: Any, asked: Any = None) -> str | None:
    """Gives the attention of a configuration that is not code of transformers or torch; None if there is none.

    :param asked: what the caller chooses instead: a name, or a mapping of parts of the configuration to names
    """
    if isinstance(asked, str):
        return None
    config, given = copy.deepcopy(config), set(_OWN)
    if asked:
        config._attn_implementation = asked
        given |= set(asked.values())
    found = [one._attn_implementation_internal for one in _attention(config)]
    return next((str(name) for name in found if name not in given), None)


def _dtype(lib: Library, config: Any, heads: Mapping[str, Head]) -> Any:
    """The element type that `from_pretrained(dtype="auto")` gives a model: the configuration's, or that of the tensors."""
    text = getattr(config, "get_text_config", lambda: config)()
    for one in (config, text):
        stated = getattr(one, "dtype", None)
        if stated is not None and not isinstance(stated, dict):
            return getattr(lib.torch, str(stated).removeprefix("torch."), lib.torch.float32)
    names = {"BF16": lib.torch.bfloat16, "F16": lib.torch.float16, "F32": lib.torch.float32, "F64": lib.torch.float64}
    return next((names[one.dtype] for one in heads.values() if one.dtype in names), lib.torch.float32)


def model_of(lib: Library, model_or_config: Any, heads: Mapping[str, Head], cls: Any = None) -> Any:
    """Gives a model without memory: of a configuration, or the model itself.

    :param heads: the tensors of the checkpoint, whose element type decides if the configuration names none
    :param cls: the class, or its name; the one that the configuration names unless given
    :raises ArgumentError: if the class does not take the configuration
    """
    if hasattr(model_or_config, "state_dict"):
        return model_or_config
    made = class_of(lib, model_or_config, cls)
    # A class changes its configuration, and downloads the attention that the configuration names.
    config = copy.deepcopy(model_or_config)
    try:
        with _plain_attention(config), _without_memory(lib, _dtype(lib, config, heads)):
            return made(config)
    except ImportError:
        raise
    except Exception as error:  # noqa: BLE001  (a class may fail in any way on a configuration of another)
        kind = type(model_or_config).__name__
        message = f"transformers {lib.version} cannot make {made.__name__} of this configuration ({kind}): {error}"
        raise ArgumentError(f"{message}; correct config.json, or name another class with --class") from error
