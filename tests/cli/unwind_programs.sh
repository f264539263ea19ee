#!/bin/sh
# SPDX-License-Identifier: MIT
# At random instructions of programs as they come, walks give the frames that
# the full interpreter gives: of 10,000 at most one may differ.
#
#     unwind_programs.sh STEPPER THROWS
set -eu
stepper=$1
throws=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
cat >load.py <<'END'
import json, re, time
text = json.dumps([{"name": str(i), "values": list(range(i % 20))}
                   for i in range(2000)])
while time.process_time() < 1:
    rows = sorted(json.loads(text), key=lambda row: row["name"])
    re.sub(r"(\d+)", lambda match: match.group(1)[::-1], text[:20000])
END
cat >load.sql <<'END'
with recursive c(x) as (select 1 union all select x + 1 from c where x < 900000)
select count(*), sum(length(hex(x * 7919))) from c group by x % 7 limit 1;
END

# walks NAME COMMAND...: with lazy and with eager binding of symbols.
walks() {
    name=$1
    shift
    command -v "$1" >/dev/null || return 0
    for now in "" 1; do
        rm -f seen
        env ${now:+LD_BIND_NOW=$now} STEPPER_OUT="$work/seen" \
            LD_PRELOAD="$stepper" "$@" >/dev/null 2>&1 </dev/null || true
        if ! awk -v name="$name${now:+, eager}" '
            $1 != "points" { print name ": " $0; next }
            { print name ": " $0; good = $2 >= 500 && $10 * 10000 <= $2 }
            END { exit !good }' seen; then
            echo "FAIL: $name${now:+, eager}"
            failed=1
        fi
    done
}

walks libc awk 'BEGIN { for (i = 0; i < 800000; i++)
    n += length(sprintf("%d %g %s", i, i / 7, "text")) }'
walks libstdc++ "$throws" 1
walks libcrypto openssl speed -seconds 1 -bytes 1024 sha256
walks sqlite3 sqlite3 :memory: ".read load.sql"
walks python3 /usr/bin/python3 load.py
exit "$failed"
