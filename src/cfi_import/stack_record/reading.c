/* SPDX-License-Identifier: MIT */
#include "cfi_import/stack_record/reading.h"

#include <elf.h>
#include <stdio.h>

static const struct wndl_stack_record_machine machines[] = {
    {EM_X86_64, 8, 7, 16, 17, WNDL_CFI_X86,
        {"rax", "rdx", "rcx", "rbx", "rsi", "rdi", "rbp", "rsp", "r8", "r9",
            "r10", "r11", "r12", "r13", "r14", "r15", "rip"}},
    {EM_386, 4, 4, 8, 9, WNDL_CFI_X86,
        {"eax", "ecx", "edx", "ebx", "esp", "ebp", "esi", "edi", "eip"}},
    {EM_ARM, 4, 13, 14, 16, WNDL_CFI_ARM,
        {"r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10",
            "r11", "r12", "sp", "lr", "pc"}},
    {EM_AARCH64, 8, 31, 30, 33, WNDL_CFI_AARCH64,
        {"x0", "x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10",
            "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19",
            "x20", "x21", "x22", "x23", "x24", "x25", "x26", "x27", "x28",
            "x29", "x30", "sp", "pc"}},
};

/* Breakpad's second names. */
static const struct {
    uint16_t machine;
    uint8_t reg;
    const char *name;
} others[] = {
    {EM_ARM, 11, "fp"},
    {EM_ARM, 13, "r13"},
    {EM_ARM, 14, "r14"},
    {EM_ARM, 15, "r15"},
    {EM_AARCH64, 29, "fp"},
    {EM_AARCH64, 30, "lr"},
};

const struct wndl_stack_record_machine *wndl_stack_record_machine_of(
    uint16_t machine)
{
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++)
        if (machines[i].machine == machine)
            return &machines[i];
    return NULL;
}

int wndl_stack_record_register(
    const struct wndl_stack_record_machine *m, struct wndl_bytes name)
{
    if (name.size != 0 && name.data[0] == '$')
        name = (struct wndl_bytes){name.data + 1, name.size - 1};
    for (unsigned reg = 0; reg < m->named; reg++)
        if (wndl_bytes_is(name, m->names[reg]))
            return (int)reg;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (others[i].machine == m->machine &&
            wndl_bytes_is(name, others[i].name))
            return others[i].reg;
    return -1;
}

void wndl_stack_record_lose(struct wndl_stack_record_reading *r,
    const struct wndl_breakpad_stack *record, enum wndl_status status,
    const char *why)
{
    char text[160];
    struct wndl_error err = {0};
    snprintf(text, sizeof text, "line %llu: %s",
        (unsigned long long)record->line, why);
    wndl_fail_at(&err, status, "symbols", record->at, text);
    wndl_cfi_source_lose(r->cfi, &err);
}
