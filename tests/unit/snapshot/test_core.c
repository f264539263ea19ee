/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "coremake.h"
#include "elfmake.h"
#include "snapshot/core.h"

#include <elf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * A program without a file: frames by frame pointers, and code of calls through
 * a register, which may have led anywhere.
 */
enum {
    PID = 4711,
    CODE = 0x400000,
    CODE_SIZE = 0x1000,
    STACK = 0x7f0000,
    STACK_SIZE = 0x100,
    IP = CODE + 0x10,
    CALLER = CODE + 0x100,
    ROOT = CODE + 0x200,
};

static char path[] = "/tmp/wndl-core-XXXXXX";

static void set_word(uint8_t *at, uint64_t value)
{
    memcpy(at, &value, sizeof value);
}

static void write_to(const char *to, struct wndl_bytes bytes)
{
    FILE *file = fopen(to, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.data, 1, bytes.size, file), bytes.size);
    assert_int_equal(fclose(file), 0);
}

static void write_file(struct wndl_bytes bytes)
{
    write_to(path, bytes);
}

static void make_memory(uint8_t *code, uint8_t *stack)
{
    memset(code, 0x90, CODE_SIZE);
    memset(stack, 0, STACK_SIZE);
    code[CALLER - CODE - 2] = code[ROOT - CODE - 2] = 0xff; /* call *%rax */
    code[CALLER - CODE - 1] = code[ROOT - CODE - 1] = 0xd0;
    set_word(stack + 0x20, STACK + 0x40);
    set_word(stack + 0x28, CALLER);
    set_word(stack + 0x48, ROOT);
}

/* A core of two threads, of which the first is at `ip`. `head`: what its code
 * begins with. */
static struct wndl_bytes make_with(uint64_t ip, struct wndl_bytes head)
{
    static uint8_t code[CODE_SIZE], stack[STACK_SIZE];
    const struct made_thread first = {
        PID + 1, SIGSEGV, ip, STACK, STACK + 0x20, -1};
    const struct made_thread second = {PID, 0, IP, STACK, STACK + 0x20, 0};
    const struct made_signal signal = {SIGSEGV, SEGV_MAPERR, 0x10, 0};
    const struct made_file file = {
        CODE, CODE + CODE_SIZE, 0, "/nowhere/program"};
    const struct made_memory memory[] = {
        {CODE, CODE_SIZE, PF_R | PF_X, {code, CODE_SIZE}},
        {STACK, STACK_SIZE, PF_R | PF_W, {stack, STACK_SIZE}}};
    struct wndl_buf notes;
    make_memory(code, stack);
    if (head.size != 0)
        memcpy(code, head.data, head.size);
    set_word(stack, CALLER); /* as a call of a wild address leaves it */
    wndl_buf_init(&notes, wndl_mem_libc());
    put_thread(&notes, EM_X86_64, &first);
    put_process(&notes, EM_X86_64, PID, "program", "./program -x");
    put_signal(&notes, EM_X86_64, &signal);
    put_auxiliary(&notes, EM_X86_64, AT_ENTRY, CODE + 0x20);
    put_files(&notes, EM_X86_64, &file, 1);
    put_thread(&notes, EM_X86_64, &second);
    const struct core_recipe recipe = {EM_X86_64, &notes, memory, 2, false};
    const struct wndl_bytes bytes = make_core(&recipe);
    wndl_buf_free(&notes);
    return bytes;
}

static struct wndl_bytes make(uint64_t ip)
{
    return make_with(ip, (struct wndl_bytes){0});
}

static bool want_all(void *context, uint32_t tid, const char *name)
{
    (void)context, (void)tid, (void)name;
    return true;
}

static const struct wndl_core_request request = {
    .path = path, .max_frames = 16, .is_wanted = want_all};

static void open_for(struct wndl_core *core, struct wndl_snapshot *snapshot,
    struct wndl_bytes bytes, const char *const *debug_dirs)
{
    struct wndl_core_request asked = request;
    asked.debug_dirs = debug_dirs;
    struct wndl_error err = {0};
    write_file(bytes);
    free((void *)bytes.data);
    if (wndl_core_open(core, &asked, &err) != WNDL_OK)
        fail_msg("%s", err.what);
    wndl_snapshot_init(snapshot);
    assert_int_equal(wndl_core_read(core, snapshot, &err), WNDL_OK);
}

