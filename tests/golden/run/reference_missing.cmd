run reference_missing.tile
run reference_missing.tile --ref torch_scale
run -q reference_missing.tile
