/* SPDX-License-Identifier: MIT */
/*
 * jit: generated code that programs register for exceptions (libgcc's
 * functions; the parameters and their meaning are libgcc's) and for debuggers
 * (GDB's manual, "JIT Compilation Interface").
 *
 * The real functions are looked up at each call. They may be in a library on
 * which only the caller's library depends, and which may be unloaded.
 */
#include "os/dlfind.h"
#include "rt/core/real.h"
#include "rt/core/rt.h"
#include "rt/walk/jit_lists.h"
#include "rt/walk/jit_registry.h"

#include <dlfcn.h>

/* No header of libgcc declares them. */
void __register_frame(const void *begin);
void __register_frame_table(void *begin);
void __register_frame_info(const void *begin, void *object);
void __register_frame_info_table(void *begin, void *object);
void __register_frame_info_bases(
    const void *begin, void *object, void *text, void *data);
void __register_frame_info_table_bases(
    void *begin, void *object, void *text, void *data);
void __deregister_frame(void *begin);
void *__deregister_frame_info(const void *begin);
void *__deregister_frame_info_bases(const void *begin);
void __jit_debug_register_code(void);

/* Finds a function in the library of `caller` and those that it needs. */
static void *find_for(const void *caller, const char *name)
{
    struct wndl_dlmodule module;
    if (!wndl_dlfind((uintptr_t)caller, &module) || module.name[0] == '\0')
        return NULL;
    void *library = dlopen(module.name, RTLD_LAZY | RTLD_NOLOAD);
    if (library == NULL)
        return NULL;
    void *found = dlsym(library, name);
    (void)wndl_rt_real()->dlclose(library);
    return found;
}

/*
 * The caller of the outermost of our functions in this thread. libgcc's
 * functions call each other by name, or jump to each other: such calls are only
 * passed on.
 */
static __thread const void *asker;

static bool enter(const void *caller)
{
    if (asker != NULL)
        return false;
    asker = caller;
    return true;
}

static void leave(bool is_first)
{
    if (is_first)
        asker = NULL;
}

/* NULL if there is none. A caller that tests for the function finds ours. */
static void *find_real(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    return found != NULL ? found : find_for(asker, name);
}

static bool is_recorded(void)
{
    return wndl_rt.shm != NULL;
}

/* ---- for exceptions */

/* The bases of registered addresses. */
struct bases {
    uint64_t text, data;
};

static void add(const void *begin, uint64_t origin, struct bases bases)
{
    struct wndl_jit_source source = {
        .frame = {.bytes = {begin, 0},
            .addr = (uintptr_t)begin,
            .text_base = bases.text,
            .data_base = bases.data,
            .address_size = sizeof(void *)},
        .origin = origin,
    };
    if (is_recorded() &&
        wndl_jit_frames_size(begin, SIZE_MAX, &source.frame.bytes.size) &&
        source.frame.bytes.size != 0)
        wndl_rt_jit_add(&source);
}

static void add_table(void *const *begin, struct bases bases)
{
    for (void *const *at = begin; *at != NULL; at++)
        add(*at, (uintptr_t)begin, bases);
}

static struct bases bases_of(const void *text, const void *data)
{
    return (struct bases){(uintptr_t)text, (uintptr_t)data};
}

typedef void register_1(const void *);
typedef void register_2(const void *, void *);
typedef void register_4(const void *, void *, void *, void *);
typedef void *deregister(const void *);

#define CALLER __builtin_return_address(0)

WNDL_RT_HOOK void __register_frame(const void *begin)
{
    bool is_first = enter(CALLER);
    register_1 *real = find_real("__register_frame");
    if (real != NULL)
        real(begin);
    leave(is_first);
    if (is_first)
        add(begin, (uintptr_t)begin, (struct bases){0});
}

WNDL_RT_HOOK void __register_frame_table(void *begin)
{
    bool is_first = enter(CALLER);
    register_1 *real = find_real("__register_frame_table");
    if (real != NULL)
        real(begin);
    leave(is_first);
    if (is_first)
        add_table(begin, (struct bases){0});
}

WNDL_RT_HOOK void __register_frame_info(const void *begin, void *object)
{
    bool is_first = enter(CALLER);
    register_2 *real = find_real("__register_frame_info");
    if (real != NULL)
        real(begin, object);
    leave(is_first);
    if (is_first)
        add(begin, (uintptr_t)begin, (struct bases){0});
}

WNDL_RT_HOOK void __register_frame_info_table(void *begin, void *object)
{
    bool is_first = enter(CALLER);
    register_2 *real = find_real("__register_frame_info_table");
    if (real != NULL)
        real(begin, object);
    leave(is_first);
    if (is_first)
        add_table(begin, (struct bases){0});
}

WNDL_RT_HOOK void __register_frame_info_bases(
    const void *begin, void *object, void *text, void *data)
{
    bool is_first = enter(CALLER);
    register_4 *real = find_real("__register_frame_info_bases");
    if (real != NULL)
        real(begin, object, text, data);
    leave(is_first);
    if (is_first)
        add(begin, (uintptr_t)begin, bases_of(text, data));
}

WNDL_RT_HOOK void __register_frame_info_table_bases(
    void *begin, void *object, void *text, void *data)
{
    bool is_first = enter(CALLER);
    register_4 *real = find_real("__register_frame_info_table_bases");
    if (real != NULL)
        real(begin, object, text, data);
    leave(is_first);
    if (is_first)
        add_table(begin, bases_of(text, data));
}

/* Called before the real one, which may free the start of the list. */
WNDL_RT_HOOK void __deregister_frame(void *begin)
{
    bool is_first = enter(CALLER);
    register_1 *real = find_real("__deregister_frame");
    if (is_first)
        wndl_rt_jit_remove((uintptr_t)begin);
    if (real != NULL)
        real(begin);
    leave(is_first);
}

WNDL_RT_HOOK void *__deregister_frame_info(const void *begin)
{
    bool is_first = enter(CALLER);
    deregister *real = find_real("__deregister_frame_info");
    if (is_first)
        wndl_rt_jit_remove((uintptr_t)begin);
    void *object = real == NULL ? NULL : real(begin);
    leave(is_first);
    return object;
}

WNDL_RT_HOOK void *__deregister_frame_info_bases(const void *begin)
{
    bool is_first = enter(CALLER);
    deregister *real = find_real("__deregister_frame_info_bases");
    if (is_first)
        wndl_rt_jit_remove((uintptr_t)begin);
    void *object = real == NULL ? NULL : real(begin);
    leave(is_first);
    return object;
}

/* ---- for debuggers */

static void follow(const void *descriptor)
{
    enum wndl_jit_gdb what;
    struct wndl_jit_source source;
    if (wndl_jit_gdb_source(descriptor, &what, &source) != WNDL_OK)
        return;
    if (what == WNDL_JIT_GDB_REMOVE)
        wndl_rt_jit_remove(source.origin);
    else if (what == WNDL_JIT_GDB_ADD && is_recorded())
        wndl_rt_jit_add(&source);
}

/* Debuggers have their breakpoint in the real one. */
WNDL_RT_HOOK void __jit_debug_register_code(void)
{
    const char *name = "__jit_debug_descriptor";
    bool is_first = enter(CALLER);
    void (*real)(void) = find_real("__jit_debug_register_code");
    const void *descriptor = dlsym(RTLD_DEFAULT, name);
    if (descriptor == NULL)
        descriptor = find_for(asker, name);
    leave(is_first);
    if (descriptor != NULL) {
        wndl_rt_jit_lists_skip(descriptor);
        follow(descriptor);
    }
    if (real != NULL)
        real();
}
