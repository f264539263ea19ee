/* SPDX-License-Identifier: MIT */
#include "walk_fixture.h"

struct oracle oracle;
struct oracle_walk walked;

void prepare(struct oracle_walk *w, size_t room)
{
    w->walk = (struct wndl_walk){.frames = w->frames, .max_frames = room};
}

int set_up(void **state)
{
    (void)state;
    oracle_init(&oracle);
    return 0;
}

int tear_down(void **state)
{
    (void)state;
    oracle_free(&oracle);
    return 0;
}
