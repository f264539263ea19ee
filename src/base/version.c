/* SPDX-License-Identifier: MIT */
#include <windlass/version.h>

const char *wndl_version(void)
{
    return WNDL_VERSION_STRING;
}
