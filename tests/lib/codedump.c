/* SPDX-License-Identifier: MIT */
/*
 * codedump: compares the rules that windlass makes from code with those of call
 * frame information, of which only the extents of functions are used.
 *
 *   codedump FILE          counts
 *   codedump FILE list     also the addresses that differ
 *   codedump FILE blind    without the extents, too
 */
#include "code_verdict.h"

#include "cfi_import/code/binary.h"
#include "cfi_import/core/source.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct tally {
    const struct wndl_code_flow *flow;
    bool lists;
    uint64_t all, counts[WNDL_CODE_VERDICTS];
    uint64_t without_rule, joined;
    uint64_t function;
};

static void die(const char *what)
{
    fprintf(stderr, "codedump: %s\n", what);
    exit(2);
}

static void judge(
    struct tally *t, uint64_t svma, const struct wndl_cfi_row *row)
{
    static const char *const names[] = {"equal", "unsaid", "missing", "wrong"};
    struct wndl_code_state state;
    struct wndl_cfi_row own;
    uint8_t room[WNDL_CODE_ROOM];
    const uint64_t offset = svma - t->flow->text->code.svma;
    if (!wndl_code_flow_state(t->flow, offset, &state))
        return;
    const enum wndl_code_verdict v = wndl_code_judge(&state, row);
    t->counts[v]++;
    t->without_rule += !wndl_code_state_row(&state, &own, room);
    t->joined += v != WNDL_CODE_EQUAL && state.joined != 0;
    if (t->lists && v != WNDL_CODE_EQUAL)
        printf("%s %#" PRIx64 " in %#" PRIx64 "%s sp %u%+d\n", names[v], svma,
            t->function, state.joined != 0 ? " joined" : "",
            wndl_code_state_sp(&state).from, wndl_code_state_sp(&state).offset);
}

static bool compare_row(void *context, const struct wndl_cfi_row *row)
{
    struct tally *t = context;
    const struct wndl_code_part *code = &t->flow->text->code;
    for (uint64_t at = row->start; at < row->end;) {
        struct wndl_insn_glance g;
        const uint64_t offset = at - code->svma;
        if (offset >= code->bytes.size)
            return false;
        const struct wndl_bytes bytes =
            wndl_bytes_slice(code->bytes, offset, code->bytes.size - offset);
        if (!wndl_insn_glance(t->flow->text->mode, bytes, at, &g))
            g.size = 1;
        t->all++;
        judge(t, at, row);
        if (t->lists && wndl_code_flow_id(t->flow, offset) == 0)
            printf("unreached %#" PRIx64 " in %#" PRIx64 "\n", at, t->function);
        at += g.size;
    }
    return true;
}

static void compare(struct tally *t, const struct wndl_cfi_section *frame)
{
    uint64_t next = 0;
    for (uint64_t at = 0; at < frame->bytes.size; at = next) {
        struct wndl_fde fde;
        next = frame->bytes.size;
        if (wndl_fde_parse(frame, at, &fde, &next, NULL) != WNDL_OK)
            continue;
        t->function = fde.start;
        if (wndl_cfi_rows(frame, &fde, compare_row, t, NULL) != WNDL_OK)
            die("damaged call frame information");
    }
}

static void compare_text(struct wndl_code_binary *binary,
    const struct wndl_cfi_section *frame, const struct wndl_code_part *code,
    const char *mode)
{
    struct wndl_arena arena;
    struct wndl_code_flow flow;
    struct wndl_code_text text = {.mode = wndl_code_mode_of(binary->object),
        .code = *code,
        .got = binary->got,
        .is_fixed = binary->is_fixed,
        .parts = binary->parts.data,
        .part_count = binary->parts.len,
        .functions = {binary->functions.data, binary->functions.len},
        .start = wndl_object_entry(binary->object).v,
        .ends = wndl_code_binary_ends,
        .context = binary};
    const struct wndl_code_ranges functions = text.functions;
    const clock_t start = clock();
    if (strcmp(mode, "blind") == 0)
        text.functions.count = 0;
    wndl_arena_init(&arena, wndl_mem_libc());
    if (!wndl_code_flow_init(&flow, &text, &arena))
        die("out of memory");
    wndl_code_binary_enter(binary, &flow);
    for (size_t i = 0; i < functions.count; i++)
        wndl_code_flow_scan(
            &flow, functions.all[i].start, functions.all[i].end, true);
    if (!wndl_code_flow_run(&flow))
        die("out of memory");
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    struct tally t = {.flow = &flow, .lists = strcmp(mode, "list") == 0};
    compare(&t, frame);
    const uint64_t *n = t.counts;
    if (t.all != 0)
        printf("%#" PRIx64 " all %" PRIu64 " reached %" PRIu64 " equal %" PRIu64
               " unsaid %" PRIu64 " missing %" PRIu64 " wrong %" PRIu64
               " ruleless %" PRIu64 " joined %" PRIu64 " states %u ms %.0f"
               " MB %zu%s\n",
            code->svma, t.all, n[0] + n[1] + n[2] + n[3], n[0], n[1], n[2],
            n[3], t.without_rule, t.joined, wndl_intern_count(&flow.states),
            seconds * 1000, arena.taken >> 20, flow.full ? " full" : "");
    wndl_arena_free(&arena);
}

int main(int argc, char **argv)
{
    struct wndl_file file;
    struct wndl_object *object = NULL;
    struct wndl_arena arena;
    struct wndl_code_binary binary;
    struct wndl_cfi_source cfi = {0};
    if (argc < 2)
        die("usage: codedump FILE [list|blind]");
    wndl_arena_init(&arena, wndl_mem_libc());
    if (wndl_file_open(argv[1], &file, NULL) != WNDL_OK ||
        wndl_object_open(file.bytes, argv[1], wndl_mem_libc(), &object, NULL) !=
            WNDL_OK)
        die("cannot read the file");
    if (wndl_cfi_source_find(&cfi, object, ".eh_frame", NULL) != WNDL_OK ||
        wndl_code_binary_open(&binary, object, &cfi.frame, &arena) != WNDL_OK)
        die("no call frame information");
    for (size_t i = 0; i < binary.texts.len; i++)
        compare_text(&binary, &cfi.frame, wndl_vec_at(&binary.texts, i),
            argc > 2 ? argv[2] : "");
    wndl_object_close(object);
    wndl_file_close(&file);
    wndl_arena_free(&arena);
    return 0;
}
