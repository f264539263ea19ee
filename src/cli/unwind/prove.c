/* SPDX-License-Identifier: MIT */
#include "cli/unwind/prove.h"

#include "base/map.h"
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/debug_dirs.h"
#include "cli/unwind/proved_code.h"
#include "cli/unwind/traced.h"
#include "os/clock.h"
#include "os/process_memory.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define MS UINT64_C(1000000)

enum {
    RBX = 3,
    RBP = 6,
    RSP = 7,
    RIP = 16,
    WORD = 8,
    LONGEST_MS = 5 * 60 * 1000,
    GAP_MS = 10,   /* between two windows, at most */
    CALL_MS = 200, /* a longer system call ends a window */
    LISTED = 100,
};

/* An instruction with a wrong rule, or without one. */
struct wrong {
    const struct wndl_proved_module *module;
    uint64_t svma, count;
    enum wndl_proof_source source;
    enum wndl_proof_verdict verdict;
};

struct proving {
    const struct wndl_prove_request *request;
    struct wndl_traced traced;
    struct wndl_proved_code code;
    struct wndl_cfi_memory memory;
    struct wndl_shadow shadow;
    struct wndl_proof_tally tally;
    struct wndl_arena arena;
    struct wndl_vec wrongs; /* struct wrong */
    struct wndl_map by_address;
    uint64_t end; /* CLOCK_MONOTONIC */
    uint64_t random;
    uint64_t last; /* the instruction before; 0: none */
    uint64_t windows, steps, stacks, stacks_right;
};

static uint64_t next_random(struct proving *p)
{
    p->random ^= p->random << 13;
    p->random ^= p->random >> 7;
    p->random ^= p->random << 17;
    return p->random;
}

static bool read_memory(void *context, uint64_t address, void *to, size_t size)
{
    const struct proving *p = context;
    return wndl_process_read(p->traced.pid, address, to, size) == size;
}

/* ---- judging */

static bool keeps(
    const struct wndl_cfi_regs *caller, unsigned reg, uint64_t value)
{
    return (caller->valid >> reg & 1) == 0 || caller->regs[reg] == value;
}

/* Steps by a rule, and compares with the call that led there. */
static enum wndl_proof_verdict compare(const struct proving *p,
    const struct wndl_proved_insn *insn, const struct wndl_shadow_frame *call,
    const struct wndl_cfi_regs *regs, struct wndl_cfi_regs *caller)
{
    *caller = (struct wndl_cfi_regs){0};
    if (insn->rule.source == WNDL_PROOF_NO_RULE)
        return WNDL_PROOF_MISSING;
    if (wndl_cfi_step(&insn->module->rules.cfi.frame, &insn->rule.row, regs,
            &p->memory, caller) != WNDL_OK ||
        caller->regs[RIP] != call->ra || caller->regs[RSP] != call->slot + WORD)
        return WNDL_PROOF_WRONG;
    return call->knows && (!keeps(caller, RBP, call->fp) ||
                              !keeps(caller, RBX, call->bx))
               ? WNDL_PROOF_REGISTERS
               : WNDL_PROOF_RIGHT;
}

static void list_wrong(struct proving *p, const struct wndl_proved_insn *insn,
    enum wndl_proof_verdict verdict)
{
    uint64_t *known = wndl_map_put(&p->by_address, insn->address);
    struct wrong *wrong = NULL;
    if (known != NULL && *known == 0) {
        wrong = wndl_vec_push(&p->wrongs);
        *known = p->wrongs.len;
        if (wrong != NULL)
            *wrong = (struct wrong){
                insn->module, insn->svma, 0, insn->rule.source, verdict};
    } else if (known != NULL) {
        wrong = wndl_vec_at(&p->wrongs, *known - 1);
    }
    if (wrong != NULL)
        wrong->count++;
}

/* Frames of signal handlers are stepped over to an instruction, not a call. */
static bool is_judged(const struct wndl_proved_insn *insn)
{
    return insn->module != NULL && insn->module->is_wanted &&
           (insn->rule.source == WNDL_PROOF_NO_RULE ||
               !insn->rule.row.signal_frame);
}

