/* SPDX-License-Identifier: MIT */
/* All call frame information of any bytes, as every output has it. */
#include "analyze/binary/unwind_info.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const char *path)
{
    struct wndl_unwind_info info;
    struct wndl_buf text;
    wndl_buf_init(&text, wndl_mem_libc());
    if (wndl_unwind_info_open(&info, path, wndl_mem_libc(), NULL) == WNDL_OK)
        for (size_t i = 0; i < info.functions.len; i++) {
            wndl_unwind_info_breakpad(
                &text, &info, wndl_vec_at(&info.functions, i));
            wndl_buf_clear(&text);
        }
    wndl_buf_free(&text);
    wndl_unwind_info_close(&info);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int fd = memfd_create("input", MFD_CLOEXEC);
    if (write(fd, data, size) == (ssize_t)size) {
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        read_all(path);
    }
    close(fd);
    return 0;
}
