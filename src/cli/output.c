/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include "cli/command.h"
#include "os/file.h"
#include "rec/chunk.h"

#include <errno.h>
#include <string.h>

static int failed_write(const char *path)
{
    return wndl_cli_error("%s: cannot be written: %s", path, strerror(errno));
}

static int write_to_stdout(const struct wndl_output *o)
{
    if (!o->write(stdout, o->context))
        return wndl_cli_error("out of memory; the output is not whole");
    if (fflush(stdout) != 0 || ferror(stdout))
        return failed_write("standard output");
    return WNDL_EXIT_OK;
}

static bool is_recording(const char *path)
{
    struct wndl_file file;
    struct wndl_chunk_reader reader;
    struct wndl_error err = {0};
    if (wndl_file_open(path, &file, &err) != WNDL_OK)
        return false;
    enum wndl_status status = wndl_chunk_reader_init(&reader, file.bytes, &err);
    wndl_file_close(&file);
    return status == WNDL_OK || status == WNDL_UNSUPPORTED;
}

static int write_to_file(const struct wndl_output *o)
{
    if (is_recording(o->path))
        return wndl_cli_error("%s: is a recording, which is never written "
                              "over; name another file with -o",
            o->path);
    FILE *out = fopen(o->path, "wb");
    if (out == NULL)
        return failed_write(o->path);
    bool whole = o->write(out, o->context);
    long size = ftell(out);
    bool written = !ferror(out) && size >= 0;
    written = fclose(out) == 0 && written;
    if (whole && written) {
        wndl_cli_note("wrote %s, %ld bytes; open it with %s", o->path, size,
            o->open_with);
        return WNDL_EXIT_OK;
    }
    int exit_code =
        whole ? failed_write(o->path) : wndl_cli_error("out of memory");
    (void)remove(o->path);
    return exit_code;
}

int wndl_output_write(const struct wndl_output *output)
{
    return strcmp(output->path, "-") == 0 ? write_to_stdout(output)
                                          : write_to_file(output);
}
