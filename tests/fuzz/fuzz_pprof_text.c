/* SPDX-License-Identifier: MIT */
/* Any bytes as a profile in the text before pprof. */
#include "graph.h"

#include "in/pprof_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_graph(wndl_pprof_text_read, (struct wndl_bytes){data, size});
    return 0;
}
