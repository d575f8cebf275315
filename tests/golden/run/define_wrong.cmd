run define_wrong.tile -D n=3
run define_wrong.tile -D nothing_like_it=3
run define_wrong.tile -D N=abc
run define_wrong.tile -D N=-5
run define_wrong.tile -D N=2.5
run define_wrong.tile -D N
run define_wrong.tile -D =3
run define_wrong.tile -D N=100000000000000000000
