/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "cfi_import/arm/source.h"
#include "elfmake.h"
#include "unwind_tables/chrome/chrome_v2.h"

#include <elf.h>
#include <stdlib.h>

/* ---- encoding */

static struct wndl_cfi_row row_of(unsigned base, int64_t cfa)
{
    struct wndl_cfi_row row = {
        .cfa = {.kind = WNDL_RULE_REGISTER}, .ra_reg = WNDL_ARM_LR};
    row.cfa.reg = (uint8_t)base;
    row.cfa.offset = cfa;
    return row;
}

static void save(struct wndl_cfi_row *row, unsigned reg, int64_t slot)
{
    row->regs[reg].kind = WNDL_RULE_OFFSET;
    row->regs[reg].offset = slot;
}

static void expect_step(const struct wndl_cfi_row *before,
    const struct wndl_cfi_row *row, const char *bytes, size_t size)
{
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    assert_true(wndl_chrome_v2_encode_step(&out, before, row));
    assert_int_equal(out.size, size);
    if (size != 0)
        assert_memory_equal(out.data, bytes, size);
    wndl_buf_free(&out);
}

/* One byte up to 0x100, two up to 0x200, else 0xb2 and ULEB128. */
static void moves_are_as_long_as_they_must_be(void **state)
{
    (void)state;
    static const struct {
        int64_t amount;
        const char *bytes;
        size_t size;
    } cases[] = {{4, "\x00", 1}, {8, "\x01", 1}, {0x100, "\x3f", 1},
        {0x104, "\x3f\x00", 2}, {0x200, "\x3f\x3f", 2}, {0x204, "\xb2\x00", 2},
        {0x208, "\xb2\x01", 2}, {0x204 + 4 * 128, "\xb2\x80\x01", 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct wndl_cfi_row row = row_of(WNDL_ARM_SP, cases[i].amount);
        expect_step(NULL, &row, cases[i].bytes, cases[i].size);
    }
    const struct wndl_cfi_row entry = row_of(WNDL_ARM_SP, 0);
    expect_step(NULL, &entry, "", 0);
    const struct wndl_cfi_row odd = row_of(WNDL_ARM_SP, 6);
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    assert_false(wndl_chrome_v2_encode_step(&out, NULL, &odd));
    wndl_buf_free(&out);
}

static void pops_are_short_where_they_can_be(void **state)
{
    (void)state;
    struct wndl_cfi_row row = row_of(WNDL_ARM_SP, 16);
    save(&row, 4, -16);
    save(&row, 5, -12);
    save(&row, 6, -8);
    save(&row, WNDL_ARM_LR, -4);
    expect_step(NULL, &row, "\xaa", 1);
    row = row_of(WNDL_ARM_SP, 8);
    save(&row, 7, -8);
    save(&row, WNDL_ARM_LR, -4);
    expect_step(NULL, &row, "\x84\x08", 2);
    row = row_of(WNDL_ARM_SP, 4);
    save(&row, 4, -4);
    expect_step(NULL, &row, "\x80\x01", 2);
    /* r3 was pushed too, to align: it is not popped. */
    row = row_of(WNDL_ARM_SP, 12);
    save(&row, 4, -8);
    save(&row, WNDL_ARM_LR, -4);
    expect_step(NULL, &row, "\x00\xa8", 2);
    /* Arguments above: vsp moves on behind the registers. */
    row = row_of(WNDL_ARM_SP, 24);
    save(&row, 4, -24);
    save(&row, WNDL_ARM_LR, -20);
    expect_step(NULL, &row, "\xa8\x03", 2);
}

static void a_frame_register_is_set_back_to_the_row_before(void **state)
{
    (void)state;
    struct wndl_cfi_row pushed = row_of(WNDL_ARM_SP, 20);
    save(&pushed, 7, -8);
    save(&pushed, WNDL_ARM_LR, -4);
    struct wndl_cfi_row framed = pushed;
    framed.cfa.reg = 7;
    framed.cfa.offset = 8;
    expect_step(&pushed, &framed, "\x97\x42", 2);
    /* What is saved behind it is popped by it. */
    struct wndl_cfi_row more = framed;
    save(&more, 8, -24);
    expect_step(&framed, &more, "\x97\x43\x80\x10", 4);
    expect_step(&framed, &framed, "", 0);
}

/* ---- whole tables */

enum { TEXT = 0x10000, TEXT_SIZE = 0x40100, INDEX = 0x200000 };

/* push {r4, lr}; sub sp, #8; ...; and a function that has no rules, in the page
 * behind an empty one. */
static const struct {
    uint32_t start, rule;
} functions[] = {
    {TEXT + 0x10, 0x8001a8b0},
    {TEXT + 0x20, 0x8001a8b0},
    {TEXT + 0x40, 0x80b0b0b0},
    {TEXT + 0x40002, 1},
    {TEXT + 0x40010, 0x8001a8b0},
};
enum { FUNCTIONS = sizeof functions / sizeof *functions };

static struct wndl_bytes make_binary(void)
{
    static const uint16_t prologue[] = {0xb510, 0xb082, 0xbf00, 0xe7fd};
    uint8_t *text = calloc(1, TEXT_SIZE);
    uint8_t index[FUNCTIONS * 8];
    assert_non_null(text);
    for (uint32_t i = 0; i < FUNCTIONS; i++) {
        const uint32_t words[] = {
            (functions[i].start - (INDEX + 8 * i)) & 0x7fffffff,
            functions[i].rule};
        memcpy(index + 8 * i, words, sizeof words);
        memcpy(text + (functions[i].start - TEXT), prologue, sizeof prologue);
    }
    const struct made_section sections[] = {
        {.name = ".text",
            .type = SHT_PROGBITS,
            .flags = SHF_ALLOC | SHF_EXECINSTR,
            .addr = TEXT,
            .data = {text, TEXT_SIZE},
            .alignment = 4},
        {.name = ".ARM.exidx",
            .type = SHT_PROGBITS,
            .flags = SHF_ALLOC,
            .addr = INDEX,
            .data = {index, sizeof index},
            .alignment = 4},
    };
    const struct made_segment segment = {
        PT_LOAD, PF_R | PF_X, TEXT, TEXT_SIZE, 4, 1};
    const struct elf_recipe recipe = {.type = ET_DYN,
        .machine = EM_ARM,
        .sections = sections,
        .section_count = 2,
        .segments = &segment,
        .segment_count = 1};
    const struct wndl_bytes made = make_elf(&recipe);
    free(text);
    return made;
}

/* Every other entry begins at the start of the code again. */
static void entries_out_of_order_are_refused(void **state)
{
    (void)state;
    enum { ENTRIES = 40, SMALL = 0x100 };
    static const uint8_t text[SMALL];
    uint8_t index[ENTRIES * 8];
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const uint32_t start = TEXT + (i % 2 == 0 ? 0 : SMALL - 2);
        const uint32_t words[] = {
            (start - (INDEX + 8 * i)) & 0x7fffffff, 0x8001a8b0};
        memcpy(index + 8 * i, words, sizeof words);
    }
    for (size_t entries = 8; entries <= ENTRIES; entries += ENTRIES - 8) {
        struct wndl_arm_source source;
        struct wndl_object *object;
        const struct made_section sections[] = {
            {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT,
                {text, SMALL}, 0, 0, 4, 0, 0},
            {".ARM.exidx", SHT_PROGBITS, SHF_ALLOC, INDEX, {index, entries * 8},
                0, 0, 4, 0, 0}};
        const struct elf_recipe recipe = {.type = ET_DYN,
            .machine = EM_ARM,
            .sections = sections,
            .section_count = 2};
        const struct wndl_bytes file = make_elf(&recipe);
        assert_int_equal(
            wndl_object_open(file, "made", wndl_mem_libc(), &object, NULL),
            WNDL_OK);
        assert_int_equal(wndl_arm_source_open(&source, object, NULL),
            entries == 8 ? WNDL_OK : WNDL_MALFORMED);
        wndl_object_close(object);
        free((void *)(uintptr_t)file.data);
    }
}

