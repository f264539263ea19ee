/* SPDX-License-Identifier: MIT */
/* Types and signatures of functions. */
#include "symbolize/demangle/msvc_internal.h"

#define make wndl_msvc_make
#define take wndl_msvc_take
#define peek wndl_msvc_peek

/* ---- qualifiers */

struct wndl_msvc_text wndl_msvc_qualifier_text(
    struct wndl_msvc *m, unsigned qualifiers, bool is_spaced)
{
    static const char *const words[] = {
        "$ const", "$ volatile", "$ __restrict", "$ __unaligned"};
    struct wndl_msvc_text text = {0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((qualifiers >> i & 1) != 0)
            text = make(m, words[i], text);
    if (!is_spaced && text.size != 0) {
        text.at++;
        text.size--;
    }
    return text;
}

unsigned wndl_msvc_qualifiers(struct wndl_msvc *m)
{
    uint8_t letter = wndl_cursor_u8(&m->c);
    if (letter >= 'A' && letter <= 'D')
        return letter - (unsigned)'A';
    if (letter >= 'Q' && letter <= 'T')
        return letter - (unsigned)'Q';
    wndl_msvc_fail(m);
    return 0;
}

/* 'E': 64 bits, which is not written */
unsigned wndl_msvc_more_qualifiers(struct wndl_msvc *m)
{
    unsigned qualifiers = 0;
    (void)take(m, "E");
    if (take(m, "I"))
        qualifiers |= WNDL_MSVC_RESTRICT;
    if (take(m, "F"))
        qualifiers |= WNDL_MSVC_UNALIGNED;
    return qualifiers;
}

/* ---- functions */

static struct wndl_msvc_text convention(struct wndl_msvc *m)
{
    static const char *const names[] = {"__cdecl", "__pascal", "__thiscall",
        "__stdcall", "__fastcall", NULL, "__clrcall", "__eabi", "__vectorcall"};
    uint8_t letter = wndl_cursor_u8(&m->c);
    unsigned which = (letter - (unsigned)'A') / 2;
    if (letter == 'S')
        return make(m, "__attribute__((__swiftcall__)) ");
    if (letter == 'W')
        return make(m, "__attribute__((__swiftasynccall__)) ");
    if (letter < 'A' || letter > 'Q' || names[which] == NULL)
        return wndl_msvc_fail(m);
    return make(m, names[which]);
}

/* Parameters of one letter are not remembered. */
static struct wndl_msvc_type parameter(struct wndl_msvc *m)
{
    struct wndl_msvc_memory *memory = &m->memory;
    unsigned which = (unsigned char)peek(m, 0) - (unsigned)'0';
    if (which <= 9) {
        wndl_cursor_skip(&m->c, 1);
        if (which >= memory->type_count)
            wndl_msvc_fail(m);
        return memory->types[which];
    }
    uint64_t before = wndl_cursor_offset(&m->c);
    struct wndl_msvc_type type = wndl_msvc_type(m, 0);
    if (wndl_cursor_offset(&m->c) - before > 1 &&
        memory->type_count < WNDL_MSVC_REMEMBERED)
        memory->types[memory->type_count++] = type;
    return type;
}

/* Up to '@', or to 'Z' if more may be given. */
static struct wndl_msvc_text parameters(struct wndl_msvc *m)
{
    struct wndl_msvc_text list = {0};
    if (take(m, "X"))
        return make(m, "void");
    while (peek(m, 0) != '@' && peek(m, 0) != 'Z' && !m->c.failed) {
        struct wndl_msvc_type type = parameter(m);
        struct wndl_msvc_text text = wndl_msvc_type_text(m, &type);
        list = list.size == 0 ? text : make(m, "$, $", list, text);
    }
    if (take(m, "@"))
        return list;
    wndl_cursor_skip(&m->c, 1);
    return make(m, list.size == 0 ? "..." : "$, ...", list);
}

static struct wndl_msvc_text throws(struct wndl_msvc *m)
{
    if (take(m, "_E"))
        return make(m, " noexcept");
    return take(m, "Z") ? (struct wndl_msvc_text){0} : wndl_msvc_fail(m);
}

struct wndl_msvc_signature wndl_msvc_signature(
    struct wndl_msvc *m, bool has_this)
{
    struct wndl_msvc_signature s = {.has_result = true};
    struct wndl_msvc_text reference = {0};
    struct wndl_msvc_text qualifiers = {0};
    if (has_this) {
        unsigned of_this = wndl_msvc_more_qualifiers(m);
        if (take(m, "G"))
            reference = make(m, " &");
        else if (take(m, "H"))
            reference = make(m, " &&");
        of_this |= wndl_msvc_qualifiers(m);
        qualifiers = wndl_msvc_qualifier_text(m, of_this, true);
    }
    s.convention = convention(m);
    if (take(m, "@"))
        s.has_result = false;
    else
        s.result = wndl_msvc_result(m);
    struct wndl_msvc_text list = parameters(m);
    s.after = make(m, "($)$$$", list, qualifiers, throws(m), reference);
    return s;
}

static struct wndl_msvc_type function(struct wndl_msvc *m, bool has_this)
{
    struct wndl_msvc_signature s = wndl_msvc_signature(m, has_this);
    struct wndl_msvc_type type = {
        .kind = WNDL_MSVC_FUNCTION, .convention = s.convention};
    if (s.has_result)
        type.before = make(m, "$ ", s.result.before);
    type.after = make(m, "$$", s.after, s.result.after);
    return type;
}

/* ---- pointers and arrays */

/* The text between the target of a pointer and the name. */
struct pointer {
    unsigned qualifiers;
    const char *mark;
    struct wndl_msvc_text parent; /* "C::" of pointers to members of C */
};

static struct wndl_msvc_type point_to(struct wndl_msvc *m,
    const struct pointer *p, const struct wndl_msvc_type *to)
{
    enum { ON_RIGHT = 7 };
    struct wndl_msvc_type type = {.kind = WNDL_MSVC_POINTER};
    struct wndl_msvc_text left = make(m, "$#$", to->before,
        make(m,
            (p->qualifiers & WNDL_MSVC_UNALIGNED) != 0 ? "__unaligned " : ""));
    struct wndl_msvc_text right = make(m, "$$$", p->parent, make(m, p->mark),
        wndl_msvc_qualifier_text(m, p->qualifiers & ON_RIGHT, false));
    bool wraps = to->kind == WNDL_MSVC_FUNCTION || to->kind == WNDL_MSVC_ARRAY;
    if (to->kind == WNDL_MSVC_FUNCTION)
        type.before = make(m, "$($ $", left, to->convention, right);
    else
        type.before = make(m, wraps ? "$($" : "$$", left, right);
    type.after = wraps ? make(m, ")$", to->after) : to->after;
    return type;
}

/* False if none begins here. */
static bool begin_pointer(struct wndl_msvc *m, struct pointer *p)
{
    static const unsigned both = WNDL_MSVC_CONST | WNDL_MSVC_VOLATILE;
    *p = (struct pointer){.mark = "*"};
    if (take(m, "$$Q"))
        p->mark = "&&";
    else if (take(m, "A"))
        p->mark = "&";
    else if (take(m, "Q"))
        p->qualifiers = WNDL_MSVC_CONST;
    else if (take(m, "R"))
        p->qualifiers = WNDL_MSVC_VOLATILE;
    else if (take(m, "S"))
        p->qualifiers = both;
    else
        return take(m, "P");
    return true;
}

static struct wndl_msvc_type pointer(struct wndl_msvc *m, struct pointer *p)
{
    struct wndl_msvc_type to;
    bool is_member = false;
    if (take(m, "6")) {
        to = function(m, false);
    } else if (take(m, "8")) {
        is_member = true;
        p->parent = make(m, "$::", wndl_msvc_type_name(m));
        to = function(m, true);
    } else {
        p->qualifiers |= wndl_msvc_more_qualifiers(m);
        char letter = peek(m, 0);
        unsigned of_it = wndl_msvc_qualifiers(m);
        is_member = letter >= 'Q';
        if (is_member)
            p->parent = make(m, "$::", wndl_msvc_type_name(m));
        to = wndl_msvc_type(m, of_it);
    }
    struct wndl_msvc_type type = point_to(m, p, &to);
    if (is_member)
        type.kind = WNDL_MSVC_MEMBER_POINTER;
    return type;
}

static struct wndl_msvc_type array(struct wndl_msvc *m, unsigned qualifiers)
{
    struct wndl_msvc_type type = {.kind = WNDL_MSVC_ARRAY};
    struct wndl_msvc_text sizes = {0};
    struct wndl_msvc_number rank = wndl_msvc_take_number(m);
    if (rank.value == 0 || rank.is_negative)
        wndl_msvc_fail(m);
    for (uint64_t i = 0; i < rank.value && !m->c.failed; i++) {
        struct wndl_cursor before = m->c;
        bool is_open = wndl_msvc_take_number(m).value == 0;
        m->c = m->c.failed || is_open ? m->c : before;
        sizes = is_open ? make(m, "$[]", sizes)
                        : make(m, "$[$]", sizes, wndl_msvc_number(m));
    }
    if (take(m, "$$C"))
        qualifiers |= wndl_msvc_qualifiers(m);
    struct wndl_msvc_type of = wndl_msvc_type(m, 0);
    type.before =
        make(m, "$$", of.before, wndl_msvc_qualifier_text(m, qualifiers, true));
    type.after = make(m, "$$", sizes, of.after);
    return type;
}

/* ---- all */

static const char *simple_type(struct wndl_msvc *m)
{
    static const char *const plain[] = {['X' - 'A'] = "void",
        ['D' - 'A'] = "char",
        ['C' - 'A'] = "signed char",
        ['E' - 'A'] = "unsigned char",
        ['F' - 'A'] = "short",
        ['G' - 'A'] = "unsigned short",
        ['H' - 'A'] = "int",
        ['I' - 'A'] = "unsigned int",
        ['J' - 'A'] = "long",
        ['K' - 'A'] = "unsigned long",
        ['M' - 'A'] = "float",
        ['N' - 'A'] = "double",
        ['O' - 'A'] = "long double"};
    static const char *const later[] = {['N' - 'A'] = "bool",
        ['J' - 'A'] = "__int64",
        ['K' - 'A'] = "unsigned __int64",
        ['W' - 'A'] = "wchar_t",
        ['Q' - 'A'] = "char8_t",
        ['S' - 'A'] = "char16_t",
        ['U' - 'A'] = "char32_t",
        ['P' - 'A'] = "auto",
        ['T' - 'A'] = "decltype(auto)"};
    if (take(m, "$$T"))
        return "std::nullptr_t";
    bool is_later = take(m, "_");
    unsigned which = wndl_cursor_u8(&m->c) - (unsigned)'A';
    if (is_later)
        return which < sizeof later / sizeof *later ? later[which] : NULL;
    return which < sizeof plain / sizeof *plain ? plain[which] : NULL;
}

static const char *tag(struct wndl_msvc *m)
{
    return take(m, "T")    ? "union $$"
           : take(m, "U")  ? "struct $$"
           : take(m, "V")  ? "class $$"
           : take(m, "W4") ? "enum $$"
                           : NULL;
}

static struct wndl_msvc_text named(struct wndl_msvc *m, unsigned qualifiers)
{
    const char *pattern = tag(m);
    struct wndl_msvc_text text;
    if (pattern != NULL) {
        text = wndl_msvc_type_name(m);
    } else if (take(m, "?")) {
        text = wndl_msvc_type_part(m).text;
        pattern = "$$";
        if (!take(m, "@"))
            wndl_msvc_fail(m);
        qualifiers = 0;
    } else {
        const char *name = simple_type(m);
        if (name == NULL)
            return wndl_msvc_fail(m);
        text = make(m, name);
        pattern = "$$";
    }
    return make(
        m, pattern, text, wndl_msvc_qualifier_text(m, qualifiers, true));
}

static struct wndl_msvc_type any_type(struct wndl_msvc *m, unsigned qualifiers)
{
    struct pointer p;
    if (take(m, "$$A8@@"))
        return function(m, true);
    if (take(m, "$$A6"))
        return function(m, false);
    if (take(m, "Y"))
        return array(m, qualifiers);
    if (begin_pointer(m, &p)) {
        p.qualifiers |= qualifiers;
        return pointer(m, &p);
    }
    return (struct wndl_msvc_type){.before = named(m, qualifiers)};
}

struct wndl_msvc_type wndl_msvc_type(struct wndl_msvc *m, unsigned qualifiers)
{
    struct wndl_msvc_type type = {0};
    if (wndl_msvc_enter(m)) {
        type = any_type(m, qualifiers);
        m->depth--;
    }
    return type;
}

struct wndl_msvc_type wndl_msvc_result(struct wndl_msvc *m)
{
    unsigned qualifiers = take(m, "?") ? wndl_msvc_qualifiers(m) : 0;
    return wndl_msvc_type(m, qualifiers);
}

struct wndl_msvc_text wndl_msvc_type_text(
    struct wndl_msvc *m, const struct wndl_msvc_type *type)
{
    if (type->convention.size != 0)
        return make(m, "$#$$", type->before, type->convention, type->after);
    return type->after.size == 0 ? type->before
                                 : make(m, "$$", type->before, type->after);
}
