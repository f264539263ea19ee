/* SPDX-License-Identifier: MIT */
#include "cli/core/progress.h"

#include "cli/core/command.h"
#include "cli/core/terminal.h"
#include "os/clock.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define SHOWN_AFTER_NS UINT64_C(1000000000)

enum { TURN_NS = 200000000, NS_PER_SECOND = 1000000000, TEXT_SIZE = 256 };

static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    pthread_t thread;
    bool runs, is_over, is_hidden, is_shown;
    char text[TEXT_SIZE];
    uint64_t started; /* monotonic, ns */
} progress = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void remove_line(void)
{
    if (progress.is_shown)
        fputs("\r\033[K", stderr);
    progress.is_shown = false;
}

static void show_line(uint64_t now)
{
    const int columns = (int)wndl_terminal_error_width();
    char line[TEXT_SIZE + 32];
    snprintf(line, sizeof line, "windlass: %s, %.0f s", progress.text,
        (double)(now - progress.started) / NS_PER_SECOND);
    fputs("\r", stderr);
    line[columns - 1 < (int)sizeof line ? columns - 1 : (int)sizeof line - 1] =
        '\0';
    wndl_cli_put_tame(stderr, line);
    fputs("\033[K", stderr);
    progress.is_shown = true;
}

static void wait_a_turn(void)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += TURN_NS;
    if (until.tv_nsec >= NS_PER_SECOND) {
        until.tv_sec++;
        until.tv_nsec -= NS_PER_SECOND;
    }
    pthread_cond_timedwait(&progress.changed, &progress.lock, &until);
}

static void *run(void *context)
{
    pthread_mutex_lock(&progress.lock);
    while (!progress.is_over) {
        const uint64_t now = wndl_clock_monotonic_ns();
        if (!progress.is_hidden && now - progress.started >= SHOWN_AFTER_NS)
            show_line(now);
        wait_a_turn();
    }
    remove_line();
    pthread_mutex_unlock(&progress.lock);
    return context;
}

/* Signals are for the command's own thread. */
static void start(void)
{
    sigset_t all, before;
    pthread_condattr_t clock;
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&progress.changed, &clock);
    pthread_condattr_destroy(&clock);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    progress.is_over = false;
    progress.runs = pthread_create(&progress.thread, NULL, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void wndl_progress_begin(const char *doing, const char *what)
{
    if (wndl_terminal_error_width() == 0)
        return;
    pthread_mutex_lock(&progress.lock);
    snprintf(progress.text, sizeof progress.text, "%s%s%s", doing,
        what[0] == '\0' ? "" : " ", what);
    progress.started = wndl_clock_monotonic_ns();
    progress.is_hidden = false;
    remove_line();
    if (!progress.runs)
        start();
    pthread_mutex_unlock(&progress.lock);
}

void wndl_progress_end(void)
{
    pthread_mutex_lock(&progress.lock);
    const bool runs = progress.runs;
    progress.is_over = true;
    progress.runs = false;
    if (runs)
        pthread_cond_signal(&progress.changed);
    pthread_mutex_unlock(&progress.lock);
    if (runs)
        pthread_join(progress.thread, NULL);
}

void wndl_progress_hide(void)
{
    pthread_mutex_lock(&progress.lock);
    progress.is_hidden = true;
    remove_line();
    pthread_mutex_unlock(&progress.lock);
}
