/* SPDX-License-Identifier: MIT */
/* The forms of debuggers, runtimes, crash reporters and the kernel. */
#include "testlib.h"

#include "in/frame_text/frame_text.h"
#include "in/frame_text/images.h"

#include <stdio.h>
#include <stdlib.h>

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static void start(struct wndl_frame_scan *scan, struct wndl_bytes text)
{
    wndl_frame_scan_init(scan, text, false);
    scan->kernel = bytes_of("/vmlinux");
}

/* The frames as "base name|path|address|what is replaced", "!": it returns. */
static void describe(struct wndl_bytes text, char *out, size_t size)
{
    static const char *const bases[] = {
        "rva", "svma", "either", "symbol", "valgrinds", "file", "process"};
    struct wndl_frame_scan scan;
    struct wndl_frame_text f;
    size_t used = 0;
    out[0] = '\0';
    start(&scan, text);
    while (wndl_frame_scan_next(&scan, &f))
        used += (size_t)snprintf(out + used, size - used,
            "%s%s%s %.*s|%.*s|%llx|%.*s", used == 0 ? "" : "\n", bases[f.base],
            f.return_address ? "!" : "", (int)f.name.size, f.name.data,
            (int)f.path.size, f.path.data, (unsigned long long)f.address,
            (int)(f.end - f.start), text.data + f.start);
}

