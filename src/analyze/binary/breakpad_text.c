/* SPDX-License-Identifier: MIT */
#include "analyze/binary/breakpad_text.h"

#include <string.h>

enum { NONE = UINT32_MAX };

struct line {
    uint64_t start;
    uint64_t end;
    uint32_t line;
    uint32_t file;
};

/* A call that was inlined. Its ranges and children are lists; each of these
 * is an index or NONE. */
struct call {
    uint64_t start; /* the identity of a call, with the next four */
    uint32_t parent;
    uint32_t origin;
    uint32_t file;
    uint32_t line;
    uint32_t depth;
    uint32_t first_child;
    uint32_t last_child;
    uint32_t next; /* in the list of its parent's children */
    uint32_t first_range;
    uint32_t last_range;
};

struct range {
    uint64_t start;
    uint64_t end;
    uint32_t next;
};

/* ---- strings */

static bool init_strings(
    struct wndl_breakpad_strings *strings, struct wndl_arena *arena)
{
    wndl_map_init(&strings->numbers, arena);
    return wndl_intern_init(&strings->list, arena);
}

static bool number_of(
    struct wndl_breakpad_strings *strings, const char *string, uint32_t *number)
{
    uint64_t *known = wndl_map_put(&strings->numbers, (uintptr_t)string);
    if (known == NULL)
        return false;
    if (*known == 0) {
        struct wndl_bytes bytes = {(const uint8_t *)string, strlen(string)};
        if (!wndl_intern_add(&strings->list, bytes, number))
            return false;
        *known = *number + UINT64_C(1);
    }
    *number = (uint32_t)(*known - 1);
    return true;
}

/* ---- writing */

static void add_number(
    struct wndl_buf *out, uint64_t number, unsigned base, char after)
{
    enum { MOST = 21 };
    uint8_t digits[MOST];
    size_t at = sizeof digits;
    digits[--at] = (uint8_t)after;
    do
        digits[--at] = (uint8_t) "0123456789abcdef"[number % base];
    while ((number /= base) != 0);
    wndl_buf_add(out, digits + at, sizeof digits - at);
}

static void add_hex(struct wndl_buf *out, uint64_t number, char after)
{
    add_number(out, number, 16, after);
}

static void add_decimal(struct wndl_buf *out, uint32_t number, char after)
{
    add_number(out, number, 10, after);
}

void wndl_breakpad_text_name(struct wndl_buf *out, struct wndl_bytes name)
{
    for (size_t i = 0; i < name.size; i++) {
        uint8_t c = name.data[i];
        wndl_buf_byte(out, c == '\n' || c == '\r' ? ' ' : c);
    }
}

static void write_call(struct wndl_buf *out,
    const struct wndl_breakpad_func *func, const struct call *call)
{
    wndl_buf_text(out, "INLINE ");
    add_decimal(out, call->depth, ' ');
    add_decimal(out, call->line, ' ');
    add_decimal(out, call->file, ' ');
    add_decimal(out, call->origin, ' ');
    for (uint32_t at = call->first_range; at != NONE;) {
        const struct range *range = wndl_vec_at(&func->ranges, at);
        add_hex(out, range->start, ' ');
        at = range->next;
        add_hex(out, range->end - range->start, at == NONE ? '\n' : ' ');
    }
}

/* A call before those in it, which readers rely on. */
static void write_calls(
    struct wndl_buf *out, const struct wndl_breakpad_func *func)
{
    uint32_t at = func->calls.len == 0 ? NONE : 0;
    while (at != NONE) {
        const struct call *call = wndl_vec_at(&func->calls, at);
        write_call(out, func, call);
        at = call->first_child;
        while (at == NONE && call->parent != NONE && call->next == NONE)
            call = wndl_vec_at(&func->calls, call->parent);
        if (at == NONE)
            at = call->next;
    }
}

