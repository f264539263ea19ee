/* SPDX-License-Identifier: MIT */
/* Lines of /proc/PID/maps. */
#include "os/maps.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, false);
    struct wndl_mapping m;
    while (wndl_maps_line(&c, &m)) {
        if (m.path.size > size || (m.path.size != 0 && m.path.data < data))
            abort();
    }
    return 0;
}
