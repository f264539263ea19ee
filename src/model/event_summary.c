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
    if (s->reports++ == 0 || size < s->least) {
        s->least = size;
        s->least_at = at;
    }
    if (s->reports > 1 && size - s->least <= s->high - s->low)
        return;
    s->low = s->least;
    s->low_at = s->least_at;
    s->high = size;
    s->high_at = at;
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

/* ---- the events of a process */

static bool is_of(const struct wndl_event_log *log,
    const struct wndl_event *event, uint32_t index)
{
    return event->process == index ||
           wndl_event_is_same_process(wndl_event_process_of(log, event),
               wndl_vec_at(&log->processes, index));
}

static bool is_of_range(uint32_t role)
{
    return role == WNDL_MEMLOG_MAPPED || role == WNDL_MEMLOG_UNMAPPED ||
           role == WNDL_MEMLOG_CODE;
}

static bool is_watched(
    const struct wndl_event_log *log, const struct wndl_event *event)
{
    return wndl_event_process_of(log, event)->watcher != 0;
}

/* Bytes of `step` that `call` is about, too. */
static uint64_t overlap(
    const struct wndl_event *call, const struct wndl_event *step)
{
    const uint64_t low_end = value_at(call, 0) + value_at(call, 1);
    const uint64_t high_end = value_at(step, 0) + value_at(step, 1);
    const uint64_t start = value_at(call, 0) > value_at(step, 0)
                               ? value_at(call, 0)
                               : value_at(step, 0);
    const uint64_t end = low_end < high_end ? low_end : high_end;
    return end > start ? end - start : 0;
}

/* The same, if the event at `at` is the process's own, and of the role. */
static uint64_t overlap_of_own(const struct wndl_event_log *log, size_t at,
    const struct wndl_event *step, uint32_t role)
{
    const struct wndl_event *e = wndl_vec_at(&log->events, at);
    return !is_watched(log, e) && is_of(log, e, step->process) &&
                   role_of(log, e) == role
               ? overlap(e, step)
               : 0;
}

/*
 * Whether the event at `at` is a step of which the process logged the calls, or
 * half of it: they are before it, or right after.
 */
static bool is_known(const struct wndl_event_log *log, size_t at, uint32_t role)
{
    const struct wndl_event *events = log->events.data;
    const struct wndl_event *step = &events[at];
    uint64_t known = 0;
    if (!is_of_range(role) || !is_watched(log, step))
        return false;
    for (size_t i = at;
         i-- > 0 && step->real - events[i].real < WNDL_EVENT_STEP_NS;)
        known += overlap_of_own(log, i, step, role);
    for (size_t i = at + 1; i < log->events.len &&
                            events[i].real - step->real < WNDL_EVENT_LATE_NS;
         i++)
        known += overlap_of_own(log, i, step, role);
    return known != 0 && known >= value_at(step, 1) / 2;
}

/* Calls `add` with each event that counts for the process. */
static void each_event(const struct wndl_event_log *log, uint32_t index,
    void (*add)(struct wndl_event_summary *s, const struct wndl_event *event,
        uint32_t role),
    struct wndl_event_summary *s)
{
    const struct wndl_event *events = log->events.data;
    for (size_t i = 0; i < log->events.len; i++) {
        if (!is_of(log, &events[i], index))
            continue;
        const uint32_t role = role_of(log, &events[i]);
        if (!is_known(log, i, role))
            add(s, &events[i], role);
    }
}

/* ---- the cause of the growth */

static void add_growth(
    struct wndl_event_summary *s, const struct wndl_event *event, uint32_t role)
{
    if (event->real < s->low_at || event->real > s->high_at)
        return;
    s->grown_count[role]++;
    s->grown_bytes[role] += size_of(event, role);
}

/* Finds the role that mapped most while the process grew. */
static void find_cause(struct wndl_event_summary *s)
{
    static const uint32_t causes[] = {
        WNDL_MEMLOG_MAPPED, WNDL_MEMLOG_CODE, WNDL_MEMLOG_LOADED};
    for (size_t i = 0; i < sizeof causes / sizeof *causes; i++) {
        if (s->grown_bytes[causes[i]] <= s->cause_bytes)
            continue;
        s->cause = causes[i];
        s->cause_bytes = s->grown_bytes[causes[i]];
        s->cause_count = s->grown_count[causes[i]];
    }
}

static bool is_same_text(struct wndl_bytes a, struct wndl_bytes b)
{
    return a.size == b.size && memcmp(a.data, b.data, a.size) == 0;
}

static void add_source(
    struct wndl_event_summary *s, const struct wndl_event *event, uint32_t role)
{
    size_t i = 0;
    if (role != s->cause || event->text.size == 0 || event->real < s->low_at ||
        event->real > s->high_at)
        return;
    while (
        i < s->source_count && !is_same_text(s->sources[i].text, event->text))
        i++;
    if (i == WNDL_EVENT_SOURCES)
        return;
    struct wndl_event_source *source = &s->sources[i];
    s->source_count += i == s->source_count;
    source->text = event->text;
    source->bytes += size_of(event, role);
    if (source->bytes > s->most.bytes)
        s->most = *source;
}

void wndl_event_summarize(const struct wndl_event_log *log, uint32_t index,
    struct wndl_event_summary *summary)
{
    *summary = (struct wndl_event_summary){0};
    each_event(log, index, add_event, summary);
    if (summary->high <= summary->low)
        return;
    each_event(log, index, add_growth, summary);
    find_cause(summary);
    if (summary->cause != WNDL_MEMLOG_OTHER)
        each_event(log, index, add_source, summary);
}
