/* SPDX-License-Identifier: MIT */
/* error: failures that several files report, and damage. */
#include "symbolize/core/symbolizer_impl.h"

enum wndl_status wndl_symbolizer_no_memory(struct wndl_error *err)
{
    wndl_symbolizer_forget(err);
    return wndl_fail(err, WNDL_NOMEM, "no memory to symbolize");
}

enum wndl_status wndl_symbolizer_other_build(struct wndl_error *err)
{
    return wndl_fail(err, WNDL_NOT_FOUND,
        "the file is another build than the one asked for");
}

void wndl_symbolizer_note_damage(
    struct wndl_symbolizer *s, const struct wndl_error *damage)
{
    if (s->damage.status == WNDL_OK)
        s->damage = *damage;
}
