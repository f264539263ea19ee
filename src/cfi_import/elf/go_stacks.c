/* SPDX-License-Identifier: MIT */
#include "cfi_import/elf/go_stacks.h"

#include "base/map.h"

#include <string.h>

enum { DW_CFA_NOP = 0x00, DW_CFA_UNDEFINED = 0x07, ONE_BYTE_REGS = 0x80 };

/*
 * A goroutine begins in goexit, and a thread in mstart or rt0_go. The others
 * continue on the thread's own stack: the stack of the goroutine that they
 * leave has no record. Newer compilers add the name of the calling convention.
 */
static const char *const names[] = {"runtime.goexit", "runtime.mstart",
    "runtime.rt0_go", "runtime.mcall", "runtime.morestack",
    "runtime.systemstack"};
static const char CONVENTION[] = ".abi0";

static bool is_first(struct wndl_bytes name)
{
    const size_t extra = sizeof CONVENTION - 1;
    if (name.size > extra &&
        memcmp(name.data + name.size - extra, CONVENTION, extra) == 0)
        name.size -= extra;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (wndl_bytes_is(name, names[i]))
            return true;
    }
    return false;
}

/* The addresses of these functions. False if memory is out. */
static bool list_starts(struct wndl_map *starts, struct wndl_object *object)
{
    const struct wndl_symbol *all;
    size_t count;
    if (wndl_object_functions(object, &all, &count, NULL) != WNDL_OK)
        return true;
    for (size_t i = 0; i < count; i++) {
        uint64_t *place =
            is_first(all[i].name) ? wndl_map_put(starts, all[i].addr.v) : NULL;
        if (place != NULL)
            *place = 1;
        else if (is_first(all[i].name))
            return false;
    }
    return true;
}

/* `program` is in `copy`. A program that is too short stays as it is. */
static void forget_caller(uint8_t *program, size_t size, uint64_t ra_reg)
{
    if (size < 2 || ra_reg >= ONE_BYTE_REGS)
        return;
    program[0] = DW_CFA_UNDEFINED;
    program[1] = (uint8_t)ra_reg;
    memset(program + 2, DW_CFA_NOP, size - 2);
}

static void edit(uint8_t *copy, const struct wndl_cfi_section *frame,
    const struct wndl_map *starts)
{
    uint64_t next;
    for (uint64_t at = 0; at < frame->bytes.size; at = next) {
        struct wndl_fde fde;
        next = frame->bytes.size;
        if (wndl_fde_parse(frame, at, &fde, &next, NULL) == WNDL_OK &&
            wndl_map_get(starts, fde.start) != NULL)
            forget_caller(copy + (fde.program.data - frame->bytes.data),
                fde.program.size, fde.cie.ra_reg);
    }
}

enum wndl_status wndl_go_begin_stacks(struct wndl_cfi_section *frame,
    struct wndl_object *object, struct wndl_arena *arena,
    struct wndl_error *err)
{
    struct wndl_map starts;
    if (!wndl_object_has_section(object, ".go.buildinfo"))
        return WNDL_OK;
    wndl_map_init(&starts, arena);
    uint8_t *copy =
        (uint8_t *)wndl_arena_copy(arena, frame->bytes.data, frame->bytes.size);
    if (copy == NULL || !list_starts(&starts, object))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    edit(copy, frame, &starts);
    frame->bytes.data = copy;
    return WNDL_OK;
}
