/* SPDX-License-Identifier: MIT */
#include "in/frame_text/images.h"

#include "base/hash.h"
#include "base/lines.h"
#include "base/search.h"
#include "base/text.h"
#include "in/frame_text/ips.h"
#include "in/frame_text/text.h"

#include <stdlib.h>

/* Limits above those of any process; rows beyond them are not used. */
enum { MOST_ROWS = 1 << 16, MOST_TABLES = 1 << 16 };

void wndl_frame_images_init(
    struct wndl_frame_images *images, struct wndl_mem *mem)
{
    *images = (struct wndl_frame_images){.continues = false};
    wndl_arena_init(&images->arena, mem);
    wndl_vec_init(
        &images->images, &images->arena, sizeof(struct wndl_frame_image));
    wndl_vec_init(
        &images->tables, &images->arena, sizeof(struct wndl_frame_image_table));
    wndl_vec_init(
        &images->modules, &images->arena, sizeof(struct wndl_frame_image));
    wndl_map_init(&images->by_name, &images->arena);
}

void wndl_frame_images_free(struct wndl_frame_images *images)
{
    wndl_arena_free(&images->arena);
}

/* Whether an element about images begins at `at`; others have no tables. */
static bool is_element(const uint8_t *at, const uint8_t *end)
{
    static const char *const starts[] = {
        "{{{module:", "{{{mmap:", "{{{reset}}}"};
    struct wndl_bytes text = {at, (size_t)(end - at)};
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        if (wndl_bytes_start_with(text, starts[i]))
            return true;
    return false;
}

/* The next of these, or NULL. memmem would take twice as long. */
static const uint8_t *next_element(const uint8_t *at, const uint8_t *end)
{
    for (; end - at >= 3; at++) {
        at = memchr(at, '{', (size_t)(end - at) - 2);
        if (at == NULL || (at[1] == '{' && is_element(at, end)))
            return at;
    }
    return NULL;
}

bool wndl_frame_has_markup(struct wndl_bytes text)
{
    return text.size != 0 &&
           next_element(text.data, text.data + text.size) != NULL;
}

/* ---- the parts of a row */

/* Text of which the front is taken off, part by part. */
static struct wndl_bytes after(struct wndl_bytes text, size_t size)
{
    return (struct wndl_bytes){text.data + size, text.size - size};
}

static void skip_blanks(struct wndl_bytes *text)
{
    while (text->size != 0 && (text->data[0] == ' ' || text->data[0] == '\t'))
        *text = after(*text, 1);
}

static bool take_byte(struct wndl_bytes *text, uint8_t byte)
{
    bool is_there = text->size != 0 && text->data[0] == byte;
    if (is_there)
        *text = after(*text, 1);
    return is_there;
}

static bool take_text(struct wndl_bytes *text, const char *wanted)
{
    bool is_there = wndl_bytes_start_with(*text, wanted);
    if (is_there)
        *text = after(*text, strlen(wanted));
    return is_there;
}

/* Hexadecimal digits, of at most 64 bits. */
static bool take_digits(struct wndl_bytes *text, uint64_t *value)
{
    size_t size = 0;
    *value = 0;
    for (; size < text->size && size < 16; size++) {
        unsigned digit = wndl_frame_hex_digits[text->data[size]];
        if (digit == 0)
            break;
        *value = *value << 4 | (digit - 1);
    }
    *text = after(*text, size);
    return size != 0;
}

static bool take_0x(struct wndl_bytes *text, uint64_t *value)
{
    skip_blanks(text);
    return take_text(text, "0x") && take_digits(text, value);
}

/* Up to the next blank. */
static struct wndl_bytes take_word(struct wndl_bytes *text)
{
    size_t size = 0;
    while (size < text->size && text->data[size] > ' ')
        size++;
    struct wndl_bytes word = {text->data, size};
    *text = after(*text, size);
    skip_blanks(text);
    return word;
}

static bool are_permissions(struct wndl_bytes word)
{
    return word.size == 4 && (word.data[0] == 'r' || word.data[0] == '-') &&
           (word.data[1] == 'w' || word.data[1] == '-') &&
           (word.data[2] == 'x' || word.data[2] == '-');
}

