/* SPDX-License-Identifier: MIT */
/*
 * control: requests to a running recorder, through the socket where its
 * processes report. Request and answer are one message each; the answer is a
 * line of text after one of the letters below.
 */
#ifndef WNDL_COLLECT_START_CONTROL_H
#define WNDL_COLLECT_START_CONTROL_H

#include "base/status.h"
#include "rec/shm.h"

#include <sys/types.h>

/* Stands where a hello has its version. */
#define WNDL_CONTROL_MAGIC UINT32_C(0x4c544357)

enum wndl_control_verb {
    WNDL_CONTROL_START,
    WNDL_CONTROL_PAUSE,
    WNDL_CONTROL_STOP,
    WNDL_CONTROL_DUMP,
    WNDL_CONTROL_STATUS,
    WNDL_CONTROL_VERBS,
};

/* A request, as long as a hello. */
struct wndl_control {
    uint32_t magic;
    uint32_t verb; /* enum wndl_control_verb */
    uint32_t pid;  /* the command, a recorded process, or the recorder */
    uint32_t zero;
};

enum {
    WNDL_CONTROL_DONE = '+',
    WNDL_CONTROL_FAILED = '-',
    WNDL_CONTROL_NOT_MINE = '?', /* the process is not in this recording */
    WNDL_CONTROL_LINE = 4352,
};

/* Sends an answer: a line of text after `letter`. */
void wndl_control_answer(int socket, char letter, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * Asks the recorder of `pid`; the answer goes to `line`. NOT_FOUND when there
 * is none, with advice in `err`; a failed request has its reason in `err` too.
 * A recorder that says nothing for two seconds is given up; one that has said
 * that the process is its own has a minute to do what is asked.
 */
enum wndl_status wndl_control_ask(pid_t pid, enum wndl_control_verb verb,
    char line[WNDL_CONTROL_LINE], struct wndl_error *err) WNDL_MUST_USE;

#endif
