/* SPDX-License-Identifier: MIT */
#include "analyze/binary/unwind_info.h"

#include "analyze/binary/pe_stacks.h"
#include "cfi_import/open.h"
#include "cfi_import/stack_record/object.h"
#include "obj/pe/pe.h"
#include "unwind/core/arch.h"
#include "unwind/core/rule.h"

#include <elf.h>
#include <stdlib.h>

/*
 * A common initial program may be run for each of very many functions. Real
 * files run less than their own size.
 */
enum { WORK_PER_BYTE = 16, WORK_AT_LEAST = 16 * 1024 * 1024 };

/* More sections of code are not told of one by one; more segments not at all:
 * each row is held against each of them. */
enum { SECTIONS_MAX = 256 };

static enum wndl_status no_memory(struct wndl_error *err)
{
    return wndl_fail(err, WNDL_NOMEM, "out of memory");
}

static void reject(struct wndl_unwind_info *info,
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

/* ---- code */

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

static bool list_sections(struct wndl_unwind_info *info)
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

static bool touches_code(
    const struct wndl_unwind_info *info, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < info->sections.len; i++) {
        const struct wndl_unwind_section *s = wndl_vec_at(&info->sections, i);
        if (start < s->start + s->size && end > s->start)
            return true;
    }
    return false;
}

static void cover(struct wndl_unwind_info *info, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < info->sections.len; i++) {
        struct wndl_unwind_section *s = wndl_vec_at(&info->sections, i);
        uint64_t low = start > s->start ? start : s->start;
        uint64_t high = end < s->start + s->size ? end : s->start + s->size;
        s->covered += high > low ? high - low : 0;
    }
}

/* ---- functions */

static int compare_functions(const void *a, const void *b)
{
    const struct wndl_unwind_function *f = a, *g = b;
    if (f->start != g->start)
        return f->start < g->start ? -1 : 1;
    return f->fde < g->fde ? -1 : f->fde > g->fde;
}

/* Where two overlap, lookups find the one that starts last. */
static void cut_overlaps(struct wndl_unwind_info *info)
{
    for (size_t i = 0; i + 1 < info->functions.len; i++) {
        struct wndl_unwind_function *f = wndl_vec_at(&info->functions, i);
        if (f->end <= f[1].start)
            continue;
        reject(info, WNDL_REJECT_OVERLAP, f->end - f[1].start, NULL);
        f->end = f[1].start;
    }
}

static bool add_function(
    struct wndl_unwind_info *info, const struct wndl_unwind_function *function)
{
    if (function->start >= function->end ||
        !touches_code(info, function->start, function->end)) {
        reject(info, WNDL_REJECT_NO_CODE, 0, NULL);
        return true;
    }
    struct wndl_unwind_function *f = wndl_vec_push(&info->functions);
    if (f == NULL)
        return false;
    *f = *function;
    return true;
}

enum { EXIDX_ENTRY = 8 };

static bool list_entries(struct wndl_unwind_info *info)
{
    const struct wndl_arm_source *arm = &info->arm;
    for (size_t i = 0; i < wndl_exidx_count(&arm->exidx); i++) {
        const struct wndl_unwind_function f = {
            wndl_exidx_start(&arm->exidx, i),
            wndl_arm_source_end(arm, i),
            (uint64_t)i * EXIDX_ENTRY,
        };
        if (!add_function(info, &f))
            return false;
    }
    return true;
}

/* A record whose length cannot be read takes the rest of the section along. */
static bool list_records(struct wndl_unwind_info *info)
{
    uint64_t next = 0;
    for (uint64_t at = 0; at < info->frame.bytes.size; at = next) {
        struct wndl_fde fde;
        struct wndl_error err = {0};
        next = info->frame.bytes.size;
        enum wndl_status status =
            wndl_fde_parse(&info->frame, at, &fde, &next, &err);
        if (status == WNDL_UNSUPPORTED)
            reject(info, WNDL_REJECT_UNSUPPORTED_RECORD, 0, &err);
        else if (status != WNDL_OK && status != WNDL_NOT_FOUND)
            reject(info, WNDL_REJECT_DAMAGED_RECORD, 0, &err);
        const struct wndl_unwind_function f = {fde.start, fde.end, fde.offset};
        if (status == WNDL_OK && !add_function(info, &f))
            return false;
    }
    return true;
}

static bool list_functions(struct wndl_unwind_info *info)
{
    if (info->by_exidx ? !list_entries(info) : !list_records(info))
        return false;
    if (info->functions.len > 1)
        qsort(info->functions.data, info->functions.len,
            info->functions.element, compare_functions);
    cut_overlaps(info);
    return true;
}

/* ---- rows */

