/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/vm_show.h"

#include "analyze/vm/vm_recording.h"
#include "analyze/vm/vm_startup.h"
#include "cli/core/command.h"
#include "cli/core/input.h"
#include "cli/core/output.h"
#include "cli/shared/known_file.h"
#include "cli/valgrind/profile_show.h"
#include "cli/valgrind/vm_profile.h"
#include "out/vm/json.h"
#include "out/vm/order.h"
#include "out/vm/text.h"

#include <stdio.h>

static bool write_callgrind(FILE *out, void *context)
{
    const struct wndl_vm_profile *profile = context;
    return wndl_profile_write_callgrind(
        out, &profile->graph, profile->vm.command);
}

static bool write_order_as(
    FILE *out, const struct wndl_vm_profile *profile, enum wndl_vm_order order)
{
    const struct wndl_vm_startup_file *file =
        wndl_vm_startup_own(&profile->startup, profile->vm.command);
    if (file != NULL)
        wndl_vm_order_write(out, file, order);
    return true;
}

static bool write_order(FILE *out, void *context)
{
    return write_order_as(out, context, WNDL_VM_ORDER_SYMBOLS);
}

static bool write_section_order(FILE *out, void *context)
{
    return write_order_as(out, context, WNDL_VM_ORDER_SECTIONS);
}

static bool write_recording(FILE *out, void *context)
{
    const struct wndl_vm_profile *profile = context;
    struct wndl_error err = {0};
    if (wndl_vm_record(&profile->vm, fileno(out), &err) == WNDL_OK)
        return true;
    wndl_cli_fail(&err);
    return false;
}

static bool put_json(struct wndl_buf *out, const void *view)
{
    return wndl_vm_json(out, view);
}

static bool put_text(struct wndl_buf *out, const void *view, size_t rows)
{
    return wndl_vm_text(out, view, rows);
}

static int show_report(
    const struct wndl_profile_options *o, const struct wndl_vm_profile *profile)
{
    const struct wndl_vm_view view = wndl_vm_profile_view(profile);
    const struct wndl_profile_report report = {put_json, put_text, &view};
    return wndl_profile_print(o, &report);
}

/* Files that were asked for, else the report. */
static int show_profile(
    const struct wndl_vmprof_options *o, struct wndl_vm_profile *profile)
{
    const struct wndl_output outputs[] = {
        {o->shared.callgrind, write_callgrind, profile, "kcachegrind"},
        {o->order, write_order, profile, NULL},
        {o->section_order, write_section_order, profile, NULL},
        {o->recording, write_recording, profile, "windlass report"},
    };
    int exit_code = WNDL_EXIT_OK;
    bool is_written = false;
    for (size_t i = 0; i < sizeof outputs / sizeof *outputs; i++) {
        if (outputs[i].path == NULL || exit_code != WNDL_EXIT_OK)
            continue;
        is_written = true;
        exit_code = wndl_output_write(&outputs[i]);
    }
    return is_written ? exit_code : show_report(&o->shared, profile);
}

int wndl_vm_show(const struct wndl_vmprof_options *o, const char *path)
{
    struct wndl_input input;
    struct wndl_vm_profile profile;
    if (!wndl_input_open(&input, path))
        return WNDL_EXIT_FAILURE;
    bool is_open = wndl_known_file_is_taken(&input, WNDL_TAKES_VM) &&
                   wndl_vm_profile_open(&profile, input.bytes, input.name,
                       o->show_mem, &o->shared.symbols);
    wndl_input_close(&input);
    if (!is_open)
        return WNDL_EXIT_FAILURE;
    int exit_code = show_profile(o, &profile);
    wndl_vm_profile_close(&profile);
    return exit_code;
}
