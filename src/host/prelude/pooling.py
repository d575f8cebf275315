# torch.max_pool2d, of windows that lie side by side.
import math

import torch.nn.functional as F


def pair(x):
    return (x, x) if isinstance(x, int) else tuple(x)


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1,
               ceil_mode=False):
    h, w = pair(kernel_size)
    beside = stride is None or pair(stride) == (h, w)
    if not beside or pair(padding) != (0, 0) or pair(dilation) != (1, 1):
        raise NotImplementedError("max_pool2d of windows that overlap, with "
                                  "padding or dilation")
    high, wide = input.shape[-2:]
    down, across = high // h, wide // w
    if ceil_mode:                       # the last windows are cut
        down, across = -(-high // h), -(-wide // w)
        input = F.pad(input, (0, across * w - wide, 0, down * h - high),
                      value=-math.inf)
    whole = input[..., :down * h, :across * w]
    parts = whole.reshape(*input.shape[:-2], down, h, across, w)
    return parts.amax(dim=(-3, -1))
