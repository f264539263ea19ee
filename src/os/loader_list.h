/* SPDX-License-Identifier: MIT */
/*
 * loader_list: finds the loaded module that covers an address of this process
 * in ld.so's list of modules, for a glibc before 2.35, which has no
 * _dl_find_object. Signal-safe: no lock, no allocation; a system call for each
 * page of the list (os/own_memory.h), so that a list that another thread
 * changes meanwhile is at worst not understood.
 */
#ifndef WNDL_OS_LOADER_LIST_H
#define WNDL_OS_LOADER_LIST_H

#include "os/dlfind.h"

/*
 * glibc's declarations, which its headers have from 2.35 on. Weak: other libcs,
 * such as musl, have none, and must be able to load us.
 */
#include <dlfcn.h>
#ifndef DLFO_STRUCT_HAS_EH_DBASE
#define DLFO_STRUCT_HAS_EH_DBASE 0
#define DLFO_STRUCT_HAS_EH_COUNT 0
struct dl_find_object {
    unsigned long long dlfo_flags;
    void *dlfo_map_start;
    void *dlfo_map_end;
    struct link_map *dlfo_link_map;
    void *dlfo_eh_frame;
    unsigned long long reserved[7];
};
extern int _dl_find_object(void *address, struct dl_find_object *found);
#endif
#pragma weak _dl_find_object

/*
 * As wndl_dlfind(), which asks this where there is no _dl_find_object. It does
 * not see modules of dlmopen()'s namespaces, nor libraries that were linked for
 * another address than 0, as prelink(8) does.
 */
bool wndl_loader_list_find(uint64_t pc, struct wndl_dlmodule *module);

#endif
