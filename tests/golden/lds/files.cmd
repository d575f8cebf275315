# One report after the other; the worst exit code.
$ mkdir -p $WORK/all/inner $WORK/none && cp small.tile $WORK/all/one.tile && cp broken.tile $WORK/all/three.py
$ echo 'x = 1' >$WORK/all/two.py; touch $WORK/all/notes.txt; cp small.tile $WORK/one.tile
$ cp small.tile $WORK/two.tile && cd $WORK
lds-report --target a100 -D N=64 one.tile two.tile >report
$ grep -e main -e fit report
# 300 KiB do not fit, and the second file is not there.
lds-report --target a100 -D N=76800 -D block_N=76800 one.tile missing.tile other.tile >report
$ grep -e main -e fit report
# A folder is its programs, by name: two.py has no kernel, three.py no syntax.
lds-report --target a100 -D N=64 all/ >report
$ grep -e main -e fit report
lds-report --target a100 -D N=64 all --json | grep -e file -e '"kernel"' -e exit
lds-report --target a100 -D N=64 none
lds-report --target a100 -D N=64 all/two.py all/one.tile >report
$ grep -e main -e fit report
# Kernels are compared file by file.
lds-report --target a100 -D N=64 one.tile two.tile --json >old.json
lds-report --target a100 -D N=64 one.tile two.tile --compare old.json
$ sed -i 's/S = T.alloc_shared(.block_N/&*2/' two.tile
lds-report --target a100 -D N=64 one.tile two.tile --compare old.json
lds-report --target a100 -D N=64 one.tile two.tile --compare old.json --json | sed -n '/files/,/\]/p; /differ/,/bytes/p'
# One at a time.
lds-report --sweep 'N=64,128' all
lds-report --fix 1 -D N=64 one.tile two.tile