/* ---- rows */

/* "55d0c000-55d0d000 r-xp 00001000 08:01 1234    /path" */
static bool read_maps(struct wndl_bytes line, struct wndl_frame_image *image)
{
    if (!take_digits(&line, &image->start) || !take_byte(&line, '-') ||
        !take_digits(&line, &image->end) || !take_byte(&line, ' ') ||
        !are_permissions(take_word(&line)) ||
        !take_digits(&line, &image->offset) || !take_byte(&line, ' '))
        return false;
    (void)take_word(&line); /* the device */
    (void)take_word(&line); /* the inode */
    image->path = line;
    image->base = WNDL_FRAME_FILE;
    return true;
}

/* "0xSTART 0xEND 0xSIZE 0xOFFSET [r-xp] /path" */
static bool read_gdb(struct wndl_bytes line, struct wndl_frame_image *image)
{
    uint64_t size;
    if (!take_0x(&line, &image->start) || !take_0x(&line, &image->end) ||
        !take_0x(&line, &size) || !take_0x(&line, &image->offset))
        return false;
    skip_blanks(&line);
    struct wndl_bytes path = line;
    if (are_permissions(take_word(&path)))
        line = path;
    image->path = line;
    image->base = WNDL_FRAME_FILE;
    return true;
}

/* The last word of `text`. */
static struct wndl_bytes last_word(struct wndl_bytes text)
{
    size_t start = text.size;
    while (start != 0 && text.data[start - 1] > ' ')
        start--;
    return after(text, start);
}

/* "0xSTART - 0xEND +name (1.0) arm64 <UUID> /path" */
static bool read_apple(struct wndl_bytes line, struct wndl_frame_image *image)
{
    if (!take_0x(&line, &image->start))
        return false;
    skip_blanks(&line);
    if (!take_byte(&line, '-') || !take_0x(&line, &image->end))
        return false;
    const uint8_t *open = memmem(line.data, line.size, " <", 2);
    const uint8_t *close = memmem(line.data, line.size, "> /", 3);
    if (open == NULL || close == NULL || close < open)
        return false;
    struct wndl_bytes name = {line.data, (size_t)(open - line.data)};
    struct wndl_bytes arch = last_word(name);
    if (wndl_frame_is_arch(arch))
        image->arch = arch;
    image->build_id = (struct wndl_bytes){open + 2, (size_t)(close - open) - 2};
    image->path = after(line, (size_t)(close - line.data) + 2);
    image->end += image->end != UINT64_MAX;
    image->base = WNDL_FRAME_RVA;
    return true;
}

static bool read_row(struct wndl_bytes line, struct wndl_frame_image *image)
{
    *image = (struct wndl_frame_image){0};
    line = wndl_line_trimmed(line);
    if (line.size < 16 || wndl_frame_hex_digits[line.data[0]] == 0)
        return false;
    if (line.data[1] != 'x')
        return read_maps(line, image);
    return read_gdb(line, image) || read_apple(line, image);
}

/* ---- tables */

static struct wndl_frame_image_table *table_at(
    const struct wndl_frame_images *images, size_t index)
{
    return wndl_vec_at(&images->tables, index);
}

static bool copy_bytes(
    struct wndl_frame_images *images, struct wndl_bytes *bytes)
{
    if (bytes->size != 0)
        bytes->data = (const uint8_t *)wndl_arena_copy(
            &images->arena, bytes->data, bytes->size);
    return bytes->data != NULL || bytes->size == 0;
}

/* A UUID without its dashes. */
static bool copy_build_id(
    struct wndl_frame_images *images, struct wndl_bytes *id)
{
    uint8_t digits[64];
    size_t size = 0;
    for (size_t i = 0; i < id->size && size < sizeof digits; i++)
        if (id->data[i] != '-')
            digits[size++] = id->data[i];
    for (size_t i = 0; i < size; i++)
        if (wndl_frame_hex_digits[digits[i]] == 0)
            size = 0;
    *id = (struct wndl_bytes){digits, size % 2 == 0 ? size : 0};
    if (id->size == 0)
        *id = (struct wndl_bytes){0};
    return copy_bytes(images, id);
}

