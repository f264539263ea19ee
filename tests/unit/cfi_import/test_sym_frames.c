/* SPDX-License-Identifier: MIT */
/*
 * Breakpad's STACK records made by hand: rules at single addresses of each
 * form that they come in, what is lost with its line, and nothing worse from
 * any part of the text.
 */
#include "elfmake.h"
#include "testlib.h"

#include "base/buf.h"
#include "cfi_import/open.h"
#include "cfi_import/stack_record/object.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct opened {
    struct wndl_object *object;
    struct wndl_arena arena;
    struct wndl_cfi_source cfi;
    enum wndl_status status;
};

static void open_bytes(struct opened *o, struct wndl_bytes text)
{
    const struct wndl_object_source source = {text, "a.sym", NULL};
    *o = (struct opened){.object = NULL};
    wndl_arena_init(&o->arena, wndl_mem_libc());
    o->status = wndl_symbol_file_object_open(
        &source, wndl_mem_libc(), &o->object, NULL);
    if (o->status == WNDL_OK)
        o->status = wndl_cfi_source_open(&o->cfi, o->object, &o->arena, NULL);
}

static void open_text(struct opened *o, const char *text)
{
    open_bytes(o, (struct wndl_bytes){(const uint8_t *)text, strlen(text)});
}

static void finish(struct opened *o)
{
    wndl_arena_free(&o->arena);
    wndl_object_close(o->object);
}

static size_t write_expr(char *text, const struct wndl_cfi_rule *rule)
{
    size_t size = 0;
    for (uint32_t i = 0; i < rule->expr_size; i++)
        size += (size_t)sprintf(text + size, "%02x", rule->expr[i]);
    return size;
}

/* "7+8 3:*-16 6:-16 5=7 1?": the CFA; what is saved at it or is so far from it,
 * is in another register, or is lost. "e" and "*e" go before an expression. */
static void write_row(char *text, const struct wndl_cfi_row *row)
{
    size_t n =
        row->cfa.kind == WNDL_RULE_REGISTER
            ? (size_t)sprintf(text, "%d%+d", row->cfa.reg, (int)row->cfa.offset)
            : (size_t)sprintf(text, "e");
    if (row->cfa.kind == WNDL_RULE_VAL_EXPR)
        n += write_expr(text + n, &row->cfa);
    for (unsigned i = 0; i < WNDL_CFI_REGS; i++) {
        const struct wndl_cfi_rule *r = &row->regs[i];
        if (r->kind == WNDL_RULE_OFFSET)
            n += (size_t)sprintf(text + n, " %u:*%d", i, (int)r->offset);
        else if (r->kind == WNDL_RULE_VAL_OFFSET)
            n += (size_t)sprintf(text + n, " %u:%d", i, (int)r->offset);
        else if (r->kind == WNDL_RULE_REGISTER)
            n += (size_t)sprintf(text + n, " %u=%u", i, r->reg);
        else if (r->kind == WNDL_RULE_SAME)
            n += (size_t)sprintf(text + n, " %u=", i);
        else if (r->kind == WNDL_RULE_UNDEFINED)
            n += (size_t)sprintf(text + n, " %u?", i);
        else if (r->kind != WNDL_RULE_UNSET) {
            n += (size_t)sprintf(
                text + n, r->kind == WNDL_RULE_EXPR ? " %u:*e" : " %u:e", i);
            n += write_expr(text + n, r);
        }
    }
}

static void assert_rule(
    const struct opened *o, uint64_t rva, const char *expected)
{
    char text[1024] = "none";
    struct wndl_fde fde;
    struct wndl_cfi_row row;
    if (wndl_fde_scan(&o->cfi.frame, rva, &fde, NULL) == WNDL_OK) {
        assert_int_equal(
            wndl_cfi_row_at(&o->cfi.frame, &fde, rva, &row, NULL), WNDL_OK);
        write_row(text, &row);
    }
    assert_string_equal(text, expected);
}

/* ---- STACK CFI */

