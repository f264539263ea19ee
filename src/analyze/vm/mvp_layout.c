/* SPDX-License-Identifier: MIT */
#include "analyze/vm/mvp_layout.h"

#include <stdlib.h>
#include <string.h>

/* ---- the size of an element */

/* A step, and the loads and stores whose offsets have it. */
struct step {
    uint64_t step, count;
};

static int compare_steps(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    return x->step < y->step ? -1 : x->step > y->step;
}

/* Makes one of equal ones; how many are left. */
static size_t join_steps(struct step *steps, size_t count)
{
    size_t left = 0;
    if (count != 0)
        qsort(steps, count, sizeof *steps, compare_steps);
    for (size_t i = 0; i < count; i++) {
        if (left != 0 && steps[left - 1].step == steps[i].step)
            steps[left - 1].count += steps[i].count;
        else
            steps[left++] = steps[i];
    }
    return left;
}

static uint64_t count_in_step(
    const struct step *steps, size_t count, uint64_t step)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < count; i++)
        if (steps[i].step != 0 && steps[i].step % step == 0)
            sum += steps[i].count;
    return sum;
}

/* The largest step of which three quarters of all accesses are multiples, or 0.
 * `steps` has room for all uses. */
static uint64_t find_step(
    const struct wndl_mvp_layout *layout, struct step *steps)
{
    uint64_t total = 0;
    size_t count = 0;
    for (size_t i = 0; i < layout->use_count; i++) {
        const struct wndl_mvp_use *use = layout->uses[i];
        if (use->ip == 0)
            continue;
        total += use->count;
        steps[count++] = (struct step){use->step, use->count};
    }
    count = join_steps(steps, count);
    for (size_t i = count; i-- > 0;)
        if (steps[i].step != 0 && steps[i].step <= WNDL_MVP_LARGEST_ELEMENT &&
            count_in_step(steps, count, steps[i].step) >= total - total / 4)
            return steps[i].step;
    return 0;
}

static enum wndl_status find_element(
    struct wndl_mvp_data *data, const struct wndl_mvp_layout *layout)
{
    const uint64_t whole = data->size;
    struct step *steps = wndl_arena_alloc(
        layout->arena, (layout->use_count + 1) * sizeof *steps);
    if (steps == NULL)
        return WNDL_NOMEM;
    const uint64_t size =
        layout->element != 0 ? layout->element : find_step(layout, steps);
    if (size != 0 && size != whole) {
        data->size = size;
        data->is_array = true;
    }
    data->count = data->size == 0  ? 0
                  : data->is_array ? data->bytes / data->size
                                   : data->blocks;
    return WNDL_OK;
}

/* ---- bytes of an element that are read or written */

enum { READ = 1, VALUE = 2, WRITTEN = 4 };

struct bytes {
    uint8_t how[WNDL_MVP_LARGEST_ELEMENT];
    uint64_t size;
};

