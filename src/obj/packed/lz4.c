/* SPDX-License-Identifier: MIT */
#include "obj/packed/lz4.h"

#include "base/mem.h"

#include <string.h>

enum {
    HISTORY = 64 * 1024, /* bytes that matches reach back */
    MIN_MATCH = 4,
    LONG = 15, /* more bytes of the length follow */
    CHUNK = 16,
};

/* ---- XXH32 (xxHash specification 0.1.1), with seed 0 */

static const uint32_t prime1 = 0x9e3779b1, prime2 = 0x85ebca77,
                      prime3 = 0xc2b2ae3d, prime4 = 0x27d4eb2f,
                      prime5 = 0x165667b1;

/* `rest` has `kept` bytes that are in no stripe yet. */
struct hash {
    uint32_t lanes[4];
    uint8_t rest[CHUNK];
    size_t kept;
    uint64_t size;
};

static uint32_t rotate(uint32_t x, unsigned bits)
{
    return x << bits | x >> (32 - bits);
}

static struct hash hash_start(void)
{
    return (struct hash){
        .lanes = {prime1 + prime2, prime2, 0, UINT32_C(0) - prime1}};
}

static void hash_stripes(struct hash *h, const uint8_t *p, size_t count)
{
    for (size_t i = 0; i < count * 4; i++) {
        const uint32_t lane =
            h->lanes[i % 4] + wndl_load_u32(p + i * 4) * prime2;
        h->lanes[i % 4] = rotate(lane, 13) * prime1;
    }
}

static void hash_add(struct hash *h, struct wndl_bytes bytes)
{
    const uint8_t *p = bytes.data;
    size_t left = bytes.size;
    h->size += left;
    if (h->kept != 0 && h->kept + left >= CHUNK) {
        const size_t fill = CHUNK - h->kept;
        memcpy(h->rest + h->kept, p, fill);
        hash_stripes(h, h->rest, 1);
        h->kept = 0;
        p += fill;
        left -= fill;
    }
    if (h->kept == 0) {
        hash_stripes(h, p, left / CHUNK);
        p += left / CHUNK * CHUNK;
        left %= CHUNK;
    }
    if (left != 0)
        memcpy(h->rest + h->kept, p, left);
    h->kept += left;
}

static uint32_t hash_end(const struct hash *h)
{
    const uint32_t *l = h->lanes;
    uint32_t x = h->size < CHUNK ? prime5
                                 : rotate(l[0], 1) + rotate(l[1], 7) +
                                       rotate(l[2], 12) + rotate(l[3], 18);
    size_t i = 0;
    x += (uint32_t)h->size;
    for (; i + 4 <= h->kept; i += 4)
        x = rotate(x + wndl_load_u32(h->rest + i) * prime3, 17) * prime4;
    for (; i < h->kept; i++)
        x = rotate(x + h->rest[i] * prime5, 11) * prime1;
    x = (x ^ x >> 15) * prime2;
    x = (x ^ x >> 13) * prime3;
    return x ^ x >> 16;
}

static uint32_t hash_of(struct wndl_bytes bytes)
{
    struct hash h = hash_start();
    hash_add(&h, bytes);
    return hash_end(&h);
}

/* ---- a block */

/* Invariant: base <= next <= end. Matches reach back to `base`. */
struct output {
    uint8_t *base, *next, *end;
};

static bool add_length(struct wndl_cursor *in, size_t *length)
{
    uint8_t byte;
    do {
        byte = wndl_cursor_u8(in);
        *length += byte;
    } while (byte == UINT8_MAX);
    return !in->failed;
}

static bool copy_literals(
    struct wndl_cursor *in, struct output *out, size_t length)
{
    const size_t room = (size_t)(out->end - out->next);
    const bool is_short =
        length <= CHUNK && room >= CHUNK && wndl_cursor_left(in) >= CHUNK;
    const uint8_t *from = wndl_cursor_take(in, length);
    if (from == NULL || length > room)
        return false;
    if (is_short)
        memcpy(out->next, from, CHUNK);
    else
        memcpy(out->next, from, length);
    out->next += length;
    return true;
}

