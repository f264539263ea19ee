/* SPDX-License-Identifier: MIT */
#include "in/mvp.h"

#include "base/text.h"
#include "in/core/results.h"

#define FIRST_LINE "windlass-mvp 1"

/* The largest load that an instruction makes, in bytes. */
enum { LARGEST = 4096 };

static struct wndl_mvp *mvp_of(const struct wndl_result_line *line)
{
    return line->into;
}

bool wndl_mvp_is(struct wndl_bytes file)
{
    return wndl_bytes_start_with(file, FIRST_LINE "\n");
}

static void read_command(struct wndl_result_line *line)
{
    mvp_of(line)->command = wndl_result_rest(line);
}

static void read_pid(struct wndl_result_line *line)
{
    mvp_of(line)->pid = wndl_result_decimal(line);
}

static void read_running(struct wndl_result_line *line)
{
    mvp_of(line)->is_running = true;
}

static void read_code(struct wndl_result_line *line)
{
    wndl_result_code(line, &mvp_of(line)->code);
}

/* The fields that both kinds of sites begin with. */
static struct wndl_mvp_site take_site(struct wndl_result_line *line)
{
    struct wndl_mvp_site site = {.ip = wndl_result_hex(line)};
    const uint64_t index = wndl_result_decimal(line);
    const uint64_t size = wndl_result_decimal(line);
    site.loads = wndl_result_decimal(line);
    site.sectors = wndl_result_decimal(line);
    site.pages = wndl_result_decimal(line);
    if (index > UINT8_MAX || size == 0 || size > LARGEST)
        line->bad = true;
    site.index = (uint32_t)index;
    site.size = (uint32_t)size;
    return site;
}

static void add_site(
    struct wndl_result_line *line, const struct wndl_mvp_site *site)
{
    struct wndl_mvp_site *row = wndl_result_push(line, &mvp_of(line)->sites);
    if (row != NULL)
        *row = *site;
}

static bool is_value(uint32_t size)
{
    return size == 1 || size == 2 || size == 4 || size == 8;
}

/* Whether `bits` are of a value of so many bytes. */
static void check_bits(
    struct wndl_result_line *line, uint32_t size, uint64_t bits)
{
    if (!is_value(size) || (size < 8 && bits >> 8 * size != 0))
        line->bad = true;
}

static void read_load(struct wndl_result_line *line)
{
    struct wndl_mvp_site site = take_site(line);
    site.first = wndl_result_hex(line);
    site.varying = wndl_result_hex(line);
    site.signs = wndl_result_hex(line);
    check_bits(line, site.size, site.first | site.varying);
    /* Bits that equal a sign that varies vary, too. */
    if ((site.signs & ~site.varying) != 0)
        line->bad = true;
    add_site(line, &site);
}

static void read_wide(struct wndl_result_line *line)
{
    struct wndl_mvp_site site = take_site(line);
    site.is_wide = true;
    add_site(line, &site);
}

/* ---- blocks of the heap */

static void read_site(struct wndl_result_line *line)
{
    struct wndl_vec *heaps = &mvp_of(line)->heaps;
    struct wndl_mvp_heap heap = {.number = wndl_result_decimal(line)};
    bool cut;
    heap.blocks = wndl_result_decimal(line);
    heap.bytes = wndl_result_decimal(line);
    heap.smallest = wndl_result_decimal(line);
    heap.largest = wndl_result_decimal(line);
    heap.element = wndl_result_decimal(line);
    heap.ips = wndl_result_ips(line, &heap.ip_count, &cut);
    const struct wndl_mvp_heap *last =
        heaps->len == 0 ? NULL : wndl_vec_at(heaps, heaps->len - 1);
    if (heap.smallest > heap.largest ||
        (last != NULL && last->number >= heap.number))
        line->bad = true;
    struct wndl_mvp_heap *row = wndl_result_push(line, heaps);
    if (row != NULL)
        *row = heap;
}

/* The fields that all kinds of uses begin with. */
static struct wndl_mvp_use take_use(
    struct wndl_result_line *line, enum wndl_mvp_use_kind kind)
{
    struct wndl_mvp_use use = {.kind = kind, .heap = wndl_result_decimal(line)};
    use.ip = wndl_result_hex(line);
    const uint64_t index = wndl_result_decimal(line);
    const uint64_t size = wndl_result_decimal(line);
    use.count = wndl_result_decimal(line);
    use.low = wndl_result_decimal(line);
    use.high = wndl_result_decimal(line);
    use.step = wndl_result_decimal(line);
    use.index = (uint32_t)index;
    use.size = (uint32_t)size;
    if (index > UINT8_MAX || size == 0 || size > LARGEST ||
        use.high < use.low || use.high > UINT64_MAX - size ||
        (use.step == 0 ? use.high != use.low
                       : (use.high - use.low) % use.step != 0))
        line->bad = true;
    return use;
}

