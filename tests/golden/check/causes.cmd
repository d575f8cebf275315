# the cause in full, what follows from it in a line each
check ../../checks/cause-index.tile
check ../../checks/cause-readers.tile
check --json ../../checks/cause-collide.tile
# another place of the cause's result, and no result of its own
check -q --one-line --sarif $WORK/log.sarif ../../checks/cause-collide.tile
$ grep -c '"ruleId"' $WORK/log.sarif
$ sed -n '/relatedLocations/,/ruleId/p' $WORK/log.sarif
# where the cause is not told, the next one is
check -Wno-uninit-read ../../checks/cause-index.tile
check --only outputs --one-line ../../checks/cause-index.tile
# two at one place
check causes.tile
