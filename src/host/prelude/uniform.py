# torch.distributions.uniform.
import torch


class Uniform:
    def __init__(self, low, high):
        self.low = low
        self.high = high

    def sample(self, sample_shape=()):
        unit = torch.rand(tuple(sample_shape))
        return self.low + (self.high - self.low) * unit
