/* SPDX-License-Identifier: MIT */
/* Any bytes as /proc/kallsyms. */
#include "collect/proc/kallsyms.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool is_within(struct wndl_bytes part, struct wndl_bytes whole)
{
    return part.size == 0 ||
           (part.data >= whole.data &&
               part.data + part.size <= whole.data + whole.size);
}

static void read_line(struct wndl_bytes line)
{
    struct wndl_kallsym symbol;
    if (wndl_kallsyms_line(line, &symbol) &&
        (symbol.name.size == 0 || !is_within(symbol.name, line) ||
            !is_within(symbol.module, line)))
        abort();
}

/* A place's function begins before it, or at it. */
static void name_places(const char *path)
{
    struct wndl_kernel_place places[] = {{.address = 1},
        {.address = UINT64_C(0xffffffff81000010)},
        {.address = UINT64_C(0xffffffff81000011)},
        {.address = UINT64_C(0xffffffff81000044)}, {.address = UINT64_MAX}};
    const size_t count = sizeof places / sizeof places[0];
    struct wndl_arena arena;
    wndl_arena_init(&arena, wndl_mem_libc());
    (void)wndl_kallsyms_name(path, places, count, &arena);
    for (size_t i = 0; i < count; i++) {
        if (places[i].name != NULL && (strlen(places[i].name) == 0 ||
                                          places[i].start > places[i].address))
            abort();
    }
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[32];
    uint64_t text;
    const int fd = memfd_create("kallsyms", MFD_CLOEXEC);
    if (fd < 0 || write(fd, data, size) != (ssize_t)size)
        abort();
    read_line((struct wndl_bytes){data, size});
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (wndl_kallsyms_text(path, &text) && text == 0)
        abort();
    name_places(path);
    close(fd);
    return 0;
}
