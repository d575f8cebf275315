run wrong_eager.tile
dump --kernel no_value -D M=4 wrong_eager.tile >/dev/null
dump --kernel no_value -D M=4 -D N=two wrong_eager.tile >/dev/null
dump --kernel no_value -D M=4 -D N=-2 wrong_eager.tile >/dev/null
dump --kernel no_value -D M=4 -D N=2 -D Q=2 wrong_eager.tile >/dev/null
dump --kernel late_argument wrong_eager.tile >/dev/null
dump --kernel ref_of_number wrong_eager.tile >/dev/null
dump --kernel ref_of_value wrong_eager.tile >/dev/null
dump --kernel return_in_branch wrong_eager.tile >/dev/null
dump --kernel recursion wrong_eager.tile >/dev/null
dump --kernel macro_argument wrong_eager.tile >/dev/null
dump --kernel no_annotation wrong_eager.tile >/dev/null
dump --kernel grid_of_four wrong_eager.tile >/dev/null
dump --kernel many_threads wrong_eager.tile >/dev/null
dump --kernel float_grid wrong_eager.tile >/dev/null
