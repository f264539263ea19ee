/* SPDX-License-Identifier: MIT */
/*
 * resume: walks that take over the unchanged part of the last walk.
 *
 * A frame's state is its word (pc, interrupted, how), SP and FP. From a state,
 * the hot loop's step to the caller is a function of
 * - the rule of the pc, which is constant within a generation,
 * - SP and FP, and
 * - the words that it reads: the return address and, if it is saved, FP.
 *
 * Suppose a walk reaches a state of the last walk, and the words that the last
 * walk read from there on still have the same values. Then each further step
 * has the same result: to compare is to walk. Nothing is left to chance: an
 * address that was reused with another value is a word that differs.
 *
 * Every other step (signal frames, full CFI, frame pointers, the end) may
 * depend on more: registers that are not tracked, the given stacks, the loaded
 * modules. It is taken anew each time, in its place. The frame from which it
 * starts is a barrier, whose one word never compares equal. The one exception
 * is an end by CFI, or at a coroutine's entry, which depends on the pc alone. A
 * word that never compares equal is also before and after those that are
 * compared, so that no loop need count them.
 *
 * A walk that is to be resumed leaves notes of each frame, which costs as much
 * as the walk. Where stacks change at random that is in vain. Such walks are
 * plain, until their frames show that stacks repeat themselves.
 *
 * Comparing reads nothing that a walk would not read. The hot loop's words are
 * between its SP and the end of the range, `high`. From one barrier to the next
 * all words are in one range, and `high` does not rise from frame to frame. So
 * if the range is now at least as long as it was at the first of them, all
 * their words are in it.
 */
#include "unwind/fast/resume.h"

#include "unwind/fast/last_walk.h"

#include <string.h>

enum { LINKS = 256, AT_ONCE = 8 };

/* The result of a run of the hot loop. */
enum outcome {
    ENDED,
    LEFT, /* another kind of step is needed */
    MET,  /* the last frame is the last walk's `next` */
};

/* Handles a last frame that is not real, or that its caller replaces. */
static enum outcome land_noted(struct wndl_resume *r, struct walker *w)
{
    const uint32_t last = (uint32_t)wndl_walker_last(w);
    uint64_t bits = wndl_frame_bits(false, WNDL_HOW_CFI);
    bool goes_on = wndl_walker_land(w, r->frames[last] - bits);
    if (goes_on && (w->out[-1] & ~WNDL_FRAME_ADDRESS) == bits)
        return LEFT;
    /* The step to it read more than its words. */
    r->words = r->states[last - 1].words;
    add_barrier(r, last - 1);
    return goes_on ? LEFT : ENDED;
}

static inline bool has_fp(const struct note *note, const struct note *caller)
{
    return note->fp_at != caller->sp - WNDL_WORD;
}

/*
 * Makes frames, states and words of the first `count` notes, from the last of
 * them on. They are written downwards from `frame` and `word`. A frame without
 * FP gets its only word twice.
 */
static inline void write_noted(const struct wndl_resume *r, uint32_t count,
    uint64_t high, uint32_t frame, uint32_t word)
{
    const uint64_t bits = wndl_frame_bits(false, WNDL_HOW_CFI);
    wndl_frame_word *out = &r->frames[frame];
    struct state *state = &r->states[frame];
    const struct note *const notes = r->notes, *note = &notes[count];
    struct word *const list = r->list;
    uint32_t *const frame_of = r->frame_of;
    uint64_t sp = note->sp, fp = note->fp, pc = note->pc;
    size_t i = word;
    while (note != notes) {
        note--;
        const uint64_t pc_at = sp - WNDL_WORD, fp_at = note->fp_at;
        frame--;
        list[i - 1].at = (uintptr_t)fp_at;
        list[i - 1].value = (uintptr_t)fp;
        frame_of[i - 1] = frame;
        i -= 1 + (fp_at != pc_at);
        list[i].at = (uintptr_t)pc_at;
        list[i].value = (uintptr_t)pc;
        frame_of[i] = frame;
        state--;
        sp = note->sp;
        fp = note->fp;
        pc = note->pc;
        state->sp = sp;
        state->fp = fp;
        state->high = high;
        state->words = (uint32_t)i;
        *--out = pc + bits;
    }
}

