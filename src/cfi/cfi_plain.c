/* SPDX-License-Identifier: MIT */
#include "cfi/cfi_plain.h"

#include "cfi/cfi_ops.h"
#include "cfi/encoded.h"

#include <stddef.h>

enum {
    REMEMBERED = 8,
    USUAL = EH_PE_PCREL | EH_PE_SDATA4,
    LONGEST_ADVANCE = UINT16_MAX,
};

/* An FDE up to its augmentation data. */
struct fde_head {
    uint32_t length; /* of all after it */
    uint32_t cie;    /* distance back from here */
    int32_t start;   /* relative to here */
    int32_t range;
    uint8_t augmentation;
} __attribute__((packed, may_alias));

/* A CIE up to the first letter of the augmentation. */
struct cie_head {
    uint32_t length, id;
    uint8_t version, z;
} __attribute__((packed, may_alias));

/* Invariant: next <= end. */
struct span {
    const uint8_t *next, *end;
};

/* NULL if there are fewer bytes. */
static inline const uint8_t *take(struct span *s, size_t size)
{
    const uint8_t *taken = s->next;
    if (size > (size_t)(s->end - taken))
        return NULL;
    s->next += size;
    return taken;
}

/*
 * The first `size` bytes of the record, and the bytes after them. NULL if the
 * record is shorter, or exceeds its section.
 */
static inline const void *record_at(const struct wndl_cfi_section *frame,
    uint64_t offset, size_t size, struct span *rest)
{
    const uint8_t *head = wndl_bytes_slice(frame->bytes, offset, size).data;
    uint32_t length;
    if (head == NULL)
        return NULL;
    __builtin_memcpy(&length, head, sizeof length);
    if (length == UINT32_MAX || length < size - sizeof length ||
        length > frame->bytes.size - offset - sizeof length)
        return NULL;
    *rest = (struct span){head + size, head + sizeof length + length};
    return head;
}

/* Whether an FDE's addresses are pcrel|sdata4, and nothing else is given. */
static bool is_usual(struct span letters, struct span data)
{
    bool usual = false;
    while (letters.next < letters.end) {
        const uint8_t letter = *letters.next++;
        const uint8_t *at = take(&data, letter == 'P' ? 5 : 1);
        if (at == NULL)
            return false;
        if (letter == 'R')
            usual = *at == USUAL;
        else if (letter == 'P' && ((*at & 7) != EH_PE_UDATA4 ||
                                      (*at & EH_PE_RELATIVE) == EH_PE_ALIGNED))
            return false;
        else if (letter != 'L' && letter != 'P')
            return false;
    }
    return usual;
}

static inline bool read_cie(const struct wndl_cfi_section *frame,
    const struct wndl_cfi_abi *abi, uint64_t offset, struct span *program)
{
    const struct cie_head *head =
        record_at(frame, offset, sizeof *head, program);
    if (head == NULL || head->id != 0 || head->version != 1 || head->z != 'z')
        return false;
    struct span letters = *program;
    while (program->next < program->end && *program->next != '\0')
        program->next++;
    letters.end = program->next;
    /* NUL, code alignment, data alignment, return address, size of data */
    const uint8_t *fields = take(program, 5);
    if (fields == NULL || fields[1] != 1 || fields[2] != 0x80 - abi->word ||
        fields[3] != abi->ra || fields[4] >= 0x80)
        return false;
    struct span data = *program;
    if (take(program, fields[4]) == NULL)
        return false;
    data.end = program->next;
    return is_usual(letters, data);
}

/* Reads a LEB128 of one or two bytes. */
static inline bool read_short(struct span *s, uint32_t *value)
{
    if (s->next == s->end)
        return false;
    *value = *s->next++;
    if (*value < 0x80)
        return true;
    if (s->next == s->end || *s->next >= 0x80)
        return false;
    *value = (*value & 0x7f) | (uint32_t)*s->next++ << 7;
    return true;
}

/*
 * Runs the initial instructions: the place of the CFA and the return address.
 */
static inline bool run_initial(
    const struct wndl_cfi_abi *abi, struct span s, struct wndl_cfi_plain *row)
{
    bool has_cfa = false, has_ra = false;
    while (s.next < s.end) {
        const unsigned op = *s.next++;
        uint32_t words = 0;
        if (op == CFA_NOP)
            continue;
        if (op == CFA_DEF_CFA)
            has_cfa = read_short(&s, &row->cfa_reg) &&
                      read_short(&s, &row->cfa_offset) &&
                      row->cfa_reg < WNDL_CFI_X86_REGS;
        else if (op == (unsigned)CFA_OFFSET + abi->ra)
            has_ra = read_short(&s, &words) && words == 1;
        else
            return false;
    }
    return has_cfa && has_ra;
}

