/* SPDX-License-Identifier: MIT */
/* One pass over the text: its records by address and by id. */
#include "dbg/breakpad/internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- lines and fields */

uint64_t wndl_bp_next(struct wndl_bytes text, uint64_t at)
{
    const uint8_t *end = memchr(text.data + at, '\n', text.size - at);
    return end == NULL ? text.size : (uint64_t)(end - text.data) + 1;
}

struct wndl_bp_fields wndl_bp_take_line(struct wndl_bytes text, uint64_t *at)
{
    uint64_t start = *at;
    uint64_t end = *at = wndl_bp_next(text, start);
    if (end > start && text.data[end - 1] == '\n')
        end--;
    if (end > start && text.data[end - 1] == '\r')
        end--;
    return (struct wndl_bp_fields){text.data + start, text.data + end};
}

static void drop_blanks(struct wndl_bp_fields *fields)
{
    while (fields->at != fields->end && *fields->at == ' ')
        fields->at++;
}

bool wndl_bp_take_word(struct wndl_bp_fields *fields, struct wndl_bytes *word)
{
    const uint8_t *start = fields->at;
    while (fields->at != fields->end && *fields->at != ' ')
        fields->at++;
    *word = (struct wndl_bytes){start, (size_t)(fields->at - start)};
    drop_blanks(fields);
    return word->size != 0;
}

bool wndl_bp_take_if(struct wndl_bp_fields *fields, const char *word)
{
    size_t size = strlen(word);
    size_t left = (size_t)(fields->end - fields->at);
    if (left < size || memcmp(fields->at, word, size) != 0 ||
        (left > size && fields->at[size] != ' '))
        return false;
    fields->at += size;
    drop_blanks(fields);
    return true;
}

enum wndl_bp_kind wndl_bp_take_kind(struct wndl_bp_fields *fields)
{
    static const struct {
        const char *word;
        enum wndl_bp_kind kind;
    } kinds[] = {
        {"FUNC", WNDL_BP_FUNC},
        {"INLINE", WNDL_BP_INLINE},
        {"INLINE_ORIGIN", WNDL_BP_INLINE_ORIGIN},
        {"FILE", WNDL_BP_FILE},
        {"PUBLIC", WNDL_BP_PUBLIC},
        {"STACK", WNDL_BP_STACK},
        {"INFO", WNDL_BP_INFO},
        {"MODULE", WNDL_BP_MODULE},
    };
    char first = fields->at == fields->end ? '\0' : (char)*fields->at;
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (first == kinds[i].word[0] && wndl_bp_take_if(fields, kinds[i].word))
            return kinds[i].kind;
    return WNDL_BP_LINE;
}

/* After a number, which begins at `start`, there is a blank, or the line
 * ends. */
static inline bool end_number(
    struct wndl_bp_fields *fields, const uint8_t *start)
{
    if (fields->at == start ||
        (fields->at != fields->end && *fields->at != ' '))
        return false;
    drop_blanks(fields);
    return true;
}

bool wndl_bp_take_hex(struct wndl_bp_fields *fields, uint64_t *value)
{
    const uint8_t *start = fields->at;
    uint64_t number = 0;
    for (; fields->at != fields->end; fields->at++) {
        unsigned digit = wndl_bp_digit(*fields->at);
        if (digit > 15)
            break;
        if (number >> 60 != 0)
            return false;
        number = number << 4 | digit;
    }
    *value = number;
    return end_number(fields, start);
}

bool wndl_bp_take_decimal(struct wndl_bp_fields *fields, uint32_t *value)
{
    const uint8_t *start = fields->at;
    uint64_t number = 0;
    for (; fields->at != fields->end; fields->at++) {
        unsigned digit = *fields->at - (unsigned)'0';
        if (digit > 9)
            break;
        number = number * 10 + digit;
        if (number > UINT32_MAX)
            return false;
    }
    *value = (uint32_t)number;
    return end_number(fields, start);
}