static const char x86_64[] =
    "MODULE Linux x86_64 4E4AC1A9F1B3F1D5AABBCCDDEEFF00110 a\n"
    "INFO CODE_ID A9C14A4EB3F1D5F1AABBCCDDEEFF001122334455\n"
    "FUNC 1000 100 0 f\n"
    "1000 100 5 0\n"
    "STACK CFI INIT 1000 40 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    "STACK CFI 1001 $rbp: .cfa -16 + ^ .cfa: $rsp 16 +\n"
    "STACK CFI 1004 .cfa: $rbp 16 +\n"
    "STACK CFI 1008 $rbx: .cfa 24 - ^ $r12: $rdx $r13: .cfa 8 -\n"
    "STACK CFI 100c $rax: .undef $rsp: $rsp $r14: $r13 8 +\n"
    "STACK CFI 1010 $rbx: $rbx $rsp: .cfa $rax: $rax $xmm6: .cfa 64 - ^\n"
    "STACK CFI 1014 .cfa: $rbp -8 + ^ $r15: .cfa .cfa 16 - ^ + ^\r\n"
    "STACK CFI 1018 $r15: $rax .cfa 16 @ - ^ $rdx: 5 $rcx: $rcx 3 *\n"
    /* expressions of signal frames, and a function that nobody called */
    "STACK CFI INIT 1040 9 .cfa: $rsp 160 + ^ .ra: $rsp 168 + ^ "
    "$rsp: $rsp 160 + ^\n"
    "STACK CFI INIT 1050 10 .cfa: $rsp 8 + .ra: .undef\n"
    /* a CFA that is not known, known and not again; what is told of it holds */
    "STACK CFI INIT 1060 8 .cfa: .undef .ra: .cfa -8 + ^\n"
    "STACK CFI 1062 .cfa: $rsp 8 +\n"
    "STACK CFI 1064 .cfa: .undef $rbx: .cfa 24 - ^\n"
    "STACK CFI 1065 $rbp: .cfa 16 - ^\n"
    "STACK CFI 1066 .cfa: $rsp 24 +\n"
    /* each of these loses a function, or is nothing */
    "STACK CFI INIT 1068 8 .cfa: $rsp 8 /  .ra: .cfa -8 + ^\n"
    "STACK CFI INIT 1070 8 .cfa: $rsp 8 +\n"
    "STACK CFI INIT 1078 8 .cfa: $st0 8 + .ra: .cfa -8 + ^\n"
    "STACK CFI INIT 1080 8 .cfa: $rsp 8 .ra: .cfa -8 + ^\n"
    "STACK CFI INIT 1088 8 .cfa: + .ra: .cfa -8 + ^\n"
    "STACK CFI INIT 1090 8 .cfa: .cfa 8 + .ra: .cfa -8 + ^\n"
    "STACK CFI INIT 1098 8 $rsp 8 +\n"
    "STACK CFI INIT 10a0 0 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    "STACK CFI INIT 10a8 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    "STACK CFI 10b0 .cfa: $rsp 16 +\n"
    "STACK CFI INIT 10b8 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    "STACK CFI zz .cfa: $rsp 16 +\n"
    "STACK CFI INIT 10c0\n"
    "STACK CFI 10c4 .cfa: $rsp 16 +\n"
    "STACK CIF\n"
    "STACK WIN 4 10d0 8 0 0 0 0 0 0 1 $eip $esp ^ =\n"
    "STACK CFI INIT ffffffff 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
    "STACK CFI INIT 10e0 8 .cfa: $rsp 99999999999999999999 + "
    ".ra: .cfa -8 + ^\n"
    "STACK CFI INIT 10f0 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n";

