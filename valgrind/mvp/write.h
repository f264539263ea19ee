/* SPDX-License-Identifier: GPL-2.0-or-later */
/* write: the file of results, as docs/formats/mvp.md describes it. */
#ifndef MVP_WRITE_H
#define MVP_WRITE_H

#include "../common/results.h"
#include "mvp.h"

/* The results of this run. */
struct results write_results(void);

#endif
