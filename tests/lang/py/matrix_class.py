class Matrix:
    def __init__(self, rows): self.rows = [list(r) for r in rows]
    @classmethod
    def eye(cls, n): return cls([[float(i == j) for j in range(n)] for i in range(n)])
    @property
    def shape(self): return len(self.rows), len(self.rows[0])
    def __matmul__(self, o):
        assert self.shape[1] == o.shape[0], f"shapes {self.shape} and {o.shape} not aligned"
        return Matrix([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])
    def __add__(self, o): return Matrix([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, o.rows)])
    def __mul__(self, k): return Matrix([[a * k for a in r] for r in self.rows])
    __rmul__ = __mul__
    def __neg__(self): return self * -1
    def __sub__(self, o): return self + -o
    def __eq__(self, o): return self.rows == o.rows
    def __getitem__(self, ij):
        if isinstance(ij, tuple):
            i, j = ij
            if isinstance(i, slice) or isinstance(j, slice):
                rows = self.rows[i] if isinstance(i, slice) else [self.rows[i]]
                return Matrix([r[j] if isinstance(j, slice) else [r[j]] for r in rows])
            return self.rows[i][j]
        return self.rows[ij]
    def __setitem__(self, ij, v): self.rows[ij[0]][ij[1]] = v
    def __iter__(self): return iter(self.rows)
    def __len__(self): return len(self.rows)
    def __repr__(self): return "\n".join(" ".join(f"{v:6.2f}" for v in r) for r in self.rows)
    @property
    def T(self): return Matrix(zip(*self.rows))
m = Matrix([[1, 2], [3, 4.5]])
print(m, m @ Matrix.eye(2) == m, m.T[0], m.shape, sep="\n")
print(m + m == 2 * m, (m - m).rows, m[1, 1], m[0:1, :].rows, m[:, 0].rows, len(m), [r[0] for r in m])
m[0, 1] = 10
print((m @ m).rows, -m == m * -1)
try:
    m @ Matrix([[1, 2, 3]])
except AssertionError as e:
    print(e)
r = Matrix([[i * j for j in range(3)] for i in range(3)])
print(sum(sum(row) for row in r), max(max(row) for row in r), r)
