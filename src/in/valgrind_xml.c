/* SPDX-License-Identifier: MIT */
#include "in/valgrind_xml.h"

#include "base/buf.h"
#include "base/lines.h"
#include "base/text.h"

#include <expat.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
    UNIT_MAX = 4 << 20, /* bytes of a unit */
    NESTED_MAX = 64,    /* documents in documents */
};

/* The elements that mean something here. */
enum element {
    OTHER,
    AUXWHAT,
    BLOCKS,
    BYTES,
    COUNT,
    DIR,
    FILE_NAME,
    FN,
    FRAME,
    KIND,
    LINE,
    NAME,
    OBJ,
    PAIR,
    SEGMENT_END,
    SEGMENT_START,
    SIGNAL,
    STACK,
    STATE,
    TEXT,
    UNIQUE,
    WHAT,
    XAUXWHAT,
    ELEMENTS,
};

static const char *const names[ELEMENTS] = {"", "auxwhat", "leakedblocks",
    "leakedbytes", "count", "dir", "file", "fn", "frame", "kind", "line",
    "name", "obj", "pair", "other_segment_end", "other_segment_start",
    "signame", "stack", "state", "text", "unique", "what", "xauxwhat"};

/* A unit of the file and how its content is used. */
enum unit {
    UNIT_ERROR,
    UNIT_COUNTS,
    UNIT_SUPPRESSED,
    UNIT_STATUS,
    UNIT_SIGNAL,
    UNIT_PREAMBLE,
    UNITS
};

static const char *const openings[UNITS] = {"<error>", "<errorcounts>",
    "<suppcounts>", "<status>", "<fatal_signal>", "<preamble>"};
static const char *const closings[UNITS] = {"</error>", "</errorcounts>",
    "</suppcounts>", "</status>", "</fatal_signal>", "</preamble>"};

struct reading {
    struct wndl_check *check;
    uint32_t run;
    uint32_t processes[NESTED_MAX]; /* of the documents that are open */
    size_t depth;
    struct wndl_buf text; /* of the current element */
    bool no_memory;
    /* the unit being read */
    enum unit unit;
    bool in_auxiliary; /* inside of <xauxwhat> */
    bool note_waits;   /* the last stack is a note without frames yet */
    struct wndl_check_error error;
    struct wndl_check_frame frame;
    uint64_t count; /* of a pair */
    uint32_t name;
};

static struct wndl_check_process *process_of(struct reading *r)
{
    return wndl_vec_at(
        &r->check->processes, r->processes[r->depth == 0 ? 0 : r->depth - 1]);
}

/* ---- elements */

static enum element element_of(const char *name)
{
    for (int e = OTHER + 1; e < ELEMENTS; e++) {
        if (strcmp(names[e], name) == 0)
            return (enum element)e;
    }
    return OTHER;
}

static uint32_t keep(struct reading *r, struct wndl_bytes text)
{
    uint32_t id = 0;
    r->no_memory |= !wndl_intern_add(&r->check->texts, text, &id);
    return id;
}

static struct wndl_bytes text_of(const struct reading *r)
{
    return (struct wndl_bytes){r->text.data, r->text.size};
}

/* Decimal, or hexadecimal after 0x; 0 if it is no number. */
static uint64_t number_of(struct reading *r)
{
    wndl_buf_byte(&r->text, '\0');
    return r->text.failed
               ? 0
               : (uint64_t)strtoull((const char *)r->text.data, NULL, 0);
}

static struct wndl_check_stack *add_stack(struct reading *r)
{
    struct wndl_check_stack *stack = wndl_vec_push(&r->check->stacks);
    if (stack == NULL) {
        r->no_memory = true;
        return NULL;
    }
    stack->first = (uint32_t)r->check->frames.len;
    r->error.stacks++;
    return stack;
}

static void add_note(struct reading *r, struct wndl_bytes note)
{
    struct wndl_check_stack *stack = add_stack(r);
    if (stack != NULL)
        stack->note = keep(r, note);
    r->note_waits = true;
}

static void begin_stack(struct reading *r)
{
    if (!r->note_waits)
        (void)add_stack(r);
    r->note_waits = false;
}

static void add_frame(struct reading *r)
{
    const struct wndl_check *check = r->check;
    struct wndl_check_frame *frame = wndl_vec_push(&r->check->frames);
    if (frame == NULL || r->error.stacks == 0) {
        r->no_memory |= frame == NULL;
        return;
    }
    *frame = r->frame;
    struct wndl_check_stack *stack =
        wndl_vec_at(&check->stacks, check->stacks.len - 1);
    stack->count++;
}

