/* SPDX-License-Identifier: MIT */
/*
 * Numbers are little-endian. The header's CRC covers everything after it, so
 * that damage is found before anything is used. Contents are checked when they
 * are used all the same, since anyone can make a valid CRC.
 */
#include "symbolize/files/cache_file.h"

#include <libdeflate.h>
#include <string.h>
#include <windlass/version.h>

enum {
    CRC_START = 16, /* start of the bytes that the CRC covers */
    HEADER_SIZE = 120,
    ANSWER_SIZE = 16,
    FRAME_SIZE = 32,
    FLAG_INLINED = 1,
};

static const char magic[8] = "WNDLSYMC";

/* The version of windlass that wrote it: another one may answer differently. */
static uint32_t writer_version(void)
{
    return WNDL_VERSION_MAJOR << 24 | WNDL_VERSION_MINOR << 12 |
           WNDL_VERSION_PATCH;
}

static uint32_t crc_of(struct wndl_bytes file)
{
    return libdeflate_crc32(0, file.data + CRC_START, file.size - CRC_START);
}

/* ---- reading */

struct header {
    uint32_t version;
    uint32_t crc;
    uint64_t size;
    uint64_t sources;
    uint32_t writer;
    uint32_t answers;
    uint32_t frames;
    uint32_t strings;
    uint32_t build_id_size;
    struct wndl_bytes build_id;
};

static void read_header(struct wndl_bytes bytes, struct header *h)
{
    struct wndl_cursor c = wndl_cursor_at(bytes, sizeof magic, false);
    h->version = wndl_cursor_u32(&c);
    h->crc = wndl_cursor_u32(&c);
    h->size = wndl_cursor_u64(&c);
    h->sources = wndl_cursor_u64(&c);
    h->writer = wndl_cursor_u32(&c);
    h->answers = wndl_cursor_u32(&c);
    h->frames = wndl_cursor_u32(&c);
    h->strings = wndl_cursor_u32(&c);
    h->build_id_size = wndl_cursor_u32(&c);
    h->build_id = wndl_bytes_slice(
        bytes, wndl_cursor_offset(&c) + 4, WNDL_CACHE_BUILD_ID_MAX);
}

static enum wndl_status wrong(
    struct wndl_error *err, uint64_t offset, const char *what)
{
    return wndl_fail_at(err, WNDL_MALFORMED, "file", offset, what);
}

static enum wndl_status check_header(struct wndl_bytes bytes,
    const struct header *h, const struct wndl_cache_key *key,
    struct wndl_error *err)
{
    if (bytes.size < sizeof magic ||
        memcmp(bytes.data, magic, sizeof magic) != 0)
        return wrong(err, 0, "not a symbol cache file of windlass");
    if (bytes.size < HEADER_SIZE)
        return wndl_fail_at(
            err, WNDL_TRUNCATED, "file", bytes.size, "ends inside its header");
    if (h->version != WNDL_CACHE_VERSION || h->writer != writer_version())
        return wndl_fail_at(err, WNDL_UNSUPPORTED, "file", sizeof magic,
            "written by another version of windlass");
    if (h->size > bytes.size)
        return wndl_fail_at(err, WNDL_TRUNCATED, "file", bytes.size,
            "ends before the data that its header lists");
    if (h->size != bytes.size || h->crc != crc_of(bytes))
        return wrong(err, sizeof magic + 4, "its checksum is wrong");
    struct wndl_bytes wanted = {key->build_id, WNDL_CACHE_BUILD_ID_MAX};
    if (h->sources != key->sources || h->build_id_size != key->build_id_size ||
        !wndl_bytes_equal(h->build_id, wanted))
        return wrong(err, sizeof magic + 16, "is about another file");
    return WNDL_OK;
}

static uint64_t offset_in(struct wndl_bytes whole, struct wndl_bytes part)
{
    return (uint64_t)(part.data - whole.data);
}

/* The tables are one after the other and end with the file. */
static enum wndl_status find_tables(struct wndl_bytes bytes,
    const struct header *h, struct wndl_cache_file *file,
    struct wndl_error *err)
{
    uint64_t at = HEADER_SIZE;
    uint64_t size = (uint64_t)h->answers * ANSWER_SIZE;
    file->answers = wndl_bytes_slice(bytes, at, size);
    at += size;
    size = (uint64_t)h->frames * FRAME_SIZE;
    file->frames = wndl_bytes_slice(bytes, at, size);
    at += size;
    file->strings = wndl_bytes_slice(bytes, at, h->strings);
    file->count = h->answers;
    if (at + h->strings != bytes.size)
        return wrong(err, sizeof magic + 28, "its tables do not fill it");
    if (h->strings == 0 || file->strings.data[0] != 0 ||
        file->strings.data[h->strings - 1] != 0)
        return wrong(err, at, "its strings do not begin and end with NUL");
    return WNDL_OK;
}

