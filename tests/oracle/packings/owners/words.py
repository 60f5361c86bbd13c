"""Numbers as the tensors that functions take, and fields as the words that hold them."""
import numpy as np
import torch


def octets(values):
    """A tensor of bytes."""
    return torch.from_numpy(np.asarray(values).astype(np.uint8))


def integers(values):
    """A tensor of 32-bit integers."""
    return torch.from_numpy(np.asarray(values).astype(np.int32))


def pairs(values):
    """Bytes of two fields of four bits, the first in the lower bits."""
    return octets(values[::2] | values[1::2] << 4)


def packed_pairs(values):
    """The same of the last dim of an array."""
    return octets(values[..., ::2] | values[..., 1::2] << 4)


def words(values, bits):
    """Words of 32 bits, the first field in the lowest bits."""
    count = 32 // bits
    shifted = values.reshape(-1, count).astype(np.int64) << (np.arange(count) * bits)
    return torch.from_numpy(shifted.sum(axis=1).astype(np.uint32).view(np.int32))


def physical(tensor):
    """What lies in memory, of a tensor whose strides are in any order."""
    order = sorted(range(tensor.dim()), key=lambda dim: (-tensor.stride(dim), -tensor.shape[dim]))
    return tensor.permute(order).contiguous()
