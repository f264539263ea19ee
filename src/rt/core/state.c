/* SPDX-License-Identifier: MIT */
#include "rt/core/rt.h"

struct wndl_rt wndl_rt;
