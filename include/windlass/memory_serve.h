/* SPDX-License-Identifier: MIT */
/*
 * windlass/memory_serve.h: how `windlass memory` asks a process, below
 * windlass/memory.h. Include that one.
 *
 * A thread waits at a socket of the abstract name "windlass-memory.PID.N", with
 * the first N from 0 to 7 that is free: each state of the process has its own.
 * It answers the user of the process, and root. A name that is no file needs no
 * folder, is there in another root directory and in a read-only one, and goes
 * with the process, however that ends. The thread sleeps until somebody asks;
 * it blocks all signals that are not about itself, and its descriptor is above
 * those that programs count on. It does not exist in a child after fork(),
 * which may be about to become another program.
 */
#ifndef WINDLASS_MEMORY_SERVE_H
#define WINDLASS_MEMORY_SERVE_H

#include <sys/time.h>
#include <sys/un.h>
#include <windlass/memory_copy.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { WNDL_MEMORY_NAMES = 8, WNDL_MEMORY_STACK_SIZE = 512 * 1024 };

/* Private: wishes of one who asks. */
enum {
    WNDL_MEMORY_BUILT_IN = 1,
    WNDL_MEMORY_IN_COPY = 2,
    WNDL_MEMORY_MARKED = 4, /* in a run of the recorder */
    WNDL_MEMORY_NEW_RUN = 8 /* which begins with this state */
};

/* Private: of glibc; a library with such a function stays loaded. */
extern int wndl_memory_at_thread_exit(void (*run)(void *), void *data,
    const void *object) __asm__("__cxa_thread_atexit_impl")
    __attribute__((weak));
/* Private: declared whatever standard the program is compiled for. */
extern int wndl_memory_accept(int fd, struct sockaddr *address, socklen_t *size,
    int flags) __asm__("accept4");

/* ---- a run */

/* Private: lets the program's polls run the rest, until `end`. */
static inline void wndl_memory_await_polls(
    struct wndl_memory_sink *sink, uint64_t end)
{
    static const char why[] = "the program did not call wndl_memory_poll()";
    struct wndl_memory_state *state = &wndl_memory_state;
    uint32_t asked = WNDL_MEMORY_ASKED;
    int pause = 1;
    if (wndl_memory_list_polled(sink, NULL) == 0)
        return;
    wndl_memory_flush(sink);
    state->sink = sink;
    __atomic_store_n(&state->wanted, WNDL_MEMORY_ASKED, __ATOMIC_RELEASE);
    while (__atomic_load_n(&state->wanted, __ATOMIC_ACQUIRE) == asked &&
           wndl_memory_is_before(end)) {
        wndl_memory_wait(-1, pause);
        pause = pause < 16 ? pause * 2 : 16;
    }
    if (__atomic_compare_exchange_n(&state->wanted, &asked, WNDL_MEMORY_NOBODY,
            0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        wndl_memory_list_polled(sink, why);
        return;
    }
    while (
        __atomic_load_n(&state->wanted, __ATOMIC_ACQUIRE) != WNDL_MEMORY_NOBODY)
        wndl_memory_wait(-1, 10); /* they run */
}

/* Private: a whole run for one who asks. */
static inline void wndl_memory_answer(int fd, uint64_t wishes, uint64_t ms)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    const struct wndl_heap_table *recorder =
        (wishes & WNDL_MEMORY_MARKED) != 0 ? wndl_memory_recorder() : NULL;
    const uint64_t end = wndl_memory_after(ms);
    struct wndl_memory_sink sink;
    pthread_mutex_lock(&state->run);
    wndl_memory_begin_turn();
    wndl_memory_begin(&sink, fd, 1);
    if ((wishes & WNDL_MEMORY_BUILT_IN) != 0)
        wndl_memory_put_self(&sink);
    sink.recorder = recorder;
    if (recorder != NULL)
        recorder->begin_reports((wishes & WNDL_MEMORY_NEW_RUN) != 0);
    wndl_memory_run(&sink, WNDL_MEMORY_ANY_THREAD);
    wndl_memory_await_polls(&sink, end);
    if (recorder != NULL)
        recorder->end_reports();
    wndl_memory_end(&sink);
    wndl_memory_end_turn();
    pthread_mutex_unlock(&state->run);
}

static inline void wndl_memory_poll_now(void);

