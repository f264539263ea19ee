/* SPDX-License-Identifier: MIT */
#include "cfi_import/code/binary.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

/* ---- sections */

static bool add_part(struct wndl_vec *parts, const struct wndl_code_part *part)
{
    struct wndl_code_part *added = wndl_vec_push(parts);
    if (added != NULL)
        *added = *part;
    return added != NULL;
}

/* The base of i386's addresses of data: psABI, "Global Offset Table". */
static void take_got(struct wndl_code_binary *b, const struct wndl_section *s)
{
    if (wndl_bytes_is(s->name, ".got.plt") ||
        (b->got == 0 && wndl_bytes_is(s->name, ".got")))
        b->got = s->addr.v;
}

static bool take_section(
    struct wndl_code_binary *b, const struct wndl_section *s)
{
    struct wndl_code_part part = {.svma = s->addr.v};
    struct wndl_section found;
    char name[64];
    if ((s->flags & SHF_ALLOC) == 0 || s->type == SHT_NOBITS ||
        s->name.size >= sizeof name)
        return true;
    memcpy(name, s->name.data, s->name.size);
    name[s->name.size] = '\0';
    if (wndl_object_section_bytes(b->object, name, &part.bytes, &found, NULL) !=
            WNDL_OK ||
        found.addr.v != s->addr.v)
        return true;
    return add_part(&b->parts, &part) &&
           ((s->flags & SHF_EXECINSTR) == 0 || add_part(&b->texts, &part));
}

enum wndl_insn_mode wndl_code_mode_of(const struct wndl_object *object)
{
    const uint16_t machine = wndl_object_machine(object);
    return machine == EM_386       ? WNDL_INSN_32
           : machine == EM_AARCH64 ? WNDL_INSN_A64
                                   : WNDL_INSN_64;
}

/* ---- extents */

static int compare_ranges(const void *a, const void *b)
{
    const struct wndl_code_range *r = a, *s = b;
    return r->start != s->start ? (r->start < s->start ? -1 : 1)
                                : (r->end > s->end) - (r->end < s->end);
}

/* Functions end where the next one starts; `covered` joins neighbours. */
static bool separate(struct wndl_code_binary *b)
{
    struct wndl_code_range *all = b->functions.data, *last = NULL;
    if (b->functions.len > 1)
        qsort(all, b->functions.len, sizeof *all, compare_ranges);
    for (size_t i = 0; i < b->functions.len; i++) {
        if (last != NULL && all[i].start <= last->end) {
            last->end = all[i].end > last->end ? all[i].end : last->end;
        } else {
            last = wndl_vec_push(&b->covered);
            if (last == NULL)
                return false;
            *last = all[i];
        }
        if (i != 0 && all[i - 1].end > all[i].start)
            all[i - 1].end = all[i].start;
    }
    return true;
}

static bool take_frame(
    struct wndl_code_binary *b, const struct wndl_cfi_section *frame)
{
    uint64_t next = 0;
    for (uint64_t at = 0; at < frame->bytes.size; at = next) {
        struct wndl_fde fde;
        next = frame->bytes.size;
        if (wndl_fde_parse(frame, at, &fde, &next, NULL) != WNDL_OK ||
            fde.start >= fde.end)
            continue;
        struct wndl_code_range *range = wndl_vec_push(&b->functions);
        if (range == NULL)
            return false;
        *range = (struct wndl_code_range){fde.start, fde.end};
    }
    return separate(b);
}

