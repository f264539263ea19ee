/* SPDX-License-Identifier: MIT */
#include "cli/doctor/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>

struct wndl_doctor_finding *wndl_doctor_find(struct wndl_doctor *d,
    const char *check, enum wndl_doctor_state state, const char *found, ...)
{
    va_list args;
    size_t i = d->count < WNDL_DOCTOR_MAX ? d->count++ : WNDL_DOCTOR_MAX - 1;
    struct wndl_doctor_finding *finding = &d->findings[i];
    *finding = (struct wndl_doctor_finding){.check = check, .state = state};
    va_start(args, found);
    vsnprintf(finding->found, sizeof finding->found, found, args);
    va_end(args);
    return finding;
}

void wndl_doctor_setting(struct wndl_doctor_finding *finding,
    const char *setting, const char *value, ...)
{
    va_list args;
    snprintf(finding->setting, sizeof finding->setting, "%s", setting);
    va_start(args, value);
    vsnprintf(finding->value, sizeof finding->value, value, args);
    va_end(args);
}

void wndl_doctor_advise(
    struct wndl_doctor_finding *finding, const char *advice, ...)
{
    va_list args;
    va_start(args, advice);
    vsnprintf(finding->advice, sizeof finding->advice, advice, args);
    va_end(args);
}

void wndl_doctor_note(struct wndl_doctor *d, const struct wndl_error *err)
{
    if (d->lack.status == WNDL_OK && wndl_error_is_lack(err))
        d->lack = *err;
}

void wndl_doctor_note_errno(struct wndl_doctor *d, const char *what)
{
    struct wndl_error err = {0};
    wndl_fail_errno(&err, errno, "%s", what);
    wndl_doctor_note(d, &err);
}
