/* SPDX-License-Identifier: MIT */
/*
 * windlass/memlog_roles.h: the roles of memory events, for windlass/memlog.h
 * and for those who read logs.
 */
#ifndef WINDLASS_MEMLOG_ROLES_H
#define WINDLASS_MEMLOG_ROLES_H

#ifdef __cplusplus
extern "C" {
#endif

/*
 * What an event means. The first numbers of an event are the fields of its
 * role, in this order; sizes are bytes, times ns.
 */
enum wndl_memlog_role {
    WNDL_MEMLOG_OTHER = 0,      /* none */
    WNDL_MEMLOG_COLLECTION = 1, /* before, after, duration */
    WNDL_MEMLOG_MAPPED = 2,     /* address, size */
    WNDL_MEMLOG_UNMAPPED = 3,   /* address, size */
    WNDL_MEMLOG_CODE = 4,       /* address, size: memory for code was mapped */
    WNDL_MEMLOG_DISCARDED = 5,  /* address, size: given back, still mapped */
    WNDL_MEMLOG_LOADED = 6,     /* size: a library, an extension, a file */
    WNDL_MEMLOG_ACTION = 7,     /* none: what the user did */
    WNDL_MEMLOG_IDLE = 8,       /* duration: no input for so long */
    WNDL_MEMLOG_REPORT = 9      /* resident: the size of the process */
};

#ifdef __cplusplus
}
#endif

#endif