enum wndl_status wndl_code_binary_open(struct wndl_code_binary *b,
    struct wndl_object *object, const struct wndl_cfi_section *frame,
    struct wndl_arena *arena)
{
    *b = (struct wndl_code_binary){
        .object = object, .is_fixed = wndl_object_image_base(object).v != 0};
    wndl_vec_init(&b->parts, arena, sizeof(struct wndl_code_part));
    wndl_vec_init(&b->texts, arena, sizeof(struct wndl_code_part));
    wndl_vec_init(&b->functions, arena, sizeof(struct wndl_code_range));
    wndl_vec_init(&b->covered, arena, sizeof(struct wndl_code_range));
    wndl_map_init(&b->ends, arena);
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        const struct wndl_section s = wndl_object_section(object, i);
        take_got(b, &s);
        if (!take_section(b, &s))
            return WNDL_NOMEM;
    }
    return take_frame(b, frame) ? WNDL_OK : WNDL_NOMEM;
}

/* ---- names */

static const char *const enders[] = {"abort", "exit", "_exit", "_Exit",
    "quick_exit", "__stack_chk_fail", "__fortify_fail", "__chk_fail",
    "__assert_fail", "__assert_perror_fail", "__assert", "longjmp", "_longjmp",
    "siglongjmp", "__longjmp_chk", "__libc_fatal", "__libc_start_call_main",
    "pthread_exit", "thrd_exit", "err", "errx", "verr", "verrx", "__cxa_throw",
    "__cxa_rethrow", "__cxa_bad_cast", "__cxa_bad_typeid",
    "__cxa_throw_bad_array_new_length", "__cxa_call_unexpected",
    "__cxa_call_terminate", "_Unwind_Resume", "_ZSt9terminatev",
    "_ZSt10unexpectedv", "_ZSt17__throw_bad_allocv",
    "_ZSt20__throw_length_errorPKc", "_ZSt20__throw_out_of_rangePKc",
    "_ZSt24__throw_out_of_range_fmtPKcz", "_ZSt19__throw_logic_errorPKc",
    "_ZSt16__throw_bad_castv", "_ZSt25__throw_bad_function_callv",
    "_ZSt20__throw_system_errori", "_ZSt21__throw_runtime_errorPKc",
    "_ZSt24__throw_invalid_argumentPKc", "_ZSt28__throw_bad_array_new_lengthv",
    "g_assertion_message_expr", "g_assertion_message", "obstack_alloc_failed"};

static bool is_ender(struct wndl_bytes name)
{
    for (size_t i = 0; i < sizeof enders / sizeof *enders; i++) {
        if (wndl_bytes_is(name, enders[i]))
            return true;
    }
    return false;
}

bool wndl_code_binary_ends(void *context, uint64_t svma)
{
    enum { RETURNS = 1, ENDS = 2 };
    struct wndl_code_binary *b = context;
    struct wndl_symbol s;
    const wndl_svma at = {svma};
    uint64_t *known = wndl_map_put(&b->ends, svma);
    if (known == NULL)
        return false;
    if (*known == 0) {
        const bool ends =
            (wndl_object_find_plt(b->object, at, &s, NULL) == WNDL_OK ||
                (wndl_object_find_function(b->object, at, &s, NULL) ==
                        WNDL_OK &&
                    s.addr.v == svma)) &&
            is_ender(s.name);
        *known = ends ? ENDS : RETURNS;
    }
    return *known == ENDS;
}

/* musl's goes on by the address of its second stage. */
static enum wndl_code_entry kind_of(const struct wndl_symbol *s)
{
    if (wndl_bytes_is(s->name, "__libc_start_main"))
        return WNDL_CODE_FIRST;
    return s->kind == WNDL_SYMBOL_FUNC && s->size != 0 ? WNDL_CODE_CALLED
                                                       : WNDL_CODE_NAMED;
}

void wndl_code_binary_enter(
    struct wndl_code_binary *b, struct wndl_code_flow *flow)
{
    const struct wndl_symbol *symbols;
    size_t count = 0;
    if (wndl_object_functions(b->object, &symbols, &count, NULL) != WNDL_OK)
        return;
    for (size_t i = 0; i < count; i++)
        wndl_code_flow_enter(flow, symbols[i].addr.v, kind_of(&symbols[i]));
}
