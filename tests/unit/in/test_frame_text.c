/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "in/frame_text/control.h"
#include "in/frame_text/frame_text.h"

#include <stdio.h>
#include <stdlib.h>

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

/* Each frame as "form base name|path|address|what is replaced". */
static void describe(struct wndl_bytes text, bool json, char *out, size_t size)
{
    static const char *const forms[] = {
        "bracketed", "named", "unnamed", "asan", "glibc", "valgrind", "plain"};
    static const char *const bases[] = {
        "rva", "svma", "either", "symbol", "valgrinds"};
    struct wndl_frame_scan scan;
    struct wndl_frame_text f;
    size_t used = 0;
    out[0] = '\0';
    wndl_frame_scan_init(&scan, text, json);
    while (wndl_frame_scan_next(&scan, &f))
        used += (size_t)snprintf(out + used, size - used,
            "%s%s %s %.*s|%.*s|%llx|%.*s", used == 0 ? "" : "\n", forms[f.form],
            bases[f.base], (int)f.name.size, f.name.data, (int)f.path.size,
            f.path.data, (unsigned long long)f.address, (int)(f.end - f.start),
            text.data + f.start);
}

struct example {
    const char *text;
    const char *found;
};

static void check(const struct example *examples, size_t count, bool json)
{
    char found[1024];
    for (size_t i = 0; i < count; i++) {
        describe(bytes_of(examples[i].text), json, found, sizeof found);
        if (strcmp(found, examples[i].found) != 0)
            print_error("in: %s\n", examples[i].text);
        assert_string_equal(found, examples[i].found);
    }
}

#define CHECK(examples, json)                                                  \
    check(examples, sizeof examples / sizeof examples[0], json)

static void brackets_are_mozillas_form_and_ours(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"#01: ???[/a/b c.so +0x1A2b]",
            "bracketed rva ???|/a/b c.so|1a2b|???[/a/b c.so +0x1A2b]"},
        {"GECKO(7) | #12: f(int)[p +0x0] (x)\r\n",
            "bracketed rva f(int)|p|0|f(int)[p +0x0]"},
        {"#1: a[b][c +0x1]", "bracketed rva a[b]|c|1|a[b][c +0x1]"},
        {"#1: a[p +0xffffffffffffffff]",
            "bracketed rva a|p|ffffffffffffffff|a[p +0xffffffffffffffff]"},
        {"#1: a[p +0x00000000000000000001]",
            "bracketed rva a|p|1|a[p +0x00000000000000000001]"},
        {"#1: #2: [p +0x1]", "bracketed rva #2: |p|1|#2: [p +0x1]"},
        {"#1: f[x[ +0x1]", "bracketed rva f|x[|1|f[x[ +0x1]"},
        {"#1: a[p +0x1] #2: b[q +0x2]",
            "bracketed rva a|p|1|a[p +0x1]\nbracketed rva b|q|2|b[q +0x2]"},
        {"#1: x\n#2: b[q +0x2]\n", "bracketed rva b|q|2|b[q +0x2]"},
        {"\xff#1: \xfe[\x80 +0x2]\xff",
            "bracketed rva \xfe|\x80|2|\xfe[\x80 +0x2]"},
    };
    CHECK(examples, false);
}

static void near_misses_of_brackets_are_text(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"#01: ???[p +0X1]", ""},
        {"01: ???[p +0x1]", ""},
        {"#: ???[p +0x1]", ""},
        {"#1 ???[p +0x1]", ""},
        {"#1:???[p +0x1]", ""},
        {"#01: [p +0x1]", ""},
        {"#01: ???[ +0x1]", ""},
        {"#01: ???[p 0x1]", ""},
        {"#01: ???[p +1]", ""},
        {"#01: ???[p+0x1]", ""},
        {"#01: ?(p +0x1)", ""},
        {"#01: ???[p +0x]", ""},
        {"#01: ???[p +0x1", ""},
        {"#01: ???[p +0xg]", ""},
        {"#01: ???[p +0x1ffffffffffffffff]", ""},
        {"#01: ???\n[p +0x1]", ""},
        {"#01: ???[p\n +0x1]", ""},
        {"", ""},
        {"0x", ""},
        {"x +0x1]", ""},
        {" +0x1]", ""},
        {"+0x1]", ""},
    };
    CHECK(examples, false);
}