/* Adds the notes to the walk under way. */
static void append_noted(
    struct wndl_resume *r, struct walker *w, uint32_t count, uint64_t high)
{
    const uint32_t last = (uint32_t)(w->out - r->frames) - 1 + count;
    for (uint32_t i = 0; i < count; i++)
        r->words += 1 + has_fp(&r->notes[i], &r->notes[i + 1]);
    write_noted(r, count, high, last, r->words);
    w->out = &r->frames[last + 1];
    r->frames[last] = r->notes[count].pc + wndl_frame_bits(false, WNDL_HOW_CFI);
}

/* Takes over the result of the loop, `count` steps further. */
static enum outcome commit_noted(struct wndl_resume *r, struct walker *w,
    const struct hot *h, uint32_t count, bool met)
{
    append_noted(r, w, count, w->high);
    w->sp = h->sp;
    w->fp = h->fp;
    w->link = h->link;
    w->rule = wndl_rule_of_bits((int32_t)h->rule);
    if (met)
        return MET;
    return count > 0 ? land_noted(r, w) : LEFT;
}

/* The inputs of the hot loop. */
struct ground {
    struct wndl_unwinder *u;
    wndl_generation generation;
    uint64_t high; /* end of sp's range */
    uint32_t room; /* for so many more frames */
};

/*
 * The entry of the caller of `callee`. If threads walk all the time, each link
 * that one of them writes takes the cache line from the others. So an entry
 * gets its first two links at once, and others in few walks only. Where callers
 * alternate, a newer link is no better than an older one.
 */
static inline uintptr_t caller_of(const struct ground *g, uintptr_t callee,
    uint64_t pc, uint32_t *changes, bool link)
{
    const uintptr_t last = linked(g->u, callee);
    if (LIKELY(leads_to(g->u, last, pc, g->generation)))
        return last;
    const uintptr_t before = linked_before(g->u, callee);
    if (LIKELY(leads_to(g->u, before, pc, g->generation)))
        return before;
    const uintptr_t caller = find_caller(g->u, pc, g->generation, changes);
    if (link || before == 0)
        link_caller(g->u, callee, caller);
    return caller;
}

/*
 * Runs like walk.c's hot_steps(), which explains it, but leaves notes, and ends
 * where the walk meets the previous walk. It starts from *run, whose frame is
 * the first note's. *run receives the final state, *count the number of steps.
 * False if the results must not be used.
 */
READS_STACK __attribute__((always_inline)) static inline bool run_noting(
    struct wndl_resume *r, const struct ground *g, struct hot *run,
    uint32_t *count, bool *met)
{
    const uint64_t bits = wndl_frame_bits(false, WNDL_HOW_CFI);
    struct hot h = *run;
    uint32_t changes = wndl_cache_changes(g->u);
    uint64_t meeting_sp = next_sp(r), pc = r->notes[0].pc;
    struct note *note = r->notes;
    const struct note *const end = note + g->room;
    const bool link = r->walks++ % LINKS == 0;
    *met = false;
    for (;;) {
        struct hot_step step;
        note->sp = h.sp;
        note->fp = h.fp;
        if (h.sp >= meeting_sp) {
            *met = meets(r, pc + bits, h.sp, h.fp, g->high);
            if (*met)
                break;
            meeting_sp = next_sp(r);
        }
        if (!hot_look(&h, g->high, &step) || note == end)
            break;
        const uint64_t fp_at = step.cfa + (uint64_t)(WNDL_WORD * step.slot);
        const uint64_t saved = load(fp_at);
        pc = load(step.cfa - WNDL_WORD);
        note->fp_at = fp_at;
        h.fp = step.slot != WNDL_SLOT_NONE ? saved : h.fp;
        h.sp = step.cfa;
        (++note)->pc = pc;
        h.link = caller_of(g, h.link, pc, &changes, link);
        h.rule = linked_rule(g->u, h.link);
    }
    *run = h;
    *count = (uint32_t)(note - r->notes);
    return LIKELY(wndl_cache_changes(g->u) == changes);
}

