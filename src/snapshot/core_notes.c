/* SPDX-License-Identifier: MIT */
#include "snapshot/core_notes.h"

#include <elf.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

/* Places in the kernel's structures, bytes, by the size of a word. */
struct layout {
    uint8_t status_signal, status_pid, status_regs; /* struct elf_prstatus */
    uint8_t info_pid, info_name, info_command;      /* struct elf_prpsinfo */
    uint8_t signal_fields;                          /* siginfo_t */
};

static const struct layout layout_64 = {12, 32, 112, 24, 40, 56, 16};
static const struct layout layout_32 = {12, 24, 72, 12, 28, 44, 12};

enum { NAME_SIZE = 16, COMMAND_SIZE = 80 };

struct work {
    struct wndl_core_notes *notes;
    const struct wndl_core_file *core;
    const struct layout *layout;
    struct wndl_error *damage;
    uint64_t offset; /* of the current note in the file */
    bool out_of_memory;
};

static void note_damage(
    struct work *w, enum wndl_status status, const char *what)
{
    if (w->damage->status == WNDL_OK)
        wndl_fail_at(w->damage, status, "notes", w->offset, what);
}

bool wndl_core_note_next(
    struct wndl_cursor *c, uint64_t alignment, struct wndl_core_note *note)
{
    const uint64_t mask = alignment == 8 ? 7 : 3;
    *note = (struct wndl_core_note){0};
    if (wndl_cursor_left(c) == 0)
        return false;
    note->owner.size = wndl_cursor_u32(c);
    note->desc.size = wndl_cursor_u32(c);
    note->type = wndl_cursor_u32(c);
    note->owner.data = wndl_cursor_take(c, note->owner.size);
    wndl_cursor_skip(c, -wndl_cursor_offset(c) & mask);
    note->desc.data = wndl_cursor_take(c, note->desc.size);
    if (c->failed)
        return false;
    /* The last descriptor's padding may be missing. */
    const uint64_t padding = -wndl_cursor_offset(c) & mask;
    wndl_cursor_skip(
        c, padding < wndl_cursor_left(c) ? padding : wndl_cursor_left(c));
    return true;
}

/* ---- one kind each */

static void take_thread(struct work *w, struct wndl_bytes desc)
{
    const struct layout *l = w->layout;
    const uint16_t machine = w->core->machine;
    struct wndl_cursor pid = wndl_cursor_at(desc, l->status_pid, false);
    struct wndl_cursor signal = wndl_cursor_at(desc, l->status_signal, false);
    struct wndl_core_thread thread = {.tid = wndl_cursor_u32(&pid)};
    const int number = wndl_cursor_u16(&signal);
    if (!wndl_regs_read(&thread.regs, machine,
            wndl_bytes_slice(desc, l->status_regs, wndl_regs_size(machine)))) {
        note_damage(w, WNDL_TRUNCATED, "the registers of a thread end early");
        return;
    }
    struct wndl_core_thread *slot = wndl_vec_push(&w->notes->threads);
    if (slot == NULL)
        w->out_of_memory = true;
    else
        *slot = thread;
    if (w->notes->threads.len == 1 && w->notes->signal.number == 0)
        w->notes->signal.number = number;
}

/* Whether si_addr is the address of a fault. */
static bool has_address(const struct wndl_snapshot_signal *signal)
{
    const bool is_fault = signal->number == SIGSEGV ||
                          signal->number == SIGBUS ||
                          signal->number == SIGFPE ||
                          signal->number == SIGILL || signal->number == SIGTRAP;
    return is_fault && signal->code > 0 && signal->code != SI_KERNEL;
}

/* The first thread's counts: those of others come after their registers. */
static void take_signal(struct work *w, struct wndl_bytes desc)
{
    struct wndl_cursor c = wndl_cursor_at(desc, 0, false);
    struct wndl_snapshot_signal signal = {0};
    signal.number = (int32_t)wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, sizeof(int32_t)); /* si_errno */
    signal.code = (int32_t)wndl_cursor_u32(&c);
    if (w->notes->threads.len > 1 || c.failed || signal.number == 0)
        return;
    c = wndl_cursor_at(desc, w->layout->signal_fields, false);
    if (has_address(&signal)) {
        signal.address = wndl_cursor_uint(&c, w->core->word);
        signal.has_address = !c.failed;
    } else if (signal.code == SI_USER || signal.code == SI_TKILL ||
               signal.code == SI_QUEUE) {
        signal.sender = wndl_cursor_u32(&c);
        signal.user = wndl_cursor_u32(&c);
        signal.has_sender = !c.failed;
    }
    w->notes->signal = signal;
}

/* A text in a field of `most` bytes, without blanks at its end. */
static struct wndl_bytes text_at(
    struct wndl_bytes desc, uint64_t offset, size_t most)
{
    struct wndl_bytes field = wndl_bytes_slice(desc, offset, most);
    if (field.size != 0)
        field.size = strnlen((const char *)field.data, field.size);
    while (field.size != 0 && field.data[field.size - 1] == ' ')
        field.size--;
    return field;
}

