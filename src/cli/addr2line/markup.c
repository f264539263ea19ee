/* SPDX-License-Identifier: MIT */
#include "cli/addr2line/markup.h"

#include "base/buf.h"
#include "base/text.h"
#include "cli/core/command.h"
#include "symbolize/demangle/demangle.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <windlass/symbolize.h>

/* Limits above those of any process: modules and maps are searched in turn. */
enum { MOST_FIELDS = 7, MOST_MODULES = 4096, MOST_MAPS = 4096 };

/* "{{{tag:field:...}}}". Other text is an element without a tag. */
struct element {
    struct wndl_bytes whole;
    struct wndl_bytes tag;
    struct wndl_bytes fields[MOST_FIELDS];
    size_t count; /* of fields, perhaps more than there is room for */
};

struct module {
    uint64_t id;
    const char *name;
    const char *build_id;
};

struct map {
    uint64_t start;
    uint64_t size;
    uint64_t address; /* in the module */
    size_t module;
    struct wndl_bytes mode;
};

struct filter {
    struct wndl_modules *modules;
    bool demangle;
    bool said_data;
    struct wndl_arena arena; /* until a reset */
    struct wndl_vec known;   /* struct module */
    struct wndl_vec maps;    /* struct map */
    size_t line_module;      /* of the line that is begun, + 1; 0: none is */
    size_t line_maps;        /* its first map */
    bool has_maps;           /* in that line */
    const char *line_end;
    struct wndl_buf out;
};

/* ---- elements */

static void add_field(struct element *element, struct wndl_bytes field)
{
    if (element->count == 0 && element->tag.data == NULL) {
        element->tag = field;
        return;
    }
    if (element->count < MOST_FIELDS)
        element->fields[element->count] = field;
    element->count++;
}

/* Reads the inside of an element. */
static void read_fields(struct element *element, struct wndl_bytes inside)
{
    const uint8_t *at = inside.data, *end = inside.data + inside.size;
    const uint8_t *colon;
    while ((colon = memchr(at, ':', (size_t)(end - at))) != NULL) {
        add_field(element, (struct wndl_bytes){at, (size_t)(colon - at)});
        at = colon + 1;
    }
    add_field(element, (struct wndl_bytes){at, (size_t)(end - at)});
}

/* Takes text, or an element, off the front of `line`, which is not empty. */
static struct element take_element(struct wndl_bytes *line)
{
    struct element element = {.whole = *line};
    const uint8_t *open = memmem(line->data, line->size, "{{{", 3);
    const uint8_t *close = NULL;
    if (open != NULL)
        close =
            memmem(open, line->size - (size_t)(open - line->data), "}}}", 3);
    if (close != NULL && open == line->data) {
        element.whole.size = (size_t)(close + 3 - open);
        read_fields(&element,
            (struct wndl_bytes){open + 3, (size_t)(close - open) - 3});
    } else if (close != NULL) {
        element.whole.size = (size_t)(open - line->data);
    }
    line->data += element.whole.size;
    line->size -= element.whole.size;
    return element;
}

static bool is_tag(const struct element *element, const char *tag)
{
    return element->tag.data != NULL && wndl_bytes_is(element->tag, tag);
}

static void complain(const struct element *element, const char *problem)
{
    wndl_cli_error("error: '%.*s': %s", (int)element->whole.size,
        (const char *)element->whole.data, problem);
}

/* Reads the number in a field, as in C. */
static bool read_number(
    const struct element *element, size_t index, uint64_t *number)
{
    char text[32];
    char *end = text;
    struct wndl_bytes field = {0};
    if (index < element->count && index < MOST_FIELDS)
        field = element->fields[index];
    if (field.size != 0 && field.size < sizeof text) {
        memcpy(text, field.data, field.size);
        text[field.size] = '\0';
        *number = strtoull(text, &end, 0);
    }
    if (end != text && *end == '\0')
        return true;
    complain(element, "expected a number");
    return false;
}