/* Takes more steps by the hot loop, unless the cache has changed meanwhile. */
static enum outcome step_noting(struct wndl_resume *r, struct walker *w)
{
    struct hot h = {.sp = w->sp,
        .fp = w->fp,
        .link = w->link,
        .rule = wndl_rule_bits(w->rule)};
    const struct ground g = {
        w->u, w->generation, w->high, (uint32_t)(w->out_end - w->out)};
    uint32_t count;
    bool met;
    r->notes[0].pc = w->out[-1] - wndl_frame_bits(false, WNDL_HOW_CFI);
    return run_noting(r, &g, &h, &count, &met)
               ? commit_noted(r, w, &h, count, met)
               : LEFT;
}
READS_STACK static inline bool is_changed(const struct word *word)
{
    return load(word->at) != word->value;
}

/* The first word from `word` on that has changed. */
READS_STACK static const struct word *first_changed(const struct word *word)
{
    for (;; word += AT_ONCE) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < AT_ONCE; i++)
            if (UNLIKELY(is_changed(&word[i])))
                return &word[i];
    }
}

/* The word after the last changed word before `word`. */
READS_STACK static const struct word *last_changed(const struct word *word)
{
    for (;; word -= AT_ONCE) {
#pragma GCC unroll 8
        for (unsigned i = 0; i < AT_ONCE; i++)
            if (UNLIKELY(is_changed(word - 1 - i)))
                return word - i;
    }
}

/* The first frame from `k` on whose step must be taken, or r->end. */
static uint32_t first_frame_changed(const struct wndl_resume *r, uint32_t k)
{
    const struct word *changed = first_changed(&r->list[r->states[k].words]);
    return r->frame_of[changed - r->list];
}

/*
 * The first frame of the previous walk that this walk may meet. All remaining
 * words are compared from the end on, so that changes near the top do not
 * matter. That holds where the words are surely in the range from `sp` to
 * `high`, and none of them is a barrier's.
 */
READS_STACK static uint32_t first_to_meet(
    struct wndl_resume *r, uint64_t sp, uint64_t high)
{
    uint32_t k = r->top;
    while (k < r->end && r->states[k].sp < sp)
        k++;
    r->compared = false;
    if (k == r->end || r->states[k].high > high)
        return k;
    struct word *first = &r->list[r->states[k].words];
    first[-1] = changes_always(r); /* the word was of a frame that is gone */
    const struct word *word = last_changed(&r->list[r->words_end]);
    if (word > first && word[-1].at == (uintptr_t)&r->never)
        return k;
    r->compared = true;
    if (word == first)
        return k;
    return r->frame_of[word - r->list - 1] + 1;
}

/* The walker continues from the joined walk's frame `at`. */
static void place_walker(struct wndl_resume *r, struct walker *w, uint32_t at)
{
    w->walk->frames = (struct wndl_frame *)&r->frames[r->top];
    w->out = &r->frames[at + 1];
    w->out_end = &r->frames[r->top + r->max];
    w->fp = r->states[at].fp;
    wndl_walker_set_sp(w, r->states[at].sp);
    struct wndl_frame frame = w->walk->frames[at - r->top];
    wndl_walker_find_rule(w, frame.address + frame.interrupted);
}

/*
 * Splits the joined walk after the last frame that the walker has written. The
 * words before `words` go with the first part.
 */
static void take_apart(struct wndl_resume *r, struct walker *w, uint32_t words)
{
    uint32_t upto = (uint32_t)(w->out - r->frames);
    uint32_t count = upto - r->top;
    uint32_t first = r->states[r->top].words;
    memmove(r->frames, &r->frames[r->top], count * sizeof *r->frames);
    memmove(r->states, &r->states[r->top], count * sizeof *r->states);
    memmove(r->list, &r->list[first], (words - first) * sizeof *r->list);
    for (uint32_t i = 0; i < count; i++)
        r->states[i].words -= first;
    r->words = words - first;
    r->top = upto < r->end ? upto : r->end;
    r->next = r->top;
    r->joined = false;
    w->walk->frames = (struct wndl_frame *)r->frames;
    w->out = &r->frames[count];
    w->out_end = &r->frames[r->max];
}