bool wndl_bp_take_head(struct wndl_bp_fields *fields, enum wndl_bp_kind kind,
    struct wndl_bp_head *head)
{
    uint64_t parameters;
    uint64_t end;
    (void)wndl_bp_take_if(fields, "m");
    head->size = 0;
    if (!wndl_bp_take_hex(fields, &head->start))
        return false;
    if (kind == WNDL_BP_FUNC && !wndl_bp_take_hex(fields, &head->size))
        return false;
    return wndl_bp_take_hex(fields, &parameters) &&
           !__builtin_add_overflow(head->start, head->size, &end);
}

void wndl_bp_release_pages_after(struct wndl_breakpad *b, uint64_t bytes)
{
    b->touched += bytes;
    if (b->touched < WNDL_BP_PIECE || b->in.give_up == NULL)
        return;
    b->in.give_up(b->in.context);
    b->touched = 0;
}

void wndl_bp_damage(struct wndl_breakpad *b, uint64_t at, const char *what)
{
    struct wndl_breakpad_stats *stats = &b->stats;
    stats->damaged += stats->damaged != UINT32_MAX;
    if (stats->first_damage.status != WNDL_OK)
        return;
    wndl_error_set_file(&stats->first_damage, b->in.path);
    (void)!wndl_fail_at(
        &stats->first_damage, WNDL_MALFORMED, "symbols", at, what);
}

/* ---- the pass */

static bool add_function(struct wndl_breakpad *b, struct wndl_bp_fields fields,
    enum wndl_bp_kind kind, uint64_t at)
{
    struct wndl_bp_head head;
    if (!wndl_bp_take_head(&fields, kind, &head)) {
        wndl_bp_damage(b, at, "FUNC or PUBLIC record without its numbers");
        return true;
    }
    if (head.size == 0) {
        struct wndl_bp_public *public = wndl_vec_push(&b->publics);
        if (public != NULL)
            *public = (struct wndl_bp_public){head.start, at};
        return public != NULL;
    }
    struct wndl_bp_func *func = wndl_vec_push(&b->funcs);
    if (func != NULL)
        *func = (struct wndl_bp_func){head.start, head.start + head.size, at};
    return func != NULL;
}

static bool add_text(struct wndl_breakpad *b, struct wndl_vec *list,
    struct wndl_bp_fields fields, uint64_t at)
{
    uint32_t id;
    if (!wndl_bp_take_decimal(&fields, &id)) {
        wndl_bp_damage(b, at, "FILE or INLINE_ORIGIN record without a number");
        return true;
    }
    struct wndl_bp_text *text = wndl_vec_push(list);
    if (text != NULL)
        *text =
            (struct wndl_bp_text){(uint64_t)(fields.at - b->in.text.data), id};
    return text != NULL;
}

/* False when memory is out. */
static bool add_record(struct wndl_breakpad *b, uint64_t at)
{
    struct wndl_bp_fields fields = wndl_bp_line_at(b->in.text, at);
    enum wndl_bp_kind kind = wndl_bp_take_kind(&fields);
    switch (kind) {
    case WNDL_BP_FUNC:
    case WNDL_BP_PUBLIC:
        return add_function(b, fields, kind, at);
    case WNDL_BP_FILE:
        return add_text(b, &b->files, fields, at);
    case WNDL_BP_INLINE_ORIGIN:
        return add_text(b, &b->origins, fields, at);
    default:
        return true;
    }
}

/* Most lines are records of lines, which begin with a digit, or INLINE. */
static bool may_be_wanted(struct wndl_bytes text, uint64_t at)
{
    static const char inlined[] = "INLINE ";
    size_t size = sizeof inlined - 1;
    switch (text.data[at]) {
    case 'F':
    case 'P':
        return true;
    case 'I':
        return text.size - at < size ||
               memcmp(text.data + at, inlined, size) != 0;
    default:
        return false;
    }
}

static bool go_over(struct wndl_breakpad *b)
{
    struct wndl_bytes text = b->in.text;
    uint64_t piece = 0;
    for (uint64_t at = 0; at < text.size; at = wndl_bp_next(text, at)) {
        if (may_be_wanted(text, at) && !add_record(b, at))
            return false;
        if (at - piece < WNDL_BP_PIECE)
            continue;
        wndl_bp_release_pages_after(b, at - piece);
        piece = at;
    }
    wndl_bp_release_pages_after(b, text.size - piece);
    return true;
}

