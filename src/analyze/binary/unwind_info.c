/* SPDX-License-Identifier: MIT */
#include "analyze/binary/unwind_info.h"

#include "analyze/binary/pe_stacks.h"
#include "analyze/binary/unwind_info_parts.h"
#include "base/search.h"
#include "cfi_import/elf/frames.h"
#include "cfi_import/open.h"
#include "cfi_import/stack_record/object.h"
#include "obj/packed/zip.h"
#include "obj/pe/pe.h"
#include "unwind/core/arch.h"

#include <elf.h>

static enum wndl_status no_memory(struct wndl_error *err)
{
    return wndl_fail(err, WNDL_NOMEM, "out of memory");
}

/* ---- the file */

static void reject_lost(struct wndl_unwind_info *info,
    enum wndl_unwind_reject reason, const struct wndl_cfi_source_lost *lost)
{
    if (lost->count == 0)
        return;
    wndl_unwind_info_count_reject(info, reason, 0, &lost->first);
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

/* Adds what debug files have, and then what code says. */
static enum wndl_status add_rules(struct wndl_unwind_info *info,
    const struct wndl_unwind_info_request *request, struct wndl_mem *mem,
    struct wndl_pe_stacks *stacks)
{
    enum wndl_status status = wndl_pe_add_stacks(info->object, mem, stacks);
    if (status != WNDL_NOMEM)
        status =
            wndl_elf_cfi_add_debug_file(info->object, request->debug_dirs, mem);
    if (status != WNDL_NOMEM && request->from_code) {
        info->from_code = true;
        status = wndl_code_rules_add(info->object, &info->code, mem);
    }
    return status;
}

static enum wndl_status open_object(struct wndl_unwind_info *info,
    const struct wndl_unwind_info_request *request, struct wndl_bytes bytes,
    struct wndl_mem *mem, struct wndl_error *err)
{
    const struct wndl_object_source source = {
        bytes, request->path, request->arch};
    enum wndl_status status =
        wndl_symbol_file_object_open(&source, mem, &info->object, err);
    if (status != WNDL_OK) {
        info->object = NULL;
        return status;
    }
    struct wndl_pe_stacks stacks;
    if (add_rules(info, request, mem, &stacks) == WNDL_NOMEM)
        return no_memory(err);
    reject_lost(info, WNDL_REJECT_DAMAGED_RECORD, &stacks.lost);
    const uint16_t machine = wndl_object_machine(info->object);
    info->machine = wndl_cfi_machine_of(machine);
    info->knows_ways = wndl_arch_of(machine) == WNDL_ARCH_HERE;
    if (!wndl_object_is_image(info->object))
        return wndl_fail(
            err, WNDL_UNSUPPORTED, "not a program or a shared library");
    if (info->machine == NULL)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "unsupported machine (supported: x86-64, i386, Arm and AArch64)");
    status = find_rules(info, err);
    if (status == WNDL_NOT_FOUND)
        wndl_pe_explain_no_stacks(&stacks, err);
    return status;
}

/* All but the rows. */
static enum wndl_status open_functions(struct wndl_unwind_info *info,
    const struct wndl_unwind_info_request *request, struct wndl_mem *mem,
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
    struct wndl_bytes bytes;
    enum wndl_status status =
        wndl_zip_open_path(request->path, &info->file, &bytes, err);
    if (status == WNDL_OK)
        status = open_object(info, request, bytes, mem, err);
    wndl_error_set_file(status == WNDL_OK ? NULL : err, request->path);
    if (status != WNDL_OK)
        return status;
    if (!wndl_intern_init(&info->rules, &info->arena) ||
        !wndl_unwind_info_list_sections(info) ||
        !wndl_unwind_info_list_functions(info))
        return no_memory(err);
    return WNDL_OK;
}

enum wndl_status wndl_unwind_info_open_request(struct wndl_unwind_info *info,
    const struct wndl_unwind_info_request *request, struct wndl_mem *mem,
    struct wndl_error *err)
{
    enum wndl_status status = open_functions(info, request, mem, err);
    if (status == WNDL_OK && !wndl_unwind_info_list_ranges(info, mem))
        return no_memory(err);
    return status;
}

enum wndl_status wndl_unwind_info_open(struct wndl_unwind_info *info,
    const char *path, struct wndl_mem *mem, struct wndl_error *err)
{
    const struct wndl_unwind_info_request request = {.path = path};
    return wndl_unwind_info_open_request(info, &request, mem, err);
}

/*
 * Whether the function has a rule at all: an entry of .ARM.exidx may forbid
 * unwinding.
 */
static bool has_rule(const struct wndl_unwind_info *info,
    const struct wndl_unwind_function *function)
{
    struct wndl_exidx_entry entry;
    struct wndl_cfi_row row;
    return !info->by_exidx ||
           (wndl_exidx_read(&info->arm.exidx,
                wndl_unwind_info_entry_of(function), &entry, NULL) == WNDL_OK &&
               wndl_exidx_row(&entry, &row, NULL) == WNDL_OK);
}

enum wndl_status wndl_unwind_info_cover(struct wndl_unwind_info *info,
    const char *path, struct wndl_mem *mem, struct wndl_error *err)
{
    const struct wndl_unwind_info_request request = {.path = path};
    enum wndl_status status = open_functions(info, &request, mem, err);
    for (size_t i = 0; i < info->functions.len && status == WNDL_OK; i++) {
        const struct wndl_unwind_function *f = wndl_vec_at(&info->functions, i);
        if (f->start < f->end && has_rule(info, f))
            wndl_unwind_info_cover_code(info, f->start, f->end);
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

/* The element around `svma`; both kinds begin with start and end. */
static const void *find_element(const struct wndl_vec *sorted, uint64_t svma)
{
    size_t below =
        wndl_search_up_to(sorted->data, sorted->element, sorted->len, svma);
    const uint64_t *bounds = below == 0 ? NULL : wndl_vec_at(sorted, below - 1);
    return bounds != NULL && svma < bounds[1] ? bounds : NULL;
}

const struct wndl_unwind_range *wndl_unwind_info_find(
    const struct wndl_unwind_info *info, uint64_t svma)
{
    return find_element(&info->ranges, svma);
}

const struct wndl_unwind_function *wndl_unwind_info_function(
    const struct wndl_unwind_info *info, uint64_t svma)
{
    return find_element(&info->functions, svma);
}
