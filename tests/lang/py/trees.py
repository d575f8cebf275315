class Node:
    __slots__ = ("key", "left", "right")
    def __init__(self, key, left=None, right=None):
        self.key, self.left, self.right = key, left, right
class BST:
    def __init__(self, items=()):
        self.root, self.n = None, 0
        for i in items: self.insert(i)
    def insert(self, key):
        def go(node):
            if node is None:
                self.n += 1
                return Node(key)
            if key < node.key: node.left = go(node.left)
            elif key > node.key: node.right = go(node.right)
            return node
        self.root = go(self.root)
        return self
    def __contains__(self, key):
        node = self.root
        while node:
            if key == node.key: return True
            node = node.left if key < node.key else node.right
        return False
    def __iter__(self):
        def walk(node):
            if node:
                yield from walk(node.left)
                yield node.key
                yield from walk(node.right)
        return walk(self.root)
    def __len__(self): return self.n
    @property
    def height(self):
        h = lambda n: 0 if n is None else 1 + max(h(n.left), h(n.right))
        return h(self.root)
    def __repr__(self): return f"BST({list(self)})"
t = BST([5, 2, 8, 1, 9, 3, 5])
print(t, len(t), t.height, 8 in t, 7 in t, list(t)[::-1], sum(t), max(t), sorted(t, key=lambda k: -k))
t.insert(7).insert(6)
print(t, t.height, [k for k in t if k % 2], bool(t), bool(BST()))
def count_paths(grid):
    memo = {}
    def go(r, c):
        if r == len(grid) or c == len(grid[0]) or grid[r][c]: return 0
        if (r, c) == (len(grid) - 1, len(grid[0]) - 1): return 1
        if (r, c) not in memo: memo[r, c] = go(r + 1, c) + go(r, c + 1)
        return memo[r, c]
    return go(0, 0)
print(count_paths([[0] * 5 for _ in range(5)]), count_paths([[0, 0], [1, 0]]))
def bfs(graph, start):
    seen, queue, order = {start}, [start], []
    while queue:
        v = queue.pop(0)
        order.append(v)
        for w in graph.get(v, ()):
            if w not in seen:
                seen.add(w)
                queue.append(w)
    return order
print(bfs({"a": "bc", "b": "d", "c": "d", "d": "a"}, "a"))
def topo(deps):
    done, out = set(), []
    def visit(n, stack=()):
        if n in stack: raise ValueError(" -> ".join(stack + (n,)))
        if n in done: return
        for d in sorted(deps.get(n, [])): visit(d, stack + (n,))
        done.add(n)
        out.append(n)
    for n in sorted(deps): visit(n)
    return out
print(topo({"c": ["a", "b"], "b": ["a"], "a": []}))
try:
    topo({"x": ["y"], "y": ["x"]})
except ValueError as e:
    print("cycle", e)
