# sparse.py - 2:4 sparse matrices for upstream's compressor, which looks at one
# element past its two indices when a zero follows the second value of a group
# of four. Here the second value is always the last of its group.
import torch


def ends_late(rows, columns, dtype=torch.float16, fewer=0.0):
    first = torch.randint(0, 3, (rows, columns // 4, 1))
    at = torch.arange(4)
    keep = (at == first) & (torch.rand(rows, columns // 4, 1) >= fewer)
    keep = keep | ((at == 3) & (torch.rand(rows, columns // 4, 1) >= fewer))
    x = torch.randn(rows, columns // 4, 4)
    return torch.where(keep, x, 0).reshape(rows, columns).to(dtype)


# The dense matrix: each 4 bits of e, lowest first, place two values.
def expand(x, e):
    rows, half = x.shape
    groups = e.element_size() * 2
    fours = torch.stack([(e >> (4 * i)) & 15 for i in range(groups)], -1)
    fours = fours.reshape(rows, half // 2, 1).long()
    places = torch.cat([fours & 3, fours >> 2], -1)
    dense = torch.zeros(rows, half // 2, 4, dtype=x.dtype)
    dense.scatter_(-1, places, x.reshape(rows, half // 2, 2))
    return dense.reshape(rows, 2 * half)
