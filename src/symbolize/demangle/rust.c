/* SPDX-License-Identifier: MIT */
/*
 * Old names of Rust have the form of C++'s nested ones, with a hash as the last
 * part: "17h" and 16 digits. Characters that C++ does not have are escaped.
 */
#include "symbolize/demangle/rust.h"

#include "symbolize/demangle/character.h"
#include "symbolize/demangle/rust_internal.h"

enum { HASH_DIGITS = 16, HASH = 3 + HASH_DIGITS };

void wndl_rust_character(struct wndl_rust *r, uint32_t c)
{
    enum { LONGEST = 4 };
    if (r->is_silent)
        return;
    r->failed |=
        LONGEST > r->most - r->out->size || !wndl_character_add(r->out, c);
}

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

/* ---- parts of old names */

enum { OTHER, PLAIN, ESCAPE };

static uint8_t kind_of(uint8_t c)
{
    static const uint8_t kinds[256] = {
        ['0' ... '9'] = PLAIN,
        ['A' ... 'Z'] = PLAIN,
        ['a' ... 'z'] = PLAIN,
        ['_'] = PLAIN,
        [':'] = PLAIN,
        ['.'] = ESCAPE,
        ['$'] = ESCAPE,
    };
    return kinds[c];
}

/* Between the dollars of "$u7b$": a character's number. */
static bool put_number(struct wndl_rust *r, const uint8_t *digits, size_t size)
{
    enum { MOST_DIGITS = 6 };
    uint32_t c = 0;
    if (size == 0 || size > MOST_DIGITS)
        return false;
    for (size_t i = 0; i < size; i++) {
        const uint8_t digit = digits[i];
        if (!is_digit(digit) && (digit < 'a' || digit > 'f'))
            return false;
        c = c << 4 | (uint32_t)(digit - (is_digit(digit) ? '0' : 'a' - 10));
    }
    wndl_rust_character(r, c);
    return true;
}

/* "$LT$": returns its size, or 0 if it is no escape. */
static size_t put_escape(
    struct wndl_rust *r, const uint8_t *at, const uint8_t *end)
{
    static const char *const names[] = {
        "@SP", "*BP", "&RF", "<LT", ">GT", "(LP", ")RP", ",C"};
    const uint8_t *dollar = memchr(at + 1, '$', (size_t)(end - at - 1));
    if (dollar == NULL)
        return 0;
    size_t size = (size_t)(dollar - at - 1);
    if (at[1] == 'u' && put_number(r, at + 2, size - 1))
        return size + 2;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i] + 1) == size &&
            memcmp(names[i] + 1, at + 1, size) == 0) {
            wndl_rust_put(r, names[i], 1);
            return size + 2;
        }
    return 0;
}

/* The part of a name in [at, end). */
static void put_part(struct wndl_rust *r, const uint8_t *at, const uint8_t *end)
{
    if (end - at > 1 && at[0] == '_' && at[1] == '$')
        at++; /* an escape cannot be the first */
    while (at < end) {
        const uint8_t *run = at;
        while (at < end && kind_of(*at) == PLAIN)
            at++;
        wndl_rust_put(r, run, (size_t)(at - run));
        if (at == end)
            return;
        r->failed |= kind_of(*at) == OTHER;
        if (r->failed)
            return;
        size_t size = 0;
        if (*at == '$')
            size = put_escape(r, at, end);
        else if (end - at > 1 && at[1] == '.')
            wndl_rust_put(r, "::", size = 2);
        else
            wndl_rust_put(r, ".", size = 1);
        if (size == 0) {
            wndl_rust_put(r, at, (size_t)(end - at));
            return;
        }
        at += size;
    }
}

/* ---- old names */

