/* SPDX-License-Identifier: MIT */
/* Any bytes as results of the VM profiler. */
#include "in/vm.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_vm vm;
    struct wndl_error err = {0};
    wndl_vm_init(&vm, wndl_mem_libc());
    if (wndl_vm_read(&vm, (struct wndl_bytes){data, size}, &err) == WNDL_OK)
        for (size_t i = 0; i < vm.rows.len; i++)
            if (((struct wndl_vm_row *)wndl_vec_at(&vm.rows, i))->memory >=
                vm.memory_count)
                __builtin_trap();
    wndl_vm_free(&vm);
    return 0;
}