static const struct {
    const char *text;
    const char *found;
} examples[] = {
    /* systemd's, and our own */
    {"#0  0x55 n/a (/a b/c + 0x12)", "rva n/a|/a b/c|12|n/a (/a b/c + 0x12)"},
    {"#1  0x55 f(int) (libc.so.6 + 0x1)",
        "rva! f(int)|libc.so.6|1|f(int) (libc.so.6 + 0x1)"},
    {"#12 0x55 f (c + 0x1)", "rva! f|c|1|f (c + 0x1)"},
    {"x f (/c + 0x1) y", "rva f|/c|1|f (/c + 0x1)"},
    {"f (/c + 0x1) [0x5]", "rva! f|/c|1|f (/c + 0x1)"},
    {"f (c + 0x1)", ""},
    {"f(/c + 0x1)", ""},
    {" (/c + 0x1)", ""},
    {"f (/c +0x1)", ""},
    {"f (/c + 0x)", ""},
    /* minidump-stackwalk's */
    {" 1  app + 0x12", "rva |app|12|app + 0x12"},
    {"12  a b!f(int) + 0x12\r\n", "symbol f(int)|a b|12|a b!f(int) + 0x12"},
    {"1 app + 0x12", ""},
    {"1  app + 0x12 y", ""},
    {"1  !f + 0x12", ""},
    {"app + 0x12", ""},
    /* Android's */
    {"#00 pc 0001f2b4  /l.so (f+12) (BuildId: ab)",
        "svma |/l.so|1f2b4|/l.so (f+12)"},
    {"#1 pc 0001f2b4  /x y/l.so\r\n", "svma |/x y/l.so|1f2b4|/x y/l.so"},
    {"#1 pc 0001f2b4  /l.so (offset 0x1000) (f(int)+12) (BuildId: ab)",
        "svma |/l.so|1f2b4|/l.so (offset 0x1000) (f(int)+12)"},
    {"#1 pc 0001f2b4  <anonymous:1/2>", ""},
    {"#1 pc 1f2b4  /l.so", ""},
    {"#1 pc 0001f2b4 /l.so", ""},
    {"#1 pc 0001f2b4  ", ""},
    {"#x pc 0001f2b4  /l.so", ""},
    {"#1 pc ", ""},
    {"#1 p", ""},
    {"#", ""},
    /* Apple's */
    {"0   My App  \t0x5 0x4 + 17", "rva |My App|11|0x4 + 17"},
    {"12  MyApp   0x5 f(int) + 17\n", "symbol! f(int)|MyApp|11|f(int) + 17"},
    {"1   MyApp   0x5 f + 1x", ""},
    {"1   0x5 0x4 + 17", ""},
    {"x   MyApp   0x5 0x4 + 17", ""},
    {"1   MyApp   0x5 + 17", ""},
    /* debuggers' */
    {"  frame #0: 0x5 a.out`f(int) + 12",
        "symbol f(int)|a.out|c|a.out`f(int) + 12"},
    {"frame #7: 0x5 a`f + 12\r\n", "symbol! f|a|c|a`f + 12"},
    {"frame #7: 0x5 a`f at x.c:1", ""},
    {"frame #7: 0x5 a`f + ", ""},
    {"frame #7: 0x5 `f + 1", ""},
    {"rame #7: 0x5 a`f + 12", ""},
    {"#0  0x5 in f ()", "process f||5|f ()"},
    {"#10 0x5 in f(int) () from /l.so",
        "process! f(int)||5|f(int) () from /l.so"},
    {"#1  0x5 in f (n=1) at x.c:3", ""},
    {"#1  0x5 in f () at x.c:3", ""},
    {"#1  0x5 in  ()", ""},
    {"0x5 in f ()", ""},
    {"x {{{bt:0:0x5}}}{{{bt:1:0x6}}}",
        "process 0||5|{{{bt:0:0x5}}}\nprocess! 1||6|{{{bt:1:0x6}}}"},
    {"{{{bt:1:0x6:pc}}} {{{bt:0:0x6:ra}}}",
        "process 1||6|{{{bt:1:0x6:pc}}}\nprocess! 0||6|{{{bt:0:0x6:ra}}}"},
    {"{{{pc:0x6}}}", "process ||6|{{{pc:0x6}}}"},
    {"{{{pc:0x6}} {{pc:0x6}}} {{{bt:0x6}}} {{{bt:x:0x6}}} {{{data:0x6}}}", ""},
    /* runtimes' */
    {"C  [l.so+0x1]  f+0x2", "rva! |l.so|1|[l.so+0x1]  f+0x2"},
    {"Native frames: (x)\nV  [l.so+0x1]", "rva |l.so|1|[l.so+0x1]"},
    {"# C  [l.so+0x1]  f", "rva |l.so|1|[l.so+0x1]  f"},
    {"J  [l.so+0x1]", "either |l.so|1|l.so+0x1"},
    {" 1: 0x5 f(int) [node]", "svma! f(int)|node|5|f(int) [node]"},
    {"12: 0x5  [/usr/bin/node]", "svma! |/usr/bin/node|5| [/usr/bin/node]"},
    {"x1: 0x5 f [node]", ""},
    {"1: 0x5 f []", ""},
    {"1: 0x5 [node]", ""},
    {"  4:     0x5 - <unknown>\n", "process! ||5|<unknown>"},
    {"  4:     0x5 - f", ""},
    {"  4     0x5 - <unknown>", ""},
    {"  Binary file \"/a b\", at f+0x1 [0x5]",
        "symbol! f|/a b|1|Binary file \"/a b\", at f+0x1"},
    {"Binary file \"/a\", at +0x1 [0x5]",
        "svma! |/a|1|Binary file \"/a\", at +0x1"},
    {"Binary file \"/a\" [0x5]", "svma! |/a|5|Binary file \"/a\""},
    {"Binary file \"\" [0x5]", ""},
    {"file \"/a\" [0x5]", ""},
    {"1\t7f12:00a2\tPerl_croak\t-\t/usr/bin/perl\n",
        "symbol! Perl_croak|/usr/bin/perl|a2|Perl_croak\t-\t/usr/bin/perl"},
    {"x\t7f12:00a2\tf\t-\t/x", ""},
    {"1\t7f12\tf\t-\t/x", ""},
    {"1\t7f12:\tf\t-\t/x", ""},
    {"1\t:1\tf\t-\t/x", ""},
    {"1\t7f12:1\t\t-\t/x", ""},
    {"1\t7f12:1\tf\tutil.c:1\t/x", ""},
    {"1\t7f12:1\tf\t-\t/", "symbol! f|/|1|f\t-\t/"},
    {"7f12:1\tf\t-\t/x", ""},
    {"f\t-\t/x", ""},
    {"\t-\t/x", ""},
    /* the kernel's */
    {"RIP: 0010:f+0x1/0x2", "symbol f|/vmlinux|1|f+0x1/0x2"},
    {" ? f.isra.0+0x1/0x2 [mod]\n", "symbol! f.isra.0|mod|1|f.isra.0+0x1/0x2"},
    {"pc : f+0x1/0x2 [mod abcd]", "symbol f|mod|1|f+0x1/0x2"},
    {"f+0x1/0x2 [mod", "symbol! f|/vmlinux|1|f+0x1/0x2"},
    {"/f+0x1/0x2 1f+0x1/0x2 +0x1/0x2 f+0x1/2", ""},
};

