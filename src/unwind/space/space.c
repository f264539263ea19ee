/* SPDX-License-Identifier: MIT */
#include "unwind/space/space.h"

#include "os/dlfind.h"
#include "unwind/jit/remote.h"
#include "unwind/space/arm_find.h"
#include "unwind/table/chrome.h"
#include "unwind/table/set.h"

/*
 * A module's CFI: both sections with the same kind of address, and `bias` from
 * that to avma.
 */
struct module_cfi {
    struct wndl_cfi_section hdr; /* bytes empty: none */
    struct wndl_cfi_section frame;
    uint64_t bias;
};

static enum wndl_code_kind local_cfi(uint64_t pc, struct module_cfi *cfi)
{
    struct wndl_dlmodule module;
    if (!wndl_dlfind(pc, &module))
        return WNDL_CODE_NO_MODULE;
    if (module.eh_frame_hdr == NULL)
        return WNDL_CODE_NO_FDE;
    uint64_t hdr_addr = (uintptr_t)module.eh_frame_hdr;
    *cfi = (struct module_cfi){
        .hdr = {.bytes = wndl_dlmodule_from(&module, hdr_addr),
            .addr = hdr_addr,
            .data_base = hdr_addr,
            .address_size = WNDL_WORD},
        .frame = {.address_size = WNDL_WORD, .family = WNDL_ARCH_HERE->family},
    };
    /* Tools that remove sections leave a header of zeroes. */
    if (cfi->hdr.bytes.size == 0)
        return WNDL_CODE_NO_FDE;
    if (wndl_eh_frame_hdr_frame_addr(&cfi->hdr, &cfi->frame.addr) != WNDL_OK)
        return WNDL_CODE_BAD;
    /* Both are in one segment, whose end is looked up once. */
    const struct wndl_bytes bytes = cfi->hdr.bytes;
    const uint64_t at = cfi->frame.addr - hdr_addr;
    cfi->frame.bytes = at < bytes.size
                           ? wndl_bytes_slice(bytes, at, bytes.size - at)
                           : wndl_dlmodule_from(&module, cfi->frame.addr);
    return WNDL_CODE_ROW;
}

/* The module that covers `pc`, or NULL. */
static const struct wndl_remote_module *remote_module(
    const struct wndl_remote *remote, uint64_t pc)
{
    size_t low = 0, high = remote->module_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct wndl_remote_module *m = &remote->modules[middle];
        if (pc < m->start)
            high = middle;
        else if (pc >= m->end)
            low = middle + 1;
        else
            return m;
    }
    return NULL;
}

static struct module_cfi remote_eh_frame(
    const struct wndl_remote_module *m, const struct wndl_arch *arch)
{
    size_t hdr_size = m->eh_frame_hdr == NULL ? 0 : m->eh_frame_hdr_size;
    return (struct module_cfi){
        .hdr = {.bytes = {m->eh_frame_hdr, hdr_size},
            .addr = m->eh_frame_hdr_svma,
            .data_base = m->eh_frame_hdr_svma,
            .address_size = arch->word},
        .frame = {.bytes = {m->eh_frame, m->eh_frame_size},
            .addr = m->eh_frame_svma,
            .address_size = arch->word,
            .family = arch->family},
        .bias = m->bias,
    };
}

static struct module_cfi remote_debug_frame(
    const struct wndl_remote_module *m, const struct wndl_arch *arch)
{
    return (struct module_cfi){
        .frame = {.bytes = {m->debug_frame, m->debug_frame_size},
            .address_size = arch->word,
            .family = arch->family,
            .debug_frame = true},
        .bias = m->bias,
    };
}

/* `pc` is an address of the sections' kind. */
static enum wndl_status find_fde(
    const struct module_cfi *cfi, uint64_t pc, struct wndl_fde *fde)
{
    if (cfi->hdr.bytes.size == 0)
        return wndl_fde_scan(&cfi->frame, pc, fde, NULL);
    uint64_t offset;
    enum wndl_status status =
        wndl_eh_frame_hdr_find(&cfi->hdr, &cfi->frame, pc, &offset);
    if (status == WNDL_UNSUPPORTED)
        return wndl_fde_scan(&cfi->frame, pc, fde, NULL);
    if (status != WNDL_OK)
        return status;
    status = wndl_fde_parse(&cfi->frame, offset, fde, NULL, NULL);
    if (status == WNDL_NOT_FOUND) /* the table has a CIE */
        return WNDL_MALFORMED;
    if (status == WNDL_OK && (pc < fde->start || pc >= fde->end))
        return WNDL_NOT_FOUND;
    return status;
}

