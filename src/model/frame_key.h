/* SPDX-License-Identifier: MIT */
/* frame_key: what a frame says without names. */
#ifndef WNDL_MODEL_FRAME_KEY_H
#define WNDL_MODEL_FRAME_KEY_H

#include "model/profile.h"

/* The byte of code that was running: a return address is one past its call. */
static inline uint64_t wndl_frame_key_byte(const struct wndl_frame_key *key)
{
    return key->exact != WNDL_EXACT_NOT || key->address == 0 ? key->address
                                                             : key->address - 1;
}

#endif
