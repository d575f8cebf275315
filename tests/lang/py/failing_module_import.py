for attempt in range(2):
    try:
        import helper_broken
    except ValueError as e:
        print(attempt, e)
try:
    helper_broken
except NameError:
    print("not bound")
try:
    from helper_broken import early
except ValueError as e:
    print(e)
import helper_mod
print(helper_mod.value)
