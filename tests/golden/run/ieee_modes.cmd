run ieee_modes.tile
