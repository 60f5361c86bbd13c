"""jax's arrays on the CPU: read where they are, never written. ``cargo xtask oracles`` installs jax."""

import numpy as np
import pytest

import tilewright as tw

jax = pytest.importorskip("jax", reason="jax is not installed; cargo xtask oracles installs it")


@pytest.mark.parametrize("name", ["float32", "bfloat16", "int8", "uint16", "complex64", "bool"])
def test_arrays_are_read_where_they_are(name: str) -> None:
    array = jax.numpy.arange(24).reshape(4, 6).astype(name)
    assert tw.Memory(array).address == array.unsafe_buffer_pointer()
    got = tw.relayout(array, to="col-major")
    assert isinstance(got, np.ndarray) and got.dtype == array.dtype
    assert got.tobytes() == np.asarray(array).T.tobytes()


def test_traced_arrays_have_no_memory() -> None:
    with pytest.raises(tw.ArrayError, match="does not share its memory"):
        jax.jit(lambda array: tw.relayout(array, to="row-major"))(jax.numpy.zeros((2, 3)))


def test_arrays_are_never_written() -> None:
    array = jax.numpy.zeros((4, 6))
    with pytest.raises(tw.ReadOnlyError):
        tw.relayout(np.zeros((6, 4), np.float32), to="col-major", out=array)


@pytest.mark.parametrize("name", ["float32", "bfloat16", "float8_e4m3fn", "int8", "complex64", "bool"])
def test_arrays_are_copied(name: str) -> None:
    array = jax.numpy.arange(24).reshape(4, 6).astype(name)
    assert tw.contiguous(array) is array
    out = np.zeros((6, 4), array.dtype)
    assert tw.copy_(out.T, array).base is out and out.tobytes() == np.asarray(array).T.tobytes()
    with pytest.raises(tw.ReadOnlyError):
        tw.copy_(array, np.zeros((4, 6), array.dtype))
    assert isinstance(tw.empty_like(array, "col-major"), np.ndarray)
