/* SPDX-License-Identifier: MIT */
/* windlass vmprof: finds the code that pages when memory is short. */
#include "analyze/vm/vm_recording.h"
#include "base/text.h"
#include "cli/core/command.h"
#include "cli/core/input.h"
#include "cli/core/output.h"
#include "cli/core/terminal.h"
#include "cli/shared/known_file.h"
#include "cli/valgrind/launch.h"
#include "cli/valgrind/vm_profile.h"
#include "in/vm.h"
#include "out/callgrind.h"
#include "out/vm/json.h"
#include "out/vm/order.h"
#include "out/vm/text.h"
#include "wndl/put_aside.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { USUAL_ROWS = 20 };

struct vmprof_options {
    const char *mem;
    const char *page;
    bool blocks;
    bool no_paths;
    bool no_system;
    bool trace_children;
    uint64_t startup;
    uint64_t stacks_every;
    uint64_t rows;
    const char *callgrind;
    const char *order;
    const char *section_order;
    const char *recording;
    bool json;
    const char *show;
    uint64_t show_mem;
    bool quiet;
    const char *out;
    struct wndl_option_list valgrind;
    struct wndl_symbol_options symbols;
};

#define AT(field) offsetof(struct vmprof_options, field)

static const struct wndl_option option_table[] = {
    {0, "mem", "SIZES", NULL, "64M", NULL,
        "simulate real memory of this size, or of several sizes, such as "
        "64M,256M",
        WNDL_OPT_TEXT, AT(mem)},
    {0, "page", "SIZE", NULL, "4K", NULL, "size of a page, such as 2M",
        WNDL_OPT_TEXT, AT(page)},
    {0, "blocks", NULL, NULL, NULL, NULL,
        "also count faults by the site that allocated the heap block; the "
        "program runs on Valgrind's allocator",
        WNDL_OPT_FLAG, AT(blocks)},
    {0, "no-paths", NULL, NULL, NULL, NULL,
        "do not count faults by call path, which is faster", WNDL_OPT_FLAG,
        AT(no_paths)},
    {0, "no-system", NULL, NULL, NULL, NULL,
        "leave out the memory that system calls read and write", WNDL_OPT_FLAG,
        AT(no_system)},
    {0, "startup", "N", NULL, NULL, NULL,
        "record the order in which code runs in the first N instructions",
        WNDL_OPT_COUNT, AT(startup)},
    {0, "stacks-every", "N", NULL, NULL, NULL,
        "record a stack every N instructions", WNDL_OPT_COUNT,
        AT(stacks_every)},
    {0, "trace-children", NULL, NULL, NULL, NULL,
        "also profile the programs that the command starts", WNDL_OPT_FLAG,
        AT(trace_children)},
    {0, "vg", "OPTION", NULL, NULL, NULL,
        "pass OPTION to Valgrind; may be repeated", WNDL_OPT_LIST,
        AT(valgrind)},
    {'o', "output", "OUT", NULL, "vmprof.%p.vm", NULL,
        "write the results to OUT; %p stands for the pid; results that are "
        "there are kept as OUT.old, any other file is an error",
        WNDL_OPT_TEXT, AT(out)},
    {0, "show", "FILE", NULL, NULL, NULL,
        "show the results of an earlier run instead of running a command",
        WNDL_OPT_TEXT, AT(show)},
    {0, "show-mem", "SIZE", NULL, NULL, NULL,
        "show the faults in memory of this size (default: the smallest)",
        WNDL_OPT_SIZE, AT(show_mem)},
    {0, "callgrind", "OUT", NULL, NULL, NULL,
        "with --show: write a call graph for KCachegrind", WNDL_OPT_TEXT,
        AT(callgrind)},
    {0, "order-file", "OUT", NULL, NULL, NULL,
        "with --show: write the functions that ran at the start, for lld's "
        "--symbol-ordering-file",
        WNDL_OPT_TEXT, AT(order)},
    {0, "section-order-file", "OUT", NULL, NULL, NULL,
        "with --show: the same for --section-ordering-file of gold and mold",
        WNDL_OPT_TEXT, AT(section_order)},
    {0, "recording", "OUT", NULL, NULL, NULL,
        "with --show: write the stacks of --stacks-every as a recording; an "
        "instruction counts as a nanosecond",
        WNDL_OPT_TEXT, AT(recording)},
    {0, "json", NULL, NULL, NULL, NULL, "show the results as JSON",
        WNDL_OPT_FLAG, AT(json)},
    {'n', "rows", "N", NULL, NULL, NULL,
        "show N rows of each table (default 20)", WNDL_OPT_COUNT, AT(rows)},
    {'q', "quiet", NULL, NULL, NULL, NULL, "show no report after the run",
        WNDL_OPT_FLAG, AT(quiet)},
    WNDL_SYMBOL_OPTION_ROWS(struct vmprof_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"windlass vmprof --mem 64M,128M,256M -- ./app",
        "see how much memory the program needs before it pages"},
    {"windlass vmprof --show vmprof.4711.vm --callgrind callgrind.out.vm",
        "show the results of that run in KCachegrind"},
    {NULL, NULL},
};

