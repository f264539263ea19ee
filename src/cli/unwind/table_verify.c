/* SPDX-License-Identifier: MIT */
#include "cli/unwind/table_verify.h"

#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/binary.h"

#include <inttypes.h>

static int say_verdict(const char *path, const struct wndl_table_verdict *v)
{
    if (v->wrong != 0)
        return wndl_cli_error("%s: wrong at %" PRIu64 " of %" PRIu64
                              " addresses, first at 0x%" PRIx64,
            path, v->wrong, v->looked_up, v->first_wrong);
    printf("%s: right at all of %" PRIu64 " addresses, in %" PRIu64 " rows\n",
        path, v->looked_up, v->rows);
    return wndl_cli_flush();
}

/* Whether the binary has rules, and which, is never of the table. */
static bool is_of_binary(
    const struct wndl_checked_table *checked, enum wndl_status status)
{
    return !checked->owns_damage || status == WNDL_NOT_FOUND ||
           status == WNDL_UNSUPPORTED;
}

static int verify_in(const struct wndl_checked_table *checked,
    const char *binary_path, const char *path)
{
    struct wndl_binary binary;
    struct wndl_table_verdict verdict;
    struct wndl_error err = {0};
    if (!wndl_binary_open_whole(&binary, binary_path, &err))
        return wndl_cli_fail(&err);
    if (checked->from_code && !wndl_binary_add_code_rules(&binary, &err)) {
        wndl_binary_close(&binary);
        return wndl_cli_fail(&err);
    }
    enum wndl_status status =
        checked->verify(checked->table, binary.object, &verdict, &err);
    if (status != WNDL_OK)
        wndl_error_set_file(
            &err, is_of_binary(checked, err.status) ? binary_path : path);
    int exit_code =
        status == WNDL_OK ? say_verdict(path, &verdict) : wndl_cli_fail(&err);
    wndl_binary_close(&binary);
    return exit_code;
}

int wndl_unwind_table_verify(const struct wndl_checked_table *checked,
    const char *binary_path, const char *path)
{
    struct wndl_file file;
    struct wndl_error err = {0};
    if (!checked->open(&file, checked->table, path, &err))
        return wndl_cli_fail(&err);
    int exit_code = verify_in(checked, binary_path, path);
    wndl_file_close(&file);
    return exit_code;
}
