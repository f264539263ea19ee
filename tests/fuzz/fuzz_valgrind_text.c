/* SPDX-License-Identifier: MIT */
/* Any bytes as stacks as Valgrind prints them. */
#include "graph.h"

#include "in/valgrind_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_graph(wndl_valgrind_text_read, (struct wndl_bytes){data, size});
    return 0;
}
