# fla.ops.utils: (sequence, place) of each row of sequences laid end to end.
import torch


def prepare_token_indices(offsets):
    rows = []
    for i in range(len(offsets) - 1):
        for t in range((offsets[i + 1] - offsets[i]).item()):
            rows.append([i, t])
    return torch.tensor(rows).to(offsets.dtype)
