# python.sh: CPython, with the reporters as a built-in module that the program
# lets run. It is not optimized: its compilation takes most of the time.
wishes="own without twice all"
suspect='dict|keys'

build() {
    fetch python3.11
    cp "$here/python_reports.c" source/Modules
    mkdir -p made
    (
        cd made
        [ -f Makefile ] || ../source/configure --disable-test-modules \
            --without-ensurepip OPT="-O0 -g1" CFLAGS=-w
        printf '*static*\nwindlass_reports python_reports.c -I%s\n' \
            "$include" >Modules/Setup.local
        make -j2 python
    ) >make.log 2>&1 || fail "python is not built: see $PWD/make.log"
}
# What Python finds beside its sources is not made with `python` alone.
serve() {
    rm -f pid
    PYTHONHOME=$PWD/source PYTHONPATH=$PWD/source/Lib "$@" made/python -S -B \
        "$here/python_program.py" >pid 2>log &
    started=$!
    await_pid
}
