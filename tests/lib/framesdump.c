/* SPDX-License-Identifier: MIT */
/*
 * framesdump: the symbolizer's answers in the words of llvm-symbolizer.
 * `framesdump [-m] FILE` reads svmas in hexadecimal, one a line; -m leaves
 * names mangled.
 */
#include "obj/object.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/symbolize.h>

static uint64_t image_base(const char *path)
{
    struct wndl_file file;
    struct wndl_object *object;
    uint64_t base = 0;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return 0;
    if (wndl_object_open(file.bytes, path, wndl_mem_libc(), &object, NULL) ==
        WNDL_OK) {
        base = wndl_object_image_base(object).v;
        wndl_object_close(object);
    }
    wndl_file_close(&file);
    return base;
}

static const char *or_unknown(const char *text)
{
    return text[0] == '\0' ? "??" : text;
}

static void print_answer(struct wndl_symbolizer *s, uint64_t rva)
{
    struct wndl_symbols answer;
    if (wndl_symbolizer_lookup(s, rva, &answer, NULL) != WNDL_OK)
        puts("??\n??:0:0");
    for (size_t i = 0; i < answer.count; i++)
        printf("%s\n%s:%" PRIu32 ":%" PRIu32 "\n",
            or_unknown(answer.frames[i].function),
            or_unknown(answer.frames[i].file), answer.frames[i].line,
            answer.frames[i].column);
    puts("");
}

int main(int argc, char **argv)
{
    bool mangled = argc > 2 && strcmp(argv[1], "-m") == 0;
    struct wndl_symbolizer_options options = {
        .size = sizeof options, .no_demangle = mangled};
    struct wndl_symbolizer *s;
    struct wndl_error err = {0};
    const char *path = argv[argc - 1];
    char line[64];
    if (argc < 2 || wndl_symbolizer_open(path, &options, &s, &err) != WNDL_OK) {
        fprintf(stderr, "framesdump: %s: %s\n", path, err.what);
        return 1;
    }
    uint64_t base = image_base(path);
    while (fgets(line, sizeof line, stdin) != NULL)
        print_answer(s, strtoull(line, NULL, 16) - base);
    wndl_symbolizer_close(s);
    return 0;
}
