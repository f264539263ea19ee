/* SPDX-License-Identifier: MIT */
/* windlass fix: copies text and names its stack frames. */
#include "analyze/fix/fix.h"
#include "cli/core/command.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/fix_listener.h"
#include "cli/shared/symbol_options.h"
#include "cli/symbols/fix_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fix_options {
    bool json;
    bool inlines;
    const char *local_dir;
    struct wndl_option_list breakpad_dirs;
    struct wndl_option_list maps;
    struct wndl_option_list sym_dirs;
    const char *kernel;
    bool repack;
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'j', "json", NULL, NULL, NULL, NULL,
        "the text is JSON: look for frames in its strings", WNDL_OPT_FLAG,
        offsetof(struct fix_options, json)},
    {0, "inlines", NULL, NULL, NULL, NULL,
        "add a line for each inlined frame, innermost first", WNDL_OPT_FLAG,
        offsetof(struct fix_options, inlines)},
    {'l', "local", "DIR", NULL, NULL, NULL,
        "search DIR for a file of the same name if a binary is missing at its "
        "path",
        WNDL_OPT_TEXT, offsetof(struct fix_options, local_dir)},
    {'b', "breakpad", "DIR", NULL, NULL, NULL,
        "prefer the Breakpad symbol files DIR/NAME/ID/NAME.sym; their lines "
        "are written as [FILE:LINE]; may be repeated",
        WNDL_OPT_LIST, offsetof(struct fix_options, breakpad_dirs)},
    {0, "map", "FROM=TO", NULL, NULL, NULL,
        "read paths that begin with FROM as if they began with TO; may be "
        "repeated",
        WNDL_OPT_LIST, offsetof(struct fix_options, maps)},
    {0, "sym-dir", "DIR", NULL, NULL, NULL,
        "prefer the file in DIR with a binary's path or name if it has the "
        "same build-id, for example one that is not stripped; may be repeated",
        WNDL_OPT_LIST, offsetof(struct fix_options, sym_dirs)},
    {0, "kernel", "VMLINUX", NULL, NULL, NULL,
        "name the functions of the kernel, 'f+0x12/0x34', by VMLINUX, and "
        "those of modules, 'f+0x12/0x34 [module]', by the files in the folder "
        "of -l",
        WNDL_OPT_TEXT, offsetof(struct fix_options, kernel)},
    {0, "repack", NULL, NULL, NULL, NULL,
        "write gzip or zstd where the text comes so; it is read either way",
        WNDL_OPT_FLAG, offsetof(struct fix_options, repack)},
    WNDL_ARCH_OPTION_ROW(struct fix_options, symbols),
    WNDL_SYMBOL_OPTION_ROWS(struct fix_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"./crashes 2>&1 | windlass fix", "name the frames of a crash"},
    {"windlass fix --inlines log.txt >named.txt",
        "name the frames of a whole log, and add inlined frames"},
    {"windlass fix -j --map /builds/app=. dmd.json >fixed.json",
        "fix JSON from a machine where the program had another path"},
    {NULL, NULL},
};

static bool are_maps(const struct wndl_option_list *maps)
{
    for (size_t i = 0; i < maps->count; i++) {
        if (strchr(maps->texts[i], '=') == NULL || maps->texts[i][0] == '=') {
            wndl_cli_error("--map takes FROM=TO, not '%s'; see 'windlass fix "
                           "--help'",
                maps->texts[i]);
            return false;
        }
    }
    return true;
}

/* A missing folder has no symbol files: probably a typing error. */
static void say_missing(const struct wndl_option_list *dirs)
{
    for (size_t i = 0; i < dirs->count; i++) {
        struct stat st;
        if (stat(dirs->texts[i], &st) != 0)
            wndl_cli_note(
                "warning: -b %s: %s", dirs->texts[i], strerror(errno));
        else if (!S_ISDIR(st.st_mode))
            wndl_cli_note("warning: -b %s: not a folder", dirs->texts[i]);
    }
}

static int report(const struct wndl_fix_stream *stream, const char *name,
    enum wndl_fix_end end)
{
    char text[320];
    switch (end) {
    case WNDL_FIX_DONE:
    case WNDL_FIX_NO_READER:
        return WNDL_EXIT_OK;
    case WNDL_FIX_CANNOT_READ:
        if (stream->damage.status != WNDL_OK)
            return wndl_cli_error("%s: %s", name,
                wndl_error_text(&stream->damage, text, sizeof text));
        return wndl_cli_error(
            "cannot read %s: %s", name, strerror(stream->sys_errno));
    case WNDL_FIX_CANNOT_WRITE:
        return wndl_cli_error(
            "cannot write standard output: %s", strerror(stream->sys_errno));
    default:
        return wndl_cli_error("out of memory");
    }
}

/* When the text was written: not known of pipes. */
static uint64_t time_of(int input)
{
    struct stat st;
    if (fstat(input, &st) != 0 || !S_ISREG(st.st_mode))
        return 0;
    return (uint64_t)st.st_mtim.tv_sec * 1000000000 +
           (uint64_t)st.st_mtim.tv_nsec;
}