static void sanitizers_write_what_is_linked(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"    #0 0x55a1  (/a b/c+0x11aa)", "asan svma |/a b/c|11aa| "
                                           "(/a b/c+0x11aa)"},
        {"#10 0x55 in f(int) (/l.so.6+0x1) (BuildId: ab)",
            "asan svma f(int)|/l.so.6|1|in f(int) (/l.so.6+0x1)"},
        {"#1 0x5 (/p (1)/x+0x2)", "asan svma |/p (1)/x|2|(/p (1)/x+0x2)"},
        {"#1 0x5 in main /a/b.c:5:3", ""},
        {"#1 0x5 in main /a/b.c:5:3\n (y+0x1)", ""},
        {"#1 0x5 (+0x2)", ""},
        {"#1 0x5 in  (+0x2)", ""},
        {"# 0x5 (x+0x2)", ""},
        {"1 0x5 (x+0x2)", ""},
    };
    CHECK(examples, false);
}

/* ThreadSanitizer's frames and all summaries have no address before. */
static void sanitizers_may_leave_the_address_out(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"SUMMARY: AddressSanitizer: heap-use-after-free (/a b/c+0x4011aa) in "
         "f",
            "plain svma |/a b/c|4011aa|/a b/c+0x4011aa"},
        {"==7==SUMMARY: MemorySanitizer: x (/c+0x1) (BuildId: ab)",
            "plain svma |/c|1|/c+0x1"},
        {"    #0 main <null> (a.out+0x4011aa)",
            "plain svma |a.out|4011aa|a.out+0x4011aa"},
        {"SUMMARY: x (m:arm64+0x1)", "plain svma |m|1|m:arm64+0x1"},
        {"x (/c+0x1)", "plain either |/c|1|/c+0x1"},
        {"# main (c+0x1)", ""},
        {"#x main (c+0x1)", ""},
        {"SUMMARY: (+0x1)", ""},
    };
    CHECK(examples, false);
}

static void apples_paths_may_have_an_architecture(void **state)
{
    (void)state;
    static const char *const arches[] = {
        "arm64", "arm64e", "x86_64", "x86_64h", "i386", "armv7k", "arm64_32"};
    for (size_t i = 0; i < sizeof arches / sizeof arches[0]; i++) {
        char text[100], found[200];
        struct wndl_frame_scan scan;
        struct wndl_frame_text f;
        snprintf(text, sizeof text, "#1 0x5 in f (/p/m:%s+0x2)", arches[i]);
        wndl_frame_scan_init(&scan, bytes_of(text), false);
        assert_true(wndl_frame_scan_next(&scan, &f));
        assert_true(wndl_bytes_is(f.path, "/p/m"));
        assert_true(wndl_bytes_is(f.arch, arches[i]));
        snprintf(text, sizeof text, "#1 0x5 (/p/m:%sx+0x2)", arches[i]);
        describe(bytes_of(text), false, found, sizeof found);
        assert_non_null(strstr(found, arches[i]));
    }
}

static const struct {
    const char *text, *plain;
    bool json;
} controls[] = {
    {"\033[31ma\033[0m", "a", false},
    {"a\033[38;5;4;1mb\033[Kc", "abc", false},
    {"\033]8;;http://x\033\\a\033]8;;\007b", "ab", false},
    {"\033(Ba\0337b\033=c\033[?25h", "abc", false},
    {"\033]0;no end\n", "\033]0;no end\n", false},
    {"a\033[31", "a\033[31", false},
    {"a\033", "a\033", false},
    {"\\u001b[31ma", "\\u001b[31ma", false},
    {"\\u001b[31ma\\u001B[0m\033[1mb", "ab", true},
    {"\\u001b]0;x\\u0007a\\u001b]0;y\\u001b\\\\b", "ab", true},
    {"\\u001b]0;x\"y\\u0007", "\\u001b]0;x\"y\\u0007", true},
};

