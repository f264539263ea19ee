/* SPDX-License-Identifier: MIT */
/* Any bytes as a file that may be compressed as a whole. */
#include "obj/packed/packed_file.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_file file;
    struct wndl_error err = {0};
    int fd = memfd_create("packed", MFD_CLOEXEC);
    if (fd < 0 || size == 0 || write(fd, data, size) != (ssize_t)size ||
        wndl_file_of_descriptor(fd, &file, NULL) != WNDL_OK) {
        close(fd);
        return 0;
    }
    close(fd);
    enum wndl_status status = wndl_packed_file_unpack(&file, &err);
    if (status != err.status || (status == WNDL_OK) != (file.bytes.size != 0) ||
        err.offset > size)
        abort();
    uint8_t sum = 0;
    for (size_t i = 0; i < file.bytes.size; i += 4096)
        sum ^= file.bytes.data[i];
    (void)sum;
    wndl_file_close(&file);
    return 0;
}