/* What the rows of a function are read into. */
struct reading {
    struct wndl_unwind_info *info;
    const struct wndl_unwind_function *function;
    struct wndl_buf text;
    uint64_t work;
    uint64_t done; /* code before it is told of, svma */
    bool failed;
};

static enum wndl_unwind_way way_of(const struct wndl_cfi_row *row)
{
    switch ((enum wndl_entry_kind)wndl_rule_of_row(row, row->start).kind) {
    case WNDL_ENTRY_SP:
    case WNDL_ENTRY_SP_LOW:
    case WNDL_ENTRY_FP:
        return WNDL_WAY_FAST;
    case WNDL_ENTRY_REALIGN:
        return WNDL_WAY_REALIGNED;
    case WNDL_ENTRY_SIGRETURN:
        return WNDL_WAY_SIGNAL;
    case WNDL_ENTRY_STOP:
        return WNDL_WAY_OUTERMOST;
    default:
        return WNDL_WAY_FULL;
    }
}

/* Grows the last range if its rule goes on. */
static bool add_range(
    struct wndl_unwind_info *info, uint64_t start, uint64_t end, uint32_t rule)
{
    struct wndl_vec *ranges = &info->ranges;
    struct wndl_unwind_range *last =
        ranges->len == 0 ? NULL : wndl_vec_at(ranges, ranges->len - 1);
    if (last == NULL || last->end != start || last->rule != rule) {
        last = wndl_vec_push(ranges);
        if (last == NULL)
            return false;
        *last = (struct wndl_unwind_range){start, end, rule};
    }
    last->end = end;
    return true;
}

static bool visit_row(void *context, const struct wndl_cfi_row *row)
{
    struct reading *r = context;
    struct wndl_unwind_info *info = r->info;
    uint64_t end = row->end < r->function->end ? row->end : r->function->end;
    uint32_t rule;
    if (row->start >= end)
        return false;
    info->rows++;
    r->done = end;
    if (row->cfa.kind == WNDL_RULE_UNSET) {
        reject(info, WNDL_REJECT_NO_CFA, end - row->start, NULL);
        return true;
    }
    wndl_buf_clear(&r->text);
    wndl_cfi_text_rule(&r->text, info->machine, row);
    info->ways[info->knows_ways ? way_of(row) : WNDL_WAY_FULL]++;
    cover(info, row->start, end);
    const struct wndl_bytes text = {r->text.data, r->text.size};
    r->failed = r->text.failed || !wndl_intern_add(&info->rules, text, &rule) ||
                !add_range(info, row->start, end, rule);
    return !r->failed;
}

/* Damaged instructions lose the entry: an index has a length of its own. */
static void read_entry(
    struct reading *r, const struct wndl_unwind_function *function)
{
    struct wndl_error err = {0};
    enum wndl_unwind_reject reason = WNDL_REJECT_DAMAGED_RECORD;
    const enum wndl_status status = wndl_arm_source_rows(&r->info->arm,
        (size_t)(function->fde / EXIDX_ENTRY), visit_row, r, &err);
    if (status == WNDL_NOT_FOUND)
        reason = WNDL_REJECT_CANTUNWIND;
    else if (status == WNDL_UNSUPPORTED)
        reason = WNDL_REJECT_UNSUPPORTED_RECORD;
    if (status != WNDL_OK)
        reject(r->info, reason, function->end - function->start,
            status == WNDL_NOT_FOUND ? NULL : &err);
}

static void read_rows(
    struct reading *r, const struct wndl_unwind_function *function)
{
    struct wndl_unwind_info *info = r->info;
    const uint64_t size = info->frame.bytes.size;
    struct wndl_fde fde;
    struct wndl_error err = {0};
    r->function = function;
    if (info->by_exidx) {
        read_entry(r, function);
        return;
    }
    enum wndl_status status =
        wndl_fde_parse(&info->frame, function->fde, &fde, NULL, &err);
    r->done = function->start;
    r->work += fde.cie.program.size + fde.program.size;
    if (r->work > size * WORK_PER_BYTE + WORK_AT_LEAST) {
        reject(info, WNDL_REJECT_LIMIT, function->end - function->start, NULL);
        return;
    }
    if (status == WNDL_OK)
        status = wndl_cfi_rows(&info->frame, &fde, visit_row, r, &err);
    if (status != WNDL_OK && r->done < function->end)
        reject(
            info, WNDL_REJECT_DAMAGED_PROGRAM, function->end - r->done, &err);
}

static bool list_ranges(struct wndl_unwind_info *info, struct wndl_mem *mem)
{
    struct reading r = {.info = info};
    wndl_buf_init(&r.text, mem);
    for (size_t i = 0; i < info->functions.len && !r.failed; i++) {
        const struct wndl_unwind_function *f = wndl_vec_at(&info->functions, i);
        if (f->start < f->end)
            read_rows(&r, f);
    }
    wndl_buf_free(&r.text);
    return !r.failed;
}