static void control_sequences_are_cut_out(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof controls / sizeof controls[0]; i++) {
        struct wndl_bytes text = bytes_of(controls[i].text);
        struct wndl_arena arena;
        struct wndl_vec cuts;
        struct wndl_buf kept;
        uint8_t plain[100];
        bool complete;
        wndl_arena_init(&arena, wndl_mem_libc());
        wndl_buf_init(&kept, wndl_mem_libc());
        wndl_vec_init(&cuts, &arena, sizeof(struct wndl_frame_cut));
        size_t size = wndl_frame_strip_controls(
            text, controls[i].json, plain, &cuts, &complete);
        assert_true(complete);
        assert_int_equal(size, strlen(controls[i].plain));
        assert_memory_equal(plain, controls[i].plain, size);
        uint8_t cut[100];
        size_t cut_size = 0;
        for (size_t at = 0, from = 0; at <= size; at++) {
            size_t to = at < size ? wndl_frame_uncut(&cuts, at) : text.size;
            assert_true(at == size || text.data[to] == plain[at]);
            while (from < to)
                cut[cut_size++] = text.data[from++];
            from = to + 1;
        }
        wndl_frame_copy_controls(text, controls[i].json, &kept);
        assert_int_equal(kept.size, cut_size);
        assert_memory_equal(kept.data, cut, cut_size);
        wndl_buf_free(&kept);
        wndl_arena_free(&arena);
    }
}

static void sanitizers_may_say_which_build(void **state)
{
    (void)state;
    static const struct {
        const char *behind;
        const char *build_id;
    } cases[] = {
        {" (BuildId: 01aF)", "01aF"},
        {" (BuildId: 01aF) x", "01aF"},
        {"", ""},
        {" (BuildId: )", ""},
        {" (BuildId: 01a)", ""},
        {" (BuildId: 01ag)", ""},
        {" (BuildId: 01aF", ""},
        {"(BuildId: 01aF)", ""},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct wndl_frame_scan scan;
        struct wndl_frame_text frame;
        char text[64] = "#1 0x5 (/x+0x2)";
        strcat(text, cases[i].behind);
        wndl_frame_scan_init(&scan, bytes_of(text), false);
        assert_true(wndl_frame_scan_next(&scan, &frame));
        assert_true(wndl_bytes_is(frame.build_id, cases[i].build_id));
        assert_int_equal(frame.end, 15);
    }
}

static void the_c_library_writes_return_addresses(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"./a.out(main+0x1c) [0x40112f]",
            "glibc symbol main|./a.out|1c|./a.out(main+0x1c)"},
        {"/a b/x(+0x11a6)[0x55d0]", "glibc svma |/a b/x|11a6|/a b/x(+0x11a6)"},
        {"log: ./x(f+0x2) [0x5] end", "glibc symbol f|./x|2|./x(f+0x2)"},
        {"./a.out() [0x401136]", "glibc svma |./a.out|401136|./a.out()"},
        {"/a.out[0x401136]", "glibc svma |/a.out|401136|/a.out"},
        {"prog() [0x401136]", "glibc svma |prog|401136|prog()"},
        {"word[0x12]", ""},
        {"() [0x12]", ""},
        {"(+0x12) [0x12]", ""},
        {"x(+0x12) [12]", ""},
        {"x(+0x12) [0x]", ""},
    };
    CHECK(examples, false);
    struct wndl_frame_scan scan;
    struct wndl_frame_text frame;
    wndl_frame_scan_init(&scan, bytes_of(examples[0].text), false);
    assert_true(wndl_frame_scan_next(&scan, &frame));
    assert_true(frame.return_address);
}

