/* SPDX-License-Identifier: MIT */
/*
 * call_names: the names of Linux's system calls. The kernel gives a number to
 * one call only, for ever; newer calls than ours have no name here.
 */
#ifndef WNDL_SNAPSHOT_CALL_NAMES_H
#define WNDL_SNAPSHOT_CALL_NAMES_H

#include <stdint.h>

/* The name of a call, without "SYS_"; NULL: not known. Static strings. */
const char *wndl_call_name_x86_64(uint64_t number);
const char *wndl_call_name_i386(uint64_t number);

#endif
