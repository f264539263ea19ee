/* SPDX-License-Identifier: MIT */
/* Any bytes as a profile of pprof's. */
#include "graph.h"

#include "in/pprof.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_graph(wndl_pprof_read, (struct wndl_bytes){data, size});
    return 0;
}
