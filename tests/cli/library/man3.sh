#!/bin/sh
# SPDX-License-Identifier: MIT
# man3.sh PAGES SYMBOL_MAP: every function of the library has a man page that
# says what it takes, and man has nothing to say about any of them.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
pages=$1
map=$2
need man
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
names=$(sed -n '/global:/,/local:/s/^ *\(wndl_[a-z0-9_]*\);.*/\1/p' "$map")
for name in $names windlass-symbolize; do
    if [ ! -f "$pages/$name.3" ]; then
        echo "FAIL no page for $name"
        failed=1
        continue
    fi
    MANWIDTH=78 man --warnings=w -l "$pages/$name.3" >"$work/page" \
        2>"$work/warnings"
    if [ -s "$work/warnings" ] || ! grep -q "^ *$name - [^ ]" "$work/page" ||
        ! grep -q "#include <windlass/" "$work/page"; then
        echo "FAIL $name: $(head -n 3 "$work/warnings")"
        failed=1
    fi
    case $name in
    wndl_*) grep -q "[ *]$name(.*" "$work/page" || failed=1 ;;
    esac
done
exit $failed
