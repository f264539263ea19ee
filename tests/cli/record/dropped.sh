#!/bin/sh
# What root starts is recorded after it has become another user, too, and with
# another root directory.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(id -u)" -eq 0 ] || skip "not root"
mkdir empty
chmod 755 .
cd empty
"$fixtures/dropped" || [ $? -eq 7 ] || skip "root may not become another user"
record 7 -- "$fixtures/dropped"
[ "$(awk '$1 == "process" && $7 >= 100' dump | wc -l)" -eq 2 ] ||
    fail "not both children were recorded: $(cat said)"
grep -q 'could not be recorded' said && fail "$(cat said)"
true
