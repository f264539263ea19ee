/* SPDX-License-Identifier: MIT */
#include "os/smaps.h"

#include "os/maps.h"

#include <string.h>

enum {
    KIB = 1024,
    MIB = 1024 * 1024,
    ARENA = 64 * MIB, /* glibc's HEAP_MAX_SIZE */
    ARENA_32 = MIB,
    STACK_MOST = 16 * MIB, /* a larger mapping is more than a stack */
    ZEROED_MOST = MIB,     /* except for the executable's */
};

/* The mapping whose lines are read, and what the one before it was. */
struct reading {
    struct wndl_memory_sum *sum;
    const struct wndl_smaps_visitor *visitor; /* or NULL */
    struct wndl_memory_place at; /* for it: without kind and bytes */
    enum wndl_memory_kind kind;
    bool is_usable;
    uint64_t resident, size;
    uint64_t end;          /* of the mapping */
    uint64_t inode;        /* 0: of no file */
    uint64_t first_inode;  /* of the executable; 0: not seen yet */
    bool is_guard, is_any; /* is_any: there is a mapping */
    bool failed;           /* a line is of another format */
};

/* ---- kinds */

static bool begins(struct wndl_bytes text, const char *with)
{
    const size_t size = strlen(with);
    return text.size >= size && memcmp(text.data, with, size) == 0;
}

static struct wndl_bytes last_part(struct wndl_bytes path)
{
    const uint8_t *slash =
        path.size == 0 ? NULL : memrchr(path.data, '/', path.size);
    if (slash == NULL)
        return path;
    const size_t before = (size_t)(slash - path.data) + 1;
    return (struct wndl_bytes){slash + 1, path.size - before};
}

static bool is_of_no_file(const struct wndl_mapping *m)
{
    return m->path.size == 0 || begins(m->path, "[anon");
}

static enum wndl_memory_kind kind_of_file(const struct wndl_mapping *m)
{
    static const char *const shared[] = {
        "/dev/shm/", "/dev/zero", "/memfd:", "/SYSV"};
    if (begins(m->path, "/memfd:windlass") ||
        begins(last_part(m->path), "libwindlass-"))
        return WNDL_MEMORY_WINDLASS;
    for (size_t i = 0; i < sizeof shared / sizeof shared[0]; i++) {
        if (begins(m->path, shared[i]))
            return WNDL_MEMORY_SHARED;
    }
    return m->executable ? WNDL_MEMORY_CODE : WNDL_MEMORY_DATA;
}

static bool is_arena(const struct wndl_mapping *m)
{
    const bool is_wide = m->end > UINT32_MAX;
    return m->start % (is_wide ? ARENA : ARENA_32) == 0;
}

/* `r`: the mapping before, which ends where `m` starts. */
static enum wndl_memory_kind kind_after(
    const struct reading *r, const struct wndl_mapping *m)
{
    const uint64_t size = m->end - m->start;
    if (r->is_guard && size <= STACK_MOST)
        return WNDL_MEMORY_STACKS;
    if (r->inode != 0 && r->kind == WNDL_MEMORY_WINDLASS)
        return WNDL_MEMORY_WINDLASS;
    if (r->inode != 0 && (size <= ZEROED_MOST || r->inode == r->first_inode))
        return WNDL_MEMORY_DATA;
    return WNDL_MEMORY_MAPPED;
}

static enum wndl_memory_kind kind_of(
    const struct reading *r, const struct wndl_mapping *m)
{
    if (begins(m->path, "[heap]"))
        return WNDL_MEMORY_HEAP;
    if (begins(m->path, "[stack"))
        return WNDL_MEMORY_STACKS;
    if (!is_of_no_file(m))
        return m->path.data[0] == '/' ? kind_of_file(m) : WNDL_MEMORY_OTHER;
    if (is_arena(m))
        return WNDL_MEMORY_HEAP;
    const bool is_next = r->is_any && r->end == m->start;
    return is_next ? kind_after(r, m) : WNDL_MEMORY_MAPPED;
}

/* ---- lines */

static bool is_arena_so_far(const struct reading *r)
{
    return r->kind == WNDL_MEMORY_HEAP && r->at.name[0] == '\0';
}

static void end_mapping(struct reading *r)
{
    if (r->visitor != NULL && r->resident != 0) {
        r->at.kind = r->kind;
        r->at.bytes = r->resident;
        r->at.end = r->end;
        r->kind = r->visitor->visit(r->visitor->context, &r->at);
    }
    r->sum->resident[r->kind] += r->resident;
    if (r->is_usable && r->kind != WNDL_MEMORY_WINDLASS)
        r->sum->mapped += r->size;
    r->resident = r->size = 0;
}

