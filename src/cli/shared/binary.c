/* SPDX-License-Identifier: MIT */
#include "cli/shared/binary.h"

#include "analyze/binary/pe_stacks.h"
#include "cfi_import/code/frames.h"
#include "cfi_import/elf/frames.h"
#include "cfi_import/stack_record/object.h"
#include "cli/core/command.h"
#include "cli/shared/debug_dirs.h"
#include "obj/packed/zip.h"

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
    struct wndl_bytes bytes;
    *b = (struct wndl_binary){0};
    if (wndl_zip_open_path(path, &b->file, &bytes, err) != WNDL_OK)
        return false;
    const struct wndl_object_source source = {bytes, path, NULL};
    if (wndl_symbol_file_object_open(
            &source, wndl_mem_libc(), &b->object, err) == WNDL_OK) {
        add_stacks(b->object);
        return true;
    }
    wndl_error_set_file(err, path);
    wndl_file_close(&b->file);
    return false;
}

bool wndl_binary_open_whole(
    struct wndl_binary *b, const char *path, struct wndl_error *err)
{
    struct wndl_debug_dirs dirs;
    if (!wndl_binary_open(b, path, err))
        return false;
    wndl_debug_dirs_init(&dirs, NULL);
    if (wndl_elf_cfi_add_debug_file(b->object, dirs.list, wndl_mem_libc()) ==
        WNDL_OK)
        return true;
    wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_error_set_file(err, path);
    wndl_binary_close(b);
    return false;
}

bool wndl_binary_add_code_rules(struct wndl_binary *b, struct wndl_error *err)
{
    struct wndl_code_rules rules;
    if (wndl_code_rules_add(b->object, &rules, wndl_mem_libc()) != WNDL_OK) {
        wndl_fail(err, WNDL_NOMEM, "out of memory");
        wndl_error_set_file(err, wndl_object_path(b->object));
        return false;
    }
    wndl_cli_note("rules from code: %" PRIu64 " of %" PRIu64
                  " bytes of code that had none",
        rules.made, rules.bytes);
    return true;
}

void wndl_binary_close(struct wndl_binary *b)
{
    wndl_object_close(b->object);
    wndl_file_close(&b->file);
}
