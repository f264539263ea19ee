/* SPDX-License-Identifier: MIT */
/*
 * Pieces of text, and whole symbols: a function, a variable, or a symbol made
 * by the compiler.
 */
#include "symbolize/demangle/msvc_internal.h"

#include <ctype.h>
#include <stdarg.h>
#include <string.h>

#define make wndl_msvc_make
#define take wndl_msvc_take
#define peek wndl_msvc_peek

enum {
    POOL_LIMIT = 4 << 20,
    DEEPEST = 256, /* less than 1 MiB of stack */
};

/* ---- reading */

char wndl_msvc_peek(const struct wndl_msvc *m, size_t i)
{
    return i < wndl_cursor_left(&m->c) ? (char)m->c.next[i] : '\0';
}

bool wndl_msvc_take(struct wndl_msvc *m, const char *text)
{
    size_t size = 0;
    for (; text[size] != '\0'; size++)
        if (peek(m, size) != text[size])
            return false;
    wndl_cursor_skip(&m->c, size);
    return true;
}

struct wndl_msvc_text wndl_msvc_fail(struct wndl_msvc *m)
{
    wndl_cursor_fail(&m->c);
    return (struct wndl_msvc_text){0};
}

bool wndl_msvc_enter(struct wndl_msvc *m)
{
    if (m->depth == DEEPEST || m->c.failed) {
        wndl_msvc_fail(m);
        return false;
    }
    m->depth++;
    return true;
}

/* A digit stands for the next number; others are in base 16, 'A' for 0, up to
 * an '@'. */
struct wndl_msvc_number wndl_msvc_take_number(struct wndl_msvc *m)
{
    struct wndl_msvc_number number = {.is_negative = take(m, "?")};
    uint8_t letter = wndl_cursor_u8(&m->c);
    if (letter >= '0' && letter <= '9') {
        number.value = letter - (uint64_t)'0' + 1;
        return number;
    }
    for (; letter >= 'A' && letter <= 'P'; letter = wndl_cursor_u8(&m->c))
        number.value = number.value << 4 | (letter - (unsigned)'A');
    if (letter != '@')
        wndl_msvc_fail(m);
    return number;
}

/* ---- text */

bool wndl_msvc_has_room(const struct wndl_msvc *m, size_t size)
{
    const size_t used = m->pool->size;
    return used <= POOL_LIMIT && size <= POOL_LIMIT - used;
}

static void put(struct wndl_buf *pool, struct wndl_msvc_text text)
{
    if (text.size != 0)
        wndl_buf_add(pool, pool->data + text.at, text.size);
}

static void put_space(struct wndl_buf *pool, size_t start)
{
    uint8_t last = pool->size == start ? 0 : pool->data[pool->size - 1];
    if (isalnum(last) || last == '>')
        wndl_buf_byte(pool, ' ');
}

/* All the room that is needed is made first, so that nothing moves. */
struct wndl_msvc_text wndl_msvc_make(
    struct wndl_msvc *m, const char *pattern, ...)
{
    va_list list;
    struct wndl_buf *pool = m->pool;
    size_t size = strlen(pattern);
    va_start(list, pattern);
    for (const char *p = pattern; *p != '\0'; p++)
        if (*p == '$')
            size += va_arg(list, struct wndl_msvc_text).size;
    va_end(list);
    if (m->c.failed || !wndl_msvc_has_room(m, size) ||
        wndl_buf_reserve(pool, size) == NULL)
        return wndl_msvc_fail(m);
    size_t start = pool->size;
    va_start(list, pattern);
    for (const char *p = pattern; *p != '\0'; p++)
        if (*p == '$')
            put(pool, va_arg(list, struct wndl_msvc_text));
        else if (*p == '#')
            put_space(pool, start);
        else
            wndl_buf_byte(pool, (uint8_t)*p);
    va_end(list);
    return (struct wndl_msvc_text){
        (uint32_t)start, (uint32_t)(pool->size - start)};
}

static struct wndl_msvc_text put_number(
    struct wndl_msvc *m, bool is_negative, uint64_t value)
{
    enum { LONGEST = 24 };
    size_t start = m->pool->size;
    if (m->c.failed || !wndl_msvc_has_room(m, LONGEST))
        return wndl_msvc_fail(m);
    if (is_negative)
        wndl_buf_byte(m->pool, '-');
    wndl_buf_decimal(m->pool, value);
    if (m->pool->failed)
        return wndl_msvc_fail(m);
    return (struct wndl_msvc_text){
        (uint32_t)start, (uint32_t)(m->pool->size - start)};
}