/* Zeroed data has the name of the module before it. */
static void name_mapping(struct reading *r, const struct wndl_mapping *m)
{
    const struct wndl_bytes name = last_part(m->path);
    const bool is_zeroed =
        r->kind == WNDL_MEMORY_DATA && is_of_no_file(m) && r->inode != 0;
    r->at.start = m->start;
    if (is_zeroed)
        return;
    memset(r->at.name, 0, sizeof r->at.name);
    if (!begins(m->path, "[anon"))
        memcpy(r->at.name, name.data,
            name.size < sizeof r->at.name ? name.size : sizeof r->at.name - 1);
}

/*
 * The rest of an arena is reserved after it. A mapping of the program's own
 * begins at such an address by chance: one in 32 of those for huge pages.
 */
static bool ends_as_arena(
    const struct reading *r, const struct wndl_mapping *next)
{
    const bool is_used = next->readable || next->writable || next->executable;
    const uint64_t size = r->end > UINT32_MAX ? ARENA : ARENA_32;
    return r->end % size == 0 || (next->start == r->end && !is_used);
}

/* The unused part of an arena is no guard. */
static void begin_mapping(struct reading *r, const struct wndl_mapping *m)
{
    if (is_arena_so_far(r) && !ends_as_arena(r, m))
        r->kind = WNDL_MEMORY_MAPPED;
    end_mapping(r);
    const enum wndl_memory_kind kind = kind_of(r, m);
    const bool is_after_heap =
        r->is_any && r->end == m->start && r->kind == WNDL_MEMORY_HEAP;
    r->is_usable = m->readable || m->writable || m->executable;
    r->is_guard = !r->is_usable && is_of_no_file(m) && !is_after_heap;
    r->kind = kind;
    name_mapping(r, m);
    r->end = m->end;
    r->inode = m->inode;
    r->is_any = true;
    if (r->first_inode == 0)
        r->first_inode = m->inode;
}

/* "Rss:       12 kB": bytes. */
static uint64_t bytes_of(struct wndl_bytes line, const char *name)
{
    uint64_t value = 0;
    for (size_t i = strlen(name); i < line.size; i++) {
        const uint8_t c = line.data[i];
        if (c >= '0' && c <= '9')
            value = value * 10 + (uint64_t)(c - '0');
    }
    return value * KIB;
}

/* "VmFlags: rd wr mr mw me dd ac": "dd" is for no dump. */
static bool is_undumped(struct wndl_bytes line)
{
    for (size_t i = 1; i + 2 < line.size; i++) {
        if (memcmp(line.data + i, " dd", 3) == 0)
            return true;
    }
    return false;
}

/*
 * The runtime's reserved memory begins at an arena's address by chance, as any
 * mapping for huge pages; its unused rest is no guard.
 */
static void see_undumped(struct reading *r)
{
    if (r->kind == WNDL_MEMORY_MAPPED || is_arena_so_far(r))
        r->kind = WNDL_MEMORY_WINDLASS;
    r->is_guard = false;
}

static void read_detail(struct reading *r, struct wndl_bytes line)
{
    if (begins(line, "Rss:"))
        r->resident += bytes_of(line, "Rss:");
    else if (begins(line, "Pss:"))
        r->sum->proportional += bytes_of(line, "Pss:");
    else if (begins(line, "Size:"))
        r->size += bytes_of(line, "Size:");
    else if (begins(line, "VmFlags:") && is_undumped(line))
        see_undumped(r);
}

static bool read_lines(void *context, struct wndl_bytes lines)
{
    struct reading *r = context;
    struct wndl_cursor c = wndl_cursor_at(lines, 0, false);
    struct wndl_mapping m;
    while (wndl_cursor_left(&c) != 0) {
        const uint8_t *newline = memchr(c.next, '\n', wndl_cursor_left(&c));
        const bool is_detail = *c.next >= 'A' && *c.next <= 'Z';
        if (newline == NULL)
            break;
        const struct wndl_bytes line = {c.next, (size_t)(newline - c.next)};
        if (is_detail) {
            read_detail(r, line);
            wndl_cursor_skip(&c, line.size + 1);
        } else if (wndl_maps_line(&c, &m)) {
            begin_mapping(r, &m);
        } else {
            r->failed = true;
            return false;
        }
    }
    return true;
}

bool wndl_smaps_sum(
    const char *path, struct wndl_bytes room, struct wndl_memory_sum *sum)
{
    return wndl_smaps_each(path, room, sum, NULL);
}

bool wndl_smaps_each(const char *path, struct wndl_bytes room,
    struct wndl_memory_sum *sum, const struct wndl_smaps_visitor *visitor)
{
    *sum = (struct wndl_memory_sum){0};
    struct reading r = {
        .sum = sum, .visitor = visitor, .kind = WNDL_MEMORY_OTHER};
    if (!wndl_maps_lines(path, room, read_lines, &r) || r.failed)
        return false;
    end_mapping(&r);
    return true;
}
