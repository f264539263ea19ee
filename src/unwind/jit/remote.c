/* SPDX-License-Identifier: MIT */
#include "unwind/jit/remote.h"

#include "unwind/core/arch.h"
#include "unwind/jit/registry_layout.h"

/* Limit of registries that refer to each other. */
enum { CHAIN_MAX = 16 };

static bool read_at(
    const struct wndl_remote *remote, uint64_t at, void *to, size_t size)
{
    return remote->read(remote->context, at, to, size);
}

static bool read_registry(
    const struct wndl_remote *remote, uint64_t at, struct wndl_jit *jit)
{
    return at != 0 && wndl_arch_of(remote->machine) == WNDL_ARCH_HERE &&
           read_at(remote, at, jit, sizeof *jit) &&
           jit->version == WNDL_JIT_VERSION;
}

static uint64_t next_of(const struct wndl_jit *jit)
{
    return (uintptr_t)atomic_load(&jit->also);
}

uint64_t wndl_jit_remote_changes(const struct wndl_remote *remote)
{
    struct wndl_jit jit;
    uint64_t at = remote->jit, changes = 0;
    for (int i = 0; i < CHAIN_MAX && read_registry(remote, at, &jit); i++) {
        changes += (uint64_t)atomic_load(&jit.changes) + 1;
        at = next_of(&jit);
    }
    return changes;
}

/* The last entry that starts at or before `pc`; false if there is none. */
static bool find_in(const struct wndl_remote *remote,
    const struct wndl_jit *jit, uint64_t pc, struct wndl_jit_entry *e)
{
    const unsigned side = atomic_load(&jit->changes) % 2;
    const uint64_t entries = (uintptr_t)jit->entries[side];
    size_t low = 0, high = jit->counts[side];
    bool found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct wndl_jit_entry probe;
        if (!read_at(
                remote, entries + middle * sizeof probe, &probe, sizeof probe))
            return false;
        if (probe.start > pc) {
            high = middle;
            continue;
        }
        low = middle + 1;
        *e = probe;
        found = true;
    }
    return found && pc < e->end;
}

static bool find_entry(
    const struct wndl_remote *remote, uint64_t pc, struct wndl_jit_entry *e)
{
    struct wndl_jit jit;
    uint64_t at = remote->jit;
    for (int i = 0; i < CHAIN_MAX && read_registry(remote, at, &jit); i++) {
        if (find_in(remote, &jit, pc, e))
            return true;
        at = next_of(&jit);
    }
    return false;
}

bool wndl_jit_remote_covers(const struct wndl_remote *remote, uint64_t pc)
{
    struct wndl_jit_entry e;
    return find_entry(remote, pc, &e);
}

/* The rule in force at `offset`. */
static bool read_rule(const struct wndl_remote *remote,
    const struct wndl_jit_entry *e, uint64_t offset, struct wndl_jit_rule *rule)
{
    const uint64_t rules = (uintptr_t)e->rules;
    size_t low = 0, high = e->rule_count;
    bool found = false;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct wndl_jit_rule probe;
        if (!read_at(
                remote, rules + middle * sizeof probe, &probe, sizeof probe))
            return false;
        if (probe.offset > offset) {
            high = middle;
            continue;
        }
        low = middle + 1;
        *rule = probe;
        found = true;
    }
    return found;
}

/* The record at `at`, whole; its size, or 0. */
static size_t read_record(
    const struct wndl_remote *remote, uint64_t at, uint8_t *to, size_t room)
{
    uint32_t length;
    if (room < sizeof length || !read_at(remote, at, &length, sizeof length) ||
        length < sizeof length || length > room - sizeof length ||
        !read_at(remote, at, to, length + sizeof length))
        return 0;
    return length + sizeof length;
}

/*
 * Copies the FDE and its CIE: the CIE first, then the FDE. The FDE's pointer to
 * the CIE is adapted; its address stays as it was. Returns the FDE's offset in
 * `frame`, or 0.
 */
static size_t read_fde(const struct wndl_remote *remote,
    const struct wndl_jit_entry *e, struct wndl_jit_copy *copy,
    struct wndl_cfi_section *frame)
{
    enum { HALF = sizeof copy->bytes / 2, ID = 4 };
    uint8_t fde[HALF];
    uint32_t back;
    const uint64_t at = (uintptr_t)e->frame.bytes.data + e->fde;
    size_t size = read_record(remote, at, fde, sizeof fde);
    if (size < 2 * ID)
        return 0;
    __builtin_memcpy(&back, fde + ID, sizeof back);
    if (back < ID || back > e->fde + ID)
        return 0;
    size_t cie = read_record(remote, at + ID - back, copy->bytes, HALF);
    if (cie == 0)
        return 0;
    back = (uint32_t)cie + ID;
    __builtin_memcpy(fde + ID, &back, sizeof back);
    __builtin_memcpy(copy->bytes + cie, fde, size);
    /* The rest of a registry's section is always as here; theirs may be
     * anything. */
    *frame = (struct wndl_cfi_section){
        .bytes = {copy->bytes, cie + size},
        .addr = e->frame.addr + e->fde - cie,
        .text_base = e->frame.text_base,
        .data_base = e->frame.data_base,
        .address_size = WNDL_WORD,
    };
    return cie;
}

enum wndl_code_kind wndl_jit_remote_find(const struct wndl_remote *remote,
    uint64_t pc, struct wndl_code *code, struct wndl_jit_copy *copy)
{
    struct wndl_jit_entry e;
    struct wndl_jit_rule rule;
    struct wndl_fde fde;
    if (!find_entry(remote, pc, &e))
        return WNDL_CODE_NO_MODULE;
    code->start = e.start;
    code->frame = (struct wndl_cfi_section){.address_size = WNDL_WORD};
    if (e.rules != NULL) {
        if (!read_rule(remote, &e, pc - e.start, &rule))
            return WNDL_CODE_BAD;
        wndl_jit_row_of_rule(&code->row, &rule);
        return WNDL_CODE_ROW;
    }
    size_t at = read_fde(remote, &e, copy, &code->frame);
    if (at == 0 ||
        wndl_fde_parse(&code->frame, at, &fde, NULL, NULL) != WNDL_OK ||
        pc < fde.start || pc >= fde.end ||
        wndl_cfi_row_at(&code->frame, &fde, pc, &code->row, NULL) != WNDL_OK)
        return WNDL_CODE_BAD;
    return WNDL_CODE_ROW;
}