static void test_cfi(void **state)
{
    static const struct {
        unsigned rva;
        const char *rule;
    } rules[] = {
        {0x1000, "7+8 16:*-8"},
        {0x1001, "7+16 6:*-16 16:*-8"},
        {0x1007, "6+16 6:*-16 16:*-8"},
        {0x1008, "6+16 3:*-24 6:*-16 12=1 13:-8 16:*-8"},
        {0x100c, "6+16 0? 3:*-24 6:*-16 7= 12=1 13:-8 14:e7d08 16:*-8"},
        {0x1010, "6+16 6:*-16 12=1 13:-8 14:e7d08 16:*-8"},
        /* pick(0), pick(1), 16 - deref + */
        {0x1014, "e767806 6:*-16 12=1 13:-8 14:e7d08 15:*e1500150110101c0622 "
                 "16:*-8"},
        {0x103f, "e767806 1:e1105 2:e720011031e 6:*-16 12=1 13:-8 14:e7d08 "
                 "15:*e7000150111701a1c 16:*-8"},
        {0x1040, "e77a00106 7:*e77a001 16:*e77a801"},
        {0x1050, "7+8 16?"},
        {0x1060, "none"},
        {0x1062, "7+8 16:*-8"},
        {0x1063, "7+8 16:*-8"},
        {0x1064, "none"},
        {0x1065, "none"},
        {0x1066, "7+24 3:*-24 6:*-16 16:*-8"},
        {0x1067, "7+24 3:*-24 6:*-16 16:*-8"},
        {0x1068, "none"},
        {0x1070, "none"},
        {0x1078, "none"},
        {0x1080, "none"},
        {0x1088, "none"},
        {0x1090, "none"},
        {0x1098, "none"},
        {0x10a8, "none"},
        {0x10b8, "none"},
        {0x10c0, "none"},
        {0x10d0, "none"},
        {0x10e0, "none"},
        {0x10f7, "7+8 16:*-8"},
        {0x10f8, "none"},
    };
    struct opened o;
    (void)state;
    open_text(&o, x86_64);
    assert_int_equal(o.status, WNDL_OK);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        assert_rule(&o, rules[i].rva, rules[i].rule);
    assert_int_equal(o.cfi.origins.len, 6);
    assert_int_equal(o.cfi.unsupported.count, 3);
    assert_non_null(strstr(o.cfi.unsupported.first.what, "line 20:"));
    assert_int_equal(o.cfi.damaged.count, 12);
    assert_non_null(strstr(o.cfi.damaged.first.what, "line 21:"));
    assert_int_equal(o.cfi.damaged.first.offset,
        strstr(x86_64, "STACK CFI INIT 1070") - x86_64);
    finish(&o);
}

static void test_the_module(void **state)
{
    struct opened o;
    (void)state;
    open_text(&o, x86_64);
    const struct wndl_bytes id = wndl_object_build_id(o.object);
    assert_int_equal(id.size, 20);
    assert_int_equal(id.data[0], 0xa9);
    assert_int_equal(wndl_object_machine(o.object), EM_X86_64);
    assert_int_equal(wndl_object_segment_count(o.object), 1);
    assert_int_equal(wndl_object_segment(o.object, 0).addr.v, 0x1000);
    finish(&o);

    /* The GUID of a PDB file has its fields turned around. */
    open_text(&o, "MODULE windows x86 112233445566778899AABBCCDDEEFF001 a.pdb\n"
                  "INFO CODE_ID 4B6F0E3A1000 a.exe\n");
    assert_int_equal(o.status, WNDL_NOT_FOUND);
    assert_int_equal(wndl_object_build_id(o.object).size, 16);
    assert_int_equal(wndl_object_build_id(o.object).data[0], 0x44);
    assert_int_equal(wndl_object_build_id(o.object).data[15], 0x00);
    finish(&o);
    open_text(&o, "MODULE mac arm64 112233445566778899AABBCCDDEEFF000 a\n");
    assert_int_equal(wndl_object_build_id(o.object).data[0], 0x11);
    finish(&o);
    open_text(&o, "MODULE Linux\n");
    assert_int_equal(o.status, WNDL_MALFORMED);
    finish(&o);
    open_text(&o, "MODULE Linux arm 11 a\nINFO CODE_ID 123\n");
    assert_int_equal(wndl_object_build_id(o.object).size, 0);
    finish(&o);
}

