/* SPDX-License-Identifier: MIT */
/* Any bytes as folded stacks. */
#include "graph.h"

#include "in/folded.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_graph(wndl_folded_read, (struct wndl_bytes){data, size});
    return 0;
}
