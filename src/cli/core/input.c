/* SPDX-License-Identifier: MIT */
#include "cli/core/input.h"

#include "cli/core/command.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_stdin(const char *path)
{
    return strcmp(path, "-") == 0;
}

static uint32_t owner_of(const char *path)
{
    struct stat st;
    return stat(is_stdin(path) ? "/dev/stdin" : path, &st) == 0 ? st.st_uid
                                                                : geteuid();
}

static enum wndl_status read_stdin(struct wndl_buf *all, struct wndl_error *err)
{
    enum { STEP = 64 * 1024 };
    size_t got;
    do {
        uint8_t *to = wndl_buf_reserve(all, STEP);
        got = to == NULL ? 0 : fread(to, 1, STEP, stdin);
        all->size += got;
    } while (got != 0);
    if (all->failed)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    if (ferror(stdin))
        return wndl_fail_errno(err, errno, "cannot read the file");
    return WNDL_OK;
}

static enum wndl_status open_any(
    struct wndl_input *input, struct wndl_error *err)
{
    if (is_stdin(input->path)) {
        enum wndl_status status = read_stdin(&input->all, err);
        input->bytes = (struct wndl_bytes){input->all.data, input->all.size};
        return status;
    }
    enum wndl_status status = wndl_file_open(input->path, &input->file, err);
    input->bytes = input->file.bytes;
    return status;
}

bool wndl_input_open(struct wndl_input *input, const char *path)
{
    struct wndl_error err = {0};
    *input = (struct wndl_input){
        .path = path,
        .name = is_stdin(path) ? "standard input" : path,
        .owner = owner_of(path),
    };
    wndl_buf_init(&input->all, wndl_mem_libc());
    if (open_any(input, &err) == WNDL_OK)
        return true;
    wndl_input_error(input, &err);
    wndl_input_close(input);
    return false;
}

void wndl_input_close(struct wndl_input *input)
{
    wndl_file_close(&input->file);
    wndl_buf_free(&input->all);
}

int wndl_input_error(const struct wndl_input *input, struct wndl_error *err)
{
    wndl_error_set_file(err, input->name);
    return wndl_cli_fail(err);
}