bool wndl_code_find_plain(uint64_t pc, struct wndl_cfi_plain *row)
{
    static const struct wndl_cfi_abi abi = {
        WNDL_WORD, WNDL_DWARF_FP, WNDL_DWARF_SP, WNDL_DWARF_RA};
    struct module_cfi cfi;
    uint64_t offset;
    return local_cfi(pc, &cfi) == WNDL_CODE_ROW &&
           wndl_eh_frame_hdr_find(&cfi.hdr, &cfi.frame, pc, &offset) ==
               WNDL_OK &&
           wndl_cfi_plain_at(&cfi.frame, &abi, offset, pc, row);
}

static enum wndl_code_kind find_in(
    const struct module_cfi *cfi, uint64_t pc, struct wndl_code *code)
{
    struct wndl_fde fde;
    enum wndl_status status = find_fde(cfi, pc - cfi->bias, &fde);
    if (status == WNDL_NOT_FOUND)
        return WNDL_CODE_NO_FDE;
    if (status != WNDL_OK)
        return WNDL_CODE_BAD;
    code->frame = cfi->frame;
    code->start = fde.start + cfi->bias;
    status =
        wndl_cfi_row_at(&cfi->frame, &fde, pc - cfi->bias, &code->row, NULL);
    return status == WNDL_OK ? WNDL_CODE_ROW : WNDL_CODE_BAD;
}

/* The first of both sections that has a row; else the first one's result. */
static enum wndl_code_kind find_by_remote_cfi(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_code *code)
{
    const struct wndl_arch *arch = wndl_arch_of(remote->machine);
    const struct wndl_remote_module *m = remote_module(remote, pc);
    enum wndl_code_kind kind = WNDL_CODE_NO_FDE;
    if (m == NULL)
        return WNDL_CODE_NO_MODULE;
    if (m->eh_frame != NULL) {
        const struct module_cfi cfi = remote_eh_frame(m, arch);
        kind = find_in(&cfi, pc, code);
    }
    if (kind == WNDL_CODE_ROW || m->debug_frame == NULL)
        return kind;
    const struct module_cfi cfi = remote_debug_frame(m, arch);
    const enum wndl_code_kind other = find_in(&cfi, pc, code);
    return kind == WNDL_CODE_NO_FDE || other == WNDL_CODE_ROW ? other : kind;
}

static enum wndl_code_kind find_by_cfi(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_code *code)
{
    struct module_cfi cfi;
    if (remote != NULL)
        return find_by_remote_cfi(remote, pc, code);
    enum wndl_code_kind kind = local_cfi(pc, &cfi);
    return kind == WNDL_CODE_ROW ? find_in(&cfi, pc, code) : kind;
}

/* Looks up `pc`, a svma, in a table, which lacks functions' starts. */
static enum wndl_code_kind find_in_table(const struct wndl_table *table,
    const struct wndl_arch *arch, uint64_t pc, struct wndl_code *code)
{
    code->frame = (struct wndl_cfi_section){
        .address_size = arch->word, .family = arch->family};
    code->start = 0;
    enum wndl_status status =
        wndl_table_row(table, arch, wndl_table_find(table, pc), &code->row);
    if (status == WNDL_NOT_FOUND)
        return WNDL_CODE_NO_FDE;
    return status == WNDL_OK ? WNDL_CODE_ROW : WNDL_CODE_BAD;
}

/* NO_MODULE: there is no table. */
static enum wndl_code_kind find_by_own_table(
    const struct wndl_dlmodule *module, uint64_t pc, struct wndl_code *code)
{
    const struct wndl_table *table = wndl_table_set_find(module);
    if (table == NULL)
        return WNDL_CODE_NO_MODULE;
    return find_in_table(table, WNDL_ARCH_HERE, pc - module->bias.v, code);
}

static enum wndl_code_kind find_by_remote_table(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_code *code)
{
    struct wndl_table table;
    const struct wndl_remote_module *m = remote_module(remote, pc);
    if (m == NULL || m->table == NULL)
        return WNDL_CODE_NO_MODULE;
    const struct wndl_bytes bytes = {m->table, m->table_size};
    const struct wndl_table_chrome_of of = {
        remote->machine, m->table_text, m->table_text_size};
    const enum wndl_status status =
        m->table_text_size != 0
            ? wndl_table_open_chrome(bytes, &of, &table, NULL)
            : wndl_table_open(bytes, &table, NULL);
    if (status != WNDL_OK)
        return WNDL_CODE_NO_MODULE;
    return find_in_table(
        &table, wndl_arch_of(remote->machine), pc - m->bias, code);
}

