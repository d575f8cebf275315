run layout_clash.tile
