/* SPDX-License-Identifier: MIT */
#include "model/event_summary.h"

#include <windlass/memlog_roles.h>

static const char *const role_names[WNDL_EVENT_ROLES] = {"other", "collection",
    "mapped", "unmapped", "code", "discarded", "loaded", "action", "idle",
    "report"};

const char *wndl_event_role_name(uint32_t role)
{
    return role_names[role < WNDL_EVENT_ROLES ? role : WNDL_MEMLOG_OTHER];
}

static uint64_t value_at(const struct wndl_event *event, size_t index)
{
    return index < event->numbers && event->number_at[index] > 0
               ? (uint64_t)event->number_at[index]
               : 0;
}

/* The bytes that an event is about. */
static uint64_t size_of(const struct wndl_event *event, uint32_t role)
{
    switch (role) {
    case WNDL_MEMLOG_MAPPED:
    case WNDL_MEMLOG_UNMAPPED:
    case WNDL_MEMLOG_CODE:
    case WNDL_MEMLOG_DISCARDED:
        return value_at(event, 1);
    case WNDL_MEMLOG_LOADED:
    case WNDL_MEMLOG_REPORT:
        return value_at(event, 0);
    default:
        return 0;
    }
}

static void add_report(struct wndl_event_summary *s, uint64_t size, uint64_t at)
{
    if (s->reports++ == 0 || size < s->low) {
        s->low = s->high = size;
        s->low_at = s->high_at = at;
    } else if (size > s->high) {
        s->high = size;
        s->high_at = at;
    }
}

static void add_collection(
    struct wndl_event_summary *s, const struct wndl_event *event)
{
    const uint64_t before = value_at(event, 0);
    const uint64_t after = value_at(event, 1);
    const uint64_t freed = before > after ? before - after : 0;
    s->reclaimed += freed;
    if (freed >= WNDL_EVENT_MUCH)
        s->reclaimed_at = event->real;
}

static void add_event(
    struct wndl_event_summary *s, const struct wndl_event *event, uint32_t role)
{
    s->first = s->first == 0 ? event->real : s->first;
    s->last = event->real;
    s->count[role]++;
    s->bytes[role] += size_of(event, role);
    if (role == WNDL_MEMLOG_REPORT && event->numbers > 0)
        add_report(s, size_of(event, role), event->real);
    if (role == WNDL_MEMLOG_COLLECTION && event->numbers > 1)
        add_collection(s, event);
    if (role == WNDL_MEMLOG_ACTION)
        s->action_at = event->real;
}

static uint32_t role_of(
    const struct wndl_event_log *log, const struct wndl_event *event)
{
    const uint32_t role = wndl_event_type_of(log, event)->role;
    return role < WNDL_EVENT_ROLES ? role : WNDL_MEMLOG_OTHER;
}

/* Finds the role that mapped most while the process grew. */
static void find_cause(const struct wndl_event_log *log, uint32_t index,
    struct wndl_event_summary *s)
{
    static const uint32_t causes[] = {
        WNDL_MEMLOG_MAPPED, WNDL_MEMLOG_CODE, WNDL_MEMLOG_LOADED};
    uint64_t counts[WNDL_EVENT_ROLES] = {0};
    uint64_t bytes[WNDL_EVENT_ROLES] = {0};
    const struct wndl_event *events = log->events.data;
    for (size_t i = 0; i < log->events.len; i++) {
        const struct wndl_event *e = &events[i];
        if (e->process != index || e->real < s->low_at || e->real > s->high_at)
            continue;
        const uint32_t role = role_of(log, e);
        counts[role]++;
        bytes[role] += size_of(e, role);
    }
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (bytes[causes[i]] <= s->cause_bytes)
            continue;
        s->cause = causes[i];
        s->cause_bytes = bytes[causes[i]];
        s->cause_count = counts[causes[i]];
    }
}

void wndl_event_summarize(const struct wndl_event_log *log, uint32_t index,
    struct wndl_event_summary *summary)
{
    const struct wndl_event *events = log->events.data;
    *summary = (struct wndl_event_summary){0};
    for (size_t i = 0; i < log->events.len; i++) {
        if (events[i].process == index)
            add_event(summary, &events[i], role_of(log, &events[i]));
    }
    if (summary->high > summary->low)
        find_cause(log, index, summary);
}
