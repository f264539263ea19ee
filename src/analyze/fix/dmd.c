/* SPDX-License-Identifier: MIT */
/*
 * fix_dmd: a DMD file with its frames fixed. Inlined frames become entries of
 * frameTable, with new ids that are put into the stacks before the id of the
 * frame that they are inlined in.
 */
#include "analyze/fix/batch.h"
#include "in/dmd_tables.h"

#include <stdlib.h>
#include <string.h>

/* The edits: text before bytes of the file, or instead of them. */
enum edit_kind { EDIT_FRAME, EDIT_ENTRY, EDIT_USE };

struct edit {
    size_t at;
    enum edit_kind kind;
    uint32_t index; /* of the frame of the batch, or the entry */
};

/*
 * An entry: `frame` is its first frame in the batch that has inlined ones,
 * whose ids count up from `first_id`; NONE if there is none.
 */
struct entry {
    size_t frame;
    uint64_t first_id;
};

#define NONE SIZE_MAX

struct job {
    const struct wndl_fix *fix;
    struct wndl_bytes text;
    struct wndl_fix_batch batch;
    struct wndl_dmd_tables tables;
    struct entry *entries;
    struct wndl_intern ids;
    size_t *entry_of_id; /* the entry's index + 1; for the ids of entries */
    size_t id_count;
    struct wndl_vec edits;
};

/* Ids are numbers of base 32; false for ids that DMD does not write. */
static bool number_of(struct wndl_bytes id, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < id.size; i++) {
        uint8_t c = id.data[i];
        if (*number >> 58 != 0)
            return false;
        if (c >= 'A' && c <= 'Z')
            *number = *number << 5 | (c - 'A');
        else if (c >= 'a' && c <= 'f')
            *number = *number << 5 | (c - 'a' + 26);
        else
            return false;
    }
    return id.size != 0;
}

static void write_id(struct wndl_buf *out, uint64_t number)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdef";
    int shift = 60;
    while (shift > 0 && number >> shift == 0)
        shift -= 5;
    wndl_buf_byte(out, '"');
    for (; shift >= 0; shift -= 5)
        wndl_buf_byte(out, (uint8_t)digits[number >> shift & 31]);
    wndl_buf_byte(out, '"');
}

static const struct wndl_dmd_frame *entry_at(const struct job *j, size_t index)
{
    return wndl_vec_at(&j->tables.frames, index);
}

static void raise_to(uint64_t *largest, struct wndl_bytes id)
{
    uint64_t number;
    if (number_of(id, &number) && number > *largest)
        *largest = number;
}

static uint64_t largest_id(const struct job *j)
{
    uint64_t largest = 0;
    for (size_t i = 0; i < j->tables.frames.len; i++)
        raise_to(&largest, entry_at(j, i)->id);
    for (size_t i = 0; i < j->tables.uses.len; i++) {
        const struct wndl_dmd_use *use = wndl_vec_at(&j->tables.uses, i);
        raise_to(&largest, use->id);
    }
    return largest;
}

/*
 * The first frame in the text of `entry` that has inlined ones, or NONE. *next
 * is the first frame from the entry on; afterwards the first one after it.
 */
static size_t frame_of(
    const struct job *j, const struct wndl_dmd_frame *entry, size_t *next)
{
    size_t found = NONE;
    for (; *next < j->batch.frames.len; ++*next) {
        const struct wndl_fix_frame *f = wndl_fix_frame_at(&j->batch, *next);
        if (f->text.start >= entry->text_end)
            break;
        if (found == NONE && f->text.start >= entry->text &&
            f->text.end <= entry->text_end && wndl_fix_inlined(f) != 0)
            found = *next;
    }
    return found;
}

/* Finds the entries with inlined frames, and gives out ids. */
static bool number_entries(struct job *j, struct wndl_arena *arena)
{
    size_t count = j->tables.frames.len;
    uint64_t next_id = largest_id(j) + 1;
    size_t next = 0;
    j->entries = wndl_arena_calloc(arena, count + 1, sizeof *j->entries);
    j->entry_of_id =
        wndl_arena_calloc(arena, count + 1, sizeof *j->entry_of_id);
    if (j->entries == NULL || j->entry_of_id == NULL ||
        !wndl_intern_init(&j->ids, arena))
        return false;
    for (size_t i = 0; i < count; i++) {
        const struct wndl_dmd_frame *entry = entry_at(j, i);
        uint32_t id;
        if (!wndl_intern_add(&j->ids, entry->id, &id))
            return false;
        size_t frame = frame_of(j, entry, &next);
        j->entries[i] = (struct entry){frame, next_id};
        j->entry_of_id[id] = i + 1;
        if (frame != NONE)
            next_id += wndl_fix_inlined(wndl_fix_frame_at(&j->batch, frame));
    }
    j->id_count = wndl_intern_count(&j->ids);
    return true;
}

static bool add_edit(
    struct job *j, size_t at, enum edit_kind kind, size_t index)
{
    struct edit *edit = wndl_vec_push(&j->edits);
    if (edit != NULL)
        *edit = (struct edit){at, kind, (uint32_t)index};
    return edit != NULL;
}

/* Sets *entry to the entry of a use, if it has inlined frames, else to NONE. */
static bool find_entry(
    struct job *j, const struct wndl_dmd_use *use, size_t *entry)
{
    uint32_t id;
    *entry = NONE;
    if (!wndl_intern_add(&j->ids, use->id, &id))
        return false;
    size_t index = id < j->id_count ? j->entry_of_id[id] : 0;
    if (index != 0 && j->entries[index - 1].frame != NONE)
        *entry = index - 1;
    return true;
}

