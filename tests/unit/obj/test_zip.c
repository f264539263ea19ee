/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "base/buf.h"
#include "obj/packed/zip.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST = 8, NARROW = 0xffff };

static const char content[] = "the bytes of a library";

/* A member; what is 0 or NULL is as it should be. */
struct made {
    const char *name;
    const char *local_name;
    uint16_t method, local_method, flags;
    uint32_t crc, local_crc;
    uint64_t size, packed, local_size; /* as stated */
    bool wide;                         /* sizes and offset in extra fields */
    bool narrow_extra;                 /* but without those */
};

struct archive {
    const struct made *members;
    size_t count;
    bool wide;
    const char *comment;
    uint64_t directory; /* its stated offset */
    uint16_t volume;    /* entries missing in this volume */
};

static void put(struct wndl_buf *buf, uint64_t value, size_t size)
{
    for (size_t i = 0; i < size; i++)
        wndl_buf_byte(buf, (uint8_t)(value >> 8 * i));
}

static uint64_t or_else(uint64_t stated, uint64_t right)
{
    return stated == 0 ? right : stated;
}

static void put_local(struct wndl_buf *out, const struct made *m)
{
    const char *name = m->local_name == NULL ? m->name : m->local_name;
    uint64_t size = or_else(m->local_size, sizeof content);
    put(out, 0x04034b50, 4);
    put(out, 20, 2);
    put(out, m->flags, 2);
    put(out, or_else(m->local_method, m->method), 2);
    put(out, 0, 4);
    put(out, or_else(m->local_crc, m->crc), 4);
    put(out, m->wide ? UINT32_MAX : size, 4);
    put(out, m->wide ? UINT32_MAX : size, 4);
    put(out, strlen(name), 2);
    put(out, m->wide ? 20 : 0, 2);
    wndl_buf_text(out, name);
    if (m->wide) {
        put(out, 1, 2);
        put(out, 16, 2);
        put(out, size, 8);
        put(out, size, 8);
    }
    wndl_buf_add(out, content, sizeof content);
}

static void put_entry(
    struct wndl_buf *out, const struct made *m, uint64_t offset)
{
    uint64_t size = or_else(m->size, sizeof content);
    uint64_t packed = or_else(m->packed, size);
    bool extra = m->wide && !m->narrow_extra;
    put(out, 0x02014b50, 4);
    put(out, 20, 2);
    put(out, 20, 2);
    put(out, m->flags, 2);
    put(out, m->method, 2);
    put(out, 0, 4);
    put(out, m->crc, 4);
    put(out, m->wide ? UINT32_MAX : packed, 4);
    put(out, m->wide ? UINT32_MAX : size, 4);
    put(out, strlen(m->name), 2);
    put(out, extra ? 4 + 3 + 4 + 24 : 0, 2);
    put(out, 2, 2); /* comment */
    put(out, 0, 8);
    put(out, m->wide ? UINT32_MAX : offset, 4);
    wndl_buf_text(out, m->name);
    if (extra) {
        put(out, 0xcafe, 2);
        put(out, 3, 2);
        put(out, 0, 3);
        put(out, 1, 2);
        put(out, 24, 2);
        put(out, size, 8);
        put(out, packed, 8);
        put(out, offset, 8);
    }
    put(out, 0x2121, 2);
}

static void put_end64(struct wndl_buf *out, const struct archive *a,
    uint64_t directory, uint64_t size)
{
    uint64_t at = out->size;
    put(out, 0x06064b50, 4);
    put(out, 44, 8);
    put(out, 45, 2);
    put(out, 45, 2);
    put(out, 0, 8);
    put(out, a->count, 8);
    put(out, a->count + a->volume, 8);
    put(out, size, 8);
    put(out, or_else(a->directory, directory), 8);
    put(out, 0x07064b50, 4);
    put(out, 0, 4);
    put(out, at, 8);
    put(out, 1, 4);
}