/* "h" and 16 digits that do not look like a word. */
static bool is_hash(const uint8_t *digits)
{
    enum { FEWEST_DIFFERENT = 5 };
    unsigned seen = 0;
    for (size_t i = 0; i < HASH_DIGITS; i++) {
        if (is_digit(digits[i]))
            seen |= 1U << (digits[i] - '0');
        else if (digits[i] >= 'a' && digits[i] <= 'f')
            seen |= 1U << (digits[i] - 'a' + 10);
        else
            return false;
    }
    return __builtin_popcount(seen) >= FEWEST_DIFFERENT;
}

/*
 * The end of the name, after its "E"; marks of clones may follow. NULL if no
 * hash is there.
 */
static const uint8_t *end_of_old(struct wndl_bytes name)
{
    const uint8_t *end = name.data + name.size;
    const size_t fewest = sizeof "_ZN1a" - 1 + HASH + 1;
    while (name.size >= fewest) {
        const uint8_t *hash = end - 1 - HASH;
        if (end[-1] == 'E' && memcmp(hash, "17h", 3) == 0)
            return is_hash(hash + 3) ? end : NULL;
        end = memrchr(name.data, '.', name.size - 1);
        name.size = end == NULL ? 0 : (size_t)(end - name.data);
    }
    return NULL;
}

static bool read_old(struct wndl_rust *r, const uint8_t *hash)
{
    while (r->at < hash && !r->failed) {
        size_t size = 0;
        while (is_digit(*r->at) && size <= (size_t)(hash - r->at))
            size = 10 * size + (size_t)(*r->at++ - '0');
        if (size == 0 || size > (size_t)(hash - r->at))
            return false;
        if (r->out->size != 0)
            wndl_rust_text(r, "::");
        put_part(r, r->at, r->at + size);
        r->at += size;
    }
    return !r->failed;
}

/* ---- marks after the name */

static const uint8_t *after_word(const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at != '.')
        at++;
    return at;
}

/*
 * Adds the clones as those of C++. ".llvm.N" is no clone: it makes the name of
 * a static function unique.
 */
static void put_marks(
    struct wndl_rust *r, const uint8_t *at, const uint8_t *end)
{
    static const char unique[] = ".llvm.";
    enum { UNIQUE = sizeof unique - 1 };
    while (at < end && *at == '.') {
        const uint8_t *mark = at;
        if (end - at >= UNIQUE && memcmp(at, unique, UNIQUE) == 0) {
            at = after_word(at + UNIQUE, end);
            continue;
        }
        at = after_word(at + 1, end);
        while (end - at > 1 && at[0] == '.' && is_digit(at[1]))
            for (at++; at < end && is_digit(*at);)
                at++;
        wndl_rust_text(r, " [clone ");
        wndl_rust_put(r, mark, (size_t)(at - mark));
        wndl_rust_text(r, "]");
    }
}

/* ---- all */

static bool starts(struct wndl_bytes name, const char *start)
{
    size_t size = strlen(start);
    return name.size >= size && memcmp(name.data, start, size) == 0;
}

/* The crate that made an instance of the function follows, or nothing. */
static bool read_new(struct wndl_rust *r)
{
    wndl_rust_path(r, true);
    if (!r->failed && r->at < r->end) {
        r->is_silent = true;
        wndl_rust_path(r, false);
        r->is_silent = false;
    }
    return !r->failed && r->at == r->end;
}

bool wndl_rust_demangle(
    struct wndl_bytes name, size_t most, struct wndl_buf *text)
{
    struct wndl_rust r = {.out = text, .most = most};
    const uint8_t *end = name.data + name.size;
    wndl_buf_clear(text);
    if (starts(name, "_R")) {
        const uint8_t *dot = memchr(name.data, '.', name.size);
        r.at = r.start = name.data + 2;
        r.end = dot == NULL ? end : dot;
        if (!read_new(&r))
            return false;
    } else {
        if (!starts(name, "_ZN") || (r.end = end_of_old(name)) == NULL)
            return false;
        r.at = r.start = name.data + 3;
        if (!read_old(&r, r.end - 1 - HASH))
            return false;
    }
    put_marks(&r, r.end, end);
    return !r.failed && !text->failed && text->size != 0;
}
