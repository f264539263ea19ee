/* SPDX-License-Identifier: MIT */
#include "in/dmd_json.h"

#include "base/json_read.h"
#include "in/core/json_source.h"

#include <string.h>

enum { VERSION = 5 };

/* Keys of the outermost object, a bit each. */
enum part {
    PART_VERSION,
    PART_INVOCATION,
    PART_BLOCKS,
    PART_TRACES,
    PART_FRAMES,
    PARTS,
};

static const char *const part_names[PARTS] = {
    "version", "invocation", "blockList", "traceTable", "frameTable"};

struct reading {
    struct wndl_json_reader json;
    struct wndl_dmd_file *dmd;
    struct wndl_intern trace_ids, frame_ids; /* -> index of traces, frames */
    struct wndl_map merged; /* hash of (stacks, sizes) -> 1 + a block's index */
    uint64_t bytes, blocks; /* all so far */
    unsigned seen;          /* parts */
    bool has_mode;
};

static bool ok(const struct reading *in)
{
    return in->json.status == WNDL_OK;
}

static void no_memory(struct reading *in)
{
    wndl_json_fail(&in->json, WNDL_NOMEM, "no memory for its contents");
}

/* The number of a trace; makes its entry if there is none. */
static uint32_t trace_of(struct reading *in, struct wndl_bytes id)
{
    uint32_t index = 0;
    bool kept = ok(in) && wndl_intern_add(&in->trace_ids, id, &index);
    while (kept && in->dmd->traces.len <= index)
        kept = wndl_vec_push(&in->dmd->traces) != NULL;
    if (!kept && ok(in))
        no_memory(in);
    return kept ? index : 0;
}

static uint32_t frame_of(struct reading *in, struct wndl_bytes id)
{
    uint32_t index = 0;
    bool kept = ok(in) && wndl_intern_add(&in->frame_ids, id, &index);
    while (kept && in->dmd->frames.len <= index)
        kept = wndl_vec_push(&in->dmd->frames) != NULL;
    if (!kept && ok(in))
        no_memory(in);
    return kept ? index : 0;
}

static bool copy(
    struct reading *in, struct wndl_bytes from, struct wndl_bytes *to)
{
    to->data = (const uint8_t *)wndl_arena_copy(&in->dmd->arena,
        from.size == 0 ? "" : (const void *)from.data, from.size);
    to->size = from.size;
    if (to->data == NULL)
        no_memory(in);
    return to->data != NULL;
}

/* ---- invocation */

static void read_env(struct reading *in)
{
    in->dmd->has_env = !wndl_json_read_null(&in->json);
    if (!in->dmd->has_env || !ok(in))
        return;
    struct wndl_bytes text = wndl_json_read_string(&in->json);
    if (ok(in))
        (void)copy(in, text, &in->dmd->env);
}

static void read_mode(struct reading *in)
{
    static const char *const names[] = {
        "live", "cumulative", "dark-matter", "scan"}; /* enum wndl_heap_mode */
    (void)wndl_json_peek(&in->json);
    uint64_t start = wndl_json_offset(&in->json);
    struct wndl_bytes text = wndl_json_read_string(&in->json);
    for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (wndl_bytes_is(text, names[i])) {
            in->dmd->mode = (enum wndl_heap_mode)i;
            in->has_mode = true;
            return;
        }
    }
    wndl_json_fail_at(&in->json, WNDL_UNSUPPORTED, start, "an unknown mode");
}

static void read_invocation(struct reading *in)
{
    if (!wndl_json_enter(&in->json, '{', "invocation is not an object"))
        return;
    do {
        struct wndl_bytes key = wndl_json_read_key(&in->json);
        if (wndl_bytes_is(key, "dmdEnvVar"))
            read_env(in);
        else if (wndl_bytes_is(key, "mode"))
            read_mode(in);
        else
            wndl_json_skip(&in->json);
    } while (wndl_json_another(&in->json, '}'));
}

