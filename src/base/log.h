/* SPDX-License-Identifier: MIT */
/*
 * log: messages with levels, for a sink of the caller. Libraries print nothing
 * by themselves: a NULL log is silence.
 */
#ifndef WNDL_BASE_LOG_H
#define WNDL_BASE_LOG_H

enum wndl_log_level {
    WNDL_LOG_WARNING, /* something was lost */
    WNDL_LOG_INFO,    /* something was found and used */
};

/* Messages above `level` are dropped before they are formatted. */
struct wndl_log {
    void (*write)(void *context, enum wndl_log_level level, const char *text);
    void *context;
    enum wndl_log_level level;
};

/* One line without a newline, cut at 1,023 bytes. `log` may be NULL. */
void wndl_log(const struct wndl_log *log, enum wndl_log_level level,
    const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