static struct wndl_bytes make_archive(const struct archive *a)
{
    const char *comment = a->comment == NULL ? "" : a->comment;
    uint64_t offsets[MOST];
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    for (size_t i = 0; i < a->count; i++) {
        offsets[i] = out.size;
        put_local(&out, &a->members[i]);
    }
    uint64_t directory = out.size;
    for (size_t i = 0; i < a->count; i++)
        put_entry(&out, &a->members[i], offsets[i]);
    uint64_t size = out.size - directory;
    if (a->wide)
        put_end64(&out, a, directory, size);
    put(&out, 0x06054b50, 4);
    put(&out, 0, 4);
    put(&out, a->wide ? NARROW : a->count, 2);
    put(&out, a->wide ? NARROW : a->count + a->volume, 2);
    put(&out, a->wide ? UINT32_MAX : size, 4);
    put(&out, a->wide ? UINT32_MAX : or_else(a->directory, directory), 4);
    put(&out, strlen(comment), 2);
    wndl_buf_text(&out, comment);
    assert_false(out.failed);
    return (struct wndl_bytes){out.data, out.size};
}

static struct wndl_bytes text_bytes(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static enum wndl_status find(
    const struct archive *a, const char *name, struct wndl_error *err)
{
    struct wndl_bytes zip = make_archive(a);
    struct wndl_bytes member;
    enum wndl_status status =
        wndl_zip_find(zip, text_bytes(name), &member, err);
    if (status == WNDL_OK) {
        assert_int_equal(member.size, sizeof content);
        assert_memory_equal(member.data, content, sizeof content);
    } else {
        assert_int_equal(member.size, 0);
    }
    free((void *)zip.data);
    return status;
}

static void stored_members_are_found_in_narrow_and_wide_archives(void **state)
{
    (void)state;
    for (unsigned bits = 0; bits < 8; bits++) {
        const struct made members[] = {
            {.name = "lib/a.so"},
            {.name = "lib/b.so", .wide = (bits & 1) != 0, .crc = 0x1234},
            {.name = "packed", .method = 8},
        };
        const struct archive a = {members, 3, (bits & 2) != 0,
            (bits & 4) != 0 ? "PK\5\6 in a comment" : NULL, 0, 0};
        assert_int_equal(find(&a, "lib/a.so", NULL), WNDL_OK);
        assert_int_equal(find(&a, "lib/b.so", NULL), WNDL_OK);
        assert_int_equal(find(&a, "lib/c.so", NULL), WNDL_NOT_FOUND);
        assert_int_equal(find(&a, "lib/", NULL), WNDL_NOT_FOUND);
        assert_int_equal(find(&a, "packed", NULL), WNDL_UNSUPPORTED);
    }
}

/* What is said of the only member of an archive. */
static void expect(const struct made *m, enum wndl_status status,
    const char *section, const char *what)
{
    const struct archive a = {.members = m, .count = 1};
    struct wndl_error err = {0};
    assert_int_equal(find(&a, m->name, &err), status);
    if (status == WNDL_OK)
        return;
    assert_string_equal(err.section, section);
    assert_string_equal(err.what, what);
}

static void headers_that_do_not_agree_are_refused(void **state)
{
    (void)state;
    const char *const here = "local file header";
    const char *const other = "contradicts the directory";
    const char *const there = "central directory";
    expect(&(struct made){.name = "a"}, WNDL_OK, NULL, NULL);
    expect(&(struct made){.name = "a", .local_name = "b"}, WNDL_MALFORMED, here,
        other);
    expect(&(struct made){.name = "a", .local_method = 8}, WNDL_MALFORMED, here,
        other);
    expect(&(struct made){.name = "a", .local_crc = 7}, WNDL_MALFORMED, here,
        other);
    expect(&(struct made){.name = "a", .local_size = 7}, WNDL_MALFORMED, here,
        other);
    /* Unless the local header says that it does not know. */
    expect(&(struct made){.name = "a", .local_size = 7, .flags = 8}, WNDL_OK,
        NULL, NULL);
    expect(&(struct made){.name = "a", .size = 9999, .flags = 8},
        WNDL_TRUNCATED, here, "the file reaches past the archive's directory");
    expect(&(struct made){.name = "a", .packed = 7}, WNDL_MALFORMED, there,
        "a stored file of two sizes");
    expect(&(struct made){.name = "a", .wide = true, .narrow_extra = true},
        WNDL_MALFORMED, there, "an entry lacks its wide numbers");
    expect(&(struct made){.name = "a", .flags = 1}, WNDL_UNSUPPORTED, there,
        "the file is encrypted in the archive");
    expect(&(struct made){.name = "a", .method = 8}, WNDL_UNSUPPORTED, there,
        "the file is compressed in the archive; unpack it first");
}

static void directories_that_are_elsewhere_are_refused(void **state)
{
    (void)state;
    const struct made m = {.name = "a"};
    struct wndl_error err = {0};
    for (int wide = 0; wide < 2; wide++) {
        struct archive a = {&m, 1, wide != 0, NULL, 0, 1};
        assert_int_equal(find(&a, "a", &err), WNDL_UNSUPPORTED);
        assert_string_equal(err.what, "an archive of several volumes");
        a.volume = 0;
        a.directory = 100000;
        assert_int_equal(find(&a, "a", &err), WNDL_MALFORMED);
        a.directory = 1;
        assert_int_equal(find(&a, "a", &err), WNDL_MALFORMED);
        assert_string_equal(err.section, "central directory");
    }
}

static void use(struct wndl_bytes bytes)
{
    struct wndl_bytes member;
    struct wndl_error err = {0};
    enum wndl_status status =
        wndl_zip_find(bytes, text_bytes("lib/b.so"), &member, &err);
    assert_int_equal(member.size != 0, status == WNDL_OK);
    if (status != WNDL_OK)
        assert_string_not_equal(err.what, "");
}

static void expect_refusal(struct wndl_bytes prefix, void *context)
{
    (void)context;
    struct wndl_bytes member;
    assert_int_equal(
        wndl_zip_find(prefix, text_bytes("lib/b.so"), &member, NULL),
        WNDL_UNSUPPORTED);
}

static void cut_and_damaged_archives_are_survived(void **state)
{
    (void)state;
    for (int wide = 0; wide < 2; wide++) {
        const struct made members[] = {
            {.name = "lib/a.so"}, {.name = "lib/b.so", .wide = wide != 0}};
        const struct archive a = {members, 2, wide != 0, NULL, 0, 0};
        struct wndl_bytes zip = make_archive(&a);
        uint8_t *bytes = (uint8_t *)zip.data;
        for_each_truncation(zip, expect_refusal, NULL);
        for (size_t i = 0; i < zip.size * 2; i++) {
            uint8_t was = bytes[i / 2];
            bytes[i / 2] = i % 2 == 0 ? 0xff : 0x7f;
            use(zip);
            bytes[i / 2] = was;
        }
        free(bytes);
    }
}

static void write_file(const char *path, struct wndl_bytes bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    fclose(file);
}

static void paths_lead_into_archives(void **state)
{
    (void)state;
    const struct made m = {.name = "lib/a.so"};
    const struct archive a = {.members = &m, .count = 1};
    struct wndl_bytes zip = make_archive(&a);
    char path[] = "/tmp/test_zip.XXXXXX";
    char longer[64];
    struct wndl_file file;
    struct wndl_bytes bytes;
    struct wndl_error err = {0};
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    write_file(path, zip);
    assert_int_equal(wndl_zip_open_path(path, &file, &bytes, NULL), WNDL_OK);
    assert_int_equal(bytes.size, zip.size);
    wndl_file_close(&file);
    snprintf(longer, sizeof longer, "%s!/lib/a.so", path);
    assert_int_equal(wndl_zip_open_path(longer, &file, &bytes, NULL), WNDL_OK);
    assert_int_equal(bytes.size, sizeof content);
    wndl_file_close(&file);
    snprintf(longer, sizeof longer, "%s!/lib/b.so", path);
    assert_int_equal(
        wndl_zip_open_path(longer, &file, &bytes, &err), WNDL_NOT_FOUND);
    assert_string_equal(err.file, longer);
    assert_int_equal(
        wndl_zip_open_path("/none!/b", &file, &bytes, &err), WNDL_IO);
    assert_int_equal(wndl_zip_open_path("/none", &file, &bytes, &err), WNDL_IO);
    assert_string_equal(err.file, "/none");
    unlink(path);
    free((void *)zip.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_members_are_found_in_narrow_and_wide_archives),
        cmocka_unit_test(headers_that_do_not_agree_are_refused),
        cmocka_unit_test(directories_that_are_elsewhere_are_refused),
        cmocka_unit_test(cut_and_damaged_archives_are_survived),
        cmocka_unit_test(paths_lead_into_archives),
    };
    return cmocka_run_group_tests_name("zip", tests, NULL, NULL);
}
