/* SPDX-License-Identifier: MIT */
#include "symbolize/demangle/unit_names.h"

#include "base/bytes.h"
#include "symbolize/demangle/character.h"

#include <string.h>

/* DWARF 5, 7.12. OCaml's compiler writes assembly, whose unit is the
 * assembler's. */
enum {
    LANG_PASCAL = 0x09,
    LANG_HASKELL = 0x18,
    LANG_OCAML = 0x1b,
    LANG_ASSEMBLER = 0x8001,
};

enum wndl_name_scheme wndl_name_scheme_of(uint16_t language)
{
    switch (language) {
    case LANG_PASCAL:
        return WNDL_NAMES_PASCAL;
    case LANG_HASKELL:
        return WNDL_NAMES_HASKELL;
    case LANG_OCAML:
    case LANG_ASSEMBLER:
        return WNDL_NAMES_OCAML;
    default:
        return WNDL_NAMES_MARKED;
    }
}

/* ---- characters */

/* The rest of a name. */
struct reader {
    const uint8_t *at, *end;
};

static struct reader reader_of(struct wndl_bytes name)
{
    return (struct reader){name.data, name.data + name.size};
}

static uint8_t next(struct reader *r)
{
    return r->at == r->end ? 0 : *r->at++;
}

static bool take(struct reader *r, const char *text)
{
    const size_t size = strlen(text);
    if ((size_t)(r->end - r->at) < size || memcmp(r->at, text, size) != 0)
        return false;
    r->at += size;
    return true;
}

