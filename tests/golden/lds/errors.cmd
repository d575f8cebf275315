lds-report --target mi300 small.tile -D N=64
lds-report missing.tile
lds-report
lds-report small.tile
lds-report small.tile -D N=64 -D block_N=abc
lds-report small.tile -D N=64 -D threads=4096
lds-report small.tile -D N=64 --blocks 4
lds-report broken.tile
# 300 KiB fit nowhere.
lds-report --target all -q small.tile -D N=76800 -D block_N=76800
lds-report --sarif none/out.sarif small.tile -D N=64 | head -n 1
lds-report --sarif out.sarif --sweep 'N=64,128' small.tile
lds-report --html out --sarif out small.tile -D N=64
