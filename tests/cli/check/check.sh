#!/bin/sh
# SPDX-License-Identifier: MIT
# check.sh WINDLASS: planted errors are listed with what is known of them;
# baselines, shares, shards, exit codes; and programs and runs of bad kinds.
. "$(dirname "$0")/../lib/check_lib.sh"
need valgrind g++ python3
cd "$work"

g++ -g -gdwarf-4 -O0 -pthread "$here/bugs.cc" -o bugs
g++ -g -gdwarf-4 -O0 -pthread -DANOTHER "$here/bugs.cc" -o more

# Each error with its cause; the second run finds where values come from.
run 3 -o base.json -o page.html -- ./bugs all
said '^    InvalidWrite  overrun\(\) \(bugs\.cc:[0-9]+\)  1 time$'
said '^    MismatchedFree  mismatched\(\) '
said '^      Allocated by mismatched\(\) \(bugs\.cc:[0-9]+\) of .*/bugs,$'
said '^      freed by mismatched\(\) \(bugs\.cc:[0-9]+\) of .*/bugs$'
said '^    UninitCondition  Widget::area\(\) '
said '^      Perhaps: a member that the constructor does not set'
said '^    UninitCondition  out_parameter\(bool\) '
said '^      Perhaps: a variable of this function .* out-parameter'
said '^    Leak_DefinitelyLost  leak\(\) .*, 33 bytes in 1 blocks$'
said '^memcheck: 5 distinct errors; 1 process, 1 run'
python3 - <<'END' || fail "the JSON is not right"
import html.parser, json, re
d = json.load(open("base.json"))
assert d["version"] == 1 and d["tool"] == "memcheck" and d["runs"] == 1
assert [e["kind"] for e in d["errors"]] == ["InvalidWrite", "MismatchedFree",
    "UninitCondition", "UninitCondition", "Leak_DefinitelyLost"], d["errors"]
assert all(e["new"] and e["times"] == 1 and e["stacks"] for e in d["errors"])
assert d["errors"][1]["freed_by"] == "mismatched() (bugs.cc)"
assert sum(k["distinct"] for k in d["kinds"]) == 5
assert d["processes"][0]["finished"] and not d["gone"]
page = open("page.html").read()
assert "Widget::area()" in page and page.count("<details>") == 5
assert page.count("<details>") == page.count("</details>")
END

# A baseline: nothing is new, although every line has moved; then one more
# error is, and others are gone.
sed 's/^static volatile int sink;/\n\n&/' "$here/bugs.cc" >moved.cc
g++ -g -gdwarf-4 -O0 -pthread moved.cc -o bugs
run 0 --baseline base.json -- ./bugs all
said '^memcheck: 5 distinct errors, 0 new, 0 gone; '
run 3 --baseline base.json --history counts -- ./more all
said '^NEW InvalidRead  another\(\) '
said '^memcheck: 6 distinct errors, 1 new, 0 gone; '
run 0 --baseline base.json --history counts -- ./bugs o
said '^    Leak_DefinitelyLost  leak\(\) \(bugs\.cc\)$'
said ' 0 new, 4 gone; '
said '^[0-9T:-]+Z memcheck distinct=6 new=1 .*InvalidRead=1'
said '^[0-9T:-]+Z memcheck distinct=1 new=0 InvalidWrite=1$'
head -c 100 base.json >cut.json
run 1 --baseline cut.json -- ./bugs o
said 'cut\.json'

# Races in several runs, with the share that saw them; lock order apart.
run 3 helgrind --runs 2 -- ./bugs r l
said '^    Race  race\(\) .*, in 2 of 2 runs$'
said '^Order of locks \(1\):$'
said '^    LockOrder  order\(\) '
run 3 drd -- ./bugs r
said '^    ConflictingAccess  '

# Shards, a test runner's children, the command's own status.
run 3 --shards 2 -- ./bugs '{shard}'
said '^    InvalidWrite  overrun\(\) .*  1 time$'
said '^    Leak_DefinitelyLost  leak\(\) .*  1 time'
said '^memcheck: 2 distinct errors; 2 processes, 1 run'
run 3 --wrap 'bug*' -- sh -c './bugs o; ./more a; exit 0'
said '^memcheck: 1 distinct error; 1 process, 1 run'
run 7 -- ./bugs x7
said '^memcheck: 0 distinct errors; '

# What is found is kept of a command that hangs, or is killed.
status=0
"$windlass" check --timeout 1 -- ./bugs stay >out 2>err || status=$?
[ "$status" -eq 143 ] || fail "status $status after the time limit"
said '^note: the command ran for more than 1 s'
for number in TERM KILL; do
    rm -f out
    "$windlass" check -- ./bugs o stay >out 2>err &
    waited=0
    until grep -qs '^stays' out; do
        [ "$waited" -lt 600 ] || fail "it does not run"
        waited=$((waited + 1))
        sleep 0.1
    done
    # The first goes to windlass, the second to the program.
    case $number in
    TERM) kill -TERM $! ;;
    KILL) kill -KILL "$(sed -n 's/^stays //p' out)" ;;
    esac
    status=0
    wait $! || status=$?
    [ "$status" -eq 3 ] || fail "status $status after SIG$number"
    said '^    InvalidWrite  overrun\(\) '
done
said '^note: \./bugs o stay did not end by itself'

# Programs that Valgrind does not run, or not well.
cp bugs other_rights
chmod u+s other_rights
run 125 -- ./other_rights o
said 'set-user-ID.*Valgrind refuses it'
run 125 -- ./nowhere
said "cannot find the program './nowhere'"
if g++ -static -g -O0 -pthread "$here/bugs.cc" -o static 2>cc.err; then
    "$windlass" check -q -o static.json -- ./static x0 >out 2>err || true
    grep -q 'statically linked' static.json || fail "a static program"
fi
if have clang && clang -g -O0 -x c - -o dwarf5 <<'END'
int main(void) { return 0; }
END
then
    run 0 -- ./dwarf5
    said '^note: .*DWARF 5 in forms that Valgrind 3.19 cannot read'
fi
mkdir empty
status=0
PATH=$work/empty "$windlass" check -- ./bugs o >out 2>err || status=$?
[ "$status" -eq 125 ] || fail "status $status without Valgrind"
said 'cannot find valgrind'
[ -z "$(ls -d windlass-check-* 2>/dev/null)" ] || fail "a folder is left"
exit 0
