# torch.profiler: runs what it encloses and has no times to tell.


class ProfilerActivity:
    CPU = "CPU"
    CUDA = "CUDA"


class Averages:
    def table(self, sort_by=None, row_limit=100, max_name_column_width=55):
        return "(no device times: run on the CPU)"


class profile:
    def __init__(self, *args, **kwargs):
        pass

    def __enter__(self):
        return self

    def __exit__(self, type, value, trace):
        return False

    def step(self):
        pass

    def key_averages(self, *args, **kwargs):
        return Averages()
