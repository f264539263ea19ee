/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "coremake.h"
#include "snapshot/core_unpack.h"

#include <elf.h>
#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { GZIP, ZSTD, XZ, KINDS, ROOM = 1024 * 1024, GZIP_BITS = 31 };

static const char *const names[] = {"gzip", "zstd", "xz"};

static char path[] = "/tmp/wndl-core-XXXXXX";

/* A core with pages of zeros, and bytes after its last segment. */
static struct wndl_bytes make(size_t surplus)
{
    static uint8_t data[300 * 1000];
    struct wndl_buf notes;
    for (size_t i = 0; i < sizeof data; i++)
        data[i] = i / 10000 % 2 == 0 ? 0 : (uint8_t)(i * i >> 7);
    const struct made_memory memory = {
        0x10000, sizeof data, PF_R, {data, sizeof data}};
    wndl_buf_init(&notes, wndl_mem_libc());
    put_note_of(&notes, "CORE", 77, (struct wndl_bytes){data, 5});
    const struct core_recipe recipe = {EM_X86_64, &notes, &memory, 1, false};
    struct wndl_bytes bytes = make_core(&recipe);
    wndl_buf_free(&notes);
    uint8_t *larger = realloc((void *)bytes.data, bytes.size + surplus);
    assert_non_null(larger);
    memset(larger + bytes.size, 7, surplus);
    return (struct wndl_bytes){larger, bytes.size + surplus};
}

static size_t pack_gzip(uint8_t *to, struct wndl_bytes bytes)
{
    z_stream z = {.next_in = (Bytef *)bytes.data,
        .avail_in = (unsigned)bytes.size,
        .next_out = to,
        .avail_out = ROOM};
    assert_int_equal(
        deflateInit2(&z, 6, Z_DEFLATED, GZIP_BITS, 8, Z_DEFAULT_STRATEGY),
        Z_OK);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    deflateEnd(&z);
    return ROOM - z.avail_out;
}

static size_t pack(int kind, uint8_t *to, struct wndl_bytes bytes)
{
    size_t size = 0;
    if (kind == GZIP)
        return pack_gzip(to, bytes);
    if (kind == ZSTD)
        return ZSTD_compress(to, ROOM, bytes.data, bytes.size, 3);
    assert_int_equal(lzma_easy_buffer_encode(1, LZMA_CHECK_CRC32, NULL,
                         bytes.data, bytes.size, to, &size, ROOM),
        LZMA_OK);
    return size;
}

static void write_file(struct wndl_bytes bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
}

static enum wndl_status unpack(struct wndl_bytes packed, struct wndl_file *file,
    struct wndl_error *damage, struct wndl_error *err)
{
    write_file(packed);
    assert_int_equal(wndl_file_open(path, file, err), WNDL_OK);
    return wndl_core_unpack(file, damage, err);
}

static void contents_are_the_cores(void **state)
{
    (void)state;
    const struct wndl_bytes whole = make(0), more = make(5000);
    uint8_t *packed = malloc(ROOM);
    for (int i = 0; i < 2 * KINDS; i++) {
        const struct wndl_bytes bytes = i < KINDS ? whole : more;
        struct wndl_file file;
        struct wndl_error damage = {0}, err = {0};
        const size_t size = pack(i % KINDS, packed, bytes);
        assert_int_equal(
            unpack((struct wndl_bytes){packed, size}, &file, &damage, &err),
            WNDL_OK);
        assert_int_equal(damage.status, WNDL_OK);
        assert_int_equal(file.bytes.size, whole.size); /* no more than that */
        assert_memory_equal(file.bytes.data, whole.data, whole.size);
        wndl_file_close(&file);
    }
    free(packed);
    free((void *)whole.data);
    free((void *)more.data);
}

static void other_files_stay_as_they_are(void **state)
{
    (void)state;
    static const uint8_t text[] = "some text";
    struct wndl_file file;
    struct wndl_error damage = {0}, err = {0};
    assert_int_equal(
        unpack((struct wndl_bytes){text, sizeof text}, &file, &damage, &err),
        WNDL_OK);
    assert_int_equal(file.bytes.size, sizeof text);
    wndl_file_close(&file);
}

static void contents_that_are_no_core_are_refused(void **state)
{
    (void)state;
    static const uint8_t text[100] = "some text";
    uint8_t *packed = malloc(ROOM);
    for (int kind = 0; kind < KINDS; kind++) {
        struct wndl_file file;
        struct wndl_error damage = {0}, err = {0};
        const size_t size =
            pack(kind, packed, (struct wndl_bytes){text, sizeof text});
        assert_int_equal(
            unpack((struct wndl_bytes){packed, size}, &file, &damage, &err),
            WNDL_UNSUPPORTED);
        assert_string_equal(err.what, "not a core file");
        wndl_file_close(&file);
    }
    free(packed);
}

static void unpack_cut(
    const char *name, struct wndl_bytes packed, struct wndl_bytes whole)
{
    struct wndl_file file;
    struct wndl_error damage = {0}, err = {0};
    const enum wndl_status status = unpack(packed, &file, &damage, &err);
    const struct wndl_error *said = status == WNDL_OK ? &damage : &err;
    if (said->status != WNDL_TRUNCATED || strstr(said->what, "ends") == NULL)
        fail_msg("%s, %zu bytes: %s", name, packed.size, said->what);
    assert_true(file.bytes.size <= whole.size);
    if (file.bytes.size != 0)
        assert_memory_equal(file.bytes.data, whole.data, file.bytes.size);
    wndl_file_close(&file);
}

/* What came before the end counts, and the loss is said. */
static void cut_data_is_used_up_to_its_end(void **state)
{
    (void)state;
    enum { PARTS = 40, FIRST = 8 };
    const struct wndl_bytes whole = make(0);
    uint8_t *packed = malloc(ROOM);
    for (int kind = 0; kind < KINDS; kind++) {
        const size_t size = pack(kind, packed, whole);
        for (size_t i = 0; i < PARTS; i++)
            unpack_cut(names[kind],
                (struct wndl_bytes){packed, FIRST + (size - FIRST) * i / PARTS},
                whole);
    }
    free(packed);
    free((void *)whole.data);
}

static int make_path(void **state)
{
    (void)state;
    const int fd = mkstemp(path);
    return fd < 0 ? -1 : close(fd);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contents_are_the_cores),
        cmocka_unit_test(other_files_stay_as_they_are),
        cmocka_unit_test(contents_that_are_no_core_are_refused),
        cmocka_unit_test(cut_data_is_used_up_to_its_end),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
