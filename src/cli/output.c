/* SPDX-License-Identifier: MIT */
#include "cli/output.h"

#include "cli/command.h"
#include "os/file.h"
#include "rec/chunk.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

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

static bool is_same_file(const char *one, const char *other)
{
    struct stat a, b;
    return stat(one, &a) == 0 && stat(other, &b) == 0 && S_ISREG(a.st_mode) &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool wndl_output_may_write(const char *path, const char *input)
{
    if (is_recording(path))
        wndl_cli_error("%s: is a recording, which is never written over; "
                       "name another file with -o",
            path);
    else if (input != NULL && is_same_file(path, input))
        wndl_cli_error("%s: is what is read; name another file with -o", path);
    else
        return true;
    return false;
}

/* Pipes and devices have no size, and are not ours to remove. */
static bool is_regular(FILE *out)
{
    struct stat facts;
    return fstat(fileno(out), &facts) == 0 && S_ISREG(facts.st_mode);
}

/* Not what a link leads to: the link would be gone, and not the file. */
void wndl_output_make_way(const char *path)
{
    struct stat facts;
    if (lstat(path, &facts) == 0 && S_ISREG(facts.st_mode))
        (void)unlink(path);
}

static void say_written(const struct wndl_output *o, long size)
{
    if (o->open_with == NULL)
        wndl_cli_note("wrote %s", o->path);
    else if (size < 0)
        wndl_cli_note("wrote %s; open it with %s", o->path, o->open_with);
    else
        wndl_cli_note("wrote %s, %ld bytes; open it with %s", o->path, size,
            o->open_with);
}

static int write_to_file(const struct wndl_output *o)
{
    if (!wndl_output_may_write(o->path, NULL))
        return WNDL_EXIT_FAILURE;
    FILE *out = fopen(o->path, "wb");
    if (out == NULL)
        return failed_write(o->path);
    bool whole = o->write(out, o->context);
    long size = is_regular(out) ? ftell(out) : -1;
    bool written = !ferror(out);
    written = fclose(out) == 0 && written;
    if (whole && written) {
        say_written(o, size);
        return WNDL_EXIT_OK;
    }
    int exit_code =
        whole ? failed_write(o->path) : wndl_cli_error("out of memory");
    wndl_output_make_way(o->path);
    return exit_code;
}

int wndl_output_write(const struct wndl_output *output)
{
    return strcmp(output->path, "-") == 0 ? write_to_stdout(output)
                                          : write_to_file(output);
}
