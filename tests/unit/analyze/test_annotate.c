/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "analyze/annotate/annotate.h"
#include "analyze/annotate/instructions.h"
#include "analyze/annotate/source_text.h"
#include "named.h"
#include "out/report_json/annotated.h"
#include "out/report_text/annotated.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* main calls f, which calls itself and has g inlined, which has h inlined. */
static const char recipe[] = "meta 1000000 1 1 h / app\n"
                             "process 0 7 /bin/app app\n"
                             "image /bin/app -\n"
                             "image /lib/libx.so -\n"
                             "thread 0 7 app\n"
                             "thread 0 9 worker\n"
                             "sample 0 5 0 0:10 0:20!\n"
                             "sample 0 3 0 0:10 0:20 0:20 0:20!\n"
                             "sample 1 2 0 0:10 0:20 0:30!\n"
                             "sample 1 4 2 0:20 1:40!\n"
                             "sample 1 1 0 0:10 0:30 1:40!\n"
                             "sample 0 1 2\n"
                             "done 0 0\n";

static const char names[] = "10 main main.c 12\n"
                            "20 f main.c 25\n"
                            "30 h main.h 50 g main.h 33 f main.c 27\n";

struct fixture {
    struct named named;
    struct wndl_annotator x;
    struct wndl_annotation of;
    struct wndl_annotated *a; /* the first one */
};

static void find(struct fixture *f, const char *name)
{
    const struct wndl_annotate_choice choice = {.name = name};
    named_cook(&f->named, recipe, names);
    assert_true(
        wndl_annotator_init(&f->x, &f->of, &f->named.symbolized, &choice));
    f->a = f->of.functions.data;
}

static void fill(struct fixture *f, const char *name)
{
    find(f, name);
    assert_int_equal(f->of.functions.len, 1);
    assert_true(wndl_annotator_fill(&f->x, f->a));
}

static void clear(struct fixture *f)
{
    wndl_annotator_free(&f->x);
    named_free(&f->named);
}

static void assert_line(const struct fixture *f, size_t i, uint32_t number,
    uint64_t self, uint64_t total)
{
    assert_true(i < f->a->lines.len);
    const struct wndl_annotated_line *line = wndl_vec_at(&f->a->lines, i);
    assert_int_equal(line->line, number);
    assert_int_equal(line->self.samples, self);
    assert_int_equal(line->total.samples, total);
}

/* The line of a caller; 0: there is none. */
static void assert_caller(
    const struct fixture *f, size_t i, uint32_t line, uint64_t total)
{
    assert_true(i < f->a->callers.len);
    const struct wndl_annotated_caller *caller = wndl_vec_at(&f->a->callers, i);
    assert_int_equal(caller->total.samples, total);
    if (line == 0) {
        assert_int_equal(caller->location, WNDL_NO_INDEX);
        return;
    }
    const struct wndl_location *at =
        wndl_vec_at(&f->named.symbolized.locations, caller->location);
    assert_int_equal(at->line, line);
}

static void assert_inlined(
    const struct fixture *f, uint32_t at, uint32_t line, uint64_t self)
{
    assert_int_equal(f->a->inlined.len, 1);
    const struct wndl_annotated_inlined *row = f->a->inlined.data;
    const struct wndl_location *location =
        wndl_vec_at(&f->named.symbolized.locations, row->location);
    assert_int_equal(row->line, at);
    assert_int_equal(location->line, line);
    assert_int_equal(row->self.samples, self);
}

static void lines_of_a_recursive_function(void **state)
{
    (void)state;
    struct fixture f;
    fill(&f, "f");
    assert_int_equal(f.of.all.samples, 16);
    assert_int_equal(f.a->self.samples, 10);
    assert_int_equal(f.a->total.samples, 15);
    assert_int_equal(f.a->lines.len, 2);
    assert_line(&f, 0, 25, 8, 14);
    assert_line(&f, 1, 27, 2, 3);
    assert_inlined(&f, 27, 50, 2);
    assert_int_equal(f.a->callers.len, 3);
    assert_caller(&f, 0, 12, 11);
    assert_caller(&f, 1, 25, 5);
    assert_caller(&f, 2, 0, 4);
    clear(&f);
}

