/* SPDX-License-Identifier: MIT */
/* code_verdict: rules of call frame information, held against those of code. */
#ifndef WNDL_TESTS_CODE_VERDICT_H
#define WNDL_TESTS_CODE_VERDICT_H

#include "cfi_import/code/state.h"

/*
 * Whether a rule of call frame information holds in a state: of the CFA, the
 * return address, RBP and RBX. UNSAID: it does not say what became of a
 * register that the code has overwritten.
 */
enum wndl_code_verdict {
    WNDL_CODE_EQUAL,
    WNDL_CODE_UNSAID,
    WNDL_CODE_MISSING,
    WNDL_CODE_WRONG,
    WNDL_CODE_VERDICTS,
};
enum wndl_code_verdict wndl_code_judge(
    const struct wndl_code_state *state, const struct wndl_cfi_row *row);

#endif
