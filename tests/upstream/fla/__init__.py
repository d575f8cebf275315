# fla - the few names of flash-linear-attention that upstream's examples need
# beside its kernels; kernels are compared with other references.
__version__ = "0.2.1"
