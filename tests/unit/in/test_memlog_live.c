/* SPDX-License-Identifier: MIT */
/*
 * A memory event log that is read while it is written, and after its writers
 * were killed.
 *
 * All that an event has is a function of one number, so that an event of two
 * writers is seen. Writers let others go first amid an event, far more often
 * than they would be interrupted. Compiled with WNDL_MEMLOG_TEST_NO_CLAIM the
 * writer does not ask whether a block is free, and mixed events must be found.
 *
 * $MEMLOG_ROUNDS is how often three processes are killed, $MEMLOG_SECONDS how
 * long a log is read.
 */
#include <sched.h>

static _Thread_local unsigned pauses;
#define WNDL_MEMLOG_TEST_PAUSE() ((void)(++pauses % 32 == 0 && sched_yield()))

#include "testlib.h"

#include "in/memlog.h"

#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <windlass/memlog.h>

enum { THREADS = 8, PROCESSES = 3 };

static char folder[] = "/tmp/test_memlog_live.XXXXXX";

static struct wndl_memlog_type types[] = {
    {"a", WNDL_MEMLOG_COLLECTION, 0, {{NULL, NULL}}, {0, 0}},
    {"b", WNDL_MEMLOG_OTHER, 0, {{NULL, NULL}}, {0, 0}},
    {"c", WNDL_MEMLOG_REPORT, 0, {{NULL, NULL}}, {0, 0}},
};

/* Of one process: events that each thread began and ended. */
struct progress {
    uint64_t begun[THREADS];
    uint64_t ended[THREADS];
};
static struct progress *all_progress; /* PROCESSES, shared with them */

static uint64_t mixed(uint64_t n, unsigned field)
{
    return (n + 1) * (2 * field + 3) * UINT64_C(0x9e3779b97f4a7c15);
}

/* ---- a writer */

struct writer {
    struct progress *progress;
    unsigned thread;
};

static void append_one(uint64_t n)
{
    int64_t numbers[WNDL_MEMLOG_NUMBERS] = {(int64_t)n};
    for (unsigned i = 1; i < WNDL_MEMLOG_NUMBERS; i++)
        numbers[i] = (int64_t)mixed(n, i);
    const unsigned count = 2 + (unsigned)(n / 7 % 7);
    if (n % 5 == 0) {
        char text[24];
        snprintf(text, sizeof text, "%llx", (unsigned long long)mixed(n, 9));
        wndl_memlog_append_text(&types[n % 3], numbers, count, text);
    } else {
        wndl_memlog_append(&types[n % 3], numbers, count);
    }
}

static void *write_for_ever(void *context)
{
    const struct writer *w = context;
    uint64_t *begun = &w->progress->begun[w->thread];
    uint64_t *ended = &w->progress->ended[w->thread];
    for (uint64_t i = 0;; i++) {
        __atomic_store_n(begun, i + 1, __ATOMIC_RELAXED);
        append_one(i * THREADS + w->thread);
        __atomic_store_n(ended, i + 1, __ATOMIC_RELEASE);
    }
    return NULL;
}

static pid_t start_writers(struct progress *progress)
{
    const pid_t child = fork();
    if (child != 0)
        return child;
    (void)wndl_memlog_active(); /* what comes while it is opened is dropped */
    static struct writer writers[THREADS];
    pthread_t thread;
    for (unsigned i = 0; i < THREADS; i++) {
        writers[i] = (struct writer){progress, i};
        if (pthread_create(&thread, NULL, write_for_ever, &writers[i]) != 0)
            _exit(1);
    }
    for (;;)
        pause();
}

static uint64_t total(const uint64_t counts[THREADS])
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < THREADS; i++)
        sum += __atomic_load_n(&counts[i], __ATOMIC_ACQUIRE);
    return sum;
}

/* ---- a reader */

static struct wndl_bytes map_log(pid_t process)
{
    char path[400];
    char start[32];
    struct stat st;
    struct wndl_bytes bytes = {0};
    snprintf(path, sizeof path, "%s/windlass", folder);
    snprintf(start, sizeof start, "%d-", (int)process);
    DIR *dir = opendir(path);
    const struct dirent *entry;
    while (dir != NULL && (entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, start, strlen(start)) != 0)
            continue;
        const int fd = openat(dirfd(dir), entry->d_name, O_RDONLY);
        assert_true(fd >= 0 && fstat(fd, &st) == 0);
        void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        assert_true(at != MAP_FAILED);
        bytes = (struct wndl_bytes){at, (size_t)st.st_size};
        close(fd);
    }
    if (dir != NULL)
        closedir(dir);
    return bytes;
}

static bool is_one(const struct wndl_event_log *log, const struct wndl_event *e)
{
    const uint64_t n = (uint64_t)e->number_at[0];
    char text[24] = "";
    if (strcmp(wndl_event_type_of(log, e)->name, types[n % 3].name) != 0 ||
        e->numbers != 2 + n / 7 % 7)
        return false;
    for (unsigned i = 1; i < e->numbers; i++) {
        if ((uint64_t)e->number_at[i] != mixed(n, i))
            return false;
    }
    if (n % 5 == 0)
        snprintf(text, sizeof text, "%llx", (unsigned long long)mixed(n, 9));
    return wndl_bytes_is(e->text, text);
}