static void lines_of_inlined_functions(void **state)
{
    (void)state;
    struct fixture f;
    fill(&f, "g");
    assert_int_equal(f.a->self.samples, 2);
    assert_line(&f, 0, 33, 2, 3);
    assert_inlined(&f, 33, 50, 2);
    assert_caller(&f, 0, 27, 3);
    clear(&f);
    fill(&f, "h");
    assert_line(&f, 0, 50, 2, 3);
    assert_int_equal(f.a->inlined.len, 0);
    assert_caller(&f, 0, 33, 3);
    clear(&f);
}

static void costs_of_instructions(void **state)
{
    (void)state;
    struct fixture f;
    find(&f, "f");
    static const struct {
        uint64_t rva;
        uint32_t size, line;
    } code[] = {{0x1b, 5, 24}, {0x20, 4, 26}, {0x40, 1, 0}};
    const struct wndl_function *function =
        wndl_vec_at(&f.named.symbolized.functions, f.a->function);
    for (size_t i = 0; i < 3; i++) {
        struct wndl_annotated_code *slot = wndl_vec_push(&f.a->code);
        slot->rva = code[i].rva;
        slot->size = code[i].size;
        slot->text = "nop";
        slot->own_file = slot->file = function->file;
        slot->own_line = slot->line = code[i].line;
    }
    assert_true(wndl_annotator_fill(&f.x, f.a));
    const struct wndl_annotated_code *filled = f.a->code.data;
    assert_int_equal(filled[0].self.samples, 0);
    assert_int_equal(filled[0].total.samples, 9);
    assert_int_equal(filled[1].self.samples, 8);
    assert_int_equal(filled[1].total.samples, 8);
    assert_int_equal(filled[2].total.samples, 0);
    /* Its lines are there, in order, also those without a cost. */
    assert_int_equal(f.a->lines.len, 4);
    assert_line(&f, 0, 24, 0, 0);
    assert_line(&f, 1, 25, 8, 14);
    assert_line(&f, 2, 26, 0, 0);
    assert_line(&f, 3, 27, 2, 3);
    clear(&f);
}

static void functions_without_a_cost_are_left_out(void **state)
{
    (void)state;
    struct fixture f;
    find(&f, "nobody");
    assert_int_equal(f.of.functions.len, 0);
    clear(&f);
    named_cook(&f.named, recipe, names);
    const struct wndl_annotate_choice blocked = {
        .name = "f", .time = WNDL_TIME_BLOCKED};
    assert_true(
        wndl_annotator_init(&f.x, &f.of, &f.named.symbolized, &blocked));
    assert_int_equal(f.of.functions.len, 0);
    clear(&f);
}

static bool fill_with(struct fixture *f, struct wndl_mem *mem)
{
    const struct wndl_annotate_choice choice = {.name = "f"};
    named_cook(&f->named, recipe, names);
    f->named.symbolized.arena.mem = mem;
    bool made =
        wndl_annotator_init(&f->x, &f->of, &f->named.symbolized, &choice) &&
        wndl_annotator_fill(&f->x, f->of.functions.data);
    wndl_annotator_free(&f->x);
    f->named.symbolized.arena.mem = wndl_mem_libc();
    named_free(&f->named);
    return made;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    struct fixture f;
    struct failing_mem mem;
    bool made = false;
    for (long budget = 0; budget < 100 && !made; budget++) {
        failing_mem_init(&mem, budget);
        made = fill_with(&f, &mem.mem);
        assert_int_equal(mem.live, 0);
        assert_true(budget != 0 || !made);
    }
    assert_true(made);
}

/* ---- sources, and what is written */

static const char source[] = "1\n2\n\tthree\r\nlast";

static void sources_are_found_by_maps(void **state)
{
    (void)state;
    char folder[] = "/tmp/annotate.XXXXXX";
    char path[64], map[96];
    struct fixture f;
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/.c", folder);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(source, out);
    fclose(out);
    snprintf(map, sizeof map, "main=%s/", folder);
    fill(&f, "f");
    /* "main" is not a folder at the start of "main.c". */
    const char *maps[] = {map, NULL};
    assert_true(wndl_annotate_read_sources(&f.of, f.a, maps));
    const struct wndl_annotated_file *file = f.a->files.data;
    assert_string_equal(file->path, "main.c");
    assert_non_null(file->problem);
    snprintf(map, sizeof map, "main.c=%s", path);
    assert_true(wndl_annotate_read_sources(&f.of, f.a, maps));
    assert_string_equal(file->path, path);
    assert_int_equal(file->line_count, 4);
    assert_true(wndl_bytes_is(wndl_annotated_source(file, 3), "\tthree"));
    assert_true(wndl_bytes_is(wndl_annotated_source(file, 4), "last"));
    assert_int_equal(wndl_annotated_source(file, 5).size, 0);
    assert_int_equal(wndl_annotated_source(file, 0).size, 0);
    clear(&f);
    unlink(path);
    rmdir(folder);
    assert_true(wndl_source_map_is_valid("a=b"));
    assert_true(wndl_source_map_is_valid("a="));
    assert_false(wndl_source_map_is_valid("=b"));
    assert_false(wndl_source_map_is_valid("a"));
}

