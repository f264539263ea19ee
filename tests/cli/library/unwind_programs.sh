#!/bin/sh
# SPDX-License-Identifier: MIT
# At random instructions of programs as they come, walks give the frames that
# the full interpreter gives: of 10,000 at most one may differ.
#
#     unwind_programs.sh STEPPER THROWS POINTS
#
# POINTS of each of five programs, half of them with lazy and half with eager
# binding of symbols. Each program has more to do than that takes, and is ended.
set -eu
. "$(dirname "$0")/../../lib/have.sh"
stepper=$1
throws=$2
points=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0
missing=0
cat >load.py <<'END'
import json, re, time
text = json.dumps([{"name": str(i), "values": list(range(i % 20))}
                   for i in range(2000)])
while time.process_time() < 60:
    rows = sorted(json.loads(text), key=lambda row: row["name"])
    re.sub(r"(\d+)", lambda match: match.group(1)[::-1], text[:20000])
END
cat >load.sql <<'END'
with recursive c(x) as (select 1 union all select x + 1 from c where x < 90000000)
select count(*), sum(length(hex(x * 7919))) from c group by x % 7 limit 1;
END

# walks NAME COMMAND...
walks() {
    name=$1
    shift
    have "$1" || {
        missing=1
        return 0
    }
    for now in "" 1; do
        : >seen
        timeout 100 env ${now:+LD_BIND_NOW=$now} STEPPER_OUT="$work/seen" \
            STEPPER_POINTS=$((points / 2)) LD_PRELOAD="$stepper" \
            "$@" >/dev/null 2>&1 </dev/null || true
        sed "s/^/$name${now:+, eager}: /" seen
        grep '^points ' seen >>all ||
            echo "$name${now:+, eager}: the stepper told nothing"
    done
    awk -v name="$name" -v points="$points" '
        { seen += $2; differing += $10 }
        END {
            print name ": " seen + 0 " points, " differing + 0 " differing"
            exit !(seen >= points && differing * 10000 <= seen)
        }' all || failed=1
    cat all >>total
    rm all
}

walks libc awk 'BEGIN { for (i = 0; i < 80000000; i++)
    n += length(sprintf("%d %g %s", i, i / 7, "text")) }'
walks libstdc++ "$throws" 60
walks libcrypto openssl speed -seconds 60 -bytes 1024 sha256
walks sqlite3 sqlite3 :memory: ".read load.sql"
walks python3 /usr/bin/python3 load.py
awk '{ seen += $2; differing += $10 }
    END { print "all: " seen " points, " differing " differing" }' total
[ "$failed" -eq 0 ] || exit 1
[ "$missing" -eq 0 ] || skip "no program for some of the comparisons"
