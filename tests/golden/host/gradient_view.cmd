run gradient_view.tile