static void each_tool_has_its_form(void **state)
{
    (void)state;
    char found[1024];
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++) {
        describe(bytes_of(examples[i].text), found, sizeof found);
        if (strcmp(found, examples[i].found) != 0)
            print_error("in: %s\n", examples[i].text);
        assert_string_equal(found, examples[i].found);
    }
}

static const char ips[] =
    "{\"frames\":[{\"imageOffset\":12,\"symbol\":\"a{}\",\"imageIndex\":1},"
    "{\"symbol\":\"a\\\"\",\"imageIndex\" : 0, \"imageOffset\" : 13}],\n"
    "\"usedImages\" : [\n{ \"size\" : 0 }, {\"arch\":\"arm64\",\n"
    "\"uuid\":\"00112233-4455\",\"path\":\"\\/b\"}]}\n"
    "{\"imageOffset\":14,\"imageIndex\":1}\n"
    "\"usedImages\":[{},{\"path\":\"\\/c\"}] ";

/* `context`: it is JSON. */
static void check_cut(struct wndl_bytes prefix, void *context)
{
    struct wndl_frame_scan scan;
    struct wndl_frame_text f;
    struct wndl_frame_images images;
    size_t end = 0;
    start(&scan, prefix);
    scan.json = context == ips;
    while (wndl_frame_scan_next(&scan, &f)) {
        assert_true(f.start >= end && f.start < f.end && f.end <= prefix.size);
        end = f.end;
    }
    wndl_frame_images_init(&images, wndl_mem_libc());
    assert_true(wndl_frame_images_read(&images, prefix));
    wndl_frame_images_free(&images);
}

static const char maps[] =
    "1000-2000 r-xp 00003000 08:01 12      /a b/x.so\r\n"
    "2000-3000 rw-p 00000000 00:00 0 \n"
    "no row\n"
    "      0x5000     0x6000     0x1000     0x200  r-xp   /g\n"
    "      0x6000     0x7000     0x1000     0x300   /h\n"
    "\n"
    "  0x8000 -  0x8fff +My App (1) arm64 <00112233-4455> /p/My App\n"
    "  0x9000 -  0x9fff y <no-id> /p/y\n";

static const char markup[] = "{{{module:0:/m:elf:abcd}}}{{{mmap:0x100:0x10:load"
                             ":0:rx:0x7}}}{{{reset}}}{{{module:0:/n:elf:}}}"
                             "{{{mmap:0x100:0x10:load:0:rx:0x8}}}";

static void forms_cut_anywhere_are_read_up_to_there(void **state)
{
    for (size_t i = 0; i < sizeof examples / sizeof examples[0]; i++)
        for_each_truncation(bytes_of(examples[i].text), check_cut, NULL);
    for_each_truncation(bytes_of(maps), check_cut, state);
    for_each_truncation(bytes_of(markup), check_cut, state);
    for_each_truncation(bytes_of(ips), check_cut, (void *)(uintptr_t)ips);
}

/* "path base offset build-id arch" of the image at an address. */
static void assert_image(const struct wndl_frame_image *image, const char *path,
    uint64_t offset, const char *build_id)
{
    assert_non_null(image);
    assert_true(wndl_bytes_is(image->path, path));
    assert_int_equal(image->offset, offset);
    assert_true(wndl_bytes_is(image->build_id, build_id));
}

static void tables_of_images_are_read(void **state)
{
    (void)state;
    struct wndl_frame_images im;
    size_t gdb = (size_t)(strstr(maps, "   0x5000") - maps);
    wndl_frame_images_init(&im, wndl_mem_libc());
    assert_true(wndl_frame_images_read(&im, bytes_of(maps)));
    assert_int_equal(im.tables.len, 3);
    assert_image(
        wndl_frame_images_find(&im, 0x1fff, 0), "/a b/x.so", 0x3000, "");
    assert_null(wndl_frame_images_find(&im, 0x2000, 0));
    assert_image(wndl_frame_images_find(&im, 0x5000, 0), "/g", 0x200, "");
    assert_image(wndl_frame_images_find(&im, 0x6000, gdb), "/h", 0x300, "");
    assert_null(wndl_frame_images_find(&im, 0x1fff, sizeof maps));
    const struct wndl_frame_image *apple =
        wndl_frame_images_find(&im, 0x8fff, sizeof maps);
    assert_image(apple, "/p/My App", 0, "001122334455");
    assert_true(wndl_bytes_is(apple->arch, "arm64"));
    assert_image(
        wndl_frame_images_find(&im, 0x9000, sizeof maps), "/p/y", 0, "");
    assert_image(
        wndl_frame_images_named(&im, bytes_of("g"), 0), "/g", 0x200, "");
    assert_null(wndl_frame_images_named(&im, bytes_of("g"), sizeof maps));
    /* The last table is kept for the next piece. */
    assert_true(wndl_frame_images_read(&im, bytes_of("text\n")));
    assert_image(
        wndl_frame_images_find(&im, 0x8000, 0), "/p/My App", 0, "001122334455");
    assert_null(wndl_frame_images_find(&im, 0x5000, 0));
    wndl_frame_images_free(&im);
}

