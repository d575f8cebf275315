# tvm.error: what upstream's compiler raises.
class TVMError(RuntimeError):
    pass


class InternalError(TVMError):
    pass
