import itertools
class Event:
    _ids = itertools.count()
    def __init__(self, time, what):
        self.time, self.what, self.id = time, what, next(Event._ids)
    def __lt__(self, o): return (self.time, self.id) < (o.time, o.id)
    def __repr__(self): return f"<{self.time:g} {self.what}>"
class Queue:
    def __init__(self): self._q = []
    def push(self, *events):
        for e in events:
            lo, hi = 0, len(self._q)
            while lo < hi:
                mid = (lo + hi) // 2
                if e < self._q[mid]: hi = mid
                else: lo = mid + 1
            self._q.insert(lo, e)
        return self
    def __bool__(self): return bool(self._q)
    def pop(self): return self._q.pop(0)
q = Queue().push(Event(3, "c"), Event(1, "a"), Event(2, "b"), Event(1, "a2"))
log = []
while q:
    e = q.pop()
    log.append(e)
    if e.what == "a": q.push(Event(e.time + 1.5, "from a"))
print(log)
class Resource:
    def __init__(self, n): self.free, self.waiting, self.trace = n, [], []
    def __enter__(self):
        if not self.free: raise RuntimeError("busy")
        self.free -= 1
        self.trace.append(("in", self.free))
        return self
    def __exit__(self, *exc):
        self.free += 1
        self.trace.append(("out", self.free, exc[0].__name__ if exc[0] else None))
        return exc[0] is KeyError
r = Resource(2)
with r:
    with r:
        try:
            with r: pass
        except RuntimeError as e:
            print("refused", e)
    with r:
        raise KeyError("swallowed")
print(r.trace, r.free)
state, transitions = "idle", {("idle", "start"): "run", ("run", "stop"): "idle", ("run", "fail"): "err"}
for ev in ["start", "stop", "start", "fail", "start"]:
    nxt = transitions.get((state, ev), state)
    print(f"{state}--{ev}->{nxt}", end=" ")
    state = nxt
print()
