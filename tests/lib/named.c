/* SPDX-License-Identifier: MIT */
#include "named.h"

#include "recipe.h"
#include "testlib.h"
#include "wndl/read.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LINE = 512 };

static void read_profile(struct named *n, const char *recipe)
{
    struct wndl_buf file;
    wndl_buf_init(&file, wndl_mem_libc());
    assert_true(recipe_cook(recipe, &file));
    assert_true(wndl_profile_init(&n->profile, wndl_mem_libc()));
    assert_int_equal(wndl_reader_read(&n->profile,
                         (struct wndl_bytes){file.data, file.size}, NULL),
        WNDL_OK);
    wndl_buf_free(&file);
}

/* The line of `names` for an address, copied; false if there is none. */
static bool find_line(const char *names, uint64_t address, char line[MAX_LINE])
{
    while (*names != '\0') {
        size_t size = strcspn(names, "\n");
        if (strtoull(names, NULL, 16) == address) {
            snprintf(line, MAX_LINE, "%.*s", (int)size, names);
            return true;
        }
        names += size + (names[size] == '\n');
    }
    return false;
}

/* All but the last of a frame's locations are inlined. */
static void append_line(
    struct named *n, uint32_t frame, uint32_t module, char *line)
{
    char *rest = NULL;
    char *name = (strtok_r(line, " ", &rest), strtok_r(NULL, " ", &rest));
    while (name != NULL) {
        char *file = strtok_r(NULL, " ", &rest);
        char *number = strtok_r(NULL, " ", &rest);
        char *next = strtok_r(NULL, " ", &rest);
        struct wndl_function function = {.module = module};
        struct wndl_location location = {.inlined = next != NULL};
        bool fresh;
        struct wndl_symbolized *s = &n->symbolized;
        assert_non_null(number);
        location.line = (uint32_t)strtoul(number, NULL, 10);
        assert_true(wndl_symbolized_text(s, name, &function.name));
        assert_true(wndl_symbolized_text(s, file, &location.file));
        function.file = location.file;
        function.line = location.line / 10 * 10;
        assert_true(
            wndl_symbolized_function(s, function, &location.function, &fresh));
        assert_true(wndl_symbolized_append(s, frame, &location));
        name = next;
    }
}

static void append_unnamed(struct named *n, uint32_t frame, uint32_t module)
{
    const struct wndl_frame_key *key = wndl_vec_at(&n->profile.frames, frame);
    const struct wndl_module *of = wndl_vec_at(&n->symbolized.modules, module);
    char name[128];
    snprintf(name, sizeof name, "%s+0x%llx",
        wndl_intern_text(&n->symbolized.strings, of->name),
        (unsigned long long)key->address);
    struct wndl_function function = {.module = module, .unnamed = true};
    struct wndl_location location = {0};
    struct wndl_symbolized *s = &n->symbolized;
    bool fresh;
    assert_true(wndl_symbolized_text(s, name, &function.name));
    assert_true(
        wndl_symbolized_function(s, function, &location.function, &fresh));
    assert_true(wndl_symbolized_append(s, frame, &location));
}

void named_cook(struct named *n, const char *recipe, const char *names)
{
    read_profile(n, recipe);
    assert_true(
        wndl_symbolized_init(&n->symbolized, &n->profile, wndl_mem_libc()));
    struct wndl_module *modules = n->symbolized.modules.data;
    for (size_t i = 0; i <= n->profile.images.len; i++)
        modules[i].state = i < n->profile.images.len ? WNDL_SYMBOLS_EXPORTED
                                                     : WNDL_SYMBOLS_NOWHERE;
    for (uint32_t i = 0; i < n->profile.frames.len; i++) {
        const struct wndl_frame_key *key = wndl_vec_at(&n->profile.frames, i);
        char line[MAX_LINE];
        uint32_t module = key->image == WNDL_NO_INDEX
                              ? (uint32_t)n->profile.images.len
                              : key->image;
        if (find_line(names, key->address, line))
            append_line(n, i, module, line);
        else
            append_unnamed(n, i, module);
    }
}

void named_free(struct named *n)
{
    wndl_symbolized_free(&n->symbolized);
    wndl_profile_free(&n->profile);
}