/* Finds the row of code without CFI, or with damaged CFI, in the table. */
static enum wndl_code_kind find_by_table(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_code *code)
{
    struct wndl_dlmodule module;
    if (remote != NULL)
        return find_by_remote_table(remote, pc, code);
    return wndl_dlfind(pc, &module) ? find_by_own_table(&module, pc, code)
                                    : WNDL_CODE_NO_MODULE;
}

/*
 * For 32-bit Arm: a table has the rules of each instruction, and comes first.
 * It lacks the code to which signal handlers return.
 */
static enum wndl_code_kind find_arm(uint64_t pc, struct wndl_code *code)
{
    struct wndl_dlmodule module;
    if (!wndl_dlfind(pc, &module))
        return WNDL_CODE_NO_MODULE;
    const enum wndl_code_kind kind = find_by_own_table(&module, pc, code);
    return kind == WNDL_CODE_ROW ? kind : wndl_arm_code_find(&module, pc, code);
}

/*
 * Searches call frame information, then the table, then the index: a row that
 * is missing or damaged in one may be in the next.
 */
static enum wndl_code_kind find_arm_there(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_code *code)
{
    const struct wndl_remote_module *m = remote_module(remote, pc);
    if (m == NULL)
        return WNDL_CODE_NO_MODULE;
    const enum wndl_code_kind by_cfi = find_by_remote_cfi(remote, pc, code);
    if (by_cfi == WNDL_CODE_ROW)
        return by_cfi;
    const enum wndl_code_kind by_table = find_by_remote_table(remote, pc, code);
    if (by_table == WNDL_CODE_ROW)
        return by_table;
    const enum wndl_code_kind by_index =
        wndl_arm_code_find_there(remote, m, pc, code);
    if (by_index != WNDL_CODE_NO_FDE)
        return by_index;
    return by_table == WNDL_CODE_NO_MODULE ? by_cfi : by_table;
}

/* Whether the walked code is Arm's. */
static bool is_arm(const struct wndl_remote *remote)
{
    const struct wndl_arch *arch =
        remote == NULL ? WNDL_ARCH_HERE : wndl_arch_of(remote->machine);
    return arch->family == WNDL_CFI_ARM;
}

enum wndl_code_kind wndl_code_find(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_code *code)
{
    if (is_arm(remote))
        return remote == NULL ? find_arm(pc, code)
                              : find_arm_there(remote, pc, code);
    enum wndl_code_kind kind = find_by_cfi(remote, pc, code);
    if (kind != WNDL_CODE_NO_FDE && kind != WNDL_CODE_BAD)
        return kind;
    /* A table is of this very build: if there is one, its gaps count. */
    const enum wndl_code_kind other = find_by_table(remote, pc, code);
    return other == WNDL_CODE_NO_MODULE ? kind : other;
}

/* A pc may be anywhere in a module, even in data: sanitizers must not check. */
__attribute__((no_sanitize("address", "thread"))) static void copy_code(
    uint8_t *to, const uint8_t *from, size_t size)
{
    const volatile uint8_t *bytes = from;
    for (size_t i = 0; i < size; i++)
        to[i] = bytes[i];
}

bool wndl_code_read(
    const struct wndl_space *space, uint64_t address, void *to, size_t size)
{
    struct wndl_dlmodule module;
    if (!space->arch->reads_code)
        return false;
    if (space->remote != NULL)
        return (remote_module(space->remote, address) != NULL ||
                   wndl_jit_remote_covers(space->remote, address)) &&
               space->memory.read(space->memory.context, address, to, size);
    if (!wndl_dlfind(address, &module))
        return false;
    struct wndl_bytes code = wndl_dlmodule_from(&module, address);
    if (code.size < size)
        return false;
    copy_code(to, code.data, size);
    return true;
}

bool wndl_code_is_mapped(const struct wndl_remote *remote, uint64_t pc)
{
    struct wndl_dlmodule module;
    if (remote != NULL)
        return remote_module(remote, pc) != NULL;
    return wndl_dlfind(pc, &module);
}