static bool has_fields(const struct element *element, size_t count)
{
    if (element->count >= count)
        return true;
    complain(element, "too few fields");
    return false;
}

/* "[[[tag:field:...]]]": an element that has no answer. */
static void write_raw(struct filter *f, const struct element *element)
{
    wndl_buf_text(&f->out, "[[[");
    wndl_buf_add(&f->out, element->whole.data + 3, element->whole.size - 6);
    wndl_buf_text(&f->out, "]]]");
}

/* ---- modules and maps, and their lines */

static const struct module *module_at(const struct filter *f, size_t index)
{
    return wndl_vec_at(&f->known, index);
}

static const struct map *map_at(const struct filter *f, size_t index)
{
    return wndl_vec_at(&f->maps, index);
}

static int compare_maps(const void *left, const void *right)
{
    const struct map *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

/* Ends the line of a module, if one is begun, with its maps. */
static void end_line(struct filter *f)
{
    if (f->line_module == 0)
        return;
    size_t count = f->has_maps ? f->maps.len - f->line_maps : 0;
    if (count > 1)
        qsort(wndl_vec_at(&f->maps, f->line_maps), count, sizeof(struct map),
            compare_maps);
    for (size_t i = 0; i < count; i++) {
        const struct map *map = map_at(f, f->line_maps + i);
        wndl_buf_printf(&f->out, "%c[0x%" PRIx64 "-0x%" PRIx64 "](",
            i == 0 ? ' ' : ',', map->start, map->start + map->size - 1);
        wndl_buf_add(&f->out, map->mode.data, map->mode.size);
        wndl_buf_byte(&f->out, ')');
    }
    wndl_buf_printf(&f->out, "]]]%s", f->line_end);
    f->line_module = 0;
}

static void begin_line(struct filter *f, size_t module)
{
    const struct module *m = module_at(f, module);
    wndl_buf_printf(
        &f->out, "[[[ELF module #0x%" PRIx64 " \"%s\"", m->id, m->name);
    f->line_module = module + 1;
    f->line_maps = f->maps.len;
    f->has_maps = true;
}

/* The index of the module, or SIZE_MAX. */
static size_t find_module(const struct filter *f, uint64_t id)
{
    size_t index = f->known.len;
    while (index-- != 0)
        if (module_at(f, index)->id == id)
            return index;
    return SIZE_MAX;
}

static const char *copy_field(struct filter *f, struct wndl_bytes field)
{
    const char *copy = wndl_arena_copy(&f->arena, field.data, field.size);
    f->out.failed |= copy == NULL;
    return copy == NULL ? "" : copy;
}

/* Before what an element writes comes the text before it. */
typedef void write_before(struct filter *f, struct wndl_bytes before);

static void add_module(struct filter *f, const struct element *element,
    struct wndl_bytes before, write_before *write)
{
    uint64_t id;
    if (!has_fields(element, 4) || !read_number(element, 0, &id))
        return;
    if (!wndl_bytes_is(element->fields[2], "elf")) {
        complain(element, "unknown type of module");
        return;
    }
    if (find_module(f, id) != SIZE_MAX || f->known.len == MOST_MODULES) {
        complain(element, f->known.len == MOST_MODULES ? "too many modules"
                                                       : "duplicate module ID");
        return;
    }
    struct module *module = wndl_vec_push(&f->known);
    if (module == NULL) {
        f->out.failed = true;
        return;
    }
    *module = (struct module){id, copy_field(f, element->fields[1]),
        copy_field(f, element->fields[3])};
    end_line(f);
    write(f, before);
    begin_line(f, f->known.len - 1);
    wndl_buf_printf(&f->out, "; BuildID=%s", module->build_id);
}

static bool overlaps(const struct filter *f, const struct map *map)
{
    for (size_t i = 0; i < f->maps.len; i++) {
        const struct map *other = map_at(f, i);
        if (map->start - other->start < other->size ||
            other->start - map->start < map->size)
            return true;
    }
    return false;
}

/* Reads "START:SIZE:load:ID:MODE:ADDRESS". */
static bool read_map(
    struct filter *f, const struct element *element, struct map *map)
{
    uint64_t id;
    if (!has_fields(element, 6) || !read_number(element, 0, &map->start) ||
        !read_number(element, 1, &map->size) || !read_number(element, 3, &id) ||
        !read_number(element, 5, &map->address))
        return false;
    map->module = find_module(f, id);
    const char *problem = NULL;
    if (!wndl_bytes_is(element->fields[2], "load"))
        problem = "unknown type of mmap";
    else if (map->module == SIZE_MAX)
        problem = "unknown module ID";
    else if (f->maps.len == MOST_MAPS)
        problem = "too many mmaps";
    else if (overlaps(f, map))
        problem = "overlapping mmap";
    if (problem != NULL)
        complain(element, problem);
    return problem == NULL;
}

static void add_map(struct filter *f, const struct element *element,
    struct wndl_bytes before, write_before *write)
{
    struct map map = {0};
    if (!read_map(f, element, &map))
        return;
    if (f->line_module != map.module + 1) {
        end_line(f);
        write(f, before);
        begin_line(f, map.module);
        wndl_buf_text(&f->out, "; adds");
    }
    struct map *slot = wndl_vec_push(&f->maps);
    struct wndl_bytes mode = element->fields[4];
    map.mode =
        (struct wndl_bytes){(const uint8_t *)copy_field(f, mode), mode.size};
    if (slot != NULL)
        *slot = map;
    f->out.failed |= slot == NULL;
}

static void start_anew(struct filter *f)
{
    wndl_arena_free(&f->arena);
    wndl_vec_init(&f->known, &f->arena, sizeof(struct module));
    wndl_vec_init(&f->maps, &f->arena, sizeof(struct map));
}

static void reset(
    struct filter *f, struct wndl_bytes before, write_before *write)
{
    if (f->known.len == 0)
        return;
    end_line(f);
    write(f, before);
    wndl_buf_printf(&f->out, "[[[reset]]]%s", f->line_end);
    start_anew(f);
}

/* ---- answers */

static const struct map *map_of(const struct filter *f, uint64_t address)
{
    for (size_t i = 0; i < f->maps.len; i++)
        if (address - map_at(f, i)->start < map_at(f, i)->size)
            return map_at(f, i);
    return NULL;
}

/* Where an address is: the map, the address in its module, and the answer. */
struct place {
    const struct map *map;
    uint64_t address;
    uint64_t in_module;
    struct wndl_symbols answer;
};

/* False, with an error, if there is no map or no file. */
static bool look_up(struct filter *f, const struct element *element,
    uint64_t address, struct place *place)
{
    struct wndl_symbolizer_info info;
    *place = (struct place){.map = map_of(f, address), .address = address};
    if (place->map == NULL) {
        complain(element, "no mmap covers the address");
        return false;
    }
    place->in_module = address - place->map->start + place->map->address;
    struct wndl_symbolizer *symbols = wndl_modules_find(
        f->modules, module_at(f, place->map->module)->build_id, true);
    if (symbols == NULL)
        return false;
    wndl_symbolizer_get_info(symbols, &info);
    f->out.failed |=
        wndl_symbolizer_lookup(symbols, place->in_module - info.image_base,
            &place->answer, NULL) == WNDL_NOMEM;
    return true;
}

/* Steps back to the call if the element says so, or `returns` and not. */
static bool read_address(const struct element *element, size_t index,
    bool returns, uint64_t *address)
{
    if (!has_fields(element, index + 1) ||
        !read_number(element, index, address))
        return false;
    if (element->count > index + 1) {
        returns = wndl_bytes_is(element->fields[index + 1], "ra");
        if (!returns && !wndl_bytes_is(element->fields[index + 1], "pc")) {
            complain(element, "expected 'pc' or 'ra'");
            return false;
        }
    }
    *address -= returns;
    return true;
}

static const char *name_of(
    const struct filter *f, const struct wndl_symbol_frame *frame)
{
    const char *name = f->demangle ? frame->function : frame->mangled;
    return name[0] == '\0' ? "??" : name;
}

static const char *file_of(const struct wndl_symbol_frame *frame)
{
    return frame->file[0] == '\0' ? "??" : frame->file;
}

/* The line of the code, in the function that it is in at last. */
static void write_pc(struct filter *f, const struct element *element)
{
    uint64_t address;
    struct place place;
    if (!read_address(element, 0, false, &address))
        return;
    if (!look_up(f, element, address, &place) || place.answer.count == 0) {
        write_raw(f, element);
        return;
    }
    const struct wndl_symbol_frame *frames = place.answer.frames;
    wndl_buf_printf(&f->out, "%s[%s:%" PRIu32 "]",
        name_of(f, &frames[place.answer.count - 1]), file_of(frames),
        frames->line);
}

static void write_frame(
    struct filter *f, uint64_t number, const struct place *place, size_t index)
{
    char text[32];
    bool last = index + 1 >= place->answer.count;
    snprintf(text, sizeof text, "#%" PRIu64, number);
    wndl_buf_printf(&f->out, "%6s", text);
    if (last)
        wndl_buf_text(&f->out, "   ");
    else
        wndl_buf_printf(&f->out, ".%-2zu", index + 1);
    wndl_buf_printf(&f->out, " 0x%016" PRIx64 " ", place->address);
    if (index < place->answer.count) {
        const struct wndl_symbol_frame *frame = &place->answer.frames[index];
        wndl_buf_printf(&f->out, "%s %s:%" PRIu32 ":%" PRIu32 " ",
            name_of(f, frame), file_of(frame), frame->line, frame->column);
    }
    wndl_buf_printf(&f->out, "(%s+0x%" PRIx64 ")%s",
        module_at(f, place->map->module)->name, place->in_module,
        last ? "" : f->line_end);
}

static void write_backtrace(struct filter *f, const struct element *element)
{
    uint64_t number, address;
    struct place place;
    if (!has_fields(element, 2) || !read_number(element, 0, &number) ||
        !read_address(element, 1, true, &address))
        return;
    if (!look_up(f, element, address, &place)) {
        write_raw(f, element);
        return;
    }
    size_t index = 0;
    do
        write_frame(f, number, &place, index++);
    while (index < place.answer.count);
}

/* Variables are not known, which is said once. */
static void write_data(struct filter *f, const struct element *element)
{
    if (!f->said_data)
        wndl_cli_note("warning: windlass knows code only: {{{data}}} has no "
                      "answers");
    f->said_data = true;
    write_raw(f, element);
}

static void write_name(struct filter *f, const struct element *element)
{
    if (!has_fields(element, 1))
        return;
    struct wndl_bytes name = {element->tag.data + element->tag.size + 1,
        element->whole.size - element->tag.size - 7};
    struct wndl_arena arena;
    struct wndl_demangler demangler;
    const char *text = NULL;
    wndl_arena_init(&arena, wndl_mem_libc());
    if (wndl_demangler_init(&demangler, &arena))
        text = wndl_demangle(&demangler, name);
    f->out.failed |= text == NULL;
    if (text != NULL)
        wndl_buf_text(&f->out, text);
    wndl_arena_free(&arena);
}

/* The size of a colour, as markup may have it, at the start of `text`, or 0. */
static size_t size_of_colour(struct wndl_bytes text)
{
    static const char *const colours[] = {"\033[0m", "\033[1m", "\033[30m",
        "\033[31m", "\033[32m", "\033[33m", "\033[34m", "\033[35m", "\033[36m",
        "\033[37m"};
    for (size_t i = 0; i < sizeof colours / sizeof colours[0]; i++)
        if (wndl_bytes_start_with(text, colours[i]))
            return strlen(colours[i]);
    return 0;
}

/* Our output has no colours. */
static void write_text(struct filter *f, struct wndl_bytes text)
{
    const uint8_t *at = text.data, *end = text.data + text.size;
    while (at != end) {
        at += size_of_colour((struct wndl_bytes){at, (size_t)(end - at)});
        if (at == end)
            return;
        const uint8_t *escape = memchr(at + 1, '\033', (size_t)(end - at) - 1);
        const uint8_t *stop = escape == NULL ? end : escape;
        wndl_buf_add(&f->out, at, (size_t)(stop - at));
        at = stop;
    }
}

static bool is_lowercase(struct wndl_bytes tag)
{
    for (size_t i = 0; i < tag.size; i++)
        if (tag.data[i] < 'a' || tag.data[i] > 'z')
            return false;
    return true;
}

static void write_element(struct filter *f, const struct element *element)
{
    if (!is_lowercase(element->tag))
        complain(element, "tags must be all lowercase characters");
    else if (is_tag(element, "symbol"))
        write_name(f, element);
    else if (is_tag(element, "pc"))
        write_pc(f, element);
    else if (is_tag(element, "bt"))
        write_backtrace(f, element);
    else if (is_tag(element, "data"))
        write_data(f, element);
    else
        write_text(f, element->whole);
}

static void write_all(struct filter *f, struct wndl_bytes text)
{
    while (text.size != 0) {
        struct element element = take_element(&text);
        write_element(f, &element);
    }
}

/* ---- lines */

/* Takes an element about modules; what comes after it on the line is lost. */
static bool take_context(
    struct filter *f, const struct element *element, struct wndl_bytes before)
{
    if (is_tag(element, "module"))
        add_module(f, element, before, write_all);
    else if (is_tag(element, "mmap"))
        add_map(f, element, before, write_all);
    else if (is_tag(element, "reset"))
        reset(f, before, write_all);
    else
        return false;
    return true;
}

static void filter_line(struct filter *f, struct wndl_bytes line)
{
    struct wndl_bytes rest = line;
    f->line_end =
        line.size >= 2 && line.data[line.size - 2] == '\r' ? "\r\n" : "\n";
    while (rest.size != 0) {
        size_t at = line.size - rest.size;
        struct element element = take_element(&rest);
        if (take_context(f, &element, (struct wndl_bytes){line.data, at}))
            return;
    }
    end_line(f);
    write_all(f, line);
    if (line.data[line.size - 1] != '\n')
        wndl_buf_byte(&f->out, '\n');
}

static bool flush_output(struct filter *f)
{
    fwrite(f->out.data, 1, f->out.size, stdout);
    wndl_buf_clear(&f->out);
    return fflush(stdout) == 0 && !ferror(stdout) && !f->out.failed;
}

static int run_filter(struct filter *f)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t size;
    bool well = true;
    while (well && (size = getline(&line, &room, stdin)) >= 0) {
        filter_line(
            f, (struct wndl_bytes){(const uint8_t *)line, (size_t)size});
        well = flush_output(f);
    }
    end_line(f);
    well &= flush_output(f);
    free(line);
    if (f->out.failed)
        wndl_cli_error("error: out of memory");
    return well ? WNDL_EXIT_OK : WNDL_EXIT_FAILURE;
}

int wndl_filter_markup(struct wndl_modules *modules, bool demangle)
{
    struct filter f = {
        .modules = modules, .demangle = demangle, .line_end = "\n"};
    wndl_arena_init(&f.arena, wndl_mem_libc());
    wndl_buf_init(&f.out, wndl_mem_libc());
    start_anew(&f);
    int exit_code = run_filter(&f);
    wndl_buf_free(&f.out);
    wndl_arena_free(&f.arena);
    return exit_code;
}
