/* SPDX-License-Identifier: MIT */
#include "analyze/view/assembly.h"

#include "analyze/annotate/annotate.h"

#include <inttypes.h>

enum { MOST_FUNCTIONS = 24, MOST_INSTRUCTIONS = 4096, LEAST_PART = 200 };

/* A line for each instruction: docs/formats/view.md. */
static void write_code(struct wndl_buf *text, const struct wndl_annotated *a)
{
    const struct wndl_annotated_code *code = a->code.data;
    for (size_t i = 0; i < a->code.len; i++) {
        wndl_buf_printf(text, "%" PRIx64 "\t%" PRIu64 "\t%" PRIu32 "\t%d\t",
            a->image_base + code[i].rva, code[i].self.time, code[i].own_line,
            code[i].inlined);
        wndl_buf_text(text, code[i].text);
        wndl_buf_byte(text, '\n');
    }
}

static bool add_code(struct wndl_vec *codes, const struct wndl_annotated *a)
{
    struct wndl_buf text;
    wndl_buf_init(&text, codes->arena->mem);
    write_code(&text, a);
    char *copy = text.failed
                     ? NULL
                     : wndl_arena_copy(codes->arena, text.data, text.size);
    struct wndl_view_code *slot = copy == NULL ? NULL : wndl_vec_push(codes);
    if (slot != NULL)
        *slot = (struct wndl_view_code){
            a->function, {(const uint8_t *)copy, text.size}};
    wndl_buf_free(&text);
    return slot != NULL;
}

static bool add_function(struct wndl_annotator *x, struct wndl_annotated *a,
    const struct wndl_annotate_code *how, struct wndl_vec *codes)
{
    if (!wndl_annotate_read_code(x->of, a, how))
        return false;
    if (a->code.len == 0 || a->code.len > MOST_INSTRUCTIONS)
        return true;
    return wndl_annotator_fill(x, a) && add_code(codes, a);
}

/* The function with most self of those after `before`, or NULL. */
static struct wndl_annotated *next_by_self(
    const struct wndl_annotation *of, const struct wndl_annotated *before)
{
    struct wndl_annotated *all = of->functions.data;
    struct wndl_annotated *best = NULL;
    for (size_t i = 0; i < of->functions.len; i++) {
        struct wndl_annotated *a = &all[i];
        const bool is_later = before == NULL ||
                              a->self.time < before->self.time ||
                              (a->self.time == before->self.time && a > before);
        if (is_later && (best == NULL || a->self.time > best->self.time))
            best = a;
    }
    return best;
}

static bool add_functions(struct wndl_annotator *x,
    const struct wndl_annotate_code *how, struct wndl_vec *codes)
{
    const uint64_t least = x->of->all.time / LEAST_PART;
    struct wndl_annotated *a = NULL;
    for (int i = 0; i < MOST_FUNCTIONS; i++) {
        a = next_by_self(x->of, a);
        if (a == NULL || a->self.time == 0 || a->self.time < least)
            break;
        if (!add_function(x, a, how, codes))
            return false;
    }
    return true;
}

bool wndl_view_assembly(struct wndl_vec *codes, struct wndl_symbolized *s,
    const struct wndl_annotate_code *how, struct wndl_arena *arena)
{
    const struct wndl_annotate_choice all = {.time = WNDL_TIME_CPU};
    struct wndl_annotator x;
    struct wndl_annotation of;
    wndl_vec_init(codes, arena, sizeof(struct wndl_view_code));
    if (s->profile->samples.len == 0)
        return true;
    bool added =
        wndl_annotator_init(&x, &of, s, &all) && add_functions(&x, how, codes);
    wndl_annotator_free(&x);
    return added;
}