/* Events that two writers wrote; and of one thread two ids. */
static uint64_t count_mixed(const struct wndl_event_log *log)
{
    const struct wndl_event *events = log->events.data;
    uint32_t ids[THREADS] = {0};
    uint64_t count = 0;
    for (size_t i = 0; i < log->events.len; i++) {
        uint32_t *id = &ids[(uint64_t)events[i].number_at[0] % THREADS];
        count +=
            !is_one(log, &events[i]) || (*id != 0 && *id != events[i].thread);
        *id = events[i].thread;
    }
    const struct wndl_event_process *p = log->processes.data;
    return count + p->damaged;
}

/* False: there is no log yet. */
static bool read_log(struct wndl_event_log *log, pid_t process)
{
    const struct wndl_bytes bytes = map_log(process);
    wndl_event_log_init(log, wndl_mem_libc());
    if (bytes.data == NULL)
        return false;
    const enum wndl_status status =
        wndl_memlog_read_ring(log, bytes, NULL, NULL);
    munmap((void *)(uintptr_t)bytes.data, bytes.size);
    return status == WNDL_OK;
}

/* ---- the tests */

static unsigned number_of(const char *name, unsigned otherwise)
{
    const char *text = getenv(name);
    return text == NULL ? otherwise : (unsigned)strtoul(text, NULL, 10);
}

static void end(pid_t child)
{
    assert_int_equal(kill(child, SIGKILL), 0);
    assert_int_equal(waitpid(child, NULL, 0), child);
}

static void wait_for_events(const struct progress *progress, uint64_t count)
{
    const struct timespec moment = {.tv_nsec = 1000 * 1000};
    while (total(progress->ended) < count)
        nanosleep(&moment, NULL);
}

static void no_event_of_a_living_log_is_of_two_writers(void **state)
{
    (void)state;
    memset(all_progress, 0, sizeof *all_progress);
    const pid_t child = start_writers(all_progress);
    assert_true(child > 0);
    uint64_t mixes = 0;
    uint64_t seen = 0;
    wait_for_events(all_progress, 10000);
    const time_t until = time(NULL) + number_of("MEMLOG_SECONDS", 2);
#ifdef WNDL_MEMLOG_TEST_NO_CLAIM
    while (mixes == 0 && time(NULL) < until + 60) {
#else
    while (time(NULL) <= until) {
#endif
        struct wndl_event_log log;
        if (read_log(&log, child)) {
            mixes += count_mixed(&log);
            seen += log.events.len;
        }
        wndl_event_log_free(&log);
    }
    end(child);
    print_message("%llu events, %llu mixed\n", (unsigned long long)seen,
        (unsigned long long)mixes);
#ifdef WNDL_MEMLOG_TEST_NO_CLAIM
    assert_true(mixes != 0);
#else
    assert_true(mixes == 0);
    assert_true(seen > 0);
#endif
}

#ifndef WNDL_MEMLOG_TEST_NO_CLAIM
/*
 * Complete but for one event a thread. A thread that was killed between taking
 * a block and counting what it overwrites leaves that block's events
 * uncounted.
 */
static void check_killed(pid_t child, const struct progress *progress)
{
    struct wndl_event_log log;
    assert_true(read_log(&log, child));
    const struct wndl_event_process *p = log.processes.data;
    const uint64_t there = p->listed + p->overwritten + p->dropped;
    assert_int_equal(count_mixed(&log), 0);
    assert_true(there <= total(progress->begun));
    assert_true(
        there + THREADS * WNDL_MEMLOG_BLOCK_SLOTS >= total(progress->ended));
    /* Slots that threads took and did not fill: of one event each. */
    assert_true(p->unfinished <= (uint64_t)THREADS * WNDL_MEMLOG_BLOCK_SLOTS);
    wndl_event_log_free(&log);
}

static void killed_writers_leave_whole_logs(void **state)
{
    (void)state;
    const unsigned rounds = number_of("MEMLOG_ROUNDS", 4);
    srand((unsigned)getpid());
    for (unsigned round = 0; round < rounds; round++) {
        pid_t children[PROCESSES];
        memset(all_progress, 0, PROCESSES * sizeof *all_progress);
        for (unsigned i = 0; i < PROCESSES; i++)
            children[i] = start_writers(&all_progress[i]);
        for (unsigned i = 0; i < PROCESSES; i++)
            wait_for_events(&all_progress[i], 1000);
        const struct timespec moment = {.tv_nsec = rand() % 60000000};
        nanosleep(&moment, NULL);
        for (unsigned i = 0; i < PROCESSES; i++)
            end(children[i]);
        for (unsigned i = 0; i < PROCESSES; i++)
            check_killed(children[i], &all_progress[i]);
    }
}
#endif

static int make_folder(void **state)
{
    (void)state;
    all_progress = mmap(NULL, PROCESSES * sizeof *all_progress,
        PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return all_progress == MAP_FAILED || mkdtemp(folder) == NULL ||
           setenv("XDG_RUNTIME_DIR", folder, 1) != 0 ||
           setenv("WINDLASS_MEMLOG", "64k", 1) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_event_of_a_living_log_is_of_two_writers),
#ifndef WNDL_MEMLOG_TEST_NO_CLAIM
        cmocka_unit_test(killed_writers_leave_whole_logs),
#endif
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