/* ---- blockList */

static void read_reports(struct reading *in, struct wndl_dmd_block *block)
{
    block->stacks[WNDL_HEAP_REPORTED] = 0;
    block->stacks[WNDL_HEAP_REPORTED_AGAIN] = 0;
    unsigned next = WNDL_HEAP_REPORTED;
    if (!wndl_json_enter(&in->json, '[', "reps is not an array"))
        return;
    do {
        if (next == WNDL_HEAP_STACKS) {
            wndl_json_fail(&in->json, WNDL_MALFORMED,
                "a block that was reported more than twice");
            return;
        }
        struct wndl_bytes id = wndl_json_read_string(&in->json);
        block->stacks[next++] = trace_of(in, id) + 1;
    } while (wndl_json_another(&in->json, ']'));
}

static void read_block_field(
    struct reading *in, struct wndl_bytes key, struct wndl_dmd_block *block)
{
    if (wndl_bytes_is(key, "req"))
        block->requested = wndl_json_read_u64(&in->json);
    else if (wndl_bytes_is(key, "slop"))
        block->slop = wndl_json_read_u64(&in->json);
    else if (wndl_bytes_is(key, "num"))
        block->count = wndl_json_read_u64(&in->json);
    else if (wndl_bytes_is(key, "alloc"))
        block->stacks[WNDL_HEAP_ALLOCATED] =
            trace_of(in, wndl_json_read_string(&in->json)) + 1;
    else if (wndl_bytes_is(key, "reps"))
        read_reports(in, block);
    else
        wndl_json_skip(&in->json);
}

/* Adds the bytes of a block. False if the sum overflows. */
static bool count_bytes(struct reading *in, const struct wndl_dmd_block *block)
{
    uint64_t bytes;
    return !__builtin_add_overflow(block->requested, block->slop, &bytes) &&
           !__builtin_mul_overflow(bytes, block->count, &bytes) &&
           !__builtin_add_overflow(bytes, in->bytes, &in->bytes) &&
           in->bytes <= WNDL_DMD_BYTES_MAX &&
           block->count <= WNDL_DMD_BYTES_MAX - in->blocks &&
           (in->blocks += block->count) != 0;
}

static bool same(const struct wndl_dmd_block *a, const struct wndl_dmd_block *b)
{
    return a->requested == b->requested && a->slop == b->slop &&
           memcmp(a->stacks, b->stacks, sizeof a->stacks) == 0;
}

/*
 * Two different blocks may have one hash: the later one is then kept separate.
 */
static void keep_block(struct reading *in, const struct wndl_dmd_block *block)
{
    struct wndl_vec *blocks = &in->dmd->blocks;
    uint64_t hash = wndl_hash_u64(
        wndl_hash_bytes(block->stacks, sizeof block->stacks) ^
        wndl_hash_u64(block->requested ^ wndl_hash_u64(block->slop)));
    uint64_t *found = wndl_map_put(&in->merged, hash);
    struct wndl_dmd_block *slot = NULL;
    if (found != NULL && *found != 0)
        slot = wndl_vec_at(blocks, *found - 1);
    if (slot != NULL && same(slot, block)) {
        slot->count += block->count;
        return;
    }
    slot = found == NULL ? NULL : wndl_vec_push(blocks);
    if (slot == NULL) {
        no_memory(in);
        return;
    }
    *slot = *block;
    *found = blocks->len;
}

