/* SPDX-License-Identifier: MIT */
#include "collect/proc/kallsyms.h"

#include "base/search.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- lines */

static int digit_of(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Takes hexadecimal digits off the front of `text`. */
static bool take_address(struct wndl_bytes *text, uint64_t *address)
{
    size_t i = 0;
    *address = 0;
    for (; i < text->size && digit_of(text->data[i]) >= 0; i++)
        *address = *address << 4 | (uint64_t)digit_of(text->data[i]);
    *text = wndl_bytes_slice(*text, i, text->size - i);
    return i != 0 && i <= 16;
}

static struct wndl_bytes up_to(struct wndl_bytes text, char end)
{
    const uint8_t *found =
        text.size == 0 ? NULL : memchr(text.data, end, text.size);
    return found == NULL
               ? text
               : wndl_bytes_slice(text, 0, (size_t)(found - text.data));
}

bool wndl_kallsyms_line(struct wndl_bytes line, struct wndl_kallsym *symbol)
{
    enum { BEFORE_NAME = 3 }; /* " T " */
    *symbol = (struct wndl_kallsym){0};
    if (!take_address(&line, &symbol->address) || line.size <= BEFORE_NAME ||
        line.data[0] != ' ' || line.data[2] != ' ')
        return false;
    symbol->is_code = memchr("tTwW", line.data[1], 4) != NULL;
    line = wndl_bytes_slice(line, BEFORE_NAME, line.size - BEFORE_NAME);
    symbol->name = up_to(line, '\t');
    if (symbol->name.size < line.size)
        symbol->module = wndl_bytes_slice(
            line, symbol->name.size + 1, line.size - symbol->name.size - 1);
    return symbol->name.size != 0 && memchr(line.data, '\0', line.size) == NULL;
}

/* Calls `take` with each symbol, until it returns false. */
static bool each_symbol(const char *path,
    bool (*take)(void *context, const struct wndl_kallsym *symbol),
    void *context)
{
    FILE *file = fopen(path, "re");
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    if (file == NULL)
        return false;
    while ((size = getline(&line, &room, file)) > 0) {
        const struct wndl_bytes text = {
            (const uint8_t *)line, (size_t)size - (line[size - 1] == '\n')};
        struct wndl_kallsym symbol;
        if (wndl_kallsyms_line(text, &symbol) && !take(context, &symbol))
            break;
    }
    const bool is_read = ferror(file) == 0;
    free(line);
    fclose(file);
    return is_read;
}

/* ---- the start of the kernel */

static bool find_text(void *context, const struct wndl_kallsym *symbol)
{
    uint64_t *address = context;
    if (symbol->name.size != 5 || memcmp(symbol->name.data, "_text", 5) != 0)
        return true;
    *address = symbol->address;
    return false;
}

bool wndl_kallsyms_text(const char *path, uint64_t *address)
{
    *address = 0;
    return each_symbol(path, find_text, address) && *address != 0;
}

/* ---- names */

struct naming {
    struct wndl_kernel_place *places;
    size_t count;
    struct wndl_arena *arena;
    bool out_of_memory;
};

static size_t underscores(const uint8_t *name, size_t size)
{
    size_t count = 0;
    while (count < size && name[count] == '_')
        count++;
    return count;
}

/* The name with the fewest '_' before it is the best one of a start. */
static bool is_better(
    const struct wndl_kernel_place *place, const struct wndl_kallsym *symbol)
{
    if (place->name == NULL || symbol->address != place->start)
        return place->name == NULL || symbol->address > place->start;
    return underscores(symbol->name.data, symbol->name.size) <
           underscores((const uint8_t *)place->name, strlen(place->name));
}

static const char *text_of(
    struct wndl_arena *arena, const struct wndl_kallsym *symbol)
{
    char text[512];
    const bool has_module = symbol->module.size != 0;
    snprintf(text, sizeof text, "%.*s%s%.*s", (int)symbol->name.size,
        (const char *)symbol->name.data, has_module ? " " : "",
        (int)symbol->module.size,
        has_module ? (const char *)symbol->module.data : "");
    return wndl_arena_copy(arena, text, strlen(text));
}

/*
 * The first place after the symbol gets it. Those after that, with no symbol
 * between, get it in the end.
 */
static bool name_place(void *context, const struct wndl_kallsym *symbol)
{
    struct naming *n = context;
    if (!symbol->is_code || symbol->address == 0)
        return true;
    const size_t at = wndl_search_up_to(&n->places[0].address,
        sizeof *n->places, n->count, symbol->address - 1);
    struct wndl_kernel_place *place = &n->places[at];
    if (at == n->count || !is_better(place, symbol))
        return true;
    place->start = symbol->address;
    place->name = text_of(n->arena, symbol);
    n->out_of_memory = place->name == NULL;
    return !n->out_of_memory;
}

bool wndl_kallsyms_name(const char *path, struct wndl_kernel_place *places,
    size_t count, struct wndl_arena *arena)
{
    struct naming n = {places, count, arena, false};
    if (count == 0)
        return true;
    const bool is_read = each_symbol(path, name_place, &n);
    for (size_t i = 1; i < count; i++) {
        if (places[i].name != NULL && places[i].start >= places[i - 1].start)
            continue;
        places[i].name = places[i - 1].name;
        places[i].start = places[i - 1].start;
    }
    return is_read && !n.out_of_memory;
}
