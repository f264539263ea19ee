/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/fix/fix.h"
#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>

extern const char __ehdr_start[]; /* the linker's: where rva 0 is mapped */

int landmark(int n);

/* Seen from elsewhere: optimisers leave its name alone. */
__attribute__((noinline, used)) int landmark(int n)
{
    __asm__ volatile("" : "+r"(n));
    return n * 3;
}

/* What a listener heard. */
struct heard {
    int failed;
    int slow;
    size_t addresses;
};

static uint64_t now;
static uint64_t step; /* how far each look moves it */

static uint64_t clock_of_test(void)
{
    return now += step;
}

static void hear_failed(
    void *context, const char *path, const struct wndl_error *err)
{
    struct heard *heard = context;
    assert_true(path[0] != '\0' && err->status != WNDL_OK);
    heard->failed++;
}

static void hear_slow(void *context, const char *path, size_t addresses)
{
    struct heard *heard = context;
    assert_string_equal(path, "/proc/self/exe");
    heard->addresses = addresses;
    heard->slow++;
}

static bool take(void *context, struct wndl_bytes piece)
{
    struct wndl_buf *buf = context;
    wndl_buf_add(buf, piece.data, piece.size);
    return !buf->failed;
}

static struct wndl_fix *open_fix(struct wndl_mem *mem, struct heard *heard)
{
    struct wndl_fix *fix;
    struct wndl_fix_options options = {.inlines = true};
    struct wndl_fix_listener listener = {
        heard, hear_failed, hear_slow, NULL, clock_of_test, NULL};
    *heard = (struct heard){0};
    return wndl_fix_open(mem, &options, &listener, &fix) == WNDL_OK ? fix
                                                                    : NULL;
}

/* `lines` lines, every second of which has the landmark and every fifth a
 * file that is not there. */
static size_t make_text(char *text, size_t size, int lines)
{
    unsigned long rva =
        (unsigned long)((uintptr_t)landmark - (uintptr_t)__ehdr_start);
    size_t used = 0;
    for (int i = 0; i < lines; i++) {
        used += (size_t)snprintf(text + used, size - used, "line %d", i);
        if (i % 2 == 0)
            used += (size_t)snprintf(text + used, size - used,
                " #01: ???[/proc/self/exe +0x%lx]", rva);
        if (i % 5 == 0)
            used += (size_t)snprintf(
                text + used, size - used, " #02: f[/none +0x%x]", i);
        used += (size_t)snprintf(text + used, size - used, "\n");
    }
    return used;
}

static void batches_of_any_size_say_the_same(void **state)
{
    (void)state;
    char text[8192];
    size_t size = make_text(text, sizeof text, 60);
    struct heard heard;
    struct wndl_buf at_once, by_line;
    wndl_buf_init(&at_once, wndl_mem_libc());
    wndl_buf_init(&by_line, wndl_mem_libc());
    struct wndl_fix_sink whole_sink = {&at_once, take};
    struct wndl_fix_sink line_sink = {&by_line, take};
    struct wndl_fix *fix = open_fix(wndl_mem_libc(), &heard);
    struct wndl_bytes whole = {(const uint8_t *)text, size};
    assert_int_equal(wndl_fix_text(fix, whole, &whole_sink), WNDL_OK);
    for (size_t at = 0; at < size;) {
        size_t end = (size_t)(strchr(text + at, '\n') - text) + 1;
        struct wndl_bytes line = {whole.data + at, end - at};
        assert_int_equal(wndl_fix_text(fix, line, &line_sink), WNDL_OK);
        assert_int_equal(wndl_fix_has_frames(fix, line),
            memmem(line.data, line.size, " #", 2) != NULL);
        at = end;
    }
    assert_int_equal(at_once.size, by_line.size);
    assert_memory_equal(at_once.data, by_line.data, at_once.size);
    assert_non_null(memmem(at_once.data, at_once.size, ": landmark (", 12));
    assert_non_null(memmem(at_once.data, at_once.size, "f (/none + 0xf)", 15));
    assert_int_equal(heard.failed, 1);
    wndl_fix_close(fix);
    wndl_buf_free(&at_once);
    wndl_buf_free(&by_line);
}

