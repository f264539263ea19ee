/* SPDX-License-Identifier: MIT */
#include "analyze/pe_stacks.h"

#include "analyze/breakpad_text.h"
#include "obj/pe.h"
#include "symbolize/pdb_find.h"

#include <elf.h>

static enum wndl_status add_stack(
    void *context, const struct wndl_pdb_stack *stack)
{
    struct wndl_buf *text = context;
    wndl_breakpad_text_stack(text, stack);
    return text->failed ? WNDL_NOMEM : WNDL_OK;
}

static enum wndl_status add_text(
    struct wndl_object *object, struct wndl_pdb *pdb, struct wndl_mem *mem)
{
    struct wndl_buf text;
    wndl_buf_init(&text, mem);
    enum wndl_status status = wndl_pdb_visit_stacks(pdb, add_stack, &text);
    if (status == WNDL_OK && text.size == 0)
        status = WNDL_NOT_FOUND;
    if (status == WNDL_OK)
        status = wndl_object_add_section(object, WNDL_SYM_SECTION,
            (struct wndl_bytes){text.data, text.size});
    wndl_buf_free(&text);
    return status;
}

enum wndl_status wndl_pe_add_stacks(struct wndl_object *object,
    struct wndl_mem *mem, struct wndl_frames_lost *lost)
{
    struct wndl_pdb_file file;
    struct wndl_pdb_stats stats = {0};
    struct wndl_error err = {0};
    if (!wndl_object_is_pe(object) || wndl_object_machine(object) != EM_386 ||
        wndl_object_has_section(object, ".eh_frame") ||
        wndl_object_has_section(object, ".debug_frame"))
        return WNDL_OK;
    enum wndl_status status =
        wndl_pdb_file_find(object, NULL, mem, &file, &err);
    if (status == WNDL_OK) {
        status = add_text(object, file.pdb, mem);
        wndl_pdb_get_stats(file.pdb, &stats);
    }
    *lost = (struct wndl_frames_lost){stats.damaged, stats.first_damage};
    wndl_pdb_file_close(&file, mem);
    return status;
}
