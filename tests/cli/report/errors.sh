#!/bin/sh
# errors.sh WINDLASS MAKE_RECORDING: what is refused, how it is said,
# and with which exit status.
set -eu
export LC_ALL=C
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
here=$(realpath "$(dirname "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# refuses STATUS PATTERN ARGUMENT...: nothing on stdout, PATTERN on stderr.
refuses() {
    wanted=$1
    pattern=$2
    shift 2
    status=0
    "$windlass" "$@" >out 2>err || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -Eq "$pattern" err ||
        [ -s out ]; then
        echo "report_errors: windlass $*: status $status, not $wanted, or"
        echo "report_errors: stderr without: $pattern"
        cat err
        failed=1
    fi
}

printf 'meta 1 1 1 h / a\nprocess 0 1 /bin/a a\n' |
    "$make_recording" good.wndl
printf 'hello, world\n' >text.wndl
: >empty.wndl
head -c 20 good.wndl >short.wndl
# A header of major version 2, one with a feature bit, and a damaged one.
printf '\211WNDL\r\n\032\002\000\000\000\000\000\000\000\000\000\000\000\010\271\067\251' \
    >damaged.wndl

refuses 1 'error: cannot open absent.wndl: No such file' report absent.wndl
refuses 1 'error: text.wndl: .*not a windlass recording' report text.wndl
refuses 1 'error: empty.wndl: ' report empty.wndl
refuses 1 'error: short.wndl: header\+0x14: ' report short.wndl
refuses 1 'error: damaged.wndl: header\+0x14: .*damaged' report damaged.wndl
refuses 1 'error: .: ' report .
refuses 1 'error: text.wndl: ' export -f folded text.wndl
mkdir none
cd none
for command in report view export merge diff; do
    [ $command = view ] && "$windlass" --version | grep -q 'viewer: no' && continue
    refuses 2 'no recording of yours is in this folder; make' $command
done
cd ..
refuses 2 'LATER is missing' diff good.wndl
refuses 2 'ACTION is missing' ctl 1
refuses 2 'one of fn.line.module.thread' report --by color good.wndl
refuses 2 'one of folded' export -f gif good.wndl
refuses 2 'one of cpu.blocked.wall' report --time user good.wndl
refuses 2 'error: --by is for the table' report --tree --by line good.wndl
refuses 2 'error: -n is for the table' report --tree -n 3 good.wndl
refuses 2 'error: --by is for the table' report --marks --by thread good.wndl
refuses 2 'error: a tree and --marks' report --tree --marks good.wndl
refuses 2 'process 4: no such process in the recording; it has [0-9]*: [0-9]' \
    report --process 4 good.wndl
for option in '--blocks peak' '--snapshot 1' '-f 3' '-s req' -a; do
    # shellcheck disable=SC2086 # two words
    refuses 2 'are for heaps; this report is on samples$' \
        report $option good.wndl
    # shellcheck disable=SC2086
    refuses 2 'are for heaps; this report is on samples$' \
        report --json $option good.wndl
done
for option in '--blocks peak' '--snapshot 1'; do
    # shellcheck disable=SC2086
    refuses 2 'are for heaps, not for samples; see' export $option good.wndl
    # shellcheck disable=SC2086
    refuses 2 'are for heaps, not for samples; see' \
        export -f firefox $option good.wndl
done
"$make_recording" both.wndl <"$here/heap_golden/mixed"
refuses 2 'on samples; --heap shows' report --blocks peak both.wndl
refuses 2 'not for samples; --value bytes' export --blocks peak both.wndl
for option in '--thread x' '--by thread'; do
    # shellcheck disable=SC2086
    refuses 2 'belong to a process, not to a thread' \
        report --heap $option both.wndl
done
for option in '--from 1' '--to 1' '--around x' '--before x'; do
    # shellcheck disable=SC2086
    refuses 2 'which --snapshot N chooses' report --heap $option both.wndl
done
for option in '-s req' '-f 3'; do
    # shellcheck disable=SC2086
    refuses 2 'are for the records of a heap' \
        report --heap --by fn $option both.wndl
done
for option in '--thread x' '--from 1' '--invert' '--focus f'; do
    # shellcheck disable=SC2086
    refuses 2 'the other choices are for samples' \
        export --value bytes $option both.wndl
done
# Also what would have been taken anyway.
refuses 2 'this report is on a heap' report --heap --time cpu both.wndl
refuses 2 'not for a heap' export --value bytes --time cpu both.wndl
refuses 2 'error: --by is for the table' report --tree --by fn good.wndl
# --debuginfod without a server is said, once.
for command in report export; do
    DEBUGINFOD_URLS='' "$windlass" $command --debuginfod both.wndl >out 2>err
    [ "$(grep -c 'variable DEBUGINFOD_URLS is not set' err)" = 1 ] || {
        echo "report_errors: $command --debuginfod: $(cat err)"
        failed=1
    }
done
for accepted in 'report --heap -s req' 'export --value bytes' \
    'export -f firefox'; do
    # shellcheck disable=SC2086
    "$windlass" $accepted --blocks peak both.wndl >out 2>err || {
        echo "report_errors: $accepted of both: $(cat err)"
        failed=1
    }
done
refuses 1 'error: cannot write no/such/folder: No such' \
    export -o no/such/folder good.wndl
[ -e no ] && failed=1
cp good.wndl before.wndl
refuses 1 'cannot write good.wndl: it is a recording' export -o good.wndl good.wndl
cmp before.wndl good.wndl || failed=1

# Only a file that could not be written whole goes away: no pipe, no device
# and no link, and a pipe will do for a file.
printf 'a;b 1\nc 2\n' >stacks
mkfifo fifo
ln -s fifo link
for to in fifo link; do
    for command in 'export good.wndl' 'merge stacks'; do
        # shellcheck disable=SC2086 # two words
        "$windlass" $command >want 2>err
        timeout 60 cat fifo >got &
        "$windlass" $command -o $to 2>err || {
            echo "report_errors: $command to a $to: $(cat err)"
            failed=1
            kill $! 2>/dev/null || true
        }
        wait $! || true
        cmp want got || failed=1
    done
done
if [ ! -p fifo ] || [ ! -h link ]; then
    echo "report_errors: a pipe or a link was removed"
    failed=1
fi
# A device that is always full, of our own.
if [ "$(id -u)" = 0 ] && mknod full c 1 7 2>/dev/null &&
    dd if=/dev/zero of=full bs=1 count=1 2>&1 | grep -q 'No space'; then
    refuses 1 'error: cannot write full: No space' \
        merge -o full stacks
    [ -c full ] || failed=1
fi

# What has but some lines that end in numbers is no profile.
printf '# Title\n\nThis is text 12\nof more lines\n' >text
printf 'a;b 1\n\0\nc;d 2\n' >zeros
refuses 1 'error: text: unknown profile format' merge text
refuses 1 'error: zeros: unknown profile format' merge zeros

# A recording or what is read is not written over.
cp "$windlass" program
refuses 1 'cannot write good.wndl: it is a recording' dump-syms -o good.wndl program
cmp before.wndl good.wndl || failed=1
ln -s program same
refuses 1 'cannot write same: it is the input' dump-syms -o same program
refuses 1 'cannot write program: it is the input' dump-syms -o program program
cmp "$windlass" program || failed=1

# A pipe will do for a file.
"$windlass" report good.wndl >of_file
"$windlass" report - <good.wndl >of_stdin
diff of_file of_stdin || failed=1
status=0
"$windlass" report - <short.wndl >out 2>err || status=$?
if [ $status -ne 1 ] || ! grep -q 'error: standard input: ' err; then
    echo "report_errors: damaged standard input: status $status"
    failed=1
fi

# A full disk is an error, not a short report.
if [ -w /dev/full ]; then
    for command in report export; do
        status=0
        printf 'meta 1 1 1 h / a\nprocess 0 1 /bin/a a\nthread 0 1 a\n%s\n' \
            'sample 0 9 0 -:99!' | "$make_recording" some.wndl
        "$windlass" $command some.wndl >/dev/full 2>err || status=$?
        if [ "$status" -ne 1 ] || ! grep -q error err; then
            echo "report_errors: $command on a full disk: status $status"
            failed=1
        fi
    done
    for command in --help 'unwind-info /bin/sh' 'sym -e /bin/sh --ids'; do
        status=0
        # shellcheck disable=SC2086 # several words
        "$windlass" $command >/dev/full 2>err || status=$?
        if [ "$status" -ne 1 ] || ! grep -q error err; then
            echo "report_errors: $command on a full disk: status $status"
            failed=1
        fi
    done
fi
exit $failed
