/* SPDX-License-Identifier: MIT */
/*
 * threads [traced|zombie]: threads that run and that are blocked, each in
 * functions of known names. It prints "ready PID", and ends when its standard
 * input does. With a word it has a child instead, whose number it prints: one
 * that it traces, or one that has ended.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ptrace.h>
#include <unistd.h>

static volatile unsigned long sink;
static int pipes[2];

static inline __attribute__((always_inline)) void add(unsigned long n)
{
    sink += n;
}

__attribute__((noinline)) static void spin(unsigned long n)
{
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

__attribute__((noinline)) static void wait_for_byte(void)
{
    char byte;
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
    pthread_setname_np(pthread_self(), "po\nller");
    if (epoll_wait(epoll_create1(0), &event, 1, -1) < 0)
        puts("epoll_wait was interrupted");
    fflush(stdout);
    return unused;
}

static int trace(void)
{
    pid_t child = fork();
    if (child == 0)
        run(3);
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL) != 0)
        return 1;
    printf("ready %d\n", (int)child);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return kill(child, SIGKILL);
}

static int leave_zombie(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    printf("ready %d\n", (int)child);
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}

int main(int argc, char **argv)
{
    static void *(*const bodies[])(void *) = {
        runner, diver, handler, reader, poller};
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
    usleep(300 * 1000);
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    while (getchar() != EOF)
        ;
    return 0;
}