static void begin_element(void *context, const char *name, const char **values)
{
    (void)values;
    static const char other_start[] = "The other thread's segment began at";
    static const char other_end[] = "and ended at";
    struct reading *r = context;
    const enum element element = element_of(name);
    wndl_buf_clear(&r->text);
    if (element == FRAME)
        r->frame = (struct wndl_check_frame){0};
    else if (element == STACK)
        begin_stack(r);
    else if (element == XAUXWHAT)
        r->in_auxiliary = true;
    else if (element == SEGMENT_START)
        add_note(r, (struct wndl_bytes){
                        (const uint8_t *)other_start, sizeof other_start - 1});
    else if (element == SEGMENT_END)
        add_note(r, (struct wndl_bytes){
                        (const uint8_t *)other_end, sizeof other_end - 1});
}

static void add_text(void *context, const char *text, int size)
{
    struct reading *r = context;
    wndl_buf_add(&r->text, text, (size_t)size);
}

/* An error of this process that has this number. */
static void set_times(struct reading *r)
{
    const uint32_t process = r->processes[r->depth == 0 ? 0 : r->depth - 1];
    for (size_t i = r->check->errors.len; i-- > 0;) {
        struct wndl_check_error *e = wndl_vec_at(&r->check->errors, i);
        if (e->process < process)
            return;
        if (e->process == process && e->unique == r->error.unique &&
            e->blocks == 0) {
            e->times = r->count;
            return;
        }
    }
}

static void end_pair(struct reading *r)
{
    if (r->unit == UNIT_COUNTS) {
        set_times(r);
        return;
    }
    struct wndl_check_suppression *s = wndl_vec_push(&r->check->suppressions);
    r->no_memory |= s == NULL;
    if (s != NULL)
        *s = (struct wndl_check_suppression){r->name, r->count};
}

static void end_frame_part(struct reading *r, enum element element)
{
    switch (element) {
    case FN:
        r->frame.function = keep(r, text_of(r));
        break;
    case OBJ:
        r->frame.module = keep(r, text_of(r));
        break;
    case DIR:
        r->frame.folder = keep(r, text_of(r));
        break;
    case FILE_NAME:
        r->frame.file = keep(r, text_of(r));
        break;
    case FRAME:
        add_frame(r);
        break;
    default:
        break;
    }
}

static void end_line(struct reading *r)
{
    static const char command[] = "Command: ";
    if (r->unit != UNIT_PREAMBLE) {
        r->frame.line = number_of(r);
        return;
    }
    const struct wndl_bytes text = text_of(r);
    if (wndl_bytes_start_with(text, command))
        process_of(r)->command =
            keep(r, wndl_bytes_slice(text, sizeof command - 1,
                        text.size - (sizeof command - 1)));
}

static void end_error_part(struct reading *r, enum element element)
{
    switch (element) {
    case KIND:
        r->error.kind = keep(r, text_of(r));
        break;
    case WHAT:
        r->error.what = keep(r, text_of(r));
        break;
    case TEXT:
        if (r->in_auxiliary)
            add_note(r, text_of(r));
        else
            r->error.what = keep(r, text_of(r));
        break;
    case AUXWHAT:
        add_note(r, text_of(r));
        break;
    case XAUXWHAT:
        r->in_auxiliary = false;
        break;
    case BYTES:
        r->error.bytes = number_of(r);
        break;
    case BLOCKS:
        r->error.blocks = number_of(r);
        break;
    default:
        break;
    }
}

static void end_element(void *context, const char *name)
{
    struct reading *r = context;
    const enum element element = element_of(name);
    switch (element) {
    case UNIQUE:
        r->error.unique = number_of(r);
        break;
    case COUNT:
        r->count = number_of(r);
        break;
    case NAME:
        r->name = keep(r, text_of(r));
        break;
    case PAIR:
        end_pair(r);
        break;
    case LINE:
        end_line(r);
        break;
    case SIGNAL:
        process_of(r)->signal = keep(r, text_of(r));
        break;
    case STATE:
        process_of(r)->is_finished = wndl_bytes_is(text_of(r), "FINISHED");
        break;
    default:
        end_frame_part(r, element);
        end_error_part(r, element);
        break;
    }
    wndl_buf_clear(&r->text);
}

/* ---- units */

static void begin_unit(struct reading *r, enum unit unit)
{
    r->unit = unit;
    r->in_auxiliary = r->note_waits = false;
    r->error = (struct wndl_check_error){
        .first = (uint32_t)r->check->stacks.len,
        .process = r->processes[r->depth - 1],
        .run = r->run,
        .times = 1,
    };
}

/* Whether what was read is an error as the protocol has it. */
static bool keep_error(struct reading *r)
{
    if (r->error.kind == 0 || r->error.stacks == 0)
        return false;
    struct wndl_check_error *error = wndl_vec_push(&r->check->errors);
    if (error == NULL)
        r->no_memory = true;
    else
        *error = r->error;
    return true;
}