static void write_lines(
    struct wndl_buf *out, const struct wndl_breakpad_func *func)
{
    const struct line *lines = func->lines.data;
    for (size_t i = 0; i < func->lines.len; i++) {
        add_hex(out, lines[i].start, ' ');
        add_hex(out, lines[i].end - lines[i].start, ' ');
        add_decimal(out, lines[i].line, ' ');
        add_decimal(out, lines[i].file, '\n');
    }
}

/* ---- putting together */

bool wndl_breakpad_text_init(struct wndl_breakpad_text *text,
    struct wndl_arena *arena, struct wndl_mem *mem)
{
    *text = (struct wndl_breakpad_text){.arena = arena};
    wndl_arena_init(&text->func.arena, mem);
    wndl_buf_init(&text->out, mem);
    return init_strings(&text->files, arena) &&
           init_strings(&text->origins, arena);
}

void wndl_breakpad_text_free(struct wndl_breakpad_text *text)
{
    wndl_arena_free(&text->func.arena);
    wndl_buf_free(&text->out);
}

void wndl_breakpad_text_end(struct wndl_breakpad_text *text)
{
    struct wndl_breakpad_func *func = &text->func;
    struct wndl_buf *out = &text->out;
    if (func->name == NULL)
        return;
    wndl_buf_text(out, "FUNC ");
    add_hex(out, func->start, ' ');
    add_hex(out, func->end - func->start, ' ');
    wndl_buf_text(out, "0 ");
    wndl_breakpad_text_name(out,
        (struct wndl_bytes){(const uint8_t *)func->name, strlen(func->name)});
    wndl_buf_byte(out, '\n');
    write_calls(out, func);
    write_lines(out, func);
    func->name = NULL;
}

static void begin_function(struct wndl_breakpad_func *func,
    const struct wndl_symbol_frame *frame, uint64_t start)
{
    struct wndl_arena *arena = &func->arena;
    wndl_arena_free(arena);
    wndl_vec_init(&func->lines, arena, sizeof(struct line));
    wndl_vec_init(&func->calls, arena, sizeof(struct call));
    wndl_vec_init(&func->ranges, arena, sizeof(struct range));
    wndl_map_init(&func->known, arena);
    func->name = frame->function;
    func->key = frame->function_rva;
    func->start = func->end = start;
    func->last_call = NONE;
}

static bool is_of(const struct wndl_breakpad_func *func,
    const struct wndl_symbol_frame *frame, uint64_t start)
{
    return func->name != NULL && func->end == start &&
           func->key == frame->function_rva &&
           strcmp(func->name, frame->function) == 0;
}

static bool add_line(struct wndl_breakpad_text *text, uint64_t start,
    uint64_t end, const struct wndl_symbol_frame *frame)
{
    struct wndl_vec *lines = &text->func.lines;
    uint32_t file;
    if (frame->file[0] == '\0')
        return true;
    if (!number_of(&text->files, frame->file, &file))
        return false;
    struct line *last =
        lines->len == 0 ? NULL : wndl_vec_at(lines, lines->len - 1);
    if (last != NULL && last->end == start && last->line == frame->line &&
        last->file == file) {
        last->end = end;
        return true;
    }
    struct line *line = wndl_vec_push(lines);
    if (line != NULL)
        *line = (struct line){start, end, frame->line, file};
    return line != NULL;
}

static bool add_range(struct wndl_breakpad_func *func, uint32_t index,
    uint64_t start, uint64_t end)
{
    struct call *call = wndl_vec_at(&func->calls, index);
    struct range *last = call->last_range == NONE
                             ? NULL
                             : wndl_vec_at(&func->ranges, call->last_range);
    uint32_t number = (uint32_t)func->ranges.len;
    if (last != NULL && last->end == start) {
        last->end = end;
        return true;
    }
    if (last != NULL)
        last->next = number;
    else
        call->first_range = number;
    call->last_range = number;
    struct range *range = wndl_vec_push(&func->ranges);
    if (range != NULL)
        *range = (struct range){start, end, NONE};
    return range != NULL;
}

static bool are_same(const struct call *a, const struct call *b)
{
    return a->start == b->start && a->parent == b->parent &&
           a->origin == b->origin && a->file == b->file && a->line == b->line;
}

