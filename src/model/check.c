/* SPDX-License-Identifier: MIT */
#include "model/check.h"

#include "base/text.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <string.h>

bool wndl_check_init(struct wndl_check *check, struct wndl_mem *mem)
{
    *check = (struct wndl_check){0};
    wndl_arena_init(&check->arena, mem);
    wndl_vec_init(
        &check->frames, &check->arena, sizeof(struct wndl_check_frame));
    wndl_vec_init(
        &check->stacks, &check->arena, sizeof(struct wndl_check_stack));
    wndl_vec_init(
        &check->errors, &check->arena, sizeof(struct wndl_check_error));
    wndl_vec_init(
        &check->processes, &check->arena, sizeof(struct wndl_check_process));
    wndl_vec_init(&check->suppressions, &check->arena,
        sizeof(struct wndl_check_suppression));
    return wndl_intern_init(&check->texts, &check->arena);
}

void wndl_check_free(struct wndl_check *check)
{
    wndl_arena_free(&check->arena);
}

uint64_t wndl_check_process_count(const struct wndl_check *check)
{
    uint64_t count = 0;
    for (size_t i = 0; i < check->processes.len; i++) {
        const struct wndl_check_process *p = wndl_vec_at(&check->processes, i);
        count += !p->is_left_out;
    }
    return count;
}

uint64_t wndl_finding_new_count(const struct wndl_finding_list *list)
{
    uint64_t count = 0;
    for (size_t i = 0; i < list->findings.len; i++) {
        const struct wndl_finding *f = wndl_vec_at(&list->findings, i);
        count += f->is_new;
    }
    return count;
}

uint64_t wndl_finding_gone_count(const struct wndl_finding_list *list)
{
    uint64_t count = 0;
    for (size_t i = 0; i < list->known.len; i++) {
        const struct wndl_known_finding *k = wndl_vec_at(&list->known, i);
        count += !k->is_seen;
    }
    return count;
}

const char *wndl_check_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? path : slash + 1;
}

bool wndl_check_is_checker(const char *path)
{
    return wndl_text_starts_with(wndl_check_base_name(path), "vgpreload_");
}

bool wndl_check_is_hidden(
    const struct wndl_check *check, const struct wndl_check_frame *frame)
{
    return frame->function == 0 && wndl_check_is_checker(wndl_intern_text(
                                       &check->texts, frame->module));
}

void wndl_check_put_place(struct wndl_buf *out, const struct wndl_check *check,
    const struct wndl_check_frame *frame, bool has_line)
{
    const char *module =
        wndl_check_base_name(wndl_intern_text(&check->texts, frame->module));
    if (frame->function == 0)
        wndl_buf_text(out, "???");
    else
        wndl_utf8_plain(out, wndl_intern_get(&check->texts, frame->function));
    wndl_buf_text(out, " (");
    if (frame->file == 0) {
        wndl_buf_text(out, "in ");
        wndl_utf8_plain(
            out, (struct wndl_bytes){(const uint8_t *)module, strlen(module)});
    } else {
        wndl_utf8_plain(out, wndl_intern_get(&check->texts, frame->file));
        if (has_line)
            wndl_buf_printf(out, ":%" PRIu64, frame->line);
    }
    wndl_buf_byte(out, ')');
}
