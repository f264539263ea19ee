/* SPDX-License-Identifier: MIT */
/* view_columns: numbers as bytes that compress well. */
#include "out/view/view.h"

#include <inttypes.h>
#include <string.h>

enum { ALIGNMENT = 8 };

/*
 * Writes the head's row, and returns the place of the values; NULL when memory
 * is out.
 */
static uint8_t *open_column(struct wndl_view_columns *c, const char *name,
    const char *form, size_t count, size_t element)
{
    while (c->data.size % ALIGNMENT != 0)
        wndl_buf_byte(&c->data, 0);
    wndl_buf_printf(&c->head,
        "%s\n{\"name\":\"%s\",%s,%s\"length\":%zu,\"offset\":%zu}",
        c->head.size == 0 ? "" : ",", name, form,
        c->later ? "\"later\":true," : "", count, c->data.size);
    uint8_t *to = wndl_buf_reserve(&c->data, count * element);
    if (to != NULL)
        c->data.size += count * element;
    return to;
}

void wndl_view_bytes(struct wndl_view_columns *c, const char *name,
    const uint8_t *values, size_t count)
{
    uint8_t *to = open_column(c, name, "\"type\":\"u8\"", count, 1);
    if (to != NULL && count != 0)
        memcpy(to, values, count);
}

/* All lowest bytes, then all second ones: equal values are then together. */
static void put_u32(
    uint8_t *to, const uint64_t *values, size_t count, bool delta)
{
    uint32_t last = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t value = (uint32_t)values[i] - last;
        last = delta ? (uint32_t)values[i] : 0;
        for (unsigned byte = 0; byte < sizeof value; byte++)
            to[byte * count + i] = (uint8_t)(value >> 8 * byte);
    }
}

static void put_f64(
    uint8_t *to, const uint64_t *values, size_t count, bool delta)
{
    double last = 0;
    for (size_t i = 0; i < count; i++) {
        double value = (double)values[i] - last;
        uint64_t bits;
        last = delta ? (double)values[i] : 0;
        memcpy(&bits, &value, sizeof bits);
        for (unsigned byte = 0; byte < sizeof bits; byte++)
            to[byte * count + i] = (uint8_t)(bits >> 8 * byte);
    }
}

static bool all_fit(const uint64_t *values, size_t count)
{
    uint64_t all = 0;
    for (size_t i = 0; i < count; i++)
        all |= values[i];
    return all <= UINT32_MAX;
}

void wndl_view_numbers(struct wndl_view_columns *c, const char *name,
    const uint64_t *values, size_t count, bool delta)
{
    bool fit = all_fit(values, count);
    char form[64];
    snprintf(form, sizeof form, "\"type\":\"%s\",%s\"planes\":true",
        fit ? "u32" : "f64", delta ? "\"delta\":true," : "");
    uint8_t *to = open_column(
        c, name, form, count, fit ? sizeof(uint32_t) : sizeof(double));
    if (to == NULL)
        return;
    if (fit)
        put_u32(to, values, count, delta);
    else
        put_f64(to, values, count, delta);
}
