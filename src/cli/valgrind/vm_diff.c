/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/vm_diff.h"

#include "cli/core/command.h"
#include "cli/valgrind/vm_profile.h"
#include "out/vm/diff.h"

#include <stdio.h>

enum { USUAL_ROWS = 30 };

static int print_diff(const struct wndl_vm_profile *earlier,
    const struct wndl_vm_profile *later, uint64_t rows)
{
    struct wndl_buf text;
    const struct wndl_vm_view views[] = {
        wndl_vm_profile_view(earlier), wndl_vm_profile_view(later)};
    wndl_buf_init(&text, wndl_mem_libc());
    int exit_code = WNDL_EXIT_OK;
    if (wndl_vm_diff(
            &text, &views[0], &views[1], rows == 0 ? USUAL_ROWS : (size_t)rows))
        fwrite(text.data, 1, text.size, stdout);
    else
        exit_code = wndl_cli_error("out of memory");
    wndl_buf_free(&text);
    return exit_code;
}

int wndl_vm_diff_inputs(const struct wndl_input *earlier,
    const struct wndl_input *later, const struct wndl_symbol_options *symbols,
    uint64_t rows)
{
    struct wndl_vm_profile profiles[2];
    if (!wndl_vm_profile_open(
            &profiles[0], earlier->bytes, earlier->name, 0, symbols))
        return WNDL_EXIT_FAILURE;
    const uint64_t memory = profiles[0].vm.memories[profiles[0].memory].bytes;
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_vm_profile_open(
            &profiles[1], later->bytes, later->name, memory, symbols)) {
        exit_code = print_diff(&profiles[0], &profiles[1], rows);
        wndl_vm_profile_close(&profiles[1]);
    }
    wndl_vm_profile_close(&profiles[0]);
    return exit_code;
}