/* A record of .debug_frame whose frame grows with each instruction: each row
 * would repeat what undoes all before it. */
static void what_undoes_a_function_is_bounded(void **state)
{
    (void)state;
    enum { ROWS = 4000, SIZE = 2 * ROWS + 2 };
    static const uint8_t text[SIZE];
    static const uint8_t cie[] = {16, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0, 1,
        0x7c, 14, 0x0c, 13, 0, 0, 0, 0, 0};
    const uint32_t fde[] = {12 + 4 * ROWS, 0, TEXT, SIZE};
    struct wndl_chrome_v2_stats stats;
    struct wndl_object *object;
    struct wndl_buf frame, out;
    wndl_buf_init(&frame, wndl_mem_libc());
    wndl_buf_init(&out, wndl_mem_libc());
    wndl_buf_add(&frame, cie, sizeof cie);
    wndl_buf_add(&frame, fde, sizeof fde);
    for (unsigned cfa = 4; cfa <= 4 * ROWS; cfa += 4)
        wndl_buf_u32le(
            &frame, 0x800e42 | (cfa & 0x7f) << 16 | (uint32_t)(cfa >> 7) << 24);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, {text, SIZE},
            0, 0, 4, 0, 0},
        {".debug_frame", SHT_PROGBITS, 0, 0, bytes_of(&frame), 0, 0, 4, 0, 0}};
    const struct elf_recipe recipe = {.type = ET_DYN,
        .machine = EM_ARM,
        .sections = sections,
        .section_count = 2};
    const struct wndl_bytes file = make_elf(&recipe);
    assert_int_equal(
        wndl_object_open(file, "made", wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    assert_int_equal(
        wndl_chrome_v2_build(object, false, &out, &stats, NULL), WNDL_OK);
    assert_int_equal(stats.lost, 0);
    assert_int_equal(stats.uncovered, 1);
    assert_true(stats.addresses > 100 && stats.addresses < 300);
    wndl_object_close(object);
    wndl_buf_free(&out);
    wndl_buf_free(&frame);
    free((void *)(uintptr_t)file.data);
}

/* ---- more lists of addresses than the layout holds */

enum {
    CROWD = 10000,
    CROWD_RARE = 8000, /* functions with a list of their own; the rest share */
    CROWD_BYTES = 96,
    CROWD_ROWS = 5,
    CROWD_TEXT = CROWD * CROWD_BYTES,
};

/* A function whose frame grows at distances that the digits of `n` give. */
static void add_crowded(struct wndl_buf *frame, uint32_t i)
{
    const uint32_t n = i < CROWD_RARE ? i : 077777;
    wndl_buf_u32le(frame, 12 + 3 * CROWD_ROWS + 1);
    wndl_buf_u32le(frame, 0);
    wndl_buf_u32le(frame, TEXT + i * CROWD_BYTES);
    wndl_buf_u32le(frame, CROWD_BYTES);
    for (unsigned row = 0; row < CROWD_ROWS; row++) {
        wndl_buf_byte(frame, (uint8_t)(0x42 + 2 * (n >> 3 * row & 7)));
        wndl_buf_byte(frame, 0x0e);
        wndl_buf_byte(frame, (uint8_t)(8 + 8 * row));
    }
    wndl_buf_byte(frame, 0);
}

static struct wndl_bytes make_crowd(void)
{
    static uint8_t text[CROWD_TEXT];
    static const uint8_t cie[] = {16, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 3, 0, 1,
        0x7c, 14, 0x0c, 13, 0, 0, 0, 0, 0};
    struct wndl_buf frame;
    wndl_buf_init(&frame, wndl_mem_libc());
    wndl_buf_add(&frame, cie, sizeof cie);
    for (uint32_t i = 0; i < CROWD; i++)
        add_crowded(&frame, i);
    const struct made_section sections[] = {
        {".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT,
            {text, CROWD_TEXT}, 0, 0, 4, 0, 0},
        {".debug_frame", SHT_PROGBITS, 0, 0, bytes_of(&frame), 0, 0, 4, 0, 0}};
    const struct elf_recipe recipe = {.type = ET_DYN,
        .machine = EM_ARM,
        .sections = sections,
        .section_count = 2};
    const struct wndl_bytes file = make_elf(&recipe);
    wndl_buf_free(&frame);
    return file;
}

static void expect_at(
    const struct wndl_chrome_v2 *t, uint32_t offset, const char *bytes);

/* The rarest lists are left out, whose functions refuse; the rest is right. */
static void what_does_not_fit_is_left_out(void **state)
{
    (void)state;
    struct wndl_chrome_v2_stats stats;
    struct wndl_chrome_v2_verdict verdict;
    struct wndl_chrome_v2 table;
    struct wndl_object *object;
    struct wndl_buf out;
    const struct wndl_bytes file = make_crowd();
    wndl_buf_init(&out, wndl_mem_libc());
    assert_int_equal(
        wndl_object_open(file, "made", wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    assert_int_equal(
        wndl_chrome_v2_build(object, false, &out, &stats, NULL), WNDL_OK);
    assert_true(stats.dropped_functions > 0);
    assert_true(stats.dropped_functions < CROWD_RARE / 2);
    assert_int_equal(stats.dropped, (CROWD_ROWS + 1) * stats.dropped_functions);
    assert_int_equal(
        wndl_chrome_v2_open(bytes_of(&out), &table, NULL), WNDL_OK);
    const uint32_t last = (CROWD - 1) * CROWD_BYTES;
    expect_at(&table, last, "\xb0");
    expect_at(&table, last + 16, "\x01\xb0");
    assert_int_equal(
        wndl_chrome_v2_verify(&table, object, &verdict, NULL), WNDL_OK);
    assert_int_equal(verdict.wrong, 0);
    assert_int_equal(
        verdict.left_out, 3 * (CROWD_ROWS + 1) * stats.dropped_functions);
    wndl_object_close(object);
    wndl_buf_free(&out);
    free((void *)(uintptr_t)file.data);
}

/* What cannot be is not reckoned with. */
static void far_slots_are_refused(void **state)
{
    (void)state;
    struct wndl_buf out;
    struct wndl_cfi_row row = row_of(WNDL_ARM_SP, INT64_MIN);
    wndl_buf_init(&out, wndl_mem_libc());
    assert_false(wndl_chrome_v2_encode_step(&out, NULL, &row));
    row = row_of(WNDL_ARM_SP, INT64_MAX - 3);
    save(&row, 4, INT64_MAX - 3);
    assert_false(wndl_chrome_v2_encode_step(&out, NULL, &row));
    row = row_of(WNDL_ARM_SP, 8);
    save(&row, 4, INT64_MAX - 3);
    assert_false(wndl_chrome_v2_encode_step(&out, NULL, &row));
    wndl_buf_free(&out);
}

struct made {
    struct wndl_bytes file;
    struct wndl_object *object;
    struct wndl_buf bytes;
    struct wndl_chrome_v2_stats stats;
    struct wndl_chrome_v2 table;
};

static void build(struct made *m, bool design)
{
    m->file = make_binary();
    wndl_buf_init(&m->bytes, wndl_mem_libc());
    assert_int_equal(
        wndl_object_open(m->file, "made", wndl_mem_libc(), &m->object, NULL),
        WNDL_OK);
    assert_int_equal(
        wndl_chrome_v2_build(m->object, design, &m->bytes, &m->stats, NULL),
        WNDL_OK);
    assert_int_equal(
        wndl_chrome_v2_open(bytes_of(&m->bytes), &m->table, NULL), WNDL_OK);
}

static void drop(struct made *m)
{
    wndl_object_close(m->object);
    wndl_buf_free(&m->bytes);
    free((void *)(uintptr_t)m->file.data);
}

/* Written out by the layout's rules. */
static const uint8_t golden[] = {
    /* pages at 32, 3; functions at 44, 7; offsets at 72, 13; the rest */
    32, 0, 0, 0, 3, 0, 0, 0, 44, 0, 0, 0, 7, 0, 0, 0, 72, 0, 0, 0, 10, 0, 0, 0,
    82, 0, 0, 0, 8, 0, 0, 0,
    /* the second page is empty: it has the third's */
    0, 0, 0, 0, 4, 0, 0, 0, 4, 0, 0, 0,
    /* starts in halfwords, and where their offsets are */
    0, 0, 0, 0, 8, 0, 2, 0, 16, 0, 2, 0, 32, 0, 8, 0, 1, 0, 0, 0, 8, 0, 2, 0,
    128, 0, 0, 0,
    /* refused; +2 halfwords, +1, +0; the entry's */
    0, 1, 2, 5, 1, 3, 0, 0, 0, 0,
    /* used for their size: b0 4, 80 00 3, a8 b0 3, 01 a8 b0 3 */
    0xb0, 0x80, 0x00, 0xa8, 0xb0, 0x01, 0xa8, 0xb0};

static void a_table_is_laid_out_as_shipped(void **state)
{
    (void)state;
    struct made m;
    build(&m, false);
    assert_int_equal(m.bytes.size, sizeof golden);
    assert_memory_equal(m.bytes.data, golden, sizeof golden);
    assert_int_equal(m.stats.functions, 7);
    assert_int_equal(m.stats.addresses, 13);
    assert_int_equal(m.stats.refused, 1);
    drop(&m);
}

static void a_table_is_laid_out_as_designed(void **state)
{
    (void)state;
    struct made m;
    build(&m, true);
    assert_int_equal(m.bytes.size, sizeof golden + 12);
    assert_true(m.table.design);
    assert_int_equal(m.table.continued.size, 4);
    /* A function before goes on in the second and the third page. */
    assert_int_equal(m.table.continued.data[0], 6);
    assert_memory_equal(
        m.bytes.data + 40 + 12 + 4, golden + 32 + 12, sizeof golden - 32 - 12);
    drop(&m);
}

static void expect_at(
    const struct wndl_chrome_v2 *t, uint32_t offset, const char *bytes)
{
    struct wndl_chrome_v2_place place;
    assert_int_equal(wndl_chrome_v2_find(t, offset, &place), WNDL_OK);
    const struct wndl_bytes found =
        wndl_chrome_v2_sequence(t, place.instruction);
    assert_memory_equal(found.data, bytes, found.size);
}

/* Which is all that it takes; of less of it there is none. */
static void expect_size_by_header(const struct made *m)
{
    const size_t header = m->table.design ? 40 : 32;
    for (size_t size = 0; size <= WNDL_CHROME_V2_HEADER; size++)
        assert_int_equal(
            wndl_chrome_v2_size((struct wndl_bytes){m->bytes.data, size}),
            size < header ? 0 : m->bytes.size);
    for (size_t at = 0; at < header; at += 8) {
        m->bytes.data[at] ^= 1;
        assert_int_equal(wndl_chrome_v2_size(
                             (struct wndl_bytes){m->bytes.data, m->bytes.size}),
            0);
        m->bytes.data[at] ^= 1;
    }
}

static void lookups_go_by_pages_and_by_functions_before(void **state)
{
    (void)state;
    for (int design = 0; design < 2; design++) {
        struct made m;
        struct wndl_chrome_v2_place place;
        struct wndl_chrome_v2_verdict verdict;
        build(&m, design != 0);
        expect_size_by_header(&m);
        expect_at(&m.table, 0, "\x80");
        expect_at(&m.table, 0x10, "\xb0");
        expect_at(&m.table, 0x12, "\xa8\xb0");
        expect_at(&m.table, 0x1e, "\x01\xa8\xb0");
        expect_at(&m.table, 0x20, "\xb0");
        expect_at(&m.table, 0x20000, "\xb0");
        expect_at(&m.table, 0x40001, "\xb0");
        expect_at(&m.table, 0x40002, "\x80");
        expect_at(&m.table, 0x40020, "\x01\xa8\xb0");
        expect_at(&m.table, 0x40100, "\x80");
        assert_int_equal(
            wndl_chrome_v2_find(&m.table, 0x20000, &place), WNDL_OK);
        assert_int_equal(place.start, 0x40);
        assert_int_equal(
            wndl_chrome_v2_find(&m.table, 0x60000, &place), WNDL_NOT_FOUND);
        assert_int_equal(
            wndl_chrome_v2_verify(&m.table, m.object, &verdict, NULL), WNDL_OK);
        assert_int_equal(verdict.wrong, 0);
        assert_int_equal(verdict.rows, 11);
        /* A byte of an instruction, and it is not the same any more. */
        m.bytes.data[m.bytes.size - 3] = 0x02;
        assert_int_equal(
            wndl_chrome_v2_verify(&m.table, m.object, &verdict, NULL), WNDL_OK);
        assert_true(verdict.wrong != 0);
        drop(&m);
    }
}

/* ---- damage */

static void read_all(struct wndl_bytes bytes, void *context)
{
    struct wndl_chrome_v2 t;
    struct wndl_chrome_v2_counts counts;
    size_t *opened = context;
    if (wndl_chrome_v2_open(bytes, &t, NULL) != WNDL_OK)
        return;
    ++*opened;
    for (uint32_t at = 0; at < 0x60000; at += 0xffe) {
        struct wndl_chrome_v2_place place;
        if (wndl_chrome_v2_find(&t, at, &place) == WNDL_OK)
            assert_true(place.instruction < t.instructions.size);
    }
    if (wndl_chrome_v2_count(&t, &counts, wndl_mem_libc(), NULL) == WNDL_OK)
        assert_int_equal(counts.functions, t.function_count);
}

static void any_byte_may_be_missing_or_wrong(void **state)
{
    (void)state;
    for (int design = 0; design < 2; design++) {
        struct made m;
        size_t opened = 0;
        build(&m, design != 0);
        for_each_truncation(bytes_of(&m.bytes), read_all, &opened);
        assert_int_equal(opened, 0);
        read_all(bytes_of(&m.bytes), &opened);
        assert_int_equal(opened, 1);
        for (size_t i = 0; i < m.bytes.size; i++) {
            m.bytes.data[i] ^= 0xff;
            read_all(bytes_of(&m.bytes), &opened);
            m.bytes.data[i] ^= 0xff;
        }
        drop(&m);
    }
}

enum { SP = 0x1000 };

static enum wndl_status run(
    struct wndl_chrome_v2_frame *f, const char *bytes, size_t size)
{
    static uint8_t stack[64];
    for (uint32_t i = 0; i < sizeof stack / 4; i++)
        stack[4 * i] = (uint8_t)i;
    *f = (struct wndl_chrome_v2_frame){
        .stack = {stack, sizeof stack}, .stack_addr = SP};
    f->regs[WNDL_ARM_SP] = SP;
    f->regs[7] = SP + 8;
    f->regs[8] = SP - 8;
    f->regs[WNDL_ARM_LR] = 0x2000;
    return wndl_chrome_v2_run(
        (struct wndl_bytes){(const uint8_t *)bytes, size}, f);
}

static void instructions_are_run_within_the_stack(void **state)
{
    (void)state;
    struct wndl_chrome_v2_frame f;
    assert_int_equal(run(&f, "\x01\xa8\xb0", 3), WNDL_OK);
    assert_int_equal(f.regs[4], 2);
    assert_int_equal(f.regs[WNDL_ARM_PC], 3);
    assert_int_equal(f.regs[WNDL_ARM_SP], SP + 16);
    /* A leaf; pc popped; by r7. */
    assert_int_equal(run(&f, "\xb0", 1), WNDL_OK);
    assert_int_equal(f.regs[WNDL_ARM_PC], 0x2000);
    assert_int_equal(run(&f, "\x88\x01\xb0", 3), WNDL_OK);
    assert_int_equal(f.regs[WNDL_ARM_PC], 1);
    assert_int_equal(run(&f, "\x97\x41\xb0", 3), WNDL_OK);
    assert_int_equal(f.regs[WNDL_ARM_SP], SP);
    assert_int_equal(run(&f, "\x80\x00", 2), WNDL_NOT_FOUND);
    /* No finish; out of the stack; below where it began; not aligned to 8;
     * spare, and of registers that no table has. */
    assert_int_equal(run(&f, "\xa8", 1), WNDL_MALFORMED);
    assert_int_equal(run(&f, "\x0f\xa8\xb0", 3), WNDL_MALFORMED);
    assert_int_equal(run(&f, "\x3f\xb0", 2), WNDL_MALFORMED);
    assert_int_equal(run(&f, "\x98\xb0", 2), WNDL_MALFORMED);
    assert_int_equal(run(&f, "\x40\xb0", 2), WNDL_MALFORMED);
    assert_int_equal(run(&f, "\x00\xb0", 2), WNDL_MALFORMED);
    assert_int_equal(run(&f, "\x93\xb0", 2), WNDL_MALFORMED);
    assert_int_equal(run(&f, "\xb1\x01\xb0", 3), WNDL_MALFORMED);
    assert_int_equal(run(&f, "\xd0\xb0", 2), WNDL_MALFORMED);
    /* The same sp and the same pc, 0: no frame was left. */
    assert_int_equal(run(&f, "\x84\x00\x97\x41\xb0", 5), WNDL_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moves_are_as_long_as_they_must_be),
        cmocka_unit_test(pops_are_short_where_they_can_be),
        cmocka_unit_test(a_frame_register_is_set_back_to_the_row_before),
        cmocka_unit_test(a_table_is_laid_out_as_shipped),
        cmocka_unit_test(a_table_is_laid_out_as_designed),
        cmocka_unit_test(entries_out_of_order_are_refused),
        cmocka_unit_test(what_undoes_a_function_is_bounded),
        cmocka_unit_test(what_does_not_fit_is_left_out),
        cmocka_unit_test(far_slots_are_refused),
        cmocka_unit_test(lookups_go_by_pages_and_by_functions_before),
        cmocka_unit_test(any_byte_may_be_missing_or_wrong),
        cmocka_unit_test(instructions_are_run_within_the_stack),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
