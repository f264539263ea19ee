/* SPDX-License-Identifier: MIT */
/*
 * threads [clock|traced|zombie]: threads that run and that are blocked, each in
 * functions of known names. When all are there it prints "ready PID". It ends
 * when its standard input does. With a word it does something else: it reads
 * the clock again and again, or has a child, whose number it prints: one that
 * it traces, or one that has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile unsigned long sink;
static int pipes[2];
static atomic_int spinning;

static inline __attribute__((always_inline)) void add(unsigned long n)
{
    sink += n;
}

__attribute__((noinline)) static void spin(unsigned long n)
{
    atomic_fetch_add(&spinning, 1);
    for (;;)
        add(n++);
}

__attribute__((noinline)) static void run(unsigned long n)
{
    spin(n);
    sink++;
}

static void *runner(void *unused)
{
    pthread_setname_np(pthread_self(), "runner");
    run(1);
    return unused;
}

/* A stack of more than is copied. */
__attribute__((noinline)) static void descend(int left)
{
    volatile char room[1000];
    room[0] = (char)left;
    if (left == 0)
        run(2);
    else
        descend(left - 1);
    sink += (unsigned long)room[0];
}

static void *diver(void *unused)
{
    pthread_setname_np(pthread_self(), "diver");
    descend(400);
    return unused;
}

/* A handler on a stack of its own, which does not return. */
__attribute__((noinline)) static void on_signal(int signal)
{
    run((unsigned long)signal);
    sink++;
}

__attribute__((noinline)) static void raise_it(void)
{
    pthread_kill(pthread_self(), SIGUSR1);
    sink++;
}

static void *handler(void *unused)
{
    const stack_t stack = {.ss_sp = malloc(65536), .ss_size = 65536};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK};
    pthread_setname_np(pthread_self(), "handler");
    sigaltstack(&stack, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise_it();
    return unused;
}

/* The number of a thread that is about to block. */
static atomic_int reading, polling;

__attribute__((noinline)) static void wait_for_byte(void)
{
    char byte;
    atomic_store(&reading, (int)syscall(SYS_gettid));
    if (read(pipes[0], &byte, 1) < 0)
        abort();
    sink++;
}

static void *reader(void *unused)
{
    pthread_setname_np(pthread_self(), "reader");
    wait_for_byte();
    return unused;
}

/* A stop of this thread would end its call. */
static void *poller(void *unused)
{
    struct epoll_event event;
    const int set = epoll_create1(0);
    pthread_setname_np(pthread_self(), "po\nller");
    atomic_store(&polling, (int)syscall(SYS_gettid));
    if (epoll_wait(set, &event, 1, -1) < 0)
        puts("epoll_wait was interrupted");
    fflush(stdout);
    return unused;
}

/* After its number is known, a thread sleeps in one call only. */
static int is_blocked(int tid)
{
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/self/task/%d/stat", tid);
    FILE *file = tid == 0 ? NULL : fopen(path, "r");
    if (file == NULL)
        return 0;
    const size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    const char *name_end = strrchr(text, ')');
    return name_end != NULL && name_end[1] == ' ' && name_end[2] == 'S';
}

static void wait_for_all(void)
{
    const struct timespec turn = {0, 10 * 1000 * 1000};
    while (atomic_load(&spinning) < 3 || !is_blocked(atomic_load(&reading)) ||
           !is_blocked(atomic_load(&polling)))
        nanosleep(&turn, NULL);
}

/* The child of a process that is killed ends with it. */
static pid_t fork_child(void)
{
    const pid_t parent = getpid();
    const pid_t child = fork();
    if (child == 0 &&
        (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent))
        _exit(1);
    return child;
}

static int say_ready(pid_t pid)
{
    printf("ready %d\n", (int)pid);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}

static int trace(void)
{
    const pid_t child = fork_child();
    if (child == 0)
        run(3);
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0)
        return 1;
    (void)say_ready(child);
    return kill(child, SIGKILL);
}

static int leave_zombie(void)
{
    const pid_t child = fork_child();
    if (child == 0)
        _exit(0);
    return say_ready(child);
}

static int read_clock(void)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    struct timespec now;
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (poll(&input, 1, 0) == 0) {
        for (int i = 0; i < 1000 * 1000; i++)
            clock_gettime(CLOCK_MONOTONIC, &now);
    }
    return 0;
}

int main(int argc, char **argv)
{
    static void *(*const bodies[])(void *) = {
        runner, diver, handler, reader, poller};
    if (argc > 1 && strcmp(argv[1], "clock") == 0)
        return read_clock();
    if (argc > 1 && strcmp(argv[1], "traced") == 0)
        return trace();
    if (argc > 1 && strcmp(argv[1], "zombie") == 0)
        return leave_zombie();
    if (pipe(pipes) != 0)
        return 1;
    for (size_t i = 0; i < sizeof bodies / sizeof bodies[0]; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, bodies[i], NULL) != 0)
            return 1;
    }
    wait_for_all();
    return say_ready(getpid());
}
