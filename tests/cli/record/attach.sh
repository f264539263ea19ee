#!/bin/sh
# attach.sh: unwind tables that are attached to modules by
# --unwind-table: of programs and libraries without a build-id, loaded at the
# start or later, in children with an environment of their own; what does not fit
# is refused by name or told of, and does no harm.
. "$(dirname "$0")/../lib/record_lib.sh"
[ "$(uname -m)" = x86_64 ] || skip "not x86-64"
need objcopy cc

cp "$sources/attach_plugin.c" plugin.c
cp "$sources/attach_program.c" program.c
flags="-O1 -fomit-frame-pointer -Wl,--build-id=none"
mkdir whole bare other
cc $flags -fPIC -shared -o whole/plugin.so plugin.c ||
    skip "cc makes no shared library"
cc $flags -fPIC -shared -O2 -o other/plugin.so plugin.c
cc $flags -o whole/program program.c -ldl
for name in plugin.so program; do
    objcopy --strip-all --remove-section=.eh_frame \
        --remove-section=.eh_frame_hdr whole/$name bare/$name
    "$windlass" unwind-table build whole/$name -o $name.wut 2>said ||
        fail "no table of $name: $(cat said)"
    grep -q 'attach it with .windlass record --unwind-table' said || fail "not told: $(cat said)"
done
"$windlass" unwind-table verify whole/plugin.so plugin.so.wut >/dev/null ||
    fail "the table is wrong"
"$windlass" unwind-table show plugin.so.wut >said
grep -q 'no build-id' said || fail "show: $(cat said)"

# usual_stacks: those with a fifth of the samples and more, in ./stacks; by the
# names of what was not stripped; what burn() calls counts for burn().
usual_stacks() {
    mkdir kept
    mv bare/* kept
    cp whole/* bare
    "$windlass" export -f folded -o folded.txt r.wndl 2>/dev/null
    mv kept/* bare
    rmdir kept
    awk '{ weight = $NF; all += weight; sub(/ [0-9]+$/, "")
            sub(/;burn;.*/, ";burn"); of[$0] += weight }
        END { for (text in of) if (of[text] * 5 > all) print text }' \
        folded.txt | sort -u >stacks
}

cp whole/* bare
record 0 -- bare/program "$work/bare/plugin.so"
complete_above 99.9
usual_stacks
grep -q ';main;plugin;deep;deep;.*;burn$' stacks ||
    fail "not even as a whole: $(cat folded.txt)"
mv stacks expected
for name in plugin.so program; do
    objcopy --strip-all --remove-section=.eh_frame \
        --remove-section=.eh_frame_hdr whole/$name bare/$name
done

# By name and by path, through a link too; of what is loaded again and again.
ln -s bare/plugin.so link.so
both="--unwind-table program=program.wut --unwind-table plugin.so=plugin.so.wut"
for way in "$both" "--unwind-table ./bare/program=program.wut \
    --unwind-table ./link.so=$work/plugin.so.wut"; do
    for engine in auto timer; do
        record 0 --engine $engine $way -- bare/program "$work/bare/plugin.so"
        complete_above 99.9
        usual_stacks
        cmp -s expected stacks || fail "$way: $(cat expected stacks)"
        grep -q warning said && fail "$way: $(cat said)"
    done
done
record 0 $both -- bare/program clean "$work/bare/plugin.so"
complete_above 99.9
usual_stacks
cmp -s expected stacks || fail "without an environment: $(cat expected stacks)"

# The first that fits of two for one name.
record 0 --unwind-table plugin.so=program.wut $both -- \
    bare/program "$work/bare/plugin.so"
record 0 --unwind-table program=program.wut \
    --unwind-table "$work/other/plugin.so=program.wut" \
    --unwind-table "$work/bare/plugin.so=plugin.so.wut" -- \
    bare/program "$work/bare/plugin.so"
usual_stacks
cmp -s expected stacks || fail "by another's path: $(cat expected stacks)"
grep -q 'program.wut was not used: no stack reached .*/other/plugin.so' said ||
    fail "a module that was not loaded: $(cat said)"

# Cut short by the program while it is used.
cp plugin.so.wut used.wut
record 0 --unwind-table program=program.wut --unwind-table plugin.so=used.wut \
    -- bare/program "$work/bare/plugin.so" "$work/used.wut"
complete_above 99.9

# --- refused before the program runs