static void valgrind_writes_addresses_of_its_process(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"==7==    at 0x10916C: ??? (in /tmp/a b)",
            "valgrind valgrinds ???|/tmp/a b|10916c|??? (in /tmp/a b)"},
        {"   by 0x1: f(int) (in /x)\r\n",
            "valgrind valgrinds f(int)|/x|1|f(int) (in /x)"},
        {"by 0x1: main (a.c:5)", ""},
        {"by 0x1: main\n (in /x)", ""},
        {"by 0x1: main (in )", ""},
        {"by 0x1:  (in /x", ""},
        {"that 0x1: f (in /x)", ""},
        {"at 0x1 f (in /x)", ""},
    };
    CHECK(examples, false);
}

static void other_forms_are_found_by_their_paths(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"at f(int) const (0x7f01 /l.so+0xAB)",
            "named either f(int) const|/l.so|ab|f(int) const (0x7f01 "
            "/l.so+0xAB)"},
        {"operator new(unsigned long) (0x1 l.so+0x2)",
            "named either operator new(unsigned long)|l.so|2|operator "
            "new(unsigned long) (0x1 l.so+0x2)"},
        {"7: (anonymous namespace)::f() [clone .cold] (0x1 /l+0x2)",
            "named either (anonymous namespace)::f() [clone .cold]|/l|2|"
            "(anonymous namespace)::f() [clone .cold] (0x1 /l+0x2)"},
        {" (0x1 word+0x2)", ""},
        {"x ??? (/l.so) 0x12", "unnamed either ???|/l.so|12|??? (/l.so) 0x12"},
        {"f (/l.so) 0x12", ""},
        {"??? () 0x12", ""},
        {"??? (/l.so) 0x12z", ""},
        {"in /usr/lib/libstdc++.so.6+0x12, then",
            "plain either |/usr/lib/libstdc++.so.6|12|"
            "/usr/lib/libstdc++.so.6+0x12"},
        {"[libx.so+0x1] 'y.ko+0x2'", "plain either |libx.so|1|libx.so+0x1\n"
                                     "plain either |y.ko|2|y.ko+0x2"},
        {"./app+0x12.", "plain either |./app|12|./app+0x12"},
        {"do_syscall_64+0x3d/0x90", ""},
        {"/proc/x+0x3d/0x90", ""},
        {"main+0x12", ""},
        {"/x+0x12y", ""},
        {"/x+0x1.5", ""},
        {"main.go:12 +0x1d", ""},
    };
    CHECK(examples, false);
}

static void json_strings_bound_frames(void **state)
{
    (void)state;
    static const struct example examples[] = {
        {"{\"A\":\"#1: f[/p +0x1]\",\"B\":\"#2: g[/q +0x2]\"}",
            "bracketed rva f|/p|1|f[/p +0x1]\n"
            "bracketed rva g|/q|2|g[/q +0x2]"},
        {"\"#1: a\",\"b[/p +0x1]\"", ""},
        {"\"#1: operator\\\"\\\"[C:\\\\p +0x1]\"",
            "bracketed rva operator\\\"\\\"|C:\\\\p|1|operator\\\"\\\"[C:\\\\p "
            "+0x1]"},
        {"\"\\t/x.so+0x1\"", "plain either |/x.so|1|/x.so+0x1"},
        {"\"x.so(f+0x1) [0x2]\"", "glibc symbol f|x.so|1|x.so(f+0x1)"},
        {"\"at 0x1: f\", \" (in /x)\"", ""},
    };
    CHECK(examples, true);
}

static const char golden[] = "text 0x12 text\n"
                             "#01: ???[/a/b +0x1] and #02: f[/c +0x2]\r\n"
                             "    #0 0x55  (/a+0x3)\n"
                             "./a(f+0x4) [0x5]\n"
                             "==1==    at 0x6: ??? (in /a)\n"
                             "f (0x1 /l.so+0x7) ??? (/l.so) 0x8 /l.so+0x9\n"
                             "#03: g[/c +0xa]";