/* ---- the file */

static void reject_lost(struct wndl_unwind_info *info,
    enum wndl_unwind_reject reason, const struct wndl_cfi_source_lost *lost)
{
    if (lost->count == 0)
        return;
    reject(info, reason, 0, &lost->first);
    info->rejected[reason].count += lost->count - 1;
}

/* By .ARM.exidx where debuggers' tables are stripped: .eh_frame of Arm has no
 * more than the stubs of .plt. */
static enum wndl_status find_arm(
    struct wndl_unwind_info *info, struct wndl_error *err)
{
    struct wndl_cfi_source *cfi = &info->cfi;
    enum wndl_status status =
        wndl_cfi_source_find(cfi, info->object, ".debug_frame", err);
    if (status == WNDL_NOT_FOUND)
        status = wndl_arm_source_open(&info->arm, info->object, err);
    else
        return status;
    info->by_exidx = status == WNDL_OK;
    if (status == WNDL_NOT_FOUND)
        status = wndl_cfi_source_find(cfi, info->object, ".eh_frame", err);
    if (status == WNDL_NOT_FOUND)
        return wndl_fail(err, status,
            "has no call frame information (.eh_frame, .debug_frame, "
            ".ARM.exidx)");
    return status;
}

static enum wndl_status find_rules(
    struct wndl_unwind_info *info, struct wndl_error *err)
{
    struct wndl_cfi_source *cfi = &info->cfi;
    enum wndl_status status =
        wndl_object_machine(info->object) == EM_ARM &&
                !wndl_object_is_pe(info->object) &&
                !wndl_object_has_added(info->object, WNDL_STACK_RECORD_SECTION)
            ? find_arm(info, err)
            : wndl_cfi_source_open(cfi, info->object, &info->arena, err);
    info->source = info->by_exidx ? ".ARM.exidx" : cfi->name;
    info->frame = cfi->frame;
    reject_lost(info, WNDL_REJECT_DAMAGED_RECORD, &cfi->damaged);
    reject_lost(info, WNDL_REJECT_UNSUPPORTED_RECORD, &cfi->unsupported);
    return status;
}

static enum wndl_status open_object(struct wndl_unwind_info *info,
    const char *path, const char *arch, struct wndl_mem *mem,
    struct wndl_error *err)
{
    const struct wndl_object_source source = {info->file.bytes, path, arch};
    enum wndl_status status =
        wndl_symbol_file_object_open(&source, mem, &info->object, err);
    if (status != WNDL_OK) {
        info->object = NULL;
        return status;
    }
    struct wndl_pe_stacks stacks;
    if (wndl_pe_add_stacks(info->object, mem, &stacks) == WNDL_NOMEM)
        return no_memory(err);
    reject_lost(info, WNDL_REJECT_DAMAGED_RECORD, &stacks.lost);
    const uint16_t machine = wndl_object_machine(info->object);
    info->machine = wndl_cfi_machine_of(machine);
    info->knows_ways = wndl_arch_of(machine) == WNDL_ARCH_HERE;
    if (!wndl_object_is_image(info->object))
        return wndl_fail(
            err, WNDL_UNSUPPORTED, "is not a program or a shared library");
    if (info->machine == NULL)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "is for another machine than x86-64, i386, Arm and AArch64");
    status = find_rules(info, err);
    if (status == WNDL_NOT_FOUND)
        wndl_pe_tell_no_stacks(&stacks, err);
    return status;
}

/* All but the rows. */
static enum wndl_status open_functions(struct wndl_unwind_info *info,
    const char *path, const char *arch, struct wndl_mem *mem,
    struct wndl_error *err)
{
    *info = (struct wndl_unwind_info){0};
    wndl_arena_init(&info->arena, mem);
    wndl_vec_init(
        &info->functions, &info->arena, sizeof(struct wndl_unwind_function));
    wndl_vec_init(
        &info->ranges, &info->arena, sizeof(struct wndl_unwind_range));
    wndl_vec_init(
        &info->sections, &info->arena, sizeof(struct wndl_unwind_section));
    enum wndl_status status = wndl_file_open(path, &info->file, err);
    if (status == WNDL_OK)
        status = open_object(info, path, arch, mem, err);
    wndl_error_set_file(status == WNDL_OK ? NULL : err, path);
    if (status != WNDL_OK)
        return status;
    if (!wndl_intern_init(&info->rules, &info->arena) || !list_sections(info) ||
        !list_functions(info))
        return no_memory(err);
    return WNDL_OK;
}

enum wndl_status wndl_unwind_info_open_arch(struct wndl_unwind_info *info,
    const char *path, const char *arch, struct wndl_mem *mem,
    struct wndl_error *err)
{
    enum wndl_status status = open_functions(info, path, arch, mem, err);
    if (status == WNDL_OK && !list_ranges(info, mem))
        return no_memory(err);
    return status;
}

