run print_device.tile -j 1
run print_device.tile -j 7
run print_device.tile -D N=2 --no-ref --json 2>&1 >/dev/null