/* The result of the step from a barrier. */
enum passing {
    PASSED, /* to the next frame of the joined walk */
    OVER,   /* it was the end, and still is */
    APART,  /* to another frame: the walk is split, and continues */
    APART_OVER,
};

static enum passing pass_barrier(
    struct wndl_resume *r, struct walker *w, uint32_t f)
{
    const wndl_frame_word frame = r->frames[f], next = r->frames[f + 1];
    const struct state *state = &r->states[f + 1];
    const bool was_last = f + 1 == r->end;
    place_walker(r, w, f);
    bool goes_on = wndl_walker_step(w);
    bool same = r->frames[f] == frame;
    if (!goes_on && same && was_last && w->out == &r->frames[r->end])
        return OVER;
    if (goes_on && same && !was_last && w->out == &r->frames[f + 2] &&
        r->frames[f + 1] == next && state->sp == w->sp && state->fp == w->fp &&
        state->high <= w->high)
        return PASSED;
    take_apart(r, w, r->states[f].words + 1);
    return goes_on ? APART : APART_OVER;
}

/*
 * Continues from frame `k`, at which the walk under way was joined to the rest
 * of the last one. False at the end.
 */
static bool go_on_joined(struct wndl_resume *r, struct walker *w, uint32_t k)
{
    uint32_t f = r->compared ? r->end : first_frame_changed(r, k);
    while (f < r->end && is_barrier(r, f)) {
        enum passing passing = pass_barrier(r, w, f);
        if (passing != PASSED)
            return passing == APART;
        f = first_frame_changed(r, f + 1);
    }
    if (f == r->end) {
        w->walk->end = WNDL_END_COMPLETE;
        return false;
    }
    place_walker(r, w, f);
    w->high = r->states[f].high;
    take_apart(r, w, r->states[f].words);
    return true;
}

/* Handles meeting the last walk at its frame `next`. False at the end. */
static bool go_on_met(struct wndl_resume *r, struct walker *w)
{
    uint32_t count = (uint32_t)wndl_walker_last(w);
    uint32_t k = r->next;
    r->next = r->end;
    if (count + (r->end - k) > r->max)
        return true;
    wndl_resume_join(r, count, k);
    return go_on_joined(r, w, k);
}

/* Takes some more steps. False at the end. */
static bool go_on(struct wndl_resume *r, struct walker *w)
{
    bool is_hot = w->high != 0 && w->rule.kind != WNDL_ENTRY_NO_CODE &&
                  wndl_space_method(&w->space) != WNDL_WALK_FP;
    enum outcome outcome = is_hot ? step_noting(r, w) : LEFT;
    if (outcome == ENDED)
        return false;
    if (outcome == MET)
        return go_on_met(r, w);
    size_t last = wndl_walker_last(w);
    r->states[last] = (struct state){w->sp, w->fp, w->high, r->words};
    if (!wndl_walker_is_at_root(w) || !is_hot)
        add_barrier(r, last);
    /* A frame lacks room for all bits of an impossible address. */
    r->spoiled |= w->rule.kind == WNDL_ENTRY_NO_CODE;
    return wndl_walker_step(w);
}

/*
 * The number of frames that are unchanged, from the root on, of the `count`
 * frames of this walk that are before `now`.
 */
static inline uint32_t count_same(
    const struct wndl_resume *r, const wndl_frame_word *now, uint32_t count)
{
    const uint32_t before = r->end - r->top;
    const wndl_frame_word *last =
        &r->frames[r->plain ? r->plain_at + before : r->end];
    const wndl_frame_word *const first =
        last - (count < before ? count : before);
    const wndl_frame_word *const end = last;
    while (last != first && *--now == last[-1])
        last--;
    return (uint32_t)(end - last);
}

