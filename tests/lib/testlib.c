/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { EVERY_BYTE_UP_TO = 32 * 1024, STRIDES = 512 };

/* Valgrind preloads libraries of its own. */
bool runs_on_valgrind(void)
{
    const char *preloaded = getenv("LD_PRELOAD");
    return preloaded != NULL && strstr(preloaded, "/vgpreload_core") != NULL;
}

static void *failing_resize(struct wndl_mem *mem, void *old, size_t size)
{
    struct failing_mem *f = (struct failing_mem *)mem;
    if (size == 0) {
        f->live -= old != NULL;
        free(old);
        return NULL;
    }
    if (f->budget == 0)
        return NULL;
    if (f->budget > 0)
        f->budget--;
    f->live += old == NULL;
    return realloc(old, size);
}

void failing_mem_init(struct failing_mem *f, long budget)
{
    *f = (struct failing_mem){{failing_resize}, budget, 0};
}

struct wndl_bytes read_whole_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("cannot open %s", path);
    fseek(file, 0, SEEK_END);
    size_t size = (size_t)ftell(file);
    rewind(file);
    uint8_t *data = malloc(size + 1);
    assert_non_null(data);
    assert_int_equal(fread(data, 1, size, file), size);
    fclose(file);
    return (struct wndl_bytes){data, size};
}

void for_each_truncation(struct wndl_bytes whole,
    void (*parse)(struct wndl_bytes prefix, void *context), void *context)
{
    size_t step = whole.size <= EVERY_BYTE_UP_TO ? 1 : whole.size / STRIDES | 1;
    for (size_t size = 0; size < whole.size; size += step) {
        uint8_t *prefix = malloc(size == 0 ? 1 : size);
        assert_non_null(prefix);
        memcpy(prefix, whole.data, size);
        parse((struct wndl_bytes){prefix, size}, context);
        free(prefix);
    }
}
