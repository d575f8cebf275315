run factories.tile
run factories.tile --kernel compiled -D N=70 --ref ref_compiled
run factories.tile --kernel tunable -D N=70 -D block=16 --ref ref_tunable
run factories.tile --kernel tunable -D N=70
run factories.tile --kernel tunable -D N=70 -D block=16 -D blok=3
run factories.tile --kernel compiled -D N=70 -D blok=3
run factories.tile --kernel nothing -D N=70
check factories.tile --kernel compiled -D N=70
lds-report factories.tile --kernel tunable -D N=70 -D block=16 --target h100
