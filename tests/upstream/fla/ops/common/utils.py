# fla.ops.common.utils: where older versions had it.
from fla.ops.utils import prepare_token_indices
