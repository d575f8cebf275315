run options.tile --sed 3
run options.tile --seed
run options.tile --seed x
run options.tile --json=yes
run options.tile --stage=ir
run options.tile -x
run options.tile other.tile
run
walk options.tile
run options.tile --target mi300
run options.tile --target b100,h100
run options.tile --numerics fast
run options.tile --color blue
run options.tile -j 0
run options.tile --blocks none
run options.tile --norm-tol small
run options.tile --block 9,9
run options.tile --block 0,0,0,0
run options.tile --block 4
run options.tile --print 't['
run options.tile --print 't[3:1]'
run options.tile --print 'tt[0:4]'
run options.tile --print 't@k=1'
run options.tile --sweep ''
run options.tile --sweep 'N'
run options.tile --sweep 'N=1,,2'
run options.tile --sweep 'N=1,2' -D N=3
run options.tile --sweep autotune
run options.tile --block 0 --expect C=options.tile
