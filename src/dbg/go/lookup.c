/* SPDX-License-Identifier: MIT */
#include "dbg/go/internal.h"

/* Deeper inlining is damage: compilers stop long before. */
enum { MOST_FRAMES = 256 };

/* In a function of 100,000 lines a lookup takes a million. */
enum { STEPS_OF_LOOKUP = 1 << 24 };

static struct wndl_bytes name_at(const struct wndl_pcln *pcln, uint64_t offset)
{
    struct wndl_bytes name = wndl_bytes_cstr(pcln->names, offset);
    return name.data == NULL ? (struct wndl_bytes){(const uint8_t *)"", 0}
                             : name;
}

static struct wndl_bytes file_at(const struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, int32_t number)
{
    static const struct wndl_bytes unknown = {(const uint8_t *)"", 0};
    if (number < 0)
        return unknown;
    uint64_t index = (uint64_t)record->unit + (uint32_t)number;
    struct wndl_cursor c =
        wndl_cursor_at(pcln->units, 4 * index, pcln->in.big_endian);
    uint32_t offset = wndl_cursor_u32(&c);
    struct wndl_bytes file = wndl_bytes_cstr(pcln->files, offset);
    return c.failed || file.data == NULL ? unknown : file;
}

static void find_line(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint64_t addr,
    struct wndl_pcln_frame *frame)
{
    struct wndl_pcln_run run;
    bool known = wndl_pcln_run_at(pcln, record, record->files, addr, &run);
    frame->file = file_at(pcln, record, known ? run.value : -1);
    if (wndl_pcln_run_at(pcln, record, record->lines, addr, &run) &&
        run.value > 0)
        frame->line = (uint32_t)run.value;
}

struct call {
    uint32_t name;
    uint32_t at; /* code of the line of the call, from the function's start */
};

/*
 * Before Go 1.20: parent, kind, file, line, name, code. Since then: kind, name,
 * code, line of the function's start.
 */
static bool read_call(const struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, int32_t index, struct call *call)
{
    bool is_old = pcln->version < WNDL_PCLN_1_20;
    uint64_t size = is_old ? 20 : 16;
    struct wndl_cursor c = wndl_cursor_at(record->inlined,
        (uint64_t)(uint32_t)index * size + (is_old ? 12 : 4),
        pcln->in.big_endian);
    call->name = wndl_cursor_u32(&c);
    call->at = wndl_cursor_u32(&c);
    return !c.failed && call->at < record->end - record->start;
}

/* The first code of an inlined call. */
static uint64_t start_of_call(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, int32_t index)
{
    struct wndl_pcln_walk walk = wndl_pcln_walk(pcln, record, record->calls);
    while (walk.run.end < record->end && wndl_pcln_step(&walk))
        if (walk.run.value == index)
            return walk.run.start;
    return record->start;
}

/* The inlined call at `addr`; -1 if there is none. */
static int32_t call_at(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint64_t addr)
{
    struct wndl_pcln_run run;
    bool known = record->inlined.size != 0 &&
                 wndl_pcln_run_at(pcln, record, record->calls, addr, &run);
    return known && run.value >= 0 ? run.value : -1;
}

static struct wndl_pcln_frame *push_frame(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint64_t addr)
{
    struct wndl_pcln_frame *frame = wndl_vec_push(&pcln->frames);
    if (frame != NULL)
        find_line(pcln, record, addr, frame);
    return frame;
}

/*
 * Fills in inlined calls, outwards from *addr, which becomes the place of the
 * outermost call. False when memory is out.
 */
static bool push_calls(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint64_t *addr)
{
    int32_t index;
    while ((index = call_at(pcln, record, *addr)) >= 0) {
        struct call call;
        if (pcln->frames.len == MOST_FRAMES ||
            !read_call(pcln, record, index, &call)) {
            wndl_pcln_lose(pcln, 0, "inlined calls that do not end");
            return true;
        }
        struct wndl_pcln_frame *frame = push_frame(pcln, record, *addr);
        if (frame == NULL)
            return false;
        frame->name = name_at(pcln, call.name);
        frame->inlined = true;
        frame->function_start.v = start_of_call(pcln, record, index);
        *addr = record->start + call.at;
    }
    return true;
}

