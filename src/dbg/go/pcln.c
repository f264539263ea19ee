/* SPDX-License-Identifier: MIT */
#include "dbg/go/internal.h"

#include <string.h>

static const char SECTION[] = ".gopclntab";

/* The magic number, two zeros, the quantum and the size of a word. */
enum { HEADER = 8 };

struct layout {
    enum wndl_pcln_version version;
    unsigned quantum, word_size;
    uint64_t count;
    /* from 1.16 on: names, units, files, values, functions */
    uint64_t parts[5];
};

static const uint32_t magics[] = {
    [WNDL_PCLN_1_2] = 0xfffffffb,
    [WNDL_PCLN_1_16] = 0xfffffffa,
    [WNDL_PCLN_1_18] = 0xfffffff0,
    [WNDL_PCLN_1_20] = 0xfffffff1,
};

static bool read_version(uint32_t magic, enum wndl_pcln_version *version)
{
    for (size_t i = 0; i < sizeof magics / sizeof *magics; i++) {
        if (magics[i] != magic)
            continue;
        *version = (enum wndl_pcln_version)i;
        return true;
    }
    return false;
}

static uint64_t read_word(struct wndl_cursor *c, unsigned size)
{
    return size == 8 ? wndl_cursor_u64(c) : wndl_cursor_u32(c);
}

static bool is_sound(const struct layout *layout)
{
    return (layout->word_size == 4 || layout->word_size == 8) &&
           (layout->quantum == 1 || layout->quantum == 2 ||
               layout->quantum == 4);
}

static enum wndl_status read_layout(struct wndl_bytes table, bool big_endian,
    struct layout *layout, struct wndl_error *err)
{
    struct wndl_cursor c = wndl_cursor_at(table, 0, big_endian);
    *layout = (struct layout){0};
    if (!read_version(wndl_cursor_u32(&c), &layout->version))
        return wndl_fail_at(err, WNDL_UNSUPPORTED, SECTION, 0,
            "a table of Go of a version that is not known");
    wndl_cursor_skip(&c, 2);
    layout->quantum = wndl_cursor_u8(&c);
    layout->word_size = wndl_cursor_u8(&c);
    if (!is_sound(layout))
        return wndl_fail_at(err, WNDL_MALFORMED, SECTION, 6,
            "a size of instructions or words that no machine has");
    layout->count = read_word(&c, layout->word_size);
    if (layout->version >= WNDL_PCLN_1_16)
        (void)read_word(&c, layout->word_size); /* the number of files */
    if (layout->version >= WNDL_PCLN_1_18)
        (void)read_word(&c, layout->word_size); /* runtime.text, or 0 */
    for (size_t i = 0; i < 5 && layout->version >= WNDL_PCLN_1_16; i++)
        layout->parts[i] = read_word(&c, layout->word_size);
    return c.failed ? wndl_fail_at(err, WNDL_TRUNCATED, SECTION, 0,
                          "a header of Go's functions that is cut short")
                    : WNDL_OK;
}

bool wndl_pcln_module(
    struct wndl_bytes table, bool big_endian, struct wndl_pcln_module *module)
{
    struct layout layout;
    *module = (struct wndl_pcln_module){0};
    if (read_layout(table, big_endian, &layout, NULL) != WNDL_OK)
        return false;
    module->word_size = layout.word_size;
    if (layout.version < WNDL_PCLN_1_18)
        return true;
    module->names = 1;
    module->text = 22;
    module->inlined = layout.version == WNDL_PCLN_1_18 ? 38 : 40;
    module->names_offset = layout.parts[0];
    return true;
}

/* ---- parts */

static struct wndl_bytes from(struct wndl_bytes table, uint64_t offset)
{
    return offset > table.size
               ? (struct wndl_bytes){0}
               : wndl_bytes_slice(table, offset, table.size - offset);
}

/* The size of an entry: the start of a function, and its record's offset. */
static unsigned entry_size(const struct wndl_pcln *pcln)
{
    return pcln->version >= WNDL_PCLN_1_18 ? 8 : 2 * pcln->word_size;
}

/*
 * Before Go 1.16 all offsets count from the table's start, and the offset of
 * the files' follows the functions.
 */
static void find_old_parts(struct wndl_pcln *pcln)
{
    struct wndl_bytes table = pcln->in.table;
    pcln->functions = from(table, HEADER + pcln->word_size);
    pcln->records = pcln->names = pcln->values = pcln->files = table;
    struct wndl_cursor c = wndl_cursor_at(pcln->functions,
        pcln->count * entry_size(pcln) + pcln->word_size, pcln->in.big_endian);
    pcln->units = from(table, wndl_cursor_u32(&c));
}

static void find_parts(struct wndl_pcln *pcln, const struct layout *layout)
{
    struct wndl_bytes *parts[] = {&pcln->names, &pcln->units, &pcln->files,
        &pcln->values, &pcln->functions};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        *parts[i] = from(pcln->in.table, layout->parts[i]);
    pcln->records = pcln->functions;
}

