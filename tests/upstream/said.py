# said.py - upstream's files that print what they found instead of asserting it.


# Runs main() and fails unless it printed `want`, and never `unless`.
def check(m, main, want, unless="FAILED"):
    lines = []

    def note(*words, **more):
        print(*words)
        lines.append(" ".join(map(str, words)))

    m.print = note
    main()
    assert any(want in x for x in lines), lines
    assert not any(unless in x for x in lines), lines