/* ---- results */

static bool write_callgrind(FILE *out, void *context)
{
    const struct wndl_vm_profile *profile = context;
    const char *command = profile->vm.command;
    return wndl_callgrind_write(out, &profile->graph,
        (struct wndl_bytes){(const uint8_t *)command, strlen(command)},
        wndl_mem_libc());
}

/* The command's own file, else the file with the most functions. */
static const struct wndl_vm_startup_file *own_file(
    const struct wndl_vm_profile *profile)
{
    const struct wndl_vm_startup_file *best = NULL;
    const char *command = profile->vm.command;
    const int length = (int)strcspn(command, " ");
    for (size_t i = 0; i < profile->startup.files.len; i++) {
        const struct wndl_vm_startup_file *file =
            wndl_vec_at(&profile->startup.files, i);
        char word[PATH_MAX];
        snprintf(word, sizeof word, "%.*s", length, command);
        if (wndl_text_ends_with(file->path, basename(word)))
            return file;
        if (best == NULL || file->functions.len > best->functions.len)
            best = file;
    }
    return best;
}

static bool write_order_as(
    FILE *out, const struct wndl_vm_profile *profile, enum wndl_vm_order order)
{
    const struct wndl_vm_startup_file *file = own_file(profile);
    if (file != NULL)
        wndl_vm_order_write(out, file, order);
    return true;
}

static bool write_order(FILE *out, void *context)
{
    return write_order_as(out, context, WNDL_VM_ORDER_SYMBOLS);
}

static bool write_section_order(FILE *out, void *context)
{
    return write_order_as(out, context, WNDL_VM_ORDER_SECTIONS);
}

static bool write_recording(FILE *out, void *context)
{
    const struct wndl_vm_profile *profile = context;
    struct wndl_error err = {0};
    if (wndl_vm_record(&profile->vm, fileno(out), &err) == WNDL_OK)
        return true;
    wndl_cli_fail(&err);
    return false;
}

static int show_report(
    const struct vmprof_options *o, const struct wndl_vm_profile *profile)
{
    struct wndl_buf text;
    const struct wndl_vm_view view = wndl_vm_profile_view(profile);
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code = WNDL_EXIT_OK;
    bool whole = o->json ? wndl_vm_json(&text, &view)
                         : wndl_vm_text(&text, &view,
                               o->rows == 0 ? USUAL_ROWS : o->rows);
    if (whole)
        fwrite(text.data, 1, text.size, o->show != NULL ? stdout : stderr);
    else
        exit_code = wndl_cli_error("out of memory");
    wndl_buf_free(&text);
    return exit_code;
}

/* Writes the files that were asked for, else the report. */
static int show_profile(
    const struct vmprof_options *o, struct wndl_vm_profile *profile)
{
    const struct wndl_output outputs[] = {
        {o->callgrind, write_callgrind, profile, "kcachegrind"},
        {o->order, write_order, profile, NULL},
        {o->section_order, write_section_order, profile, NULL},
        {o->recording, write_recording, profile, "windlass report"},
    };
    int exit_code = WNDL_EXIT_OK;
    bool is_written = false;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        if (outputs[i].path == NULL || exit_code != WNDL_EXIT_OK)
            continue;
        is_written = true;
        exit_code = wndl_output_write(&outputs[i]);
    }
    return is_written ? exit_code : show_report(o, profile);
}

static int show_file(const struct vmprof_options *o, const char *path)
{
    struct wndl_input input;
    struct wndl_vm_profile profile;
    if (!wndl_input_open(&input, path))
        return WNDL_EXIT_FAILURE;
    bool is_open = wndl_known_file_is_taken(&input, WNDL_TAKES_VM) &&
                   wndl_vm_profile_open(&profile, input.bytes, input.name,
                       o->show_mem, &o->symbols);
    wndl_input_close(&input);
    if (!is_open)
        return WNDL_EXIT_FAILURE;
    int exit_code = show_profile(o, &profile);
    wndl_vm_profile_close(&profile);
    return exit_code;
}

/* ---- the run */

/* %p is the pid of the command, as in the name that Valgrind writes. */
static void expand_name(const char *pattern, pid_t pid, struct wndl_buf *name)
{
    for (const char *p = pattern; *p != '\0'; p++) {
        if (p[0] == '%' && p[1] == 'p') {
            wndl_buf_printf(name, "%ld", (long)pid);
            p++;
        } else {
            wndl_buf_byte(name, (uint8_t)*p);
        }
    }
    wndl_buf_byte(name, '\0');
}

struct texts {
    char mem[128], page[64], startup[64], stacks[64], out[PATH_MAX + 64];
};