static void test_other_machines(void **state)
{
    struct opened o;
    (void)state;
    open_text(&o, "MODULE Linux arm64 0 a\n"
                  "STACK CFI INIT 10 10 .cfa: sp 0 + .ra: x30\n"
                  "STACK CFI 14 .cfa: sp 32 + .ra: .cfa 24 - ^ "
                  "x29: .cfa 32 - ^ lr: .cfa 24 - ^\n"
                  "STACK CFI 1c .cfa: fp 32 +\n");
    assert_int_equal(o.status, WNDL_OK);
    assert_rule(&o, 0x10, "31+0");
    assert_rule(&o, 0x14, "31+32 29:*-32 30:*-24");
    assert_rule(&o, 0x1f, "29+32 29:*-32 30:*-24");
    finish(&o);
    open_text(&o, "MODULE Linux arm 0 a\n"
                  "STACK CFI INIT 10 10 .cfa: sp .ra: lr\n"
                  "STACK CFI 12 .cfa: r13 4294967288 - .ra: .cfa 4 - ^ "
                  "r4: .cfa 8 - ^\n"
                  "STACK CFI 14 .cfa: fp 8 + d8: .cfa 16 - ^\n");
    assert_rule(&o, 0x10, "13+0");
    assert_rule(&o, 0x12, "13+8 4:*-8 14:*-4");
    assert_rule(&o, 0x14, "11+8 4:*-8 14:*-4");
    finish(&o);
    open_text(&o, "MODULE Linux sparc 0 a\nSTACK CFI INIT 10 10 .cfa: $o1\n");
    assert_int_equal(o.status, WNDL_NOT_FOUND);
    finish(&o);
}

/* ---- STACK WIN */

#define FPO "$T0 .raSearch = $eip $T0 ^ = $esp $T0 4 + ="

static const char win[] =
    "MODULE windows x86 112233445566778899AABBCCDDEEFF001 a.pdb\n"
    /* pushes ebp, makes it the frame pointer, and takes that back */
    "STACK WIN 4 1000 30 6 0 8 0 0 0 1 " FPO "\n"
    "STACK WIN 4 1001 2e 5 0 8 4 0 0 1 " FPO " $ebp $T0 4 - ^ =\n"
    "STACK WIN 4 1003 2b 3 0 8 0 0 0 1 $T0 $ebp = $eip $T0 4 + ^ = "
    "$ebp $T0 ^ = $esp $T0 8 + =\n"
    /* FPO data, with no program; frame data of the same code goes first */
    "STACK WIN 0 2000 20 2 0 4 8 10 0 0 1\n"
    "STACK WIN 0 2020 20 2 0 4 8 10 0 0 0\n"
    "STACK WIN 4 2040 20 2 0 4 0 8 0 1 " FPO "\n"
    "STACK WIN 0 2040 20 2 0 4 8 10 0 0 0\n"
    /* an aligned stack, as LLVM and as MSVC have it */
    "STACK WIN 4 3000 20 0 0 8 c 20 0 1 $T1 .raSearch = $T0 $T1 4 - 8 @ = "
    "$ebp $T1 4 - ^ = $eip $T1 ^ = $esp $T1 4 + = $ebx $T0 24 - ^ =\n"
    "STACK WIN 4 3020 20 0 0 8 c 20 0 1 $T0 $ebx = $eip $T0 4 + ^ = "
    "$ebx $T0 ^ = $esp $T0 8 + = $ebp $ebp 4 + ^ = $esi $edi =\n"
    "STACK WIN 4 3040 20 0 0 8 c 20 0 1 $T0 $ebp 16 @ = $eip $T0 ^ = "
    "$esp $T0 4 + = $edi $T0 8 - ^ = $esi $T0 .cbLocals - .cbSavedRegs + "
    ".cbParams + .cbCalleeParams + ^ =\n"
    /* lost, with all that is around */
    "STACK WIN 1 4000 20 2 0 4 8 10 0 0 0\n"
    "STACK WIN 4 4020 20 2 0 4 8 10 0 1 $eip $T0 ^ =\n"
    "STACK WIN 4 4040 20 2 0 4\n"
    "STACK WIN 4 4060 20 0 0 0 0 0 0 1 " FPO "\n"
    "STACK WIN 4 4064 1c 0 0 0 4 0 0 1 " FPO " $ebx $T0 4 - ^\n"
    "STACK WIN 4 4080 0 0 0 0 0 0 0 1 " FPO "\n"
    "STACK WIN 4 40a0 4 0 0 0 0 0 0 1 $eip $eip = $esp $esp 4 + =\n"
    "STACK WIN 4 40b0 4 0 0 0 0 0 0 1 $eip $esp ^ = 4 $esp =\n"
    "STACK WIN 4 40c0 4 0 0 0 0 0 0 1 $eip $esp ^ = what\n"
    "STACK WIN 4 ffffffff 4 0 0 0 0 0 0 1 " FPO "\n"
    /* a range that ends behind the one it is in; two that touch */
    "STACK WIN 4 5000 10 0 0 0 0 0 0 1 " FPO "\n"
    "STACK WIN 4 5008 10 0 0 0 4 0 0 1 " FPO "\n"
    "STACK WIN 4 5010 10 0 0 0 8 0 0 1 " FPO "\n"
    "STACK CFI INIT 6000 10 .cfa: $esp 4 + .ra: .cfa 4 - ^\n"
    "STACK CFI 6001 .cfa: $esp 8 + $ebp: .cfa 8 - ^\n";