static void open_made(struct wndl_core *core, struct wndl_snapshot *snapshot,
    struct wndl_bytes bytes)
{
    open_for(core, snapshot, bytes, NULL);
}

static void close_made(struct wndl_core *core, struct wndl_snapshot *snapshot)
{
    wndl_snapshot_free(snapshot);
    wndl_core_close(core);
}

static void is_stack(const struct wndl_snapshot_thread *thread,
    const uint64_t *addresses, size_t count)
{
    assert_int_equal(thread->frame_count, count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(thread->frames[i].address, addresses[i]);
}

static void threads_have_stacks(void **state)
{
    (void)state;
    static const uint64_t expected[] = {IP, CALLER, ROOT};
    struct wndl_core core;
    struct wndl_snapshot s;
    open_made(&core, &s, make(IP));
    assert_int_equal(s.pid, PID);
    assert_int_equal(s.damage.status, WNDL_OK);
    assert_string_equal(s.command, "./program -x");
    assert_string_equal(s.executable, "/nowhere/program");
    assert_int_equal(s.threads.len, 2);
    const struct wndl_snapshot_thread *t = wndl_vec_at(&s.threads, 0);
    assert_true(t[0].is_first && !t[1].is_first);
    assert_int_equal(t[0].tid, PID + 1);
    assert_int_equal(t[0].state, WNDL_THREAD_RUNNING);
    assert_string_equal(t[1].name, "program");
    assert_int_equal(t[1].state, WNDL_THREAD_BLOCKED);
    assert_string_equal(t[1].call.name, "read");
    is_stack(&t[0], expected, 3);
    is_stack(&t[1], expected, 3);
    close_made(&core, &s);
}

static void binaries_that_are_gone_are_named(void **state)
{
    (void)state;
    struct wndl_core core;
    struct wndl_snapshot s;
    open_made(&core, &s, make(IP));
    assert_int_equal(s.images.len, 1);
    const struct wndl_snapshot_image *image = wndl_vec_at(&s.images, 0);
    assert_string_equal(image->path, "/nowhere/program");
    assert_non_null(strstr(image->trouble, "No such file"));
    assert_null(image->opened);
    assert_int_equal(image->module.start, CODE);
    close_made(&core, &s);
}

/* A program of one page of code with this build-id, in memory of malloc. Its
 * code stands in the file after the header and the note. */
static struct wndl_bytes make_program(const char id[static 4])
{
    enum { NOTE_SIZE = 24, TEXT = CODE + sizeof(Elf64_Ehdr) + NOTE_SIZE };
    static const uint8_t nops[16] = {0x90};
    struct wndl_buf note;
    struct elf_recipe recipe = {.is_64 = true, .type = ET_EXEC};
    recipe.machine = EM_X86_64;
    wndl_buf_init(&note, wndl_mem_libc());
    put_build_id(&note, &recipe, id, 4);
    const struct made_section sections[] = {
        {.name = ".note.gnu.build-id",
            .type = SHT_NOTE,
            .data = bytes_of(&note)},
        {.name = ".text",
            .type = SHT_PROGBITS,
            .flags = SHF_ALLOC | SHF_EXECINSTR,
            .addr = TEXT,
            .data = {nops, sizeof nops}},
    };
    const struct made_segment segments[] = {
        {.type = PT_NOTE, .alignment = 4, .section = 1},
        {.type = PT_LOAD,
            .flags = PF_R | PF_X,
            .addr = TEXT,
            .mem_size = CODE_SIZE,
            .section = 2},
    };
    recipe.sections = sections;
    recipe.section_count = 2;
    recipe.segments = segments;
    recipe.segment_count = 2;
    const struct wndl_bytes program = make_elf(&recipe);
    wndl_buf_free(&note);
    return program;
}

/* Opens a core of the program with build-id "wxyz", where the folder of debug
 * files has one with `id` under that name; its image is checked. */
static void find_by_build_id(
    const char *id, void (*check)(const struct wndl_snapshot_image *image))
{
    char dir[] = "/tmp/wndl-debug-XXXXXX";
    char folder[64], file[96];
    const char *const dirs[] = {"/nowhere", dir, NULL};
    struct wndl_core core;
    struct wndl_snapshot s;
    const struct wndl_bytes found = make_program(id);
    const struct wndl_bytes program = make_program("wxyz");
    assert_non_null(mkdtemp(dir));
    snprintf(folder, sizeof folder, "%s/.build-id", dir);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(folder, sizeof folder, "%s/.build-id/77", dir);
    assert_int_equal(mkdir(folder, 0700), 0);
    snprintf(file, sizeof file, "%s/78797a", folder);
    write_to(file, found);
    open_for(&core, &s, make_with(IP, program), dirs);
    assert_int_equal(s.images.len, 1);
    check(wndl_vec_at(&s.images, 0));
    close_made(&core, &s);
    free((void *)found.data);
    free((void *)program.data);
    assert_int_equal(unlink(file), 0);
    assert_int_equal(rmdir(folder), 0);
    *strrchr(folder, '/') = '\0';
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(rmdir(dir), 0);
}

static void is_taken(const struct wndl_snapshot_image *image)
{
    assert_null(image->trouble);
    assert_non_null(strstr(image->opened, "/.build-id/77/78797a"));
    assert_non_null(image->binary);
    assert_int_equal(image->module.bias, 0);
}

static void is_not_taken(const struct wndl_snapshot_image *image)
{
    assert_null(image->opened);
    assert_null(image->binary);
    assert_memory_equal(image->build_id.data, "wxyz", 4);
}

static void binaries_are_found_by_build_id(void **state)
{
    (void)state;
    find_by_build_id("wxyz", is_taken);
    find_by_build_id("wxyZ", is_not_taken);
}

/* The caller of an address without code is on top of the stack. */
static void jumps_to_nowhere_have_a_caller(void **state)
{
    (void)state;
    static const uint64_t wild[] = {0, 0x1234, 0x123456789};
    for (size_t i = 0; i < 3; i++) {
        const uint64_t expected[] = {wild[i], CALLER};
        struct wndl_core core;
        struct wndl_snapshot s;
        open_made(&core, &s, make(wild[i]));
        const struct wndl_snapshot_thread *t = wndl_vec_at(&s.threads, 0);
        assert_true(t->frame_count >= 2);
        assert_int_equal(t->frames[0].address, expected[0]);
        assert_int_equal(t->frames[1].address, expected[1]);
        close_made(&core, &s);
    }
}

static void another_program_is_refused(void **state)
{
    (void)state;
    struct wndl_core core;
    struct wndl_error err = {0};
    struct wndl_core_request other = request;
    const struct wndl_bytes bytes = make(IP);
    write_file(bytes);
    free((void *)bytes.data);
    other.program = path;
    assert_int_equal(wndl_core_open(&core, &other, &err), WNDL_NOT_FOUND);
    assert_non_null(strstr(err.what, "not the program of the core"));
}

/* Each is refused, or what it lacks is said. */
static void a_core_may_be_cut_anywhere(void **state)
{
    (void)state;
    enum { STEP = 13 };
    const struct wndl_bytes whole = make(IP);
    for (size_t size = 1; size < whole.size; size += STEP) {
        struct wndl_core core;
        struct wndl_error err = {0};
        write_file((struct wndl_bytes){whole.data, size});
        if (wndl_core_open(&core, &request, &err) != WNDL_OK) {
            assert_true(err.what[0] != '\0');
            assert_string_equal(err.file, path);
            continue;
        }
        struct wndl_snapshot s;
        wndl_snapshot_init(&s);
        assert_int_equal(wndl_core_read(&core, &s, &err), WNDL_OK);
        assert_int_not_equal(s.damage.status, WNDL_OK);
        assert_string_equal(s.damage.file, path);
        close_made(&core, &s);
    }
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
        cmocka_unit_test(threads_have_stacks),
        cmocka_unit_test(binaries_that_are_gone_are_named),
        cmocka_unit_test(binaries_are_found_by_build_id),
        cmocka_unit_test(jumps_to_nowhere_have_a_caller),
        cmocka_unit_test(another_program_is_refused),
        cmocka_unit_test(a_core_may_be_cut_anywhere),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