static void judge(struct proving *p, const struct wndl_proved_insn *insn,
    const struct wndl_cfi_regs *regs)
{
    struct wndl_cfi_regs caller;
    struct wndl_shadow_frame *top = wndl_shadow_top(&p->shadow);
    uint8_t note = 0;
    if (top == NULL)
        return;
    if (is_judged(insn)) {
        const enum wndl_proof_verdict verdict =
            compare(p, insn, top, regs, &caller);
        if (verdict != WNDL_PROOF_RIGHT)
            list_wrong(p, insn, verdict);
        note = wndl_proof_note(insn->rule.source, verdict, insn->rule.in_plt);
    }
    wndl_proof_take(&p->tally, top, note);
}

/* The whole stack, as a sample would be: to the last call that is known. */
static bool is_stack_right(struct proving *p, struct wndl_cfi_regs regs)
{
    uint64_t address = regs.regs[RIP];
    for (size_t i = p->shadow.count; i-- > 0;) {
        struct wndl_cfi_regs caller;
        const struct wndl_proved_insn *insn =
            wndl_proved_code_at(&p->code, address);
        if (insn->module == NULL || compare(p, insn, &p->shadow.frames[i],
                                        &regs, &caller) != WNDL_PROOF_RIGHT)
            return false;
        regs = caller;
        address = caller.regs[RIP] - 1;
    }
    return true;
}

static bool is_in_wanted(struct proving *p, const struct wndl_cfi_regs *regs)
{
    return is_judged(wndl_proved_code_at(&p->code, regs->regs[RIP]));
}

static void judge_stack(struct proving *p, const struct wndl_cfi_regs *regs)
{
    if (p->shadow.count == 0 || !is_in_wanted(p, regs))
        return;
    p->stacks++;
    p->stacks_right += is_stack_right(p, *regs);
}

/* ---- the calls before a window */

/* By call frame information alone. False unless that leads to the root. */
static bool list_callers(struct proving *p, struct wndl_cfi_regs regs,
    struct wndl_shadow_frame *frames, size_t *count)
{
    uint64_t address = regs.regs[RIP];
    for (*count = 0; *count < WNDL_SHADOW_DEPTH; (*count)++) {
        struct wndl_cfi_regs caller;
        const struct wndl_proved_insn *insn =
            wndl_proved_code_at(&p->code, address);
        if (insn->module == NULL ||
            insn->rule.source > WNDL_PROOF_DEBUG_FRAME ||
            insn->rule.row.signal_frame)
            return false;
        const enum wndl_status status =
            wndl_cfi_step(&insn->module->rules.cfi.frame, &insn->rule.row,
                &regs, &p->memory, &caller);
        if (status != WNDL_OK)
            return status == WNDL_NOT_FOUND;
        frames[*count] =
            (struct wndl_shadow_frame){.slot = caller.regs[RSP] - WORD,
                .ra = caller.regs[RIP],
                .steps = WNDL_SHADOW_EDGE};
        regs = caller;
        address = caller.regs[RIP] - 1;
    }
    return false;
}

static void add_callers(struct proving *p, const struct wndl_cfi_regs *regs)
{
    size_t count;
    struct wndl_shadow_frame *frames =
        wndl_mem_zalloc(wndl_mem_libc(), WNDL_SHADOW_DEPTH * sizeof *frames);
    if (frames != NULL && list_callers(p, *regs, frames, &count)) {
        while (count-- > 0)
            (void)wndl_shadow_push(&p->shadow, &frames[count]);
    }
    wndl_mem_free(wndl_mem_libc(), frames);
}

/* ---- windows */

static enum wndl_shadow_kind kind_of(const struct wndl_insn *insn)
{
    if (insn->op == WNDL_INSN_CALL || insn->op == WNDL_INSN_CALL_OTHER)
        return WNDL_SHADOW_CALL;
    return insn->op == WNDL_INSN_RETURN ? WNDL_SHADOW_RETURN
                                        : WNDL_SHADOW_OTHER;
}

static void take_step(struct proving *p, const struct wndl_insn *insn,
    const struct wndl_cfi_regs *before, const struct wndl_cfi_regs *after)
{
    struct wndl_shadow_step step = {
        .kind = (uint8_t)kind_of(insn),
        .size = insn->size,
        .ip = before->regs[RIP],
        .sp = before->regs[RSP],
        .fp = before->regs[RBP],
        .bx = before->regs[RBX],
        .next_ip = after->regs[RIP],
        .next_sp = after->regs[RSP],
    };
    if (step.kind == WNDL_SHADOW_CALL)
        (void)read_memory(p, step.next_sp, &step.word, WORD);
    (void)wndl_shadow_take(&p->shadow, &step);
}

