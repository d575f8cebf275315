import random
random.seed(0)
print([random.random() for _ in range(5)], random.randint(1, 6), random.randrange(10), random.randrange(5, 50, 5), random.uniform(-1, 1))
random.seed(42)
l = list(range(10))
random.shuffle(l)
print(l, random.choice("abcdef"), random.choice([1, 2, 3]), random.sample(range(100), 5), random.sample(range(5), 5), random.sample([1, 2, 3], k=2), random.sample(range(1000), 10))
random.seed(-7)
print(random.random(), random.getrandbits(5), random.getrandbits(40), [random.randint(0, 10 ** 12) for _ in range(3)])
random.seed(2 ** 40 + 3)
print(random.random(), [random.choice([True, False]) for _ in range(8)], random.randrange(2 ** 33))
random.seed(1)
a = [random.random() for _ in range(700)]
random.seed(1)
print(a == [random.random() for _ in range(700)], sum(a) / len(a), min(a) >= 0, max(a) < 1)
for bad in (lambda: random.choice([]), lambda: random.randint(5, 1), lambda: random.sample([1], 2)):
    try: bad()
    except (IndexError, ValueError) as e: print(type(e).__name__)
