def t(f):
    try:
        f()
    except Exception as e:
        print(type(e).__name__, e)
    else:
        print("no error")
t(lambda: 1 + "a"); t(lambda: "a" + 1); t(lambda: [1] + (1,)); t(lambda: (1,) + [1]); t(lambda: {} + {}); t(lambda: None + 1); t(lambda: 1 - None)
t(lambda: -"a"); t(lambda: ~1.5); t(lambda: +[]); t(lambda: "a" < 1); t(lambda: None < 1); t(lambda: [] < {}); t(lambda: {} < {})
t(lambda: len(1)); t(lambda: len(None)); t(lambda: int("x")); t(lambda: int("")); t(lambda: int([])); t(lambda: int("z", 40)); t(lambda: float("a")); t(lambda: float([])); t(lambda: float(""))
t(lambda: [].pop()); t(lambda: [1].pop(5)); t(lambda: {}.popitem()); t(lambda: [1, 2][5]); t(lambda: (1,)[3]); t(lambda: "abc"[9]); t(lambda: [1]["a"]); t(lambda: "abc"["a"]); t(lambda: {}["k"]); t(lambda: range(3)[7]); t(lambda: [1][1.0])
t(lambda: 1 / 0); t(lambda: 1.0 / 0); t(lambda: 1 // 0); t(lambda: 1 % 0); t(lambda: 1.0 // 0); t(lambda: 1.0 % 0); t(lambda: 0 ** -1); t(lambda: divmod(1, 0)); t(lambda: 0.0 ** -1); t(lambda: 10.0 ** 400)
t(lambda: 1 << -1); t(lambda: 1.5 << 1); t(lambda: "a" * "b"); t(lambda: [1] * 1.5); t(lambda: "a" * None); t(lambda: 1 @ 2)
t(lambda: iter(1)); t(lambda: list(1)); t(lambda: next(iter([]))); t(lambda: next(1)); t(lambda: sum(["a"])); t(lambda: sum("ab")); t(lambda: sorted([1, "a"])); t(lambda: max([])); t(lambda: min(1)); t(lambda: max())
t(lambda: abs("a")); t(lambda: round("a")); t(lambda: ord("ab")); t(lambda: ord(1)); t(lambda: chr(-1)); t(lambda: hash([])); t(lambda: {[]: 1}); t(lambda: {{}}); t(lambda: set([[]]))
t(lambda: [1].index(2)); t(lambda: "a".index("b")); t(lambda: [1].remove(2)); t(lambda: (1,).index(2)); t(lambda: "".join([1])); t(lambda: "a".split("")); t(lambda: [].append()); t(lambda: [].append(1, 2)); t(lambda: [1].insert(1))
t(lambda: (1).foo); t(lambda: "a".foo); t(lambda: [].foo); t(lambda: int.foo); t(lambda: None.foo); t(lambda: (lambda: 1).foo); t(lambda: print.foo); t(lambda: {}.foo()); t(lambda: (1).real())
t(lambda: 1 in 1); t(lambda: 1 in "a"); t(lambda: 1()); t(lambda: "a"()); t(lambda: [1]()); t(lambda: None())
t(lambda: isinstance(1, 2)); t(lambda: issubclass(1, int)); t(lambda: range(1, 2, 0)); t(lambda: range("a")); t(lambda: range(1.0)); t(lambda: range()); t(lambda: [1, 2][::0]); t(lambda: [1]["a":])
t(lambda: dict([1])); t(lambda: dict([(1, 2, 3)])); t(lambda: dict(1)); t(lambda: "%d" % "x"); t(lambda: "%d %d" % (1,)); t(lambda: "%d" % (1, 2)); t(lambda: "%q" % 1); t(lambda: "{}".format()); t(lambda: "{a}".format()); t(lambda: "{0} {}".format(1) if False else 1)
t(lambda: format(1, "abc")); t(lambda: format("a", "d")); t(lambda: format(1.5, "d")); t(lambda: format([], "d")); t(lambda: f"{1:q}"); t(lambda: format(5, ".2")); t(lambda: format("a", "+"))
def unpack2(): a, b = 1, 2, 3
def unpack3(): a, b = 1,
def unpack4(): a, b = 3
def unpack5(): a, *b, c = 1,
def unpack6(): a, b = None
for u in (unpack2, unpack3, unpack4, unpack5, unpack6): t(u)
def fn(a, b=1, *, c=2): pass
t(lambda: fn()); t(lambda: fn(1, 2, 3)); t(lambda: fn(1, d=1)); t(lambda: fn(1, a=2)); t(lambda: fn(1, 2, 3, c=4) if False else 0)
def two(a, b): pass
def three(a, b, c): pass
def kw(*, k, m): pass
def none(): pass
def po(a, /): pass
t(lambda: two(1)); t(lambda: two()); t(lambda: three()); t(lambda: two(1, 2, 3)); t(lambda: kw()); t(lambda: kw(k=1)); t(lambda: kw(1)); t(lambda: none(1)); t(lambda: none(1, 2)); t(lambda: po(a=1)); t(lambda: fn(*[1], **{"zz": 1})); t(lambda: two(**{"a": 1, "c": 2}))
class C:
    def m(self, a): pass
    def __init__(self, q=1): pass
t(lambda: C().m()); t(lambda: C().m(1, 2)); t(lambda: C(1, 2)); t(lambda: C(z=1)); t(lambda: C().zip); t(lambda: C.nope); t(lambda: C() + 1); t(lambda: C()[0]); t(lambda: len(C())); t(lambda: C() < C()); t(lambda: C()()); t(lambda: [x for x in C()])
t(lambda: [1, 2].sort(1)); t(lambda: sorted()); t(lambda: len()); t(lambda: len(1, 2)); t(lambda: getattr(1, "x")); t(lambda: setattr(C, 1, 2)); t(lambda: str.upper(1)); t(lambda: {1: 2}.get()); t(lambda: int(1, 2, 3)); t(lambda: "a".center())
def setit(): (1, 2)[0] = 3
def setstr(): "abc"[0] = "x"
def delit(): del (1, 2)[0]
def setidx(): [1][5] = 1
for u in (setit, setstr, delit, setidx): t(u)
def raiser(): raise 5
def raise2(): raise "text"
t(raiser); t(raise2); t(lambda: int("1" * 5 + "x")); t(lambda: bytes([300])); t(lambda: "abc".find(1) if False else 1)
