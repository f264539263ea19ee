/* SPDX-License-Identifier: MIT */
/*
 * tally: how many instructions had a right rule, by the source of the rule and
 * by the part of a function. The prologue is the first eight instructions after
 * a call, the epilogue the last eight before the return, if they are not of the
 * prologue; the body is the rest.
 */
#ifndef WNDL_ANALYZE_PROVE_TALLY_H
#define WNDL_ANALYZE_PROVE_TALLY_H

#include "analyze/prove/shadow.h"

enum wndl_proof_source {
    WNDL_PROOF_EH_FRAME,
    WNDL_PROOF_DEBUG_FRAME,
    WNDL_PROOF_CODE,
    WNDL_PROOF_NO_RULE,
    WNDL_PROOF_SOURCES,
};

enum wndl_proof_part {
    WNDL_PROOF_PROLOGUE,
    WNDL_PROOF_BODY,
    WNDL_PROOF_EPILOGUE,
    WNDL_PROOF_PLT,
    WNDL_PROOF_PARTS,
};

enum wndl_proof_verdict {
    WNDL_PROOF_RIGHT,
    WNDL_PROOF_WRONG,     /* another caller, or its stack pointer is another */
    WNDL_PROOF_REGISTERS, /* the caller, but not its RBP or RBX */
    WNDL_PROOF_MISSING,   /* there is no rule */
    WNDL_PROOF_VERDICTS,
};

struct wndl_proof_tally {
    uint64_t counts[WNDL_PROOF_SOURCES][WNDL_PROOF_PARTS][WNDL_PROOF_VERDICTS];
};

/* A note on an instruction; 0 is that on one which is not judged. */
uint8_t wndl_proof_note(enum wndl_proof_source source,
    enum wndl_proof_verdict verdict, bool in_plt);

/* Notes the next instruction of a call's function. */
void wndl_proof_take(struct wndl_proof_tally *tally,
    struct wndl_shadow_frame *frame, uint8_t note);

/* Counts the notes that wait in a frame: `gone` of a shadow, for a tally. */
void wndl_proof_gone(
    void *tally, const struct wndl_shadow_frame *frame, bool returned);

/* A sum over all sources if `source` is SOURCES, and over all parts alike. */
uint64_t wndl_proof_count(const struct wndl_proof_tally *tally,
    enum wndl_proof_source source, enum wndl_proof_part part,
    enum wndl_proof_verdict verdict);

#endif
