/* SPDX-License-Identifier: MIT */
/* Names: scopes, templates and their arguments, operators. */
#include "symbolize/demangle/msvc_internal.h"

#include <string.h>

#define make wndl_msvc_make
#define take wndl_msvc_take
#define peek wndl_msvc_peek

static struct wndl_msvc_part part_of(
    enum wndl_msvc_name_kind kind, struct wndl_msvc_text text)
{
    return (struct wndl_msvc_part){.kind = kind, .text = text};
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* ---- simple names */

static bool is_same(
    const struct wndl_msvc *m, struct wndl_msvc_text a, struct wndl_msvc_text b)
{
    const uint8_t *pool = m->pool->data;
    return a.size == b.size && memcmp(pool + a.at, pool + b.at, a.size) == 0;
}

static void remember(struct wndl_msvc *m, struct wndl_msvc_text name)
{
    struct wndl_msvc_memory *memory = &m->memory;
    if (memory->name_count == WNDL_MSVC_REMEMBERED || name.size == 0)
        return;
    for (uint32_t i = 0; i < memory->name_count; i++)
        if (is_same(m, memory->names[i], name))
            return;
    memory->names[memory->name_count++] = name;
}

static struct wndl_msvc_text remembered(struct wndl_msvc *m)
{
    unsigned which = wndl_cursor_u8(&m->c) - (unsigned)'0';
    return which < m->memory.name_count ? m->memory.names[which]
                                        : wndl_msvc_fail(m);
}

/* Up to an '@'. */
static struct wndl_msvc_text word(struct wndl_msvc *m)
{
    const uint8_t *end = memchr(m->c.next, '@', wndl_cursor_left(&m->c));
    if (end == NULL || end == m->c.next ||
        !wndl_msvc_has_room(m, (size_t)(end - m->c.next)))
        return wndl_msvc_fail(m);
    struct wndl_msvc_text text = {(uint32_t)m->pool->size, 0};
    text.size = (uint32_t)(end - m->c.next);
    wndl_buf_add(m->pool, m->c.next, text.size);
    wndl_cursor_skip(&m->c, text.size + UINT64_C(1));
    return m->pool->failed ? wndl_msvc_fail(m) : text;
}

static struct wndl_msvc_text simple_name(struct wndl_msvc *m)
{
    struct wndl_msvc_text name = word(m);
    remember(m, name);
    return name;
}

/* ---- operators */

/* "?__K" is followed by a word. */
static const char *name_of_operator(struct wndl_msvc *m)
{
    static const char *const plain[] = {"", "", "operator new",
        "operator delete", "operator=", "operator>>", "operator<<", "operator!",
        "operator==", "operator!=", "operator[]", "", "operator->", "operator*",
        "operator++", "operator--", "operator-", "operator+", "operator&",
        "operator->*", "operator/", "operator%", "operator<",
        "operator<=", "operator>", "operator>=", "operator,", "operator()",
        "operator~", "operator^", "operator|", "operator&&", "operator||",
        "operator*=", "operator+=", "operator-="};
    static const char *const later[] = {
        "operator/=", "operator%=", "operator>>=", "operator<<=", "operator&=",
        "operator|=", "operator^=", "", "", "", "", "", "", "`vbase dtor'",
        "`vector deleting dtor'", "`default ctor closure'",
        "`scalar deleting dtor'", "`vector ctor iterator'",
        "`vector dtor iterator'", "`vector vbase ctor iterator'",
        "`virtual displacement map'", "`eh vector ctor iterator'",
        "`eh vector dtor iterator'", "`eh vector vbase ctor iterator'",
        "`copy ctor closure'", "", "", "", "", "`local vftable ctor closure'",
        "operator new[]", "operator delete[]", "", "", "", ""};
    static const char *const last[] = {"`managed vector ctor iterator'",
        "`managed vector dtor iterator'", "`EH vector copy ctor iterator'",
        "`EH vector vbase copy ctor iterator'", "", "",
        "`vector copy ctor iterator'",
        "`vector vbase copy constructor iterator'",
        "`managed vector vbase copy constructor iterator'", "", "",
        "operator co_await", "operator<=>"};
    bool is_last = take(m, "__");
    bool is_later = !is_last && take(m, "_");
    unsigned letter = wndl_cursor_u8(&m->c);
    unsigned which = is_digit((char)letter) ? letter - (unsigned)'0'
                     : letter >= 'A'        ? letter - (unsigned)'A' + 10
                                            : UINT8_MAX;
    if (is_last)
        return which >= 10 && which - 10 < sizeof last / sizeof *last
                   ? last[which - 10]
                   : "";
    if (which >= sizeof plain / sizeof *plain)
        return "";
    return is_later ? later[which] : plain[which];
}

/* After its '?'. */
static struct wndl_msvc_part operator_name(struct wndl_msvc *m)
{
    static const struct wndl_msvc_text none;
    if (take(m, "0"))
        return part_of(WNDL_MSVC_CONSTRUCTOR, none);
    if (take(m, "1"))
        return part_of(WNDL_MSVC_DESTRUCTOR, none);
    if (take(m, "B"))
        return part_of(WNDL_MSVC_CONVERSION, make(m, "operator"));
    if (take(m, "__K"))
        return part_of(WNDL_MSVC_NAME, make(m, "operator \"\"$", word(m)));
    const char *name = name_of_operator(m);
    return part_of(
        WNDL_MSVC_NAME, name[0] == '\0' ? wndl_msvc_fail(m) : make(m, name));
}

/* ---- templates */

/* "&f": numbers follow if the class has more than single inheritance. */
static struct wndl_msvc_text address_of(struct wndl_msvc *m)
{
    uint8_t kind = wndl_cursor_u8(&m->c);
    unsigned numbers = kind == '1' ? 0 : kind - (unsigned)'G';
    struct wndl_msvc_symbol symbol = {0};
    if (peek(m, 0) == '?') {
        symbol = wndl_msvc_symbol(m);
        remember(m, symbol.last);
    }
    if (numbers == 0)
        return make(m, "&$", symbol.text);
    struct wndl_msvc_text list = symbol.text;
    for (unsigned i = 0; i < numbers; i++)
        list =
            make(m, list.size == 0 ? "$$" : "$, $", list, wndl_msvc_number(m));
    return make(m, "{$}", list);
}

/* Offsets of data members; of virtual bases' there is a third number. */
static struct wndl_msvc_text offsets(struct wndl_msvc *m)
{
    struct wndl_msvc_text list = {0};
    unsigned numbers = wndl_cursor_u8(&m->c) == 'G' ? 3 : 2;
    for (unsigned i = 0; i < numbers; i++)
        list = make(m, i == 0 ? "$$" : "$, $", list, wndl_msvc_number(m));
    return make(m, "{$}", list);
}

static struct wndl_msvc_text type_argument(
    struct wndl_msvc *m, unsigned qualifiers)
{
    struct wndl_msvc_type type = wndl_msvc_type(m, qualifiers);
    return wndl_msvc_type_text(m, &type);
}

/*
 * For a parameter declared auto, the type comes first, and values have no '$'.
 */
static struct wndl_msvc_text argument(struct wndl_msvc *m)
{
    bool is_value = take(m, "$M");
    if (is_value)
        (void)wndl_msvc_type(m, 0);
    if (take(m, "$$Y"))
        return wndl_msvc_type_name(m);
    if (take(m, "$$B"))
        return type_argument(m, 0);
    if (take(m, "$$C"))
        return type_argument(m, wndl_msvc_qualifiers(m));
    size_t at = is_value ? 0 : 1;
    char letter = peek(m, 0) == '$' || is_value ? peek(m, at) : '\0';
    if (letter == '\0' || strchr("1HIJFG0E", letter) == NULL ||
        (letter == 'E' && peek(m, at + 1) != '?'))
        return type_argument(m, 0);
    wndl_cursor_skip(&m->c, at + (letter == '0' || letter == 'E'));
    if (letter == '0')
        return wndl_msvc_number(m);
    if (letter == 'E')
        return wndl_msvc_symbol(m).text;
    return letter == 'F' || letter == 'G' ? offsets(m) : address_of(m);
}

/* Up to an '@'; ends of packs are in between. */
static struct wndl_msvc_text arguments(struct wndl_msvc *m)
{
    struct wndl_msvc_text list = {0};
    while (!take(m, "@") && !m->c.failed) {
        if (take(m, "$S") || take(m, "$$V") || take(m, "$$$V") ||
            take(m, "$$Z"))
            continue;
        struct wndl_msvc_text text = argument(m);
        list = list.size == 0 ? text : make(m, "$, $", list, text);
    }
    return make(m, "<$>", list);
}

static struct wndl_msvc_part symbol_part(struct wndl_msvc *m);

/* The part after "?$". Its own parts are remembered inside it only. */
static struct wndl_msvc_part template(struct wndl_msvc *m)
{
    struct wndl_msvc_part part = {0};
    if (!wndl_msvc_enter(m))
        return part;
    struct wndl_msvc_memory outer = m->memory;
    m->memory.name_count = m->memory.type_count = 0;
    part = symbol_part(m);
    part.arguments = arguments(m);
    m->memory = outer;
    m->depth--;
    return part;
}

/*
 * A template as a scope or type, to which digits refer; it has a memory of its
 * own.
 */
static struct wndl_msvc_text kept_template(struct wndl_msvc *m)
{
    struct wndl_msvc_part part = template(m);
    if (part.kind != WNDL_MSVC_NAME)
        return wndl_msvc_fail(m);
    struct wndl_msvc_text text = make(m, "$$", part.text, part.arguments);
    remember(m, text);
    return text;
}

/* ---- scopes */

/*
 * "?A0x1234@". Digits refer to it if Microsoft's compiler wrote it. clang does
 * not count it but writes it again, which distinguishes the two.
 */
static struct wndl_msvc_text nameless(struct wndl_msvc *m)
{
    const uint8_t *end = memchr(m->c.next, '@', wndl_cursor_left(&m->c));
    if (end == NULL)
        return wndl_msvc_fail(m);
    wndl_cursor_skip(&m->c, (uint64_t)(end - m->c.next) + 1);
    struct wndl_msvc_text name = make(m, "`anonymous namespace'");
    if (m->is_clangs)
        return name;
    uint32_t before = m->memory.name_count;
    remember(m, name);
    if (m->memory.name_count == before && before < WNDL_MSVC_REMEMBERED)
        m->is_clangs = true;
    return name;
}

/* "?", a number, "?": a scope in a function. */
static bool is_local_scope(const struct wndl_msvc *m)
{
    size_t i = 1;
    if (peek(m, 0) != '?')
        return false;
    if (peek(m, 1) == '@' || is_digit(peek(m, 1)))
        return peek(m, 2) == '?';
    if (peek(m, 1) == 'A')
        return false;
    while (peek(m, i) >= 'A' && peek(m, i) <= 'P')
        i++;
    return i > 1 && peek(m, i) == '@' && peek(m, i + 1) == '?';
}

static struct wndl_msvc_text local_scope(struct wndl_msvc *m)
{
    bool was_whole = m->is_whole;
    wndl_cursor_skip(&m->c, 1);
    struct wndl_msvc_text number = wndl_msvc_number(m);
    wndl_cursor_skip(&m->c, 1);
    m->is_whole = true;
    struct wndl_msvc_text function = wndl_msvc_symbol(m).text;
    m->is_whole = was_whole;
    return make(m, "`$'::`$'", function, number);
}

static struct wndl_msvc_text scope(struct wndl_msvc *m)
{
    if (is_digit(peek(m, 0)))
        return remembered(m);
    if (take(m, "?$"))
        return kept_template(m);
    if (is_local_scope(m))
        return local_scope(m);
    return take(m, "?A") ? nameless(m) : simple_name(m);
}

/*
 * A constructor or destructor: its name is that of its class; its own arguments
 * follow.
 */
static struct wndl_msvc_text structor(struct wndl_msvc *m,
    const struct wndl_msvc_part *part, struct wndl_msvc_text class)
{
    bool is_end = part->kind == WNDL_MSVC_DESTRUCTOR;
    return make(m, is_end ? "~$" : "$", class);
}

struct wndl_msvc_name wndl_msvc_scopes(
    struct wndl_msvc *m, struct wndl_msvc_part last)
{
    struct wndl_msvc_name name = {.last = last};
    bool is_structor =
        last.kind == WNDL_MSVC_CONSTRUCTOR || last.kind == WNDL_MSVC_DESTRUCTOR;
    while (!take(m, "@") && !m->c.failed) {
        struct wndl_msvc_text one = scope(m);
        if (is_structor && name.scope.size == 0)
            name.last.text = structor(m, &last, one);
        name.scope = make(m, "$::$", one, name.scope);
    }
    if (is_structor && name.scope.size == 0)
        wndl_msvc_fail(m);
    return name;
}

struct wndl_msvc_text wndl_msvc_name_text(
    struct wndl_msvc *m, const struct wndl_msvc_name *name)
{
    return make(m, "$$$", name->scope, name->last.text, name->last.arguments);
}

/* ---- whole names */

static struct wndl_msvc_part symbol_part(struct wndl_msvc *m)
{
    if (is_digit(peek(m, 0)))
        return part_of(WNDL_MSVC_NAME, remembered(m));
    if (take(m, "?$"))
        return template(m);
    if (take(m, "?"))
        return operator_name(m);
    return part_of(WNDL_MSVC_NAME, simple_name(m));
}

struct wndl_msvc_name wndl_msvc_symbol_name(struct wndl_msvc *m)
{
    return wndl_msvc_scopes(m, symbol_part(m));
}

struct wndl_msvc_part wndl_msvc_type_part(struct wndl_msvc *m)
{
    if (is_digit(peek(m, 0)))
        return part_of(WNDL_MSVC_NAME, remembered(m));
    if (take(m, "?$"))
        return part_of(WNDL_MSVC_NAME, kept_template(m));
    return part_of(WNDL_MSVC_NAME, simple_name(m));
}

struct wndl_msvc_text wndl_msvc_type_name(struct wndl_msvc *m)
{
    struct wndl_msvc_name name = wndl_msvc_scopes(m, wndl_msvc_type_part(m));
    return wndl_msvc_name_text(m, &name);
}
