/* SPDX-License-Identifier: MIT */
/*
 * framesdump: the symbolizer's answers in the words of llvm-symbolizer.
 * `framesdump [-m] [-j SECTION] FILE` reads svmas in hexadecimal, one a line;
 * -m leaves names mangled, -j counts from the start of a section.
 */
#include "base/status.h"
#include "obj/core/object.h"
#include "os/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <windlass/symbolize.h>

/* Where that section is; of none, nowhere. */
static uint64_t section_address(
    const struct wndl_object *object, const char *name)
{
    for (size_t i = 0; name != NULL && i < wndl_object_section_count(object);
         i++) {
        struct wndl_section section = wndl_object_section(object, i);
        if (wndl_bytes_is(section.name, name))
            return section.addr.v;
    }
    return 0;
}

/* What to take from an address to get its rva. */
static uint64_t find_base(const char *path, const char *section)
{
    struct wndl_file file;
    struct wndl_object *object;
    uint64_t base = 0;
    if (wndl_file_open(path, &file, NULL) != WNDL_OK)
        return 0;
    if (wndl_object_open(file.bytes, path, wndl_mem_libc(), &object, NULL) ==
        WNDL_OK) {
        base =
            wndl_object_image_base(object).v - section_address(object, section);
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

/* What is missing or damaged, on stderr. */
static void tell_troubles(const struct wndl_symbolizer *s)
{
    struct wndl_symbolizer_info info;
    char text[512];
    wndl_symbolizer_get_info(s, &info);
    if (info.files_missing != 0)
        fprintf(stderr, "%" PRIu32 " missing: %s\n", info.files_missing,
            wndl_error_text(&info.first_missing, text, sizeof text));
    if (info.first_damage.status != WNDL_OK)
        fprintf(stderr, "%" PRIu32 " damaged: %s\n", info.units_damaged,
            wndl_error_text(&info.first_damage, text, sizeof text));
}

int main(int argc, char **argv)
{
    struct wndl_symbolizer_options options = {.size = sizeof options};
    const char *section = NULL;
    struct wndl_symbolizer *s;
    struct wndl_error err = {0};
    char text[1024];
    char line[64];
    for (int option; (option = getopt(argc, argv, "mj:")) != -1;)
        if (option == 'm')
            options.no_demangle = true;
        else
            section = optarg;
    const char *path = argv[optind] == NULL ? "" : argv[optind];
    if (wndl_symbolizer_open(path, &options, &s, &err) != WNDL_OK) {
        fprintf(stderr, "framesdump: %s\n",
            wndl_error_text(&err, text, sizeof text));
        return 1;
    }
    uint64_t base = find_base(path, section);
    while (fgets(line, sizeof line, stdin) != NULL)
        print_answer(s, strtoull(line, NULL, 16) - base);
    tell_troubles(s);
    wndl_symbolizer_close(s);
    return 0;
}
