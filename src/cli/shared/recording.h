/* SPDX-License-Identifier: MIT */
/*
 * recording: a recording in memory with names for its frames, as report and
 * export begin with.
 */
#ifndef WNDL_CLI_SHARED_RECORDING_H
#define WNDL_CLI_SHARED_RECORDING_H

#include "cli/core/input.h"
#include "cli/shared/symbol_options.h"
#include "model/symbolized.h"

struct wndl_cli_recording {
    struct wndl_profile profile;
    struct wndl_symbolized symbolized;
};

/*
 * Reads the recording `input`, of heaps the `snapshot`-th one of each (0: the
 * last), and looks up its symbols, in the given folders
 * before the system's; if `verbose`, says on stderr where they are from. On
 * failure says why on stderr and returns false; else `loaded`, which stays
 * where it is, ends with wndl_cli_recording_close.
 */
bool wndl_cli_recording_open(struct wndl_cli_recording *loaded,
    const struct wndl_input *input, const struct wndl_symbol_options *symbols,
    uint64_t snapshot, bool verbose);

/* The same of the last snapshots, with what lived at earlier ones. */
bool wndl_cli_recording_open_lived(struct wndl_cli_recording *loaded,
    const struct wndl_input *input, const struct wndl_symbol_options *symbols);

void wndl_cli_recording_close(struct wndl_cli_recording *loaded);

/*
 * Warns on stderr if the recording, read from `path`, is not whole; the rest of
 * it is `done` ("exported").
 */
void wndl_cli_recording_note_whole(const struct wndl_cli_recording *loaded,
    const char *path, const char *done);

#endif
