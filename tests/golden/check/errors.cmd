check
check no-such-file.tile
check --only bound clear.tile
check -Wno-uninit clear.tile
check -D block=31 clear.tile
check -D rows=31 clear.tile
check reason.tile
explain uninit-read
explain uninit-raed