static enum wndl_status check_frames(struct wndl_bytes bytes,
    const struct wndl_cache_file *file, const struct wndl_cache_answer *answer,
    struct wndl_error *err)
{
    for (uint32_t i = 0; i < answer->count; i++) {
        uint64_t at = (uint64_t)(answer->first + i) * FRAME_SIZE;
        struct wndl_cursor c = wndl_cursor_at(file->frames, at + 8, false);
        bool outside = false;
        for (int k = 0; k < 3; k++)
            outside |= wndl_cursor_u32(&c) >= file->strings.size;
        wndl_cursor_skip(&c, 10);
        bool inlined = i + 1 < answer->count;
        if (outside || wndl_cursor_u16(&c) != (inlined ? FLAG_INLINED : 0))
            return wrong(err, offset_in(bytes, file->frames) + at,
                "an impossible frame");
    }
    return WNDL_OK;
}

static enum wndl_status check_answers(struct wndl_bytes bytes,
    const struct wndl_cache_file *file, struct wndl_error *err)
{
    uint64_t frames = file->frames.size / FRAME_SIZE;
    uint64_t next = 0;
    uint64_t before = 0;
    for (uint32_t i = 0; i < file->count; i++) {
        struct wndl_cache_answer answer = wndl_cache_file_answer(file, i);
        uint64_t at = HEADER_SIZE + (uint64_t)i * ANSWER_SIZE;
        if (answer.first != next || answer.count > frames - next)
            return wrong(err, at, "an answer without its frames");
        if (i != 0 && answer.rva <= before)
            return wrong(err, at, "answers that do not ascend");
        enum wndl_status status = check_frames(bytes, file, &answer, err);
        if (status != WNDL_OK)
            return status;
        before = answer.rva;
        next += answer.count;
    }
    return next == frames ? WNDL_OK
                          : wrong(err, HEADER_SIZE, "frames of no answer");
}

enum wndl_status wndl_cache_file_read(struct wndl_bytes bytes,
    const struct wndl_cache_key *key, struct wndl_cache_file *file,
    struct wndl_error *err)
{
    struct header h;
    read_header(bytes, &h);
    *file = (struct wndl_cache_file){0};
    enum wndl_status status = check_header(bytes, &h, key, err);
    if (status == WNDL_OK)
        status = find_tables(bytes, &h, file, err);
    if (status == WNDL_OK)
        status = check_answers(bytes, file, err);
    if (status != WNDL_OK)
        *file = (struct wndl_cache_file){0};
    return status;
}

struct wndl_cache_answer wndl_cache_file_answer(
    const struct wndl_cache_file *file, uint32_t index)
{
    struct wndl_cursor c =
        wndl_cursor_at(file->answers, (uint64_t)index * ANSWER_SIZE, false);
    struct wndl_cache_answer answer = {.rva = wndl_cursor_u64(&c)};
    answer.first = wndl_cursor_u32(&c);
    answer.count = wndl_cursor_u32(&c);
    return answer;
}

bool wndl_cache_file_find(const struct wndl_cache_file *file, uint64_t rva,
    struct wndl_cache_answer *answer)
{
    uint32_t low = 0;
    uint32_t high = file->count;
    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        *answer = wndl_cache_file_answer(file, mid);
        if (answer->rva == rva)
            return true;
        if (answer->rva < rva)
            low = mid + 1;
        else
            high = mid;
    }
    return false;
}

static const char *string_at(const struct wndl_cache_file *file, uint32_t at)
{
    return (const char *)file->strings.data + at;
}

void wndl_cache_file_frames(const struct wndl_cache_file *file,
    const struct wndl_cache_answer *answer, struct wndl_symbol_frame *frames)
{
    uint64_t at = (uint64_t)answer->first * FRAME_SIZE;
    struct wndl_cursor c = wndl_cursor_at(file->frames, at, false);
    for (uint32_t i = 0; i < answer->count; i++) {
        struct wndl_symbol_frame *frame = &frames[i];
        frame->function_rva = wndl_cursor_u64(&c);
        frame->function = string_at(file, wndl_cursor_u32(&c));
        frame->mangled = string_at(file, wndl_cursor_u32(&c));
        frame->file = string_at(file, wndl_cursor_u32(&c));
        frame->line = wndl_cursor_u32(&c);
        frame->column = wndl_cursor_u32(&c);
        frame->language = wndl_cursor_u16(&c);
        frame->inlined = wndl_cursor_u16(&c) == FLAG_INLINED;
    }
}

/* ---- writing */

