"""Meta's tensor-layouts."""

from importlib import metadata

import algebra

NAME = "tensor-layouts (Meta)"


def version() -> str:
    return metadata.version("tensor-layouts")


def cases(source, count):
    return algebra.cases("tensor_layouts", source, count)
