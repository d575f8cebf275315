# A module that fails while it is imported, by failing_module_import.py.
early = 1
if __name__ != "__main__":
    raise ValueError("broken on purpose")