struct wndl_msvc_text wndl_msvc_number(struct wndl_msvc *m)
{
    struct wndl_msvc_number number = wndl_msvc_take_number(m);
    return put_number(m, number.is_negative, number.value);
}

/* ---- functions */

/*
 * "A" to "X": private, protected, public; each has two letters for plain,
 * static, virtual, and virtual through another base.
 */
struct function_class {
    const char *access;
    bool is_free;
    bool is_static;
    bool is_virtual;
    bool is_plain_c; /* its parameters are not written */
    enum { NO_ADJUSTMENT, FIXED, OF_BASE, OF_BASES_BASE } adjustment;
};

static const char *const accesses[] = {"private: ", "protected: ", "public: "};

static struct function_class take_class(struct wndl_msvc *m)
{
    struct function_class class = {.access = ""};
    if (take(m, "$")) {
        class.adjustment = take(m, "R") ? OF_BASES_BASE : OF_BASE;
        unsigned which = wndl_cursor_u8(&m->c) - (unsigned)'0';
        class.is_virtual = true;
        if (which > 5)
            wndl_msvc_fail(m);
        else
            class.access = accesses[which / 2];
        return class;
    }
    uint8_t letter = wndl_cursor_u8(&m->c);
    unsigned which = letter - (unsigned)'A';
    if (which < 24) {
        unsigned form = which % 8 / 2;
        class.access = accesses[which / 8];
        class.is_static = form == 1;
        class.is_virtual = form >= 2;
        class.adjustment = form == 3 ? FIXED : NO_ADJUSTMENT;
    } else if (letter == 'Y' || letter == 'Z') {
        class.is_free = true;
    } else if (letter == '9') {
        class.is_plain_c = true;
    } else {
        wndl_msvc_fail(m);
    }
    return class;
}

/* Takes a distance, a number of 32 bits. */
static struct wndl_msvc_text distance(struct wndl_msvc *m)
{
    struct wndl_msvc_number number = wndl_msvc_take_number(m);
    uint32_t value = (uint32_t)number.value;
    if (number.is_negative)
        value = 0 - value;
    bool is_below = value > INT32_MAX;
    return put_number(m, is_below, is_below ? 0 - value : value);
}

static struct wndl_msvc_text take_adjustment(
    struct wndl_msvc *m, const struct function_class *class)
{
    static const char *const patterns[] = {
        "", "`adjustor{$}'", "`vtordisp{$, $}'", "`vtordispex{$, $, $, $}'"};
    static const unsigned counts[] = {0, 1, 2, 4};
    struct wndl_msvc_text numbers[4] = {0};
    for (unsigned i = 0; i < counts[class->adjustment]; i++)
        numbers[i] = distance(m);
    return make(m, patterns[class->adjustment], numbers[0], numbers[1],
        numbers[2], numbers[3]);
}

static struct wndl_msvc_text head_of(struct wndl_msvc *m,
    const struct function_class *class, bool is_c,
    const struct wndl_msvc_signature *s)
{
    struct wndl_msvc_text thunk =
        make(m, class->adjustment != NO_ADJUSTMENT ? "[thunk]: " : "");
    if (!m->is_whole)
        return thunk;
    struct wndl_msvc_text result = {0};
    if (s->has_result)
        result = make(m, "$ ", s->result.before);
    return make(m, "$$$$$$#$", thunk, make(m, class->access),
        make(m, class->is_static ? "static " : ""),
        make(m, class->is_virtual ? "virtual " : ""),
        make(m, is_c ? "extern \"C\" " : ""), result, s->convention);
}

/* A conversion's name is the type that it returns. */
static void name_conversion(struct wndl_msvc *m, struct wndl_msvc_part *name,
    const struct wndl_msvc_signature *s)
{
    if (name->kind != WNDL_MSVC_CONVERSION)
        return;
    name->text = make(m, "$$ $", name->text, name->arguments,
        wndl_msvc_type_text(m, &s->result));
    name->arguments = (struct wndl_msvc_text){0};
}

static struct wndl_msvc_text function(
    struct wndl_msvc *m, struct wndl_msvc_name *name)
{
    struct wndl_msvc_signature s = {0};
    bool is_c = take(m, "$$J0");
    struct function_class class = take_class(m);
    struct wndl_msvc_text adjustment = take_adjustment(m, &class);
    if (!class.is_plain_c)
        s = wndl_msvc_signature(m, !class.is_free && !class.is_static);
    name_conversion(m, &name->last, &s);
    struct wndl_msvc_text head =
        head_of(m, &class, is_c || class.is_plain_c, &s);
    struct wndl_msvc_text after = {0};
    if (m->is_whole)
        after = s.result.after;
    return make(m, "$#$$$$", head, wndl_msvc_name_text(m, name), adjustment,
        s.after, after);
}

