#!/bin/sh
# Code of a file that was mapped without the loader has its names all the same.
. "$(dirname "$0")/../lib/record_lib.sh"
record 0 -- "$fixtures/strays"
"$windlass" report --no-pager -n 1000 r.wndl >report
grep -Eq '^ *(100|[89][0-9])\.[0-9]% .* stray_burn .*\[strays\]$' report ||
    fail "not most of the time is in stray_burn: $(head -30 report)"
