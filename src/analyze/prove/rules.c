/* SPDX-License-Identifier: MIT */
#include "analyze/prove/rules.h"

#include "base/search.h"
#include "cfi_import/code/frames.h"
#include "cfi_import/elf/frames.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096 };

struct function {
    uint64_t start, end, fde;
};

static int compare_functions(const void *a, const void *b)
{
    const struct function *f = a, *g = b;
    return f->start != g->start ? (f->start < g->start ? -1 : 1)
                                : (f->fde > g->fde) - (f->fde < g->fde);
}

static bool list_functions(struct wndl_proof_rules *r)
{
    uint64_t next = 0;
    wndl_vec_init(&r->functions, &r->arena, sizeof(struct function));
    for (uint64_t at = 0; at < r->cfi.frame.bytes.size; at = next) {
        struct wndl_fde fde;
        next = r->cfi.frame.bytes.size;
        if (wndl_fde_parse(&r->cfi.frame, at, &fde, &next, NULL) != WNDL_OK)
            continue;
        struct function *f = wndl_vec_push(&r->functions);
        if (f == NULL)
            return false;
        *f = (struct function){fde.start, fde.end, fde.offset};
    }
    if (r->functions.len > 1)
        qsort(r->functions.data, r->functions.len, r->functions.element,
            compare_functions);
    return true;
}

/* Without call frame information there are no functions. */
static enum wndl_status read_rules(struct wndl_proof_rules *r)
{
    r->cfi = (struct wndl_cfi_source){0};
    const enum wndl_status status =
        wndl_elf_cfi_open(&r->cfi, r->object, &r->arena, NULL);
    if (status == WNDL_NOMEM)
        return status;
    if (status != WNDL_OK)
        r->cfi = (struct wndl_cfi_source){0};
    return list_functions(r) ? WNDL_OK : WNDL_NOMEM;
}

enum wndl_status wndl_proof_rules_open(struct wndl_proof_rules *r,
    const char *path, const char *const *debug_dirs, struct wndl_error *err)
{
    struct wndl_mem *mem = wndl_mem_libc();
    *r = (struct wndl_proof_rules){0};
    wndl_arena_init(&r->arena, mem);
    enum wndl_status status = wndl_file_open(path, &r->file, err);
    if (status != WNDL_OK)
        return status;
    status = wndl_object_open(r->file.bytes, path, mem, &r->object, err);
    if (status != WNDL_OK) {
        wndl_file_close(&r->file);
        return status;
    }
    status = wndl_elf_cfi_add_debug_file(r->object, debug_dirs, mem);
    if (status == WNDL_OK)
        status = read_rules(r);
    if (status == WNDL_OK)
        return status;
    wndl_proof_rules_close(r);
    return wndl_fail(err, WNDL_NOMEM, "out of memory");
}

void wndl_proof_rules_close(struct wndl_proof_rules *r)
{
    wndl_object_close(r->object);
    wndl_file_close(&r->file);
    wndl_arena_free(&r->arena);
}

static const struct function *function_at(
    const struct wndl_proof_rules *r, uint64_t svma)
{
    const struct function *all = r->functions.data;
    const size_t count = r->functions.len;
    const size_t n =
        count == 0 ? 0
                   : wndl_search_up_to(&all->start, sizeof *all, count, svma);
    return n != 0 && svma < all[n - 1].end ? &all[n - 1] : NULL;
}

/* The rows that were found before borrow from the arena, which stays. */
static enum wndl_status add_code_rules(struct wndl_proof_rules *r)
{
    struct wndl_code_rules made;
    r->has_code = true;
    const enum wndl_status status =
        wndl_code_rules_add(r->object, &made, r->arena.mem);
    return status == WNDL_OK && made.made != 0 ? read_rules(r) : status;
}

static bool is_in_plt(const struct wndl_proof_rules *r, uint64_t svma)
{
    for (size_t i = 0; i < wndl_object_section_count(r->object); i++) {
        const struct wndl_section s = wndl_object_section(r->object, i);
        if (svma >= s.addr.v && svma - s.addr.v < s.size && s.addr.v != 0)
            return s.name.size >= 4 && memcmp(s.name.data, ".plt", 4) == 0;
    }
    return false;
}

static enum wndl_proof_source source_of(
    const struct wndl_proof_rules *r, uint64_t fde)
{
    const char *name = wndl_cfi_source_section(&r->cfi, fde);
    return strcmp(name, WNDL_CODE_RULES_SECTION) == 0 ? WNDL_PROOF_CODE
           : strcmp(name, ".debug_frame") == 0        ? WNDL_PROOF_DEBUG_FRAME
                                                      : WNDL_PROOF_EH_FRAME;
}

enum wndl_status wndl_proof_rules_at(
    struct wndl_proof_rules *r, uint64_t svma, struct wndl_proof_row *row)
{
    struct wndl_fde fde;
    const struct function *f = function_at(r, svma);
    if (f == NULL && !r->has_code) {
        if (add_code_rules(r) != WNDL_OK)
            return WNDL_NOMEM;
        f = function_at(r, svma);
    }
    row->source = WNDL_PROOF_NO_RULE;
    row->in_plt = is_in_plt(r, svma);
    if (f == NULL ||
        wndl_fde_parse(&r->cfi.frame, f->fde, &fde, NULL, NULL) != WNDL_OK ||
        wndl_cfi_row_at(&r->cfi.frame, &fde, svma, &row->row, NULL) !=
            WNDL_OK ||
        row->row.cfa.kind == WNDL_RULE_UNSET)
        return WNDL_OK;
    row->source = source_of(r, f->fde);
    return WNDL_OK;
}

bool wndl_proof_rules_bias(const struct wndl_proof_rules *r, uint64_t start,
    uint64_t offset, uint64_t *bias)
{
    for (size_t i = 0; i < wndl_object_segment_count(r->object); i++) {
        const struct wndl_segment s = wndl_object_segment(r->object, i);
        const uint64_t first = s.file_offset & ~(uint64_t)(PAGE - 1);
        if (!s.executable || offset < first ||
            offset >= s.file_offset + s.file_size)
            continue;
        *bias = start - offset + s.file_offset - s.addr.v;
        return true;
    }
    return false;
}