/* The bytes of a match may be among those that it writes. */
static bool copy_match(struct output *out, size_t distance, size_t length)
{
    const size_t room = (size_t)(out->end - out->next);
    if (distance == 0 || distance > (size_t)(out->next - out->base) ||
        length > room)
        return false;
    const uint8_t *from = out->next - distance;
    if (distance >= CHUNK && length <= CHUNK && room >= CHUNK) {
        memcpy(out->next, from, CHUNK);
        out->next += length;
        return true;
    }
    while (length != 0) {
        const size_t apart = (size_t)(out->next - from);
        const size_t part = length < apart ? length : apart;
        memcpy(out->next, from, part);
        out->next += part;
        length -= part;
    }
    return true;
}

/* The last sequence of a block has no match. */
static bool decode_block(struct wndl_bytes packed, struct output *out)
{
    struct wndl_cursor in = wndl_cursor_at(packed, 0, false);
    for (;;) {
        const unsigned token = wndl_cursor_u8(&in);
        size_t literals = token >> 4, match = token & LONG;
        if (literals == LONG && !add_length(&in, &literals))
            return false;
        if (in.failed || !copy_literals(&in, out, literals))
            return false;
        if (wndl_cursor_left(&in) == 0)
            return true;
        const size_t distance = wndl_cursor_u16(&in);
        if (match == LONG && !add_length(&in, &match))
            return false;
        if (in.failed || !copy_match(out, distance, match + MIN_MATCH))
            return false;
    }
}

/* ---- a frame */

enum {
    FLAG_DICTIONARY = 1,
    FLAG_RESERVED = 2,
    FLAG_CHECKSUM = 4,
    FLAG_SIZE = 8,
    FLAG_BLOCK_CHECKSUMS = 16,
    FLAG_INDEPENDENT = 32,
    VERSION_SHIFT = 6,
    SIZES_RESERVED = 0x8f,
};

static const uint32_t magic = 0x184d2204, skippable = 0x184d2a50,
                      is_stored = 0x80000000;

/*
 * The room has HISTORY bytes, of which the last `held` precede the block, then
 * the block.
 */
struct reader {
    struct wndl_cursor in;
    bool (*put)(void *context, struct wndl_bytes contents);
    void *context;
    struct wndl_error *err;
    unsigned flags;
    size_t block_size; /* at most */
    uint8_t *room;
    size_t held;
    struct hash hash;
    bool goes_on;
};

static enum wndl_status damaged(const struct reader *r, const char *what)
{
    return wndl_fail_at(
        r->err, WNDL_MALFORMED, "file", wndl_cursor_offset(&r->in), what);
}

static enum wndl_status ended(const struct reader *r)
{
    return wndl_fail_at(r->err, WNDL_TRUNCATED, "file",
        wndl_cursor_offset(&r->in), "ends within its LZ4 data");
}

static enum wndl_status read_descriptor(struct reader *r)
{
    const uint8_t *start = r->in.next;
    r->flags = wndl_cursor_u8(&r->in);
    const unsigned sizes = wndl_cursor_u8(&r->in);
    if (r->flags & FLAG_SIZE)
        wndl_cursor_skip(&r->in, sizeof(uint64_t));
    if (r->flags & FLAG_DICTIONARY)
        wndl_cursor_skip(&r->in, sizeof(uint32_t));
    const struct wndl_bytes all = {start, (size_t)(r->in.next - start)};
    const uint8_t checksum = wndl_cursor_u8(&r->in);
    if (r->in.failed)
        return ended(r);
    if (r->flags >> VERSION_SHIFT != 1 || (r->flags & FLAG_RESERVED) ||
        (sizes & SIZES_RESERVED) || sizes >> 4 < 4)
        return wndl_fail(
            r->err, WNDL_UNSUPPORTED, "another version of LZ4 frames");
    if (checksum != (hash_of(all) >> 8 & UINT8_MAX))
        return damaged(r, "damaged header of an LZ4 frame");
    if (r->flags & FLAG_DICTIONARY)
        return wndl_fail(r->err, WNDL_UNSUPPORTED,
            "compressed by LZ4 with a dictionary, which is elsewhere");
    r->block_size = (size_t)1 << (8 + 2 * (sizes >> 4));
    return WNDL_OK;
}

