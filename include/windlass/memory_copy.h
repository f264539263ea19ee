/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_copy.h: reporters in a copy of the process, below
 * windlass/memory.h. Include that one.
 *
 * There a crash, a hang or a lock that another thread held costs only the
 * report. The copy is none of the program's children: it ends without a signal,
 * and wait() does not see it.
 */
#ifndef WINDLASS_MEMORY_COPY_H
#define WINDLASS_MEMORY_COPY_H

#include <windlass/memory_self.h>
#include <windlass/memory_state.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Private: lets faults of the copy end it, whatever handlers the program has,
 * without a core file; and the end of the process, too.
 */
static inline void wndl_memory_be_copy(long parent)
{
    enum { DIE_WITH_PARENT = 1, DUMPABLE = 4, KILL = 9 };
    static const unsigned char faults[] = {4, 5, 6, 7, 8, 11, 31};
    uint64_t none[8] = {0, 0, 0, 0, 0, 0, 0, 0}; /* the default action */
    unsigned i;
    wndl_memlog_call(SYS_prctl, (long)DIE_WITH_PARENT, (long)KILL, 0L, 0L, 0L);
    if (wndl_memlog_call(SYS_getppid) != parent)
        wndl_memlog_call(SYS_exit_group, 0L); /* it has ended before that */
    wndl_memlog_call(SYS_prctl, (long)DUMPABLE, 0L, 0L, 0L, 0L);
    for (i = 0; i < sizeof faults; i++)
        wndl_memlog_call(
            SYS_rt_sigaction, (long)faults[i], none, (void *)0, 8L);
}

/* Private: the copy, with `list` held by the thread that was copied. */
static inline void wndl_memory_run_copy(
    struct wndl_memory_sink *sink, long parent)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    struct wndl_memory_state *state = &wndl_memory_state;
    wndl_memory_be_copy(parent);
    memcpy(&state->list, &fresh, sizeof fresh);
    memcpy(&state->run, &fresh, sizeof fresh);
    (void)pthread_mutex_trylock(&state->run); /* a run is on, as there */
    state->turn++;
    state->run_thread = wndl_memory_thread();
    wndl_memory_recording.table = NULL; /* another thread may hold its locks */
    wndl_memory_recording.is_known = 1;
    wndl_memory_run(sink, WNDL_MEMORY_ANY_THREAD);
    wndl_memory_run(sink, WNDL_MEMORY_POLLED);
    wndl_memory_close(sink);
    for (;;)
        wndl_memlog_call(SYS_exit_group, 0L);
}

/* Private: waits for the copy, and ends it if nobody waits for its answer. */
static inline void wndl_memory_await_copy(long copy, int fd)
{
    enum { KILL = 9, NO_HANG = 1 };
    const long clones = 0x80000000L; /* __WCLONE */
    int pause = 1;
    char byte;
    int status;
    while (wndl_memlog_call(
               SYS_wait4, copy, &status, clones | NO_HANG, (void *)0) == 0) {
        wndl_memory_wait(fd, pause);
        pause = pause < 16 ? pause * 2 : 16;
        if (recv(fd, &byte, 1, MSG_DONTWAIT) == 0)
            wndl_memlog_call(SYS_kill, copy, (long)KILL);
    }
}

/* Private: answers one who asks. */
static inline void wndl_memory_answer_in_copy(int fd, int is_first)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    struct wndl_memory_sink sink;
    const long self = wndl_memlog_call(SYS_getpid);
    long copy;
    wndl_memory_begin(&sink, fd, 1);
    if (is_first)
        wndl_memory_put_self(&sink);
    wndl_memory_flush(&sink);
    pthread_mutex_lock(&state->list);
    copy = wndl_memlog_call(SYS_clone, 0L, 0L, 0L, 0L, 0L);
    if (copy == 0)
        wndl_memory_run_copy(&sink, self);
    pthread_mutex_unlock(&state->list);
    if (copy > 0) {
        wndl_memory_await_copy(copy, fd);
        return;
    }
    wndl_memory_put_missing(&sink, "*", "the process could not be copied");
    wndl_memory_close(&sink);
}

#ifdef __cplusplus
}
#endif

#endif