static int compare_edits(const void *left, const void *right)
{
    const struct edit *a = left, *b = right;
    return a->at < b->at ? -1 : a->at > b->at;
}

static bool plan_edits(struct job *j)
{
    bool kept = true;
    for (size_t i = 0; i < j->batch.frames.len && kept; i++)
        kept = add_edit(
            j, wndl_fix_frame_at(&j->batch, i)->text.start, EDIT_FRAME, i);
    for (size_t i = 0; i < j->tables.frames.len && kept; i++)
        if (j->entries[i].frame != NONE)
            kept = add_edit(j, entry_at(j, i)->key, EDIT_ENTRY, i);
    for (size_t i = 0; i < j->tables.uses.len && kept; i++) {
        const struct wndl_dmd_use *use = wndl_vec_at(&j->tables.uses, i);
        size_t entry;
        kept = find_entry(j, use, &entry);
        if (entry != NONE)
            kept = add_edit(j, use->at, EDIT_USE, entry);
    }
    if (kept && j->edits.len != 0)
        qsort(j->edits.data, j->edits.len, j->edits.element, compare_edits);
    return kept;
}

static void copy_text(
    const struct job *j, struct wndl_buf *out, size_t from, size_t to)
{
    wndl_buf_add(out, j->text.data + from, to - from);
}

/*
 * New entries have the layout of the one that they come before, blanks
 * included.
 */
static void write_entries(
    const struct job *j, size_t index, struct wndl_buf *out)
{
    const struct wndl_dmd_frame *entry = entry_at(j, index);
    const struct wndl_fix_frame *frame =
        wndl_fix_frame_at(&j->batch, j->entries[index].frame);
    size_t blanks = entry->key;
    while (memchr(" \t\r\n", j->text.data[blanks - 1], 4) != NULL)
        blanks--;
    for (size_t i = 0; i < wndl_fix_inlined(frame); i++) {
        write_id(out, j->entries[index].first_id + i);
        wndl_buf_text(out, ": \"");
        copy_text(j, out, entry->text, frame->text.start);
        wndl_fix_write_inlined(j->fix, j->text, frame, i, out);
        copy_text(j, out, frame->text.end, entry->text_end);
        wndl_buf_text(out, "\",");
        copy_text(j, out, blanks, entry->key);
    }
}

static void write_ids(
    const struct job *j, const struct entry *entry, struct wndl_buf *out)
{
    size_t count = wndl_fix_inlined(wndl_fix_frame_at(&j->batch, entry->frame));
    for (size_t i = 0; i < count; i++) {
        write_id(out, entry->first_id + i);
        wndl_buf_text(out, ", ");
    }
}

static void write_edit(
    const struct job *j, const struct edit *edit, struct wndl_buf *out)
{
    switch (edit->kind) {
    case EDIT_ENTRY:
        write_entries(j, edit->index, out);
        break;
    case EDIT_USE:
        write_ids(j, &j->entries[edit->index], out);
        break;
    case EDIT_FRAME:
        wndl_fix_write_frame(
            j->fix, j->text, wndl_fix_frame_at(&j->batch, edit->index), out);
        break;
    }
}

static void write_file(const struct job *j, struct wndl_fix_output *output)
{
    size_t done = 0;
    for (size_t i = 0; i < j->edits.len && output->status == WNDL_OK; i++) {
        const struct edit *edit = wndl_vec_at(&j->edits, i);
        copy_text(j, &output->buf, done, edit->at);
        write_edit(j, edit, &output->buf);
        wndl_fix_output_step(output);
        done = edit->kind == EDIT_FRAME
                   ? wndl_fix_frame_at(&j->batch, edit->index)->text.end
                   : edit->at;
    }
    copy_text(j, &output->buf, done, j->text.size);
}

/* Computes everything that must be known before the first byte is written. */
static enum wndl_status prepare_job(
    struct job *j, struct wndl_fix *fix, struct wndl_arena *arena)
{
    enum wndl_status status = wndl_fix_batch_fill(&j->batch, fix, j->text);
    if (status != WNDL_OK)
        return status;
    j->entries =
        wndl_arena_calloc(arena, j->tables.frames.len + 1, sizeof *j->entries);
    bool made = j->entries != NULL && j->tables.uses.len <= UINT32_MAX &&
                number_entries(j, arena) && plan_edits(j);
    return made ? WNDL_OK : WNDL_NOMEM;
}

static enum wndl_status fix_tables(struct job *j, struct wndl_fix *fix,
    const struct wndl_fix_sink *sink, struct wndl_arena *arena)
{
    struct wndl_fix_output output;
    wndl_fix_output_init(&output, sink, fix->mem);
    output.status = prepare_job(j, fix, arena);
    if (output.status == WNDL_OK)
        write_file(j, &output);
    wndl_fix_batch_free(&j->batch);
    return wndl_fix_output_end(&output);
}

enum wndl_status wndl_fix_dmd(struct wndl_fix *fix, struct wndl_bytes text,
    const struct wndl_fix_sink *sink, struct wndl_error *err)
{
    struct job j = {.fix = fix, .text = text};
    struct wndl_arena arena;
    wndl_arena_init(&arena, fix->mem);
    wndl_vec_init(&j.edits, &arena, sizeof(struct edit));
    enum wndl_status status =
        wndl_dmd_tables_read(text, &arena, &j.tables, err);
    if (status == WNDL_OK)
        status = fix_tables(&j, fix, sink, &arena);
    wndl_arena_free(&arena);
    return status;
}