/*
 * Whether there is no code at `addr`. A function without lines has no end of
 * its own.
 */
static bool is_padding(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint64_t addr)
{
    struct wndl_pcln_run run;
    return record->lines != 0 &&
           !wndl_pcln_run_at(pcln, record, record->lines, addr, &run);
}

enum wndl_status wndl_pcln_lookup(
    struct wndl_pcln *pcln, wndl_svma addr, struct wndl_pcln_frames *frames)
{
    struct wndl_pcln_record record;
    *frames = (struct wndl_pcln_frames){0};
    pcln->frames.len = 0;
    pcln->steps = STEPS_OF_LOOKUP;
    uint64_t index = wndl_pcln_up_to(pcln, addr.v);
    if (index == 0 || !wndl_pcln_record(pcln, index - 1, &record) ||
        addr.v >= record.end || is_padding(pcln, &record, addr.v))
        return WNDL_NOT_FOUND;
    uint64_t at = addr.v;
    if (!push_calls(pcln, &record, &at))
        return WNDL_NOMEM;
    struct wndl_pcln_frame *outermost = push_frame(pcln, &record, at);
    if (outermost == NULL)
        return WNDL_NOMEM;
    outermost->name = name_at(pcln, record.name);
    outermost->function_start.v = record.start;
    *frames = (struct wndl_pcln_frames){pcln->frames.data, pcln->frames.len};
    return WNDL_OK;
}

size_t wndl_pcln_count(const struct wndl_pcln *pcln)
{
    return (size_t)pcln->count;
}

/* The end of the last run; the end of the record where there is none. */
static uint64_t code_end(
    struct wndl_pcln *pcln, const struct wndl_pcln_record *record)
{
    struct wndl_pcln_walk walk = wndl_pcln_walk(pcln, record, record->lines);
    while (walk.run.end < record->end && wndl_pcln_step(&walk))
        continue;
    return walk.run.end == record->start || walk.run.end > record->end
               ? record->end
               : walk.run.end;
}

bool wndl_pcln_function(
    struct wndl_pcln *pcln, size_t index, struct wndl_pcln_function *function)
{
    struct wndl_pcln_record record;
    if (!wndl_pcln_record(pcln, index, &record))
        return false;
    pcln->steps = pcln->list_steps;
    *function = (struct wndl_pcln_function){
        name_at(pcln, record.name), {record.start}, {code_end(pcln, &record)}};
    pcln->list_steps = pcln->steps;
    return true;
}

/* A range of addresses, and the places in it where answers change. */
struct changes {
    uint64_t start;
    uint64_t end;
    struct wndl_vec *places;
};

static bool add_place(struct changes *changes, uint64_t place)
{
    if (place < changes->start || place >= changes->end)
        return true;
    uint64_t *added = wndl_vec_push(changes->places);
    if (added != NULL)
        *added = place;
    return added != NULL;
}

/* Adds the ends of a table's runs. */
static bool add_runs(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, uint32_t offset,
    struct changes *changes)
{
    struct wndl_pcln_walk walk = wndl_pcln_walk(pcln, record, offset);
    while (walk.run.end < changes->end && wndl_pcln_step(&walk))
        if (!add_place(changes, walk.run.end))
            return false;
    return true;
}

static bool add_changes(struct wndl_pcln *pcln,
    const struct wndl_pcln_record *record, struct changes *changes)
{
    const uint32_t tables[] = {record->files, record->lines, record->calls};
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (!add_runs(pcln, record, tables[i], changes))
            return false;
    return add_place(changes, record->start) && add_place(changes, record->end);
}

enum wndl_status wndl_pcln_changes(struct wndl_pcln *pcln, wndl_svma start,
    wndl_svma end, struct wndl_vec *places)
{
    struct changes changes = {start.v, end.v, places};
    struct wndl_pcln_record record;
    bool added = true;
    uint64_t index = wndl_pcln_up_to(pcln, start.v);
    pcln->steps = pcln->list_steps;
    for (index -= index > 0; index < pcln->count && added; index++) {
        if (!wndl_pcln_record(pcln, index, &record))
            continue;
        if (record.start >= end.v)
            break;
        added = add_changes(pcln, &record, &changes);
    }
    pcln->list_steps = pcln->steps;
    return added ? WNDL_OK : WNDL_NOMEM;
}
