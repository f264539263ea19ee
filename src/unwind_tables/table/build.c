/* SPDX-License-Identifier: MIT */
#include "cfi_import/core/source.h"
#include "rec/crc32c.h"
#include "unwind_tables/table/layout.h"
#include "unwind_tables/table/table.h"

#include <string.h>

static enum wndl_status no_memory(struct wndl_error *err)
{
    return wndl_fail(err, WNDL_NOMEM, "out of memory");
}

static void put16(struct wndl_buf *out, uint16_t value)
{
    wndl_buf_byte(out, (uint8_t)value);
    wndl_buf_byte(out, (uint8_t)(value >> 8));
}

static void put_zeros(struct wndl_buf *out, size_t count)
{
    for (; count > 0; count--)
        wndl_buf_byte(out, 0);
}

/* The source of the table. */
struct subject {
    const struct wndl_table_source *source;
    const struct wndl_table_rows *rows;
    const struct wndl_table_layout *layout;
    uint16_t machine;
    struct wndl_bytes build_id;
};

static void write_header(struct wndl_buf *out, const struct subject *s)
{
    const struct wndl_table_layout *l = s->layout;
    wndl_buf_add(out, WNDL_TABLE_MAGIC, 8);
    wndl_buf_u32le(out, 0); /* the checksum */
    put16(out, WNDL_TABLE_VERSION);
    put16(out, s->machine);
    wndl_buf_byte(out, (uint8_t)l->block_shift);
    wndl_buf_byte(out, (uint8_t)l->record_shift);
    wndl_buf_byte(out, (uint8_t)s->build_id.size);
    wndl_buf_byte(out, 0);
    wndl_buf_u32le(out, 0); /* the size */
    wndl_buf_u64le(out, s->rows->base);
    wndl_buf_u32le(out, l->block_count);
    wndl_buf_u32le(out, (uint32_t)l->rules.len);
    for (unsigned i = 0; i < WNDL_TABLE_HOT_CLASSES - 1; i++)
        put16(out, (uint16_t)l->hot_ends[i]);
    wndl_buf_u32le(out, (uint32_t)l->dict.len);
    wndl_buf_u32le(out, (uint32_t)s->rows->full.len);
    wndl_buf_u32le(out, (uint32_t)l->records.len);
    wndl_buf_u32le(out, (uint32_t)s->rows->runs.len);
    wndl_buf_u32le(out, (uint32_t)s->source->functions.len);
    wndl_buf_add(out, s->build_id.data, s->build_id.size);
    put_zeros(out, WNDL_TABLE_HEADER - out->size);
}

static void patch32(struct wndl_buf *out, size_t at, uint32_t value)
{
    for (unsigned i = 0; i < 4; i++)
        out->data[at + i] = (uint8_t)(value >> 8 * i);
}

static enum wndl_status write_table(
    struct wndl_buf *out, const struct subject *s, struct wndl_error *err)
{
    enum { SIZE_AT = 20 };
    const struct wndl_table_layout *l = s->layout;
    write_header(out, s);
    wndl_buf_add(out, l->index.data, l->index.len);
    wndl_buf_add(out, l->dict.data, l->dict.len);
    for (size_t i = 0; i < l->rules.len; i++)
        wndl_buf_u32le(out, *(const uint32_t *)wndl_vec_at(&l->rules, i));
    wndl_buf_add(out, s->rows->full.data, s->rows->full.len);
    wndl_buf_add(out, l->records.data, l->records.len);
    put_zeros(out, WNDL_TABLE_TAIL);
    if (out->failed)
        return no_memory(err);
    if (out->size > UINT32_MAX)
        return wndl_fail(
            err, WNDL_LIMIT, "has more rows than an unwind table holds");
    patch32(out, SIZE_AT, (uint32_t)out->size);
    const size_t at = WNDL_TABLE_CRC_AT + sizeof(uint32_t);
    patch32(
        out, WNDL_TABLE_CRC_AT, wndl_crc32c(0, out->data + at, out->size - at));
    return WNDL_OK;
}

static void fill_stats(struct wndl_table_stats *stats, const struct subject *s,
    const struct wndl_object *object)
{
    *stats = (struct wndl_table_stats){
        .source = s->source->name,
        .source_size = s->source->size,
        .functions = s->source->functions.len,
        .rows = s->rows->runs.len,
        .lost = s->rows->lost,
        .phrases = s->layout->phrase_count,
        .uniform_blocks = s->layout->uniform_blocks,
        .plain_blocks = s->layout->plain_blocks,
    };
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        const struct wndl_section section = wndl_object_section(object, i);
        if (strcmp(s->source->name, ".eh_frame") == 0 &&
            wndl_bytes_is(section.name, ".eh_frame_hdr"))
            stats->source_size += section.size;
    }
}

static enum wndl_status build(struct wndl_object *object,
    struct wndl_arena *arena, struct wndl_buf *out,
    struct wndl_table_stats *stats, struct wndl_error *err)
{
    struct wndl_table_source source;
    struct wndl_table_rows rows;
    struct wndl_table_layout layout;
    const struct subject subject = {&source, &rows, &layout,
        wndl_object_machine(object), wndl_object_build_id(object)};
    enum wndl_status status =
        wndl_table_source_open(&source, object, arena, err);
    if (status != WNDL_OK)
        return status;
    /* The binary of such a file has one. */
    if (subject.build_id.size == 0 &&
        wndl_object_has_added(object, WNDL_STACK_RECORD_SECTION))
        return wndl_fail(err, WNDL_NOT_FOUND,
            "has no INFO CODE_ID record with the build-id that its table "
            "needs");
    if (subject.build_id.size > WNDL_TABLE_BUILD_ID_MAX)
        return wndl_fail(
            err, WNDL_LIMIT, "has a build-id of more than 32 bytes");
    status = wndl_table_rows_read(&rows, &source, arena, err);
    if (status != WNDL_OK)
        return status;
    if (!wndl_table_lay_out(&layout, &rows, subject.machine, arena))
        return no_memory(err);
    fill_stats(stats, &subject, object);
    return write_table(out, &subject, err);
}

enum wndl_status wndl_table_build(struct wndl_object *object,
    struct wndl_buf *out, struct wndl_table_stats *stats,
    struct wndl_error *err)
{
    struct wndl_arena arena;
    wndl_arena_init(&arena, out->mem);
    enum wndl_status status = build(object, &arena, out, stats, err);
    wndl_arena_free(&arena);
    wndl_error_set_file(
        status == WNDL_OK ? NULL : err, wndl_object_path(object));
    return status;
}