static void add_use(
    struct wndl_result_line *line, const struct wndl_mvp_use *use)
{
    struct wndl_mvp_use *row = wndl_result_push(line, &mvp_of(line)->uses);
    if (row != NULL)
        *row = *use;
}

static void take_values(struct wndl_result_line *line, struct wndl_mvp_use *use)
{
    uint64_t values[WNDL_MVP_VALUES];
    while (line->rest.size != 0 && !line->bad) {
        if (use->value_count == WNDL_MVP_VALUES) {
            line->bad = true;
            return;
        }
        values[use->value_count] = wndl_result_hex(line);
        check_bits(line, use->size, values[use->value_count++]);
    }
    if (use->value_count == 0)
        return;
    uint64_t *copy =
        wndl_arena_alloc(line->arena, use->value_count * sizeof *copy);
    line->out_of_memory = line->out_of_memory || copy == NULL;
    if (copy != NULL)
        memcpy(copy, values, use->value_count * sizeof *copy);
    use->values = copy;
}

static void read_read(struct wndl_result_line *line)
{
    struct wndl_mvp_use use = take_use(line, WNDL_MVP_READ);
    use.first = wndl_result_hex(line);
    use.varying = wndl_result_hex(line);
    use.signs = wndl_result_hex(line);
    check_bits(line, use.size, use.first | use.varying);
    const uint64_t is_pointer = wndl_result_decimal(line);
    use.is_pointer = is_pointer != 0;
    if ((use.signs & ~use.varying) != 0 || is_pointer > 1)
        line->bad = true;
    take_values(line, &use);
    add_use(line, &use);
}

static void read_skim(struct wndl_result_line *line)
{
    const struct wndl_mvp_use use = take_use(line, WNDL_MVP_SKIM);
    add_use(line, &use);
}

static void read_write(struct wndl_result_line *line)
{
    const struct wndl_mvp_use use = take_use(line, WNDL_MVP_WRITE);
    add_use(line, &use);
}

static void read_equal(struct wndl_result_line *line)
{
    struct wndl_mvp_equal equal = {.heap = wndl_result_decimal(line)};
    equal.blocks = wndl_result_decimal(line);
    equal.offset = wndl_result_decimal(line);
    equal.same = wndl_result_decimal(line);
    if (equal.same >= equal.offset)
        line->bad = true;
    struct wndl_mvp_equal *row = wndl_result_push(line, &mvp_of(line)->equals);
    if (row != NULL)
        *row = equal;
}

static void read_pair(struct wndl_result_line *line)
{
    struct wndl_mvp_pair pair = {.heap = wndl_result_decimal(line)};
    pair.offset = wndl_result_decimal(line);
    pair.child = wndl_result_decimal(line);
    pair.blocks = wndl_result_decimal(line);
    struct wndl_mvp_pair *row = wndl_result_push(line, &mvp_of(line)->pairs);
    if (row != NULL)
        *row = pair;
}

static void read_mapping(struct wndl_result_line *line)
{
    struct wndl_mvp_mapping mapping = {.loads = wndl_result_decimal(line)};
    mapping.name = wndl_result_rest(line);
    struct wndl_mvp_mapping *row =
        wndl_result_push(line, &mvp_of(line)->mappings);
    if (row != NULL)
        *row = mapping;
}

static const struct wndl_result_kind line_kinds[] = {
    {"code", read_code},
    {"command", read_command},
    {"equal", read_equal},
    {"load", read_load},
    {"mapping", read_mapping},
    {"pair", read_pair},
    {"pid", read_pid},
    {"read", read_read},
    {"running", read_running},
    {"site", read_site},
    {"skim", read_skim},
    {"wide", read_wide},
    {"write", read_write},
};

enum wndl_status wndl_mvp_read(
    struct wndl_mvp *mvp, struct wndl_bytes file, struct wndl_error *err)
{
    static const struct wndl_result_format format = {
        FIRST_LINE, line_kinds, sizeof line_kinds / sizeof *line_kinds};
    struct wndl_result_line line = {.into = mvp, .arena = &mvp->arena};
    return wndl_results_read(&line, file, &format, err);
}
