# SPDX-License-Identifier: MIT
# What the scripts of memlog share: a folder of their own, and the command.
# $1 is windlass, $2 the folder of the public headers.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
windlass=$(realpath "$1")
include=$(realpath "$2")
need cc
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
mkdir -m 700 run state
XDG_RUNTIME_DIR=$work/run
XDG_STATE_HOME=$work/state
export XDG_RUNTIME_DIR XDG_STATE_HOME LC_ALL=C
unset WINDLASS_MEMLOG WINDLASS_MEMLOG_ABOVE LD_PRELOAD || true

fail() {
    echo "$(basename "$0"): $1"
    head -n 40 out err 2>/dev/null || true
    exit 1
}
memlog() {
    "$windlass" memlog "$@" >out 2>err || fail "memlog $*: status $?"
}
# until_shown PATTERN ARG...: until `memlog show ARG...` has a line of it.
until_shown() {
    pattern=$1
    shift
    tries=0
    until "$windlass" memlog show "$@" >out 2>err &&
        grep -q -e "$pattern" out; do
        tries=$((tries + 1))
        [ "$tries" -lt 600 ] || fail "never shown: $pattern"
        sleep 0.1
    done
}
