/* SPDX-License-Identifier: MIT */
/*
 * exidxdump FILE: each entry of .ARM.exidx and its instructions, in the words
 * that tests/lib/llvm_exidx.awk makes of llvm-readobj's.
 */
#include "os/file.h"
#include "tables/arm_source.h"

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

static void say_entry(struct wndl_exidx_entry *e)
{
    struct wndl_exidx_op op;
    printf("0x%" PRIX64 "\n", e->start);
    if (e->kind == WNDL_EXIDX_CANTUNWIND)
        puts("CantUnwind");
    if (e->kind == WNDL_EXIDX_GENERIC)
        puts("Generic");
    while (e->code.next < e->code.end) {
        if (wndl_exidx_next(&e->code, &op) == WNDL_OK)
            say_op(&op);
        else
            puts("spare");
    }
}

int main(int argc, char **argv)
{
    struct wndl_file file;
    struct wndl_object *object;
    struct wndl_arm_source source;
    if (argc != 2 || wndl_file_open(argv[1], &file, NULL) != WNDL_OK ||
        wndl_object_open(file.bytes, argv[1], wndl_mem_libc(), &object, NULL) !=
            WNDL_OK ||
        wndl_arm_source_open(&source, object, NULL) != WNDL_OK)
        return 1;
    for (size_t i = 0; i < wndl_exidx_count(&source.exidx); i++) {
        struct wndl_exidx_entry entry;
        if (wndl_exidx_read(&source.exidx, i, &entry, NULL) == WNDL_OK)
            say_entry(&entry);
        else
            puts("damaged");
    }
    wndl_object_close(object);
    wndl_file_close(&file);
    return 0;
}
