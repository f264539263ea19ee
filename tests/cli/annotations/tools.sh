#!/bin/sh
# SPDX-License-Identifier: MIT
# tools.sh INCLUDE: annotated synchronisation is clean under Helgrind, DRD and
# ThreadSanitizer; without one of its annotations, or with a planted race, each
# of them reports it. Pools, under Memcheck too.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
. "$here/../../lib/have.sh"
include=$(realpath "$1")
need gcc valgrind
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fail() {
    echo "annotations: $1"
    head -n 40 out 2>/dev/null || true
    exit 1
}
# Each race is reported, not only the first of an address.
export TSAN_OPTIONS=suppress_equal_addresses=0:suppress_equal_stacks=0
flags="-O1 -g -gdwarf-4 -I$include -pthread"
for program in sync pool; do
    gcc $flags "$here/$program.c" -o $program || fail "$program.c"
    gcc $flags -fsanitize=thread -Wno-tsan "$here/$program.c" \
        -o ${program}_tsan || fail "$program.c"
done

# says TOOL PROGRAM ARG...: whether the tool reports anything.
says() {
    tool=$1
    program=$2
    shift 2
    case $tool in
    tsan) timeout 60 ./${program}_tsan "$@" >out 2>&1 || true ;;
    memcheck)
        timeout 60 valgrind -q --leak-check=full ./$program "$@" >out 2>&1 || true
        ;;
    *) timeout 60 valgrind -q --tool="$tool" ./$program "$@" >out 2>&1 || true ;;
    esac
    [ -s out ]
}
clean() {
    ! says "$@" || fail "reported: $*"
}
reported() {
    says "$@" || fail "not reported: $*"
}

# Each part's name, and the function in which its races are.
where_spin=use_spin
where_ref=use_ref
where_rwlock=use_rwlock
where_queue='produce|consume'
# finds TOOL OMITTED PART...: the tool reports a race in each of the parts.
finds() {
    tool=$1
    omitted=$2
    shift 2
    reported "$tool" sync "$omitted" "$@"
    for part; do
        eval "where=\$where_$part"
        grep -Eq "$where" out || fail "$tool reports no race of $part: $omitted"
    done
}

./sync 0 spin ref rwlock queue || fail "status $? of sync"
for tool in helgrind drd tsan; do
    clean $tool sync 0 spin ref rwlock queue
    finds $tool planted spin ref rwlock queue
    finds $tool 2 spin ref rwlock queue
    finds $tool 4 rwlock queue
    finds $tool 5 queue
    # DRD gives up after such an error.
    finds $tool 3 spin
    finds $tool 3 queue rwlock
    finds $tool 5 rwlock
done
# What ThreadSanitizer sees in the operation itself: its order, and that a word
# is atomic, which DRD knows of a lock, too.
finds helgrind 1 ref spin rwlock queue
finds drd 1 ref queue

for error in after over leak unset; do
    reported memcheck pool $error
done
clean memcheck pool clean
for tool in helgrind drd tsan; do
    clean $tool pool handed
    reported $tool pool unordered
done
exit 0
