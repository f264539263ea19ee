/* SPDX-License-Identifier: MIT */
/* windlass fix: text in, the same text with its stack frames named out. */
#include "analyze/fix/fix.h"
#include "cli/core/command.h"
#include "cli/core/sigbus_guard.h"
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
    struct wndl_symbol_options symbols;
};

static const struct wndl_option option_table[] = {
    {'j', "json", NULL, NULL, NULL, NULL,
        "the text is JSON: frames stand in strings, and so do their names",
        WNDL_OPT_FLAG, offsetof(struct fix_options, json)},
    {0, "inlines", NULL, NULL, NULL, NULL,
        "add a line for each inlined frame, innermost first", WNDL_OPT_FLAG,
        offsetof(struct fix_options, inlines)},
    {'l', "local", "DIR", NULL, NULL, NULL,
        "look here, by their names, for binaries that are not at their paths",
        WNDL_OPT_TEXT, offsetof(struct fix_options, local_dir)},
    {'b', "breakpad", "DIR", NULL, NULL, NULL,
        "prefer Breakpad symbol files found here, in "
        "NAME/ID/NAME.sym; names come with [FILE:LINE] then; may be given "
        "again",
        WNDL_OPT_LIST, offsetof(struct fix_options, breakpad_dirs)},
    {0, "map", "FROM=TO", NULL, NULL, NULL,
        "read paths that begin with FROM as if they began with TO; may be "
        "given again",
        WNDL_OPT_LIST, offsetof(struct fix_options, maps)},
    {0, "sym-dir", "DIR", NULL, NULL, NULL,
        "prefer binaries found here, by path or name, if their build-id is the "
        "same: ones that were not stripped; may be given again",
        WNDL_OPT_LIST, offsetof(struct fix_options, sym_dirs)},
    WNDL_ARCH_OPTION_ROW(struct fix_options, symbols),
    WNDL_SYMBOL_OPTION_ROWS(struct fix_options, symbols),
    {0},
};

static const struct wndl_example examples[] = {
    {"./crashes 2>&1 | windlass fix", "name the frames of a crash"},
    {"windlass fix --inlines log.txt >named.txt",
        "a whole log, inlined frames too"},
    {"windlass fix -j --map /builds/app=. dmd.json >fixed.json",
        "JSON from a machine where the program was elsewhere"},
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

/* What is not there has no symbol files: as likely as not a slip. */
static void say_missing(const struct wndl_option_list *dirs)
{
    for (size_t i = 0; i < dirs->count; i++) {
        struct stat st;
        if (stat(dirs->texts[i], &st) != 0)
            wndl_cli_note(
                "warning: -b %s: %s", dirs->texts[i], strerror(errno));
        else if (!S_ISDIR(st.st_mode))
            wndl_cli_note("warning: -b %s: is not a folder", dirs->texts[i]);
    }
}

static int report(const struct wndl_fix_stream *stream, const char *name,
    enum wndl_fix_end end)
{
    switch (end) {
    case WNDL_FIX_DONE:
    case WNDL_FIX_NO_READER:
        return WNDL_EXIT_OK;
    case WNDL_FIX_CANNOT_READ:
        return wndl_cli_error(
            "cannot read %s: %s", name, strerror(stream->sys_errno));
    case WNDL_FIX_CANNOT_WRITE:
        return wndl_cli_error(
            "cannot write standard output: %s", strerror(stream->sys_errno));
    default:
        return wndl_cli_error("out of memory");
    }
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
        .debuginfod = o->symbols.debuginfod,
        .cache = wndl_symbol_cache(&o->symbols, &cache),
        .sym_dirs = o->sym_dirs.texts,
        .breakpad_dirs =
            o->breakpad_dirs.count == 0 ? NULL : o->breakpad_dirs.texts,
        .maps = o->maps.texts,
        .local_dir = o->local_dir,
        .arch = o->symbols.arch,
    };
    struct wndl_fix_stream stream = {
        .input = input,
        .output = STDOUT_FILENO,
        .dmd = o->json && o->inlines,
        .name = name,
    };
    if (wndl_fix_open(wndl_mem_libc(), &options, &wndl_cli_fix_listener,
            &stream.fix) != WNDL_OK)
        return wndl_cli_error("out of memory");
    enum wndl_fix_end end = wndl_fix_stream_run(&stream);
    wndl_fix_tell_lost(stream.fix);
    wndl_fix_close(stream.fix);
    return report(&stream, name, end);
}

static int run_fix(const void *options, struct wndl_operands operands)
{
    const struct fix_options *o = options;
    if (!are_maps(&o->maps))
        return WNDL_EXIT_USAGE;
    say_missing(&o->breakpad_dirs);
    /* A reader that goes away is no failure: head does. */
    signal(SIGPIPE, SIG_IGN);
    wndl_sigbus_guard_install();
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
        "Copies text from FILE or standard input to standard output and puts "
        "functions, files and lines in place of the addresses in stack frames. "
        "Everything else passes byte for byte. A line leaves as soon as its "
        "frames are known; what comes fast is looked up binary by binary.\n\n"
        "These are frames: '#01: ???[path +0x1a2b]', as Mozilla's programs and "
        "windlass print them; backtrace_symbols' 'path(name+0x1a) [0x55...]'; "
        "AddressSanitizer's '#1 0x55... (path+0x1a2b)'; Valgrind's 'by "
        "0x1091a2: ??? (in path)', in programs; 'name (0x55... path+0x1a2b)'; "
        "'??? (path) 0x1a2b'; and 'path+0x1a2b', where path has a slash, or "
        "is a .so or a .ko.\n\n"
        "A frame becomes 'function (file:line)', the outermost function at "
        "that address and the line of its call; 'function (path + 0x1a2b)' if "
        "no line is known. If nothing is known the line stays as it is, but "
        "for Mozilla's form, in which the brackets become parentheses. A "
        "binary that cannot be read is told once on standard error, and the "
        "exit status is 0 all the same.\n\n"
        "With -b, a binary's names are those of "
        "DIR/NAME/ID/NAME.sym, or DIR/STEM.pdb/ID/STEM.sym for STEM.dll and "
        "STEM.exe, ID being the build that 'windlass sym --ids' tells. If the "
        "binary is not there, the file is used that is the only one of its "
        "name. Binaries without such a file are read as ever.\n\n"
        "With --inlines each inlined frame gets a line of its own before that "
        "of its function, with the same number and marked [inlined]. In JSON "
        "it goes into the same string, ended by \\n; in a file of Mozilla's "
        "DMD it becomes a frame of the tables.\n\n"
        "Mozilla's fix-stacks, whose place this takes, differs in this: it "
        "fixes only the last frame of a line, stops at wrong escapes, invalid "
        "UTF-8 and numbers of more than 64 bits, changes line ends, may call "
        "hot code cold, leaves the compilation directory off file names, and "
        "ignores -l with -j.",
    .options = option_table,
    .options_size = sizeof(struct fix_options),
    .examples = examples,
    .min_operands = 0,
    .max_operands = 1,
    .run = run_fix,
};
