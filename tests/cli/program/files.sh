#!/bin/sh
# files.sh WINDLASS MAKE_RECORDING: files of other tools are named for what they
# are, with what to type, by every command that takes recordings.
set -eu
windlass=$(realpath "$1")
make_recording=$(realpath "$2")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
failed=0

# says WHAT ADVICE ARGUMENT...: refused, with both in the error.
says() {
    what=$1
    advice=$2
    shift 2
    status=0
    "$windlass" "$@" >out 2>err || status=$?
    if [ "$status" -ne 1 ] || [ -s out ] || ! grep -qF -- "$what" err ||
        ! grep -qF -- "$advice" err; then
        echo "files: windlass $*: status $status, or without: $what, $advice"
        cat err
        failed=1
    fi
}

# taken ARGUMENT...
taken() {
    "$windlass" "$@" >out 2>err || {
        echo "files: windlass $*: $(cat err)"
        failed=1
    }
}

printf 'meta 1 1 1 h / a\nprocess 0 1 /bin/a a\n' | "$make_recording" good.wndl

# kind WHAT ADVICE FILE: by each command that does not take it.
kind() {
    for command in report export view; do
        [ $command != view ] || "$windlass" --version |
            grep -q 'viewer: yes' || continue
        says "$3: $1" "$2" $command "$3"
    done
    says "$3: $1" "$2" diff good.wndl "$3"
    says "$3: $1" "$2" diff "$3" good.wndl
    says "$3: $1" "$2" report "$3" good.wndl
}

# Those that no command reads.
printf 'PERFILE2xxxxxxxxxxxxxxxxxxxxxxxx' >perf.data
printf 'PERFILE2xxxxxxxxxxxxxxxxxxxxxxxx' >'a file.data'
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\4\0\076\0' >core
printf '\177ELF\1\2\1\0\0\0\0\0\0\0\0\0\0\4\0\024' >core.big
printf '\177ELF\2\1\1\0\0\0\0\0\0\0\0\0\1\0\076\0' >app.o
printf 'desc: --time-unit=ms\ncmd: ./a\ntime_unit: i\n#---\nsnapshot=0\n' \
    >massif.out.7
printf '{"dhatFileVersion":2,"mode":"heap"}' >dhat.out.7
printf '{"$schema":"https://www.speedscope.app/file-format-schema.json"}' \
    >a.speedscope.json
printf '{"meta":{"version":24,"preprocessedProfileVersion":44},"threads":[]}' \
    >samply.json
gzip -c samply.json >samply.json.gz
printf '{"traceEvents":[]}' >trace.json
printf '[{"traceEvents":1}]' >trace2.json
printf '{"nodes":[],"timeDeltas":[]}' >a.cpuprofile
printf 'v 10500 3\nX ./a\nI 1000 1\n' >heaptrack.a.7
gzip -c heaptrack.a.7 >heaptrack.a.7.gz
printf 'gmon\001' >gmon.out
printf 'heap profile: 1: 2 [1: 2] @ heapprofile\n1: 2 [1: 2] @ 0x1\n' >a.heap
printf 'MODULE Linux x86_64 000 a\n' >a.sym
printf '<!doctype html>' >page.html
printf '#!/bin/sh\n' >run.sh
for command in 'perf script -i perf.data | windlass merge'; do
    kind "perf's own perf.data" "$command" perf.data
done
kind "perf's own perf.data" "perf script -i 'a file.data' |" 'a file.data'
kind 'a core dump' "'windlass stack --core core' shows" core
kind 'a core dump' 'windlass stack --core core.big' core.big
kind 'an ELF object file' 'windlass sym -e app.o' app.o
kind "massif's output" 'ms_print massif.out.7' massif.out.7
kind "DHAT's output" 'dh_view.html' dhat.out.7
kind 'a profile of speedscope' 'windlass merge' a.speedscope.json
kind 'a profile of the Firefox Profiler' "samply load samply.json" samply.json
kind 'a profile of the Firefox Profiler' 'packed with gzip' samply.json.gz
kind 'a trace of Chrome' 'ui.perfetto.dev' trace.json
kind 'a trace of Chrome' 'ui.perfetto.dev' trace2.json
kind 'a .cpuprofile of V8' 'windlass merge' a.cpuprofile
kind "heaptrack's output" 'heaptrack_print -f heaptrack.a.7' heaptrack.a.7
kind "heaptrack's output" 'packed with gzip' heaptrack.a.7.gz
kind 'a profile of gprof' 'gprof PROGRAM gmon.out' gmon.out
kind 'a heap profile of gperftools' 'windlass merge' a.heap
kind 'a symbol file of Breakpad' 'windlass fix' a.sym
kind 'a page or a picture' 'web browser' page.html
kind 'a script' 'windlass record -- run.sh' run.sh
kind 'an ELF program or library' "windlass sym -e $windlass" "$windlass"
if command -v zstd >zstd-is; then
    zstd -q heaptrack.a.7
    kind "heaptrack's output" 'packed with zstd' heaptrack.a.7.zst
fi
for file in perf.data core massif.out.7 samply.json heaptrack.a.7.gz; do
    says "$file: " 'not a windlass recording' merge "$file"
    says "$file: " 'not a windlass recording' vmprof --show "$file"
done

# Those that merge reads.
printf 'events: Ir\nfn=main\n1 7\n' >callgrind.out.7
printf 'desc: I1 cache\ncmd: ./a\nevents: Ir\nfl=a.c\nfn=main\n1 7\n' \
    >cachegrind.out.7
printf 'main;work 3\n' >stacks.folded
printf 'a 7 1.0: 1 cycles:\n\t1 main (/bin/a)\n\n' >script.txt
"$windlass" export -f pprof -o a.pb.gz good.wndl 2>err
kind "callgrind's output" "'windlass merge callgrind.out.7'" callgrind.out.7
kind "callgrind's output" 'windlass merge' cachegrind.out.7
kind 'folded stacks' "'windlass merge stacks.folded'" stacks.folded
kind 'the output of perf script' 'windlass merge' script.txt
kind 'a profile of pprof' "'windlass merge a.pb.gz'" a.pb.gz
for file in callgrind.out.7 cachegrind.out.7 stacks.folded script.txt a.heap; do
    taken merge "$file"
done

# Those of DMD, and of vmprof.
printf '{"version":5,"invocation":{"dmdEnvVar":"1","mode":"live"},
"blockList":[],"traceTable":{},"frameTable":{}}' >dmd.json
taken report dmd.json
says 'a DMD file' "'windlass report dmd.json'" export dmd.json
says 'a DMD file' "'windlass report dmd.json'" merge dmd.json
printf 'hello, world\n' >text
says 'text: ' 'not a windlass recording' report text
exit "$failed"
