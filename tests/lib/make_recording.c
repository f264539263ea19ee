/* SPDX-License-Identifier: MIT */
/* make_recording OUT < RECIPE: a recording for a test (recipe.h). */
#include "recipe.h"

#include <stdio.h>

enum { READ_SIZE = 4096 };

static bool write_file(const char *path, const struct wndl_buf *content)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    bool whole = fwrite(content->data, 1, content->size, file) == content->size;
    return fclose(file) == 0 && whole;
}

int main(int argc, char **argv)
{
    struct wndl_buf recipe;
    struct wndl_buf recording;
    wndl_buf_init(&recipe, wndl_mem_libc());
    wndl_buf_init(&recording, wndl_mem_libc());
    size_t got;
    do {
        uint8_t *to = wndl_buf_reserve(&recipe, READ_SIZE);
        got = to == NULL ? 0 : fread(to, 1, READ_SIZE, stdin);
        recipe.size += got;
    } while (got != 0);
    wndl_buf_byte(&recipe, 0);
    bool well = argc == 2 && !recipe.failed &&
                recipe_cook((const char *)recipe.data, &recording) &&
                write_file(argv[1], &recording);
    wndl_buf_free(&recipe);
    wndl_buf_free(&recording);
    return well ? 0 : 1;
}
