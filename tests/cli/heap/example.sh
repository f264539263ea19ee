#!/bin/sh
# SPDX-License-Identifier: MIT
# example.sh WINDLASS: the example of dark matter in SQLite, from its sources to
# what is unclassified.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
here=$(cd "$(dirname "$0")" && pwd)
need cc make tclsh apt-get
DARK_MATTER_WORK=$(mktemp -d)
trap 'rm -rf "$DARK_MATTER_WORK"' EXIT
export DARK_MATTER_WORK LC_ALL=C
status=0
"$here/../../../examples/dark-matter/run" "$1" sqlite \
    >"$DARK_MATTER_WORK/said" 2>&1 || status=$?
[ $status -eq 0 ] || grep '^skipped' "$DARK_MATTER_WORK/said" ||
    tail -n 60 "$DARK_MATTER_WORK/said"
exit $status
