/* SPDX-License-Identifier: MIT */
/*
 * cfidump: what cfi reads out of a file, for comparison with other readers.
 *
 *   cfidump rows FILE    every FDE of .eh_frame (or of .debug_frame, when
 *                        there is no other) and its rows, in the words of
 *                        `llvm-dwarfdump --eh-frame`
 *   cfidump lookup FILE  looks up both ends and the middle of every FDE by
 *                        .eh_frame_hdr, and both ends of every row by pc;
 *                        says how many answers differ from a linear reading
 */
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cfi/cfi.h"
#include "obj/core/object.h"
#include "os/file.h"

struct input {
    struct wndl_cfi_section frame;
    struct wndl_cfi_section hdr; /* bytes.size 0 when there is none */
};

static const char *const x86_64[WNDL_CFI_REGS] = {"RAX", "RDX", "RCX", "RBX",
    "RSI", "RDI", "RBP", "RSP", "R8", "R9", "R10", "R11", "R12", "R13", "R14",
    "R15", "RIP"};

/* As .eh_frame numbers them; those above 8 are not general registers. */
static const char *const i386[WNDL_CFI_REGS] = {"EAX", "ECX", "EDX", "EBX",
    "ESP", "EBP", "ESI", "EDI", "EIP", "9", "10", "11", "12", "13", "14", "15",
    "16"};

/* As llvm-dwarfdump calls them. */
static const char *const aarch64[WNDL_CFI_REGS] = {"W0", "W1", "W2", "W3", "W4",
    "W5", "W6", "W7", "W8", "W9", "W10", "W11", "W12", "W13", "W14", "W15",
    "W16", "W17", "W18", "W19", "W20", "W21", "W22", "W23", "W24", "W25", "W26",
    "W27", "W28", "W29", "W30", "WSP", "PC"};

static const char *const *reg_names = x86_64;

static void die(const struct wndl_error *err)
{
    char text[512];
    fprintf(stderr, "cfidump: %s\n", wndl_error_text(err, text, sizeof text));
    exit(2);
}

/* Operators without operands, as CFI in the wild has them. */
static const char *op_name(uint8_t op)
{
    static const char *const names[256] = {
        [0x06] = "DW_OP_deref",
        [0x12] = "DW_OP_dup",
        [0x16] = "DW_OP_swap",
        [0x1a] = "DW_OP_and",
        [0x1c] = "DW_OP_minus",
        [0x1e] = "DW_OP_mul",
        [0x21] = "DW_OP_or",
        [0x22] = "DW_OP_plus",
        [0x24] = "DW_OP_shl",
        [0x25] = "DW_OP_shr",
        [0x2a] = "DW_OP_ge",
    };
    return names[op] != NULL ? names[op] : "DW_OP_unknown";
}

static void print_expr(const struct wndl_cfi_rule *rule)
{
    struct wndl_bytes expr = {rule->expr, rule->expr_size};
    struct wndl_cursor c = wndl_cursor_at(expr, 0, false);
    for (const char *sep = ""; c.next != c.end; sep = ", ") {
        uint8_t op = wndl_cursor_u8(&c);
        fputs(sep, stdout);
        if (op >= 0x70 && op <= 0x8f && reg_names[op - 0x70] != NULL)
            printf("DW_OP_breg%d %s%+" PRId64, op - 0x70, reg_names[op - 0x70],
                wndl_cursor_sleb(&c));
        else if (op >= 0x30 && op <= 0x4f)
            printf("DW_OP_lit%d", op - 0x30);
        else if (op == 0x23)
            printf("DW_OP_plus_uconst 0x%" PRIx64, wndl_cursor_uleb(&c));
        else if (op == 0x08)
            printf("DW_OP_const1u 0x%x", wndl_cursor_u8(&c));
        else if (op == 0x09)
            printf("DW_OP_const1s %+d", (int8_t)wndl_cursor_u8(&c));
        else
            fputs(op_name(op), stdout);
    }
}