static void test_win(void **state)
{
    static const struct {
        unsigned rva;
        const char *rule;
    } rules[] = {
        {0x1000, "4+4 8:*-4"},
        {0x1001, "4+8 5:*-8 8:*-4"},
        {0x1003, "5+8 5:*-8 8:*-4"},
        {0x102d, "5+8 5:*-8 8:*-4"},
        {0x102e, "4+8 5:*-8 8:*-4"},
        {0x102f, "4+4 8:*-4"},
        {0x1030, "none"},
        {0x2000, "4+28 5:*-28 8:*-4"},
        {0x2020, "4+28 8:*-4"},
        {0x2040, "4+12 8:*-4"},
        {0x3000, "4+48 3:*e742811781a10181c 5:*-8 8:*-4"},
        {0x3020, "3+8 3:*-8 5:*e7504 6=7 8:*-4"},
        {0x3040, "e750011701a2304 6:*-16 7:*-12 8:*-4"},
        {0x4000, "none"},
        {0x4020, "none"},
        {0x4040, "none"},
        {0x4060, "none"},
        {0x4070, "none"},
        {0x40a0, "none"},
        {0x40b0, "none"},
        {0x40c0, "none"},
        {0x5007, "4+4 8:*-4"},
        {0x5008, "4+8 8:*-4"},
        {0x500f, "4+8 8:*-4"},
        {0x5010, "4+12 8:*-4"},
        {0x6000, "4+4 8:*-4"},
        {0x6001, "4+8 5:*-8 8:*-4"},
    };
    struct opened o;
    (void)state;
    open_text(&o, win);
    assert_int_equal(o.status, WNDL_OK);
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        assert_rule(&o, rules[i].rva, rules[i].rule);
    finish(&o);
}

/* ---- any text */

/* Records that were written are whole, each with a place in the text. */
static void check_records(struct wndl_bytes text)
{
    struct opened o;
    uint64_t next;
    open_bytes(&o, text);
    for (uint64_t at = 0; o.status == WNDL_OK && at < o.cfi.frame.bytes.size;
         at = next) {
        struct wndl_fde fde;
        struct wndl_cfi_row row;
        const enum wndl_status status =
            wndl_fde_parse(&o.cfi.frame, at, &fde, &next, NULL);
        if (status == WNDL_NOT_FOUND)
            continue;
        assert_int_equal(status, WNDL_OK);
        assert_true(wndl_cfi_source_origin(&o.cfi, at) < text.size);
        assert_int_equal(
            wndl_cfi_row_at(&o.cfi.frame, &fde, fde.start, &row, NULL),
            WNDL_OK);
    }
    finish(&o);
}

