/* SPDX-License-Identifier: MIT */
/* protobuf: fields of a message in the wire format of Protocol Buffers. */
#ifndef WNDL_BASE_PROTOBUF_H
#define WNDL_BASE_PROTOBUF_H

#include "base/buf.h"

enum { WNDL_WIRE_VARINT = 0, WNDL_WIRE_BYTES = 2 };

static inline void wndl_protobuf_tag(
    struct wndl_buf *to, unsigned field, unsigned wire)
{
    wndl_buf_uleb(to, field << 3 | wire);
}

/* Adds a field of any integer type but zigzag. 0 is implied and omitted. */
static inline void wndl_protobuf_number(
    struct wndl_buf *to, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    wndl_protobuf_tag(to, field, WNDL_WIRE_VARINT);
    wndl_buf_uleb(to, value);
}

/* Adds a string, bytes, a message, or a packed list that is complete. */
static inline void wndl_protobuf_bytes(
    struct wndl_buf *to, unsigned field, const struct wndl_buf *inner)
{
    wndl_protobuf_tag(to, field, WNDL_WIRE_BYTES);
    wndl_buf_uleb(to, inner->size);
    wndl_buf_add(to, inner->data, inner->size);
}

#endif
