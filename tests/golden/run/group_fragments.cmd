run group_fragments.tile