static void fill_result(struct wndl_resume *r, struct wndl_resumed *result)
{
    result->walk.frames = (struct wndl_frame *)&r->frames[r->top];
    result->walk.count = r->end - r->top;
    result->carried = &r->carried[r->top - r->max];
    result->changed = r->changed;
    result->resumed = r->joined ? result->walk.count - r->changed : 0;
}

/* Moves the walk to where the next one expects it. */
static void finish_walk(struct wndl_resume *r, const struct walker *w)
{
    if (r->joined)
        return;
    uint32_t count = (uint32_t)(w->out - r->frames);
    uint32_t changed = count - count_same(r, w->out, count);
    wndl_resume_join(r, count, r->end);
    r->changed = changed;
    r->joined = false;
}

static void walk_anew(struct wndl_resume *r, const struct wndl_regs *regs,
    const struct wndl_stack_range *stacks, size_t stack_count,
    struct wndl_walk *walk)
{
    struct walker w;
    walk->frames = (struct wndl_frame *)r->frames;
    walk->max_frames = r->max;
    wndl_walker_init(&w, r->u, walk);
    w.regs = regs;
    w.stacks = stacks;
    w.stack_count = stack_count;
    if (UNLIKELY(r->generation != w.generation))
        r->next = r->top = r->end;
    r->generation = w.generation;
    r->words = 0;
    r->joined = false;
    if (wndl_walker_start(&w, !r->called)) {
        wndl_walker_find_rule(&w, regs->ip + !r->called);
        while (go_on(r, &w))
            ;
    }
    finish_walk(r, &w);
}

/* ---- walks that are in vain */

/*
 * A walk that leaves notes costs about twice a plain one. It pays if about half
 * of its frames are resumed.
 */
enum { VAIN_MOST = 2, LONGEST_PAUSE = 128 };

static bool is_worth_it(size_t same, size_t count)
{
    return 2 * same >= count;
}

/* After some walks in vain, as many are plain; then more and more. */
static inline void weigh(struct wndl_resume *r)
{
    const size_t count = r->end - r->top;
    if (LIKELY(is_worth_it(r->joined ? count - r->changed : 0, count))) {
        r->vain = 0;
        r->pause = WNDL_RESUME_LEAST_PAUSE;
    } else if (++r->vain == VAIN_MOST) {
        r->vain = 0;
        r->left = r->pause;
        r->pause = r->pause < LONGEST_PAUSE ? r->pause * 2 : LONGEST_PAUSE;
    }
}

/*
 * Brings the frames to where other walks have them. Without words none of them
 * can be met.
 */
static void end_plain(struct wndl_resume *r)
{
    memmove(&r->frames[r->top], &r->frames[r->plain_at],
        (r->end - r->top) * sizeof *r->frames);
    for (uint32_t k = r->top; k < r->end; k++)
        r->states[k].sp = 0;
    r->plain = false;
    r->left = 0;
}

/*
 * Walks without notes. As soon as stacks repeat themselves, the next walk
 * leaves some again; while they do not, no other walk is tried.
 */
static __attribute__((noinline)) void walk_plainly(struct wndl_resume *r,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_walk *walk)
{
    const uint32_t at = r->plain && r->plain_at == 0 ? r->max : 0;
    walk->frames = (struct wndl_frame *)&r->frames[at];
    walk->max_frames = r->max;
    wndl_walk_plainly(r->u, regs,
        (struct wndl_walker_stacks){stacks, stack_count}, walk, !r->called);
    const uint32_t count = (uint32_t)walk->count;
    const uint32_t same = count_same(r, &r->frames[at + count], count);
    r->top = r->end - count;
    r->changed = count - same;
    r->joined = false;
    r->plain = true;
    r->plain_at = at;
    if (r->left > 1)
        r->left--;
    else if (is_worth_it(same, count))
        end_plain(r);
}

/* ---- the walk */

/* Forgets the last walk if it was by other rules, or another way. */
static inline void begin(struct wndl_resume *r, enum wndl_walk_method method)
{
    wndl_generation generation = wndl_cache_generation(r->u);
    if (UNLIKELY(
            r->generation != generation || r->method != method || r->spoiled))
        wndl_resume_mark_end(r);
    r->generation = generation;
    r->method = method;
    r->spoiled = false;
}

