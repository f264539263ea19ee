/* SPDX-License-Identifier: MIT */
#include "analyze/binary/pe_stacks.h"

#include "analyze/binary/breakpad_text.h"
#include "obj/pe/pe.h"
#include "symbolize/files/pdb_find.h"

#include <elf.h>
#include <string.h>

static enum wndl_status add_stack(
    void *context, const struct wndl_pdb_stack *stack)
{
    struct wndl_buf *text = context;
    wndl_breakpad_text_stack(text, stack);
    return text->failed ? WNDL_NOMEM : WNDL_OK;
}

static enum wndl_status add_text(struct wndl_object *object,
    struct wndl_pdb *pdb, struct wndl_mem *mem, struct wndl_error *err)
{
    struct wndl_buf text;
    wndl_buf_init(&text, mem);
    enum wndl_status status = wndl_pdb_visit_stacks(pdb, add_stack, &text);
    if (status == WNDL_OK && text.size == 0)
        status = wndl_fail(err, WNDL_NOT_FOUND, "has no unwind records");
    else if (status != WNDL_OK)
        (void)wndl_fail(err, status, "its unwind records are missing");
    if (status == WNDL_OK)
        status = wndl_object_add_section(object, WNDL_STACK_RECORD_SECTION,
            (struct wndl_bytes){text.data, text.size});
    wndl_buf_free(&text);
    return status;
}

enum wndl_status wndl_pe_add_stacks(struct wndl_object *object,
    struct wndl_mem *mem, struct wndl_pe_stacks *stacks)
{
    struct wndl_pdb_file file;
    struct wndl_pdb_stats stats = {0};
    *stacks = (struct wndl_pe_stacks){0};
    if (!wndl_object_is_pe(object) || wndl_object_machine(object) != EM_386 ||
        wndl_object_has_section(object, ".eh_frame") ||
        wndl_object_has_section(object, ".debug_frame"))
        return WNDL_OK;
    enum wndl_status status =
        wndl_pdb_file_find(object, NULL, mem, &file, &stacks->why);
    if (status == WNDL_OK) {
        status = add_text(object, file.pdb, mem, &stacks->why);
        wndl_pdb_get_stats(file.pdb, &stats);
        wndl_error_set_file(&stacks->why, file.path);
    }
    stacks->lost =
        (struct wndl_cfi_source_lost){stats.damaged, stats.first_damage};
    wndl_pdb_file_close(&file, mem);
    return status;
}

void wndl_pe_explain_no_stacks(
    const struct wndl_pe_stacks *stacks, struct wndl_error *err)
{
    const char *slash = strrchr(stacks->why.file, '/');
    const char *name = slash == NULL ? stacks->why.file : slash + 1;
    if (stacks->why.status != WNDL_OK)
        (void)wndl_fail(err, WNDL_NOT_FOUND,
            "has no call frame information, nor has a PDB file: %.40s%s%s",
            name, *name == '\0' ? "" : ": ", stacks->why.what);
}
