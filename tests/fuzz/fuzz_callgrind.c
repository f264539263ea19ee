/* SPDX-License-Identifier: MIT */
/* Any bytes as a callgrind file. */
#include "graph.h"

#include "in/callgrind.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_graph(wndl_callgrind_read, (struct wndl_bytes){data, size});
    return 0;
}
