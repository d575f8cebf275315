check
check no-such-file.tile
check --only bound clear.tile
check -Wno-uninit clear.tile
check -D block=31 clear.tile
check -D rows=31 clear.tile
check reason.tile
explain uninit-read
explain uninit-raed
# names: of a check as well; what is near, where the list is
check -Wno-uninitialised clear.tile
check -Wno-bogus clear.tile
check -Wno- clear.tile
check --only bounds, clear.tile
check -Wtail -Werror --one-line ../../checks/dead-tile.tile
check --sarif - clear.tile
explain races
explain bogus
