/* SPDX-License-Identifier: MIT */
/*
 * fuzz_symbol_cache: any bytes as kept answers, with the checksum, size and
 * version mended so that what is behind those is reached. What is read must be
 * whole, and come out again as it was when it is written.
 */
#include "symbolize/files/cache_file.h"

#include <libdeflate.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/version.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { HEADER = 120, MOST = 1 << 16 };

static void put(uint8_t *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
}

static void mend(uint8_t *data, size_t size, struct wndl_cache_key *key)
{
    memcpy(data, "WNDLSYMC", 8);
    put(data + 8, WNDL_CACHE_VERSION, 4);
    put(data + 16, size, 8);
    put(data + 32,
        WNDL_VERSION_MAJOR << 24 | WNDL_VERSION_MINOR << 12 |
            WNDL_VERSION_PATCH,
        4);
    put(data + 12, libdeflate_crc32(0, data + 16, size - 16), 4);
    memcpy(&key->sources, data + 24, 8);
    memcpy(&key->build_id_size, data + 48, 4);
    memcpy(key->build_id, data + 56, sizeof key->build_id);
}

static void expect(bool holds)
{
    if (!holds)
        abort();
}

static void copy(const struct wndl_cache_file *file,
    struct wndl_cache_writer *writer, struct wndl_symbol_frame *frames)
{
    for (uint32_t i = 0; i < file->count; i++) {
        struct wndl_cache_answer answer = wndl_cache_file_answer(file, i);
        struct wndl_cache_answer found;
        expect(wndl_cache_file_find(file, answer.rva, &found));
        expect(found.first == answer.first && found.count == answer.count);
        expect(answer.count <= MOST);
        wndl_cache_file_frames(file, &answer, frames);
        for (uint32_t k = 0; k < answer.count; k++)
            expect(frames[k].inlined == (k + 1 < answer.count));
        wndl_cache_writer_add(
            writer, answer.rva, &(struct wndl_symbols){frames, answer.count});
    }
}

static void check(
    const struct wndl_cache_file *file, const struct wndl_cache_key *key)
{
    struct wndl_arena arena;
    struct wndl_cache_writer writer;
    struct wndl_buf out;
    struct wndl_cache_file again;
    struct wndl_symbol_frame *frames = calloc(MOST, sizeof *frames);
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_buf_init(&out, wndl_mem_libc());
    expect(frames != NULL && wndl_cache_writer_init(&writer, &arena));
    copy(file, &writer, frames);
    expect(wndl_cache_writer_finish(&writer, key, &out) == WNDL_OK);
    struct wndl_bytes bytes = {out.data, out.size};
    expect(wndl_cache_file_read(bytes, key, &again, NULL) == WNDL_OK);
    expect(wndl_bytes_equal(again.answers, file->answers));
    wndl_cache_writer_free(&writer);
    wndl_buf_free(&out);
    wndl_arena_free(&arena);
    free(frames);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_cache_key key = {.build_id_size = 1};
    struct wndl_cache_file file;
    struct wndl_error err = {0};
    uint8_t *copied = size == 0 || size > MOST ? NULL : malloc(size);
    if (copied == NULL)
        return 0;
    memcpy(copied, data, size);
    if (size >= HEADER)
        mend(copied, size, &key);
    struct wndl_bytes bytes = {copied, size};
    enum wndl_status status = wndl_cache_file_read(bytes, &key, &file, &err);
    expect(status == err.status);
    if (status == WNDL_OK)
        check(&file, &key);
    free(copied);
    return 0;
}