static void print_cfa_offset(int64_t offset)
{
    fputs("CFA", stdout);
    if (offset != 0)
        printf("%+" PRId64, offset);
}

static void print_cfa(const struct wndl_cfi_rule *rule)
{
    fputs("CFA=", stdout);
    if (rule->kind == WNDL_RULE_VAL_EXPR) {
        print_expr(rule);
        return;
    }
    printf("%s", reg_names[rule->reg]);
    if (rule->offset != 0)
        printf("%+" PRId64, rule->offset);
}

static void print_rule(const struct wndl_cfi_rule *rule)
{
    switch ((enum wndl_cfi_rule_kind)rule->kind) {
    case WNDL_RULE_UNSET:
        break;
    case WNDL_RULE_SAME:
        fputs("same", stdout);
        break;
    case WNDL_RULE_UNDEFINED:
        fputs("undefined", stdout);
        break;
    case WNDL_RULE_OFFSET:
        putchar('[');
        print_cfa_offset(rule->offset);
        putchar(']');
        break;
    case WNDL_RULE_VAL_OFFSET:
        print_cfa_offset(rule->offset);
        break;
    case WNDL_RULE_REGISTER:
        fputs(reg_names[rule->reg], stdout);
        break;
    case WNDL_RULE_EXPR:
        putchar('[');
        print_expr(rule);
        putchar(']');
        break;
    case WNDL_RULE_VAL_EXPR:
        print_expr(rule);
        break;
    }
}

static bool print_row(void *context, const struct wndl_cfi_row *row)
{
    (void)context;
    printf("  0x%" PRIx64 ": ", row->start);
    print_cfa(&row->cfa);
    const char *sep = ": ";
    for (int reg = 0; reg < WNDL_CFI_REGS; reg++) {
        if (row->regs[reg].kind == WNDL_RULE_UNSET)
            continue;
        printf("%s%s=", sep, reg_names[reg]);
        print_rule(&row->regs[reg]);
        sep = ", ";
    }
    if (row->ra_signed)
        printf("%sreg34=1", sep);
    putchar('\n');
    return true;
}

static void print_fde(const struct input *in, const struct wndl_fde *fde)
{
    struct wndl_error err = {0};
    printf("%08" PRIx64 " FDE cie=%08" PRIx64 " pc=%08" PRIx64 "...%08" PRIx64
           "\n",
        fde->offset, fde->cie.offset, fde->start, fde->end);
    if (wndl_cfi_rows(&in->frame, fde, print_row, NULL, &err) != WNDL_OK)
        die(&err);
}

/* Counts of the lookup mode. */
struct tally {
    const struct input *in;
    const struct wndl_fde *fde;
    uint64_t fdes, rows, asked, wrong;
};

static bool same_rules(
    const struct wndl_cfi_row *a, const struct wndl_cfi_row *b)
{
    return a->start == b->start && a->end == b->end &&
           a->ra_signed == b->ra_signed &&
           memcmp(&a->cfa, &b->cfa, sizeof a->cfa) == 0 &&
           memcmp(a->regs, b->regs, sizeof a->regs) == 0;
}

static void look_up_row(
    struct tally *t, uint64_t pc, const struct wndl_cfi_row *expected)
{
    struct wndl_cfi_row row;
    t->asked++;
    if (wndl_cfi_row_at(&t->in->frame, t->fde, pc, &row, NULL) == WNDL_OK &&
        same_rules(&row, expected))
        return;
    t->wrong++;
    printf("row at 0x%" PRIx64 " differs\n", pc);
}

static bool look_up_both_ends(void *context, const struct wndl_cfi_row *row)
{
    struct tally *t = context;
    t->rows++;
    look_up_row(t, row->start, row);
    look_up_row(t, row->end - 1, row);
    return true;
}