/* Colours make text no frames, and no frames text. */
static void colours_are_no_frames(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        bool frames;
    } cases[] = {
        {"\033[1m#01:\033[0m f[/none\033[32m +0x\033[0m1f]\n", true},
        {"\033[1mwarning\033[0m: x\033[33m0\n\033[0mx1\n", false},
        {"\033]0;#01: f[/none +0x1f]\007\n", false},
        {"\033[1m{{\033[0m{reset}}}\n", true},
    };
    struct heard heard;
    struct wndl_fix *fix = open_fix(wndl_mem_libc(), &heard);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wndl_bytes text = {
            (const uint8_t *)cases[i].text, strlen(cases[i].text)};
        assert_int_equal(wndl_fix_has_frames(fix, text), cases[i].frames);
    }
    wndl_fix_close(fix);
}

static void who_waits_for_a_module_is_told_once(void **state)
{
    (void)state;
    char text[8192] = "";
    size_t size = make_text(text, sizeof text, 60);
    struct heard heard;
    for (int slow = 0; slow < 2; slow++) {
        /* The file and one address: each takes 0.3 s, or hardly anything. */
        step = slow ? 300000000 : 1000;
        struct wndl_buf out;
        wndl_buf_init(&out, wndl_mem_libc());
        struct wndl_fix_sink sink = {&out, take};
        struct wndl_fix *fix = open_fix(wndl_mem_libc(), &heard);
        for (int i = 0; i < 3; i++)
            assert_int_equal(
                wndl_fix_text(fix,
                    (struct wndl_bytes){(const uint8_t *)text, size}, &sink),
                WNDL_OK);
        assert_int_equal(heard.slow, slow);
        assert_int_equal(heard.addresses, slow ? 1 : 0);
        wndl_fix_close(fix);
        wndl_buf_free(&out);
    }
    step = 0;
}

static bool refuse(void *context, struct wndl_bytes piece)
{
    (void)piece;
    ++*(int *)context;
    return false;
}

static void nothing_is_written_after_a_refusal(void **state)
{
    (void)state;
    struct heard heard;
    int refused = 0;
    size_t size = 4 << 20;
    char *text = calloc(1, size);
    assert_non_null(text);
    for (size_t i = 0; i + 32 < size; i += 32)
        memcpy(text + i,
            "#01: ??"
            "?[/none +0x12345678] .\n..",
            32);
    struct wndl_fix *fix = open_fix(wndl_mem_libc(), &heard);
    struct wndl_fix_sink sink = {&refused, refuse};
    assert_int_equal(
        wndl_fix_text(fix, (struct wndl_bytes){(uint8_t *)text, size}, &sink),
        WNDL_IO);
    assert_int_equal(refused, 1);
    wndl_fix_close(fix);
    free(text);
}

static const char dmd[] =
    "{\"version\": 5, \"invocation\": {}, \"traceTable\": {\"A\": [\"B\"]},\n"
    "\"frameTable\": {\"B\": \"#01: ???[/proc/self/exe +0x1]\"}}";

static void no_memory_is_told(void **state)
{
    (void)state;
    char text[8192];
    size_t size = make_text(text, sizeof text, 6);
    enum wndl_status status = WNDL_NOMEM;
    for (long budget = 0; status != WNDL_OK; budget++) {
        struct failing_mem heap;
        struct heard heard;
        struct wndl_buf out;
        failing_mem_init(&heap, budget);
        wndl_buf_init(&out, wndl_mem_libc());
        struct wndl_fix_sink sink = {&out, take};
        struct wndl_fix *fix = open_fix(&heap.mem, &heard);
        status = fix == NULL
                     ? WNDL_NOMEM
                     : wndl_fix_text(fix,
                           (struct wndl_bytes){(uint8_t *)text, size}, &sink);
        if (status == WNDL_OK)
            status = wndl_fix_dmd(fix,
                (struct wndl_bytes){(const uint8_t *)dmd, sizeof dmd - 1},
                &sink, NULL);
        assert_true(status == WNDL_OK || status == WNDL_NOMEM);
        wndl_fix_close(fix);
        wndl_buf_free(&out);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colours_are_no_frames),
        cmocka_unit_test(batches_of_any_size_say_the_same),
        cmocka_unit_test(who_waits_for_a_module_is_told_once),
        cmocka_unit_test(nothing_is_written_after_a_refusal),
        cmocka_unit_test(no_memory_is_told),
    };
    return cmocka_run_group_tests_name("fix", tests, NULL, NULL);
}
