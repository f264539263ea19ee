/* SPDX-License-Identifier: MIT */
#include "cli/view/page.h"

#ifdef WNDL_VIEW_PAGE

/* The assembler reads the file: a C array of it takes the compiler long. */
__asm__(".pushsection .rodata\n"
        ".hidden wndl_view_page_start\n"
        ".globl wndl_view_page_start\n"
        "wndl_view_page_start:\n"
        ".incbin \"" WNDL_VIEW_PAGE "\"\n"
        ".hidden wndl_view_page_end\n"
        ".globl wndl_view_page_end\n"
        "wndl_view_page_end:\n"
        ".byte 0\n"
        ".popsection\n");

extern const uint8_t wndl_view_page_start[]
    __attribute__((visibility("hidden")));
extern const uint8_t wndl_view_page_end[] __attribute__((visibility("hidden")));

struct wndl_bytes wndl_view_page(void)
{
    return (struct wndl_bytes){wndl_view_page_start,
        (size_t)(wndl_view_page_end - wndl_view_page_start)};
}

const char *wndl_view_problem(void)
{
    return NULL;
}

#else

struct wndl_bytes wndl_view_page(void)
{
    return (struct wndl_bytes){0};
}

const char *wndl_view_problem(void)
{
    return WNDL_VIEW_PROBLEM;
}

#endif