struct cut {
    struct wndl_frame_text frames[16];
    size_t count; /* of the whole text */
};

static void parse(struct wndl_bytes prefix, void *context)
{
    const struct cut *whole = context;
    struct wndl_frame_scan scan;
    struct wndl_frame_text f;
    size_t count = 0;
    wndl_frame_scan_init(&scan, prefix, false);
    while (wndl_frame_scan_next(&scan, &f)) {
        assert_true(f.start < f.end && f.end <= prefix.size);
        assert_true(f.path.data + f.path.size <= prefix.data + prefix.size);
        if (count < whole->count && f.end < prefix.size - 16)
            assert_int_equal(f.start, whole->frames[count].start);
        count++;
    }
    /* What ends well before the cut is found. */
    for (size_t i = 0; i < whole->count; i++)
        assert_true(whole->frames[i].end + 16 > prefix.size || i < count);
}

static void text_cut_anywhere_is_read_up_to_there(void **state)
{
    (void)state;
    struct cut whole = {.count = 0};
    struct wndl_frame_scan scan;
    wndl_frame_scan_init(&scan, bytes_of(golden), false);
    while (wndl_frame_scan_next(&scan, &whole.frames[whole.count]))
        whole.count++;
    assert_int_equal(whole.count, 9);
    for_each_truncation(bytes_of(golden), parse, &whole);
}

/*
 * Text in which searches find nothing, over and over. In 1 MB of it a search
 * that begins anew each time would take longer than a test may.
 */
static void hostile_text_takes_no_longer(void **state)
{
    (void)state;
    static const char *const pieces[] = {" +0x1]", "[x +0x1]", "#1: ", "+0x1)",
        "(0x1 ", "#1 0x1 ", "#1 0x1 in +0x1)", " at 0x1: ", " at 0x1: a (in ",
        ") 0x1", "??? () 0x1", "a+0x1", "(+0x1) [0x1]", "() [0x1]", "0x0x",
        "[0x1]", "#1", "SUMMARY: (+0x1)", "#1 (+0x1)", "const (0x1 x+0x1)",
        "\"#1: a[b +0x1]", "/[0x1]"};
    size_t size = 1 << 20;
    uint8_t *text = malloc(size);
    assert_non_null(text);
    for (size_t i = 0; i < 2 * sizeof pieces / sizeof pieces[0]; i++) {
        const char *piece = pieces[i / 2];
        size_t length = strlen(piece);
        for (size_t at = 0; at < size; at++)
            text[at] = (uint8_t)piece[at % length];
        struct wndl_frame_scan scan;
        struct wndl_frame_text frame;
        wndl_frame_scan_init(
            &scan, (struct wndl_bytes){text, size}, i % 2 != 0);
        while (wndl_frame_scan_next(&scan, &frame))
            assert_true(frame.end <= size);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(brackets_are_mozillas_form_and_ours),
        cmocka_unit_test(near_misses_of_brackets_are_text),
        cmocka_unit_test(sanitizers_write_what_is_linked),
        cmocka_unit_test(sanitizers_may_leave_the_address_out),
        cmocka_unit_test(apples_paths_may_have_an_architecture),
        cmocka_unit_test(control_sequences_are_cut_out),
        cmocka_unit_test(sanitizers_may_say_which_build),
        cmocka_unit_test(the_c_library_writes_return_addresses),
        cmocka_unit_test(valgrind_writes_addresses_of_its_process),
        cmocka_unit_test(other_forms_are_found_by_their_paths),
        cmocka_unit_test(json_strings_bound_frames),
        cmocka_unit_test(text_cut_anywhere_is_read_up_to_there),
        cmocka_unit_test(hostile_text_takes_no_longer),
    };
    return cmocka_run_group_tests_name("frame_text", tests, NULL, NULL);
}
