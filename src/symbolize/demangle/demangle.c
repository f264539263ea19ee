/* SPDX-License-Identifier: MIT */
/*
 * demangle: our own readers, which have limits themselves, read C++ names,
 * those of Microsoft's compiler too; libiberty, with limits, the others, and
 * C++ names that ours does not read. A mangled name may refer back to its own
 * parts, so that a short one stands for an astronomically long one. Output of
 * libiberty therefore goes through a callback that stops the work by longjmp.
 * That is sound because the callback interfaces keep their state on the stack,
 * with one exception, see `collect`.
 */
#include "symbolize/demangle/demangle.h"

#include "symbolize/demangle/cxx.h"
#include "symbolize/demangle/msvc.h"

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

typedef int (*demangle_function)(const char *mangled, int options,
    demangle_callbackref callback, void *context);

static bool is_ascii(const char *text, size_t size)
{
    for (size_t i = 0; i < size; i++)
        if ((text[i] & 0x80) != 0)
            return false;
    return true;
}

/*
 * A piece that is not ASCII comes from a Rust identifier in punycode, which
 * is decoded in a heap block: to jump then would lose the block. Such a piece
 * is dropped and the next one jumps.
 */
static void collect_text(const char *text, size_t size, void *context)
{
    struct sink *sink = context;
    if (sink->text->size + size <= MAX_DEMANGLED)
        wndl_buf_add(sink->text, text, size);
    else if (is_ascii(text, size))
        longjmp(sink->enough, 1);
    else
        sink->text->size = MAX_DEMANGLED;
}

static bool run_callbacks(
    demangle_function demangle, const char *mangled, struct wndl_buf *text)
{
    struct sink sink = {.text = text};
    wndl_buf_clear(text);
    if (setjmp(sink.enough) != 0)
        return false;
    return demangle(mangled, STYLE, collect_text, &sink) != 0 &&
           text->size != 0 && text->size < MAX_DEMANGLED;
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

static int demangle_cplus(const char *mangled, int options,
    demangle_callbackref callback, void *context)
{
    if (strlen(mangled) <= MAX_UNLIMITED)
        options |= DMGL_NO_RECURSE_LIMIT;
    return cplus_demangle_v3_callback(mangled, options, callback, context);
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

/* The hash that ends a legacy name of Rust: "17h" and 16 digits. */
enum { LEGACY_HASH = 19 };

/* The marks after a Rust name, ".cold.llvm.123"; "" if there are none. */
static const char *rust_marks(const char *mangled)
{
    if (starts(mangled, "_R"))
        return mangled + strcspn(mangled, ".");
    for (const char *at = mangled; (at = strstr(at, "17h")) != NULL; at++)
        if (strnlen(at, LEGACY_HASH) == LEGACY_HASH &&
            starts(at + LEGACY_HASH, "E."))
            return at + LEGACY_HASH + 1;
    return "";
}

/*
 * Adds the clones as those of C++. ".llvm.N" is no clone: it makes the name of
 * a static function unique.
 */
static void add_rust_marks(const char *marks, struct wndl_buf *text)
{
    static const char before[] = " [clone ";
    static const char digits[] = "0123456789";
    while (*marks == '.') {
        size_t size = 1 + strcspn(marks + 1, ".");
        while (marks[size] == '.' && strspn(marks + size + 1, digits) != 0)
            size += 1 + strspn(marks + size + 1, digits);
        if (!starts(marks, ".llvm.")) {
            wndl_buf_add(text, before, sizeof before - 1);
            wndl_buf_add(text, marks, size);
            wndl_buf_add(text, "]", 1);
        }
        marks += size;
    }
}

static bool run_rust(const char *mangled, struct wndl_buf *text)
{
    if (!run_callbacks(rust_demangle_callback, mangled, text))
        return false;
    add_rust_marks(rust_marks(mangled), text);
    return true;
}

/*
 * Legacy Rust names are valid Itanium names too, so the Rust demangler is tried
 * first.
 */
static bool demangle_plain(const char *mangled, struct wndl_buf *text)
{
    if (mangled[0] == '?' || starts(mangled, ".?"))
        return run_msvc(mangled, text);
    if (starts(mangled, "_R"))
        return run_rust(mangled, text);
    if (starts(mangled, "_D"))
        return run_d(mangled, text);
    if (starts(mangled, "__Z") || starts(mangled, "___Z") ||
        starts(mangled, "____Z"))
        return run_cxx(mangled, text);
    if (!starts(mangled, "_Z") && !starts(mangled, "_GLOBAL_"))
        return false;
    return run_rust(mangled, text) || run_cxx(mangled, text) ||
           run_callbacks(demangle_cplus, mangled, text);
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