static inline bool change_cfa(
    unsigned op, struct span *s, struct wndl_cfi_plain *row)
{
    uint32_t operand = 0;
    if (!read_short(s, &operand))
        return false;
    switch (op) {
    case CFA_DEF_CFA_OFFSET:
        row->cfa_offset = operand;
        return true;
    case CFA_DEF_CFA:
        if (!read_short(s, &row->cfa_offset))
            return false;
        row->cfa_reg = operand;
        return operand < WNDL_CFI_X86_REGS;
    case CFA_DEF_CFA_REGISTER:
        row->cfa_reg = operand;
        return operand < WNDL_CFI_X86_REGS;
    default:
        return op == CFA_GNU_ARGS_SIZE;
    }
}

/* Handles a register that is saved, or restored to its initial rule. */
static inline bool change_register(const struct wndl_cfi_abi *abi, unsigned op,
    struct span *s, struct wndl_cfi_plain *row)
{
    const unsigned reg = op & CFA_LOW;
    uint32_t words = 0;
    if (op < CFA_RESTORE && !read_short(s, &words))
        return false;
    if (reg != abi->fp)
        return reg != abi->ra && reg != abi->sp;
    row->fp_words = words;
    return op >= CFA_RESTORE || (words >= 2 && words < 128);
}

/* The states that remember_state has saved. */
struct states {
    unsigned depth;
    struct wndl_cfi_plain rows[REMEMBERED];
};

static inline bool change_state(
    struct states *states, unsigned op, struct wndl_cfi_plain *row)
{
    if (op == CFA_REMEMBER_STATE && states->depth < REMEMBERED)
        states->rows[states->depth++] = *row;
    else if (op == CFA_RESTORE_STATE && states->depth > 0)
        *row = states->rows[--states->depth];
    else
        return op == CFA_NOP;
    return true;
}

static inline bool read_distance(
    struct span *s, unsigned op, uint32_t *distance)
{
    const uint8_t *at = take(s, op == CFA_ADVANCE_LOC1 ? 1 : 2);
    if (at == NULL)
        return false;
    *distance = op == CFA_ADVANCE_LOC1 ? at[0] : at[0] | (uint32_t)at[1] << 8;
    return true;
}

/* Runs the FDE's instructions, up to the row `left` bytes from here. */
static __attribute__((noinline)) bool run(const struct wndl_cfi_abi *abi,
    struct span s, uint32_t left, struct wndl_cfi_plain *row)
{
    struct wndl_cfi_plain now = *row;
    struct states states = {.depth = 0};
    while (s.next < s.end) {
        const unsigned op = *s.next++;
        uint32_t distance = 0;
        if (op - CFA_ADVANCE_LOC <= CFA_LOW) {
            distance = op & CFA_LOW;
        } else if (op >= CFA_OFFSET) {
            if (!change_register(abi, op, &s, &now))
                return false;
        } else if (op > CFA_RESTORE_STATE) {
            if (!change_cfa(op, &s, &now))
                return false;
        } else if (op == CFA_ADVANCE_LOC1 || op == CFA_ADVANCE_LOC2) {
            if (!read_distance(&s, op, &distance))
                return false;
        } else if (!change_state(&states, op, &now)) {
            return false;
        }
        if (distance > left)
            break;
        left -= distance;
    }
    *row = now;
    return true;
}

bool wndl_cfi_plain_at(const struct wndl_cfi_section *frame,
    const struct wndl_cfi_abi *abi, uint64_t offset, uint64_t pc,
    struct wndl_cfi_plain *row)
{
    struct span program, initial;
    const struct fde_head *fde =
        record_at(frame, offset, sizeof *fde, &program);
    if (fde == NULL || fde->cie == 0 || fde->augmentation >= 0x80 ||
        take(&program, fde->augmentation) == NULL)
        return false;
    const uint64_t last = wndl_cfi_address(frame, UINT64_MAX);
    const uint64_t at = offset + offsetof(struct fde_head, start);
    const uint64_t start = (frame->addr + at + (uint64_t)fde->start) & last;
    if (fde->range < 0 || pc - start >= (uint32_t)fde->range ||
        last - start < (uint64_t)fde->range + LONGEST_ADVANCE)
        return false;
    const uint64_t cie = offset + offsetof(struct fde_head, cie) - fde->cie;
    *row = (struct wndl_cfi_plain){0};
    return read_cie(frame, abi, cie, &initial) &&
           run_initial(abi, initial, row) &&
           run(abi, program, (uint32_t)(pc - start), row);
}