/* The same in one piece and in pieces of an element. */
static void markup_goes_on_from_piece_to_piece(void **state)
{
    (void)state;
    struct wndl_frame_images im;
    wndl_frame_images_init(&im, wndl_mem_libc());
    assert_true(wndl_frame_images_read(&im, bytes_of(markup)));
    assert_image(wndl_frame_images_find(&im, 0x10f, 60), "/m", 7, "abcd");
    assert_image(
        wndl_frame_images_find(&im, 0x10f, sizeof markup), "/n", 8, "");
    wndl_frame_images_free(&im);
    wndl_frame_images_init(&im, wndl_mem_libc());
    const char *at = markup;
    while (*at != '\0') {
        const char *end = strstr(at, "}}}") + 3;
        struct wndl_bytes piece = {(const uint8_t *)at, (size_t)(end - at)};
        assert_true(wndl_frame_has_markup(piece));
        assert_true(wndl_frame_images_read(&im, piece));
        at = end;
    }
    assert_image(wndl_frame_images_find(&im, 0x10f, 0), "/n", 8, "");
    wndl_frame_images_free(&im);
    /* Other lines do not end it, but other tables do. */
    static const char mixed[] =
        "{{{module:0:/m:elf:}}}\n{{{mmap:0x100:0x10:load:0:rx:0x7}}}\n"
        "text\n{{{mmap:0x200:0x10:load:0:rx:0x8}}}\n"
        "1000-2000 r-xp 00003000 08:01 12      /a\n"
        "{{{mmap:0x300:0x10:load:0:rx:0x9}}}\n";
    wndl_frame_images_init(&im, wndl_mem_libc());
    assert_true(wndl_frame_images_read(&im, bytes_of(mixed)));
    assert_int_equal(im.tables.len, 3);
    assert_image(wndl_frame_images_find(&im, 0x100, 60), "/m", 7, "");
    assert_image(wndl_frame_images_find(&im, 0x200, 60), "/m", 8, "");
    assert_image(wndl_frame_images_find(&im, 0x1000, 60), "/a", 0x3000, "");
    assert_image(wndl_frame_images_find(&im, 0x300, sizeof mixed), "/m", 9, "");
    wndl_frame_images_free(&im);
    assert_false(wndl_frame_has_markup(bytes_of("{{ { {{{x}}} {{{pc:0x1")));
    assert_true(wndl_frame_has_markup(bytes_of("a{{{{reset}}}")));
}

/* Each object is a frame, and has its image in the list after it. */
static void apples_json_lists_its_images(void **state)
{
    (void)state;
    struct wndl_frame_scan scan;
    struct wndl_frame_text f;
    struct wndl_frame_images im;
    start(&scan, bytes_of(ips));
    assert_false(wndl_frame_scan_next(&scan, &f));
    start(&scan, bytes_of(ips));
    scan.json = true;
    wndl_frame_images_init(&im, wndl_mem_libc());
    assert_true(wndl_frame_images_read(&im, bytes_of(ips)));
    assert_true(wndl_frame_scan_next(&scan, &f));
    assert_int_equal(f.start, 12);
    assert_int_equal(f.address, 12);
    assert_false(f.return_address);
    const struct wndl_frame_image *image =
        wndl_frame_images_listed(&im, f.image, f.start);
    assert_image(image, "\\/b", 0, "001122334455");
    assert_true(wndl_bytes_is(image->arch, "arm64"));
    assert_true(wndl_frame_scan_next(&scan, &f));
    assert_int_equal(f.address, 13);
    assert_true(f.return_address);
    assert_null(wndl_frame_images_listed(&im, f.image, f.start));
    assert_true(wndl_frame_scan_next(&scan, &f));
    assert_int_equal(f.address, 14);
    assert_image(
        wndl_frame_images_listed(&im, f.image, f.start), "\\/c", 0, "");
    assert_image(wndl_frame_images_listed(&im, 1, sizeof ips), "\\/c", 0, "");
    assert_false(wndl_frame_scan_next(&scan, &f));
    wndl_frame_images_free(&im);
}