static void read_block(struct reading *in)
{
    enum { NOT_GIVEN = -1 };
    struct wndl_dmd_block block = {
        .requested = (uint64_t)NOT_GIVEN, .count = 1};
    (void)wndl_json_peek(&in->json);
    uint64_t start = wndl_json_offset(&in->json);
    if (wndl_json_enter(&in->json, '{', "a block is not an object")) {
        do {
            struct wndl_bytes key = wndl_json_read_key(&in->json);
            read_block_field(in, key, &block);
        } while (wndl_json_another(&in->json, '}'));
    }
    if (!ok(in))
        return;
    if (block.requested == (uint64_t)NOT_GIVEN)
        wndl_json_fail_at(
            &in->json, WNDL_MALFORMED, start, "a block without its req");
    else if (block.count == 0)
        wndl_json_fail_at(
            &in->json, WNDL_MALFORMED, start, "a block whose num is 0");
    else if (!count_bytes(in, &block))
        wndl_json_fail_at(&in->json, WNDL_LIMIT, start,
            "more blocks or bytes in all than 2^53");
    else
        keep_block(in, &block);
}

static void read_blocks(struct reading *in)
{
    if (!wndl_json_enter(&in->json, '[', "blockList is not an array"))
        return;
    do {
        read_block(in);
    } while (wndl_json_another(&in->json, ']'));
}

/* ---- the tables */

static void read_trace(struct reading *in, uint32_t index)
{
    struct wndl_vec *frames = &in->dmd->frame_of;
    struct wndl_dmd_trace trace = {.first = frames->len, .known = true};
    if (wndl_json_enter(&in->json, '[', "a stack is not an array")) {
        do {
            uint32_t frame = frame_of(in, wndl_json_read_string(&in->json));
            uint32_t *slot = ok(in) ? wndl_vec_push(frames) : NULL;
            if (slot != NULL)
                *slot = frame;
            else if (ok(in))
                no_memory(in);
        } while (wndl_json_another(&in->json, ']'));
    }
    if (!ok(in))
        return;
    trace.count = (uint32_t)(frames->len - trace.first);
    *(struct wndl_dmd_trace *)wndl_vec_at(&in->dmd->traces, index) = trace;
}

static void read_traces(struct reading *in)
{
    if (!wndl_json_enter(&in->json, '{', "traceTable is not an object"))
        return;
    do {
        uint32_t index = trace_of(in, wndl_json_read_key(&in->json));
        if (ok(in))
            read_trace(in, index);
    } while (wndl_json_another(&in->json, '}'));
}

static void read_frames(struct reading *in)
{
    if (!wndl_json_enter(&in->json, '{', "frameTable is not an object"))
        return;
    do {
        uint32_t index = frame_of(in, wndl_json_read_key(&in->json));
        struct wndl_bytes text = wndl_json_read_string(&in->json), kept;
        if (ok(in) && copy(in, text, &kept))
            *(struct wndl_bytes *)wndl_vec_at(&in->dmd->frames, index) = kept;
    } while (wndl_json_another(&in->json, '}'));
}

/* ---- the file */

static void read_version(struct reading *in)
{
    (void)wndl_json_peek(&in->json);
    uint64_t start = wndl_json_offset(&in->json);
    uint64_t version = wndl_json_read_u64(&in->json);
    if (ok(in) && version != VERSION)
        wndl_json_fail_at(&in->json, WNDL_UNSUPPORTED, start,
            "unsupported DMD version (expected 5)");
}

static enum part part_of(struct wndl_bytes key)
{
    enum part part = 0;
    while (part < PARTS && !wndl_bytes_is(key, part_names[part]))
        part++;
    return part;
}

static void read_part(struct reading *in)
{
    static void (*const readers[PARTS])(struct reading * in) = {
        read_version, read_invocation, read_blocks, read_traces, read_frames};
    enum part part = part_of(wndl_json_read_key(&in->json));
    if (part == PARTS) {
        wndl_json_skip(&in->json);
    } else if (in->seen >> part & 1) {
        wndl_json_fail(
            &in->json, WNDL_MALFORMED, "a part of the file is repeated here");
    } else {
        in->seen |= 1u << part;
        readers[part](in);
    }
}

