import itertools
from itertools import product, chain, accumulate, permutations, combinations, repeat, count, islice, cycle, takewhile, dropwhile, starmap, zip_longest, groupby, pairwise, compress, filterfalse
print(list(product([1, 2], "ab")), list(product(range(2), repeat=2)), list(product([], [1])), list(product()), len(list(product(range(4), range(3), range(2)))))
print(list(chain([1], (2, 3), "ab")), list(chain.from_iterable([[1], [2, 3]])), list(chain()), list(itertools.chain(range(2), [9])))
print(list(accumulate([1, 2, 3, 4])), list(accumulate([1, 2, 3], lambda a, b: a * b)), list(accumulate([3, 1, 2], max)), list(accumulate([], initial=5)), list(accumulate([1, 2], initial=10)))
print(list(permutations([1, 2, 3])), list(permutations("abc", 2)), list(permutations([], 0)), list(permutations([1], 2)), len(list(permutations(range(5)))))
print(list(combinations([1, 2, 3, 4], 2)), list(combinations("ab", 3)), list(combinations([1], 0)), list(itertools.combinations_with_replacement("ab", 2)))
print(list(repeat(7, 3)), list(islice(count(5), 3)), list(islice(count(1, 2.5), 3)), list(islice(cycle("ab"), 5)), list(islice(range(10), 2, 8, 3)), list(islice("abc", None)), list(islice([1, 2, 3], 1, None)))
print(list(takewhile(lambda v: v < 3, [1, 2, 3, 1])), list(dropwhile(lambda v: v < 3, [1, 2, 3, 1])), list(starmap(pow, [(2, 3), (3, 2)])), list(zip_longest([1, 2, 3], "a", fillvalue="-")), list(zip_longest("ab", [1])))
for k, g in groupby([1, 1, 2, 3, 3, 3]):
    print(k, list(g), end="; ")
print()
print([(k, [v for _, v in g]) for k, g in groupby([("a", 1), ("a", 2), ("b", 3)], key=lambda t: t[0])])
print(list(pairwise([1, 2, 3])), list(pairwise([1])), list(compress("abcd", [1, 0, 1, 0])), list(filterfalse(lambda v: v % 2, range(5))))
configs = [dict(zip(("M", "N", "threads"), p)) for p in product([64, 128], [32], [128, 256])]
print(len(configs), configs[0], configs[-1])
for a, b in product(range(2), "xy"):
    print(a, b, end=" ")
print(next(count()), next(zip(count(), "a")), sum(islice(count(1), 100)), dict(zip("abc", count())))
