run host_loop.tile
run host_loop.tile --kernel scan --ref ref_scan -j 1