enum wndl_status wndl_pcln_open(const struct wndl_pcln_source *source,
    struct wndl_mem *mem, struct wndl_pcln **out, struct wndl_error *err)
{
    struct layout layout;
    *out = NULL;
    enum wndl_status status =
        read_layout(source->table, source->big_endian, &layout, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_pcln made = {
        .in = *source,
        .mem = mem,
        .version = layout.version,
        .word_size = layout.word_size,
        .quantum = layout.quantum,
        .count = layout.count,
        .list_steps = 8 * source->table.size,
    };
    if (layout.count > source->table.size / entry_size(&made))
        return wndl_fail_at(err, WNDL_TRUNCATED, SECTION, HEADER,
            "more functions than the table has bytes for");
    if (layout.version < WNDL_PCLN_1_16)
        find_old_parts(&made);
    else
        find_parts(&made, &layout);
    struct wndl_pcln *pcln = wndl_mem_zalloc(mem, sizeof *pcln);
    if (pcln == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for Go's functions");
    *pcln = made;
    wndl_arena_init(&pcln->arena, mem);
    wndl_vec_init(&pcln->frames, &pcln->arena, sizeof(struct wndl_pcln_frame));
    *out = pcln;
    return WNDL_OK;
}

void wndl_pcln_close(struct wndl_pcln *pcln)
{
    if (pcln == NULL)
        return;
    wndl_arena_free(&pcln->arena);
    wndl_mem_free(pcln->mem, pcln);
}

const struct wndl_error *wndl_pcln_damage(const struct wndl_pcln *pcln)
{
    return pcln->damage.status == WNDL_OK ? NULL : &pcln->damage;
}

bool wndl_pcln_lose(struct wndl_pcln *pcln, uint64_t offset, const char *what)
{
    if (pcln->damage.status != WNDL_OK)
        return false;
    wndl_error_set_file(&pcln->damage, pcln->in.path);
    (void)wndl_fail_at(&pcln->damage, WNDL_MALFORMED, SECTION, offset, what);
    return false;
}

/* ---- functions */

/* An address in an entry or a record. */
static uint64_t read_address(
    const struct wndl_pcln *pcln, struct wndl_cursor *c)
{
    if (pcln->version < WNDL_PCLN_1_18)
        return read_word(c, pcln->word_size);
    return pcln->in.text.v + wndl_cursor_u32(c);
}

static struct wndl_cursor entry_at(const struct wndl_pcln *pcln, uint64_t index)
{
    return wndl_cursor_at(
        pcln->functions, index * entry_size(pcln), pcln->in.big_endian);
}

uint64_t wndl_pcln_up_to(const struct wndl_pcln *pcln, uint64_t addr)
{
    uint64_t low = 0, high = pcln->count;
    while (low < high) {
        uint64_t middle = low + (high - low) / 2;
        struct wndl_cursor c = entry_at(pcln, middle);
        if (read_address(pcln, &c) <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The numbers of two of a function's tables: of values, and of other data. */
enum { INLINED_VALUES = 2, INLINED_DATA = 3, NO_DATA = -1 };

/* The rest of a record, from the number of its further tables on. */
static void read_tables(const struct wndl_pcln *pcln, struct wndl_cursor *c,
    struct wndl_pcln_record *record)
{
    uint32_t values = wndl_cursor_u32(c);
    if (pcln->version >= WNDL_PCLN_1_16)
        record->unit = wndl_cursor_u32(c);
    if (pcln->version < WNDL_PCLN_1_18)
        return;
    if (pcln->version >= WNDL_PCLN_1_20)
        wndl_cursor_skip(c, 4); /* the line of the function's start */
    wndl_cursor_skip(c, 3);     /* its kind, flags */
    uint8_t data = wndl_cursor_u8(c);
    struct wndl_cursor calls = *c;
    wndl_cursor_skip(&calls, 4 * INLINED_VALUES);
    wndl_cursor_skip(c, (uint64_t)4 * values + 4 * INLINED_DATA);
    if (values <= INLINED_VALUES || data <= INLINED_DATA)
        return;
    uint32_t offset = wndl_cursor_u32(c);
    if (offset == (uint32_t)NO_DATA)
        return;
    record->calls = wndl_cursor_u32(&calls);
    record->inlined = from(pcln->in.inlined, offset);
}

bool wndl_pcln_record(
    struct wndl_pcln *pcln, uint64_t index, struct wndl_pcln_record *record)
{
    struct wndl_cursor c = entry_at(pcln, index);
    *record = (struct wndl_pcln_record){.start = read_address(pcln, &c)};
    uint64_t at = pcln->version < WNDL_PCLN_1_18
                      ? read_word(&c, pcln->word_size)
                      : wndl_cursor_u32(&c);
    record->end = read_address(pcln, &c);
    if (c.failed || record->end < record->start)
        return wndl_pcln_lose(pcln, wndl_cursor_offset(&c),
            "functions that are cut short or not in order");
    c = wndl_cursor_at(pcln->records, at, pcln->in.big_endian);
    uint64_t start = read_address(pcln, &c);
    record->name = wndl_cursor_u32(&c);
    wndl_cursor_skip(&c, 12); /* arguments, deferred calls, stack */
    record->files = wndl_cursor_u32(&c);
    record->lines = wndl_cursor_u32(&c);
    bool failed = c.failed;
    read_tables(pcln, &c, record);
    if (failed || start != record->start)
        return wndl_pcln_lose(
            pcln, at, "a function's record that is another one's");
    return true;
}
