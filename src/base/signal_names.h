/* SPDX-License-Identifier: MIT */
/* signal_names: names of signals, which glibc has from 2.32 on. */
#ifndef WNDL_BASE_SIGNAL_NAMES_H
#define WNDL_BASE_SIGNAL_NAMES_H

/* "SEGV" of SIGSEGV; NULL: no signal of signal(7), as real-time ones. */
const char *wndl_signal_abbreviation(int number);

#endif
