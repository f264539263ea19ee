/* SPDX-License-Identifier: MIT */
/*
 * Chromium's unwind info v2 where a walk looks for rules: opened for a binary,
 * refused for others, and walked by; and where .text of a file is.
 */
#include "testlib.h"

#include "base/buf.h"
#include "unwind/table/chrome.h"

#include <elf.h>
#include <string.h>
#include <windlass/unwind.h>

enum {
    TEXT = 0x10000,
    TEXT_SIZE = 0x100,
    BIAS = 0x400000,
    STACK = 0x7000,
    WORDS = 16,
};

static const struct wndl_table_chrome_of of = {EM_ARM, TEXT, TEXT_SIZE};

/*
 * Functions at 0 (from 4 on r4 and lr are pushed, from 8 on 8 bytes more), at
 * 0x40 (pushes r7 and lr, which r7 is behind), at 0x80 (cannot be unwound) and
 * at 0xc0 (its instructions have no end).
 */
static struct wndl_bytes make(struct wndl_buf *b)
{
    static const uint8_t pairs[] = {4, 0, 2, 1, 0, 2, 4, 3, 0, 2, 0, 7, 0, 9};
    static const uint8_t code[] = {
        0x01, 0xa8, 0xb0, 0x97, 0x84, 0x08, 0xb0, 0x80, 0x00, 0x01};
    static const uint32_t functions[] = {
        0, 0x20 | 6u << 16, 0x40 | 10u << 16, 0x60 | 12u << 16};
    wndl_buf_init(b, wndl_mem_libc());
    const uint32_t header[] = {
        32, 1, 36, 4, 52, sizeof pairs, 52 + sizeof pairs, sizeof code};
    for (size_t i = 0; i < 8; i++)
        wndl_buf_u32le(b, header[i]);
    wndl_buf_u32le(b, 0);
    for (size_t i = 0; i < 4; i++)
        wndl_buf_u32le(b, functions[i]);
    wndl_buf_add(b, pairs, sizeof pairs);
    wndl_buf_add(b, code, sizeof code);
    assert_false(b->failed);
    return (struct wndl_bytes){b->data, b->size};
}

static void refused(struct wndl_bytes bytes, struct wndl_table_chrome_of what,
    enum wndl_status status, const char *why)
{
    struct wndl_table table;
    struct wndl_error err = {0};
    assert_int_equal(
        wndl_table_open_chrome(bytes, &what, &table, &err), status);
    assert_non_null(strstr(err.what, why));
}

static void others_are_refused_by_name(void **state)
{
    struct wndl_buf b;
    (void)state;
    const struct wndl_bytes bytes = make(&b);
    struct wndl_table_chrome_of other = of;
    other.machine = EM_AARCH64;
    refused(bytes, other, WNDL_UNSUPPORTED, "for 32-bit Arm only");
    other = of;
    other.text_size = 0xbe;
    refused(bytes, other, WNDL_MALFORMED, "for another binary");
    b.data[0] = 36;
    refused(bytes, of, WNDL_MALFORMED, "not Chromium unwind info v2");
    b.data[0] = 32;
    b.data[4] = 2;
    refused(bytes, of, WNDL_MALFORMED, "damaged Chromium unwind info v2");
    wndl_buf_free(&b);
}

static enum wndl_status row_at(
    const struct wndl_table *table, uint64_t svma, struct wndl_cfi_row *row)
{
    const uint32_t rule = wndl_table_find(table, svma);
    assert_int_equal(rule, wndl_table_find_by(table, svma, WNDL_TABLE_ANY_CPU));
    return wndl_table_row(table, wndl_arch_of(EM_ARM), rule, row);
}

static void lookups_give_rows(void **state)
{
    struct wndl_buf b;
    struct wndl_table table;
    struct wndl_cfi_row row;
    (void)state;
    assert_int_equal(
        wndl_table_open_chrome(make(&b), &of, &table, NULL), WNDL_OK);
    assert_int_equal(row_at(&table, TEXT - 2, &row), WNDL_NOT_FOUND);
    assert_int_equal(row_at(&table, TEXT, &row), WNDL_OK);
    assert_int_equal(row.cfa.reg, WNDL_ARM_SP);
    assert_int_equal(row.cfa.offset, 0);
    assert_int_equal(row.regs[WNDL_ARM_LR].kind, WNDL_RULE_UNSET);
    assert_int_equal(row_at(&table, TEXT + 0x3e, &row), WNDL_OK);
    assert_int_equal(row.cfa.offset, 16);
    assert_int_equal(row.regs[WNDL_ARM_R4].offset, -8);
    assert_int_equal(row.regs[WNDL_ARM_LR].offset, -4);
    assert_int_equal(row_at(&table, TEXT + 0x48, &row), WNDL_OK);
    assert_int_equal(row.cfa.reg, 7);
    assert_int_equal(row.cfa.offset, 8);
    assert_int_equal(row_at(&table, TEXT + 0x80, &row), WNDL_NOT_FOUND);
    assert_int_equal(row_at(&table, TEXT + 0xc0, &row), WNDL_OK);
    assert_int_equal(row_at(&table, TEXT + (1 << 17), &row), WNDL_NOT_FOUND);
    /* Such a rule is in no table of ours. */
    table.is_chrome = false;
    assert_int_equal(wndl_table_row(&table, wndl_arch_of(EM_ARM),
                         (uint32_t)WNDL_TABLE_CHROME << 24, &row),
        WNDL_MALFORMED);
    wndl_buf_free(&b);
}