bool wndl_cache_writer_init(
    struct wndl_cache_writer *writer, struct wndl_arena *arena)
{
    wndl_buf_init(&writer->answers, arena->mem);
    wndl_buf_init(&writer->frames, arena->mem);
    wndl_buf_init(&writer->strings, arena->mem);
    wndl_vec_init(&writer->starts, arena, sizeof(uint32_t));
    wndl_buf_byte(&writer->strings, 0);
    return wndl_intern_init(&writer->seen, arena) &&
           wndl_vec_push(&writer->starts) != NULL;
}

void wndl_cache_writer_free(struct wndl_cache_writer *writer)
{
    wndl_buf_free(&writer->answers);
    wndl_buf_free(&writer->frames);
    wndl_buf_free(&writer->strings);
}

/* Appends the offset of the string, and the string if it is new. */
static void add_string(struct wndl_cache_writer *writer, const char *text)
{
    uint32_t id = 0;
    size_t size = strlen(text);
    struct wndl_bytes bytes = {(const uint8_t *)text, size};
    struct wndl_buf *strings = &writer->strings;
    if (strings->size > WNDL_CACHE_SIZE_MAX)
        return; /* finish will refuse */
    if (!wndl_intern_add(&writer->seen, bytes, &id))
        strings->failed = true;
    if (id == writer->starts.len) {
        uint32_t *start = wndl_vec_push(&writer->starts);
        if (start == NULL)
            strings->failed = true;
        else
            *start = (uint32_t)strings->size;
        wndl_buf_add(strings, text, size + 1);
    }
    if (!strings->failed)
        wndl_buf_u32le(&writer->frames,
            *(const uint32_t *)wndl_vec_at(&writer->starts, id));
}

static void add_frame(
    struct wndl_cache_writer *writer, const struct wndl_symbol_frame *frame)
{
    struct wndl_buf *to = &writer->frames;
    wndl_buf_u64le(to, frame->function_rva);
    add_string(writer, frame->function);
    add_string(writer, frame->mangled);
    add_string(writer, frame->file);
    wndl_buf_u32le(to, frame->line);
    wndl_buf_u32le(to, frame->column);
    uint32_t flags = frame->inlined ? FLAG_INLINED : 0;
    wndl_buf_u32le(to, frame->language | flags << 16);
}

void wndl_cache_writer_add(struct wndl_cache_writer *writer, uint64_t rva,
    const struct wndl_symbols *answer)
{
    wndl_buf_u64le(&writer->answers, rva);
    wndl_buf_u32le(
        &writer->answers, (uint32_t)(writer->frames.size / FRAME_SIZE));
    wndl_buf_u32le(&writer->answers, (uint32_t)answer->count);
    for (size_t i = 0; i < answer->count; i++)
        add_frame(writer, &answer->frames[i]);
}

static void write_header(const struct wndl_cache_writer *writer,
    const struct wndl_cache_key *key, struct wndl_buf *out)
{
    size_t tables =
        writer->answers.size + writer->frames.size + writer->strings.size;
    wndl_buf_add(out, magic, sizeof magic);
    wndl_buf_u32le(out, WNDL_CACHE_VERSION);
    wndl_buf_u32le(out, 0); /* the CRC, when all else is there */
    wndl_buf_u64le(out, HEADER_SIZE + tables);
    wndl_buf_u64le(out, key->sources);
    wndl_buf_u32le(out, writer_version());
    wndl_buf_u32le(out, (uint32_t)(writer->answers.size / ANSWER_SIZE));
    wndl_buf_u32le(out, (uint32_t)(writer->frames.size / FRAME_SIZE));
    wndl_buf_u32le(out, (uint32_t)writer->strings.size);
    wndl_buf_u32le(out, key->build_id_size);
    wndl_buf_u32le(out, 0);
    wndl_buf_add(out, key->build_id, sizeof key->build_id);
}

enum wndl_status wndl_cache_writer_finish(
    const struct wndl_cache_writer *writer, const struct wndl_cache_key *key,
    struct wndl_buf *out)
{
    const struct wndl_buf *tables[] = {
        &writer->answers, &writer->frames, &writer->strings};
    size_t start = out->size;
    size_t size = HEADER_SIZE;
    for (size_t i = 0; i < 3; i++) {
        if (tables[i]->failed)
            return WNDL_NOMEM;
        size += tables[i]->size;
    }
    if (size > WNDL_CACHE_SIZE_MAX)
        return WNDL_LIMIT;
    write_header(writer, key, out);
    for (size_t i = 0; i < 3; i++)
        wndl_buf_add(out, tables[i]->data, tables[i]->size);
    if (out->failed)
        return WNDL_NOMEM;
    uint32_t crc = crc_of((struct wndl_bytes){out->data + start, size});
    for (int i = 0; i < 4; i++)
        out->data[start + sizeof magic + 4 + i] = (uint8_t)(crc >> 8 * i);
    return WNDL_OK;
}
