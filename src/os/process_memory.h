/* SPDX-License-Identifier: MIT */
/*
 * process_memory: reads the memory of another process without stopping it
 * (process_vm_readv(2)).
 */
#ifndef WNDL_OS_PROCESS_MEMORY_H
#define WNDL_OS_PROCESS_MEMORY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { WNDL_PROCESS_PAGE = 4096 };

/*
 * Copies `size` bytes at avma `address` of process `pid`, or as many from the
 * front as are readable. Returns their number; if it is 0, errno has the
 * reason. Any thread.
 */
size_t wndl_process_read(pid_t pid, uint64_t address, void *to, size_t size);

#endif