/* Hands on `size` bytes, and keeps the last ones for matches. */
static void put_block(struct reader *r, size_t size)
{
    const struct wndl_bytes contents = {r->room + HISTORY, size};
    if (r->flags & FLAG_CHECKSUM)
        hash_add(&r->hash, contents);
    r->goes_on = r->put(r->context, contents);
    if (r->flags & FLAG_INDEPENDENT)
        return;
    memmove(r->room, r->room + size, HISTORY);
    r->held = size < HISTORY - r->held ? r->held + size : HISTORY;
}

static enum wndl_status unpack_block(struct reader *r, uint32_t word)
{
    const size_t size = word & ~is_stored;
    const struct wndl_bytes packed = {wndl_cursor_take(&r->in, size), size};
    if (packed.data == NULL)
        return ended(r);
    if (r->flags & FLAG_BLOCK_CHECKSUMS) {
        const uint32_t checksum = wndl_cursor_u32(&r->in);
        if (r->in.failed)
            return ended(r);
        if (checksum != hash_of(packed))
            return damaged(r, "damaged LZ4 data: wrong checksum of a block");
    }
    uint8_t *start = r->room + HISTORY;
    struct output out = {start - r->held, start, start + r->block_size};
    if ((word & is_stored) != 0 && size <= r->block_size) {
        memcpy(start, packed.data, size);
        out.next += size;
    } else if ((word & is_stored) != 0 || !decode_block(packed, &out)) {
        return damaged(r, "damaged LZ4 data");
    }
    put_block(r, (size_t)(out.next - start));
    return WNDL_OK;
}

static enum wndl_status unpack_blocks(struct reader *r)
{
    while (r->goes_on) {
        const uint32_t word = wndl_cursor_u32(&r->in);
        if (r->in.failed)
            return ended(r);
        if (word == 0)
            break;
        const enum wndl_status status = unpack_block(r, word);
        if (status != WNDL_OK)
            return status;
    }
    if (!r->goes_on || !(r->flags & FLAG_CHECKSUM))
        return WNDL_OK;
    const uint32_t checksum = wndl_cursor_u32(&r->in);
    if (r->in.failed)
        return ended(r);
    return checksum == hash_end(&r->hash)
               ? WNDL_OK
               : damaged(r, "damaged LZ4 data: wrong checksum");
}

static enum wndl_status unpack_frame(struct reader *r)
{
    enum wndl_status status = read_descriptor(r);
    if (status != WNDL_OK)
        return status;
    r->room = wndl_mem_zalloc(wndl_mem_libc(), HISTORY + r->block_size);
    if (r->room == NULL)
        return wndl_fail(r->err, WNDL_NOMEM, "out of memory");
    r->held = 0;
    r->hash = hash_start();
    status = unpack_blocks(r);
    wndl_mem_free(wndl_mem_libc(), r->room);
    return status;
}

enum wndl_status wndl_unpack_lz4(struct wndl_bytes packed,
    bool (*put)(void *context, struct wndl_bytes contents), void *context,
    struct wndl_error *err)
{
    struct reader r = {.in = wndl_cursor_at(packed, 0, false),
        .put = put,
        .context = context,
        .err = err,
        .goes_on = true};
    enum wndl_status status = WNDL_OK;
    while (status == WNDL_OK && r.goes_on && wndl_cursor_left(&r.in) != 0) {
        const uint32_t word = wndl_cursor_u32(&r.in);
        if (word == magic)
            status = unpack_frame(&r);
        else if ((word & ~UINT32_C(15)) == skippable)
            wndl_cursor_skip(&r.in, wndl_cursor_u32(&r.in));
        else if (!r.in.failed)
            status = damaged(&r, "no LZ4 frame");
        if (status == WNDL_OK && r.in.failed)
            status = ended(&r);
    }
    return status;
}
