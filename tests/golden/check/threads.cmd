# what findings of threads, copies and barriers say
check -q ../../checks/race-guard.tile
check -q ../../checks/race-else.tile
check -q ../../checks/stages-not-full.tile
check -q ../../checks/stages-not-free.tile
check -q ../../checks/wgmma-no-wait.tile
check -q ../../checks/shared-bytes.tile
check -q ../../checks/race-global.tile
check -q ../../checks/barrier-half.tile
check ../../checks/barrier-left.tile
check -q ../../checks/stages-too-few-arrivals.tile
