/* SPDX-License-Identifier: MIT */
#include "rt/heap/hook/imports.h"

#include "os/dlfind.h"
#include "os/raw.h"
#include "rt/core/rt.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { MOST_TRIES = 64 };

/* System V ABI supplements: relocations that hold the address of a symbol. */
#if defined(__x86_64__)
typedef ElfW(Rela) relocation;
enum { TABLE = DT_RELA, TABLE_SIZE = DT_RELASZ };
#define RELOCATION_SYMBOL ELF64_R_SYM
#define RELOCATION_TYPE ELF64_R_TYPE
enum {
    IN_DATA = R_X86_64_64,
    IN_GOT = R_X86_64_GLOB_DAT,
    IN_PLT = R_X86_64_JUMP_SLOT,
};
#elif defined(__aarch64__)
typedef ElfW(Rela) relocation;
enum { TABLE = DT_RELA, TABLE_SIZE = DT_RELASZ };
#define RELOCATION_SYMBOL ELF64_R_SYM
#define RELOCATION_TYPE ELF64_R_TYPE
enum {
    IN_DATA = R_AARCH64_ABS64,
    IN_GOT = R_AARCH64_GLOB_DAT,
    IN_PLT = R_AARCH64_JUMP_SLOT,
};
#else
typedef ElfW(Rel) relocation;
enum { TABLE = DT_REL, TABLE_SIZE = DT_RELSZ };
#define RELOCATION_SYMBOL ELF32_R_SYM
#define RELOCATION_TYPE ELF32_R_TYPE
#ifdef __arm__
enum {
    IN_DATA = R_ARM_ABS32,
    IN_GOT = R_ARM_GLOB_DAT,
    IN_PLT = R_ARM_JUMP_SLOT,
};
#else
enum {
    IN_DATA = R_386_32,
    IN_GOT = R_386_GLOB_DAT,
    IN_PLT = R_386_JMP_SLOT,
};
#endif
#endif

/* The loader's data for debuggers. */
static const struct r_debug *debug;

static const struct wndl_rt_import *imports;
static size_t import_count;

/* Modules are appended to the loader's list: those after this are new. */
static _Atomic(const struct link_map *) last;
static atomic_flag at_work = ATOMIC_FLAG_INIT;
static _Atomic unsigned unloading;

/* A module that is being loaded is listed before it is relocated. */
static unsigned tries;

/* ---- functions to redirect */

bool wndl_rt_is_stub(const void *function)
{
    Dl_info info;
    const ElfW(Sym) *symbol = NULL;
    return function != NULL &&
           dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) != 0 &&
           symbol != NULL && symbol->st_shndx == SHN_UNDEF;
}

/* The function that all modules import, though a stub of it may precede it. */
static void *first_of(const char *name)
{
    void *first = dlsym(RTLD_DEFAULT, name);
    return wndl_rt_is_stub(first) ? dlsym(RTLD_NEXT, name) : first;
}

size_t wndl_rt_imports_find(const struct wndl_dlmodule *allocator,
    struct wndl_rt_extra *extras, size_t count, struct wndl_rt_import *found)
{
    size_t found_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct wndl_dlmodule module;
        void *first = first_of(extras[i].name);
        if (first == NULL || !wndl_dlfind((uintptr_t)first, &module) ||
            module.map_start != allocator->map_start)
            continue;
        extras[i].real = first;
        found[found_count++] = (struct wndl_rt_import){
            extras[i].name, first, extras[i].entry, true};
    }
    return found_count;
}

/* ---- one module */

struct module {
    uintptr_t bias, start, end;
    uintptr_t fixed, fixed_end; /* read-only after relocation */
    const ElfW(Dyn) * dynamic;
};

