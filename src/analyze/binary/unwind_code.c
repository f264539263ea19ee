/* SPDX-License-Identifier: MIT */
/* A binary's sections of code, and how much of them is covered. */
#include "analyze/binary/unwind_info_parts.h"

#include <elf.h>

/*
 * More sections of code are not listed one by one, and more segments not at
 * all: each row is compared with each of them.
 */
enum { SECTIONS_MAX = 256 };

void wndl_unwind_info_count_reject(struct wndl_unwind_info *info,
    enum wndl_unwind_reject reason, uint64_t bytes,
    const struct wndl_error *why)
{
    struct wndl_unwind_rejected *r = &info->rejected[reason];
    if (r->count++ == 0 && why != NULL) {
        r->first = *why;
        if (why->file[0] == '\0')
            wndl_error_set_file(&r->first, wndl_object_path(info->object));
    }
    r->bytes += bytes;
}

static bool is_code(const struct wndl_section *s)
{
    return (s->flags & SHF_EXECINSTR) != 0 && (s->flags & SHF_ALLOC) != 0 &&
           s->size != 0;
}

static bool add_section(struct wndl_unwind_info *info, const char *name,
    uint64_t start, uint64_t size)
{
    struct wndl_unwind_section *s = wndl_vec_push(&info->sections);
    if (s == NULL || name == NULL)
        return false;
    *s = (struct wndl_unwind_section){name, start, size, 0};
    return true;
}

static bool list_segments(struct wndl_unwind_info *info)
{
    const struct wndl_object *o = info->object;
    info->sections.len = 0;
    for (size_t i = 0; i < wndl_object_segment_count(o); i++) {
        struct wndl_segment s = wndl_object_segment(o, i);
        if (s.executable && info->sections.len < SECTIONS_MAX &&
            !add_section(info, "segment", s.addr.v, s.mem_size))
            return false;
    }
    return true;
}

bool wndl_unwind_info_list_sections(struct wndl_unwind_info *info)
{
    const struct wndl_object *o = info->object;
    for (size_t i = 0; i < wndl_object_section_count(o); i++) {
        struct wndl_section s = wndl_object_section(o, i);
        if (!is_code(&s))
            continue;
        const char *name =
            wndl_arena_copy(&info->arena, s.name.data, s.name.size);
        if (info->sections.len == SECTIONS_MAX)
            return list_segments(info);
        if (!add_section(info, name, s.addr.v, s.size))
            return false;
    }
    return info->sections.len != 0 || list_segments(info);
}

bool wndl_unwind_info_touches_code(
    const struct wndl_unwind_info *info, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < info->sections.len; i++) {
        const struct wndl_unwind_section *s = wndl_vec_at(&info->sections, i);
        if (start < s->start + s->size && end > s->start)
            return true;
    }
    return false;
}

void wndl_unwind_info_cover_code(
    struct wndl_unwind_info *info, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < info->sections.len; i++) {
        struct wndl_unwind_section *s = wndl_vec_at(&info->sections, i);
        uint64_t low = start > s->start ? start : s->start;
        uint64_t high = end < s->start + s->size ? end : s->start + s->size;
        s->covered += high > low ? high - low : 0;
    }
}
