/* SPDX-License-Identifier: MIT */
/*
 * session: the talk with the collector. If anything fails, the program runs on
 * unrecorded.
 */
#include "rt/start/session.h"

#include "os/raw.h"
#include "rec/heap.h"
#include "rt/arch/arch.h"
#include "rt/core/rt.h"
#include "rt/heap/heap.h"
#include "rt/hook/thread.h"
#include "rt/sample/engine.h"
#include "rt/start/alone.h"
#include "rt/start/eligibility.h"
#include "rt/start/peer.h"
#include "rt/walk/modules.h"
#include "rt/walk/unwind_tables.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>

enum {
    /*
     * In ms. A collector that is stopped or busy delays the program by the sum
     * at most.
     */
    CONNECT_PATIENCE = 5, /* twice */
    GO_PATIENCE = 30,
    LAST_PATIENCE = 5,        /* of a process that cannot begin alone */
    TRACER_AGE = 1000 * 1000, /* ns */
    STATUS_TEXT = 512,
};

static bool set_patience(int fd, int option, int ms)
{
    const struct timeval t = {.tv_usec = ms * 1000};
    const long a[] = {fd, SOL_SOCKET, option, (long)&t};
    return wndl_raw6(SYS_setsockopt, a, sizeof t, 0) == 0;
}

/*
 * Makes a call of the talk. A stop of the process and its continuation
 * interrupt the calls that have a timeout (signal(7)), although all signals are
 * blocked.
 */
static long call(long number, long a, long b, long c)
{
    long result;
    do
        result = wndl_raw3(number, a, b, c);
    while (result == -EINTR);
    return result;
}

/*
 * Connects to the socket in the recorder's folder or, where this process cannot
 * reach that as another user or in another root directory, to the one of the
 * same name that is no file.
 */
static long connect_either(int fd, const char *path, size_t size)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, path, size);
    long result = call(SYS_connect, fd, (long)&address, sizeof address);
    if (result != -EACCES && result != -ENOENT && result != -ENOTDIR &&
        result != -ECONNREFUSED)
        return result;
    address.sun_path[0] = '\0';
    memcpy(address.sun_path + 1, path, size);
    size += offsetof(struct sockaddr_un, sun_path) + 1;
    return call(SYS_connect, fd, (long)&address, (long)size);
}

/* Returns the socket, or -errno. */
static int connect_to(const char *path)
{
    size_t size = strlen(path);
    if (size + 1 >= sizeof((struct sockaddr_un *)NULL)->sun_path)
        return -ENAMETOOLONG;
    int fd =
        (int)wndl_raw3(SYS_socket, AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return fd;
    /* The send timeout limits connect(), too. */
    if (set_patience(fd, SO_SNDTIMEO, CONNECT_PATIENCE) &&
        set_patience(fd, SO_RCVTIMEO, GO_PATIENCE) &&
        connect_either(fd, path, size) == 0 && wndl_rt_peer_may_record(fd))
        return fd;
    wndl_raw_close(fd);
    return -ECONNREFUSED;
}

static bool has_free_descriptor(int fd)
{
    int other = (int)wndl_raw3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, 0);
    if (other >= 0)
        wndl_raw_close(other);
    return other != -EMFILE;
}

/* False if the soft limit is the hard one. *before receives the old value. */
static bool raise_limit(struct rlimit64 *before)
{
    if (wndl_raw4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, (long)before) != 0 ||
        before->rlim_cur >= before->rlim_max)
        return false;
    const struct rlimit64 most = {before->rlim_max, before->rlim_max};
    return wndl_raw4(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&most, 0) == 0;
}

/*
 * A connection to the collector, with one more descriptor free. The soft limit
 * on descriptors may be raised until close_talk().
 */
struct talk {
    int socket; /* or -errno */
    bool cramped;
    bool raised;
    struct rlimit64 limit; /* its old value, if raised */
};

static struct talk open_talk(void)
{
    struct talk talk = {.socket = connect_to(wndl_rt.session)};
    talk.cramped = talk.socket == -EMFILE ||
                   (talk.socket >= 0 && !has_free_descriptor(talk.socket));
    if (!talk.cramped || !raise_limit(&talk.limit))
        return talk;
    talk.raised = true;
    if (talk.socket < 0)
        talk.socket = connect_to(wndl_rt.session);
    talk.cramped = talk.socket < 0 || !has_free_descriptor(talk.socket);
    return talk;
}

