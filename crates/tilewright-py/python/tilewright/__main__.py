"""``python -m tilewright``: the program ``tilewright``."""

from __future__ import annotations

import signal
import sys

from tilewright import _tilewright

#: The words of commands that need transformers, and thus Python.
_WORDS = {"transformers", "audit", "--recipe=transformers"}


def _program(arguments: list[str]) -> int:
    """Runs the program."""
    return _tilewright.main(["tilewright", *arguments])


def main() -> int:
    """Runs the program with the command line's arguments and gives its exit code."""
    # The program sees to signals itself; Python's own handler would wait for its end.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    arguments = sys.argv[1:]
    if _WORDS.intersection(arguments):
        from tilewright._transformers.program import command

        code = command(arguments, _program)
        if code is not None:
            return code
    return _program(arguments)


if __name__ == "__main__":
    sys.exit(main())