refused() {
    expected=$1
    shift
    rm -f ran
    status=0
    "$windlass" record -o r.wndl "$@" -- touch ran 2>said || status=$?
    [ "$status" -ne 0 ] && [ ! -e ran ] || fail "$*: it ran"
    grep -q "$expected" said || fail "$*: $(cat said)"
}
"$windlass" unwind-table build "$windlass" -o windlass.wut 2>/dev/null ||
    fail "no table of windlass itself"
head -c 300 plugin.so.wut >cut.wut
cp plugin.so.wut damaged.wut
printf '\377\377' | dd of=damaged.wut bs=1 seek=400 conv=notrunc 2>/dev/null
refused "takes MODULE=FILE, not 'plugin.so'" --unwind-table plugin.so
refused "takes MODULE=FILE, not '=x'" --unwind-table =x
refused 'cannot open none.wut: No such' --unwind-table plugin.so=none.wut
refused 'cannot open no/plugin.so: No such' --unwind-table no/plugin.so=plugin.so.wut
refused 'plugin.c: neither' --unwind-table plugin.so=plugin.c
refused 'cut.wut: ' --unwind-table plugin.so=cut.wut
refused 'damaged.wut: a damaged' --unwind-table plugin.so=damaged.wut
refused 'windlass.wut: .*another binary, by its build-id' \
    --unwind-table whole/plugin.so=windlass.wut
refused 'plugin.so.wut: .*another binary, by its build-id' \
    --unwind-table "$(basename "$(readlink -f "$(command -v touch)")")"=plugin.so.wut
many=
for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do
    many="$many --unwind-table $(printf '%0300d' $i)=plugin.so.wut"
done
refused 'exceed 4093 characters' $many

# --- and what is found out only then

cat >run.sh <<END
exec bare/program "$work/bare/plugin.so"
exec bare/program "$work/bare/plugin.so"
END
record 0 --unwind-table plugin.so=windlass.wut -- sh run.sh
grep -q "windlass.wut: .*by its build-id; it was not used for $work/bare/plugin.so" \
    said || fail "another's table: $(cat said)"
record 0 --unwind-table unknown=plugin.so.wut -- sh run.sh
grep -q "plugin.so.wut was not used: no stack reached 'unknown'" said ||
    fail "an unknown module: $(cat said)"
# One without a build-id of another build cannot be told: it does no harm.
"$windlass" unwind-table build other/plugin.so -o other.wut 2>/dev/null
for lie in other.wut program.wut; do
    record 0 --unwind-table program=program.wut --unwind-table plugin.so=$lie \
        -- sh run.sh
done

# A child of other rights runs as it does without us, and tables of its name do
# the others no harm.
mkdir suid
chmod 755 "$work"
if [ "$(id -u)" -eq 0 ] && cp "$(command -v id)" suid/id &&
    chown 65534 suid/id && chmod 4755 suid/id &&
    [ "$(suid/id -u)" -eq 65534 ]; then
    cp bare/program suid/program
    chown 65534 suid/program
    chmod 4755 suid/program
    cat >run.sh <<END
suid/program "$work/bare/plugin.so" || exit 5
bare/program "$work/bare/plugin.so"
END
    record 0 --engine timer $both -- sh run.sh
    grep -Eq "^unfollowed [0-9]+ 2 .*/suid/program$" dump ||
        fail "a set-user-ID child is not told: $(cat said)"
    grep -q 'set-user-ID' said || fail "not told why: $(cat said)"
    complete_above 99.9
    usual_stacks
    cmp -s expected stacks ||
        fail "beside a set-user-ID child: $(cat expected stacks)"
    # Where none else comes to the module, its table is told to be unused.
    record 0 --engine timer --unwind-table plugin.so=plugin.so.wut -- \
        suid/program "$work/bare/plugin.so"
    grep -q "plugin.so.wut was not used: no stack reached 'plugin.so'" said ||
        fail "set-user-ID alone: $(cat said)"
fi

# In a list of options without the command.
runtime=$(dirname "$windlass")/../rt/libwindlass-rt.so
[ -r "$runtime" ] || exit 0
rm -f r.wndl
WINDLASS_OPTIONS="output=r.wndl unwind-table=program=program.wut \
    unwind-table=plugin.so=plugin.so.wut" \
    LD_PRELOAD=$runtime bare/program "$work/bare/plugin.so" ||
    fail "by the environment: $?"
is_finished() {
    "$recdump" r.wndl >dump && grep -q '^done 1 ' dump
}
until_true "the recording is finished" is_finished
usual_stacks
cmp -s expected stacks || fail "by the environment: $(cat expected stacks)"
