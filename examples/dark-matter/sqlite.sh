# sqlite.sh: SQLite in one file (which tclsh makes), with a program that fills a
# database in memory. It is not optimized: its compilation takes most of the time.
wishes="own without twice all"
suspect='sqlite3[A-Za-z]*Prepare'

build() {
    fetch sqlite3
    mkdir -p made
    [ -f made/sqlite3.c ] ||
        make -C made -f ../source/main.mk TOP=../source BCC=cc TCC=cc \
            NAWK=awk sqlite3.c >make.log 2>&1 ||
        fail "there is no sqlite3.c: see $PWD/make.log"
    cc -g1 -w -D_GNU_SOURCE -DSQLITE_DEFAULT_MEMSTATUS=0 \
        -DSQLITE_OMIT_LOAD_EXTENSION -I"$include" -Imade \
        "$here/sqlite_reports.c" -o program -pthread -lm
}
serve() {
    rm -f pid
    "$@" ./program >pid 2>log &
    started=$!
    await_pid
}