static bool copy_image(
    struct wndl_frame_images *images, struct wndl_frame_image *image)
{
    return copy_bytes(images, &image->path) &&
           copy_build_id(images, &image->build_id) &&
           copy_bytes(images, &image->arch);
}

/* Adds a row to the last table, or to a new one that begins at `at`. */
static bool add_row(struct wndl_frame_images *images,
    const struct wndl_frame_image *image, size_t at)
{
    if (!images->continues) {
        if (images->tables.len >= MOST_TABLES)
            return true;
        struct wndl_frame_image_table *fresh = wndl_vec_push(&images->tables);
        if (fresh == NULL)
            return false;
        *fresh = (struct wndl_frame_image_table){at, images->images.len, 0};
        images->continues = true;
    }
    struct wndl_frame_image_table *table =
        table_at(images, images->tables.len - 1);
    if (image->path.size == 0 || image->start >= image->end ||
        table->count == MOST_ROWS)
        return true;
    struct wndl_frame_image *slot = wndl_vec_push(&images->images);
    if (slot == NULL)
        return false;
    *slot = *image;
    table->count++;
    return copy_image(images, slot);
}

/* ---- markup */

/* Takes the text up to the next ':' or the end of the element. */
static struct wndl_bytes take_field(struct wndl_bytes *element)
{
    const uint8_t *colon =
        element->size == 0 ? NULL : memchr(element->data, ':', element->size);
    struct wndl_bytes field = *element;
    if (colon != NULL)
        field.size = (size_t)(colon - element->data);
    *element = after(*element, field.size + (colon != NULL));
    return field;
}

static uint64_t number_of(struct wndl_bytes field)
{
    uint64_t value = 0;
    if (take_text(&field, "0x"))
        (void)take_digits(&field, &value);
    else if (!wndl_line_number(field, &value))
        value = UINT64_MAX;
    return value;
}

/* "ID:NAME:elf:BUILD-ID"; the id is kept as the start of an image. */
static bool add_module(
    struct wndl_frame_images *images, struct wndl_bytes element)
{
    struct wndl_frame_image module = {.base = WNDL_FRAME_SVMA};
    module.start = number_of(take_field(&element));
    module.path = take_field(&element);
    (void)take_field(&element); /* "elf" */
    module.build_id = take_field(&element);
    if (images->modules.len == MOST_ROWS)
        return true;
    struct wndl_frame_image *slot = wndl_vec_push(&images->modules);
    if (slot == NULL)
        return false;
    *slot = module;
    return copy_image(images, slot);
}

/* "START:SIZE:load:ID:MODE:ADDRESS" */
static bool add_mmap(
    struct wndl_frame_images *images, struct wndl_bytes element, size_t at)
{
    uint64_t start = number_of(take_field(&element));
    uint64_t size = number_of(take_field(&element));
    bool load = wndl_bytes_is(take_field(&element), "load");
    uint64_t id = number_of(take_field(&element));
    (void)take_field(&element); /* the mode */
    uint64_t offset = number_of(take_field(&element));
    for (size_t i = images->modules.len; i-- != 0 && load;) {
        const struct wndl_frame_image *m = wndl_vec_at(&images->modules, i);
        if (m->start != id)
            continue;
        struct wndl_frame_image image = *m;
        image.start = start;
        image.offset = offset;
        if (__builtin_add_overflow(start, size, &image.end))
            image.end = UINT64_MAX;
        return add_row(images, &image, at);
    }
    return true;
}

static bool read_element(
    struct wndl_frame_images *images, struct wndl_bytes element, size_t at)
{
    if (wndl_bytes_is(element, "reset")) {
        images->continues = false;
        images->modules.len = 0;
        return true;
    }
    if (take_text(&element, "module:"))
        return add_module(images, element);
    if (!take_text(&element, "mmap:"))
        return true;
    images->continues &= images->markup;
    images->markup = true;
    return add_mmap(images, element, at);
}

