# numpy.testing
import numpy
import torch


def assert_array_equal(actual, desired):
    assert_allclose(actual, desired, rtol=0)


def assert_allclose(actual, desired, rtol=1e-7, atol=0):
    a, b = numpy.asarray(actual)._tensor, numpy.asarray(desired)._tensor
    torch.testing.assert_close(a.double(),
                               torch.broadcast_to(b.double(), a.shape),
                               rtol=rtol, atol=atol, equal_nan=True)
