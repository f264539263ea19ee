/* SPDX-License-Identifier: MIT */
#include "cli/stack/signal.h"

#include "base/signal_names.h"

#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

const char *wndl_signal_name(int32_t number, char name[WNDL_SIGNAL_NAME])
{
    const char *known = wndl_signal_abbreviation(number);
    if (known == NULL)
        snprintf(name, WNDL_SIGNAL_NAME, "signal %" PRId32, number);
    else
        snprintf(name, WNDL_SIGNAL_NAME, "SIG%s", known);
    return name;
}

/* The meaning of si_code (sigaction(2)); "": none that says more. */
static const char *reason_of(const struct wndl_snapshot_signal *signal)
{
    static const struct {
        int32_t number, code;
        const char *text;
    } reasons[] = {
        {SIGSEGV, SEGV_MAPERR, "which is not mapped"},
        {SIGSEGV, SEGV_ACCERR, "whose protection does not allow the access"},
        {SIGSEGV, SEGV_PKUERR, "whose protection key forbids the access"},
        {SIGSEGV, SI_KERNEL,
            "which the processor does not report: one that is not canonical, "
            "or an instruction that is not allowed"},
        {SIGBUS, BUS_ADRALN, "which is not aligned"},
        {SIGBUS, BUS_ADRERR, "which has no memory, as after a file's end"},
        {SIGBUS, BUS_OBJERR, "which the hardware cannot read"},
        {SIGBUS, BUS_MCEERR_AR, "whose memory is broken"},
        {SIGFPE, FPE_INTDIV, "an integer was divided by zero"},
        {SIGFPE, FPE_INTOVF, "an integer overflowed"},
        {SIGFPE, FPE_FLTDIV, "a float was divided by zero"},
        {SIGILL, ILL_ILLOPC, "no instruction of this processor"},
        {SIGILL, ILL_ILLOPN, "an operand that is not allowed"},
    };
    for (size_t i = 0; i < sizeof reasons / sizeof *reasons; i++) {
        if (reasons[i].number == signal->number &&
            reasons[i].code == signal->code)
            return reasons[i].text;
    }
    return "";
}

void wndl_signal_text(const struct wndl_snapshot_signal *signal, uint32_t pid,
    struct wndl_buf *out)
{
    char name[WNDL_SIGNAL_NAME];
    const char *reason = reason_of(signal);
    wndl_buf_text(out, wndl_signal_name(signal->number, name));
    if (strncmp(name, "SIG", 3) == 0)
        wndl_buf_printf(out, " (%" PRId32 ")", signal->number);
    if (signal->has_address)
        wndl_buf_printf(out, " at address 0x%" PRIx64, signal->address);
    else if (signal->code == SI_KERNEL && reason[0] != '\0')
        wndl_buf_text(out, " at an address");
    if (reason[0] != '\0')
        wndl_buf_printf(out, ", %s", reason);
    if (signal->has_sender && signal->sender == pid)
        wndl_buf_text(out, ", sent by itself");
    else if (signal->has_sender)
        wndl_buf_printf(out, ", sent by process %" PRIu32 " of user %" PRIu32,
            signal->sender, signal->user);
}
