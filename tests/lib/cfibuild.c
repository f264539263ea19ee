/* SPDX-License-Identifier: MIT */
#include "cfibuild.h"

#include <assert.h>
#include <string.h>

void cfi_build_init(
    struct cfi_build *b, const struct cfi_shape *shape, uint64_t addr)
{
    memset(b, 0, sizeof *b);
    b->shape = *shape;
    b->section.bytes.data = b->data;
    b->section.addr = addr;
    b->section.address_size = shape->address_size;
    b->section.big_endian = shape->big_endian;
    b->section.debug_frame = shape->debug_frame;
}

void cfi_patch(
    struct cfi_build *b, size_t offset, uint64_t value, unsigned size)
{
    assert(offset + size <= sizeof b->data);
    for (unsigned i = 0; i < size; i++) {
        unsigned byte = b->shape.big_endian ? size - 1 - i : i;
        b->data[offset + i] = (uint8_t)(value >> (8 * byte));
    }
}

void cfi_put(struct cfi_build *b, uint64_t value, unsigned size)
{
    cfi_patch(b, b->section.bytes.size, value, size);
    b->section.bytes.size += size;
}

void cfi_put_uleb(struct cfi_build *b, uint64_t value)
{
    for (; value > 0x7f; value >>= 7)
        cfi_put(b, (value & 0x7f) | 0x80, 1);
    cfi_put(b, value, 1);
}

void cfi_put_sleb(struct cfi_build *b, int64_t value)
{
    for (; value < -0x40 || value > 0x3f; value >>= 7)
        cfi_put(b, ((uint64_t)value & 0x7f) | 0x80, 1);
    cfi_put(b, (uint64_t)value & 0x7f, 1);
}

void cfi_put_bytes(struct cfi_build *b, const void *bytes, size_t size)
{
    assert(b->section.bytes.size + size <= sizeof b->data);
    if (size != 0)
        memcpy(b->data + b->section.bytes.size, bytes, size);
    b->section.bytes.size += size;
}

static void begin(struct cfi_build *b)
{
    b->record = b->section.bytes.size;
    cfi_put(b, b->shape.wide ? UINT32_MAX : 0, 4);
    if (b->shape.wide)
        cfi_put(b, 0, 8);
    b->body = b->section.bytes.size;
}

static unsigned id_size(const struct cfi_build *b)
{
    return b->shape.debug_frame && b->shape.wide ? 8 : 4;
}

size_t cfi_begin_cie(struct cfi_build *b)
{
    begin(b);
    cfi_put(b, b->shape.debug_frame ? UINT64_MAX : 0, id_size(b));
    return b->record;
}

size_t cfi_begin_fde(struct cfi_build *b, size_t cie)
{
    begin(b);
    cfi_put(b, b->shape.debug_frame ? cie : b->body - cie, id_size(b));
    return b->record;
}

void cfi_end_record(struct cfi_build *b)
{
    cfi_patch(b, b->shape.wide ? b->record + 4 : b->record,
        b->section.bytes.size - b->body, b->shape.wide ? 8 : 4);
}

void cfi_put_cie_head(struct cfi_build *b, const char *augmentation)
{
    uint8_t address_size = b->shape.address_size;
    cfi_put(b, b->shape.version, 1);
    cfi_put_bytes(b, augmentation, strlen(augmentation) + 1);
    if (b->shape.version >= 4) {
        cfi_put(b, address_size, 1);
        cfi_put(b, 0, 1); /* segment selectors */
    }
    cfi_put_uleb(b, 1);
    cfi_put_sleb(b, -(int64_t)address_size);
    cfi_put(b, address_size == 4 ? 8 : 16, 1);
}

size_t cfi_put_cie(struct cfi_build *b, struct wndl_bytes program)
{
    size_t offset = cfi_begin_cie(b);
    cfi_put_cie_head(b, "");
    cfi_put_bytes(b, program.data, program.size);
    cfi_end_record(b);
    return offset;
}

size_t cfi_put_fde(struct cfi_build *b, size_t cie, uint64_t start,
    uint64_t range, struct wndl_bytes program)
{
    size_t offset = cfi_begin_fde(b, cie);
    cfi_put(b, start, b->shape.address_size);
    cfi_put(b, range, b->shape.address_size);
    cfi_put_bytes(b, program.data, program.size);
    cfi_end_record(b);
    return offset;
}
