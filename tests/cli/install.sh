#!/bin/sh
# install.sh BUILD: install into an empty root, then use what was installed as
# a stranger would: the command, and the library through pkg-config.
set -eu
build=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
DESTDIR=$root cmake --install "$build" --prefix /usr >/dev/null

export LD_LIBRARY_PATH="$root/usr/lib/x86_64-linux-gnu:$root/usr/lib"
pkg_dir=$(dirname "$(find "$root" -name windlass.pc)")
export PKG_CONFIG_PATH="$pkg_dir" PKG_CONFIG_SYSROOT_DIR="$root"

"$root/usr/bin/windlass" --version
cd "$root"
"$root/usr/bin/windlass" record -q -o r.wndl -- xz -9 -k -c /bin/sh >/dev/null
"$root/usr/bin/windlass" report r.wndl >report.txt
grep -q 'Samples' report.txt

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
    "$(find "$root" -name libwindlass.a)" -lz -liberty -o user-static
./user-static
man -l "$root/usr/share/man/man1/windlass-record.1" | grep -q windlass
