/* SPDX-License-Identifier: MIT */
/* windlass unwind-table: builds unwind tables, shows them, and compares them
 * with their binaries; compares rules with what programs do. */
#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/binary.h"
#include "cli/unwind/prove.h"
#include "cli/unwind/table_chrome.h"
#include "cli/unwind/table_text.h"
#include "cli/unwind/table_verify.h"
#include "os/file.h"
#include "unwind/table/chrome_v2.h"
#include "unwind_tables/table/table.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

enum { FORMAT_WINDLASS, FORMAT_CHROME };

struct table_options {
    const char *out;
    bool dump;
    bool from_code;
    unsigned format; /* FORMAT_*: in the order of the choices */
    unsigned header; /* 1: as designed */
    const char *lookup;
    bool all;
    uint64_t windows, steps; /* 0: not given */
};

static const struct wndl_option option_table[] = {
    {'o', "output", "FILE", NULL, NULL, NULL, "build: write the table to FILE",
        WNDL_OPT_TEXT, offsetof(struct table_options, out)},
    {0, "dump", NULL, NULL, NULL, NULL,
        "show: list all rows, one line for each range of addresses",
        WNDL_OPT_FLAG, offsetof(struct table_options, dump)},
    {0, "from-code", NULL, NULL, NULL, NULL,
        "build, verify: make rules from the code of x86-64, i386 and AArch64 "
        "where there are none",
        WNDL_OPT_FLAG, offsetof(struct table_options, from_code)},
    {0, "format", "FORMAT", "windlass|chrome-v2", "windlass", NULL,
        "the format of the table: windlass: windlass's own; chrome-v2: "
        "Chromium's unwind info v2, for 32-bit Arm",
        WNDL_OPT_CHOICE, offsetof(struct table_options, format)},
    {0, "header", "HEADER", "shipped|design", "shipped", NULL,
        "build, chrome-v2: write a header of eight words as shipped, or of ten "
        "words as designed",
        WNDL_OPT_CHOICE, offsetof(struct table_options, header)},
    {0, "lookup", "OFFSET", NULL, NULL, NULL,
        "show, chrome-v2: look up this offset (hexadecimal) from the start of "
        ".text",
        WNDL_OPT_TEXT, offsetof(struct table_options, lookup)},
    {0, "all", NULL, NULL, NULL, NULL,
        "prove: judge the rules of the program and all its libraries",
        WNDL_OPT_FLAG, offsetof(struct table_options, all)},
    {0, "windows", "N", NULL, NULL, NULL,
        "prove: stop the program N times (500 if not given)", WNDL_OPT_COUNT,
        offsetof(struct table_options, windows)},
    {0, "steps", "N", NULL, NULL, NULL,
        "prove: run N instructions, one at a time, each time it is stopped "
        "(4000 if not given)",
        WNDL_OPT_COUNT, offsetof(struct table_options, steps)},
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass unwind-table build -o app.wut ./app",
        "build the table of a program"},
    {"windlass unwind-table verify ./app app.wut",
        "compare every row of the table with the program"},
    {NULL, NULL},
};

/* ---- build */

static void say_built(const struct wndl_table_stats *s, size_t size)
{
    wndl_cli_note("%" PRIu64 " functions, %" PRIu64 " rows in %zu bytes: %.3f "
                  "of %s's %" PRIu64 ", %.2f for each function",
        s->functions, s->rows, size, (double)size / (double)s->source_size,
        s->source, s->source_size,
        (double)size / (double)(s->functions == 0 ? 1 : s->functions));
    if (s->lost != 0)
        wndl_cli_note("warning: records that are damaged or not read: %" PRIu64
                      "; the table has no rules, or not all, for their code; "
                      "see 'windlass unwind-info'",
            s->lost);
}

