# scipy.linalg: Sylvester's Hadamard matrix, as lists of numbers.


def hadamard(n, dtype=int):
    rows = [[dtype(1)]]
    while len(rows) < n:
        rows = [r + r for r in rows] + [r + [-x for x in r] for r in rows]
    return rows