static bool parse_unit(struct reading *r, struct wndl_bytes text)
{
    XML_Parser parser = XML_ParserCreate("UTF-8");
    if (parser == NULL) {
        r->no_memory = true;
        return false;
    }
    XML_SetUserData(parser, r);
    XML_SetElementHandler(parser, begin_element, end_element);
    XML_SetCharacterDataHandler(parser, add_text);
    const enum XML_Status status =
        XML_Parse(parser, (const char *)text.data, (int)text.size, XML_TRUE);
    r->no_memory |= XML_GetErrorCode(parser) == XML_ERROR_NO_MEMORY;
    XML_ParserFree(parser);
    return status == XML_STATUS_OK;
}

/* A damaged unit leaves nothing but its texts. */
static void read_unit(struct reading *r, enum unit unit, struct wndl_bytes text)
{
    const size_t stacks = r->check->stacks.len, frames = r->check->frames.len;
    begin_unit(r, unit);
    const bool is_whole = text.size <= UNIT_MAX && parse_unit(r, text);
    if (is_whole && (unit != UNIT_ERROR || keep_error(r)))
        return;
    r->check->stacks.len = stacks;
    r->check->frames.len = frames;
    r->check->damaged++;
}

/* ---- the file */

/* A document begins: the file's, or that of a child within it. */
static void begin_document(struct reading *r)
{
    struct wndl_check_process *process;
    if (r->depth == NESTED_MAX)
        r->depth--; /* damage: so many children are not in one another */
    process = wndl_vec_push(&r->check->processes);
    r->no_memory |= process == NULL;
    r->processes[r->depth++] = (uint32_t)(r->check->processes.len - 1);
}

static void end_document(struct reading *r)
{
    if (r->depth > 1)
        r->depth--;
}

static uint64_t number_in(struct wndl_bytes line, const char *opening)
{
    const size_t start = strlen(opening);
    uint64_t value = 0;
    size_t size = 0;
    while (start + size < line.size && line.data[start + size] != '<')
        size++;
    return wndl_line_number(
               (struct wndl_bytes){line.data + start, size}, &value)
               ? value
               : 0;
}

/* The kind of unit that a line opens; UNITS if it opens none. */
static enum unit unit_of(struct wndl_bytes line)
{
    int unit = 0;
    while (unit < UNITS && !wndl_bytes_is(line, openings[unit]))
        unit++;
    return (enum unit)unit;
}

/*
 * Finds the line that closes a unit, which began at `from`. False: a document
 * or another unit begins first, or the file ends. Lines up to there are
 * consumed, without the one that begins something.
 */
static bool find_end(struct wndl_lines *lines, enum unit unit,
    const uint8_t *from, struct wndl_bytes *text)
{
    struct wndl_lines ahead = *lines;
    struct wndl_bytes line;
    while (wndl_lines_next(&ahead, &line)) {
        if (wndl_bytes_is(line, closings[unit])) {
            *text = (struct wndl_bytes){
                from, (size_t)(line.data + line.size - from)};
            *lines = ahead;
            return true;
        }
        if (unit_of(line) != UNITS || wndl_bytes_start_with(line, "<?xml"))
            return false;
        *lines = ahead;
    }
    return false;
}

static void read_line(
    struct reading *r, struct wndl_lines *lines, struct wndl_bytes line)
{
    struct wndl_bytes text;
    const enum unit unit = unit_of(line);
    if (wndl_bytes_start_with(line, "<?xml"))
        begin_document(r);
    else if (wndl_bytes_is(line, "</valgrindoutput>"))
        end_document(r);
    else if (wndl_bytes_start_with(line, "<pid>"))
        process_of(r)->pid = number_in(line, "<pid>");
    else if (wndl_bytes_start_with(line, "<ppid>"))
        process_of(r)->parent = number_in(line, "<ppid>");
    else if (unit == UNITS)
        return;
    else if (find_end(lines, unit, line.data, &text))
        read_unit(r, unit, text);
    else if (lines->left.size != 0)
        r->check->damaged++;
}

enum wndl_status wndl_valgrind_xml_read(struct wndl_check *check,
    struct wndl_bytes file, uint32_t run, struct wndl_error *err)
{
    struct reading r = {.check = check, .run = run};
    struct wndl_lines lines = wndl_lines_of(file);
    struct wndl_bytes line;
    if (!wndl_bytes_start_with(file, "<?xml"))
        return wndl_fail(err, WNDL_MALFORMED, "no XML of Valgrind");
    wndl_buf_init(&r.text, check->arena.mem);
    while (!r.no_memory && !r.text.failed && wndl_lines_next(&lines, &line))
        read_line(&r, &lines, line);
    const bool failed = r.no_memory || r.text.failed;
    wndl_buf_free(&r.text);
    return failed ? wndl_fail(err, WNDL_NOMEM, "out of memory") : WNDL_OK;
}