/* A repeated instruction, such as rep movsb, counts once. */
static void begin_step(struct proving *p, const struct wndl_proved_insn *insn,
    const struct wndl_cfi_regs *regs)
{
    if (regs->regs[RIP] == p->last)
        return;
    p->last = regs->regs[RIP];
    p->steps++;
    judge(p, insn, regs);
}

/* False: the window is over, and the thread does not stand still any more. */
static bool step_once(
    struct proving *p, pid_t thread, struct wndl_cfi_regs *regs)
{
    const struct wndl_cfi_regs before = *regs;
    const struct wndl_proved_insn *insn =
        wndl_proved_code_at(&p->code, before.regs[RIP]);
    const struct wndl_insn what = insn->insn;
    const bool pushes_flags = insn->pushes_flags;
    const bool is_known = insn->is_known;
    const bool waits = insn->is_call_of_kernel;
    begin_step(p, insn, &before);
    if (!wndl_traced_step(&p->traced, thread, waits,
            waits ? wndl_clock_monotonic_ns() + CALL_MS * MS : 0) ||
        !wndl_traced_regs(thread, regs))
        return false;
    if (pushes_flags)
        wndl_traced_hide(thread, regs->regs[RSP]);
    if (is_known)
        take_step(p, &what, &before, regs);
    else
        wndl_shadow_clear(&p->shadow);
    return true;
}

static void run_window(struct proving *p, pid_t thread)
{
    struct wndl_cfi_regs regs;
    uint64_t steps = 0;
    const uint32_t execs = p->traced.execs;
    bool stands = wndl_traced_regs(thread, &regs);
    p->last = 0;
    wndl_proved_code_refresh(&p->code);
    if (stands)
        add_callers(p, &regs);
    while (stands && steps++ < p->request->steps && !p->code.failed &&
           (steps % 1024 != 0 || wndl_clock_monotonic_ns() < p->end))
        stands = step_once(p, thread, &regs) && execs == p->traced.execs;
    if (stands)
        judge_stack(p, &regs);
    wndl_shadow_clear(&p->shadow);
    if (stands)
        wndl_traced_continue(thread);
    p->windows++;
}

static void run_windows(struct proving *p)
{
    while (p->windows < p->request->windows && !p->traced.is_over &&
           !p->code.failed && wndl_clock_monotonic_ns() < p->end) {
        wndl_traced_run(&p->traced, next_random(p) % (GAP_MS * MS));
        if (p->traced.is_over)
            return;
        const pid_t thread = wndl_traced_stop(&p->traced, next_random(p));
        if (thread != 0)
            run_window(p, thread);
    }
}

/* ---- the result */

static const char *const source_names[] = {
    ".eh_frame", ".debug_frame", "code", "no rule"};
static const char *const part_names[] = {"prologue", "body", "epilogue", "PLT"};

static void say_row(const struct proving *p, const char *name,
    enum wndl_proof_source source, enum wndl_proof_part part)
{
    uint64_t n[WNDL_PROOF_VERDICTS], all = 0;
    for (unsigned v = 0; v < WNDL_PROOF_VERDICTS; v++) {
        n[v] = wndl_proof_count(
            &p->tally, source, part, (enum wndl_proof_verdict)v);
        all += n[v];
    }
    if (all == 0)
        return;
    printf("%-14s %12" PRIu64 " %11.4f %10" PRIu64 " %10" PRIu64 " %10" PRIu64
           "\n",
        name, all, 100.0 * (double)n[WNDL_PROOF_RIGHT] / (double)all,
        n[WNDL_PROOF_WRONG], n[WNDL_PROOF_REGISTERS], n[WNDL_PROOF_MISSING]);
}

static int compare_wrongs(const void *a, const void *b)
{
    const struct wrong *x = a, *y = b;
    return (x->count < y->count) - (x->count > y->count);
}

