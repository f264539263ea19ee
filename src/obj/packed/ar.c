/* SPDX-License-Identifier: MIT */
#include "obj/packed/ar.h"

#include "base/map.h"

#include <string.h>

static const char magic[] = "!<arch>\n";
static const char thin_magic[] = "!<thin>\n";

enum {
    MAGIC = 8,
    HEADER = 60,
    NAME = 16,
    TIME_AT = 16,
    TIME = 12,
    SIZE_AT = 48,
    SIZE = 10,
    END_AT = 58,
};

struct member {
    struct wndl_bytes name;
    struct wndl_bytes bytes;
    uint64_t modified;
};

struct reading {
    struct wndl_bytes archive;
    uint64_t at;
    struct wndl_bytes long_names; /* GNU's member of that */
};

/* Decimal digits, then spaces. False for anything else. */
static bool read_number(const uint8_t *text, size_t size, uint64_t *number)
{
    size_t i = 0;
    *number = 0;
    for (; i < size && text[i] >= '0' && text[i] <= '9'; i++)
        *number = *number * 10 + (uint64_t)(text[i] - '0');
    size_t digits = i;
    while (i < size && text[i] == ' ')
        i++;
    return digits != 0 && i == size;
}

static struct wndl_bytes until(struct wndl_bytes bytes, int end)
{
    const uint8_t *found =
        bytes.size == 0 ? NULL : memchr(bytes.data, end, bytes.size);
    if (found != NULL)
        bytes.size = (size_t)(found - bytes.data);
    return bytes;
}

static struct wndl_bytes without_spaces(struct wndl_bytes name)
{
    while (name.size != 0 && name.data[name.size - 1] == ' ')
        name.size--;
    return name;
}

/* GNU's "/123": at that offset of the names, up to a slash. */
static struct wndl_bytes long_name(
    const struct reading *r, const uint8_t *header)
{
    uint64_t at;
    if (!read_number(header + 1, NAME - 1, &at) || at >= r->long_names.size)
        return (struct wndl_bytes){0};
    struct wndl_bytes rest =
        wndl_bytes_slice(r->long_names, at, r->long_names.size - at);
    return until(until(rest, '\n'), '/');
}

/*
 * "#1/20": the name is the first 20 bytes of the contents (BSD). False when it
 * does not fit.
 */
static bool set_name(
    const struct reading *r, const uint8_t *header, struct member *m)
{
    uint64_t size;
    if (memcmp(header, "#1/", 3) == 0) {
        if (!read_number(header + 3, NAME - 3, &size) || size > m->bytes.size)
            return false;
        m->name = until(wndl_bytes_slice(m->bytes, 0, size), '\0');
        m->bytes = wndl_bytes_slice(m->bytes, size, m->bytes.size - size);
        return true;
    }
    struct wndl_bytes name = without_spaces((struct wndl_bytes){header, NAME});
    if (header[0] != '/')
        m->name = until(name, '/');
    else if (header[1] >= '0' && header[1] <= '9')
        m->name = long_name(r, header);
    else
        m->name = name;
    return true;
}

static enum wndl_status fail(const struct reading *r, enum wndl_status status,
    const char *what, struct wndl_error *err)
{
    return wndl_fail_at(err, status, "archive", r->at, what);
}

/* NOT_FOUND at the end. */
static enum wndl_status next(
    struct reading *r, struct member *m, struct wndl_error *err)
{
    uint64_t size;
    *m = (struct member){0};
    if (r->at >= r->archive.size)
        return WNDL_NOT_FOUND;
    const uint8_t *header = wndl_bytes_slice(r->archive, r->at, HEADER).data;
    if (header == NULL)
        return fail(r, WNDL_TRUNCATED, "a member's header is cut short", err);
    if (header[END_AT] != '`' || header[END_AT + 1] != '\n' ||
        !read_number(header + SIZE_AT, SIZE, &size))
        return fail(r, WNDL_MALFORMED, "no header of a member", err);
    if (!read_number(header + TIME_AT, TIME, &m->modified))
        m->modified = 0;
    m->bytes = wndl_bytes_slice(r->archive, r->at + HEADER, size);
    if (m->bytes.size != size)
        return fail(r, WNDL_TRUNCATED,
            "a member reaches past the end of the archive", err);
    if (!set_name(r, header, m))
        return fail(r, WNDL_MALFORMED, "a name longer than its member", err);
    if (wndl_bytes_is(m->name, "//"))
        r->long_names = m->bytes;
    r->at += HEADER + size + (size & 1);
    return WNDL_OK;
}

