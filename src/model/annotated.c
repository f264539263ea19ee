/* SPDX-License-Identifier: MIT */
#include "model/annotated.h"

const struct wndl_annotated_file *wndl_annotated_file(
    const struct wndl_annotated *a, uint32_t file)
{
    const struct wndl_annotated_file *files = a->files.data;
    for (size_t i = 0; i < a->files.len; i++) {
        if (files[i].file == file)
            return &files[i];
    }
    return NULL;
}

struct wndl_bytes wndl_annotated_source(
    const struct wndl_annotated_file *file, uint32_t line)
{
    if (file == NULL || line == 0 || line > file->line_count)
        return (struct wndl_bytes){0};
    size_t start = file->starts[line - 1];
    size_t end =
        line == file->line_count ? file->text.size : file->starts[line];
    while (end > start && (file->text.data[end - 1] == '\n' ||
                              file->text.data[end - 1] == '\r'))
        end--;
    return wndl_bytes_slice(file->text, start, end - start);
}
