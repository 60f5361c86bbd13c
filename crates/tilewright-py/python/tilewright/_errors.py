"""The exceptions of the package: all are ``tilewright.Error``, and so ``ValueError``."""

from __future__ import annotations

import builtins
from typing import NoReturn

# What Python has a name for, too, is not among them: an import of everything hides nothing.
__all__ = [
    "AmbiguousError",
    "ArgumentError",
    "ArrayError",
    "CopyError",
    "DeviceError",
    "DtypeError",
    "Error",
    "FileError",
    "IllegalError",
    "InternalError",
    "LearnError",
    "LimitError",
    "MismatchError",
    "NeedsDimsError",
    "NeedsDtypeError",
    "NoLayoutError",
    "OutOfRangeError",
    "OverlapError",
    "ParseError",
    "ReadOnlyError",
    "UndecidedError",
    "UnsupportedError",
]


class Error(ValueError):
    """What the library refuses. ``kind`` is a stable word; the message says what was asked and what would be legal.

    Where a text is at fault, ``span`` are its bytes (from, to), and ``str()`` shows it with a caret below.
    """

    kind: str = "error"
    message: str = ""
    span: tuple[int, int] | None = None

    def __reduce__(self) -> tuple[object, ...]:
        state = {name: self.__dict__[name] for name in ("kind", "message", "span") if name in self.__dict__}
        return (type(self), self.args, state)


class ParseError(Error):
    """A text is neither a layout nor an expression: ``span`` says where."""


class AmbiguousError(ParseError):
    """A text has several readings; the message lists them, each with its prefix."""


class ArgumentError(Error):
    """An operation has missing or wrong arguments."""


class NeedsDimsError(Error):
    """The layout fits any array: ``dims`` are needed."""


class NeedsDtypeError(Error):
    """The layout depends on the element type: ``dtype`` is needed."""


class MismatchError(Error):
    """Ranks, dims, sizes or layouts that must agree do not."""


class OutOfRangeError(Error):
    """A coordinate or an offset outside of the layout."""


class OverflowError(Error, builtins.OverflowError):  # noqa: A001
    """A size, offset or capacity overflows 64 bits, or this machine's addresses."""


class LimitError(Error):
    """A fixed limit was passed: the length of a text, the number of dims."""


class UnsupportedError(Error):
    """A notation cannot express it, or the operation is not supported; the message names an alternative."""


class NoLayoutError(Error):
    """The result exists as a function, but no layout is this function."""


class IllegalError(Error):
    """The numbers do not make a layout."""


class InternalError(Error, RuntimeError):
    """A mistake of the package or of a library it uses: a panic in the native module becomes this. Please report it."""


class LearnError(Error):
    """A loader was not learned. ``kind`` says why: ``loader`` for one that raises, changes its inputs or returns views;
    ``random``; ``unexplained`` for elements that are computed or inputs that no result holds; ``values`` where fresh data differ;
    ``lost`` for results that do not give the inputs back.
    """


class UndecidedError(Error):
    """The question was not decided within a fixed budget. Never a guess."""


class ArrayError(Error):
    """An array whose memory cannot be used: it is not shared, has a gradient to follow, or has two buffers."""


class CopyError(ArrayError):
    """A copy would be needed, and no copy is made silently."""


class DeviceError(ArrayError):
    """The array is on a device where it is not read, or CUDA did not move it.

    ``kind`` says which: ``device`` for an array on another device than is taken; ``no-driver``, ``no-device``,
    ``no-compiler`` and ``too-old`` for a machine without what moves take; ``architecture``, ``memory``, ``devices``,
    ``stream``, ``captured``, ``compile`` and ``driver`` for what the driver or the compiler refuse. Unless it is
    ``driver``, nothing was queued and nothing will be written.
    """


class DtypeError(ArrayError):
    """The elements have an unexpected type or width, or a type that cannot be moved."""


class ReadOnlyError(ArrayError):
    """The output may not be written."""


class OverlapError(ArrayError):
    """The output shares memory with the source."""


class FileError(Error):
    """Reading or writing a file failed, or its content does not match its name; nothing was written."""


class FileExistsError(FileError, builtins.FileExistsError):  # noqa: A001
    """The output exists; ``force=True`` replaces it."""


class FileNotFoundError(FileError, builtins.FileNotFoundError):  # noqa: A001
    """There is no such file, or no folder for the output."""


class PermissionError(FileError, builtins.PermissionError):  # noqa: A001
    """The system does not let the file be read or written."""


# A traceback says `tilewright.ParseError`, by which it is caught.
for _public in [Error, *(value for value in vars().values() if isinstance(value, type) and issubclass(value, Error))]:
    _public.__module__ = "tilewright"

_KINDS: dict[str, type[Error]] = {
    "ambiguous": AmbiguousError,
    "architecture": DeviceError,
    "arguments": ArgumentError,
    "array": ArrayError,
    "buffer": MismatchError,
    "captured": DeviceError,
    "compile": DeviceError,
    "copy": CopyError,
    "device": DeviceError,
    "devices": DeviceError,
    "driver": DeviceError,
    "dtype": DtypeError,
    "file-denied": PermissionError,
    "file-exists": FileExistsError,
    "file-missing": FileNotFoundError,
    "illegal": IllegalError,
    "internal": InternalError,
    "limit": LimitError,
    "memory": DeviceError,
    "mismatch": MismatchError,
    "needs-dims": NeedsDimsError,
    "needs-dtype": NeedsDtypeError,
    "no-compiler": DeviceError,
    "no-device": DeviceError,
    "no-driver": DeviceError,
    "no-layout": NoLayoutError,
    "out-of-range": OutOfRangeError,
    "overflow": OverflowError,
    "overlap": OverlapError,
    "parse": ParseError,
    "read-only": ReadOnlyError,
    "stream": DeviceError,
    "too-old": DeviceError,
    "undecided": UndecidedError,
    "unsupported": UnsupportedError,
    "usage": ArgumentError,
}


def make(kind: str, message: str, span: tuple[int, int] | None, rendered: str | None) -> Error:
    """The exception for a kind; the native module raises it."""
    found = FileError if kind.startswith("file-") and kind not in _KINDS else _KINDS.get(kind, Error)
    error = found(message if rendered is None else rendered)
    error.kind = kind.removeprefix("file-")
    error.message = message
    error.span = span
    return error


def about(argument: str, error: BaseException) -> BaseException:
    """The same exception with the name of its argument; other exceptions are unchanged."""
    if not isinstance(error, Error):
        return error
    named = type(error)(f"{argument}=: {error}")
    named.kind = error.kind
    named.message = f"{argument}=: {error.message}"
    named.span = error.span
    return named


def panicked(_cls: type[BaseException], message: object = "panic", /) -> NoReturn:
    """Raises the exception for a panic: the native module makes this the ``__new__`` of PyO3's ``PanicException``.

    It raises and does not return: Python 3.10 takes an exception that is returned for one of the class that was called.
    """
    raise make("internal", f"{message}; this is a mistake of tilewright, please report it", None, None)