static void look_up_fde(struct tally *t, uint64_t pc)
{
    uint64_t offset = 0;
    t->asked++;
    if (wndl_eh_frame_hdr_find(&t->in->hdr, &t->in->frame, pc, &offset) ==
            WNDL_OK &&
        offset == t->fde->offset)
        return;
    t->wrong++;
    printf("FDE of 0x%" PRIx64 " is not found\n", pc);
}

static void check_fde(struct tally *t, const struct wndl_fde *fde)
{
    struct wndl_error err = {0};
    t->fde = fde;
    t->fdes++;
    if (fde->start == fde->end)
        return;
    if (t->in->hdr.bytes.size != 0) {
        look_up_fde(t, fde->start);
        look_up_fde(t, fde->start + (fde->end - fde->start) / 2);
        look_up_fde(t, fde->end - 1);
    }
    if (wndl_cfi_rows(&t->in->frame, fde, look_up_both_ends, t, &err) !=
        WNDL_OK)
        die(&err);
}

/* Calls `print_fde` (tally NULL) or `check_fde` with every FDE. */
static void for_each_fde(const struct input *in, struct tally *tally)
{
    struct wndl_fde fde;
    uint64_t next = 0;
    for (uint64_t at = 0; at < in->frame.bytes.size; at = next) {
        struct wndl_error err = {0};
        enum wndl_status status =
            wndl_fde_parse(&in->frame, at, &fde, &next, &err);
        if (status != WNDL_OK && status != WNDL_NOT_FOUND)
            die(&err);
        if (status == WNDL_OK && tally == NULL)
            print_fde(in, &fde);
        else if (status == WNDL_OK)
            check_fde(tally, &fde);
    }
}

static enum wndl_status find_section(
    struct wndl_object *object, const char *name, struct wndl_cfi_section *out)
{
    struct wndl_section info;
    enum wndl_status status =
        wndl_object_section_bytes(object, name, &out->bytes, &info, NULL);
    out->addr = status == WNDL_OK ? info.addr.v : 0;
    out->address_size = (uint8_t)wndl_object_address_size(object);
    out->big_endian = wndl_object_is_big_endian(object);
    if (wndl_object_machine(object) == EM_AARCH64)
        out->family = WNDL_CFI_AARCH64;
    return status;
}

static struct input find_input(struct wndl_object *object)
{
    struct input in = {0};
    struct wndl_error err = {.status = WNDL_NOT_FOUND};
    (void)find_section(object, ".eh_frame_hdr", &in.hdr);
    enum wndl_status status = find_section(object, ".eh_frame", &in.frame);
    if (status == WNDL_NOT_FOUND) {
        status = find_section(object, ".debug_frame", &in.frame);
        in.frame.debug_frame = true;
        in.hdr.bytes.size = 0;
    }
    if (status != WNDL_OK)
        die(&err);
    return in;
}

int main(int argc, char **argv)
{
    struct wndl_file file;
    struct wndl_object *object = NULL;
    struct wndl_error err = {0};
    if (argc != 3)
        return 2;
    if (wndl_file_open(argv[2], &file, &err) != WNDL_OK ||
        wndl_object_open(file.bytes, argv[2], wndl_mem_libc(), &object, &err) !=
            WNDL_OK)
        die(&err);
    struct input in = find_input(object);
    reg_names = in.frame.address_size == 4 ? i386 : x86_64;
    if (in.frame.family == WNDL_CFI_AARCH64)
        reg_names = aarch64;
    struct tally tally = {.in = &in};
    bool lookup = strcmp(argv[1], "lookup") == 0;
    for_each_fde(&in, lookup ? &tally : NULL);
    if (lookup)
        printf("%" PRIu64 " FDEs, %" PRIu64 " rows, %" PRIu64
               " lookups, %" PRIu64 " wrong\n",
            tally.fdes, tally.rows, tally.asked, tally.wrong);
    wndl_object_close(object);
    wndl_file_close(&file);
    return tally.wrong == 0 ? 0 : 1;
}
