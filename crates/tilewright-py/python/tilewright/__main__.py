"""``python -m tilewright``: the program ``tilewright``."""

from __future__ import annotations

import signal
import sys

from tilewright import _tilewright


def main() -> int:
    """Runs the program with the command line's arguments and gives its exit code."""
    # The program sees to signals itself; Python's own handler would wait for its end.
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    return _tilewright.main(["tilewright", *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