static void close_talk(const struct talk *talk)
{
    if (talk->socket >= 0)
        wndl_raw_close(talk->socket);
    if (talk->raised)
        (void)wndl_raw4(SYS_prlimit64, 0, RLIMIT_NOFILE, (long)&talk->limit, 0);
}

/* Room for one descriptor beside a message. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

static bool send_with(int fd, const void *bytes, size_t size, int passed)
{
    union control control = {0};
    struct iovec part = {(void *)bytes, size};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (passed >= 0) {
        control.header.cmsg_len = CMSG_LEN(sizeof passed);
        control.header.cmsg_level = SOL_SOCKET;
        control.header.cmsg_type = SCM_RIGHTS;
        memcpy(CMSG_DATA(&control.header), &passed, sizeof passed);
        message.msg_control = &control;
        message.msg_controllen = sizeof control;
    }
    return call(SYS_sendmsg, fd, (long)&message, MSG_NOSIGNAL) == (long)size;
}

/* Fills `bytes`. Returns the passed descriptor, or -errno. */
static int receive_with(int fd, void *bytes, size_t size, int flags)
{
    union control control = {0};
    struct iovec part = {bytes, size};
    struct msghdr message = {
        .msg_iov = &part,
        .msg_iovlen = 1,
        .msg_control = &control,
        .msg_controllen = sizeof control,
    };
    long got = call(SYS_recvmsg, fd, (long)&message, MSG_CMSG_CLOEXEC | flags);
    if (got < 0)
        return (int)got;
    if (control.header.cmsg_len != CMSG_LEN(sizeof(int)) ||
        control.header.cmsg_level != SOL_SOCKET ||
        control.header.cmsg_type != SCM_RIGHTS)
        return -EPIPE;
    int passed;
    memcpy(&passed, CMSG_DATA(&control.header), sizeof passed);
    if (got == (long)size)
        return passed;
    wndl_raw_close(passed);
    return -EPIPE;
}

/* Core dumps are the program's: the block is left out of them. */
static bool map_block(int memfd, const struct wndl_go *go)
{
    size_t size = wndl_rt_heap_shared_size(go);
    struct wndl_shm *shm =
        wndl_raw_map(size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd);
    if (shm == NULL)
        return false;
    if (!wndl_rt_block_is_whole(memfd, shm, size) ||
        shm->magic != WNDL_SHM_MAGIC || shm->version != WNDL_SHM_VERSION) {
        wndl_raw_unmap(shm, size);
        return false;
    }
    (void)wndl_raw3(SYS_madvise, (long)shm, (long)size, MADV_DONTDUMP);
    wndl_rt.shared_size = size;
    atomic_store(&shm->held, atomic_load(&wndl_rt.held));
    wndl_rt.tree = (struct wndl_stacktree *)(void *)shm->tree;
    wndl_rt.copies =
        (go->heap & WNDL_HEAP_ON) != 0
            ? NULL
            : (void *)((uint8_t *)shm + wndl_shm_copies_offset(go->nodes));
    wndl_rt.shm = shm;
    return true;
}

/* Starts the engine, with a mapped block, and reports it. */
static void run_engine(int socket, const struct wndl_go *go)
{
    struct wndl_ready ready;
    wndl_rt_thread_hook_start();
    int event = wndl_rt_engine_start(go, &ready);
    uint32_t owner;
    /* The collector will search it for generated code. */
    if (ready.engine != WNDL_ENGINE_NONE)
        (void)wndl_rt_module_note(getauxval(AT_ENTRY), &owner);
    (void)send_with(socket, &ready, sizeof ready, event);
    if (event >= 0)
        wndl_raw_close(event);
}

