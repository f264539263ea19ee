#!/bin/sh
# words.sh WINDLASS: what is answered to words that are no command or option,
# and to those by which programs are asked for help.
set -eu
windlass=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# says STATUS TEXT ARGUMENT...
says() {
    wanted=$1
    text=$2
    shift 2
    status=0
    "$windlass" "$@" >out 2>&1 || status=$?
    if [ "$status" -ne "$wanted" ] || ! grep -qF -- "$text" out; then
        echo "words: windlass $*: status $status, not $wanted, or without: $text"
        cat out
        failed=1
    fi
}

says 2 "did you mean 'record'?" recrod
says 2 "did you mean 'report'?" reprot
says 2 "did you mean 'report'?" Report
says 2 "did you mean 'unwind-info'?" unwind_info
says 2 "did you mean 'dump-syms'?" dump_syms
says 2 "did you mean '--version'?" --verson
says 2 "unknown command 'zebra'; see 'windlass --help'" zebra
touch zebra
says 2 "did you mean 'windlass report zebra'?" zebra
says 2 "did you mean 'windlass record /bin/true'?" /bin/true

# Every command and every option of it is found when two letters are swapped.
for command in $("$windlass" --commands); do
    swapped=$(echo "$command" | sed 's/\(.\)\(.\)$/\2\1/')
    [ "$swapped" = "$command" ] ||
        says 2 "did you mean '" "$swapped"
    "$windlass" "$command" --help | sed -En 's/^  (-., |    )(--[a-z-]+).*/\2/p' |
        sort -u >options
    while read -r option; do
        swapped=$(echo "$option" | sed 's/\(.\)\(.\)$/\2\1/')
        grep -qxF -- "$swapped" options || [ "$swapped" = "$option" ] ||
            says 2 "did you mean '--" "$command" "$swapped"
    done <options
done

# The habits of other tools' users.
for word in stat disassemble script flamegraph attach trace load import run \
    start massif; do
    says 2 "is not a command; the nearest is 'windlass " $word
done
says 2 "-F: perf's -F is --rate here: did you mean '-r HZ'?" record -F 99 ls
says 2 "-g: every sample has its whole stack" record -g ls
says 2 "--call-graph: every sample" record --call-graph dwarf ls
says 2 "--pid: windlass cannot record the heap of a process that runs" heap --pid 1
says 2 "-i: did you mean 'windlass report FILE'?" report -i perf.data
says 2 "--by takes one of fn|line|module|thread|file|address|tag, not 'lines'; did you mean 'line'?" \
    report --by lines zebra

# Help and version.
for word in help --help -h; do
    says 0 'Usage: windlass COMMAND' $word
    says 0 'Usage: windlass record ' $word record
    says 2 "did you mean 'record'?" $word recrod
done
for word in version --version -V; do
    says 0 "windlass $("$windlass" --version | sed -n '1s/windlass //p')" $word
done
"$windlass" --help |
    sed -n '/^Commands: /,/^$/s/^  \([a-z-]*  *\).*/\1/p' |
    awk '{ print length($0) }' | sort -u >widths
if [ "$(wc -l <widths)" -ne 1 ]; then
    echo "words: summaries begin in several columns: $(cat widths)"
    failed=1
fi

# Sizes in either case; the least is said.
says 2 'takes at least 256K' record --buffer 4k ls
says 2 'takes a size from 1 to 1024G such as 64M' record --buffer 0 ls
exit "$failed"
