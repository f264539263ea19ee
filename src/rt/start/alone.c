/* SPDX-License-Identifier: MIT */
#include "rt/start/alone.h"

#include "os/raw.h"
#include "rec/heap.h"
#include "rt/core/rt.h"
#include "rt/heap/heap.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* `version` is 0 while there is none. */
static struct wndl_go remembered;

void wndl_rt_alone_remember(const struct wndl_go *go)
{
    remembered = *go;
}

/* ---- the settings */

/* Opens a file beside the socket. Returns its descriptor, or -errno. */
static int open_beside(const char *name, int flags)
{
    char path[PATH_MAX];
    const size_t size = strlen(name) + 1;
    const char *session = wndl_rt.session;
    size_t folder = 0;
    for (size_t i = 0; session[i] != '\0'; i++) {
        if (session[i] == '/')
            folder = i + 1;
    }
    if (folder + size > sizeof path)
        return -ENAMETOOLONG;
    memcpy(path, session, folder);
    memcpy(path + folder, name, size);
    return (int)wndl_raw4(
        SYS_openat, AT_FDCWD, (long)path, flags | O_CLOEXEC, 0600);
}

static bool try_to_open(const char *name, int flags)
{
    const int file = open_beside(name, flags);
    if (file >= 0)
        wndl_raw_close(file);
    return file >= 0;
}

bool wndl_rt_alone_is_usual(void)
{
    return wndl_rt.may_begin_alone && try_to_open(WNDL_LATE_FILE, O_RDONLY);
}

void wndl_rt_alone_make_usual(void)
{
    if (wndl_rt.may_begin_alone)
        (void)try_to_open(WNDL_LATE_FILE, O_WRONLY | O_CREAT);
}

/* The file is closed again: few descriptors may be free. */
static bool read_settings(struct wndl_settings *settings)
{
    int file = open_beside(WNDL_SETTINGS_FILE, O_RDONLY);
    long size = -1;
    if (file >= 0) {
        size = wndl_raw_read(file, settings, sizeof *settings);
        wndl_raw_close(file);
    }
    if (size != (long)sizeof *settings) {
        memset(settings, 0, sizeof *settings);
        settings->go = remembered;
    }
    return settings->go.version == WNDL_SHM_VERSION;
}

/* Settles what the collector would find out about this process. */
static void adapt(struct wndl_go *go)
{
    struct rlimit64 limit = {.rlim_cur = RLIM64_INFINITY};
    if ((go->heap & WNDL_HEAP_ON) == 0)
        return;
    (void)wndl_raw4(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit);
    go->heap_sites =
        wndl_heap_sites_within(limit.rlim_cur, sizeof(void *) == 8);
    go->nodes = wndl_heap_nodes_beside(
        go->heap_sites, limit.rlim_cur != RLIM64_INFINITY);
}

/* ---- the block */

/* A file beyond the limit would raise SIGXFSZ. */
static bool may_be_so_large(size_t size)
{
    struct rlimit64 limit = {.rlim_cur = 0};
    return size <= LONG_MAX &&
           wndl_raw4(SYS_prlimit64, 0, RLIMIT_FSIZE, 0, (long)&limit) == 0 &&
           limit.rlim_cur >= size;
}

/* Returns the descriptor, or -errno. */
static int make_memory(size_t size)
{
    const long seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (!may_be_so_large(size))
        return -EFBIG;
    int memfd = (int)wndl_raw3(
        SYS_memfd_create, (long)"windlass", MFD_CLOEXEC | MFD_ALLOW_SEALING, 0);
    if (memfd < 0)
        return memfd;
    if (wndl_raw3(SYS_ftruncate, memfd, (long)size, 0) == 0 &&
        wndl_raw3(SYS_fcntl, memfd, F_ADD_SEALS, seals) == 0)
        return memfd;
    wndl_raw_close(memfd);
    return -ENOMEM;
}

/* The collector may not come to see which executable this is. */
static void prepare(struct wndl_shm *shm, const struct wndl_settings *settings)
{
    const struct wndl_go *go = &settings->go;
    shm->magic = WNDL_SHM_MAGIC;
    shm->version = WNDL_SHM_VERSION;
    atomic_store(&shm->paused, settings->paused != 0);
    memcpy(shm->tables, settings->tables, sizeof shm->tables);
    (void)wndl_stacktree_init(shm->tree, go->nodes);
    (void)wndl_raw4(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe",
        (long)shm->executable, sizeof shm->executable - 1);
    if ((go->heap & WNDL_HEAP_ON) == 0 ||
        wndl_rt_heap_shared_size(go) == wndl_shm_size(go->nodes))
        return;
    uint8_t *heap = (uint8_t *)shm + wndl_heap_offset(go->nodes);
    wndl_heap_begin(
        (void *)heap, go->heap_sites, go->heap, go->heap_sample_below);
}

/* Returns the descriptor, or -errno. */
static int make_block(const struct wndl_settings *settings)
{
    size_t size = wndl_rt_heap_shared_size(&settings->go);
    int memfd = make_memory(size);
    if (memfd < 0)
        return memfd;
    struct wndl_shm *shm =
        wndl_raw_map(size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd);
    if (shm == NULL) {
        wndl_raw_close(memfd);
        return -ENOMEM;
    }
    prepare(shm, settings);
    wndl_raw_unmap(shm, size);
    return memfd;
}

int wndl_rt_alone_make(struct wndl_go *go)
{
    struct wndl_settings settings;
    if (!wndl_rt.may_begin_alone || !read_settings(&settings))
        return -ENOENT;
    adapt(&settings.go);
    *go = settings.go;
    return make_block(&settings);
}
