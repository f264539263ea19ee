/* SPDX-License-Identifier: MIT */
/* Any bytes as a perf map. */
#include "in/perf_map.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_perf_map map =
        wndl_perf_map_of((struct wndl_bytes){data, size});
    struct wndl_perf_map_line line;
    while (wndl_perf_map_previous(&map, &line)) {
        if (line.name.size == 0 || line.name.data < data ||
            line.name.data + line.name.size > data + size ||
            line.start + line.size < line.start)
            abort();
    }
    return 0;
}