static void text_and_json(void **state)
{
    (void)state;
    static const char *const none[] = {NULL};
    static const struct wndl_annotated_layout layout = {
        .callers = true, .functions = 3};
    struct fixture f;
    struct wndl_buf out;
    fill(&f, "f");
    assert_true(wndl_annotate_read_sources(&f.of, f.a, none));
    wndl_buf_init(&out, wndl_mem_libc());
    wndl_annotated_text(&f.of, &layout, &out);
    wndl_buf_byte(&out, '\0');
    assert_string_equal((const char *)out.data,
        "Function   f  main.c:20  [app]\n"
        "Self       10 ms, 62.5% of all CPU time\n"
        "Total      15 ms, 93.8% of all CPU time\n"
        "Source     main.c: No such file or directory\n"
        "           --source-map FROM=TO reads the sources of FROM below TO\n"
        "\n"
        "  self         (CPU)   total     line  source\n"
        " 80.0%      8.000 ms   93.3%       25\n"
        " 20.0%      2.000 ms   20.0%       27\n"
        " 20.0%      2.000 ms                   | inlined h  main.h:50\n"
        "\n"
        " total         (CPU)  caller\n"
        " 73.3%      11.00 ms  main  main.c:12  [app]\n"
        " 33.3%      5.000 ms  f  main.c:25  [app]\n"
        " 26.7%      4.000 ms  [no caller]\n");
    wndl_buf_clear(&out);
    wndl_annotated_json(&f.of, 1, &out);
    wndl_buf_byte(&out, '\0');
    assert_non_null(strstr((const char *)out.data,
        "{\"file\":\"main.c\",\"line\":25,\"self\":8,\"self_ns\":8000000,"
        "\"total\":14,\"total_ns\":14000000}"));
    assert_non_null(strstr((const char *)out.data,
        "{\"at_file\":\"main.c\",\"at_line\":27,\"function\":\"h\""));
    wndl_buf_free(&out);
    clear(&f);
}

/* ---- instructions */

static void decode(const char *bytes, size_t size, uint16_t machine,
    struct wndl_instruction *to)
{
    struct wndl_instructions in;
    assert_true(wndl_instructions_init(&in, machine, false));
    wndl_instructions_decode(
        &in, (struct wndl_bytes){(const uint8_t *)bytes, size}, 0x1000, to);
}

static void instructions_as_text(void **state)
{
    (void)state;
    struct wndl_instructions in;
    struct wndl_instruction one;
    decode("\xe8\x0b\x00\x00\x00", 5, EM_X86_64, &one);
    assert_int_equal(one.size, 5);
    assert_true(one.has_target);
    assert_int_equal(one.target, 0x1010);
    decode("\x48\x89\xe5", 3, EM_X86_64, &one);
    assert_false(one.has_target);
    assert_string_equal(one.text, "mov %rsp, %rbp");
    decode("\x83\xe0\x0a", 3, EM_X86_64, &one);
    assert_string_equal(one.text, "and $0xa, %eax");
    /* vpaddd zmm0, zmm1, zmm2 of AVX-512 */
    decode("\x62\xf1\x75\x48\xfe\xc2", 6, EM_X86_64, &one);
    assert_int_equal(one.size, 6);
    assert_string_equal(one.text, "vpaddd %zmm2, %zmm1, %zmm0");
    decode("\x06", 1, EM_X86_64, &one); /* of 32-bit code only */
    assert_string_equal(one.text, "(bad)");
    assert_int_equal(one.size, 1);
    decode("\x06", 1, EM_386, &one);
    assert_string_equal(one.text, "push %es");
    assert_false(wndl_instructions_init(&in, EM_AARCH64, false));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_a_recursive_function),
        cmocka_unit_test(lines_of_inlined_functions),
        cmocka_unit_test(costs_of_instructions),
        cmocka_unit_test(functions_without_a_cost_are_left_out),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(sources_are_found_by_maps),
        cmocka_unit_test(text_and_json),
        cmocka_unit_test(instructions_as_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