/* The elements of a line, which begins at `line` of the text. */
static bool read_markup(
    struct wndl_frame_images *images, struct wndl_bytes text, size_t line)
{
    enum { LONGEST = 8192 };
    const uint8_t *end = text.data + text.size;
    for (const uint8_t *at = next_element(text.data, end); at != NULL;
         at = next_element(at + 3, end)) {
        const uint8_t *from = at + 3;
        size_t most = end - from < LONGEST ? (size_t)(end - from) : LONGEST;
        const uint8_t *close = most == 0 ? NULL : memmem(from, most, "}}}", 3);
        if (close != NULL &&
            !read_element(images,
                (struct wndl_bytes){from, (size_t)(close - from)},
                line + (size_t)(at - text.data)))
            return false;
    }
    return true;
}

/* ---- lines */

/* Only a `reset` ends a table of markup; others end where no row is. */
static bool read_line(
    struct wndl_frame_images *images, struct wndl_bytes line, size_t at)
{
    struct wndl_frame_image image;
    if (wndl_frame_has_markup(line))
        return read_markup(images, line, at);
    if (!read_row(line, &image)) {
        images->continues &= images->markup;
        return true;
    }
    images->continues &= !images->markup;
    images->markup = false;
    return add_row(images, &image, at);
}

static bool read_lines(struct wndl_frame_images *images, struct wndl_bytes text)
{
    struct wndl_lines lines = wndl_lines_of(text);
    struct wndl_bytes line;
    while (wndl_lines_next(&lines, &line))
        if (!read_line(images, line, (size_t)(line.data - text.data)))
            return false;
    return true;
}

/* ---- lists of images in JSON */

/* Each list is a table, in which the number of an image is its address. */
static bool read_lists(struct wndl_frame_images *images, struct wndl_bytes text)
{
    const uint8_t *list = wndl_frame_next_ips_list(text, text.data);
    images->markup = false;
    while (list != NULL) {
        size_t at = (size_t)(list - text.data);
        struct wndl_bytes rest = after(text, at);
        struct wndl_frame_image image;
        images->continues = false;
        for (uint64_t i = 0; wndl_frame_next_ips_image(&rest, &image); i++) {
            image.start = i;
            image.end = i + 1;
            if (!add_row(images, &image, at))
                return false;
        }
        list = wndl_frame_next_ips_list(text, rest.data);
    }
    images->continues = false;
    return true;
}

/* ---- between pieces */

static bool copy_all(struct wndl_frame_images *to,
    const struct wndl_frame_image *from, size_t count, struct wndl_vec *into)
{
    for (size_t i = 0; i < count; i++) {
        struct wndl_frame_image *slot = wndl_vec_push(into);
        if (slot == NULL)
            return false;
        *slot = from[i];
        if (!copy_image(to, slot))
            return false;
    }
    return true;
}

/* Keeps the last table, which may go on, and the modules. */
static bool keep_last(struct wndl_frame_images *images)
{
    struct wndl_frame_images kept;
    bool copied = true;
    if (images->tables.len == 0 && images->modules.len == 0)
        return true;
    wndl_frame_images_init(&kept, images->arena.mem);
    kept.continues = images->continues;
    kept.markup = images->markup;
    if (images->tables.len != 0) {
        const struct wndl_frame_image_table *last =
            table_at(images, images->tables.len - 1);
        struct wndl_frame_image_table *table = wndl_vec_push(&kept.tables);
        copied = table != NULL;
        if (copied)
            *table = (struct wndl_frame_image_table){0, 0, last->count};
        if (copied && last->count != 0)
            copied = copy_all(&kept, wndl_vec_at(&images->images, last->first),
                last->count, &kept.images);
    }
    if (copied && images->modules.len != 0)
        copied = copy_all(
            &kept, images->modules.data, images->modules.len, &kept.modules);
    wndl_frame_images_free(images);
    *images = kept;
    images->images.arena = images->tables.arena = &images->arena;
    images->modules.arena = images->by_name.arena = &images->arena;
    return copied;
}