/* Private: windlass/memory.h has its contract. */
static inline int wndl_memory_write_all(int fd)
{
    enum { PATIENCE = 10000 }; /* ms */
    struct wndl_memory_state *state = &wndl_memory_state;
    const int kept = errno;
    struct wndl_memory_sink sink;
    const uint64_t end = wndl_memory_after(PATIENCE);
    while (pthread_mutex_trylock(&state->run) != 0) {
        if (__atomic_load_n(&state->run_thread, __ATOMIC_RELAXED) ==
                wndl_memory_thread() ||
            (__atomic_load_n(&state->running, __ATOMIC_RELAXED) != NULL &&
                __atomic_load_n(&state->running_thread, __ATOMIC_RELAXED) ==
                    wndl_memory_thread()))
            return EDEADLK;
        if (!wndl_memory_is_before(end))
            return EBUSY;
        wndl_memory_poll_now(); /* who holds it may wait for that */
        wndl_memory_wait(-1, 1);
    }
    wndl_memory_begin_turn();
    wndl_memory_begin(&sink, fd, 0);
    wndl_memory_put_self(&sink);
    wndl_memory_run(&sink, WNDL_MEMORY_ANY_THREAD);
    wndl_memory_run(&sink, WNDL_MEMORY_POLLED);
    wndl_memory_end(&sink);
    wndl_memory_end_turn();
    pthread_mutex_unlock(&state->run);
    errno = kept;
    return sink.error;
}

/* ---- the socket */

/* Private: a descriptor above those that programs count on, if there is one. */
static inline int wndl_memory_move_up(int fd)
{
    enum { DUPLICATE = 1030, FIRST = 300 }; /* F_DUPFD_CLOEXEC */
    const long moved = fd < 0 ? -1
                              : wndl_memlog_call(SYS_fcntl, (long)fd,
                                    (long)DUPLICATE, (long)FIRST);
    if (moved < 0)
        return fd;
    wndl_memlog_call(SYS_close, (long)fd);
    return (int)moved;
}

/* Private: the inode of a descriptor, by which we know ours; 0: none. */
static inline uint64_t wndl_memory_number(int fd)
{
    struct stat st;
    return fd < 0 || fstat(fd, &st) != 0 ? 0 : (uint64_t)st.st_ino;
}

/* Private: the i-th name of this process. Returns the size of the address. */
static inline socklen_t wndl_memory_name(struct sockaddr_un *address, int i)
{
    const char *end = address->sun_path + sizeof address->sun_path;
    char *to = address->sun_path + 1;
    memset(address, 0, sizeof *address);
    address->sun_family = AF_UNIX;
    to = wndl_memlog_add_text(to, end, "windlass-memory.");
    to = wndl_memlog_add_number(
        to, end, (uint64_t)wndl_memlog_call(SYS_getpid), 10);
    to = wndl_memlog_add_text(to, end, ".");
    to = wndl_memlog_add_number(to, end, (uint64_t)i, 10);
    return (socklen_t)(to - (char *)address);
}

/* Private: listens at a free name; false if there is none. */
static inline int wndl_memory_listen(struct wndl_memory_state *state)
{
    struct sockaddr_un address;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int i;
    int is_bound = 0;
    fd = wndl_memory_move_up(fd);
    for (i = 0; fd >= 0 && i < WNDL_MEMORY_NAMES && !is_bound; i++) {
        const socklen_t size = wndl_memory_name(&address, i);
        is_bound = bind(fd, (const struct sockaddr *)(const void *)&address,
                       size) == 0;
    }
    if (fd >= 0 && (!is_bound || listen(fd, 4) != 0)) {
        wndl_memlog_call(SYS_close, (long)fd);
        fd = -1;
    }
    state->listener = fd;
    state->listener_number = wndl_memory_number(fd);
    return fd >= 0;
}

/* Private: whether the peer is the user of this process, or root. */
static inline int wndl_memory_is_friend(int fd)
{
    enum { PEER_CREDENTIALS = 17 };
    struct {
        int32_t process;
        uint32_t user;
        uint32_t group;
    } peer = {0, 0, 0};
    socklen_t size = sizeof peer;
    return getsockopt(fd, SOL_SOCKET, PEER_CREDENTIALS, &peer, &size) == 0 &&
           (peer.user == 0 ||
               peer.user == (uint32_t)wndl_memlog_call(SYS_geteuid));
}

/* Private: reads "windlass-memory 1 WISHES MS\n", for at most a second. */
static inline int wndl_memory_read_question(
    int fd, uint64_t *wishes, uint64_t *ms)
{
    static const char head[] = "windlass-memory 1 ";
    const size_t head_size = sizeof head - 1;
    char text[64];
    const char *at;
    size_t size = 0;
    unsigned tries = 0;
    while (size < sizeof text - 1 && memchr(text, '\n', size) == NULL &&
           tries++ < 10) {
        ssize_t got;
        wndl_memory_wait(fd, 100);
        got = recv(fd, text + size, sizeof text - 1 - size, MSG_DONTWAIT);
        if (got == 0)
            return 0;
        size += got < 0 ? 0 : (size_t)got;
    }
    text[size] = '\0';
    if (strncmp(text, head, head_size) != 0)
        return 0;
    at = wndl_memory_parse(text + head_size, 10, wishes);
    at = wndl_memory_parse(*at == ' ' ? at + 1 : at, 10, ms);
    *ms = *ms > 3600000 ? 3600000 : *ms;
    return *at == '\n';
}

