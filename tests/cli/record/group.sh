#!/bin/sh
# A signal reaches the command once, whoever sends it to whom.
. "$(dirname "$0")/../lib/record_lib.sh"
cat >counts.sh <<'S'
trap 'echo got' TERM
trap 'echo hup' HUP
: >ready
[ -z "$1" ] || eval "$1"
i=0
while [ $i -lt 20 ]; do
    sleep 0.1
    i=$((i + 1))
done
exit 5
S

# counted COMMAND...: in a group of its own; what the command got.
counted() {
    rm -f ready
    setsid "$@" >got 2>said || echo $? >status
    sort got | uniq -c | tr -s ' \n' ' '
}
got=$(counted "$windlass" record -o a.wndl sh counts.sh)
[ -z "$got" ] || fail "got $got without a signal"
[ "$(cat status)" -eq 5 ] || fail "exit status $(cat status)"

# From within, to all: it is the program's own business.
got=$(counted "$windlass" record -o b.wndl sh counts.sh 'kill -TERM 0')
[ "$got" = " 1 got " ] || fail "kill 0 from within: '$got'"
# From within, by one that ends at once.
got=$(counted "$windlass" record -o c.wndl sh counts.sh \
    'env kill -TERM -- -$(ps -o pgid= -p $$ | tr -d " ")')
[ "$got" = " 1 got " ] || fail "kill -PGID from within: '$got'"
# From within, to the recorder alone.
got=$(counted "$windlass" record -o d.wndl sh counts.sh 'kill -TERM $PPID')
[ -z "$got" ] || fail "kill PPID from within: '$got'"

# From outside, to all; timeout sends to its child and to the group.
# What it gets itself it sends as when its time is over.
rm -f ready
setsid timeout -k 60 600 "$windlass" record -o e.wndl sh counts.sh \
    >got 2>said &
outside=$!
until_true "it is ready" test -e ready
kill -TERM "$outside"
wait "$outside" || true
[ "$(sort got | uniq -c | tr -s ' \n' ' ')" = " 1 got " ] ||
    fail "timeout: $(cat got)"

# From outside, to the recorder alone, twice with a pause.
rm -f ready
setsid "$windlass" record -o f.wndl sh counts.sh >got 2>said &
recorder=$!
until_true "it is ready" test -e ready
kill -TERM "$recorder"
until_true "it gets the first" grep -q got got
kill -HUP "$recorder"
wait $recorder || true
[ "$(tr '\n' ' ' <got)" = "got hup " ] || fail "from outside: $(cat got)"

# Nobody is left of us.
left() {
    pgrep -f "$windlass record -o [a-f].wndl"
}
none_left() {
    ! left
}
until_true "nobody is left" none_left