static void say_wrongs(struct proving *p)
{
    struct wrong *all = p->wrongs.data;
    if (p->wrongs.len > 1)
        qsort(all, p->wrongs.len, sizeof *all, compare_wrongs);
    for (size_t i = 0; i < p->wrongs.len && i < LISTED; i++) {
        if (all[i].verdict == WNDL_PROOF_MISSING)
            printf("no rule: ");
        else
            printf("wrong%s by %s: ",
                all[i].verdict == WNDL_PROOF_REGISTERS ? " RBP or RBX" : "",
                source_names[all[i].source]);
        wndl_cli_put_tame(stdout, all[i].module->path);
        printf(
            "+0x%" PRIx64 ", %" PRIu64 " times\n", all[i].svma, all[i].count);
    }
    if (p->wrongs.len > LISTED)
        printf("... and %zu other addresses\n", p->wrongs.len - LISTED);
}

static void say_table(const struct proving *p)
{
    printf("%-14s %12s %11s %10s %10s %10s\n", "", "instructions", "% right",
        "wrong", "registers", "no rule");
    for (unsigned i = 0; i < WNDL_PROOF_SOURCES; i++)
        say_row(
            p, source_names[i], (enum wndl_proof_source)i, WNDL_PROOF_PARTS);
    for (unsigned i = 0; i < WNDL_PROOF_PARTS; i++)
        say_row(p, part_names[i], WNDL_PROOF_SOURCES, (enum wndl_proof_part)i);
    say_row(p, "all", WNDL_PROOF_SOURCES, WNDL_PROOF_PARTS);
}

static uint64_t judged(const struct proving *p, enum wndl_proof_verdict verdict)
{
    return wndl_proof_count(
        &p->tally, WNDL_PROOF_SOURCES, WNDL_PROOF_PARTS, verdict);
}

static int say_result(struct proving *p)
{
    const uint64_t wrong =
        judged(p, WNDL_PROOF_WRONG) + judged(p, WNDL_PROOF_REGISTERS);
    const uint64_t all =
        wrong + judged(p, WNDL_PROOF_RIGHT) + judged(p, WNDL_PROOF_MISSING);
    printf("%" PRIu64 " windows, %" PRIu64 " instructions, %" PRIu64
           " of them with a known caller\n",
        p->windows, p->steps, all);
    if (all == 0)
        return wndl_cli_error("no instruction could be judged: the program "
                              "did not run long enough, or not in there");
    say_table(p);
    printf("whole stacks right: %" PRIu64 " of %" PRIu64 "\n", p->stacks_right,
        p->stacks);
    say_wrongs(p);
    const int exit_code = wndl_cli_flush();
    return wrong != 0 ? WNDL_EXIT_FAILURE : exit_code;
}

static bool init(struct proving *p, const char *const *debug_dirs)
{
    wndl_arena_init(&p->arena, wndl_mem_libc());
    wndl_vec_init(&p->wrongs, &p->arena, sizeof(struct wrong));
    wndl_map_init(&p->by_address, &p->arena);
    p->memory = (struct wndl_cfi_memory){read_memory, p};
    p->end = wndl_clock_monotonic_ns() + LONGEST_MS * MS;
    p->random = wndl_clock_monotonic_ns() | 1;
    const bool has_code = wndl_proved_code_init(
        &p->code, p->traced.pid, p->request->module, debug_dirs);
    const bool has_shadow = wndl_shadow_init(&p->shadow, &p->arena);
    p->shadow.gone = wndl_proof_gone;
    p->shadow.context = &p->tally;
    return has_code && has_shadow;
}

/* A path is compared without links. */
static const char *whole_path(const char *module, char path[PATH_MAX])
{
    return module != NULL && strchr(module, '/') != NULL &&
                   realpath(module, path) != NULL
               ? path
               : module;
}

int wndl_unwind_table_prove(const struct wndl_prove_request *request)
{
    char path[PATH_MAX];
    struct wndl_debug_dirs dirs;
    struct wndl_error err = {0};
    struct wndl_prove_request whole = *request;
    struct proving p = {.request = &whole};
    whole.module = whole_path(request->module, path);
    wndl_debug_dirs_init(&dirs, NULL);
    if (!wndl_traced_start(&p.traced, request->command, &err))
        return wndl_cli_fail(&err);
    const bool is_ready = init(&p, dirs.list);
    if (is_ready)
        run_windows(&p);
    wndl_traced_end(&p.traced);
    const int exit_code = !is_ready || p.code.failed
                              ? wndl_cli_error("out of memory")
                              : say_result(&p);
    wndl_proved_code_free(&p.code);
    wndl_arena_free(&p.arena);
    return exit_code;
}
