/* SPDX-License-Identifier: MIT */
/*
 * named: a recipe's recording as a profile whose frames have the names that
 * the test gives them, instead of a binary's.
 */
#ifndef WNDL_TESTS_NAMED_H
#define WNDL_TESTS_NAMED_H

#include "model/symbolized.h"

struct named {
    struct wndl_profile profile;
    struct wndl_symbolized symbolized;
};

/*
 * `names` has a line for each address, in hexadecimal as in the recipe:
 *
 *   ADDRESS FUNCTION FILE LINE [FUNCTION FILE LINE]...
 *
 * innermost first, each inlined into the next. A frame whose address has no
 * line is unnamed, "module+0xADDRESS". Fails the test on trouble.
 */
void named_cook(struct named *n, const char *recipe, const char *names);
void named_free(struct named *n);

#endif