static void take_process(struct work *w, struct wndl_bytes desc)
{
    const struct layout *l = w->layout;
    struct wndl_cursor c = wndl_cursor_at(desc, l->info_pid, false);
    w->notes->pid = wndl_cursor_u32(&c);
    w->notes->name = text_at(desc, l->info_name, NAME_SIZE);
    w->notes->command = text_at(desc, l->info_command, COMMAND_SIZE);
}

static void take_auxiliary(struct work *w, struct wndl_bytes desc)
{
    const unsigned word = w->core->word;
    struct wndl_cursor c = wndl_cursor_at(desc, 0, false);
    while (wndl_cursor_left(&c) >= 2u * word) {
        const uint64_t type = wndl_cursor_uint(&c, word);
        const uint64_t value = wndl_cursor_uint(&c, word);
        if (type == AT_SYSINFO_EHDR)
            w->notes->vdso = value;
        else if (type == AT_ENTRY)
            w->notes->entry = value;
    }
}

/* Number and size of pages; three words a file; then their names. */
static void take_files(struct work *w, struct wndl_bytes desc)
{
    const unsigned word = w->core->word;
    struct wndl_cursor c = wndl_cursor_at(desc, 0, false);
    const uint64_t count = wndl_cursor_uint(&c, word);
    const uint64_t page = wndl_cursor_uint(&c, word);
    const uint64_t fields = UINT64_C(3) * word;
    if (c.failed || count > wndl_cursor_left(&c) / fields) {
        note_damage(w, WNDL_TRUNCATED, "the list of mapped files ends early");
        return;
    }
    struct wndl_cursor names = c;
    wndl_cursor_skip(&names, count * fields);
    for (uint64_t i = 0; i < count; i++) {
        struct wndl_core_mapping mapping;
        mapping.start = wndl_cursor_uint(&c, word);
        mapping.end = wndl_cursor_uint(&c, word);
        mapping.offset = wndl_cursor_uint(&c, word) * page;
        mapping.path = wndl_cursor_cstr(&names);
        if (names.failed) {
            note_damage(w, WNDL_TRUNCATED, "a mapped file has no name");
            return;
        }
        struct wndl_core_mapping *slot =
            mapping.start < mapping.end ? wndl_vec_push(&w->notes->mappings)
                                        : &mapping;
        if (slot == NULL) {
            w->out_of_memory = true;
            return;
        }
        *slot = mapping;
    }
}

static void take_note(struct work *w, const struct wndl_core_note *note)
{
    static const struct wndl_bytes core = {(const uint8_t *)"CORE", 5};
    if (!wndl_bytes_equal(note->owner, core))
        return;
    if (note->type == NT_PRSTATUS)
        take_thread(w, note->desc);
    else if (note->type == NT_SIGINFO)
        take_signal(w, note->desc);
    else if (note->type == NT_PRPSINFO)
        take_process(w, note->desc);
    else if (note->type == NT_AUXV)
        take_auxiliary(w, note->desc);
    else if (note->type == NT_FILE)
        take_files(w, note->desc);
}

/* ---- all */

/* The bytes of the part that the file has. */
static struct wndl_bytes bytes_of(
    const struct wndl_core_file *core, const struct wndl_core_part *part)
{
    const uint64_t have = core->bytes.size;
    if (part->offset >= have)
        return (struct wndl_bytes){0};
    const uint64_t left = have - part->offset;
    return wndl_bytes_slice(
        core->bytes, part->offset, part->size < left ? part->size : left);
}

static void take_notes(struct work *w, const struct wndl_core_part *part)
{
    const struct wndl_bytes bytes = bytes_of(w->core, part);
    struct wndl_cursor c = wndl_cursor_at(bytes, 0, false);
    struct wndl_core_note note;
    w->offset = part->offset;
    while (!w->out_of_memory && wndl_core_note_next(&c, 4, &note)) {
        take_note(w, &note);
        w->offset = part->offset + wndl_cursor_offset(&c);
    }
    if (c.failed || bytes.size < part->size)
        note_damage(w, WNDL_TRUNCATED, "they end within a note");
}

static int by_start(const void *a, const void *b)
{
    const struct wndl_core_mapping *x = a, *y = b;
    return (x->start > y->start) - (x->start < y->start);
}

enum wndl_status wndl_core_notes_read(struct wndl_core_notes *notes,
    struct wndl_arena *arena, const struct wndl_core_file *core,
    struct wndl_error *damage, struct wndl_error *err)
{
    struct work w = {.notes = notes,
        .core = core,
        .layout = core->word == 8 ? &layout_64 : &layout_32,
        .damage = damage};
    *notes = (struct wndl_core_notes){0};
    wndl_vec_init(&notes->threads, arena, sizeof(struct wndl_core_thread));
    wndl_vec_init(&notes->mappings, arena, sizeof(struct wndl_core_mapping));
    for (size_t i = 0; i < core->notes.len; i++)
        take_notes(&w, wndl_vec_at(&core->notes, i));
    if (w.out_of_memory)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (notes->mappings.len > 1)
        qsort(notes->mappings.data, notes->mappings.len,
            sizeof(struct wndl_core_mapping), by_start);
    return WNDL_OK;
}
