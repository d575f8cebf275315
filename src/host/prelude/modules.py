# torch.nn: modules that call their forward and give no list of parameters.
import torch
import torch.nn.functional as F


class Module:
    training = True
    def __init__(self, *args, **kwargs):
        pass
    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)
    def to(self, *args, **kwargs):
        return self
    def cuda(self, *args):
        return self
    def half(self):
        return self
    def eval(self):
        self.training = False
        return self
    def train(self, mode=True):
        self.training = mode
        return self
    def register_buffer(self, name, tensor, persistent=True):
        setattr(self, name, tensor)
    def parameters(self):
        return []

def Parameter(data, requires_grad=True):
    return data


class SiLU(Module):
    def __init__(self, inplace=False):
        pass

    def forward(self, input):
        return F.silu(input)


class Linear(Module):
    def __init__(self, in_features, out_features, bias=True, device=None,
                 dtype=None):
        bound = in_features ** -0.5
        self.weight = (torch.rand(out_features, in_features, dtype=dtype) * 2
                       - 1) * bound
        self.bias = (torch.rand(out_features, dtype=dtype) * 2 - 1) * bound \
            if bias else None

    def forward(self, input):
        return F.linear(input, self.weight, self.bias)


class ModuleList(Module):
    def __init__(self, modules=()):
        self.modules = list(modules)

    def __len__(self):
        return len(self.modules)

    def __iter__(self):
        return iter(self.modules)

    def __getitem__(self, index):
        return self.modules[index]