/* ---- walks */

static uint32_t stack[WORDS];

static bool read_stack(void *context, uint64_t address, void *to, size_t size)
{
    (void)context;
    if (address < STACK || address - STACK > sizeof stack - size)
        return false;
    memcpy(to, (const uint8_t *)stack + (address - STACK), size);
    return true;
}

static struct wndl_frame frames[8];

static void walk(struct wndl_bytes bytes, uint32_t offset, uint32_t lr,
    struct wndl_walk *walk)
{
    const struct wndl_remote_module module = {
        .start = BIAS + TEXT,
        .end = BIAS + TEXT + 0x1000,
        .bias = BIAS,
        .table = bytes.data,
        .table_size = bytes.size,
        .table_text = TEXT,
        .table_text_size = TEXT_SIZE,
    };
    const struct wndl_remote remote = {
        .machine = EM_ARM,
        .modules = &module,
        .module_count = 1,
        .read = read_stack,
    };
    const uint32_t pc = BIAS + TEXT + offset;
    const uint32_t gregs[16] = {
        [7] = STACK + 16, [13] = STACK, [14] = lr, [15] = pc};
    const struct wndl_regs regs = {.ip = pc,
        .sp = STACK,
        .valid = WNDL_REG_IP | WNDL_REG_SP,
        .gregs = gregs};
    wndl_unwind_remote(&remote, &regs, walk);
}

static void walks_go_by_it(void **state)
{
    struct wndl_buf b;
    struct wndl_walk w = {
        .frames = frames, .max_frames = 8, .method = WNDL_WALK_CFI};
    const uint32_t text = BIAS + TEXT;
    (void)state;
    const struct wndl_bytes bytes = make(&b);
    stack[3] = text + 0x51; /* to Thumb code, by r7 */
    stack[4] = STACK + 48;
    stack[5] = text + 0x91;
    walk(bytes, 0x20, 0, &w);
    assert_int_equal(w.count, 3);
    assert_int_equal(frames[1].address & ~UINT64_C(1), text + 0x50);
    assert_int_equal(frames[2].address & ~UINT64_C(1), text + 0x90);
    assert_int_equal(frames[2].how, WNDL_HOW_CFI);
    assert_int_not_equal(w.end, WNDL_END_COMPLETE);

    /* A leaf, and nothing that is on the stack. */
    walk(bytes, 0, text + 0x91, &w);
    assert_int_equal(w.count, 2);
    assert_int_equal(frames[1].address & ~UINT64_C(1), text + 0x90);
    wndl_buf_free(&b);
}

/* Whatever it says, a walk ends. */
static void a_lying_table_ends_the_walk(void **state)
{
    struct wndl_buf b;
    struct wndl_walk w = {
        .frames = frames, .max_frames = 8, .method = WNDL_WALK_CFI};
    (void)state;
    const struct wndl_bytes bytes = make(&b);
    for (size_t at = 36; at < bytes.size; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            b.data[at] ^= (uint8_t)(1u << bit);
            walk(bytes, 0x20, BIAS + TEXT + 0x45, &w);
            assert_in_range(w.count, 1, 8);
            b.data[at] ^= (uint8_t)(1u << bit);
        }
    }
    wndl_buf_free(&b);
}

/* ---- .text of a file */

struct file {
    Elf32_Ehdr head;
    Elf32_Shdr sections[3];
    char names[20];
};

static void look(struct wndl_bytes prefix, void *context)
{
    struct wndl_table_chrome_of found;
    const struct wndl_bytes *whole = context;
    const bool known = wndl_table_chrome_of_file(prefix, &found);
    /* The names come last; what is behind ".text" does not matter. */
    assert_true(prefix.size < whole->size - 4 ? !known : known);
}

static void the_file_tells_where_text_is(void **state)
{
    struct wndl_table_chrome_of found = {0, 0, 0};
    struct file f = {
        .head = {.e_ident = {0x7f, 'E', 'L', 'F', ELFCLASS32, ELFDATA2LSB},
            .e_machine = EM_ARM,
            .e_shoff = offsetof(struct file, sections),
            .e_shnum = 3,
            .e_shstrndx = 2},
        .sections = {[1] = {.sh_name = 10,
                         .sh_addr = TEXT,
                         .sh_size = TEXT_SIZE},
            [2] = {.sh_offset = offsetof(struct file, names), .sh_size = 20}},
        .names = "\0.shstrtab\0.text",
    };
    f.sections[1].sh_name = 11;
    struct wndl_bytes bytes = {(const uint8_t *)&f, sizeof f};
    (void)state;
    assert_true(wndl_table_chrome_of_file(bytes, &found));
    assert_int_equal(found.machine, EM_ARM);
    assert_int_equal(found.text, TEXT);
    assert_int_equal(found.text_size, TEXT_SIZE);
    bytes.size = offsetof(struct file, names) + 17 + 4;
    for_each_truncation(bytes, look, &bytes);
    f.head.e_shstrndx = 3;
    assert_false(wndl_table_chrome_of_file(bytes, &found));
    f.head.e_ident[EI_CLASS] = ELFCLASS64;
    assert_false(wndl_table_chrome_of_file(bytes, &found));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(others_are_refused_by_name),
        cmocka_unit_test(lookups_give_rows),
        cmocka_unit_test(walks_go_by_it),
        cmocka_unit_test(a_lying_table_ends_the_walk),
        cmocka_unit_test(the_file_tells_where_text_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
