/* SPDX-License-Identifier: MIT */
/*
 * demangle: our own readers, which have limits themselves, read names of C++,
 * those of Microsoft's compiler too, and of Rust; libiberty, with limits, those
 * of D, and C++ names that ours does not read. A mangled name may refer back to
 * its own parts, so that a short one stands for an astronomically long one.
 * Output of libiberty therefore goes through a callback that stops the work by
 * longjmp. That is sound because the callback interface keeps its state on the
 * stack.
 */
#include "symbolize/demangle/demangle.h"

#include "symbolize/demangle/cxx.h"
#include "symbolize/demangle/msvc.h"
#include "symbolize/demangle/rust.h"

#include <libiberty/demangle.h>
#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

enum {
    MAX_MANGLED = 16 * 1024,
    MAX_DEMANGLED = 64 * 1024,
    /*
     * libiberty refuses C++ names of more than some 1,000 characters, to limit
     * its own recursion; with up to this many it needs less than 1 MiB.
     */
    MAX_UNLIMITED = 4 * 1024,
    /* The largest size to which a D name can grow. */
    MAX_D_GROWTH = 16 * 1024 * 1024,
    STYLE = DMGL_PARAMS | DMGL_ANSI,
};

struct sink {
    struct wndl_buf *text;
    jmp_buf enough;
};

static void collect_text(const char *text, size_t size, void *context)
{
    struct sink *sink = context;
    if (sink->text->size + size > MAX_DEMANGLED)
        longjmp(sink->enough, 1);
    wndl_buf_add(sink->text, text, size);
}

/*
 * D has no callback interface. Each back reference ('Q') can at most double the
 * text.
 */
static bool run_d(const char *mangled, struct wndl_buf *text)
{
    uint64_t growth = strlen(mangled);
    for (const char *p = mangled; *p != '\0' && growth <= MAX_D_GROWTH; p++)
        growth <<= *p == 'Q';
    if (growth > MAX_D_GROWTH)
        return false;
    char *demangled = dlang_demangle(mangled, STYLE);
    if (demangled == NULL)
        return false;
    size_t size = strlen(demangled);
    wndl_buf_clear(text);
    if (size <= MAX_DEMANGLED)
        wndl_buf_add(text, demangled, size);
    free(demangled);
    return size != 0 && size <= MAX_DEMANGLED;
}

static bool starts(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* C++ by libiberty. */
static bool run_libiberty(const char *mangled, struct wndl_buf *text)
{
    struct sink sink = {.text = text};
    const int limit =
        strlen(mangled) <= MAX_UNLIMITED ? DMGL_NO_RECURSE_LIMIT : 0;
    wndl_buf_clear(text);
    if (setjmp(sink.enough) != 0)
        return false;
    const int is_read =
        cplus_demangle_v3_callback(mangled, STYLE | limit, collect_text, &sink);
    return is_read != 0 && text->size != 0 && text->size < MAX_DEMANGLED;
}

static bool run_msvc(const char *mangled, struct wndl_buf *text)
{
    struct wndl_bytes name = {(const uint8_t *)mangled, strlen(mangled)};
    return wndl_msvc_demangle(name, text) && text->size <= MAX_DEMANGLED;
}

static bool run_cxx(const char *mangled, struct wndl_buf *text)
{
    struct wndl_bytes name = {(const uint8_t *)mangled, strlen(mangled)};
    return wndl_cxx_demangle(name, MAX_DEMANGLED, text);
}

static bool run_rust(const char *mangled, struct wndl_buf *text)
{
    struct wndl_bytes name = {(const uint8_t *)mangled, strlen(mangled)};
    return wndl_rust_demangle(name, MAX_DEMANGLED, text);
}

/*
 * Old names of Rust are valid Itanium names too, so the reader of Rust's is
 * tried first. Apple's tools print names with one more underscore.
 */
static bool demangle_plain(const char *mangled, struct wndl_buf *text)
{
    if (mangled[0] == '?' || starts(mangled, ".?"))
        return run_msvc(mangled, text);
    if (starts(mangled, "_R"))
        return run_rust(mangled, text);
    if (starts(mangled, "__R"))
        return run_rust(mangled + 1, text);
    if (starts(mangled, "_D"))
        return run_d(mangled, text);
    if (starts(mangled, "__Z") || starts(mangled, "___Z") ||
        starts(mangled, "____Z"))
        return run_rust(mangled + 1, text) || run_cxx(mangled, text);
    if (!starts(mangled, "_Z") && !starts(mangled, "_GLOBAL_"))
        return false;
    return run_rust(mangled, text) || run_cxx(mangled, text) ||
           run_libiberty(mangled, text);
}

/*
 * "f@VERSION" and "f@@VERSION": the name without the version. Microsoft's
 * mangled names have many '@', so they are left as they are.
 */
static size_t unversioned_size(struct wndl_bytes name)
{
    const uint8_t *at = name.size == 0 || wndl_msvc_is_mangled(name)
                            ? NULL
                            : memchr(name.data, '@', name.size);
    return at == NULL || at == name.data ? name.size : (size_t)(at - name.data);
}

/* A unit of Haskell, OCaml or Pascal may also have names of other languages. */
static bool demangle_by(
    enum wndl_name_scheme scheme, const char *plain, struct wndl_buf *text)
{
    const struct wndl_bytes name = {(const uint8_t *)plain, strlen(plain)};
    return (wndl_unit_name_demangle(scheme, name, text) &&
               text->size <= MAX_DEMANGLED) ||
           demangle_plain(plain, text);
}

static const char *demangle_new(struct wndl_demangler *demangler,
    struct wndl_bytes name, enum wndl_name_scheme scheme)
{
    size_t size = unversioned_size(name);
    const char *plain = (const char *)name.data;
    if (size != name.size)
        plain = wndl_arena_copy(demangler->arena, name.data, size);
    if (plain == NULL || size > MAX_MANGLED)
        return plain;
    struct wndl_buf text;
    wndl_buf_init(&text, demangler->arena->mem);
    const char *result = plain;
    if (demangle_by(scheme, plain, &text))
        result = wndl_arena_copy(demangler->arena, text.data, text.size);
    if (text.failed)
        result = NULL;
    wndl_buf_free(&text);
    return result;
}

bool wndl_demangler_init(
    struct wndl_demangler *demangler, struct wndl_arena *arena)
{
    demangler->arena = arena;
    for (size_t i = 0; i < WNDL_NAME_SCHEMES; i++)
        wndl_vec_init(&demangler->results[i], arena, sizeof(const char *));
    return wndl_intern_init(&demangler->names, arena);
}

const char *wndl_demangle_in(
    struct wndl_demangler *demangler, struct wndl_bytes name, uint16_t language)
{
    uint32_t id;
    const enum wndl_name_scheme scheme = wndl_name_scheme_of(language);
    struct wndl_vec *results = &demangler->results[scheme];
    if (!wndl_intern_add(&demangler->names, name, &id))
        return NULL;
    while (results->len <= id)
        if (wndl_vec_push(results) == NULL)
            return NULL;
    const char **result = wndl_vec_at(results, id);
    if (*result == NULL)
        *result = demangle_new(
            demangler, wndl_intern_get(&demangler->names, id), scheme);
    return *result;
}

const char *wndl_demangle(
    struct wndl_demangler *demangler, struct wndl_bytes name)
{
    return wndl_demangle_in(demangler, name, 0);
}