static void use_prefix(struct wndl_bytes prefix, void *context)
{
    (void)context;
    check_records(prefix);
}

static void test_truncated(void **state)
{
    (void)state;
    for_each_truncation(
        (struct wndl_bytes){(const uint8_t *)x86_64, sizeof x86_64 - 1},
        use_prefix, NULL);
    for_each_truncation(
        (struct wndl_bytes){(const uint8_t *)win, sizeof win - 1}, use_prefix,
        NULL);
}

/* Of a record that the text ends in nothing is taken. */
static void test_a_cut_record_is_lost(void **state)
{
    struct opened o;
    (void)state;
    open_text(&o, "MODULE Linux x86_64 0 a\n"
                  "STACK CFI INIT 10 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
                  "STACK CFI INIT 20 10 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n"
                  "STACK CFI 24 .cfa: $rsp 1");
    assert_rule(&o, 0x10, "7+8 16:*-8");
    assert_rule(&o, 0x20, "none");
    assert_int_equal(o.cfi.damaged.count, 1);
    finish(&o);
}

static void repeat(struct wndl_buf *b, const char *text, unsigned count)
{
    while (count-- > 0)
        wndl_buf_text(b, text);
}

/* Values that double themselves, deep nests, many names: told, not computed. */
static void test_bounds(void **state)
{
    struct wndl_buf b;
    struct opened o;
    (void)state;
    wndl_buf_init(&b, wndl_mem_libc());
    wndl_buf_text(&b, "MODULE windows x86 0 a\nSTACK WIN 4 10 8 0 0 0 0 0 0 1 "
                      "$T0 $esp = ");
    repeat(&b, "$T0 $T0 $T0 + = ", 60);
    wndl_buf_text(&b, "$eip $T0 ^ = $esp $T0 4 + =\n"
                      "STACK WIN 4 20 8 0 0 0 0 0 0 1 $eip $esp ");
    repeat(&b, "^ ", 100);
    wndl_buf_text(&b, "= $esp $esp 4 + =\nSTACK WIN 4 30 8 0 0 0 0 0 0 1 ");
    for (unsigned i = 0; i < 40; i++)
        wndl_buf_printf(&b, "$T%u $esp = ", i);
    wndl_buf_text(&b, "\nSTACK WIN 4 40 8 0 0 0 0 0 0 1 ");
    repeat(&b, "$esp ", 40);
    wndl_buf_text(&b, "\nSTACK CFI INIT 50 8 .cfa: $esp .ra: ");
    repeat(&b, ".cfa 1 * ", 300);
    wndl_buf_text(&b, "\n");
    for (unsigned i = 0; i < 80; i++)
        wndl_buf_printf(
            &b, "STACK WIN 4 %x 100 0 0 0 0 0 0 1 " FPO "\n", 0x1000 + i);
    open_bytes(&o, (struct wndl_bytes){b.data, b.size});
    assert_int_equal(o.status, WNDL_OK);
    assert_int_equal(o.cfi.origins.len, 0);
    /* Of 64 ranges around each other all but the first one are cut. */
    assert_int_equal(o.cfi.damaged.count, 6 + 63);
    finish(&o);
    wndl_buf_free(&b);
}

static void test_overlapping_ranges_are_cut_and_counted(void **state)
{
    struct opened o;
    (void)state;
    open_text(&o, "MODULE windows x86 0 a\n"
                  "STACK WIN 4 10 20 0 0 0 0 0 0 1 " FPO "\n"
                  "STACK WIN 4 20 20 0 0 0 0 8 0 1 " FPO "\n"
                  "STACK WIN 4 28 8 0 0 0 0 10 0 1 " FPO "\n");
    assert_int_equal(o.status, WNDL_OK);
    assert_rule(&o, 0x1f, "4+4 8:*-4");
    assert_rule(&o, 0x20, "4+12 8:*-4");
    assert_rule(&o, 0x2f, "4+20 8:*-4");
    assert_rule(&o, 0x30, "none");
    assert_int_equal(o.cfi.damaged.count, 1);
    assert_non_null(strstr(o.cfi.damaged.first.what, "line 3: a range"));
    finish(&o);
}

