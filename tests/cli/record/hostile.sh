#!/bin/sh
# A program that damages all it shares with the recorder harms nobody but
# itself: the recorder ends as always, its recording can be read, and the
# programs beside are recorded.
#   hostile.sh WINDLASS RECDUMP FIXTURES PROGRAMS: so many damage it
. "$(dirname "$0")/../lib/record_lib.sh"
programs=$4

cp "$fixtures/hostile" honest
# Some at a time, and one beside that is none of them. They may end as they can.
cat >crowd <<'END'
#!/bin/sh
at=$1
end=$((at + 10))
./honest 0 &
while [ $at -lt $end ]; do
    "$2" $at >/dev/null 2>&1 &
    at=$((at + 1))
done
wait
exit 3
END
chmod +x crowd

# attack COMMAND SEED
attack() {
    rm -f r.wndl
    status=0
    timeout -s KILL 120 "$windlass" "$1" -o r.wndl -- \
        ./crowd "$2" "$fixtures/hostile" >out 2>said || status=$?
    [ "$status" -eq 3 ] || fail "$1, seed $2: status $status: $(cat said)"
    timeout -s KILL 60 "$windlass" report r.wndl >report 2>error ||
        fail "$1, seed $2: no report: $(cat error)"
    [ -s report ] || fail "$1, seed $2: an empty report"
    size=$(stat -c %s r.wndl)
    [ "$size" -lt 100000000 ] || fail "$1, seed $2: $size bytes"
}

seed=1
while [ "$seed" -lt "$programs" ]; do
    attack record "$seed"
    "$recdump" r.wndl >dump || fail "the recording cannot be read"
    honest=$(awk '$1 == "process" && /\/honest$/ { print $2 }' dump)
    [ -n "$honest" ] || fail "seed $seed: the program beside is not recorded"
    sampled 200 "of the program beside" "\$3 == $honest"
    attack heap "$((seed + 10))"
    seed=$((seed + 20))
done