static uint64_t hash_of(const struct call *call)
{
    uint64_t hash = wndl_hash_u64(call->start);
    hash = wndl_hash_u64(hash ^ ((uint64_t)call->parent << 32 | call->origin));
    return wndl_hash_u64(hash ^ ((uint64_t)call->file << 32 | call->line));
}

/* Appends the call to the children of its parent, or of the function. */
static void link_call(struct wndl_breakpad_func *func, uint32_t index)
{
    struct call *call = wndl_vec_at(&func->calls, index);
    uint32_t *last = &func->last_call;
    if (call->parent != NONE) {
        struct call *parent = wndl_vec_at(&func->calls, call->parent);
        last = &parent->last_child;
        if (*last == NONE)
            parent->first_child = index;
    }
    if (*last != NONE)
        ((struct call *)wndl_vec_at(&func->calls, *last))->next = index;
    *last = index;
}

/* The index of a call like `wanted`, added if it is new. False: no memory. */
static bool find_call(
    struct wndl_breakpad_func *func, const struct call *wanted, uint32_t *index)
{
    uint64_t *known = wndl_map_put(&func->known, hash_of(wanted));
    if (known == NULL)
        return false;
    *index = (uint32_t)(*known - 1);
    if (*known != 0 && are_same(wndl_vec_at(&func->calls, *index), wanted))
        return true;
    *index = (uint32_t)func->calls.len;
    struct call *call = wndl_vec_push(&func->calls);
    if (call == NULL)
        return false;
    *call = *wanted;
    call->first_child = call->last_child = call->next = NONE;
    call->first_range = call->last_range = NONE;
    *known = *index + UINT64_C(1);
    link_call(func, *index);
    return true;
}

/* Adds inlined calls from the outermost one inwards. */
static bool add_calls(struct wndl_breakpad_text *text, uint64_t start,
    uint64_t end, const struct wndl_symbols *answer)
{
    struct wndl_breakpad_func *func = &text->func;
    uint32_t parent = NONE;
    for (uint32_t depth = 0; depth + 1 < answer->count; depth++) {
        const struct wndl_symbol_frame *frame =
            &answer->frames[answer->count - 2 - depth];
        struct call call = {.start = frame->function_rva,
            .parent = parent,
            .line = frame[1].line,
            .depth = depth};
        if (!number_of(&text->origins, frame->function, &call.origin) ||
            !number_of(&text->files, frame[1].file, &call.file) ||
            !find_call(func, &call, &parent) ||
            !add_range(func, parent, start, end))
            return false;
    }
    return true;
}

bool wndl_breakpad_text_add(struct wndl_breakpad_text *text, uint64_t start,
    uint64_t end, const struct wndl_symbols *answer)
{
    if (answer->count == 0 ||
        answer->frames[answer->count - 1].function[0] == '\0')
        return true;
    const struct wndl_symbol_frame *outermost =
        &answer->frames[answer->count - 1];
    if (!is_of(&text->func, outermost, start)) {
        wndl_breakpad_text_end(text);
        begin_function(&text->func, outermost, start);
    }
    text->func.end = end;
    return add_line(text, start, end, &answer->frames[0]) &&
           add_calls(text, start, end, answer);
}

/* The size of an epilogue is not known. */
void wndl_breakpad_text_stack(
    struct wndl_buf *out, const struct wndl_pdb_stack *stack)
{
    const struct wndl_bytes program = stack->program;
    wndl_buf_printf(out, "STACK WIN %x %llx %x %x 0 %x %x %x %x ", stack->type,
        (unsigned long long)stack->rva, stack->size, stack->prologue,
        stack->parameters, stack->saved, stack->locals, stack->stack_most);
    if (program.size == 0) {
        wndl_buf_printf(out, "0 %d\n", stack->allocates_bp);
        return;
    }
    wndl_buf_text(out, "1 ");
    wndl_buf_add(out, program.data, program.size);
    wndl_buf_byte(out, '\n');
}
