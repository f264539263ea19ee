/* SPDX-License-Identifier: MIT */
/*
 * cfibuild: call frame sections assembled by hand, in every width and byte
 * order, for the tests of cfi. It knows the formats' fields, no defaults of
 * any producer, and lets a test write nonsense.
 */
#ifndef WNDL_CFIBUILD_H
#define WNDL_CFIBUILD_H

#include "cfi/cfi.h"

/* The shape of a section: what does not change the meaning of its records. */
struct cfi_shape {
    uint8_t address_size;
    bool big_endian;
    bool wide; /* 64-bit lengths */
    bool debug_frame;
    uint8_t version; /* of CIEs */
};

/* Invariant: section.bytes are the first section.bytes.size of `data`. */
struct cfi_build {
    struct cfi_shape shape;
    struct wndl_cfi_section section;
    size_t record; /* offset of the record that is open */
    size_t body;   /* offset of what its length counts */
    uint8_t data[4096];
};

/* The section will be at `addr`. */
void cfi_build_init(
    struct cfi_build *b, const struct cfi_shape *shape, uint64_t addr);

void cfi_put(struct cfi_build *b, uint64_t value, unsigned size);
void cfi_put_uleb(struct cfi_build *b, uint64_t value);
void cfi_put_sleb(struct cfi_build *b, int64_t value);
void cfi_put_bytes(struct cfi_build *b, const void *bytes, size_t size);

/* Overwrites `size` bytes at `offset`. */
void cfi_patch(
    struct cfi_build *b, size_t offset, uint64_t value, unsigned size);

/* A record's length and id; returns its offset. cie is for an FDE. */
size_t cfi_begin_cie(struct cfi_build *b);
size_t cfi_begin_fde(struct cfi_build *b, size_t cie);
void cfi_end_record(struct cfi_build *b);

/*
 * After cfi_begin_cie: version to return address register 16 (8 for 4-byte
 * addresses), code alignment 1, data alignment minus the address size.
 * Augmentation data, if any, comes after.
 */
void cfi_put_cie_head(struct cfi_build *b, const char *augmentation);

/* A whole CIE without augmentation; `program` is its instructions. */
size_t cfi_put_cie(struct cfi_build *b, struct wndl_bytes program);

/* A whole FDE with plain addresses, for a CIE without augmentation. */
size_t cfi_put_fde(struct cfi_build *b, size_t cie, uint64_t start,
    uint64_t range, struct wndl_bytes program);

#define CFI_BYTES(...)                                                         \
    ((struct wndl_bytes){(const uint8_t[]){__VA_ARGS__},                       \
        sizeof((const uint8_t[]){__VA_ARGS__})})

#endif
