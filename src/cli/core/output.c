/* SPDX-License-Identifier: MIT */
#include "cli/core/output.h"

#include "cli/core/command.h"
#include "cli/core/progress.h"
#include "cli/core/terminal.h"
#include "os/file.h"
#include "rec/chunk.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int failed_write(const char *path)
{
    return wndl_cli_error("cannot write %s: %s", path, strerror(errno));
}

static int write_to_stdout(const struct wndl_output *o)
{
    if (!o->write(stdout, o->context))
        return wndl_cli_error("out of memory; the output is incomplete");
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

/* Whether `input` is "ARCHIVE!/MEMBER" of the archive at `path`. */
static bool is_archive_of(const char *path, const char *input)
{
    char archive[PATH_MAX];
    const char *mark = strstr(input, "!/");
    if (mark == NULL || (size_t)(mark - input) >= sizeof archive)
        return false;
    memcpy(archive, input, (size_t)(mark - input));
    archive[mark - input] = '\0';
    return is_same_file(path, archive);
}

bool wndl_output_may_write(const char *path, const char *input)
{
    if (is_recording(path))
        wndl_cli_error("cannot write %s: it is a recording, and recordings are "
                       "never overwritten; name another file with -o",
            path);
    else if (input != NULL &&
             (is_same_file(path, input) || is_archive_of(path, input)))
        wndl_cli_error(
            "cannot write %s: it is the input; name another file with -o",
            path);
    else
        return true;
    return false;
}

/* Pipes and devices have no size, and must not be removed. */
static bool is_regular(FILE *out)
{
    struct stat facts;
    return fstat(fileno(out), &facts) == 0 && S_ISREG(facts.st_mode);
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

/* ---- files */

/* Signals that end a command while it writes, unless they are ignored. */
static const int endings[] = {SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
enum { ENDINGS = sizeof endings / sizeof *endings };

/* The unfinished file, for the handler of signals. */
static char beside[PATH_MAX];

/* The actions of those signals, restored when the file is moved. */
static struct sigaction were[ENDINGS];

static void end_by(int number)
{
    (void)unlink(beside);
    raise(number); /* takes effect when this returns */
}

static void guard_target(void)
{
    const struct sigaction action = {
        .sa_handler = end_by, .sa_flags = (int)SA_RESETHAND};
    for (int i = 0; i < ENDINGS; i++) {
        sigaction(endings[i], NULL, &were[i]);
        if (were[i].sa_handler == SIG_DFL)
            sigaction(endings[i], &action, NULL);
    }
}

static void unguard_target(void)
{
    for (int i = 0; i < ENDINGS; i++) {
        if (were[i].sa_handler == SIG_DFL)
            sigaction(endings[i], &were[i], NULL);
    }
}

/* Gives the new file the owner, group and access of the old one (NULL: none).
 * False if the owner or group cannot be given. */
static bool take_after(int fd, const struct stat *old)
{
    if (old != NULL)
        return fchown(fd, old->st_uid, old->st_gid) == 0 &&
               fchmod(fd, old->st_mode & 0777) == 0;
    const mode_t mask = umask(077); /* meanwhile, to other threads as well */
    umask(mask);
    return fchmod(fd, 0666 & ~mask) == 0;
}

static FILE *make_beside(const struct stat *old)
{
    const int fd = mkstemp(beside);
    if (fd < 0)
        return NULL;
    FILE *out = take_after(fd, old) ? fdopen(fd, "wb") : NULL;
    if (out != NULL)
        return out;
    (void)unlink(beside);
    close(fd);
    return NULL;
}

static bool open_beside(
    struct wndl_output_file *t, const char *path, const struct stat *old)
{
    const int length = snprintf(beside, sizeof beside, "%s.XXXXXX", path);
    if (length < 0 || (size_t)length >= sizeof beside)
        return false;
    guard_target();
    t->out = make_beside(old);
    t->is_beside = t->out != NULL;
    if (!t->is_beside)
        unguard_target();
    return t->is_beside;
}

/* Links in /dev and /proc stand for open files, which others may have open. */
static bool is_of_system(const char *path)
{
    return strncmp(path, "/dev/", 5) == 0 || strncmp(path, "/proc/", 6) == 0;
}

/* Follows a link that a user made; the rest stays as it is. */
static const char *follow_link(const char *path, char to[PATH_MAX])
{
    char text[PATH_MAX];
    struct stat st;
    if (lstat(path, &st) != 0 || !S_ISLNK(st.st_mode) || is_of_system(path))
        return path;
    const ssize_t size = readlink(path, text, sizeof text - 1);
    text[size < 0 ? 0 : size] = '\0';
    if (is_of_system(text) || realpath(path, to) == NULL || is_of_system(to))
        return path;
    return to;
}

bool wndl_output_file_open(struct wndl_output_file *t, const char *path)
{
    struct stat old;
    *t = (struct wndl_output_file){0};
    path = follow_link(path, t->path);
    if (path != t->path)
        snprintf(t->path, sizeof t->path, "%s", path);
    const bool exists = lstat(path, &old) == 0;
    const bool is_file = exists ? S_ISREG(old.st_mode) : errno == ENOENT;
    if (is_file && (!exists || access(path, W_OK) == 0) &&
        open_beside(t, path, exists ? &old : NULL))
        return true;
    t->out = fopen(path, "wb");
    return t->out != NULL;
}

static bool copy_bytes(FILE *from, FILE *to)
{
    char some[1 << 14];
    size_t size;
    while ((size = fread(some, 1, sizeof some, from)) != 0) {
        if (fwrite(some, 1, size, to) != size)
            return false;
    }
    return !ferror(from);
}

static bool copy_file(const char *from, const char *to)
{
    FILE *in = fopen(from, "rb");
    FILE *out = in != NULL ? fopen(to, "wb") : NULL;
    bool copied = out != NULL && copy_bytes(in, out);
    if (out != NULL)
        copied = fclose(out) == 0 && copied;
    if (in != NULL)
        fclose(in);
    return copied;
}

/* A single file that a container mounts cannot be replaced by a move. */
static bool move_to_place(const char *path)
{
    return rename(beside, path) == 0 ||
           (errno == EBUSY && copy_file(beside, path));
}

/* Closes the file. False, with the reason in errno, if not all is in it. */
static bool close_written(FILE *out)
{
    const bool failed = ferror(out);
    const int error = errno;
    if (fclose(out) != 0)
        return false;
    errno = failed && error == 0 ? EIO : error;
    return !failed;
}

bool wndl_output_file_end(struct wndl_output_file *t, bool whole)
{
    whole = close_written(t->out) && whole;
    if (!t->is_beside)
        return whole;
    const bool moved = whole && move_to_place(t->path);
    const int error = errno;
    (void)unlink(beside); /* if it is there */
    unguard_target();
    errno = error;
    return moved;
}

static int write_to_file(const struct wndl_output *o)
{
    struct wndl_output_file t;
    if (!wndl_output_may_write(o->path, NULL))
        return WNDL_EXIT_FAILURE;
    if (!wndl_output_file_open(&t, o->path))
        return failed_write(o->path);
    bool whole = o->write(t.out, o->context);
    long size = is_regular(t.out) ? ftell(t.out) : -1;
    if (wndl_output_file_end(&t, whole)) {
        say_written(o, size);
        return WNDL_EXIT_OK;
    }
    return whole ? failed_write(o->path) : wndl_cli_error("out of memory");
}

int wndl_output_write(const struct wndl_output *output)
{
    if (strcmp(output->path, "-") == 0)
        return write_to_stdout(output);
    wndl_progress_begin("writing", output->path);
    const int exit_code = write_to_file(output);
    wndl_progress_end();
    return exit_code;
}

bool wndl_output_bytes(FILE *out, void *bytes)
{
    const struct wndl_buf *buf = bytes;
    fwrite(buf->data, 1, buf->size, out);
    return true;
}

int wndl_show(const struct wndl_buf *text, const char *path, bool paged)
{
    if (path == NULL)
        return wndl_pager_show(text, paged);
    if (text->failed)
        return wndl_cli_error("out of memory");
    const struct wndl_output output = {
        .path = path, .write = wndl_output_bytes, .context = (void *)text};
    return wndl_output_write(&output);
}

int wndl_cli_flush(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return WNDL_EXIT_OK;
    return wndl_cli_error("cannot write standard output: %s", strerror(errno));
}
