/* SPDX-License-Identifier: MIT */
#include "model/remedy.h"

#include <string.h>

/* Runtimes, by how the names of their files start. */
static const struct {
    const char *file, *remedy;
} runtimes[] = {
    {"libjvm.so", "run java with -XX:+PreserveFramePointer"},
    {"libluajit", "run LuaJIT with -joff, or record with --unwind scan"},
    {"luajit", "run LuaJIT with -joff, or record with --unwind scan"},
    {"libpypy", "run PyPy with --jit off, or record with --unwind scan"},
    {"pypy", "run PyPy with --jit off, or record with --unwind scan"},
};

static const char *remedy_of_file(struct wndl_bytes name)
{
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        const size_t size = strlen(runtimes[i].file);
        if (name.size >= size && memcmp(name.data, runtimes[i].file, size) == 0)
            return runtimes[i].remedy;
    }
    return NULL;
}

static const char *remedy_of_runtime(const struct wndl_profile *p)
{
    const char *remedy = NULL;
    for (size_t i = 0; i < p->images.len && remedy == NULL; i++) {
        const struct wndl_image *image = wndl_vec_at(&p->images, i);
        remedy = remedy_of_file(wndl_path_name(image->path));
    }
    return remedy;
}

const char *wndl_remedy_of(
    const struct wndl_report *r, const struct wndl_lost_place *place)
{
    const struct wndl_symbolized *s = r->symbolized;
    const struct wndl_function *f = wndl_vec_at(&s->functions, place->function);
    const char *remedy = NULL;
    if (f->module >= s->profile->images.len) /* code in no file */
        remedy = remedy_of_runtime(s->profile);
    return remedy != NULL ? remedy
                          : "install the module's debug package, or record "
                            "with --unwind scan";
}
