/* SPDX-License-Identifier: MIT */
#include "cli/shared/binary.h"

#include "analyze/binary/pe_stacks.h"
#include "cfi_import/stack_record/object.h"
#include "cli/core/command.h"

#include <inttypes.h>

/* Commands report missing unwind rules themselves; this reports the reason, and
 * the records that are damaged in the PDB file. */
static void add_stacks(struct wndl_object *object)
{
    char text[600];
    struct wndl_pe_stacks stacks;
    (void)!wndl_pe_add_stacks(object, wndl_mem_libc(), &stacks);
    const struct wndl_cfi_source_lost lost = stacks.lost;
    if (stacks.why.status != WNDL_OK)
        wndl_cli_note("warning: no unwind rules from a PDB file: %s",
            wndl_error_text(&stacks.why, text, sizeof text));
    if (lost.count == 0)
        return;
    wndl_cli_note("warning: damaged unwind records of a PDB file: %" PRIu64
                  "; first: %s",
        lost.count, wndl_error_text(&lost.first, text, sizeof text));
}

bool wndl_binary_open(
    struct wndl_binary *b, const char *path, struct wndl_error *err)
{
    *b = (struct wndl_binary){0};
    if (wndl_file_open(path, &b->file, err) != WNDL_OK)
        return false;
    const struct wndl_object_source source = {b->file.bytes, path, NULL};
    if (wndl_symbol_file_object_open(
            &source, wndl_mem_libc(), &b->object, err) == WNDL_OK) {
        add_stacks(b->object);
        return true;
    }
    wndl_error_set_file(err, path);
    wndl_file_close(&b->file);
    return false;
}

void wndl_binary_close(struct wndl_binary *b)
{
    wndl_object_close(b->object);
    wndl_file_close(&b->file);
}
