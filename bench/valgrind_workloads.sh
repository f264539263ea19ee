# valgrind_workloads.sh: programs to run under a Valgrind tool, for bench/vmprof
# and bench/mvp. They are sourced in the folder of work, with `work`, the folder
# $work/tools, and later `tool`, the options of Valgrind, set; and `tools`, where
# it is another folder.
cc1plus=$(gcc -print-prog-name=cc1plus)
[ -e small.ii ] || {
    printf '#include <map>\n#include <string>\n' >small.cc
    printf 'std::map<std::string, int> m;\n' >>small.cc
    printf 'int f() { return m["a"]; }\n' >>small.cc
    g++ -E small.cc >small.ii
}

# workload NAME: runs it, and prints its CPU time (user) and its memory in KB.
workload() {
    case $1 in
    sqlite) set -- sqlite3 :memory: "create table t(a,b);
        with recursive c(x) as (select 1 union all select x+1 from c
        where x<60000) insert into t select x,hex(x) from c;
        select count(*) from t group by a%7" ;;
    cc1plus) set -- "$cc1plus" -quiet -O2 small.ii -o /dev/null ;;
    python) set -- /usr/bin/python3 -c "import json
x = [json.dumps({'a': i}) for i in range(60000)]" ;;
    xz) set -- xz -1 -k -c /usr/bin/git ;;
    *)
        echo "bench: there is no workload $1" >&2
        exit 2
        ;;
    esac
    VALGRIND_LIB=${tools:-$work/tools} /usr/bin/time -f '%U %M' -o "$work/time" \
        valgrind -q $tool -- "$@" >/dev/null
    cat "$work/time"
}