/* A range's program is read again behind each range within it. */
static void test_long_programs(void **state)
{
    static const char plain[] = "$eip $esp ^ = $esp $esp 4 + =";
    struct wndl_buf b;
    struct opened o;
    (void)state;
    wndl_buf_init(&b, wndl_mem_libc());
    wndl_buf_printf(&b,
        "MODULE windows x86 0 a\n"
        "STACK WIN 4 10 8 0 0 0 0 0 0 1 %-1024s\n"
        "STACK WIN 4 20 8 0 0 0 0 0 0 1 %-1025s\n",
        plain, plain);
    open_bytes(&o, (struct wndl_bytes){b.data, b.size});
    assert_rule(&o, 0x10, "4+4 8:*-4");
    assert_rule(&o, 0x20, "none");
    assert_int_equal(o.cfi.damaged.count, 1);
    finish(&o);
    wndl_buf_free(&b);
}

/* Sizes that an address has no room for; multiples that no mask gives. */
static void test_numbers(void **state)
{
    struct opened o;
    (void)state;
    open_text(&o, "MODULE windows x86 0 a\n"
                  "STACK CFI INIT 0 100000000 .cfa: $esp .ra: .cfa ^\n"
                  "STACK WIN 4 0 100000000 0 0 0 0 0 0 1 " FPO "\n"
                  "STACK CFI INIT 10 8 .cfa: $esp 12 @ .ra: .cfa ^\n"
                  "STACK CFI INIT 20 8 .cfa: $esp 0 @ .ra: .cfa ^\n"
                  "STACK CFI INIT 30 8 .cfa: $esp 16 @ .ra: .cfa ^\n");
    assert_rule(&o, 0x10, "none");
    assert_rule(&o, 0x20, "none");
    assert_rule(&o, 0x30, "e740011701a 8:*0");
    assert_int_equal(o.cfi.damaged.count, 2);
    assert_int_equal(o.cfi.unsupported.count, 2);
    finish(&o);
}

/* A section of a binary is no symbol file because of its name. */
static void test_a_section_of_the_name(void **state)
{
    static const char text[] =
        "STACK CFI INIT 10 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n";
    static const char added[] =
        "STACK CFI INIT 20 8 .cfa: $rsp 8 + .ra: .cfa -8 + ^\n";
    const struct made_section section = {.name = WNDL_STACK_RECORD_SECTION,
        .type = SHT_PROGBITS,
        .data = {(const uint8_t *)text, sizeof text - 1}};
    const struct elf_recipe recipe = {.is_64 = true,
        .type = ET_DYN,
        .machine = EM_X86_64,
        .sections = &section,
        .section_count = 1};
    const struct wndl_bytes file = make_elf(&recipe);
    struct opened o;
    (void)state;
    open_bytes(&o, file);
    assert_int_equal(o.status, WNDL_NOT_FOUND);
    assert_int_equal(
        wndl_object_add_section(o.object, WNDL_STACK_RECORD_SECTION,
            (struct wndl_bytes){(const uint8_t *)added, sizeof added - 1}),
        WNDL_OK);
    assert_int_equal(
        wndl_cfi_source_open(&o.cfi, o.object, &o.arena, NULL), WNDL_OK);
    assert_rule(&o, 0x10, "none");
    assert_rule(&o, 0x20, "7+8 16:*-8");
    finish(&o);
    free((void *)file.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cfi),
        cmocka_unit_test(test_the_module),
        cmocka_unit_test(test_other_machines),
        cmocka_unit_test(test_win),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_a_cut_record_is_lost),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_overlapping_ranges_are_cut_and_counted),
        cmocka_unit_test(test_long_programs),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_a_section_of_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