/* ---- variables */

static struct wndl_msvc_text variable(
    struct wndl_msvc *m, const struct wndl_msvc_name *name)
{
    unsigned which = wndl_cursor_u8(&m->c) - (unsigned)'0';
    struct wndl_msvc_type type = wndl_msvc_type(m, 0);
    bool is_pointer =
        type.kind == WNDL_MSVC_POINTER || type.kind == WNDL_MSVC_MEMBER_POINTER;
    if (is_pointer)
        (void)wndl_msvc_more_qualifiers(m);
    unsigned qualifiers = wndl_msvc_qualifiers(m);
    if (type.kind == WNDL_MSVC_MEMBER_POINTER)
        (void)wndl_msvc_type_name(m);
    if (is_pointer || type.kind == WNDL_MSVC_FUNCTION)
        qualifiers = 0;
    bool is_member = m->is_whole && which < 3;
    return make(m, "$$$$#$$", make(m, is_member ? accesses[which] : ""),
        make(m, is_member ? "static " : ""), type.before,
        wndl_msvc_qualifier_text(m, qualifiers, true),
        wndl_msvc_name_text(m, name), type.after);
}

/* ---- symbols made by the compiler */

static struct wndl_msvc_part part(struct wndl_msvc_text text)
{
    return (struct wndl_msvc_part){.text = text};
}

/* Tables of virtual functions or bases. */
static struct wndl_msvc_text table(struct wndl_msvc *m, const char *called)
{
    struct wndl_msvc_name name = wndl_msvc_scopes(m, part(make(m, called)));
    uint8_t kind = wndl_cursor_u8(&m->c);
    if (kind != '6' && kind != '7')
        return wndl_msvc_fail(m);
    unsigned qualifiers = wndl_msvc_qualifiers(m);
    struct wndl_msvc_text target = {0};
    if (!take(m, "@"))
        target = make(m, "{for `$'}", wndl_msvc_type_name(m));
    struct wndl_msvc_text words =
        wndl_msvc_qualifier_text(m, qualifiers, false);
    return make(m, words.size == 0 ? "$$$" : "$ $$", words,
        wndl_msvc_name_text(m, &name), target);
}

static struct wndl_msvc_text untyped(
    struct wndl_msvc *m, struct wndl_msvc_text called)
{
    struct wndl_msvc_name name = wndl_msvc_scopes(m, part(called));
    return take(m, "8") ? wndl_msvc_name_text(m, &name) : wndl_msvc_fail(m);
}

static struct wndl_msvc_text type_descriptor(struct wndl_msvc *m)
{
    struct wndl_msvc_type type = wndl_msvc_result(m);
    if (!take(m, "@8"))
        return wndl_msvc_fail(m);
    return make(m, "$#`RTTI Type Descriptor'$", type.before, type.after);
}

static struct wndl_msvc_text base_class(struct wndl_msvc *m)
{
    struct wndl_msvc_text numbers[4];
    for (size_t i = 0; i < 4; i++)
        numbers[i] = wndl_msvc_number(m);
    return untyped(m, make(m, "`RTTI Base Class Descriptor at ($, $, $, $)'",
                          numbers[0], numbers[1], numbers[2], numbers[3]));
}

static struct wndl_msvc_text virtual_call(struct wndl_msvc *m)
{
    struct wndl_msvc_name name = wndl_msvc_scopes(m, part(make(m, "`vcall'")));
    if (!take(m, "$B"))
        return wndl_msvc_fail(m);
    struct wndl_msvc_text offset = wndl_msvc_number(m);
    static const struct wndl_msvc_text none;
    struct wndl_msvc_text how = none;
    if (take(m, "AE"))
        how = make(m, "__thiscall ");
    else if (take(m, "AA"))
        how = make(m, "__cdecl ");
    else
        return wndl_msvc_fail(m);
    return make(m, "[thunk]: $${$, {flat}}", m->is_whole ? how : none,
        wndl_msvc_name_text(m, &name), offset);
}

static struct wndl_msvc_text guard(struct wndl_msvc *m, const char *called)
{
    struct wndl_msvc_name name = wndl_msvc_scopes(m, part(make(m, called)));
    struct wndl_msvc_text text = wndl_msvc_name_text(m, &name);
    if (take(m, "4IA"))
        return text;
    if (!take(m, "5"))
        return wndl_msvc_fail(m);
    return wndl_cursor_left(&m->c) == 0
               ? text
               : make(m, "${$}", text, wndl_msvc_number(m));
}