static void other_objects_are_no_frames(void **state)
{
    (void)state;
    static const char *const others[] = {
        "{\"imageOffset\":1}",
        "{\"imageOffset\":1,\"imageIndex\":\"a\"}",
        "{\"imageOffset\":-1,\"imageIndex\":1}",
        "{\"imageOffset\":1,\"imageIndex\":1,\"sourceLine\":3}",
        "{\"imageOffset\":1,\n\"imageIndex\":1}",
        "{\"imageOffset\":1,\"imageIndex\":1",
        "{\"imageOffset\":1,\"imageIndex\":1]",
        "{\"imageOffset\":1,\"x\":{},\"imageIndex\":1}",
        "{\"imageOffset\":1,\"x\":,\"imageIndex\":1}",
        "{\"imageOffset\",\"imageIndex\":1}",
        "\"imageOffset\":1,\"imageIndex\":1}",
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        struct wndl_frame_scan scan;
        struct wndl_frame_text f;
        start(&scan, bytes_of(others[i]));
        scan.json = true;
        assert_false(wndl_frame_scan_next(&scan, &f));
    }
}

/* As in test_frame_text: searches that begin anew would take hours. */
static void hostile_text_takes_no_longer(void **state)
{
    (void)state;
    static const char *const pieces[] = {"#1 pc 00000001  /", "frame #1: 0x1 `",
        "#1  0x1 in f ", "#1  0x1 f ( + 0x1)", " + 0x1", "1: 0x1 [",
        "1: 0x1 - <", "C  [a+0x1] ", "\", at f+0x1 [0x1]",
        "Binary file \"x\" [0x1]", "f+0x1/0x2 [", "{{{pc:0x1}}}", "{{{bt:1:0x1",
        "{{{mmap:0x1:", "1  a\t0x1 0x1 + ", "#1 p", "##########", "\t-\t/",
        "a:1\tb\t-\t/", "{\"imageOffset\":", "\"imageOffset\":1,",
        "\"usedImages\":[{", "{\"usedImages\":1,\"imageOffset\":1,"};
    size_t size = 2 << 20;
    char *text = malloc(size + 1);
    assert_non_null(text);
    text[size] = '\0';
    for (size_t i = 0; i < sizeof pieces / sizeof pieces[0]; i++) {
        size_t length = strlen(pieces[i]);
        struct wndl_frame_scan scan;
        struct wndl_frame_text f;
        struct wndl_frame_images images;
        for (size_t at = 0; at < size; at++)
            text[at] = pieces[i][at % length];
        start(&scan, bytes_of(text));
        scan.json = strchr(pieces[i], '"') != NULL;
        while (wndl_frame_scan_next(&scan, &f))
            assert_true(f.end <= size);
        wndl_frame_images_init(&images, wndl_mem_libc());
        assert_true(wndl_frame_images_read(&images, bytes_of(text)));
        wndl_frame_images_free(&images);
    }
    free(text);
}

static void no_memory_for_images_is_said(void **state)
{
    (void)state;
    bool read = false;
    for (long budget = 0; !read; budget++) {
        struct failing_mem heap;
        struct wndl_frame_images images;
        failing_mem_init(&heap, budget);
        wndl_frame_images_init(&images, &heap.mem);
        read = wndl_frame_images_read(&images, bytes_of(maps)) &&
               wndl_frame_images_read(&images, bytes_of(markup)) &&
               wndl_frame_images_read(&images, bytes_of(ips)) &&
               wndl_frame_images_read(&images, bytes_of(maps));
        wndl_frame_images_free(&images);
        assert_int_equal(heap.live, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_tool_has_its_form),
        cmocka_unit_test(forms_cut_anywhere_are_read_up_to_there),
        cmocka_unit_test(tables_of_images_are_read),
        cmocka_unit_test(markup_goes_on_from_piece_to_piece),
        cmocka_unit_test(apples_json_lists_its_images),
        cmocka_unit_test(other_objects_are_no_frames),
        cmocka_unit_test(hostile_text_takes_no_longer),
        cmocka_unit_test(no_memory_for_images_is_said),
    };
    return cmocka_run_group_tests_name("frame_forms", tests, NULL, NULL);
}