/* Private: answers one who has come. */
static inline void wndl_memory_receive(int fd)
{
    struct timeval longest; /* for one who does not read */
    uint64_t wishes = 0;
    uint64_t ms = 0;
    longest.tv_sec = 5;
    longest.tv_usec = 0;
    (void)setsockopt(
        fd, SOL_SOCKET, SO_SNDTIMEO, &longest, (socklen_t)sizeof longest);
    if (!wndl_memory_is_friend(fd) ||
        !wndl_memory_read_question(fd, &wishes, &ms))
        wishes = 0; /* nothing is answered */
    else if ((wishes & WNDL_MEMORY_IN_COPY) != 0)
        wndl_memory_answer_in_copy(fd, (wishes & WNDL_MEMORY_BUILT_IN) != 0);
    else
        wndl_memory_answer(fd, wishes, ms);
    (void)shutdown(fd, SHUT_RDWR); /* a child that was forked has it, too */
    wndl_memlog_call(SYS_close, (long)fd);
}

/* Private. */
static inline void wndl_memory_do_nothing(void *unused)
{
    (void)unused;
}

/* Private: the library that this is in stays while the calling thread runs. */
static inline void wndl_memory_stay(void)
{
#if defined(__PIC__) && !defined(__PIE__)
    if (wndl_memory_at_thread_exit != NULL)
        wndl_memory_at_thread_exit(
            wndl_memory_do_nothing, NULL, (const void *)&wndl_memory_object);
#endif
}

/*
 * Private: the thread. A program that closes all descriptors closes ours too,
 * and may have another at its number then.
 */
static inline void *wndl_memory_thread_main(void *unused)
{
    enum { SET_NAME = 15 };
    struct wndl_memory_state *state = &wndl_memory_state;
    wndl_memory_stay();
    wndl_memlog_call(SYS_prctl, (long)SET_NAME, "wndl-memory", 0L, 0L, 0L);
    for (;;) {
        int fd;
        if (wndl_memory_number(state->listener) != state->listener_number &&
            !wndl_memory_listen(state))
            break;
        fd = wndl_memory_move_up(
            wndl_memory_accept(state->listener, NULL, NULL, SOCK_CLOEXEC));
        if (fd >= 0)
            wndl_memory_receive(fd);
        else if (errno != EINTR && errno != ECONNABORTED)
            wndl_memory_wait(-1, 100);
    }
    return unused;
}

/* ---- starting it */

/* Private: blocks signals but those of a thread's own faults and of the libc.
 */
static inline void wndl_memory_mask(uint64_t *old)
{
    enum { SET_MASK = 2 };
    uint64_t mask = ~UINT64_C(0);
    static const unsigned char open[] = {4, 5, 6, 7, 8, 11, 31, 32, 33};
    unsigned i;
    for (i = 0; i < sizeof open; i++)
        mask &= ~(UINT64_C(1) << (open[i] - 1));
#ifndef __GLIBC__
    mask &= ~(UINT64_C(1) << 33); /* musl's, for setuid() of all threads */
#endif
    wndl_memlog_call(SYS_rt_sigprocmask, (long)SET_MASK, &mask, old, 8L);
}

/* Private. */
static inline int wndl_memory_make_thread(void)
{
    enum { SET_MASK = 2 };
    pthread_attr_t attributes;
    pthread_t thread;
    uint64_t old = 0;
    int is_made;
    if (pthread_attr_init(&attributes) != 0)
        return 0;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, WNDL_MEMORY_STACK_SIZE);
    wndl_memory_mask(&old);
    is_made = pthread_create(
                  &thread, &attributes, wndl_memory_thread_main, NULL) == 0;
    wndl_memlog_call(SYS_rt_sigprocmask, (long)SET_MASK, &old, (void *)0, 8L);
    pthread_attr_destroy(&attributes);
    return is_made;
}

/*
 * Private: the child has neither the thread nor a run. No lock is taken for
 * fork(), which would invert the order of the program's own: the list is valid
 * after each store.
 */
static inline void wndl_memory_in_child(void)
{
    static const pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
    struct wndl_memory_state *state = &wndl_memory_state;
    if (wndl_memory_number(state->listener) == state->listener_number &&
        state->listener_number != 0)
        wndl_memlog_call(SYS_close, (long)state->listener);
    state->listener = -1;
    state->listener_number = 0;
    state->running = NULL;
    state->run_thread = 0;
    state->served = 0;
    state->wanted = WNDL_MEMORY_FORKED;
    memcpy(&state->run, &fresh, sizeof fresh);
    memcpy(&state->list, &fresh, sizeof fresh);
}

