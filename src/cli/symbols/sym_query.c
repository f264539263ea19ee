/* SPDX-License-Identifier: MIT */
#include "cli/symbols/sym_query.h"

#include <stdlib.h>
#include <string.h>

static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Reads the whole text as a number; a number that is too large loses its upper
 * bits, as in addr2line. */
static bool read_number(
    const char *text, size_t size, int base, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < size; i++) {
        int digit = digit_of(text[i]);
        if (digit < 0 || digit >= base)
            return false;
        *number = *number * (unsigned)base + (unsigned)digit;
    }
    return size != 0;
}

static bool has_0x(const char *text, size_t size)
{
    return size > 2 && text[0] == '0' && (text[1] | 0x20) == 'x';
}

static bool read_hex(const char *text, size_t size, uint64_t *number)
{
    size_t skipped = has_0x(text, size) ? 2 : 0;
    return read_number(text + skipped, size - skipped, 16, number);
}

/* Takes the offset off the end of "NAME+OFFSET", 0 if there is none. */
static uint64_t take_offset(const char *text, size_t *size)
{
    const char *plus = memrchr(text, '+', *size);
    if (plus == NULL)
        return 0;
    uint64_t offset;
    const char *digits = plus + 1;
    size_t left = *size - (size_t)(digits - text);
    bool is_number = has_0x(digits, left)
                         ? read_hex(digits, left, &offset)
                         : read_number(digits, left, 10, &offset);
    if (!is_number)
        return 0;
    *size = (size_t)(plus - text);
    return offset;
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static struct wndl_sym_query *push_query(
    struct wndl_sym_reader *reader, const char *text, size_t size)
{
    struct wndl_sym_query *query = wndl_vec_push(&reader->list);
    if (query != NULL)
        *query = (struct wndl_sym_query){.text = text, .size = size};
    return query;
}

static bool push_rva(
    struct wndl_sym_reader *reader, const char *text, size_t size, uint64_t rva)
{
    struct wndl_sym_query *query = push_query(reader, text, size);
    if (query == NULL)
        return false;
    query->rva = rva;
    query->address = (rva + reader->image_base) & reader->mask;
    query->has_address = true;
    return true;
}

static bool read_name(
    struct wndl_sym_reader *reader, const char *text, size_t size)
{
    enum { LONGEST = 64 * 1024 };
    char name[512];
    char *copy = size < sizeof name ? name : NULL;
    size_t name_size = size;
    uint64_t offset = take_offset(text, &name_size);
    const struct wndl_symbol_range *found = NULL;
    size_t count = 0;
    if (copy == NULL && size < LONGEST)
        copy = wndl_arena_alloc(reader->list.arena, size + 1);
    if (copy == NULL)
        return size >= LONGEST && push_query(reader, text, size) != NULL;
    memcpy(copy, text, name_size);
    copy[name_size] = '\0';
    enum wndl_status status =
        wndl_symbolizer_find(reader->symbols, copy, &found, &count, NULL);
    if (status == WNDL_NOT_FOUND)
        return push_query(reader, text, size) != NULL;
    bool kept = status == WNDL_OK;
    for (size_t i = 0; i < count && kept; i++)
        kept = push_rva(reader, text, size, found[i].rva + offset);
    return kept;
}

static size_t first_word(const char *text, size_t size)
{
    size_t end = 0;
    while (end < size && !is_blank(text[end]))
        end++;
    return end;
}

/* ---- as addr2line reads */

/* The rest of a text. */
struct rest {
    const char *at, *end;
};

static void skip_spaces(struct rest *r)
{
    while (r->at < r->end && is_space(*r->at))
        r->at++;
}

/* The number that strtoull() finds: what follows it does not matter. */
static uint64_t scan_number(struct rest r, unsigned base)
{
    uint64_t number = 0;
    for (; r.at < r.end; r.at++) {
        int digit = digit_of(*r.at);
        if (digit < 0 || (unsigned)digit >= base)
            break;
        if (number > (UINT64_MAX - (unsigned)digit) / base)
            return UINT64_MAX;
        number = number * base + (unsigned)digit;
    }
    return number;
}

static bool take_0x(struct rest *r)
{
    if (!has_0x(r->at, (size_t)(r->end - r->at)) || digit_of(r->at[2]) < 0)
        return false;
    r->at += 2;
    return true;
}

/* The offset after a symbol: with a sign, and in any base that C knows. */
static uint64_t scan_offset(struct rest r)
{
    skip_spaces(&r);
    const bool is_negative = r.at < r.end && *r.at == '-';
    if (r.at < r.end && (*r.at == '-' || *r.at == '+'))
        r.at++;
    unsigned base = take_0x(&r) ? 16 : r.at < r.end && *r.at == '0' ? 8 : 10;
    uint64_t number = scan_number(r, base);
    return is_negative ? -number : number;
}

static bool has_letter(struct rest r)
{
    while (r.at < r.end && *r.at != '_' &&
           !((*r.at | 0x20) >= 'a' && (*r.at | 0x20) <= 'z'))
        r.at++;
    return r.at < r.end;
}

/*
 * The lowest address of a function, as linked; false: there is none. A name
 * without a letter is not searched for: perf sends "," after each address, only
 * to know where the answer ends.
 */
static bool find_symbol(
    struct wndl_sym_reader *reader, struct rest name, uint64_t *address)
{
    const struct wndl_symbol_range *found;
    size_t count;
    size_t size = (size_t)(name.end - name.at);
    char *copy = has_letter(name) ? strndup(name.at, size) : NULL;
    bool is_found = copy != NULL && wndl_symbolizer_find(reader->symbols, copy,
                                        &found, &count, NULL) == WNDL_OK;
    if (is_found)
        *address = found[0].rva + reader->link_base;
    free(copy);
    return is_found;
}

/* "NAME + OFFSET": an unknown name is at 0, whatever the offset; no name is a
 * symbol at 0. */
static uint64_t scan_symbol(struct wndl_sym_reader *reader, struct rest r)
{
    struct rest name = r;
    uint64_t address = 0;
    while (r.at < r.end && !is_space(*r.at) && *r.at != '+')
        r.at++;
    name.end = r.at;
    if (name.at < name.end && !find_symbol(reader, name, &address))
        return 0;
    skip_spaces(&r);
    if (r.at == r.end || *r.at != '+')
        return address;
    r.at++;
    return address + scan_offset(r);
}

/* A text that begins with a digit is a number, and one that begins with another
 * hexadecimal digit unless it has a '+'. */
static uint64_t scan_address(struct wndl_sym_reader *reader, struct rest r)
{
    skip_spaces(&r);
    bool is_digit = r.at == r.end || (*r.at >= '0' && *r.at <= '9');
    if (!is_digit && (digit_of(*r.at) < 0 ||
                         memchr(r.at, '+', (size_t)(r.end - r.at)) != NULL))
        return scan_symbol(reader, r);
    take_0x(&r);
    return scan_number(r, 16);
}

bool wndl_sym_read_query(
    struct wndl_sym_reader *reader, const char *text, size_t size)
{
    uint64_t number;
    if (reader->as_addr2line) {
        size = strnlen(text, size);
        number = scan_address(reader, (struct rest){text, text + size});
        number &= reader->mask;
        return push_rva(reader, text, size, number - reader->image_base);
    }
    while (size > 0 && is_blank(text[0])) {
        text++;
        size--;
    }
    while (size > 0 && is_blank(text[size - 1]))
        size--;
    if (!read_hex(text, first_word(text, size), &number))
        return read_name(reader, text, size);
    number &= reader->mask;
    return push_rva(reader, text, size, number - reader->image_base);
}
