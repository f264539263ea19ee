/* SPDX-License-Identifier: MIT */
#include "cli/shared/recording.h"

#include "analyze/heap/tags.h"
#include "analyze/names/profile_names.h"
#include "cli/core/command.h"
#include "cli/core/progress.h"
#include "cli/core/shell_word.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/known_file.h"
#include "wndl/read.h"

#include <string.h>

/* The parts of a recording that are read, where there is a choice. */
struct wanted {
    uint64_t snapshot; /* number; 0: the last one */
    bool lived;        /* whether blocks of all snapshots are */
};

static enum wndl_status read_input(struct wndl_profile *profile,
    const struct wndl_input *input, const struct wanted *wanted,
    struct wndl_error *err)
{
    if (!wndl_profile_init(profile, wndl_mem_libc()))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    profile->wanted_snapshot =
        wanted->snapshot == 0 ? WNDL_LAST_SNAPSHOT : wanted->snapshot - 1;
    profile->wants_lived = wanted->lived;
    enum wndl_status status =
        input->file.bytes.size != 0
            ? wndl_reader_read_file(profile, &input->file, err)
            : wndl_reader_read(profile, input->bytes, err);
    if (status != WNDL_OK)
        wndl_profile_free(profile);
    return status;
}

static void write_log(
    void *context, enum wndl_log_level level, const char *text)
{
    (void)context;
    wndl_cli_note("%s%s", level == WNDL_LOG_WARNING ? "warning: " : "", text);
}

static void say_lack(const struct wndl_error *lack)
{
    char text[600];
    wndl_cli_incomplete();
    wndl_cli_error(
        "names are missing: %s", wndl_error_text(lack, text, sizeof text));
}

/* The first module's reason stands for all. */
static void say_refused(const struct wndl_symbolized *s)
{
    static const char begin[] = "debuginfod: ";
    const char *reason = NULL;
    unsigned count = 0;
    for (size_t i = 0; i < s->modules.len; i++) {
        const struct wndl_module *module = wndl_vec_at(&s->modules, i);
        const char *detail = wndl_intern_text(&s->strings, module->detail);
        if (module->detail == 0 ||
            strncmp(detail, begin, sizeof begin - 1) != 0)
            continue;
        reason = reason == NULL ? detail + sizeof begin - 1 : reason;
        count++;
    }
    if (count != 0)
        wndl_cli_note("warning: --debuginfod failed for %u module%s: %s", count,
            count == 1 ? "" : "s", reason);
}

static enum wndl_status find_names(struct wndl_cli_recording *loaded,
    const struct wndl_symbol_options *symbols, const struct wndl_log *log,
    struct wndl_error *err)
{
    struct wndl_debug_dirs dirs;
    wndl_debug_dirs_init(&dirs, &symbols->debug_dirs);
    struct wndl_symbolizer_cache cache;
    const struct wndl_symbol_sources sources = {
        .debug_dirs = dirs.list,
        .debuginfod = wndl_asks_debuginfod(symbols),
        .cache = wndl_symbol_cache(symbols, &cache),
    };
    if (!wndl_symbolized_init(
            &loaded->symbolized, &loaded->profile, wndl_mem_libc()))
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    enum wndl_status status =
        wndl_symbolize_profile(&loaded->symbolized, &sources, log, err);
    if (status == WNDL_OK &&
        !wndl_heap_tags_apply(&loaded->profile, &loaded->symbolized))
        status = wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (status != WNDL_OK)
        wndl_symbolized_free(&loaded->symbolized);
    else if (loaded->symbolized.lack.status != WNDL_OK)
        say_lack(&loaded->symbolized.lack);
    if (status == WNDL_OK && sources.debuginfod)
        say_refused(&loaded->symbolized);
    return status;
}

static bool open_recording(struct wndl_cli_recording *loaded,
    const struct wndl_input *input, const struct wndl_symbol_options *symbols,
    const struct wanted *wanted, bool verbose)
{
    /* The report itself mentions damage; --verbose reports it here too. */
    const struct wndl_log log = {.write = write_log, .level = WNDL_LOG_INFO};
    struct wndl_error err = {0};
    if (!wndl_known_file_is_taken(input, WNDL_TAKES_RECORDINGS))
        return false;
    wndl_progress_begin("reading", input->name);
    enum wndl_status status = read_input(&loaded->profile, input, wanted, &err);
    if (status != WNDL_OK) {
        wndl_progress_end();
        wndl_input_error(input, &err);
        return false;
    }
    loaded->profile.owner = input->owner;
    wndl_progress_begin("looking up symbols", "");
    status = find_names(loaded, symbols, verbose ? &log : NULL, &err);
    wndl_progress_end();
    if (status == WNDL_OK)
        return true;
    wndl_profile_free(&loaded->profile);
    wndl_input_error(input, &err);
    return false;
}

bool wndl_cli_recording_open(struct wndl_cli_recording *loaded,
    const struct wndl_input *input, const struct wndl_symbol_options *symbols,
    uint64_t snapshot, bool verbose)
{
    const struct wanted wanted = {.snapshot = snapshot};
    return open_recording(loaded, input, symbols, &wanted, verbose);
}

bool wndl_cli_recording_open_lived(struct wndl_cli_recording *loaded,
    const struct wndl_input *input, const struct wndl_symbol_options *symbols)
{
    const struct wanted wanted = {.lived = true};
    return open_recording(loaded, input, symbols, &wanted, false);
}

void wndl_cli_recording_close(struct wndl_cli_recording *loaded)
{
    wndl_symbolized_free(&loaded->symbolized);
    wndl_profile_free(&loaded->profile);
}

void wndl_cli_recording_note_whole(
    const struct wndl_cli_recording *loaded, const char *path, const char *done)
{
    const struct wndl_profile *p = &loaded->profile;
    if (p->finished && !p->cut && p->chunks_damaged == 0)
        return;
    struct wndl_buf word;
    wndl_buf_init(&word, wndl_mem_libc());
    wndl_shell_word(&word, path);
    wndl_buf_byte(&word, '\0');
    wndl_cli_note("warning: the recording is cut short or damaged; the rest of "
                  "it is %s. See: windlass report %s",
        done, word.failed ? "FILE" : (const char *)word.data);
    wndl_buf_free(&word);
}