static int build_table(const struct table_options *o, const char *path)
{
    struct wndl_binary binary;
    struct wndl_buf bytes;
    struct wndl_table_stats stats;
    struct wndl_error err = {0};
    if (!wndl_output_may_write(o->out, path))
        return WNDL_EXIT_FAILURE;
    if (!wndl_binary_open_whole(&binary, path, &err))
        return wndl_cli_fail(&err);
    wndl_buf_init(&bytes, wndl_mem_libc());
    int exit_code;
    if ((o->from_code && !wndl_binary_add_code_rules(&binary, &err)) ||
        wndl_table_build(binary.object, &bytes, &stats, &err) != WNDL_OK) {
        exit_code = wndl_cli_fail(&err);
    } else {
        const struct wndl_output output = {
            .path = o->out, .write = wndl_output_bytes, .context = &bytes};
        exit_code = wndl_output_write(&output);
        if (exit_code == WNDL_EXIT_OK)
            say_built(&stats, bytes.size);
        if (exit_code == WNDL_EXIT_OK &&
            wndl_object_build_id(binary.object).size == 0)
            wndl_cli_note("there is no build-id to find or check the table by: "
                          "attach it with 'windlass record --unwind-table'");
    }
    wndl_buf_free(&bytes);
    wndl_binary_close(&binary);
    return exit_code;
}

/* ---- show and verify */

static bool open_table(struct wndl_file *file, struct wndl_table *table,
    const char *path, struct wndl_error *err)
{
    struct wndl_chrome_v2 chrome;
    if (wndl_file_open(path, file, err) != WNDL_OK)
        return false;
    if (wndl_table_open(file->bytes, table, err) == WNDL_OK)
        return true;
    if (wndl_chrome_v2_open(file->bytes, &chrome, NULL) == WNDL_OK)
        (void)wndl_fail(err, WNDL_UNSUPPORTED,
            "Chromium's unwind info v2; use --format chrome-v2");
    wndl_error_set_file(err, path);
    wndl_file_close(file);
    return false;
}

static int print_table(
    const struct table_options *o, const struct wndl_table *table)
{
    bool whole = true;
    if (o->dump)
        whole = wndl_unwind_table_dump(stdout, table);
    else
        wndl_unwind_table_say(stdout, table);
    if (!whole)
        return wndl_cli_error("out of memory; the output is incomplete");
    return wndl_cli_flush();
}

static int show_table(const struct table_options *o, const char *path)
{
    struct wndl_file file;
    struct wndl_table table;
    struct wndl_error err = {0};
    if (!open_table(&file, &table, path, &err))
        return wndl_cli_fail(&err);
    int exit_code;
    if (wndl_table_check(&table, &err) != WNDL_OK) {
        wndl_error_set_file(&err, path);
        exit_code = wndl_cli_fail(&err);
    } else if (wndl_arch_of(table.machine) == NULL || table.machine == 0) {
        exit_code = wndl_cli_error("%s: unsupported machine (supported: "
                                   "x86-64, i386, AArch64 and Arm)",
            path);
    } else {
        exit_code = print_table(o, &table);
    }
    wndl_file_close(&file);
    return exit_code;
}

static bool open_checked(struct wndl_file *file, void *table, const char *path,
    struct wndl_error *err)
{
    return open_table(file, table, path, err);
}

static enum wndl_status check_table(const void *table,
    struct wndl_object *object, struct wndl_table_verdict *verdict,
    struct wndl_error *err)
{
    return wndl_table_verify(table, object, verdict, err);
}

static int verify_table(
    const struct table_options *o, const char *binary, const char *path)
{
    struct wndl_table table;
    const struct wndl_checked_table checked = {&table, open_checked,
        check_table, .owns_damage = true, .from_code = o->from_code};
    return wndl_unwind_table_verify(&checked, binary, path);
}

/* The operand that is missing on the line, or NULL. */
static const char *missing_word(const char *verb, size_t count)
{
    const bool of_binary = strcmp(verb, "show") != 0;
    if (count == 1)
        return of_binary ? "OBJ" : "FILE";
    return count == 2 && strcmp(verb, "verify") == 0 ? "FILE" : NULL;
}

