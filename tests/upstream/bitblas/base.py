def simplify_prim_func(function):
    return function
