"""pycute of CUTLASS."""

from importlib import metadata

import algebra

NAME = "pycute (CUTLASS)"


def version() -> str:
    return "of nvidia-cutlass " + metadata.version("nvidia-cutlass")


def cases(source, count):
    return algebra.cases("pycute", source, count)