static int refuse_use(
    const char *verb, size_t count, bool known, bool needs_chrome)
{
    static const char help[] = "see 'windlass unwind-table --help'";
    if (count == 0)
        wndl_cli_error(
            "an action is missing: build, show, verify or prove; %s", help);
    else if (needs_chrome)
        wndl_cli_error(
            "encode, run, --lookup and --header need --format chrome-v2; %s",
            help);
    else if (!known)
        wndl_cli_error(
            "unknown action '%s': use build, show, verify or prove; %s", verb,
            help);
    else if (missing_word(verb, count) != NULL)
        wndl_cli_error("%s is missing after '%s'; %s",
            missing_word(verb, count), verb, help);
    else
        wndl_cli_error("use 'unwind-table build OBJ -o FILE', 'show [--dump] "
                       "FILE' or 'verify OBJ FILE'; %s",
            help);
    return WNDL_EXIT_USAGE;
}

/* -1: the operands and options fit no action. */
static int run_chrome(
    const struct table_options *o, const struct wndl_operands *operands)
{
    char *const *t = operands->texts;
    const size_t count = operands->count;
    const bool builds = count == 2 && strcmp(t[0], "build") == 0;
    if (o->dump || o->from_code || builds != (o->out != NULL) ||
        (o->header != 0 && !builds))
        return -1;
    if (builds && o->lookup == NULL)
        return wndl_chrome_v2_cmd_build(t[1], o->out, o->header != 0);
    if (count == 2 && strcmp(t[0], "show") == 0)
        return wndl_chrome_v2_cmd_show(t[1], o->lookup);
    if (o->lookup != NULL)
        return -1;
    if (count == 3 && strcmp(t[0], "verify") == 0)
        return wndl_chrome_v2_cmd_verify(t[1], t[2]);
    if (count == 3 && strcmp(t[0], "encode") == 0)
        return wndl_chrome_v2_cmd_encode(t[1], t[2]);
    if (count == 4 && strcmp(t[0], "run") == 0)
        return wndl_chrome_v2_cmd_run(t[1], t[2], t[3]);
    return -1;
}

static int run_prove(
    const struct table_options *o, const struct wndl_operands *operands)
{
    enum { WINDOWS = 500, STEPS = 4000 };
    const size_t before = o->all ? 1 : 2; /* the command */
    if (o->out == NULL && !o->dump && !o->from_code && o->format == 0 &&
        o->header == 0 && o->lookup == NULL && operands->count > before) {
        const struct wndl_prove_request request = {
            .module = o->all ? NULL : operands->texts[1],
            .command = operands->texts + before,
            .windows = o->windows == 0 ? WINDOWS : o->windows,
            .steps = o->steps == 0 ? STEPS : o->steps,
        };
        return wndl_unwind_table_prove(&request);
    }
    wndl_cli_error("use 'unwind-table prove OBJ -- COMMAND' or 'prove --all -- "
                   "COMMAND', with --windows and --steps alone; see 'windlass "
                   "unwind-table --help'");
    return WNDL_EXIT_USAGE;
}