static int run_stream(const struct fix_options *o, int input, const char *name)
{
    struct wndl_debug_dirs debug_dirs;
    struct wndl_symbolizer_cache cache;
    wndl_debug_dirs_init(&debug_dirs, &o->symbols.debug_dirs);
    struct wndl_fix_options options = {
        .json = o->json,
        .inlines = o->inlines,
        .debug_dirs = debug_dirs.list,
        .debuginfod = wndl_asks_debuginfod(&o->symbols),
        .cache = wndl_symbol_cache(&o->symbols, &cache),
        .sym_dirs = o->sym_dirs.texts,
        .breakpad_dirs =
            o->breakpad_dirs.count == 0 ? NULL : o->breakpad_dirs.texts,
        .maps = o->maps.texts,
        .local_dir = o->local_dir,
        .arch = o->symbols.arch,
        .kernel = o->kernel,
        .text_ns = time_of(input),
    };
    struct wndl_fix_stream stream = {
        .input = input,
        .output = STDOUT_FILENO,
        .dmd = o->json && o->inlines,
        .repack = o->repack,
        .name = name,
    };
    if (wndl_fix_open(wndl_mem_libc(), &options, &wndl_cli_fix_listener,
            &stream.fix) != WNDL_OK)
        return wndl_cli_error("out of memory");
    enum wndl_fix_end end = wndl_fix_stream_run(&stream);
    wndl_fix_report_lost(stream.fix);
    wndl_fix_close(stream.fix);
    return report(&stream, name, end);
}

static int run_fix(const void *options, struct wndl_operands operands)
{
    const struct fix_options *o = options;
    if (!are_maps(&o->maps))
        return WNDL_EXIT_USAGE;
    say_missing(&o->breakpad_dirs);
    /* A reader that goes away, such as head, is no failure. */
    signal(SIGPIPE, SIG_IGN);
    if (operands.count == 0 || strcmp(operands.texts[0], "-") == 0)
        return run_stream(o, STDIN_FILENO, "standard input");
    const char *path = operands.texts[0];
    int input = open(path, O_RDONLY | O_CLOEXEC);
    if (input < 0)
        return wndl_cli_error("cannot open %s: %s", path, strerror(errno));
    int exit_code = run_stream(o, input, path);
    close(input);
    return exit_code;
}

const struct wndl_command wndl_cmd_fix = {
    .name = "fix",
    .group = WNDL_GROUP_SYMBOLS,
    .summary = "name the functions and lines in printed stacks",
    .operands = "[FILE]",
    .description =
        "Copies text from FILE or standard input to standard output, and "
        "replaces the addresses in stack frames by functions, files and lines. "
        "All other bytes are copied unchanged. Each line is written as soon as "
        "its frames are resolved; when input arrives faster, lookups are "
        "batched by binary.\n\n"
        "Stack frames are recognised in these forms: '#01: ???[path +0x1a2b]' "
        "of Mozilla's programs and windlass; 'path(name+0x1a) [0x55...]' of "
        "backtrace_symbols(); '#1 0x55... (path+0x1a2b)' of AddressSanitizer; "
        "'by 0x1091a2: ??? (in path)' of Valgrind, if path is a program; 'name "
        "(0x55... path+0x1a2b)'; '??? (path) 0x1a2b'; and 'path+0x1a2b', if "
        "path has a slash or ends in .so or .ko. So are those of coredumpctl, "
        "minidump-stackwalk, Android, macOS and iOS, LLDB, GDB, Java, Node, "
        "Rust, Perl, Python 3.14, LLVM's symbolizer markup and, with "
        "--kernel, Linux; docs/fix.md has each. Addresses of a process are "
        "named if the "
        "text has its table of images, such as /proc/PID/maps.\n\n"
        "A frame becomes 'function (file:line)', with the outermost function "
        "at that address and the line of its call, or 'function (path + "
        "0x1a2b)' if no line is known. If nothing is known, the line stays as "
        "it is, except that Mozilla's form gets parentheses for its brackets. "
        "A binary that cannot be read is reported once on standard error; the "
        "exit status is still 0.\n\n"
        "With -b, the names of a binary come from DIR/NAME/ID/NAME.sym, or "
        "from DIR/STEM.pdb/ID/STEM.sym for STEM.dll and STEM.exe. ID is the "
        "build that 'windlass sym --ids' prints. If the binary is missing, so "
        "that its ID is not known, a symbol file of its name is used if there "
        "is only one. Binaries without such a file are read as usual.\n\n"
        "With --inlines each inlined frame gets a line of its own before the "
        "line of its function, with the same number, marked [inlined]. In JSON "
        "it goes into the same string and ends in \\n; in a DMD file of "
        "Mozilla it becomes a frame of the tables.\n\n"
        "Differences from Mozilla's fix-stacks, which this replaces: "
        "fix-stacks fixes only the last frame of a line, stops at wrong "
        "escapes, invalid UTF-8 and numbers of more than 64 bits, changes line "
        "ends, may name a hot function after its cold part (.cold), leaves the "
        "compilation directory off file names, and ignores -l with -j.",
    .options = option_table,
    .options_size = sizeof(struct fix_options),
    .examples = examples,
    .min_operands = 0,
    .max_operands = 1,
    .run = run_fix,
};
