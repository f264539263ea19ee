#!/bin/sh
# new.sh WINDLASS RECDUMP FIXTURES HEAPDUMP: C++'s operators new
# and delete, of every form, are counted once each whoever defines them: the
# C++ library, an allocator that is preloaded or linked, the executable.
. "$(dirname "$0")/../lib/record_lib.sh"
heapdump=$(realpath "$4")
need c++

cp "$sources/../heap/news.cpp" .
cat >want <<'END'
1001 10 5
1003 20 10
1005 30 20
1007 40 30
1009 90 80
1011 100 90
1013 10 9
1015 20 16
1120 70 60
1152 80 70
1920 50 40
3840 60 50
END
c++ -std=c++17 -O1 -o news news.cpp -pthread
c++ -std=c++17 -O1 -no-pie -o fixed news.cpp -pthread
c++ -std=c++17 -O1 -Wl,-z,now -o now news.cpp -pthread

# counted WHAT COMMAND...: what is recorded is what is wanted; only of one size
# where the loader allocates, too.
only=
counted() {
    what=$1
    shift
    rm -f r.wndl dump
    "$windlass" heap -o r.wndl -- "$@" >out 2>said ||
        fail "$what: exit status $?: $(cat said)"
    [ "$(cat out)" = "done" ] || fail "$what: $(cat out)"
    "$heapdump" r.wndl >dump || fail "$what: the recording cannot be read"
    awk -v only="$only" '$1 == "site" && $9 > 1000 && $9 < 4000 &&
            $9 % 512 != 0 && (only == "" || $9 == only) {
            a[$9] += $3; f[$9] += $4 }
        END { for (size in a) print size, a[size], f[size] }' dump |
        sort -n >have
    cmp -s want have || fail "$what: $(diff want have)"
    ! grep -q '^wrong' dump || fail "$what: $(grep '^wrong' dump)"
}

for program in news fixed now; do
    counted "the C++ library, $program" ./$program throw
done

tried=
for name in jemalloc.so.2 tcmalloc_minimal.so.4 mimalloc.so.2; do
    file=$(cc -print-file-name=lib$name)
    have "$file" || continue
    tried="$tried $name"
    throw=throw
    [ $name != mimalloc.so.2 ] || throw=
    for program in news fixed now; do
        LD_PRELOAD=$file counted "$name, $program" ./$program $throw
    done
    c++ -std=c++17 -O1 -Wl,--no-as-needed -o linked news.cpp "$file" -pthread
    counted "$name, linked" ./linked $throw
done

# One whose new gives a part of what its malloc gave, and which ends the program
# that asks it about anything else than it gave.
cp "$sources/../heap/padded.cpp" .
c++ -std=c++17 -O1 -shared -fPIC -o libpadded.so padded.cpp
mv want unpadded
awk '{ print $1 + ($1 == 1013 ? 0 : $1 > 1900 ? 96 : $1 > 1100 ? 64 : 16),
        $2, $3 }' unpadded | sort -n >want
for program in news fixed now; do
    LD_PRELOAD=$work/libpadded.so counted "padded, $program" ./$program throw
done
c++ -std=c++17 -O1 -Wl,--no-as-needed -o linked news.cpp libpadded.so \
    -Wl,-rpath,"$work" -pthread
counted "padded, linked" ./linked throw

# Plugins, which are relocated while the loader allocates; what the C++ library
# makes in its own code, bound at the first call.
cp "$sources/../heap/plugin.cpp" .
cp "$sources/../heap/host.c" .
c++ -O1 -shared -fPIC -o plugin.so plugin.cpp
cc -O1 -o host host.c
c++ -O1 -Wl,--no-as-needed -o host_cpp -x c++ host.c
echo "2001 150 150" >want
only=2001
for name in "" $tried; do
    for program in host host_cpp; do
        LD_PRELOAD=${name:+$(cc -print-file-name=lib$name)} \
            counted "${name:-no allocator}, a plugin of $program" ./$program
    done
done

# Blocks that the wrong function frees, once and often, with both stacks and both
# modules. Where code is not read, none are told.
cp "$sources/../heap/mixed.cpp" .
c++ -O1 -w -shared -fPIC -DLIBRARY -o libtakes.so mixed.cpp
# mixed PROGRAM WHAT TAKER GIVER FUNCTION MODULE: numbers of the format's page;
# the function that took the block, and the module that called its allocator.
mixed() {
    rm -f r.wndl
    "$windlass" heap -q -o r.wndl -- ./"$1" "$2" 5 >out 2>said ||
        fail "$1 $2: $(cat said)"
    "$heapdump" r.wndl >dump || fail "$1 $2: the recording cannot be read"
    told=$(sed -n 's/^wrong [0-9]* \([0-9]* [0-9]*\) .* taken \([0-9] [0-9]\) .*/\1 \2/p' dump)
    [ "$told" = "${3:+3 5 $3 $4}" ] ||
        fail "$1 $2: not '${3:+3 5 $3 $4}' but '$told': $(grep '^wrong' dump)"
    [ -n "$told" ] || return 0
    "$windlass" report --no-pager r.wndl | sed -n '/^Wrong frees/,/^$/p' >text
    sed -n '/ freed by /,/ taken by /p' text | grep -q '#01: give_to_' &&
        grep -q ' freed by .*, from .*/'"$1"', at$' text &&
        grep -q " taken by .*, from .*/$6, at\$" text &&
        sed -n '/ taken by /,$p' text | grep -q "#0[1-3]: $5 " ||
        fail "$1 $2: $(cat text)"
}
if [ "$(uname -m)" = x86_64 ]; then
    for flags in "-Wl,-z,lazy" "-Wl,-z,now -fno-plt" "-fcf-protection -no-pie"; do
        c++ -O1 -w $flags -o mixes mixed.cpp -L. -ltakes -Wl,-rpath,"$work"
        mixed mixes right
        mixed mixes new-free 4 1 take_by_new libtakes.so
        mixed mixes malloc-delete 1 4 take_by_malloc libtakes.so
    done
    mixed mixes array-free 4 1 take_by_array libtakes.so
    mixed mixes text-array 1 4 take_text libc.so.6
fi

only=

# An executable with both of its own: what a library calls is led to us. One
# with operators of its own alone keeps them.
cat >library.cpp <<'C'
void *library_make() { return new char[1003]; }
void library_free(void *block) { delete[] static_cast<char *>(block); }
C
cp "$sources/../heap/own.cpp" .
c++ -O1 -shared -fPIC -o liblibrary.so library.cpp
echo "1003 30 20" >want
for relocated in lazy now; do
    c++ -O1 -rdynamic -DWITH_MALLOC -Wl,-z,$relocated -o own own.cpp -L. \
        -llibrary -Wl,-rpath,"$work"
    counted "the executable's, $relocated" ./own
done
c++ -O1 -rdynamic -o own own.cpp -L. -llibrary -Wl,-rpath,"$work"
: >want
counted "operators alone" ./own
for name in $tried; do
    LD_PRELOAD=$(cc -print-file-name=lib$name) counted "$name beside" ./own
done
[ -n "$tried" ] || skip "no other allocator"