static struct module module_of(const struct dl_phdr_info *info)
{
    struct module m = {.bias = info->dlpi_addr, .start = UINTPTR_MAX};
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        uintptr_t start = m.bias + p->p_vaddr;
        uintptr_t end = start + p->p_memsz;
        if (p->p_type == PT_LOAD) {
            m.start = start < m.start ? start : m.start;
            m.end = end > m.end ? end : m.end;
        } else if (p->p_type == PT_DYNAMIC) {
            m.dynamic = (const void *)start;
        } else if (p->p_type == PT_GNU_RELRO) {
            m.fixed = start & ~(uintptr_t)(WNDL_RT_PAGE - 1);
            m.fixed_end = end & ~(uintptr_t)(WNDL_RT_PAGE - 1);
        }
    }
    return m;
}

static uintptr_t entry_of(const struct module *m, ElfW(Sxword) tag)
{
    for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == tag)
            return d->d_un.d_val;
    }
    return 0;
}

/* Whether it imports what it defines from itself. */
static bool is_symbolic(const struct module *m)
{
    for (const ElfW(Dyn) *d = m->dynamic; d->d_tag != DT_NULL; d++) {
        if (d->d_tag == DT_SYMBOLIC)
            return true;
    }
    return (entry_of(m, DT_FLAGS) & DF_SYMBOLIC) != 0;
}

/* The loader has relocated the addresses in most, not in the vDSO's. */
static const void *table_of(const struct module *m, ElfW(Sxword) tag)
{
    uintptr_t at = entry_of(m, tag);
    if (at == 0)
        return NULL;
    return (const void *)(at < m->bias ? at + m->bias : at);
}

/* Tries to add 0 to the slot. If that is impossible, it is not known. */
static bool is_read_only(void **slot)
{
    enum { WAKE_OP_PRIVATE = 5 | 128, ADD = 1 << 28 };
    const long a[] = {(long)slot, WAKE_OP_PRIVATE, 0, 0};
    return wndl_raw6(SYS_futex, a, (long)slot, ADD) == -EFAULT;
}

/*
 * False: not now. Memory that will be read-only is still writable while the
 * loader, which calls malloc, relocates it. It is left to the loader until
 * then.
 */
static bool set(const struct module *m, void **slot, void *value)
{
    uintptr_t page = (uintptr_t)slot & ~(uintptr_t)(WNDL_RT_PAGE - 1);
    bool is_fixed = page >= m->fixed && page < m->fixed_end;
    if (is_fixed && !is_read_only(slot)) {
        if (tries + 1 < MOST_TRIES)
            return false;
        if (wndl_rt_is_careful())
            return true;  /* its sandbox may prevent the check */
        is_fixed = false; /* and will never be */
    }
    if (is_fixed && wndl_raw3(SYS_mprotect, (long)page, WNDL_RT_PAGE,
                        PROT_READ | PROT_WRITE) != 0)
        return true;
    __atomic_store_n(slot, value, __ATOMIC_RELAXED);
    if (is_fixed)
        (void)wndl_raw3(SYS_mprotect, (long)page, WNDL_RT_PAGE, PROT_READ);
    return true;
}

/*
 * False: it is not yet relocated. A slot with another target is left as it is,
 * and so is an unbound one for which a module will import its own.
 */
static bool lead(const struct module *m, void **slot, bool is_own,
    const struct wndl_rt_import *import)
{
    uintptr_t now = (uintptr_t)__atomic_load_n(slot, __ATOMIC_RELAXED);
    bool is_lazy = now >= m->start && now < m->end;
    bool is_ready = now >= m->end - m->bias;
    if (now == (uintptr_t)import->theirs || (is_lazy && !is_own))
        return set(m, slot, import->ours);
    return is_ready || is_lazy;
}

static const struct wndl_rt_import *import_of(const char *name)
{
    for (size_t i = 0; i < import_count; i++) {
        if (strcmp(name, imports[i].name) == 0 && imports[i].theirs != NULL)
            return &imports[i];
    }
    return NULL;
}

static bool is_kept(const struct module *m, const struct wndl_rt_import *import)
{
    uintptr_t theirs = (uintptr_t)import->theirs;
    return import->outside && theirs >= m->start && theirs < m->end;
}

