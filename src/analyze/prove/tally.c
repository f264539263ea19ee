/* SPDX-License-Identifier: MIT */
#include "analyze/prove/tally.h"

/* A note: source, verdict << 2, and two flags. */
enum { VERDICT_SHIFT = 2, IN_PLT = 0x40, IS_JUDGED = 0x80 };

uint8_t wndl_proof_note(
    enum wndl_proof_source source, enum wndl_proof_verdict verdict, bool in_plt)
{
    return (uint8_t)((unsigned)source | (unsigned)verdict << VERDICT_SHIFT |
                     (in_plt ? IN_PLT : 0u) | IS_JUDGED);
}

static void count(
    struct wndl_proof_tally *t, uint8_t note, enum wndl_proof_part part)
{
    if ((note & IS_JUDGED) == 0)
        return;
    if ((note & IN_PLT) != 0)
        part = WNDL_PROOF_PLT;
    t->counts[note & 3][part][note >> VERDICT_SHIFT & 3]++;
}

/* The part of an instruction that is not among the last ones. */
static enum wndl_proof_part part_of(uint64_t number)
{
    return number < WNDL_SHADOW_EDGE ? WNDL_PROOF_PROLOGUE : WNDL_PROOF_BODY;
}

void wndl_proof_take(
    struct wndl_proof_tally *t, struct wndl_shadow_frame *frame, uint8_t note)
{
    uint8_t *place = &frame->notes[frame->steps % WNDL_SHADOW_EDGE];
    if (frame->steps >= WNDL_SHADOW_EDGE)
        count(t, *place, part_of(frame->steps - WNDL_SHADOW_EDGE));
    *place = note;
    frame->steps++;
}

void wndl_proof_gone(
    void *tally, const struct wndl_shadow_frame *frame, bool returned)
{
    uint64_t number =
        frame->steps < WNDL_SHADOW_EDGE ? 0 : frame->steps - WNDL_SHADOW_EDGE;
    for (; number < frame->steps; number++) {
        enum wndl_proof_part part = part_of(number);
        if (returned && part == WNDL_PROOF_BODY)
            part = WNDL_PROOF_EPILOGUE;
        count(tally, frame->notes[number % WNDL_SHADOW_EDGE], part);
    }
}

uint64_t wndl_proof_count(const struct wndl_proof_tally *t,
    enum wndl_proof_source source, enum wndl_proof_part part,
    enum wndl_proof_verdict verdict)
{
    uint64_t sum = 0;
    for (unsigned s = 0; s < WNDL_PROOF_SOURCES; s++) {
        for (unsigned p = 0; p < WNDL_PROOF_PARTS; p++) {
            if ((source == WNDL_PROOF_SOURCES || s == source) &&
                (part == WNDL_PROOF_PARTS || p == part))
                sum += t->counts[s][p][verdict];
        }
    }
    return sum;
}
