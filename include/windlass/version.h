/* SPDX-License-Identifier: MIT */
/*
 * windlass/version.h: the version of windlass, at compile time and at run time.
 */
#ifndef WINDLASS_VERSION_H
#define WINDLASS_VERSION_H

#include <windlass/status.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WNDL_VERSION_MAJOR 0
#define WNDL_VERSION_MINOR 1
#define WNDL_VERSION_PATCH 0
#define WNDL_VERSION_STRING "0.1.0"

/*
 * The version of the library that was loaded, as "major.minor.patch". It may
 * differ from WNDL_VERSION_STRING, which is that of the header. The string is
 * static: it is never NULL and never freed. Any thread, any signal handler.
 */
WNDL_API const char *wndl_version(void);

#ifdef __cplusplus
}
#endif

#endif
