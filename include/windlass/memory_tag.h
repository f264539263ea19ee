/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_tag.h: whose blocks are those of code that is not ours.
 *
 * A driver, a script engine or a codec allocates where no reporter can
 * traverse. A tag says whose a block is: while it is open, all blocks that the
 * thread allocates belong to it, and so do those of threads that are created
 * meanwhile.
 *
 *     wndl_memory_tag("webgl/create-context");
 *     context = eglCreateContext(display, config, NULL, NULL);
 *     wndl_memory_untag();
 *     ...
 *     struct wndl_memory_tag_amount webgl;
 *     if (wndl_memory_tagged("webgl/create-context", &webgl))
 *         wndl_memory_yield_bytes(sink, "explicit/webgl/context",
 *             WNDL_MEMORY_HEAP, webgl.bytes, "Blocks of the driver.");
 *
 * In C++ `wndl_memory_tag_scope tag("webgl/create-context");` closes it at the
 * end of the block.
 *
 * The blocks are counted by libwindlass-tags, which is preloaded or linked, and
 * `windlass heap` records tags without it. Without either each function here is
 * a load and a branch, and nothing is linked. (A libc before glibc 2.34 needs
 * -ldl.)
 *
 * Tags nest: a block belongs to the innermost one. realloc() keeps the tag of
 * its block, and free() by any thread ends it. Any thread may call any of these
 * at any time, in a signal handler too if the handler closes what it opens.
 * errno is kept.
 */
#ifndef WINDLASS_MEMORY_TAG_H
#define WINDLASS_MEMORY_TAG_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The live blocks of a tag. */
struct wndl_memory_tag_amount {
    int64_t bytes; /* that can be used, as wndl_memory_size_of() says; 0 if
                    * the allocator does not tell sizes */
    int64_t blocks;
};

/* How the blocks of this process are tagged. */
enum wndl_memory_tagging {
    WNDL_MEMORY_TAGGING_NONE,     /* nothing is preloaded or linked */
    WNDL_MEMORY_TAGGING_COUNTED,  /* libwindlass-tags counts */
    WNDL_MEMORY_TAGGING_RECORDED, /* `windlass heap` alone records: there is
                                   * no wndl_memory_tagged() */
    WNDL_MEMORY_TAGGING_BYPASSED  /* another malloc comes before the
                                   * library's, which sees no blocks */
};

/* The counts of errors with tags so far. */
struct wndl_memory_tag_misses {
    uint64_t unopened; /* untags without a tag */
    uint64_t refused;  /* tags beyond 16,383 names, or without a name */
    uint64_t too_deep; /* tags beyond 256 open ones of a thread */
    uint64_t unmarked; /* blocks that have no tag for want of memory */
};

/* Private: what the library does when a thread's tag changes. */
struct wndl_memory_tag_follower {
    void (*set)(uint32_t tag);
    int (*tagged)(uint32_t tag, struct wndl_memory_tag_amount *amount);
    uint64_t (*unmarked)(void);
    int (*tagging)(void);
};

/*
 * Private: the functions of who tags, exported as "wndl_memory_tag_table". The
 * table only grows: `size` is that of the exported one.
 */
struct wndl_memory_tag_table {
    size_t size;
    uint32_t (*tag)(const char *name);
    void (*enter)(uint32_t tag);
    int (*untag)(void);
    uint32_t (*current)(void);
    int (*tagged)(const char *name, struct wndl_memory_tag_amount *amount);
    int (*tagging)(void);
    void (*misses)(struct wndl_memory_tag_misses *misses);
    void (*follow)(const struct wndl_memory_tag_follower *follower);
};

/* Private. Threads may race here: all of them find the same table. */
static inline const struct wndl_memory_tag_table *wndl_memory_tag_find(void)
{
    static const char unknown = 0;
    static const void *found = &unknown;
    const void *table = __atomic_load_n(&found, __ATOMIC_ACQUIRE);
    if (table == &unknown) {
        table = dlsym(NULL, "wndl_memory_tag_table");
        __atomic_store_n(&found, table, __ATOMIC_RELEASE);
    }
    return (const struct wndl_memory_tag_table *)table;
}

/*
 * Opens a tag on this thread.
 *
 * `name` is copied; 51 bytes are kept. It is made at its first use. A '/' in it
 * has no meaning here, but suits a path of windlass/memory.h.
 *
 * Returns its number, for wndl_memory_tag_enter(), or 0 if nothing tags here or
 * the tag is refused: the tag that is open stays the innermost then. Each call
 * is ended by one of wndl_memory_untag().
 */
static inline uint32_t wndl_memory_tag(const char *name)
{
    const struct wndl_memory_tag_table *table = wndl_memory_tag_find();
    return table == NULL ? 0 : table->tag(name);
}

/*
 * Ends this thread's innermost wndl_memory_tag() or wndl_memory_tag_enter().
 * Returns 1, or 0 if none was open.
 */
static inline int wndl_memory_untag(void)
{
    const struct wndl_memory_tag_table *table = wndl_memory_tag_find();
    return table == NULL ? 0 : table->untag();
}

/* The number of this thread's innermost tag; 0 if none is open. */
static inline uint32_t wndl_memory_tag_current(void)
{
    const struct wndl_memory_tag_table *table = wndl_memory_tag_find();
    return table == NULL ? 0 : table->current();
}

/*
 * Opens a tag on this thread by its number, as when a worker takes a task over:
 * wndl_memory_tag_current() where the task was made. 0 opens "no tag".
 */
static inline void wndl_memory_tag_enter(uint32_t tag)
{
    const struct wndl_memory_tag_table *table = wndl_memory_tag_find();
    if (table != NULL)
        table->enter(tag);
}

/*
 * The live blocks of a tag, of all threads.
 *
 * Returns 1 and fills *amount, or 0 and zeroes it if no blocks are counted
 * here. A tag that was never opened has no blocks. While other threads
 * allocate, the numbers may be those of slightly different moments.
 */
static inline int wndl_memory_tagged(
    const char *name, struct wndl_memory_tag_amount *amount)
{
    const struct wndl_memory_tag_table *table = wndl_memory_tag_find();
    amount->bytes = 0;
    amount->blocks = 0;
    return table == NULL ? 0 : table->tagged(name, amount);
}

/* How the blocks of this process are tagged. */
static inline enum wndl_memory_tagging wndl_memory_tagging(void)
{
    const struct wndl_memory_tag_table *table = wndl_memory_tag_find();
    return table == NULL ? WNDL_MEMORY_TAGGING_NONE
                         : (enum wndl_memory_tagging)table->tagging();
}

/* Fills *misses with the counts of errors, of all threads. */
static inline void wndl_memory_tag_missed(struct wndl_memory_tag_misses *misses)
{
    static const struct wndl_memory_tag_misses none = {0, 0, 0, 0};
    const struct wndl_memory_tag_table *table = wndl_memory_tag_find();
    *misses = none;
    if (table != NULL)
        table->misses(misses);
}

#ifdef __cplusplus
}

/* A tag that is open as long as this lives. */
class wndl_memory_tag_scope {
  public:
    explicit wndl_memory_tag_scope(const char *name)
    {
        wndl_memory_tag(name);
    }
    explicit wndl_memory_tag_scope(uint32_t tag)
    {
        wndl_memory_tag_enter(tag);
    }
    ~wndl_memory_tag_scope()
    {
        wndl_memory_untag();
    }

  private:
    wndl_memory_tag_scope(const wndl_memory_tag_scope &);
    wndl_memory_tag_scope &operator=(const wndl_memory_tag_scope &);
};
#endif

#endif
