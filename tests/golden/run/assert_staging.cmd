run assert_staging.tile -D N=40