static bool is_upper(uint8_t c)
{
    return c >= 'A' && c <= 'Z';
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* -1: it is none. */
static int hex_digit(uint8_t c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* ---- Haskell: GHC's z-encoding (GHC.Utils.Encoding) */

/* Larger tuples are no names. */
enum { MOST_FIELDS = 64 };

/* After "Z" and digits: T ends "(,,)", H "(#,,#)". Z0T is "()", Z1H "(# #)". */
static bool add_tuple(struct reader *r, uint32_t fields, struct wndl_buf *text)
{
    while (is_digit(r->at == r->end ? 0 : *r->at) && fields <= MOST_FIELDS)
        fields = 10 * fields + (uint32_t)(next(r) - '0');
    const uint8_t kind = next(r);
    if (fields > MOST_FIELDS || (kind != 'T' && kind != 'H'))
        return false;
    wndl_buf_text(text, kind == 'T' ? "(" : "(#");
    for (uint32_t i = 1; i < fields; i++)
        wndl_buf_byte(text, ',');
    if (kind == 'H' && fields == 1)
        wndl_buf_byte(text, ' ');
    wndl_buf_text(text, kind == 'T' ? ")" : "#)");
    return true;
}

/* After "z": digits in hexadecimal, the first in decimal, up to U. */
static bool add_unicode(struct reader *r, uint32_t c, struct wndl_buf *text)
{
    int digit;
    uint8_t last = next(r);
    for (; (digit = hex_digit(last)) >= 0 && c <= 0x10ffff; last = next(r))
        c = 16 * c + (uint32_t)digit;
    return last == 'U' && wndl_character_add(text, c);
}

static char escaped(const char *table, uint8_t c)
{
    for (; *table != '\0'; table += 2)
        if ((uint8_t)table[0] == c)
            return table[1];
    return '\0';
}

static bool add_haskell(struct reader *r, struct wndl_buf *text)
{
    static const char lower[] = "zza&b|c^d$e=g>h#i.l<m-n!p+q'r\\s/t*u_v%";
    static const char upper[] = "L(R)M[N]C:ZZ";
    const uint8_t first = next(r);
    if (first != 'z' && first != 'Z') {
        wndl_buf_byte(text, first);
        return true;
    }
    const uint8_t second = next(r);
    if (is_digit(second))
        return first == 'z' ? add_unicode(r, second - '0', text)
                            : add_tuple(r, second - '0', text);
    const char c = escaped(first == 'z' ? lower : upper, second);
    wndl_buf_byte(text, (uint8_t)c);
    return c != '\0';
}

static bool read_haskell(struct wndl_bytes name, struct wndl_buf *text)
{
    struct reader r = reader_of(name);
    while (r.at != r.end)
        if (!add_haskell(&r, text))
            return false;
    return true;
}

/* ---- OCaml: "camlModule__name_123", "$" and two digits for a character */

static bool add_ocaml(struct reader *r, struct wndl_buf *text)
{
    if (take(r, "__")) {
        wndl_buf_byte(text, '.');
        return true;
    }
    const uint8_t c = next(r);
    if (c != '$' || r->end - r->at < 2) {
        wndl_buf_byte(text, c);
        return true;
    }
    const int high = hex_digit(next(r)), low = hex_digit(next(r));
    return high >= 0 && low >= 0 &&
           wndl_character_add(text, (uint32_t)(16 * high + low));
}

static bool read_ocaml(struct wndl_bytes name, struct wndl_buf *text)
{
    struct reader r = reader_of(name);
    if (!take(&r, "caml") || r.at == r.end || !is_upper(*r.at))
        return false;
    while (r.at != r.end)
        if (!add_ocaml(&r, text))
            return false;
    return true;
}

/* ---- Pascal: "UNIT_$$_NAME$TYPE$TYPE$$RESULT" of Free Pascal */

static const uint8_t *find(const struct reader *r, const char *text)
{
    return memmem(r->at, (size_t)(r->end - r->at), text, strlen(text));
}

static struct wndl_bytes up_to(struct reader *r, const uint8_t *end)
{
    const struct wndl_bytes bytes = {r->at, (size_t)(end - r->at)};
    r->at = end;
    return bytes;
}

/* Types, each after "$", up to the result's. */
static void add_parameters(struct reader *r, struct wndl_buf *text)
{
    bool is_first = true;
    while (r->at != r->end && *r->at == '$' && !take(r, "$$")) {
        r->at++;
        const uint8_t *end = memchr(r->at, '$', (size_t)(r->end - r->at));
        const struct wndl_bytes type = up_to(r, end == NULL ? r->end : end);
        wndl_buf_text(text, is_first ? "(" : ", ");
        wndl_buf_add(text, type.data, type.size);
        is_first = false;
    }
    if (!is_first)
        wndl_buf_byte(text, ')');
}

/* A name, which begins with "$" if it is an operator's, and its parameters. */
static bool add_routine(struct reader *r, struct wndl_buf *text)
{
    if (r->at != r->end && *r->at == '$')
        wndl_buf_byte(text, next(r));
    const uint8_t *end = memchr(r->at, '$', (size_t)(r->end - r->at));
    const struct wndl_bytes name = up_to(r, end == NULL ? r->end : end);
    wndl_buf_add(text, name.data, name.size);
    add_parameters(r, text);
    return name.size != 0;
}

/* "UNIT_$$_" before a routine, "UNIT$_$CLASS_$__$$_" before a method. Programs
 * are "P$NAME". Nested routines, whose outer one comes first, are left. */
static bool read_pascal(struct wndl_bytes name, struct wndl_buf *text)
{
    static const char plain[] = "_$$_", class_start[] = "$_$";
    static const char class_end[] = "_$__$$_";
    struct reader r = reader_of(name);
    (void)take(&r, "P$");
    const uint8_t *class = find(&r, class_end);
    const uint8_t *unit = find(&r, class != NULL ? class_start : plain);
    if (unit == NULL || unit == r.at || (class != NULL && class < unit))
        return false;
    const struct wndl_bytes first = up_to(&r, unit);
    if (memchr(first.data, '$', first.size) != NULL)
        return false;
    wndl_buf_add(text, first.data, first.size);
    wndl_buf_byte(text, '.');
    if (class != NULL) {
        (void)take(&r, class_start);
        const struct wndl_bytes owner = up_to(&r, class);
        wndl_buf_add(text, owner.data, owner.size);
        wndl_buf_byte(text, '.');
    }
    (void)(take(&r, class_end) || take(&r, plain));
    return add_routine(&r, text) && r.at <= r.end;
}

bool wndl_unit_name_demangle(
    enum wndl_name_scheme scheme, struct wndl_bytes name, struct wndl_buf *text)
{
    wndl_buf_clear(text);
    switch (scheme) {
    case WNDL_NAMES_HASKELL:
        return read_haskell(name, text);
    case WNDL_NAMES_OCAML:
        return read_ocaml(name, text);
    case WNDL_NAMES_PASCAL:
        return read_pascal(name, text);
    default:
        return false;
    }
}