static void fill_options(
    const struct vmprof_options *o, struct texts *t, const char *options[16])
{
    size_t n = 0;
    snprintf(t->mem, sizeof t->mem, "--mem=%s", o->mem);
    snprintf(t->page, sizeof t->page, "--page=%s", o->page);
    snprintf(t->startup, sizeof t->startup, "--startup=%" PRIu64, o->startup);
    snprintf(t->stacks, sizeof t->stacks, "--stacks-every=%" PRIu64,
        o->stacks_every);
    snprintf(t->out, sizeof t->out, "--vmprof-out-file=%s", o->out);
    options[n++] = t->mem;
    options[n++] = t->page;
    options[n++] = t->startup;
    options[n++] = t->stacks;
    options[n++] = t->out;
    options[n++] = o->no_paths ? "--paths=no" : "--paths=yes";
    options[n++] = o->no_system ? "--system=no" : "--system=yes";
    options[n++] = o->blocks ? "--blocks=yes" : "--blocks=no";
    options[n++] =
        o->trace_children ? "--trace-children=yes" : "--trace-children=no";
    options[n] = NULL;
}

static bool are_results(const char *path)
{
    struct wndl_file file;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return false;
    const bool are = wndl_vm_is(file.bytes);
    wndl_file_close(&file);
    return are;
}

/* Earlier results of this name are kept. A pid makes a name of its own. */
static bool make_room(const char *out, bool *moved)
{
    struct wndl_error err = {0};
    *moved = false;
    if (strchr(out, '%') != NULL ||
        wndl_put_aside(out, are_results, moved, &err) == WNDL_OK)
        return true;
    wndl_cli_fail(&err);
    return false;
}

static int run_command(
    const struct vmprof_options *o, struct wndl_operands operands)
{
    struct texts texts;
    const char *options[16];
    bool moved;
    if (!make_room(o->out, &moved))
        return WNDL_EXIT_FAILURE;
    fill_options(o, &texts, options);
    pid_t pid = -1;
    const struct wndl_valgrind_run run = {
        .tool = "vmprof",
        .replaces_malloc = o->blocks,
        .tool_options = options,
        .options = &o->valgrind,
        .command = operands.texts,
    };
    int exit_code = wndl_valgrind_run(&run, &pid);
    if (moved)
        wndl_put_back(o->out); /* if there are no new ones */
    if (o->quiet || pid < 0)
        return exit_code;
    struct wndl_buf name;
    wndl_buf_init(&name, wndl_mem_libc());
    expand_name(o->out, pid, &name);
    if (name.failed)
        return wndl_cli_error("out of memory");
    wndl_cli_note("results: %s", (const char *)name.data);
    if (access((const char *)name.data, R_OK) == 0)
        show_file(o, (const char *)name.data);
    else
        wndl_cli_note(
            "warning: the run left no results; see Valgrind's messages above");
    wndl_buf_free(&name);
    return exit_code;
}

/* "64M,1G": at most so many, each at least two pages large. */
static bool are_sizes(const char *text, unsigned most)
{
    for (unsigned count = 1; count <= most; count++) {
        size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 12 || text[0] == '0')
            return false;
        text += digits;
        text += *text != '\0' && strchr("KMGkmg", *text) != NULL;
        if (*text == '\0')
            return true;
        if (*text++ != ',')
            return false;
    }
    return false;
}

static bool writes_file(const struct vmprof_options *o)
{
    return o->callgrind != NULL || o->recording != NULL || o->order != NULL ||
           o->section_order != NULL;
}

static int run_vmprof(const void *options, struct wndl_operands operands)
{
    const struct vmprof_options *o = options;
    const char *problem = NULL;
    if (o->show == NULL && operands.count == 0)
        problem = "COMMAND is missing";
    else if (o->show != NULL && operands.count != 0)
        problem = "--show takes no command";
    else if (o->show == NULL && writes_file(o))
        problem = "--callgrind, --recording, --order-file and "
                  "--section-order-file need --show";
    else if (!are_sizes(o->mem, WNDL_VM_MEMORIES))
        problem = "--mem takes up to 16 sizes like 64M, separated by commas";
    else if (!are_sizes(o->page, 1))
        problem = "--page takes a size like 4K";
    if (problem != NULL) {
        wndl_cli_error("%s; see 'windlass vmprof --help'", problem);
        return WNDL_EXIT_USAGE;
    }
    return o->show == NULL ? run_command(o, operands) : show_file(o, o->show);
}

const struct wndl_command wndl_cmd_vmprof = {
    .name = "vmprof",
    .group = WNDL_GROUP_SIMULATE,
    .summary = "find the code that pages when memory is short",
    .operands = "[--] [COMMAND [ARG...]]",
    .description =
        "Runs a command under Valgrind as if the machine had only as much real "
        "memory as --mem says, and counts page faults by function, line and "
        "mapping. The simulation is exact and repeatable: every instruction "
        "fetch and every access to data counts as a use of its page, and when "
        "memory is full the clock algorithm picks the page to evict.\n\n"
        "A fault is dirty if the evicted page had been written to. The first "
        "access to a page is counted apart, as a first touch.\n\n"
        "With several sizes, all are simulated in one run and the report shows "
        "the faults of each, with the knee of the curve.",
    .options = option_table,
    .options_size = sizeof(struct vmprof_options),
    .examples = examples,
    .max_operands = SIZE_MAX,
    .operands_end_options = true,
    .run = run_vmprof,
};
