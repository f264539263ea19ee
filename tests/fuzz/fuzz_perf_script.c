/* SPDX-License-Identifier: MIT */
/* Any bytes as what perf script prints. */
#include "graph.h"

#include "in/perf_script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_graph(wndl_perf_script_read, (struct wndl_bytes){data, size});
    return 0;
}