static uint64_t common_step(uint64_t a, uint64_t b)
{
    while (b != 0) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Whether all its offsets are one and the same in an element. */
static bool is_field(const struct wndl_mvp_use *use, uint64_t element)
{
    return use->step % element == 0 && use->size <= element &&
           use->low % element + use->size <= element;
}

static void mark(struct bytes *b, uint64_t offset, uint64_t size, uint8_t how)
{
    for (uint64_t i = 0; i < size && i < b->size; i++)
        b->how[(offset + i) % b->size] |= how;
}

/* A use of many elements reaches all residues of the common step. */
static void mark_use(struct bytes *b, const struct wndl_mvp_use *use)
{
    const uint8_t how = use->kind == WNDL_MVP_WRITE ? WRITTEN : READ;
    const uint64_t step = common_step(use->step, b->size);
    const uint64_t steps =
        use->step == 0 ? 0 : (use->high - use->low) / use->step;
    if (steps < b->size / step) {
        for (uint64_t i = 0; i <= steps; i++)
            mark(b, use->low + i * use->step, use->size, how);
        return;
    }
    for (uint64_t at = use->low % step; at < b->size; at += step)
        mark(b, at, use->size, how);
}

/* ---- fields */

static int compare_fields(const void *a, const void *b)
{
    const struct wndl_mvp_field *x = a, *y = b;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->size < y->size ? 1 : x->size > y->size ? -1 : 0;
}

static void add_value(struct wndl_mvp_field *field, uint64_t value)
{
    for (uint32_t i = 0; i < field->value_count && i < WNDL_MVP_VALUES; i++)
        if (field->values[i] == value)
            return;
    if (field->value_count < WNDL_MVP_VALUES)
        field->values[field->value_count] = value;
    if (field->value_count <= WNDL_MVP_VALUES)
        field->value_count++;
}

static void add_values(
    struct wndl_mvp_field *field, const struct wndl_mvp_use *use)
{
    if (use->varying == 0)
        add_value(field, use->first);
    else if (use->value_count == 0)
        field->value_count = WNDL_MVP_VALUES + 1;
    for (uint32_t i = 0; i < use->value_count; i++)
        add_value(field, use->values[i]);
}

/* The bits that equalled the sign in all values, whether it varied or not. */
static uint64_t like_sign(
    uint64_t first, uint64_t varying, uint64_t signs, uint32_t size)
{
    const uint64_t top = UINT64_C(1) << (8 * size - 1);
    const uint64_t mask = top | (top - 1);
    if ((varying & top) != 0)
        return signs;
    return ~varying & ((first & top) != 0 ? first : ~first) & mask;
}

/* Adds what is known of the same field at another instruction. */
static void merge_field(
    struct wndl_mvp_field *field, const struct wndl_mvp_field *from)
{
    const uint32_t size = field->size;
    const uint64_t top = UINT64_C(1) << (8 * size - 1);
    const uint64_t like =
        like_sign(field->first, field->varying, field->signs, size) &
        like_sign(from->first, from->varying, from->signs, size);
    field->varying |= from->varying | (field->first ^ from->first);
    field->signs = (field->varying & top) != 0 ? like : 0;
    field->loads += from->loads;
    field->is_pointer = field->is_pointer && from->is_pointer;
    for (uint32_t i = 0; i < from->value_count && i < WNDL_MVP_VALUES; i++)
        add_value(field, from->values[i]);
    if (from->value_count > WNDL_MVP_VALUES)
        field->value_count = WNDL_MVP_VALUES + 1;
}

static struct wndl_mvp_field field_of(
    const struct wndl_mvp_use *use, uint64_t element)
{
    struct wndl_mvp_field field = {
        .offset = use->low % element,
        .size = use->size,
        .loads = use->count,
        .first = use->first,
        .varying = use->varying,
        .signs = use->signs,
        .is_pointer = use->is_pointer,
        .name = "",
    };
    add_values(&field, use);
    return field;
}

/* `fields` has room for all uses; they are sorted. */
static uint32_t collect_fields(struct wndl_mvp_field *fields,
    const struct wndl_mvp_layout *layout, uint64_t element)
{
    uint32_t count = 0, left = 0;
    for (size_t i = 0; i < layout->use_count; i++) {
        const struct wndl_mvp_use *use = layout->uses[i];
        if (use->kind == WNDL_MVP_READ && is_field(use, element))
            fields[count++] = field_of(use, element);
    }
    if (count != 0)
        qsort(fields, count, sizeof *fields, compare_fields);
    for (uint32_t i = 0; i < count; i++) {
        if (left != 0 && compare_fields(&fields[left - 1], &fields[i]) == 0)
            merge_field(&fields[left - 1], &fields[i]);
        else
            fields[left++] = fields[i];
    }
    return left;
}

/* ---- what a field needs */

static unsigned bits_of(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

static uint32_t bytes_for(unsigned bits)
{
    return bits <= 8 ? 1 : bits <= 16 ? 2 : bits <= 32 ? 4 : 8;
}

/* The field of so many bytes at an offset; NULL: there is none. */
static const struct wndl_mvp_field *field_at(
    const struct wndl_mvp_data *data, uint64_t offset, uint32_t size)
{
    for (uint32_t i = 0; i < data->field_count; i++)
        if (data->fields[i].offset == offset && data->fields[i].size == size)
            return &data->fields[i];
    return NULL;
}

/* The offset + 1 of the 4 bytes that those at `offset` equal in all blocks of
 * all sites; 0: they do not. */
static uint64_t equal_at(
    const struct wndl_mvp_layout *layout, uint64_t offset, uint64_t blocks)
{
    uint64_t found = 0, examined = 0;
    for (size_t i = 0; i < layout->equal_count; i++) {
        const struct wndl_mvp_equal *e = layout->equals[i];
        if (e->offset != offset)
            continue;
        if (found != 0 && found != e->same + 1)
            return 0;
        found = e->same + 1;
        examined += e->blocks;
    }
    return examined == blocks ? found : 0;
}

/* Halves that never vary are not among those that are equal. */
static bool have_equal_tops(
    const struct wndl_mvp_field *a, const struct wndl_mvp_field *b)
{
    return b != NULL && (a->varying | b->varying) >> 32 == 0 &&
           (a->first ^ b->first) >> 32 == 0;
}

static bool find_equal(struct wndl_mvp_field *field,
    const struct wndl_mvp_data *data, const struct wndl_mvp_layout *layout)
{
    const uint64_t found = equal_at(layout, field->offset, data->blocks);
    if (data->is_array || found == 0 || field->size < 4)
        return false;
    field->same = found - 1;
    return field->size == 4 ||
           equal_at(layout, field->offset + 4, data->blocks) == found + 4 ||
           have_equal_tops(field, field_at(data, field->same, field->size));
}

/* The bits of the smallest type that holds all values: no more than its size
 * has, if the others are all 0 or all copies of a sign. */
static unsigned narrow_bits(struct wndl_mvp_field *field)
{
    const unsigned width = 8 * field->size;
    const uint64_t top = UINT64_C(1) << (width - 1);
    if ((field->varying & top) == 0 && (field->first & top) == 0)
        return bits_of(field->first | field->varying);
    const uint64_t unlike =
        ~like_sign(field->first, field->varying, field->signs, field->size);
    const uint64_t mask = top | (top - 1);
    field->is_signed = true;
    return bits_of(unlike & mask) + 1;
}

static void judge_field(struct wndl_mvp_field *field,
    const struct wndl_mvp_data *data, const struct wndl_mvp_layout *layout)
{
    field->needed = field->size;
    field->waste = WNDL_MVP_FULL;
    if (field->varying == 0) {
        field->waste = WNDL_MVP_CONSTANT;
        field->needed = 0;
    } else if (find_equal(field, data, layout)) {
        field->waste = WNDL_MVP_EQUAL;
        field->needed = 0;
    } else if (field->is_pointer) {
        field->waste = WNDL_MVP_POINTER;
    } else if (field->value_count <= WNDL_MVP_VALUES && field->size > 1) {
        field->waste = WNDL_MVP_FEW;
        field->needed = 1;
    } else {
        field->needed = bytes_for(narrow_bits(field));
        if (field->needed < field->size)
            field->waste = WNDL_MVP_NARROW;
    }
}

/* Fields that overlap are needed as they are. */
static void judge_fields(struct wndl_mvp_data *data,
    struct wndl_mvp_field *fields, const struct wndl_mvp_layout *layout)
{
    for (uint32_t i = 0; i < data->field_count; i++)
        judge_field(&fields[i], data, layout);
    uint64_t end = 0;
    uint32_t last = 0;
    for (uint32_t i = 0; i < data->field_count; i++) {
        if (fields[i].offset < end) {
            fields[last].waste = fields[i].waste = WNDL_MVP_FULL;
            fields[last].needed = fields[last].size;
            fields[i].needed = fields[i].size;
        }
        if (fields[i].offset + fields[i].size > end) {
            end = fields[i].offset + fields[i].size;
            last = i;
        }
    }
}

/* ---- gaps */

static enum wndl_status find_gaps(
    struct wndl_mvp_data *data, const struct bytes *b, struct wndl_arena *arena)
{
    struct wndl_mvp_gap *gaps =
        wndl_arena_alloc(arena, (b->size + 1) * sizeof *gaps);
    if (gaps == NULL)
        return WNDL_NOMEM;
    for (uint64_t at = 0; at < b->size;) {
        const uint8_t how = b->how[at] & (READ | WRITTEN);
        const uint64_t start = at;
        while (at < b->size && (b->how[at] & (READ | WRITTEN)) == how)
            at++;
        if (how != (READ | WRITTEN))
            gaps[data->gap_count++] = (struct wndl_mvp_gap){
                start, at, (how & READ) == 0, (how & WRITTEN) == 0, ""};
    }
    data->gaps = gaps;
    return WNDL_OK;
}

/* ---- the smaller layout */

/* Distinct bytes of fields, and bytes that are read without a value, stay. */
static uint64_t needed_size(
    const struct wndl_mvp_data *data, const struct bytes *b)
{
    uint64_t needed = 0, end = 0, align = 1;
    for (uint32_t i = 0; i < data->field_count; i++) {
        const struct wndl_mvp_field *f = &data->fields[i];
        if (f->offset >= end) {
            needed += f->needed;
        } else if (f->offset + f->size > end) {
            needed += f->offset + f->size - end;
        }
        if (f->offset + f->size > end)
            end = f->offset + f->size;
        if (f->needed > align)
            align = f->needed;
    }
    for (uint64_t i = 0; i < b->size; i++)
        needed += (b->how[i] & (READ | VALUE)) == READ;
    needed = (needed + align - 1) / align * align;
    return needed < data->size ? needed : data->size;
}

static void sum_up(struct wndl_mvp_data *data)
{
    uint64_t bits = 0;
    for (uint32_t i = 0; i < data->field_count; i++) {
        const struct wndl_mvp_field *f = &data->fields[i];
        data->loads += f->loads;
        if (f->waste == WNDL_MVP_POINTER)
            bits += 8 * f->size - (uint64_t)__builtin_popcountll(f->varying);
    }
    if (__builtin_mul_overflow(
            data->size - data->needed, data->count, &data->saved))
        data->saved = UINT64_MAX;
    if (__builtin_mul_overflow(bits, data->count, &data->pointer_bits))
        data->pointer_bits = UINT64_MAX;
}

static void mark_all(struct bytes *b, const struct wndl_mvp_layout *layout,
    const struct wndl_mvp_data *data)
{
    for (size_t i = 0; i < layout->use_count; i++)
        mark_use(b, layout->uses[i]);
    for (uint32_t i = 0; i < data->field_count; i++)
        mark(b, data->fields[i].offset, data->fields[i].size, VALUE);
}

enum wndl_status wndl_mvp_layout_find(
    struct wndl_mvp_data *data, const struct wndl_mvp_layout *layout)
{
    if (find_element(data, layout) != WNDL_OK)
        return WNDL_NOMEM;
    data->needed = data->size;
    if (data->size == 0 || data->size > WNDL_MVP_LARGEST_ELEMENT)
        return WNDL_OK;
    struct wndl_mvp_field *fields = wndl_arena_alloc(
        layout->arena, (layout->use_count + 1) * sizeof *fields);
    if (fields == NULL)
        return WNDL_NOMEM;
    data->fields = fields;
    data->field_count = collect_fields(fields, layout, data->size);
    judge_fields(data, fields, layout);
    struct bytes bytes = {.size = data->size};
    mark_all(&bytes, layout, data);
    data->needed = needed_size(data, &bytes);
    sum_up(data);
    return find_gaps(data, &bytes, layout->arena);
}