/* Reads proc_pid_status(5). Returns the number of bytes, or -errno. */
static long read_status(char text[STATUS_TEXT])
{
    int fd = wndl_raw_open("/proc/self/status", O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fd;
    long size = wndl_raw_read(fd, text, STATUS_TEXT);
    wndl_raw_close(fd);
    return size;
}

/* Unreadable, also when tried again, means not traced. */
static bool read_tracer(void)
{
    static const char name[] = "\nTracerPid:\t";
    char text[STATUS_TEXT];
    long size = read_status(text);
    if (size < 0)
        size = read_status(text);
    for (long at = 0; at + (long)sizeof name <= size; at++) {
        if (memcmp(text + at, name, sizeof name - 1) == 0)
            return text[at + (long)sizeof name - 1] != '0';
    }
    return false;
}

/* A look for a debugger: it reads /proc, which takes 50 us. */
struct tracer {
    bool is_there;
    uint64_t time; /* CLOCK_MONOTONIC, ns */
};

/* A recording of a heap opens no event. */
static struct tracer look_for_tracer(void)
{
    if (wndl_rt_heap_is_object())
        return (struct tracer){.is_there = false};
    return (struct tracer){
        .time = wndl_raw_clock_ns(CLOCK_MONOTONIC),
        .is_there = read_tracer(),
    };
}

static bool is_traced(const struct tracer *before)
{
    const uint64_t age = wndl_raw_clock_ns(CLOCK_MONOTONIC) - before->time;
    return before->is_there || (age > TRACER_AGE && read_tracer());
}

static bool say_hello(int socket, enum wndl_unrecorded_reason refusal)
{
    const struct wndl_hello hello = {
        .version = WNDL_SHM_VERSION,
        .machine = WNDL_ARCH_MACHINE,
        .refusal = refusal,
        .pid = (uint32_t)wndl_raw_getpid(),
        .parent = (uint32_t)wndl_raw3(SYS_getppid, 0, 0, 0),
    };
    return send_with(socket, &hello, sizeof hello, -1);
}

/*
 * Permits the collector to read the process. It reads blocked threads from
 * outside, which Yama allows to ancestors only, and the collector is none once
 * the process is orphaned. Without Yama the call just fails.
 */
static void let_collector_look(int socket)
{
    struct ucred peer = {0};
    int size = sizeof peer;
    const long a[] = {socket, SOL_SOCKET, SO_PEERCRED, (long)&peer};
    (void)wndl_raw6(SYS_getsockopt, a, (long)&size, 0);
    wndl_rt.collector = peer.pid;
    if (peer.pid > 0)
        (void)wndl_raw3(SYS_prctl, PR_SET_PTRACER, peer.pid, 0);
}

/*
 * A debugger keeps SIGTRAP to itself; it may have come while the collector took
 * its time. A sandbox may end whoever opens an event.
 */
static void leave_event_out(struct wndl_go *go, const struct tracer *tracer)
{
    if (go->engine != WNDL_ENGINE_PERF ||
        (wndl_rt.with_events && !is_traced(tracer)))
        return;
    go->engine = WNDL_ENGINE_TIMER;
    go->fallback = WNDL_ENGINE_NONE;
}

static bool send_late(int socket, const struct wndl_late *late, int memfd)
{
    return send_with(socket, late, sizeof *late, memfd);
}

/*
 * Begins without an answer. Returns the descriptor of the block, or -errno. A
 * go that comes after all is taken: rec/shm.h.
 */
static int begin_alone(int socket, struct wndl_go *go)
{
    struct wndl_late late = {
        .parent = (uint32_t)wndl_raw3(SYS_getppid, 0, 0, 0),
        .vdso = getauxval(AT_SYSINFO_EHDR),
    };
    int own = wndl_rt_alone_make(go);
    if (own < 0)
        return own;
    late.heap_sites = go->heap_sites;
    late.nodes = go->nodes;
    if (!has_free_descriptor(own) || !send_late(socket, &late, own)) {
        wndl_raw_close(own);
        return -EMFILE;
    }
    struct wndl_go answer;
    (void)wndl_raw3(SYS_shutdown, socket, SHUT_RD, 0);
    int memfd = receive_with(socket, &answer, sizeof answer, MSG_DONTWAIT);
    if (memfd < 0)
        return own;
    wndl_raw_close(own);
    *go = answer;
    return memfd;
}

/* The last wait, after which the collector is left to name the process. */
static int wait_or_leave(int socket, struct wndl_go *go)
{
    const struct wndl_late late = {.refusal = WNDL_UNRECORDED_LATE};
    (void)set_patience(socket, SO_RCVTIMEO, LAST_PATIENCE);
    int memfd = receive_with(socket, go, sizeof *go, 0);
    wndl_rt.was_late = memfd < 0;
    if (memfd < 0)
        (void)send_late(socket, &late, -1);
    return memfd;
}

/* The state by proc_pid_stat(5), "1234 (a name) T 1 ..."; 0: not known. */
static char state_of(uint32_t pid)
{
    char path[32] = "/proc/", *end = path + strlen(path);
    char text[STATUS_TEXT];
    uint32_t unit = 1;
    while (pid / unit >= 10)
        unit *= 10;
    for (; unit != 0; unit /= 10)
        *end++ = (char)('0' + pid / unit % 10);
    memcpy(end, "/stat", sizeof "/stat");
    const int fd = wndl_raw_open(path, O_RDONLY | O_CLOEXEC);
    long at = fd < 0 ? 0 : wndl_raw_read(fd, text, sizeof text - 2);
    if (fd >= 0)
        wndl_raw_close(fd);
    while (at > 0 && text[at - 1] != ')')
        at--;
    return at > 0 ? text[at + 1] : 0;
}

/* One that is busy answers others; one that is stopped answers nobody. */
static bool is_collector_stopped(int socket)
{
    struct ucred peer = {0};
    int size = sizeof peer;
    const long a[] = {socket, SOL_SOCKET, SO_PEERCRED, (long)&peer};
    (void)wndl_raw6(SYS_getsockopt, a, (long)&size, 0);
    const char state = peer.pid > 0 ? state_of((uint32_t)peer.pid) : 0;
    return state == 'T' || state == 't';
}

/* Returns the descriptor of the block, or -errno. */
static int get_block(int socket, struct wndl_go *go)
{
    const bool others_waited = wndl_rt_alone_is_usual();
    int memfd =
        receive_with(socket, go, sizeof *go, others_waited ? MSG_DONTWAIT : 0);
    if (memfd >= 0 || memfd == -EPIPE)
        return memfd;
    if (!others_waited && is_collector_stopped(socket))
        wndl_rt_alone_make_usual();
    memfd = begin_alone(socket, go);
    return memfd >= 0 ? memfd : wait_or_leave(socket, go);
}

/*
 * Returns a reason not to record that has occurred meanwhile. What takes long
 * is done while the collector makes the block. A call that fails may succeed
 * when it is made again.
 */
static enum wndl_unrecorded_reason record(int socket)
{
    struct wndl_go go;
    const struct tracer tracer = look_for_tracer();
    int memfd = get_block(socket, &go);
    if (memfd < 0)
        return WNDL_UNRECORDED_NONE;
    bool known = go.version == WNDL_SHM_VERSION;
    bool mapped = known && (map_block(memfd, &go) || map_block(memfd, &go));
    /* The engine may need the one free descriptor. */
    wndl_raw_close(memfd);
    if (mapped) {
        wndl_rt_alone_remember(&go);
        let_collector_look(socket);
        wndl_rt_unwind_tables_share();
        leave_event_out(&go, &tracer);
        run_engine(socket, &go);
        wndl_rt_heap_start(&go);
    }
    return known && !mapped ? WNDL_UNRECORDED_MEMORY : WNDL_UNRECORDED_NONE;
}

/* False: the collector was not reached. */
static bool try_to_ask(
    enum wndl_unrecorded_reason refusal, enum wndl_unrecorded_reason *late)
{
    struct talk talk = open_talk();
    if (refusal == WNDL_UNRECORDED_NONE && talk.cramped)
        refusal = WNDL_UNRECORDED_DESCRIPTORS;
    bool said = talk.socket >= 0 && say_hello(talk.socket, refusal);
    if (said && refusal == WNDL_UNRECORDED_NONE)
        *late = record(talk.socket);
    close_talk(&talk);
    return said;
}

/*
 * Returns a reason not to record, to be reported in a second talk. A call may
 * fail once for a reason that has gone by the next time (EIO, ENOMEM, EAGAIN).
 */
static enum wndl_unrecorded_reason ask(enum wndl_unrecorded_reason refusal)
{
    enum wndl_unrecorded_reason late = WNDL_UNRECORDED_NONE;
    if (!try_to_ask(refusal, &late))
        (void)try_to_ask(refusal, &late);
    return late;
}

void wndl_rt_start(enum wndl_unrecorded_reason refusal)
{
    bool talk = true;
    if (refusal == WNDL_UNRECORDED_NONE)
        refusal = wndl_rt_ineligible_sandbox(&talk);
    if (refusal == WNDL_UNRECORDED_NONE && !wndl_rt_has_address_space())
        refusal = WNDL_UNRECORDED_MEMORY;
    enum wndl_unrecorded_reason late =
        talk ? ask(refusal) : WNDL_UNRECORDED_NONE;
    if (late != WNDL_UNRECORDED_NONE)
        (void)ask(late);
}
