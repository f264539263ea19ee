/* SPDX-License-Identifier: MIT */
/*
 * expr: evaluates the postfix expressions of Breakpad's STACK records
 * symbolically, and makes rules of call frame information of the results. It
 * must not know records, nor which words are registers.
 */
#ifndef WNDL_CFI_IMPORT_STACK_RECORD_EXPR_H
#define WNDL_CFI_IMPORT_STACK_RECORD_EXPR_H

#include "base/bytes.h"
#include "cfi/cfi.h"

enum {
    WNDL_STACK_RECORD_TERMS = 256, /* of one record */
    WNDL_STACK_RECORD_DEPTH = 32,
    /* bytes of a function's DWARF expressions */
    WNDL_STACK_RECORD_SPACE = 64 * 1024,
};

enum wndl_stack_record_kind {
    WNDL_STACK_RECORD_NONE, /* ".undef", or a failure */
    WNDL_STACK_RECORD_NUMBER,
    WNDL_STACK_RECORD_REGISTER,
    WNDL_STACK_RECORD_CFA,
    WNDL_STACK_RECORD_MEMORY, /* the word at `a` */
    WNDL_STACK_RECORD_RESULT, /* `op` applied to `a` and `b` */
};

/* A value plus `offset`. `a` and `b` are numbers of earlier terms. */
struct wndl_stack_record_term {
    uint8_t kind; /* enum wndl_stack_record_kind */
    uint8_t reg;  /* DWARF number */
    uint8_t op;   /* DW_OP_* */
    uint16_t a, b;
    int64_t offset;
};

/*
 * The terms of a record. Term 0 is NONE. `why` is NULL until the first failure,
 * then its reason, with `status`: MALFORMED, UNSUPPORTED or LIMIT.
 */
struct wndl_stack_record_terms {
    uint8_t word, sp; /* of the machine */
    struct wndl_stack_record_term list[WNDL_STACK_RECORD_TERMS];
    uint16_t count;
    enum wndl_status status;
    const char *why;
    /* memory of this function's rules */
    uint8_t space[WNDL_STACK_RECORD_SPACE];
    size_t used;
};

/* The operand stack. The last one is on top. */
struct wndl_stack_record_operands {
    uint16_t terms[WNDL_STACK_RECORD_DEPTH];
    unsigned depth;
};

/*
 * Start a record, and a function. A function's rules live until the next one's.
 */
void wndl_stack_record_begin(struct wndl_stack_record_terms *terms);
void wndl_stack_record_begin_function(struct wndl_stack_record_terms *terms);

void wndl_stack_record_fail(struct wndl_stack_record_terms *terms,
    enum wndl_status status, const char *why);

/* Adds a copy of `from`. Returns its number; 0 if it failed. */
uint16_t wndl_stack_record_add(struct wndl_stack_record_terms *terms,
    const struct wndl_stack_record_term *from);

/* Consumes a word and the blanks after it. False at the end. */
bool wndl_stack_record_word(struct wndl_bytes *text, struct wndl_bytes *word);

void wndl_stack_record_push(struct wndl_stack_record_terms *terms,
    struct wndl_stack_record_operands *stack, uint16_t term);
uint16_t wndl_stack_record_pop(struct wndl_stack_record_terms *terms,
    struct wndl_stack_record_operands *stack);

/* Executes an operator or a number. False if the word is neither. */
bool wndl_stack_record_run(struct wndl_stack_record_terms *terms,
    struct wndl_stack_record_operands *stack, struct wndl_bytes word);

/* Makes the rule of the CFA: a register and offset, or an expression. */
void wndl_stack_record_cfa_rule(struct wndl_stack_record_terms *terms,
    uint16_t term, struct wndl_cfi_rule *rule);

/*
 * Makes the rule of register `reg`. It uses the CFA if possible, which is the
 * value of `cfa`, if that is not 0.
 */
void wndl_stack_record_rule(struct wndl_stack_record_terms *terms,
    uint16_t term, uint16_t cfa, unsigned reg, struct wndl_cfi_rule *rule);

#endif
