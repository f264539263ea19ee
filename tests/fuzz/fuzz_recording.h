/* SPDX-License-Identifier: MIT */
/*
 * fuzz_recording: a recording of one process, this one, whose memory a fuzzer
 * fills; and the check that it can be read.
 */
#ifndef WNDL_FUZZ_RECORDING_H
#define WNDL_FUZZ_RECORDING_H

#include "collect/process/process.h"
#include "wndl/read.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The rest of the input, dealt out to the tables. */
struct dealer {
    const uint8_t *data;
    size_t size;
};

/* What is missing stays as it is. */
static inline void deal(struct dealer *d, void *to, size_t size)
{
    const size_t n = size < d->size ? size : d->size;
    if (n != 0)
        memcpy(to, d->data, n);
    d->data += n;
    d->size -= n;
}

struct fuzzed {
    int fd;
    struct wndl_recording recording;
    struct wndl_collector_totals totals;
    struct wndl_collector_process *process;
};

static inline void begin_recording(
    struct fuzzed *f, const struct wndl_collector_heap_request *heap)
{
    static char command[] = "fuzz";
    static char *list[] = {command, NULL};
    const struct wndl_recording_meta meta = {.command = list};
    const struct wndl_recording_process origin = {.pid = (uint32_t)getpid()};
    int memfd;
    *f = (struct fuzzed){.fd = memfd_create("fuzz", MFD_CLOEXEC)};
    wndl_recording_open(&f->recording, f->fd, &meta);
    f->process = wndl_collector_process_new(
        &f->recording, &f->totals, &origin, heap, &memfd);
    if (f->process == NULL)
        exit(1);
    wndl_collector_process_announce(f->process, &origin);
    close(memfd);
}

/* Ends the process and the recording, and reads what was written. */
static inline void end_recording(struct fuzzed *f, struct wndl_profile *profile)
{
    const struct wndl_recording_done done = {.processes = 1};
    wndl_collector_process_end(f->process, WNDL_ENDED_EXIT);
    wndl_collector_process_free(f->process);
    if (wndl_recording_close(&f->recording, &done, NULL) != WNDL_OK)
        abort();
    wndl_recording_free(&f->recording);
    const size_t size = (size_t)lseek(f->fd, 0, SEEK_END);
    void *bytes = mmap(NULL, size, PROT_READ, MAP_SHARED, f->fd, 0);
    if (bytes == MAP_FAILED || !wndl_profile_init(profile, wndl_mem_libc()))
        exit(1);
    const struct wndl_bytes file = {bytes, size};
    if (wndl_reader_read(profile, file, NULL) != WNDL_OK ||
        profile->chunks_damaged != 0)
        abort();
    munmap(bytes, size);
    close(f->fd);
}

#endif