static int run_unwind_table(const void *options, struct wndl_operands operands)
{
    const struct table_options *o = options;
    const char *verb = operands.count == 0 ? "" : operands.texts[0];
    if (strcmp(verb, "prove") == 0)
        return run_prove(o, &operands);
    if (o->all || o->windows != 0 || o->steps != 0) {
        wndl_cli_error("--all, --windows and --steps are of 'prove'; see "
                       "'windlass unwind-table --help'");
        return WNDL_EXIT_USAGE;
    }
    const bool builds = strcmp(verb, "build") == 0;
    const bool shows = strcmp(verb, "show") == 0;
    const bool verifies = strcmp(verb, "verify") == 0;
    const size_t wanted = verifies ? 3 : 2;
    if (o->format == FORMAT_CHROME) {
        const int exit_code = run_chrome(o, &operands);
        if (exit_code >= 0)
            return exit_code;
        wndl_cli_error("this action or option does not go with --format "
                       "chrome-v2; see 'windlass unwind-table --help'");
        return WNDL_EXIT_USAGE;
    }
    if (o->header == 0 && o->lookup == NULL && (builds || shows || verifies) &&
        operands.count == wanted && builds == (o->out != NULL) &&
        (shows || !o->dump) && !(shows && o->from_code))
        return builds  ? build_table(o, operands.texts[1])
               : shows ? show_table(o, operands.texts[1])
                       : verify_table(o, operands.texts[1], operands.texts[2]);
    const bool needs_chrome = o->header != 0 || o->lookup != NULL ||
                              strcmp(verb, "encode") == 0 ||
                              strcmp(verb, "run") == 0;
    return refuse_use(
        verb, operands.count, builds || shows || verifies, needs_chrome);
}

const struct wndl_command wndl_cmd_unwind_table = {
    .name = "unwind-table",
    .group = WNDL_GROUP_UNWINDING,
    .summary = "build and inspect compact unwind tables",
    .operands = "build OBJ -o FILE | show FILE | verify OBJ FILE | "
                "prove OBJ|--all -- COMMAND",
    .description =
        "An unwind table holds the unwind rules of a binary in about a tenth "
        "of the size of its call frame information. It is built from "
        ".eh_frame, and from .debug_frame, also of the debug file, for the "
        "code that .eh_frame leaves out; with --from-code also from the code "
        "of x86-64, i386 and AArch64 for which neither has rules; from .pdata "
        "of 64-bit Windows files, "
        "__unwind_info of macOS files, or .ARM.exidx; for x86-64, i386, "
        "AArch64 and 32-bit Arm. A table with the name <build-id>.wut is found "
        "in the folders of $WINDLASS_UNWIND_TABLES when the binary is "
        "recorded; a table with another name is attached by 'windlass record "
        "--unwind-table'.\n\n"
        "build: make the table of OBJ, a program or shared library, or a "
        "Breakpad symbol file with its build-id (INFO CODE_ID). A library in "
        "an APK or another zip archive, stored there without compression, is "
        "ARCHIVE!/MEMBER.\n\n"
        "show: print the binary that a table belongs to, and the sizes of its "
        "parts.\n\n"
        "verify: look up the first, middle and last address of every row in "
        "OBJ, and compare the table with the row.\n\n"
        "prove: run COMMAND, stop one of its threads at random moments, run it "
        "one instruction at a time from there, and compare the caller that the "
        "rules lead to with the one that its calls have shown: in OBJ, a path "
        "or the name of a file, or in all modules. Rules from code are "
        "included, and no table is read. COMMAND is ended after the last time, "
        "or after five minutes. Its children are not traced. x86-64 "
        "only.\n\n"
        "With --format chrome-v2, the actions work on Chromium's unwind info "
        "v2, for 32-bit Arm, built from .debug_frame, or from .ARM.exidx and "
        "the code if there is none. Such a file does not name its binary: call "
        "it <build-id>.cuw2, which is used if there is no <build-id>.wut, or "
        "attach it by --unwind-table. Two more actions test the format on raw "
        "bytes, all in hexadecimal:\n\n"
        "encode OBJ ADDRESS: print the instructions of each row of the "
        "function at ADDRESS.\n\n"
        "run INSTRUCTIONS REGISTERS STACK: print the registers (r4=1,sp=7f00) "
        "after the instructions; STACK holds the bytes from sp on.",
    .options = option_table,
    .options_size = sizeof(struct table_options),
    .examples = examples,
    .actions = "build|show|verify|prove|encode|run",
    .min_operands = 0,
    .max_operands = SIZE_MAX,
    .run = run_unwind_table,
};