static enum wndl_status check_magic(
    struct wndl_bytes archive, struct wndl_error *err)
{
    struct wndl_bytes start = wndl_bytes_slice(archive, 0, MAGIC);
    if (wndl_bytes_is(start, thin_magic))
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "a thin archive, whose members are elsewhere");
    if (!wndl_bytes_is(start, magic))
        return wndl_fail(err, WNDL_UNSUPPORTED, "not an archive");
    return WNDL_OK;
}

/* A member in the list of those with the same name. */
struct listed {
    struct wndl_ar_member member;
    struct listed *last; /* of the list; in its first only */
};

struct wndl_ar {
    struct wndl_map lists; /* key_of: the first struct listed */
    struct wndl_error damage;
};

#define ANY_TIME UINT64_MAX

static uint64_t key_of(struct wndl_bytes name, uint64_t time)
{
    return wndl_hash_bytes(name.data, name.size) ^ wndl_hash_u64(time);
}

static bool append(struct wndl_ar *ar, const struct member *m, uint64_t time)
{
    uint64_t *value = wndl_map_put(&ar->lists, key_of(m->name, time));
    struct listed *new = wndl_arena_calloc(ar->lists.arena, 1, sizeof *new);
    if (value == NULL || new == NULL)
        return false;
    new->member.bytes = m->bytes;
    struct listed *first = (struct listed *)(uintptr_t)*value;
    if (first == NULL) {
        first = new;
        *value = (uintptr_t) new;
    } else {
        first->last->member.next = &new->member;
    }
    first->last = new;
    return true;
}

enum wndl_status wndl_ar_open(struct wndl_bytes archive,
    struct wndl_arena *arena, const struct wndl_ar **out,
    struct wndl_error *err)
{
    struct reading r = {.archive = archive, .at = MAGIC};
    struct member m;
    *out = NULL;
    enum wndl_status status = check_magic(archive, err);
    if (status != WNDL_OK)
        return status;
    struct wndl_ar *ar = wndl_arena_calloc(arena, 1, sizeof *ar);
    if (ar == NULL)
        return wndl_fail(err, WNDL_NOMEM, "no memory for an archive");
    wndl_map_init(&ar->lists, arena);
    while (next(&r, &m, &ar->damage) == WNDL_OK)
        if (!append(ar, &m, ANY_TIME) || !append(ar, &m, m.modified))
            return wndl_fail(err, WNDL_NOMEM, "no memory for an archive");
    *out = ar;
    return WNDL_OK;
}

static const struct wndl_ar_member *list_of(
    const struct wndl_ar *ar, struct wndl_bytes name, uint64_t time)
{
    const uint64_t *value = wndl_map_get(&ar->lists, key_of(name, time));
    return value == NULL ? NULL
                         : &((const struct listed *)(uintptr_t)*value)->member;
}

enum wndl_status wndl_ar_find(const struct wndl_ar *ar, struct wndl_bytes name,
    uint64_t modified, const struct wndl_ar_member **member,
    struct wndl_error *err)
{
    *member = list_of(ar, name, modified == 0 ? ANY_TIME : modified);
    if (*member == NULL)
        *member = list_of(ar, name, 0);
    if (*member != NULL)
        return WNDL_OK;
    if (ar->damage.status != WNDL_OK)
        return wndl_fail_at(err, ar->damage.status, ar->damage.section,
            ar->damage.offset, ar->damage.what);
    return wndl_fail(err, WNDL_NOT_FOUND,
        list_of(ar, name, ANY_TIME) == NULL
            ? "no such member"
            : "the archive's member is not the one that was linked: its time "
              "differs");
}
