/* SPDX-License-Identifier: MIT */
/* Paths and types of version 0: RFC 2603. */
#include "symbolize/demangle/rust_internal.h"

#include <inttypes.h>
#include <stdio.h>

static void read_type(struct wndl_rust *r);

static bool is_upper(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

static void put_number(struct wndl_rust *r, uint64_t number)
{
    char text[24];
    int size = snprintf(text, sizeof text, "%" PRIu64, number);
    wndl_rust_put(r, text, (size_t)size);
}

/* ---- lifetimes */

/* The innermost is 1; 0 is one that has no name. */
static void put_lifetime(struct wndl_rust *r, uint64_t index)
{
    wndl_rust_text(r, "'");
    if (index == 0) {
        wndl_rust_text(r, "_");
        return;
    }
    r->failed |= index > r->lifetimes;
    uint64_t number = r->lifetimes - index;
    if (number < 26) {
        wndl_rust_put(r, &(char){(char)('a' + number)}, 1);
        return;
    }
    wndl_rust_text(r, "_");
    put_number(r, number);
}

/* "for<'a, 'b> " */
static void read_binder(struct wndl_rust *r)
{
    uint64_t count = wndl_rust_tagged_number(r, 'G');
    if (count == 0 || r->failed)
        return;
    wndl_rust_text(r, "for<");
    for (uint64_t i = 0; i < count && wndl_rust_enter(r); i++) {
        if (i > 0)
            wndl_rust_text(r, ", ");
        r->lifetimes++;
        put_lifetime(r, 1);
        wndl_rust_leave(r);
    }
    wndl_rust_text(r, "> ");
}

/* ---- paths */

static void read_argument(struct wndl_rust *r)
{
    if (wndl_rust_take(r, 'L'))
        put_lifetime(r, wndl_rust_number(r));
    else if (wndl_rust_take(r, 'K'))
        wndl_rust_constant(r, false);
    else
        read_type(r);
}

size_t wndl_rust_list(
    struct wndl_rust *r, void (*read)(struct wndl_rust *r), const char *between)
{
    size_t count = 0;
    for (; wndl_rust_more(r); count++) {
        if (count > 0)
            wndl_rust_text(r, between);
        read(r);
    }
    return count;
}

/* "::{closure#0}", "::{shim:name#1}" */
static void put_special(struct wndl_rust *r, uint8_t kind,
    struct wndl_rust_ident name, uint64_t number)
{
    wndl_rust_text(r, "::{");
    if (kind == 'C')
        wndl_rust_text(r, "closure");
    else if (kind == 'S')
        wndl_rust_text(r, "shim");
    else
        wndl_rust_put(r, &kind, 1);
    if (name.plain.size != 0 || name.coded.size != 0) {
        wndl_rust_text(r, ":");
        wndl_rust_put_ident(r, name);
    }
    wndl_rust_text(r, "#");
    put_number(r, number);
    wndl_rust_text(r, "}");
}

static void read_nested(struct wndl_rust *r, bool in_value)
{
    uint8_t kind = wndl_rust_next(r);
    r->failed |= !is_upper(kind) && (kind < 'a' || kind > 'z');
    wndl_rust_path(r, in_value);
    uint64_t number = wndl_rust_tagged_number(r, 's');
    struct wndl_rust_ident name = wndl_rust_ident(r);
    if (r->is_silent || r->failed)
        return;
    if (is_upper(kind)) {
        put_special(r, kind, name, number);
    } else if (name.plain.size != 0 || name.coded.size != 0) {
        wndl_rust_text(r, "::");
        wndl_rust_put_ident(r, name);
    }
}

/* The path of an implementation says where it is, which is left out. */
static void skip_path(struct wndl_rust *r)
{
    bool is_silent = r->is_silent;
    r->is_silent = true;
    (void)wndl_rust_tagged_number(r, 's');
    wndl_rust_path(r, false);
    r->is_silent = is_silent;
}

/* "<T as Trait>", "<T>" */
static void read_qualified(struct wndl_rust *r, bool has_trait)
{
    wndl_rust_text(r, "<");
    read_type(r);
    if (has_trait) {
        wndl_rust_text(r, " as ");
        wndl_rust_path(r, false);
    }
    wndl_rust_text(r, ">");
}

static void read_path(struct wndl_rust *r, bool in_value)
{
    const uint8_t *back;
    const uint8_t tag = wndl_rust_next(r);
    switch (tag) {
    case 'C':
        (void)wndl_rust_tagged_number(r, 's');
        wndl_rust_put_ident(r, wndl_rust_ident(r));
        return;
    case 'N':
        read_nested(r, in_value);
        return;
    case 'M':
    case 'X':
        skip_path(r);
        read_qualified(r, tag == 'X');
        return;
    case 'Y':
        read_qualified(r, true);
        return;
    case 'I':
        wndl_rust_path(r, in_value);
        if (in_value)
            wndl_rust_text(r, "::");
        wndl_rust_text(r, "<");
        (void)wndl_rust_list(r, read_argument, ", ");
        wndl_rust_text(r, ">");
        return;
    case 'B':
        if ((back = wndl_rust_jump(r)) != NULL) {
            wndl_rust_path(r, in_value);
            r->at = back;
        }
        return;
    default:
        r->failed = true;
    }
}

void wndl_rust_path(struct wndl_rust *r, bool in_value)
{
    if (wndl_rust_enter(r))
        read_path(r, in_value);
    wndl_rust_leave(r);
}

/* ---- types */

static const char *const basic[26] = {
    ['a' - 'a'] = "i8",
    ['b' - 'a'] = "bool",
    ['c' - 'a'] = "char",
    ['d' - 'a'] = "f64",
    ['e' - 'a'] = "str",
    ['f' - 'a'] = "f32",
    ['h' - 'a'] = "u8",
    ['i' - 'a'] = "isize",
    ['j' - 'a'] = "usize",
    ['l' - 'a'] = "i32",
    ['m' - 'a'] = "u32",
    ['n' - 'a'] = "i128",
    ['o' - 'a'] = "u128",
    ['p' - 'a'] = "_",
    ['s' - 'a'] = "i16",
    ['t' - 'a'] = "u16",
    ['u' - 'a'] = "()",
    ['v' - 'a'] = "...",
    ['x' - 'a'] = "i64",
    ['y' - 'a'] = "u64",
    ['z' - 'a'] = "!",
};

static void read_reference(struct wndl_rust *r, bool is_mutable)
{
    wndl_rust_text(r, "&");
    uint64_t lifetime = wndl_rust_take(r, 'L') ? wndl_rust_number(r) : 0;
    if (lifetime != 0) {
        put_lifetime(r, lifetime);
        wndl_rust_text(r, " ");
    }
    if (is_mutable)
        wndl_rust_text(r, "mut ");
    read_type(r);
}

static void read_array(struct wndl_rust *r, bool has_size)
{
    wndl_rust_text(r, "[");
    read_type(r);
    if (has_size) {
        wndl_rust_text(r, "; ");
        wndl_rust_constant(r, true);
    }
    wndl_rust_text(r, "]");
}

static void read_tuple(struct wndl_rust *r)
{
    wndl_rust_text(r, "(");
    if (wndl_rust_list(r, read_type, ", ") == 1)
        wndl_rust_text(r, ",");
    wndl_rust_text(r, ")");
}

/* `extern "C" `; minuses in the name are mangled as '_'. */
static void read_abi(struct wndl_rust *r)
{
    struct wndl_rust_ident abi = {.plain = {(const uint8_t *)"C", 1}};
    if (!wndl_rust_take(r, 'C'))
        abi = wndl_rust_ident(r);
    r->failed |= abi.plain.size == 0 || abi.coded.size != 0;
    wndl_rust_text(r, "extern \"");
    for (size_t i = 0; i < abi.plain.size && !r->failed; i++)
        wndl_rust_put(
            r, abi.plain.data[i] == '_' ? "-" : (char *)&abi.plain.data[i], 1);
    wndl_rust_text(r, "\" ");
}

static void read_function(struct wndl_rust *r)
{
    uint64_t lifetimes = r->lifetimes;
    read_binder(r);
    if (wndl_rust_take(r, 'U'))
        wndl_rust_text(r, "unsafe ");
    if (wndl_rust_take(r, 'K'))
        read_abi(r);
    wndl_rust_text(r, "fn(");
    (void)wndl_rust_list(r, read_type, ", ");
    wndl_rust_text(r, ")");
    if (!wndl_rust_take(r, 'u')) {
        wndl_rust_text(r, " -> ");
        read_type(r);
    }
    r->lifetimes = lifetimes;
}

/* A path whose list of arguments stays open, if it has one: then true. */
static bool read_open_path(struct wndl_rust *r)
{
    bool is_open = false;
    if (!wndl_rust_enter(r)) {
        wndl_rust_leave(r);
        return false;
    }
    if (wndl_rust_take(r, 'B')) {
        const uint8_t *back = wndl_rust_jump(r);
        if (back != NULL) {
            is_open = read_open_path(r);
            r->at = back;
        }
    } else if (wndl_rust_take(r, 'I')) {
        wndl_rust_path(r, false);
        wndl_rust_text(r, "<");
        (void)wndl_rust_list(r, read_argument, ", ");
        is_open = true;
    } else {
        wndl_rust_path(r, false);
    }
    wndl_rust_leave(r);
    return is_open;
}

/* "Trait<T, Item = U>" */
static void read_trait(struct wndl_rust *r)
{
    bool is_open = read_open_path(r);
    while (!r->failed && wndl_rust_take(r, 'p')) {
        wndl_rust_text(r, is_open ? ", " : "<");
        is_open = true;
        wndl_rust_put_ident(r, wndl_rust_ident(r));
        wndl_rust_text(r, " = ");
        read_type(r);
    }
    if (is_open)
        wndl_rust_text(r, ">");
}

static void read_dyn(struct wndl_rust *r)
{
    uint64_t lifetimes = r->lifetimes;
    wndl_rust_text(r, "dyn ");
    read_binder(r);
    (void)wndl_rust_list(r, read_trait, " + ");
    r->lifetimes = lifetimes;
    r->failed |= !wndl_rust_take(r, 'L');
    uint64_t lifetime = wndl_rust_number(r);
    if (lifetime != 0) {
        wndl_rust_text(r, " + ");
        put_lifetime(r, lifetime);
    }
}

static void read_compound(struct wndl_rust *r, uint8_t tag)
{
    const uint8_t *back;
    switch (tag) {
    case 'R':
    case 'Q':
        read_reference(r, tag == 'Q');
        return;
    case 'P':
    case 'O':
        wndl_rust_text(r, tag == 'P' ? "*const " : "*mut ");
        read_type(r);
        return;
    case 'A':
    case 'S':
        read_array(r, tag == 'A');
        return;
    case 'T':
        read_tuple(r);
        return;
    case 'F':
        read_function(r);
        return;
    case 'D':
        read_dyn(r);
        return;
    case 'B':
        if ((back = wndl_rust_jump(r)) != NULL) {
            read_type(r);
            r->at = back;
        }
        return;
    default:
        r->at--;
        wndl_rust_path(r, false);
    }
}

static void read_type(struct wndl_rust *r)
{
    if (wndl_rust_enter(r)) {
        uint8_t tag = wndl_rust_next(r);
        if (tag >= 'a' && tag <= 'z' && basic[tag - 'a'] != NULL)
            wndl_rust_put(r, basic[tag - 'a'], strlen(basic[tag - 'a']));
        else if (!r->failed)
            read_compound(r, tag);
    }
    wndl_rust_leave(r);
}