enum wndl_status wndl_unwind_info_open(struct wndl_unwind_info *info,
    const char *path, struct wndl_mem *mem, struct wndl_error *err)
{
    return wndl_unwind_info_open_arch(info, path, NULL, mem, err);
}

/* Whether the function has a rule at all: an entry of .ARM.exidx may say that
 * there is none. */
static bool has_rule(const struct wndl_unwind_info *info,
    const struct wndl_unwind_function *function)
{
    struct wndl_exidx_entry entry;
    struct wndl_cfi_row row;
    return !info->by_exidx ||
           (wndl_exidx_read(&info->arm.exidx,
                (size_t)(function->fde / EXIDX_ENTRY), &entry,
                NULL) == WNDL_OK &&
               wndl_exidx_row(&entry, &row, NULL) == WNDL_OK);
}

enum wndl_status wndl_unwind_info_cover(struct wndl_unwind_info *info,
    const char *path, struct wndl_mem *mem, struct wndl_error *err)
{
    enum wndl_status status = open_functions(info, path, NULL, mem, err);
    for (size_t i = 0; i < info->functions.len && status == WNDL_OK; i++) {
        const struct wndl_unwind_function *f = wndl_vec_at(&info->functions, i);
        if (f->start < f->end && has_rule(info, f))
            cover(info, f->start, f->end);
    }
    return status;
}

void wndl_unwind_info_close(struct wndl_unwind_info *info)
{
    if (info->object != NULL)
        wndl_object_close(info->object);
    wndl_file_close(&info->file);
    wndl_arena_free(&info->arena);
    *info = (struct wndl_unwind_info){0};
}

/* ---- questions */

/* Both kinds of elements begin with start and end. */
static const void *find(const struct wndl_vec *sorted, uint64_t svma)
{
    size_t low = 0, high = sorted->len;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const uint64_t *bounds = wndl_vec_at(sorted, middle);
        if (svma < bounds[0])
            high = middle;
        else if (svma >= bounds[1])
            low = middle + 1;
        else
            return bounds;
    }
    return NULL;
}

const struct wndl_unwind_range *wndl_unwind_info_find(
    const struct wndl_unwind_info *info, uint64_t svma)
{
    return find(&info->ranges, svma);
}

const struct wndl_unwind_function *wndl_unwind_info_function(
    const struct wndl_unwind_info *info, uint64_t svma)
{
    return find(&info->functions, svma);
}

/* A function's STACK CFI records being written. */
struct records {
    struct wndl_buf *text;
    const struct wndl_unwind_info *info;
    const struct wndl_unwind_function *function;
    struct wndl_cfi_row before;
    bool begun;
};

static bool visit_record(void *context, const struct wndl_cfi_row *row)
{
    struct records *r = context;
    const struct wndl_unwind_function *f = r->function;
    const uint64_t base = wndl_object_image_base(r->info->object).v;
    if (row->cfa.kind == WNDL_RULE_UNSET || row->start >= f->end)
        return row->start < f->end;
    if (!r->begun)
        wndl_buf_printf(r->text, "STACK CFI INIT %llx %llx ",
            (unsigned long long)(row->start - base),
            (unsigned long long)(f->end - row->start));
    else
        wndl_buf_printf(r->text, "STACK CFI %llx ",
            (unsigned long long)(row->start - base));
    size_t said = r->text->size;
    wndl_cfi_text_breakpad(
        r->text, r->info->machine, row, r->begun ? &r->before : NULL);
    if (r->begun && r->text->size == said) {
        /* The row differs in what Breakpad has no name for. */
        while (r->text->size > 0 && r->text->data[r->text->size - 1] != '\n')
            r->text->size--;
    } else {
        wndl_buf_byte(r->text, '\n');
    }
    r->before = *row;
    r->begun = true;
    return true;
}

void wndl_unwind_info_breakpad(struct wndl_buf *text,
    const struct wndl_unwind_info *info,
    const struct wndl_unwind_function *function)
{
    struct wndl_fde fde;
    struct records records = {text, info, function, {0}, false};
    if (function->start >= function->end)
        return;
    enum wndl_status status;
    if (info->by_exidx)
        status = wndl_arm_source_rows(&info->arm,
            (size_t)(function->fde / EXIDX_ENTRY), visit_record, &records,
            NULL);
    else
        status = wndl_fde_parse(&info->frame, function->fde, &fde, NULL, NULL);
    if (status == WNDL_OK && !info->by_exidx)
        status =
            wndl_cfi_rows(&info->frame, &fde, visit_record, &records, NULL);
    /* Damage has been counted when the file was opened. */
    (void)status;
}