static int compare_images(const void *left, const void *right)
{
    const struct wndl_frame_image *a = left, *b = right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static struct wndl_bytes name_of(struct wndl_bytes path)
{
    const uint8_t *slash =
        path.size == 0 ? NULL : memrchr(path.data, '/', path.size);
    return slash == NULL ? path : after(path, (size_t)(slash - path.data) + 1);
}

static uint64_t key_of(size_t table, struct wndl_bytes name)
{
    return wndl_hash_bytes(name.data, name.size) + table * 0x9e3779b97f4a7c15;
}

/* Sorts a table, and lists its files by name: the first row of each. */
static bool finish_table(struct wndl_frame_images *images, size_t index)
{
    const struct wndl_frame_image_table *table = table_at(images, index);
    if (table->count == 0)
        return true;
    struct wndl_frame_image *first = wndl_vec_at(&images->images, table->first);
    qsort(first, table->count, sizeof *first, compare_images);
    for (size_t i = 0; i < table->count; i++) {
        uint64_t *slot = wndl_map_put(
            &images->by_name, key_of(index, name_of(first[i].path)));
        if (slot == NULL)
            return false;
        if (*slot == 0)
            *slot = table->first + i + 1;
    }
    return true;
}

bool wndl_frame_images_read(
    struct wndl_frame_images *images, struct wndl_bytes text)
{
    if (!keep_last(images))
        return false;
    bool lists =
        text.size != 0 && wndl_frame_next_ips_list(text, text.data) != NULL;
    bool read = lists ? read_lists(images, text) : read_lines(images, text);
    for (size_t i = 0; i < images->tables.len && read; i++)
        read = finish_table(images, i);
    return read;
}

/* ---- answers */

static const struct wndl_frame_image *find_in(
    const struct wndl_frame_images *images, size_t index, uint64_t address)
{
    if (index >= images->tables.len || table_at(images, index)->count == 0)
        return NULL;
    const struct wndl_frame_image_table *table = table_at(images, index);
    const struct wndl_frame_image *first =
        wndl_vec_at(&images->images, table->first);
    size_t up_to =
        wndl_search_up_to(&first->start, sizeof *first, table->count, address);
    return up_to != 0 && address < first[up_to - 1].end ? &first[up_to - 1]
                                                        : NULL;
}

/* The number of tables up to `at`. */
static size_t tables_before(const struct wndl_frame_images *images, size_t at)
{
    return wndl_search_up_to(
        images->tables.data, images->tables.element, images->tables.len, at);
}

const struct wndl_frame_image *wndl_frame_images_find(
    const struct wndl_frame_images *images, uint64_t address, size_t at)
{
    size_t next = tables_before(images, at);
    const struct wndl_frame_image *found =
        next == 0 ? NULL : find_in(images, next - 1, address);
    return found != NULL ? found : find_in(images, next, address);
}

const struct wndl_frame_image *wndl_frame_images_listed(
    const struct wndl_frame_images *images, uint64_t number, size_t at)
{
    size_t next = tables_before(images, at);
    if (next < images->tables.len)
        return find_in(images, next, number);
    return next == 0 ? NULL : find_in(images, next - 1, number);
}

static const struct wndl_frame_image *named_in(
    const struct wndl_frame_images *images, size_t index,
    struct wndl_bytes name)
{
    const uint64_t *slot = wndl_map_get(&images->by_name, key_of(index, name));
    if (slot == NULL || *slot == 0)
        return NULL;
    const struct wndl_frame_image *image =
        wndl_vec_at(&images->images, *slot - 1);
    return wndl_bytes_equal(name_of(image->path), name) ? image : NULL;
}

const struct wndl_frame_image *wndl_frame_images_named(
    const struct wndl_frame_images *images, struct wndl_bytes name, size_t at)
{
    size_t next = tables_before(images, at);
    const struct wndl_frame_image *found =
        next == 0 ? NULL : named_in(images, next - 1, name);
    return found != NULL ? found : named_in(images, next, name);
}