/* ---- the last run of the recorder */

/* Private: whether all reporters may run while the process ends. */
static inline int wndl_memory_may_run_last(void)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    const struct wndl_memory_reporter *at;
    int may;
    pthread_mutex_lock(&state->list);
    may = state->first != NULL && state->served == 1 &&
          state->run_thread != wndl_memory_thread();
    for (at = state->first; at != NULL; at = at->linked.next)
        may = may && at->where == WNDL_MEMORY_ANY_THREAD;
    pthread_mutex_unlock(&state->list);
    return may;
}

/* Private: whether the i-th state ran its reporters, or was not in time. */
static inline int wndl_memory_ask_self(int i, int is_new, uint64_t end)
{
    struct sockaddr_un address;
    const socklen_t size = wndl_memory_name(&address, i);
    const int fd =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const char *question =
        is_new ? "windlass-memory 1 12 0\n" : "windlass-memory 1 4 0\n";
    const size_t length = strlen(question);
    char answer[4096];
    int is_asked = fd >= 0 &&
                   connect(fd, (const struct sockaddr *)(const void *)&address,
                       size) == 0 &&
                   send(fd, question, length, MSG_NOSIGNAL) == (ssize_t)length;
    while (is_asked && wndl_memory_is_before(end)) {
        wndl_memory_wait(fd, 10);
        if (recv(fd, answer, sizeof answer, MSG_DONTWAIT) == 0)
            break;
    }
    if (fd >= 0)
        wndl_memlog_call(SYS_close, (long)fd);
    return is_asked;
}

/*
 * Private: runs the reporters for the recorder's last snapshot, before objects
 * that they need are destroyed. They run on the header's thread, because this
 * one may hold a lock.
 */
static inline void wndl_memory_run_last(void)
{
    enum { LONGEST = 2000 }; /* ms */
    const uint64_t end = wndl_memory_after(LONGEST);
    int is_new = 1;
    int i;
    if (!wndl_memory_may_run_last())
        return;
    for (i = 0; i < WNDL_MEMORY_NAMES; i++)
        if (wndl_memory_ask_self(i, is_new, end))
            is_new = 0;
}

/* Private: with `list` held. */
static inline void wndl_memory_watch_end(void)
{
    const struct wndl_heap_table *recorder = wndl_memory_recorder();
    if (recorder == NULL || wndl_memory_recording.is_watched ||
        !recorder->is_dark())
        return;
    wndl_memory_recording.is_watched = atexit(wndl_memory_run_last) == 0;
}

/* Private: starts the thread, with `list` held. */
static inline void wndl_memory_start_thread(struct wndl_memory_state *state)
{
    const char *wish = getenv("WINDLASS_MEMORY");
    state->served = 2;
    if (wish != NULL && strcmp(wish, "off") == 0)
        return;
    if (!state->is_watched) {
        if (pthread_atfork(NULL, NULL, wndl_memory_in_child) != 0)
            return;
        state->is_watched = 1;
    }
    if (!wndl_memory_listen(state))
        return;
    if (wndl_memory_make_thread()) {
        state->served = 1;
        return;
    }
    wndl_memlog_call(SYS_close, (long)state->listener);
}

/* Private: serves this process, if that can be; 1 if it is so. */
static inline int wndl_memory_serve(void)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    const int kept = errno;
    int is_served;
    /* Until the thread has said so itself. The loader's lock comes first. */
    if (__atomic_load_n(&state->served, __ATOMIC_RELAXED) == 0)
        wndl_memory_stay();
    pthread_mutex_lock(&state->list);
    if (__atomic_load_n(&state->wanted, __ATOMIC_RELAXED) == WNDL_MEMORY_FORKED)
        __atomic_store_n(&state->wanted, WNDL_MEMORY_NOBODY, __ATOMIC_RELAXED);
    if (state->served == 0)
        wndl_memory_start_thread(state);
    wndl_memory_watch_end();
    is_served = state->served == 1;
    pthread_mutex_unlock(&state->list);
    errno = kept;
    return is_served;
}

/* Private: somebody asks for what runs only here, or this is a child. */
static inline void wndl_memory_poll_now(void)
{
    struct wndl_memory_state *state = &wndl_memory_state;
    const int kept = errno;
    uint32_t asked = WNDL_MEMORY_ASKED;
    if (__atomic_compare_exchange_n(&state->wanted, &asked, WNDL_MEMORY_AT_WORK,
            0, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)) {
        wndl_memory_run(state->sink, WNDL_MEMORY_POLLED);
        __atomic_store_n(&state->wanted, WNDL_MEMORY_NOBODY, __ATOMIC_RELEASE);
    } else if (asked == WNDL_MEMORY_FORKED) {
        wndl_memory_serve();
    }
    errno = kept;
}

#ifdef __cplusplus
}
#endif

#endif
