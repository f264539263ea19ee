/* SPDX-License-Identifier: MIT */
/*
 * exidxdump FILE: each entry of .ARM.exidx and its instructions, in the words
 * that tests/lib/llvm_exidx.awk makes of llvm-readobj's, which does not tell
 * those of the generic model. With another argument: these alone, if they have
 * a row, in the words that tests/lib/gnu_exidx.awk makes of GNU readelf's.
 */
#include "cfi_import/arm/source.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>

static void say_mask(unsigned mask)
{
    static const char *const names[] = {"r0", "r1", "r2", "r3", "r4", "r5",
        "r6", "r7", "r8", "r9", "r10", "fp", "ip", "sp", "lr", "pc"};
    const char *space = "pop {";
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        if ((mask >> reg & 1) == 0)
            continue;
        printf("%s%s", space, names[reg]);
        space = ", ";
    }
    puts("}");
}

static void say_op(const struct wndl_exidx_op *op)
{
    switch ((enum wndl_exidx_op_kind)op->kind) {
    case WNDL_EXIDX_MOVE:
        printf("vsp = vsp %c %" PRId64 "\n", op->amount < 0 ? '-' : '+',
            op->amount < 0 ? -op->amount : op->amount);
        return;
    case WNDL_EXIDX_SET:
        printf("vsp = r%u\n", op->reg);
        return;
    case WNDL_EXIDX_POP:
        say_mask(op->mask);
        return;
    case WNDL_EXIDX_SKIP:
        printf("skip %" PRId64 "\n", op->amount);
        return;
    case WNDL_EXIDX_REFUSE:
        puts("refuse to unwind");
        return;
    default:
        puts("finish");
    }
}

static void say_code(struct wndl_exidx_code code)
{
    struct wndl_exidx_op op;
    while (code.next < code.end) {
        if (wndl_exidx_next(&code, &op) == WNDL_OK)
            say_op(&op);
        else
            puts("spare");
    }
}

static void say_generic(const struct wndl_exidx_entry *e)
{
    struct wndl_cfi_row row;
    if (e->kind != WNDL_EXIDX_GENERIC ||
        wndl_exidx_row(e, &row, NULL) != WNDL_OK)
        return;
    printf("0x%" PRIX64 "\n", e->start);
    say_code(e->code);
}

static void say_entry(const struct wndl_exidx_entry *e)
{
    printf("0x%" PRIX64 "\n", e->start);
    if (e->kind == WNDL_EXIDX_CANTUNWIND)
        puts("CantUnwind");
    if (e->kind == WNDL_EXIDX_GENERIC)
        puts("Generic");
    else
        say_code(e->code);
}

int main(int argc, char **argv)
{
    struct wndl_file file;
    struct wndl_object *object;
    struct wndl_arm_source source;
    if (argc < 2 || wndl_file_open(argv[1], &file, NULL) != WNDL_OK ||
        wndl_object_open(file.bytes, argv[1], wndl_mem_libc(), &object, NULL) !=
            WNDL_OK ||
        wndl_arm_source_open(&source, object, NULL) != WNDL_OK)
        return 1;
    for (size_t i = 0; i < wndl_exidx_count(&source.exidx); i++) {
        struct wndl_exidx_entry entry;
        if (wndl_exidx_read(&source.exidx, i, &entry, NULL) != WNDL_OK)
            puts("damaged");
        else if (argc > 2)
            say_generic(&entry);
        else
            say_entry(&entry);
    }
    wndl_object_close(object);
    wndl_file_close(&file);
    return 0;
}