/* ---- putting in order */

static int compare_u64(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* Among functions at the same address the later one owns it. */
static int compare_funcs(const void *left, const void *right)
{
    const struct wndl_bp_func *a = left;
    const struct wndl_bp_func *b = right;
    if (a->start != b->start)
        return compare_u64(a->start, b->start);
    if (a->end != b->end)
        return compare_u64(b->end, a->end);
    return compare_u64(b->at, a->at);
}

static int compare_publics(const void *left, const void *right)
{
    const struct wndl_bp_public *a = left;
    const struct wndl_bp_public *b = right;
    int order = compare_u64(a->start, b->start);
    return order != 0 ? order : compare_u64(a->at, b->at);
}

static int compare_texts(const void *left, const void *right)
{
    const struct wndl_bp_text *a = left;
    const struct wndl_bp_text *b = right;
    int order = compare_u64(a->id, b->id);
    return order != 0 ? order : compare_u64(a->at, b->at);
}

void wndl_bp_sort(
    struct wndl_vec *list, int (*compare)(const void *, const void *))
{
    for (size_t i = 1; i < list->len; i++)
        if (compare(wndl_vec_at(list, i - 1), wndl_vec_at(list, i)) > 0) {
            qsort(list->data, list->len, list->element, compare);
            return;
        }
}

/* Keeps the first text of each id. */
static void drop_doubles(struct wndl_vec *texts)
{
    struct wndl_bp_text *list = texts->data;
    size_t kept = 0;
    for (size_t i = 0; i < texts->len; i++)
        if (kept == 0 || list[kept - 1].id != list[i].id)
            list[kept++] = list[i];
    texts->len = kept;
}

/* Keeps the first record at each address. */
static void drop_double_publics(struct wndl_vec *publics)
{
    struct wndl_bp_public *list = publics->data;
    size_t kept = 0;
    for (size_t i = 0; i < publics->len; i++)
        if (kept == 0 || list[kept - 1].start != list[i].start)
            list[kept++] = list[i];
    publics->len = kept;
}

static bool do_overlap(const struct wndl_vec *funcs)
{
    const struct wndl_bp_func *list = funcs->data;
    for (size_t i = 1; i < funcs->len; i++)
        if (list[i - 1].end > list[i].start)
            return true;
    return false;
}

/*
 * Functions that have begun; the last one owns the code that follows. All code
 * below `done` is in `pieces`.
 */
struct flattening {
    struct wndl_vec open;
    struct wndl_vec pieces;
    uint64_t done;
};

static bool add_until(struct flattening *f, uint64_t limit)
{
    for (; f->open.len > 0; f->open.len--) {
        const struct wndl_bp_func *last =
            wndl_vec_at(&f->open, f->open.len - 1);
        uint64_t end = last->end < limit ? last->end : limit;
        if (end > f->done) {
            struct wndl_bp_func *piece = wndl_vec_push(&f->pieces);
            if (piece == NULL)
                return false;
            *piece = (struct wndl_bp_func){f->done, end, last->at};
            f->done = end;
        }
        if (last->end > limit)
            break;
    }
    return true;
}

/* Cuts sorted functions, some of which overlap, into pieces that do not. */
static bool flatten(struct wndl_breakpad *b)
{
    struct wndl_arena scratch;
    struct flattening f = {.done = 0};
    const struct wndl_bp_func *list = b->funcs.data;
    bool whole = true;
    wndl_arena_init(&scratch, b->mem);
    wndl_vec_init(&f.open, &scratch, sizeof(struct wndl_bp_func));
    wndl_vec_init(&f.pieces, &b->arena, sizeof(struct wndl_bp_func));
    for (size_t i = 0; i < b->funcs.len && whole; i++) {
        whole = add_until(&f, list[i].start);
        f.done = list[i].start;
        struct wndl_bp_func *open = wndl_vec_push(&f.open);
        whole = whole && open != NULL;
        if (whole)
            *open = list[i];
    }
    whole = whole && add_until(&f, UINT64_MAX);
    wndl_arena_free(&scratch);
    b->funcs = f.pieces;
    return whole;
}

static bool put_in_order(struct wndl_breakpad *b)
{
    wndl_bp_sort(&b->funcs, compare_funcs);
    wndl_bp_sort(&b->publics, compare_publics);
    wndl_bp_sort(&b->files, compare_texts);
    wndl_bp_sort(&b->origins, compare_texts);
    drop_double_publics(&b->publics);
    drop_doubles(&b->files);
    drop_doubles(&b->origins);
    return !do_overlap(&b->funcs) || flatten(b);
}

/* ---- opening */

bool wndl_breakpad_is(struct wndl_bytes text)
{
    static const char word[] = "MODULE ";
    return text.size >= sizeof word - 1 &&
           memcmp(text.data, word, sizeof word - 1) == 0;
}

enum wndl_status wndl_breakpad_read_module(struct wndl_bytes text,
    struct wndl_breakpad_module *module, struct wndl_error *err)
{
    *module = (struct wndl_breakpad_module){0};
    if (!wndl_breakpad_is(text))
        return wndl_fail(
            err, WNDL_UNSUPPORTED, "does not begin with a MODULE record");
    struct wndl_bp_fields fields = wndl_bp_line_at(text, 0);
    (void)wndl_bp_take_kind(&fields);
    if (!wndl_bp_take_word(&fields, &module->os) ||
        !wndl_bp_take_word(&fields, &module->machine) ||
        !wndl_bp_take_word(&fields, &module->id))
        return wndl_fail_at(err, WNDL_MALFORMED, "symbols",
            (uint64_t)(fields.at - text.data),
            "MODULE record without its fields");
    module->name = wndl_bp_rest(fields);
    return WNDL_OK;
}

static void init(struct wndl_breakpad *b)
{
    struct wndl_arena *arena = &b->arena;
    wndl_arena_init(arena, b->mem);
    wndl_vec_init(&b->funcs, arena, sizeof(struct wndl_bp_func));
    wndl_vec_init(&b->publics, arena, sizeof(struct wndl_bp_public));
    wndl_vec_init(&b->files, arena, sizeof(struct wndl_bp_text));
    wndl_vec_init(&b->origins, arena, sizeof(struct wndl_bp_text));
    wndl_vec_init(&b->body.lines, arena, sizeof(struct wndl_bp_line));
    wndl_vec_init(&b->body.calls, arena, sizeof(struct wndl_bp_call));
    wndl_vec_init(&b->body.ranges, arena, sizeof(struct wndl_bp_range));
    wndl_vec_init(&b->body.scratch, arena, sizeof(struct wndl_bp_range));
    wndl_vec_init(&b->frames, arena, sizeof(struct wndl_breakpad_frame));
    wndl_map_init(&b->texts, arena);
    wndl_map_init(&b->damaged, arena);
    b->body.at = UINT64_MAX;
}

enum wndl_status wndl_breakpad_open(const struct wndl_breakpad_source *source,
    struct wndl_mem *mem, struct wndl_breakpad **out, struct wndl_error *err)
{
    struct wndl_breakpad_module module;
    wndl_error_set_file(err, source->path);
    enum wndl_status status =
        wndl_breakpad_read_module(source->text, &module, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_breakpad *b = wndl_mem_zalloc(mem, sizeof *b);
    if (b == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    b->in = *source;
    b->mem = mem;
    init(b);
    if (!go_over(b) || !put_in_order(b)) {
        wndl_breakpad_close(b);
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    }
    *out = b;
    return WNDL_OK;
}

void wndl_breakpad_close(struct wndl_breakpad *breakpad)
{
    if (breakpad == NULL)
        return;
    wndl_arena_free(&breakpad->arena);
    wndl_mem_free(breakpad->mem, breakpad);
}

void wndl_breakpad_get_stats(
    const struct wndl_breakpad *breakpad, struct wndl_breakpad_stats *stats)
{
    *stats = breakpad->stats;
}
