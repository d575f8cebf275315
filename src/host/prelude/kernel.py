# tilelang.language.kernel: what T.Kernel takes for `threads`.
def _normalize_threads(threads):
    sizes = [128] if threads is None else threads
    if isinstance(sizes, int):
        sizes = [sizes]
    if not isinstance(sizes, (list, tuple)):
        raise ValueError("threads must be an int or a list of ints")
    if any(isinstance(n, int) and n <= 0 for n in sizes):
        raise ValueError("threads must be positive, got " + str(threads))
    return list(sizes) + [1] * (3 - len(sizes))
