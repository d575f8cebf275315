# people, editors, machines
check clear.tile
check --one-line clear.tile
check --json clear.tile
check --sarif $WORK/log.sarif -q --one-line clear.tile
$ grep -o '"ruleId": "[^"]*"' $WORK/log.sarif
# which findings are told
check --only bounds,outputs clear.tile
check --only uninit-read --one-line clear.tile
check -Wno-uninit-read clear.tile
check -Wuninit-read --one-line clear.tile
check -Wno-uninit-read -Werror=uninit-read --one-line clear.tile
# several sizes, several files, folders
check --one-line --sweep 'K=32,64 M=32' clear.tile
check --one-line clear.tile clear.tile