/* Prepares the rest of the last walk, if that is usable. */
static void look_back(struct wndl_resume *r, const struct wndl_regs *regs,
    const struct wndl_stack_range *stacks, size_t stack_count)
{
    r->high = wndl_range_end(stacks, stack_count, regs->sp);
    r->next = first_to_meet(r, regs->sp, r->high);
}

/*
 * Whether this walk equals the previous one, all of whose steps are of the hot
 * loop.
 */
static bool is_repeated(
    const struct wndl_resume *r, const struct wndl_regs *regs)
{
    const struct state *state = &r->states[r->top];
    const uint32_t known = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP;
    return r->compared && r->next == r->top &&
           r->frames[r->top] ==
               regs->ip + wndl_frame_bits(!r->called, WNDL_HOW_CONTEXT) &&
           state->sp == regs->sp && state->fp == regs->fp &&
           (regs->valid & known) == known;
}

static void end_whole(struct wndl_walk *walk)
{
    walk->end = WNDL_END_COMPLETE;
    walk->fp_frames = 0;
}

/*
 * The usual walk: the hot loop runs from its first frame to where it meets the
 * last walk, which is unchanged from there on. False, with nothing done, if
 * that is not so.
 */
static __attribute__((noinline)) bool walk_shortly(
    struct wndl_resume *r, const struct wndl_regs *regs)
{
    const uint32_t known = WNDL_REG_IP | WNDL_REG_SP | WNDL_REG_FP;
    const struct ground g = {r->u, r->generation, r->high, r->max - 1};
    const uint32_t next = r->next;
    struct hot h = {.sp = regs->sp, .fp = regs->fp};
    uint32_t count;
    int32_t rule;
    bool met;
    if (!r->compared || (regs->valid & known) != known)
        return false;
    const struct wndl_entry *entry =
        wndl_cache_peek(r->u, regs->ip + !r->called, r->generation, &rule);
    if (entry == NULL)
        return false;
    h.link = wndl_cache_link(r->u, entry);
    h.rule = rule;
    r->notes[0].pc = wndl_frame_make(regs->ip, !r->called, WNDL_HOW_CONTEXT) -
                     wndl_frame_bits(false, WNDL_HOW_CFI);
    bool holds = run_noting(r, &g, &h, &count, &met);
    uint32_t k = r->next;
    if (holds && met && count + (r->end - k) <= r->max) {
        write_noted(r, count, r->high, k, r->states[k].words);
        joined(r, count, k);
        return true;
    }
    r->next = next;
    return false;
}

static inline void resume_walk(struct wndl_resume *r,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_resumed *result)
{
    begin(r, result->walk.method);
    if (UNLIKELY(r->left != 0)) {
        walk_plainly(r, regs, stacks, stack_count, &result->walk);
        fill_result(r, result);
        if (r->plain)
            result->walk.frames = (struct wndl_frame *)&r->frames[r->plain_at];
        return;
    }
    look_back(r, regs, stacks, stack_count);
    if (is_repeated(r, regs)) {
        r->changed = 0;
        r->joined = true;
        r->vain = 0;
        r->pause = WNDL_RESUME_LEAST_PAUSE;
        end_whole(&result->walk);
    } else {
        if (walk_shortly(r, regs))
            end_whole(&result->walk);
        else
            walk_anew(r, regs, stacks, stack_count, &result->walk);
        weigh(r);
    }
    fill_result(r, result);
}

void wndl_unwind_resume(struct wndl_resume *r, const struct wndl_regs *regs,
    const struct wndl_stack_range *stacks, size_t stack_count,
    struct wndl_resumed *result)
{
    r->called = false;
    resume_walk(r, regs, stacks, stack_count, result);
}

void wndl_unwind_resume_called(struct wndl_resume *r,
    const struct wndl_regs *regs, const struct wndl_stack_range *stacks,
    size_t stack_count, struct wndl_resumed *result)
{
    r->called = true;
    resume_walk(r, regs, stacks, stack_count, result);
}
