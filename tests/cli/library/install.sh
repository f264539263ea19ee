#!/bin/sh
# install.sh BUILD: install into an empty root, then use what was installed as
# a stranger would: the command, and the library through pkg-config.
set -eu
build=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root cmake --install "$build" --prefix /opt/windlass >/dev/null
prefix=$root/opt/windlass
pkg_dir=$(dirname "$(find "$prefix" -name windlass.pc)")
export PKG_CONFIG_PATH="$pkg_dir"
LD_LIBRARY_PATH=$(dirname "$pkg_dir")
export LD_LIBRARY_PATH

"$prefix/bin/windlass" --version
if [ -e "$build/viewer/dist/NOTICE" ]; then # of what the viewer is made of
    cmp "$build/viewer/dist/NOTICE" "$(find "$prefix" -name NOTICE.viewer)"
fi
cd "$root"
# The link stands in for addr2line, also under a name of the user's.
ln -s "$prefix/bin/windlass-addr2line" addr2line
for link in "$prefix/bin/windlass-addr2line" ./addr2line; do
    [ "$("$link" -fe /bin/sh ,)" = "??
??:0" ]
done
"$prefix/bin/windlass" record -q -o r.wndl -- xz -9 -k -c /bin/sh >/dev/null
"$prefix/bin/windlass" report r.wndl >report.txt
grep -q 'Samples' report.txt
"$prefix/bin/windlass" heap -o h.wndl -- xz -9 -k -c /bin/sh 2>said >/dev/null
grep -q '100.00 % of the allocations' said

cat >user.c <<'END'
#include <stdio.h>
#include <windlass/symbolize.h>
#include <windlass/unwind.h>
#include <windlass/version.h>

int main(void)
{
    struct wndl_symbolizer *s;
    struct wndl_error err = { 0 };
    if (wndl_symbolizer_open("/bin/sh", NULL, &s, &err) != WNDL_OK)
        return 1;
    wndl_symbolizer_close(s);
    printf("%s %zu\n", wndl_version(), wndl_unwinder_size());
    return 0;
}
END
# shellcheck disable=SC2046
cc -Wall -Werror user.c $(pkg-config --cflags --libs windlass) -o user
./user
# shellcheck disable=SC2046
cc -Wall -Werror user.c $(pkg-config --cflags windlass) \
    "$(find "$prefix" -name libwindlass.a)" $(pkg-config --static --libs windlass | tr ' ' '\n' | grep -v windlass) -o user-static
./user-static
cat >tagged.c <<'END'
#include <stdlib.h>
#include <windlass/memory_tag.h>
int main(void)
{
    struct wndl_memory_tag_amount is;
    wndl_memory_tag("mine");
    void *volatile block = malloc(100);
    wndl_memory_untag();
    return !wndl_memory_tagged("mine", &is) || is.blocks != 1 || block == NULL;
}
END
# shellcheck disable=SC2046
cc -Wall -Werror tagged.c $(pkg-config --cflags --libs windlass-tags) -o tagged
./tagged
for command in $("$prefix/bin/windlass" --help |
    awk '/^  [a-z]/ { print $1 }'); do
    [ -s "$prefix/share/man/man1/windlass-$command.1" ] || {
        echo "there is no manual page of windlass $command"
        exit 1
    }
done
man -l "$prefix/share/man/man1/windlass-unwind-table.1" | grep -q verify
man -l "$prefix/share/man/man1/windlass-record.1" | grep -q windlass
man -l "$prefix/share/man/man3/wndl_symbolizer_lookup.3" | grep -q rva
# shellcheck disable=SC2046
cc -Wall -Werror "$prefix/share/doc/windlass/examples/symbolize.c" \
    $(pkg-config --cflags --libs windlass) -o example
./example /bin/sh 0
