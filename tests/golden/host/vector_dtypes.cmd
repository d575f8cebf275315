run vector_dtypes.tile
