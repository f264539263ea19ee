/* SPDX-License-Identifier: MIT */
/*
 * doctor: findings about what can be recorded, one a check. Those of the
 * machine and those of a program are made apart; cmd_doctor.c shows them.
 */
#ifndef WNDL_CLI_DOCTOR_DOCTOR_H
#define WNDL_CLI_DOCTOR_DOCTOR_H

#include "base/status.h"

#include <stdbool.h>
#include <stddef.h>

enum wndl_doctor_state {
    WNDL_DOCTOR_OK,
    WNDL_DOCTOR_LIMITED, /* recording works, but not as well as it could */
    WNDL_DOCTOR_NO,
};

struct wndl_doctor_finding {
    const char *check; /* a word, static */
    enum wndl_doctor_state state;
    bool stops;       /* without this nothing can be recorded */
    char found[256];  /* the result of the check */
    char setting[48]; /* the setting that decides, or "" */
    char value[160];  /* of the setting, or "" */
    char advice[256]; /* what to do, or "" */
};

enum { WNDL_DOCTOR_MAX = 32 };

struct wndl_doctor {
    struct wndl_doctor_finding findings[WNDL_DOCTOR_MAX];
    size_t count;
    /* The first lack of memory or descriptors, which leaves checks undone. */
    struct wndl_error lack;
};

/* Remembers `err` if it is a lack (base/status.h), not if it is a finding. */
void wndl_doctor_note(struct wndl_doctor *d, const struct wndl_error *err);

/* The same of errno, where `what` failed. */
void wndl_doctor_note_errno(struct wndl_doctor *d, const char *what);

/* A new finding, at most WNDL_DOCTOR_MAX; valid for good. */
struct wndl_doctor_finding *wndl_doctor_find(struct wndl_doctor *d,
    const char *check, enum wndl_doctor_state state, const char *found, ...)
    __attribute__((format(printf, 4, 5)));

void wndl_doctor_setting(struct wndl_doctor_finding *finding,
    const char *setting, const char *value, ...)
    __attribute__((format(printf, 3, 4)));

void wndl_doctor_advise(struct wndl_doctor_finding *finding, const char *advice,
    ...) __attribute__((format(printf, 2, 3)));

/* Checks the machine, as this user. */
void wndl_doctor_machine(struct wndl_doctor *d);

struct wndl_object;

/*
 * Checks how much of the code of the program at `path` and of its libraries has
 * unwind rules.
 */
void wndl_doctor_rules(
    struct wndl_doctor *d, struct wndl_object *program, const char *path);

/*
 * Checks what names and rules there are for the code of the program at `path`,
 * and, unless it `runs` already, its heap.
 */
void wndl_doctor_code(struct wndl_doctor *d, const char *path, bool runs);

/* Checks whether the heap of a program can be recorded. */
void wndl_doctor_heap(struct wndl_doctor *d, struct wndl_object *program);

/* Checks whether `command`, as a shell would find it, can be recorded, and
 * what is known about its code. */
void wndl_doctor_program(struct wndl_doctor *d, const char *command);

/*
 * Checks whether the running process `pid`, a decimal number, can be recorded
 * from outside, and what is known about its code.
 */
void wndl_doctor_process(struct wndl_doctor *d, const char *pid);

#endif
