/* SPDX-License-Identifier: MIT */
#include "out/callgrind.h"

#include "base/utf8.h"
#include "out/core/sink.h"

#include <windlass/version.h>

/* Objects, files and functions are numbered apart. */
enum space { OBJECTS, FILES, FUNCTIONS, SPACES };

struct writer {
    struct wndl_sink sink;
    const struct wndl_callgraph *g;
    struct wndl_arena arena;
    struct wndl_buf name;
    /*
     * The number under which it was defined, or 0. An object or file is indexed
     * by its string; a function by its index, since others may have its name,
     * and after the functions come the cycles.
     */
    uint32_t *number[SPACES];
    uint32_t last_number[SPACES];
    uint32_t object, file;          /* the current ones */
    uint32_t next_place, next_call; /* in their orders */
};

/* Numbers are most of a file, so they are not written by printf. */
static void put_number(struct writer *w, uint64_t number)
{
    uint8_t digits[20];
    size_t at = sizeof digits;
    do {
        digits[--at] = (uint8_t)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    wndl_buf_add(&w->sink.text, digits + at, sizeof digits - at);
}

static void put(struct writer *w, const char *text)
{
    wndl_buf_text(&w->sink.text, text);
}

/* ---- names */

/* Readers take spaces before a name off. */
static void put_name(struct writer *w, struct wndl_bytes name)
{
    size_t spaces = 0;
    wndl_buf_clear(&w->name);
    wndl_utf8_plain(&w->name, name);
    while (spaces < w->name.size && w->name.data[spaces] == ' ')
        spaces++;
    if (spaces == w->name.size)
        put(w, "???");
    else
        wndl_buf_add(
            &w->sink.text, w->name.data + spaces, w->name.size - spaces);
}

/* "fn=(1) name", later "fn=(1)". */
static void put_numbered(struct writer *w, const char *key, enum space space,
    uint32_t index, uint32_t id)
{
    uint32_t *number = &w->number[space][index];
    bool fresh = *number == 0;
    if (fresh)
        *number = ++w->last_number[space];
    put(w, key);
    put(w, "=(");
    put_number(w, *number);
    put(w, ")");
    if (fresh) {
        put(w, " ");
        put_name(w, wndl_intern_get(&w->g->strings, id));
    }
    put(w, "\n");
}

static void put_text(
    struct writer *w, const char *key, enum space space, uint32_t id)
{
    put_numbered(w, key, space, id, id);
}

/* ---- costs */

/* Zeros at the end may be left out, except for the first number. */
static void put_costs(struct writer *w, const uint64_t *costs)
{
    size_t count = w->g->events.len;
    while (count > 1 && costs[count - 1] == 0)
        count--;
    for (size_t i = 0; i < count; i++) {
        put(w, " ");
        put_number(w, costs[i]);
    }
    put(w, "\n");
}

static void put_line(struct writer *w, uint32_t line, const uint64_t *costs)
{
    put_number(w, line);
    put_costs(w, costs);
}

static bool is_nothing(const struct writer *w, const uint64_t *costs)
{
    for (size_t i = 0; i < w->g->events.len; i++) {
        if (costs[i] != 0)
            return false;
    }
    return true;
}

static void add_saturated(
    const struct writer *w, uint64_t *to, const uint64_t *costs)
{
    for (size_t i = 0; i < w->g->events.len; i++) {
        if (__builtin_add_overflow(to[i], costs[i], &to[i]))
            to[i] = UINT64_MAX;
    }
}

/* ---- calls */

static const uint64_t nothing[WNDL_CALLGRAPH_EVENTS];

/* Writes the callee: a function, or the cycle that it is in. */
static void put_callee(struct writer *w, uint32_t callee, bool as_member)
{
    const struct wndl_callgraph *g = w->g;
    struct wndl_callgraph_function f = *wndl_callgraph_function_at(g, callee);
    if (f.cycle != 0 && !as_member) {
        const struct wndl_callgraph_cycle *cycle =
            wndl_vec_at(&g->cycles, f.cycle - 1);
        callee = (uint32_t)g->functions.len + f.cycle - 1;
        f = (struct wndl_callgraph_function){.name = cycle->name};
    }
    if (f.object != w->object)
        put_text(w, "cob", OBJECTS, f.object);
    put_text(w, "cfi", FILES, f.file);
    put_numbered(w, "cfn", FUNCTIONS, callee, f.name);
}

static void put_calls(struct writer *w, uint64_t count, uint32_t line)
{
    put(w, "calls=");
    put_number(w, count);
    put(w, " ");
    put_number(w, line);
    put(w, "\n");
}

static uint32_t callee_line(
    const struct writer *w, uint32_t callee, bool as_member)
{
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(w->g, callee);
    return f->cycle != 0 && !as_member ? 0 : f->line;
}

/* A pair that is in a stack twice is booked at another place only. */
static void put_call(struct writer *w, uint32_t index)
{
    const struct wndl_callgraph_call *call =
        wndl_callgraph_call_at(w->g, index);
    if (call->count == 0 &&
        is_nothing(w, wndl_callgraph_costs(&w->g->inclusive, index)))
        return;
    bool inner = wndl_callgraph_is_inner(w->g, call);
    put_callee(w, call->callee, inner);
    put_calls(w, call->count, callee_line(w, call->callee, inner));
    put_line(w, wndl_callgraph_place_at(w->g, call->place)->line,
        inner ? nothing : wndl_callgraph_costs(&w->g->inclusive, index));
}

/* ---- functions */

static void put_place(
    struct writer *w, uint32_t index, const struct wndl_callgraph_function *f)
{
    const struct wndl_callgraph *g = w->g;
    const struct wndl_callgraph_place *place =
        wndl_callgraph_place_at(g, index);
    const uint64_t *self = wndl_callgraph_costs(&g->self, index);
    if (place->file != w->file) {
        put_text(w, place->file == f->file ? "fe" : "fi", FILES, place->file);
        w->file = place->file;
    }
    if (!is_nothing(w, self))
        put_line(w, place->line, self);
    for (; w->next_call < g->calls.len; w->next_call++) {
        uint32_t call = g->call_order[w->next_call];
        if (wndl_callgraph_call_at(g, call)->place != index)
            break;
        put_call(w, call);
    }
}

/* `index` is the function's, or, after all of those, a cycle's. */
static void begin_function(
    struct writer *w, uint32_t index, const struct wndl_callgraph_function *f)
{
    put(w, "\n");
    if (f->object != w->object)
        put_text(w, "ob", OBJECTS, f->object);
    put_text(w, "fl", FILES, f->file);
    put_numbered(w, "fn", FUNCTIONS, index, f->name);
    w->object = f->object;
    w->file = f->file;
}

static void put_function(struct writer *w, uint32_t function)
{
    const struct wndl_callgraph *g = w->g;
    const struct wndl_callgraph_function *f =
        wndl_callgraph_function_at(g, function);
    for (bool begun = false; w->next_place < g->places.len; begun = true) {
        uint32_t place = g->place_order[w->next_place];
        if (wndl_callgraph_place_at(g, place)->function != function)
            return;
        if (!begun)
            begin_function(w, function, f);
        put_place(w, place, f);
        w->next_place++;
        wndl_sink_flush(&w->sink);
    }
}

/* ---- cycles */

/* The cost in a member, or in its callees outside of its cycle. */
struct share {
    uint64_t costs[WNDL_CALLGRAPH_EVENTS];
    uint64_t entered; /* how often it was called */
};

static struct share *sum_shares(struct writer *w)
{
    const struct wndl_callgraph *g = w->g;
    struct share *shares =
        wndl_arena_calloc(&w->arena, g->functions.len, sizeof *shares);
    for (uint32_t i = 0; shares != NULL && i < g->places.len; i++)
        add_saturated(w, shares[wndl_callgraph_place_at(g, i)->function].costs,
            wndl_callgraph_costs(&g->self, i));
    for (uint32_t i = 0; shares != NULL && i < g->calls.len; i++) {
        const struct wndl_callgraph_call *call = wndl_callgraph_call_at(g, i);
        uint32_t caller = wndl_callgraph_place_at(g, call->place)->function;
        shares[call->callee].entered += call->count;
        if (!wndl_callgraph_is_inner(g, call))
            add_saturated(w, shares[caller].costs,
                wndl_callgraph_costs(&g->inclusive, i));
    }
    return shares;
}

static void put_cycle(
    struct writer *w, uint32_t index, const struct share *shares)
{
    const struct wndl_callgraph *g = w->g;
    const struct wndl_callgraph_cycle *cycle = wndl_vec_at(&g->cycles, index);
    const uint32_t *members = (const uint32_t *)g->members.data + cycle->first;
    const struct wndl_callgraph_function as_function = {.name = cycle->name};
    begin_function(w, (uint32_t)g->functions.len + index, &as_function);
    for (uint32_t i = 0; i < cycle->count; i++) {
        const struct wndl_callgraph_function *f =
            wndl_callgraph_function_at(g, members[i]);
        if (!g->of_calls) {
            put(w, "# stacks with ");
            put_name(w, wndl_intern_get(&g->strings, f->name));
            put(w, ":");
            put_costs(w, wndl_callgraph_costs(&g->through, members[i]));
        }
        put_callee(w, members[i], true);
        put_calls(w, shares[members[i]].entered, f->line);
        put_line(w, 0, shares[members[i]].costs);
    }
}

static bool put_cycles(struct writer *w)
{
    if (w->g->cycles.len == 0)
        return true;
    const struct share *shares = sum_shares(w);
    for (uint32_t i = 0; i < w->g->cycles.len && shares != NULL; i++)
        put_cycle(w, i, shares);
    return shares != NULL;
}

/* ---- the file */

/* callgrind_annotate reads no header line after that of the events. */
static void put_head(struct writer *w, struct wndl_bytes command)
{
    const struct wndl_callgraph *g = w->g;
    const struct wndl_callgraph_event *events = g->events.data;
    wndl_buf_printf(&w->sink.text,
        "# callgrind format\nversion: 1\ncreator: windlass %s\n",
        wndl_version());
    put(w, "cmd: ");
    put_name(w, command);
    put(w, "\npositions: line\n");
    for (size_t i = 0; i < g->events.len; i++) {
        if (events[i].text == 0)
            continue;
        wndl_buf_printf(&w->sink.text,
            "event: %s : ", wndl_intern_text(&g->strings, events[i].name));
        put_name(w, wndl_intern_get(&g->strings, events[i].text));
        put(w, "\n");
    }
    put(w, "events:");
    for (size_t i = 0; i < g->events.len; i++)
        wndl_buf_printf(&w->sink.text, " %s",
            wndl_intern_text(&g->strings, events[i].name));
    put(w, "\nsummary:");
    put_costs(w, wndl_callgraph_costs(&g->through, 0));
}

static bool take_memory(struct writer *w)
{
    for (int i = 0; i < SPACES; i++) {
        size_t count = i == FUNCTIONS ? w->g->functions.len + w->g->cycles.len
                                      : wndl_intern_count(&w->g->strings);
        w->number[i] = wndl_arena_calloc(&w->arena, count, sizeof(uint32_t));
        if (w->number[i] == NULL)
            return false;
    }
    return true;
}

bool wndl_callgrind_write(FILE *out, const struct wndl_callgraph *g,
    struct wndl_bytes command, struct wndl_mem *mem)
{
    struct writer w = {.g = g};
    wndl_arena_init(&w.arena, mem);
    wndl_buf_init(&w.name, mem);
    wndl_sink_open(&w.sink, out, false, mem);
    bool whole = take_memory(&w);
    if (whole) {
        put_head(&w, command);
        for (size_t i = 0; i < g->functions.len; i++)
            put_function(&w, g->function_order[i]);
        whole = put_cycles(&w);
        put(&w, "\ntotals:");
        put_costs(&w, wndl_callgraph_costs(&g->through, 0));
    }
    whole &= !w.name.failed;
    whole &= wndl_sink_close(&w.sink);
    wndl_buf_free(&w.name);
    wndl_arena_free(&w.arena);
    return whole;
}