struct relocations {
    const relocation *all;
    size_t count;
};

static bool lead_all(const struct module *m, struct relocations table)
{
    const ElfW(Sym) *symbols = table_of(m, DT_SYMTAB);
    const char *names = table_of(m, DT_STRTAB);
    bool done = true;
    if (symbols == NULL || names == NULL || table.all == NULL)
        return true;
    for (size_t i = 0; i < table.count; i++) {
        const relocation *r = &table.all[i];
        unsigned type = RELOCATION_TYPE(r->r_info);
        size_t symbol = RELOCATION_SYMBOL(r->r_info);
        if (symbol == 0 ||
            (type != IN_DATA && type != IN_GOT && type != IN_PLT))
            continue;
        const struct wndl_rt_import *import =
            import_of(names + symbols[symbol].st_name);
        bool is_own = symbols[symbol].st_shndx != SHN_UNDEF && is_symbolic(m);
        if (import != NULL && !is_kept(m, import))
            done = lead(m, (void **)(m->bias + r->r_offset), is_own, import) &&
                   done;
    }
    return done;
}

/* The list does not change while its lock is held, as it is during visits. */
static const struct link_map *end_of_list(void)
{
    const struct link_map *m = debug->r_map;
    while (m != NULL && m->l_next != NULL)
        m = m->l_next;
    return m;
}

struct round {
    const struct link_map *end;
    bool done;
};

/* Our functions must not be redirected to themselves. */
static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    (void)size;
    struct round *round = context;
    struct module m = module_of(info);
    uintptr_t ours = (uintptr_t)imports[0].ours;
    if (round->end == NULL)
        round->end = end_of_list();
    if (m.dynamic == NULL || (ours >= m.start && ours < m.end))
        return 0;
    const struct relocations tables[] = {
        {table_of(&m, TABLE), entry_of(&m, TABLE_SIZE) / sizeof(relocation)},
        {table_of(&m, DT_JMPREL),
            entry_of(&m, DT_PLTRELSZ) / sizeof(relocation)},
    };
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        round->done = lead_all(&m, tables[i]) && round->done;
    return 0;
}

/* ---- all modules */

static void lead_modules(void)
{
    struct round round = {.done = true};
    if (atomic_flag_test_and_set_explicit(&at_work, memory_order_acquire))
        return;
    (void)dl_iterate_phdr(visit, &round);
    tries = round.done ? 0 : tries + 1;
    if (tries == 0 || tries >= MOST_TRIES) {
        tries = 0;
        if (atomic_load(&unloading) == 0)
            atomic_store_explicit(&last, round.end, memory_order_release);
    }
    atomic_flag_clear_explicit(&at_work, memory_order_release);
}

void wndl_rt_imports_lead(const struct wndl_rt_import *list, size_t count)
{
    debug = dlsym(RTLD_DEFAULT, "_r_debug");
    if (debug == NULL)
        return;
    import_count = count;
    imports = list;
    lead_modules();
}

bool wndl_rt_imports_follow(void)
{
    const struct link_map *end =
        atomic_load_explicit(&last, memory_order_acquire);
    if (imports == NULL || (end != NULL && end->l_next == NULL) ||
        atomic_load_explicit(&unloading, memory_order_relaxed) != 0 ||
        debug->r_state != RT_CONSISTENT) /* more will be loaded */
        return false;
    lead_modules();
    return true;
}

void wndl_rt_imports_after_fork(void)
{
    atomic_flag_clear(&at_work);
    atomic_store(&unloading, 0);
    atomic_store(&last, NULL);
}

void wndl_rt_imports_unload(bool begins)
{
    /* A destructor may have forked. The child begins without unloads. */
    if (begins)
        atomic_fetch_add(&unloading, 1);
    else if (atomic_load(&unloading) != 0)
        atomic_fetch_sub(&unloading, 1);
    atomic_store(&last, NULL);
}