static void check_parts(struct reading *in)
{
    for (unsigned part = 0; part < PARTS; part++) {
        char what[64] = "the file has no ";
        strcat(what, part_names[part]);
        if ((in->seen >> part & 1) == 0)
            wndl_json_fail(&in->json, WNDL_MALFORMED, what);
    }
    if (!in->has_mode)
        wndl_json_fail(
            &in->json, WNDL_MALFORMED, "the file does not say its mode");
}

static void count_lost(struct wndl_dmd_file *dmd)
{
    for (size_t i = 0; i < dmd->blocks.len; i++) {
        const struct wndl_dmd_block *block = wndl_vec_at(&dmd->blocks, i);
        bool lost = false;
        for (unsigned k = 0; k < WNDL_HEAP_STACKS; k++) {
            const struct wndl_dmd_trace *trace =
                block->stacks[k] == 0
                    ? NULL
                    : wndl_vec_at(&dmd->traces, block->stacks[k] - 1);
            lost = lost || (trace != NULL && !trace->known);
        }
        dmd->blocks_lost += lost ? block->count : 0;
    }
    for (size_t i = 0; i < dmd->frame_of.len; i++) {
        const uint32_t *frame = wndl_vec_at(&dmd->frame_of, i);
        const struct wndl_bytes *text = wndl_vec_at(&dmd->frames, *frame);
        dmd->frames_lost += text->data == NULL;
    }
}

static void read_file(struct reading *in)
{
    if (wndl_json_enter(&in->json, '{', "not a JSON object")) {
        do {
            read_part(in);
        } while (wndl_json_another(&in->json, '}'));
    }
    wndl_json_expect_end(&in->json);
    if (ok(in))
        check_parts(in);
    if (ok(in))
        count_lost(in->dmd);
}

/* Data that is needed only while reading is in `arena`. */
static enum wndl_status read_source(struct wndl_json_source *source,
    struct wndl_arena *arena, struct wndl_dmd_file *dmd, struct wndl_error *err)
{
    struct reading in = {.dmd = dmd};
    wndl_map_init(&in.merged, arena);
    if (!wndl_intern_init(&in.trace_ids, arena) ||
        !wndl_intern_init(&in.frame_ids, arena))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_json_begin(
        &in.json, wndl_json_source_more, source, dmd->arena.mem, err);
    read_file(&in);
    wndl_json_end(&in.json);
    return in.json.status;
}

enum wndl_status wndl_dmd_json_read(struct wndl_bytes file,
    struct wndl_mem *mem, struct wndl_dmd_file *dmd, struct wndl_error *err)
{
    struct wndl_json_source source;
    struct wndl_arena arena;
    *dmd = (struct wndl_dmd_file){.mode = WNDL_HEAP_MODE_LIVE};
    wndl_arena_init(&dmd->arena, mem);
    wndl_vec_init(&dmd->blocks, &dmd->arena, sizeof(struct wndl_dmd_block));
    wndl_vec_init(&dmd->traces, &dmd->arena, sizeof(struct wndl_dmd_trace));
    wndl_vec_init(&dmd->frame_of, &dmd->arena, sizeof(uint32_t));
    wndl_vec_init(&dmd->frames, &dmd->arena, sizeof(struct wndl_bytes));
    wndl_arena_init(&arena, mem);
    enum wndl_status status = wndl_json_source_open(&source, file, mem);
    if (status == WNDL_OK)
        status = read_source(&source, &arena, dmd, err);
    else
        wndl_fail(err, status, "out of memory");
    wndl_json_source_close(&source);
    wndl_arena_free(&arena);
    return status;
}

void wndl_dmd_json_free(struct wndl_dmd_file *dmd)
{
    wndl_arena_free(&dmd->arena);
}

bool wndl_dmd_json_guess(struct wndl_bytes prefix)
{
    size_t at = 0;
    while (at < prefix.size && prefix.data[at] != 0 &&
           strchr(" \t\r\n", prefix.data[at]) != NULL)
        at++;
    return wndl_gunzip_is_gzip(prefix) ||
           (at < prefix.size && prefix.data[at] == '{');
}
