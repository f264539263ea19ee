/* SPDX-License-Identifier: GPL-2.0-or-later */
/* instrument: what is added to the program's code. */
#ifndef MVP_INSTRUMENT_H
#define MVP_INSTRUMENT_H

#include "mvp.h"

#include "pub_tool_tooliface.h"

IRSB *instrument(VgCallbackClosure *closure, IRSB *in,
    const VexGuestLayout *layout, const VexGuestExtents *extents,
    const VexArchInfo *host, IRType guest_word, IRType host_word);

#endif
