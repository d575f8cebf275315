run scheduler.tile