/*
 * Code that runs before and after main for a variable. Old versions of clang
 * left out some of the marks around it.
 */
static struct wndl_msvc_text initializer(
    struct wndl_msvc *m, const char *pattern)
{
    bool is_marked = take(m, "?");
    struct wndl_msvc_name of = wndl_msvc_symbol_name(m);
    struct wndl_msvc_text target;
    if (peek(m, 0) >= '0' && peek(m, 0) <= '4') {
        target = make(m, "`$''", variable(m, &of));
        if (!take(m, is_marked ? "@@" : "@"))
            return wndl_msvc_fail(m);
    } else {
        target = make(m, "'$''", wndl_msvc_name_text(m, &of));
    }
    struct wndl_msvc_name name = {.last = part(make(m, pattern, target))};
    return function(m, &name);
}

static bool is_made(struct wndl_msvc *m, struct wndl_msvc_text *text)
{
    if (take(m, "?_7"))
        *text = table(m, "`vftable'");
    else if (take(m, "?_8"))
        *text = table(m, "`vbtable'");
    else if (take(m, "?_S"))
        *text = table(m, "`local vftable'");
    else if (take(m, "?_R4"))
        *text = table(m, "`RTTI Complete Object Locator'");
    else if (take(m, "?_R0"))
        *text = type_descriptor(m);
    else if (take(m, "?_R1"))
        *text = base_class(m);
    else if (take(m, "?_R2"))
        *text = untyped(m, make(m, "`RTTI Base Class Array'"));
    else if (take(m, "?_R3"))
        *text = untyped(m, make(m, "`RTTI Class Hierarchy Descriptor'"));
    else if (take(m, "?_9"))
        *text = virtual_call(m);
    else if (take(m, "?_B"))
        *text = guard(m, "`local static guard'");
    else if (take(m, "?__J"))
        *text = guard(m, "`local static thread guard'");
    else if (take(m, "?__E"))
        *text = initializer(m, "`dynamic initializer for $");
    else if (take(m, "?__F"))
        *text = initializer(m, "`dynamic atexit destructor for $");
    else
        return false;
    return true;
}

/* ---- whole symbols */

struct wndl_msvc_symbol wndl_msvc_symbol(struct wndl_msvc *m)
{
    struct wndl_msvc_symbol symbol = {0};
    if (!wndl_msvc_enter(m))
        return symbol;
    if (!take(m, "?")) {
        wndl_msvc_fail(m);
    } else if (!is_made(m, &symbol.text)) {
        struct wndl_msvc_name name = wndl_msvc_symbol_name(m);
        bool is_variable = peek(m, 0) >= '0' && peek(m, 0) <= '4';
        symbol.text = is_variable ? variable(m, &name) : function(m, &name);
        symbol.last = make(m, "$$", name.last.text, name.last.arguments);
    }
    m->depth--;
    return symbol;
}

static struct wndl_msvc_text type_info(struct wndl_msvc *m)
{
    struct wndl_msvc_type type = wndl_msvc_result(m);
    if (wndl_cursor_left(&m->c) != 0)
        return wndl_msvc_fail(m);
    return make(
        m, "$ `RTTI Type Descriptor Name'", wndl_msvc_type_text(m, &type));
}

bool wndl_msvc_is_mangled(struct wndl_bytes name)
{
    return name.size > 1 && (name.data[0] == '?' ||
                                (name.data[0] == '.' && name.data[1] == '?'));
}

bool wndl_msvc_run(struct wndl_msvc *m, struct wndl_bytes name)
{
    struct wndl_buf *text = m->pool;
    m->c = wndl_cursor_at(name, 0, false);
    m->memory.name_count = m->memory.type_count = 0;
    wndl_buf_clear(text);
    bool was_clangs = m->is_clangs;
    struct wndl_msvc_text result =
        take(m, ".") ? type_info(m) : wndl_msvc_symbol(m).text;
    if (m->is_clangs && !was_clangs)
        return wndl_msvc_run(m, name);
    if (m->c.failed || text->failed || result.size == 0)
        return false;
    memmove(text->data, text->data + result.at, result.size);
    text->size = result.size;
    return true;
}

bool wndl_msvc_demangle(struct wndl_bytes name, struct wndl_buf *text)
{
    struct wndl_msvc m = {.pool = text};
    return wndl_msvc_run(&m, name);
}
