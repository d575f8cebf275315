# fla.utils: decorators that do nothing here.


def contiguous(function):
    return function


def autocast_custom_fwd(function):
    return function


def autocast_custom_bwd(function):
    return function
