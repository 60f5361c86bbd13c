"""torch's tensors: read where they are, results torch's own. ``cargo xtask oracles`` installs torch."""

import numpy as np
import pytest

import tilewright as tw

torch = pytest.importorskip("torch", reason="torch is not installed; cargo xtask oracles installs it")

DTYPES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64",
    "complex128", "float8_e4m3fn", "float8_e5m2",
]


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype(name: str) -> None:
    dtype = getattr(torch, name)
    size = torch.empty(0, dtype=dtype).element_size()
    raw = torch.randint(0, 2 if name == "bool" else 255, (6, 10 * size), dtype=torch.uint8)
    tensor = raw.view(dtype)
    assert tw.Memory(tensor).address == tensor.data_ptr() == raw.data_ptr()
    got = tw.relayout(tensor, to="col-major")
    assert isinstance(got, torch.Tensor) and got.dtype is dtype and tuple(got.shape) == (10, 6)
    assert torch.equal(got.view(torch.uint8), tensor.t().contiguous().view(torch.uint8))


def test_memory_is_shared() -> None:
    tensor = torch.arange(24, dtype=torch.float32).reshape(4, 6).share_memory_()
    assert tw.Memory(tensor).address == tensor.data_ptr()
    out = torch.empty(6, 4).share_memory_()
    address = out.data_ptr()
    assert tw.relayout(tensor, to="col-major", out=out) is out
    assert out.data_ptr() == address == tw.Memory(out).address and torch.equal(out, tensor.t())
    array = np.empty((6, 4), np.float32)
    tw.relayout(tensor, to="col-major", out=array)
    assert (array == tensor.numpy().T).all()
    view = torch.from_numpy(array)
    tw.relayout(tensor + 1, to="col-major", out=view)
    assert (array == tensor.numpy().T + 1).all()


def test_views() -> None:
    tensor = torch.arange(120, dtype=torch.int32).reshape(4, 5, 6)
    for view in [tensor.permute(2, 0, 1), tensor[1:, ::2, 1::3], tensor[0].expand(3, 5, 6), tensor[:, 0], tensor[:0]]:
        assert torch.equal(tw.relayout(view, to="row-major"), view.contiguous())
    images = torch.rand(2, 3, 4, 5)
    out = torch.empty(2, 3, 4, 5).to(memory_format=torch.channels_last)
    assert tw.relayout(images, out=out) is out and torch.equal(out, images)
    assert torch.equal(tw.relayout(images, to="channels_last").flatten(), out.permute(0, 2, 3, 1).flatten())


def test_what_is_refused() -> None:
    with pytest.raises(tw.DeviceError):
        tw.relayout(torch.empty(3, device="meta"), to="row-major")
    with pytest.raises(tw.ArrayError, match="detach"):
        tw.relayout(torch.zeros(3, requires_grad=True), to="row-major")
    with pytest.raises(tw.ArrayError, match="to_dense"):
        tw.relayout(torch.eye(3).to_sparse(), to="row-major")
    with pytest.warns(UserWarning, match="prototype"), pytest.raises(tw.ArrayError):
        tw.relayout(torch.nested.nested_tensor([torch.zeros(2), torch.zeros(3)]), to="row-major")
    with pytest.raises(tw.CopyError, match="resolve_conj"):
        tw.relayout(torch.zeros(3, dtype=torch.complex64).conj(), to="row-major")
    tensor = torch.zeros(4, 4)
    with pytest.raises(tw.OverlapError):
        tw.relayout(tensor, to="col-major", out=tensor.t())
    with pytest.raises(tw.Error):
        tw.relayout(tensor, out=torch.zeros(4).expand(4, 4))
