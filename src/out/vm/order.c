/* SPDX-License-Identifier: MIT */
#include "out/vm/order.h"

void wndl_vm_order_write(FILE *out, const struct wndl_vm_startup_file *file,
    enum wndl_vm_order order)
{
    for (size_t i = 0; i < file->functions.len; i++) {
        const struct wndl_vm_started *function =
            wndl_vec_at(&file->functions, i);
        fprintf(out, "%s%s\n", order == WNDL_VM_ORDER_SECTIONS ? ".text." : "",
            function->name);
    }
}
