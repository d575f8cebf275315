a, b, items, d = 5, 2.5, [1, 2, 3], {"k": "v", "n": {"m": 1}}
print(f"{a}{b}{items[0]}{d['k']}{d['n']['m']}", f"{a + 1 * 2}", f"{(a, b)}", f"{[x * 2 for x in items]}", f"{ {1: 2} }", f"{ {1, }!r}")
print(f"{'a' if a > 3 else 'b'}", f"{a:>{a}}|{a:{'<'}{4}}|", f"{b:{a}.{1}f}", f"{f'{a}' + f'{b:.2f}'}", f"{len(f'{a:05}')}")
print(f"{a!r:>5}|{'x'!r}|{str(a)!s:<3}|", f"{a=}", f"{a+b=}", f"{items=}", f"{a = :>4}", f"{d['k']=}", f"{b=:.1f}", f"{'s'=!r}")
print(f"{{literal}} {{{a}}} {{{{", f"}}{a}{{", "{not}" f"{a}", f"" + f"x", rf"\n{a}", fr"{a}\t", F"{a}")
print(f'{a:,} {1e6:,.0f} {a:+05d} {b:.0%} {-a:(>5}', f"{a:#x} {a:#06b} {255:02X}", f"{'':>3}|{None}|{True}|{...}")
print(f"{lambda_ if (lambda_ := 3) else 0}", f"{(lambda x: x + 1)(a)}", f"{max(items)} {sum(i * i for i in items)}", f"{','.join(str(i) for i in items)}")
class V:
    def __format__(self, spec): return f"<{spec}>"
    def __str__(self): return "V-str"
    def __repr__(self): return "V-repr"
print(f"{V()} {V():abc} {V()!s} {V()!r:>8} {V()!s:.1}", format(V(), "q"), "{:z}".format(V()), str(V()), [V()])
print(f"""multi
{a}
 {b:>5}
end""")
print(f"{a}" "{a}" f"{b}", f"{'{'}{'}'}", f"{a:{'>' + str(3)}}|", f"{3.0:{''}}", f"{a!s}{b!s}")
w, p = 8, 3
print(f"|{3.14159:{w}.{p}f}|{'ab':^{w}}|{a:0{w}d}|{a:<{w}}|{b:>+{w}.{p}e}|")
