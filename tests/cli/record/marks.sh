#!/bin/sh
# What a program tells by windlass/profile.h is in the recording.
. "$(dirname "$0")/../lib/record_lib.sh"
"$fixtures/marks" >out
[ "$(paste -sd' ' out)" = "active 0 paused 0 active 0 errno kept 1" ] ||
    fail "alone: $(cat out)"
for rate in 1000 10000; do
    record 0 -r $rate -- "$fixtures/marks" >out
    [ "$(paste -sd' ' out)" = "active 1 paused 0 active 1 errno kept 1" ] ||
        fail "recorded: $(cat out)"
    # mark THREAD TIME DURATION KIND TEXT
    awk '$1 == "mark" && $6 == "load" {
            found = $4 > 29e6 && $4 < 5e9 && $5 == "plain" }
        END { exit !found }' dump || fail "the span"
    awk '$1 == "mark" && $5 == "deadline" {
            found = $4 == 16e6 && $6 " " $7 == "frame; late" }
        END { exit !found }' dump || fail "the deadline"
    grep -Eq '^mark .* plain x{200}$' dump || fail "the long text"
    grep -Eq '^mark .* plain ?$' dump || fail "the empty text"
    grep -q '^mark .* plain in the pause$' dump || fail "in the pause"
    grep -q '^mark .* plain handler$' dump || fail "of the handler"
    [ "$(grep -c ' plain again$' dump)" -eq 500 ] || fail "not 500 again"
    worker=$(sed -n 's/^thread \([0-9]*\) .* worker of a lon$/\1/p' dump)
    grep -q "^mark $worker .* plain worked\$" dump || fail "its thread"
    awk '$1 == "thread" { process[$2] = $3 }
        $1 == "mark" && $6 == "child" { child = process[$2] }
        END { exit child != 1 }' dump || fail "the process of a mark"
    # 300 ms of the thread's 430 ms are of the pause.
    awk '$1 == "thread" && $3 == 0 && $7 == "marks" { ms = $6 / 1e6 }
        END { exit !(ms > 90 && ms < 250) }' dump || fail "the pause"
done

# The header is everyone's: any C or C++, pedantic, and nothing if so wished.
include=$(cd "$sources/../../../include" && pwd)
strict="-Wall -Wextra -Wpedantic -Wshadow -Werror -I$include"
cat >all.c <<'EOS'
#include <windlass/profile.h>
int main(void)
{
    wndl_profile_mark("a");
    wndl_profile_mark_span("b", wndl_profile_now(), 1);
    wndl_profile_missed_deadline("c", 2);
    wndl_profile_name_thread("d");
    wndl_profile_pause();
    wndl_profile_resume();
    return wndl_profile_active();
}
EOS
cp all.c all.cc
for language in cc:c99:all.c cc:c11:all.c c++:c++11:all.cc; do
    compiler=${language%%:*}
    source=${language##*:}
    standard=${language#*:}
    have "$compiler" || continue
    for option in -UNONE -DWNDL_PROFILE_DISABLE; do
        "$compiler" -std="${standard%:*}" $strict $option "$source" -o all ||
            fail "$compiler $standard $option"
        ./all || fail "recorded by nobody"
    done
    nm all | grep dlsym && fail "disabled, and not gone"
done
true
