/* SPDX-License-Identifier: MIT */
#include "out/event_log.h"

#include "base/json.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <windlass/memlog_roles.h>

/* ---- parts */

char *wndl_event_time(
    uint64_t real, bool is_short, char text[WNDL_EVENT_TIME_SIZE])
{
    const time_t seconds = (time_t)(real / 1000000000);
    struct tm date;
    if (gmtime_r(&seconds, &date) == NULL ||
        strftime(text, WNDL_EVENT_TIME_SIZE, is_short ? "%H:%M" : "%H:%M:%S",
            &date) == 0)
        snprintf(text, WNDL_EVENT_TIME_SIZE, "-");
    const size_t used = strlen(text);
    if (!is_short)
        snprintf(text + used, WNDL_EVENT_TIME_SIZE - used, ".%03u",
            (unsigned)(real / 1000000 % 1000));
    return text;
}

void wndl_event_put_tame(struct wndl_buf *out, struct wndl_bytes text)
{
    for (size_t i = 0; i < text.size;) {
        const uint8_t *p = text.data + i;
        const size_t left = text.size - i;
        const size_t length = p[0] < 0x80 ? 1 : wndl_utf8_length(p, left);
        if (length != 0 && !wndl_utf8_controls(p, left))
            wndl_buf_add(out, p, length);
        else
            wndl_buf_printf(out, "\\x%02x", p[0]);
        i += length == 0 || wndl_utf8_controls(p, left) ? 1 : length;
    }
}

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

static void put_name(struct wndl_buf *out, const char *name)
{
    wndl_event_put_tame(out, bytes_of(name));
}

static void put_scaled(
    struct wndl_buf *out, double value, double step, const char *const *units)
{
    while (value >= step && units[1] != NULL) {
        value /= step;
        units++;
    }
    wndl_buf_printf(out,
        value < 10 && value != (double)(int)value ? "%.1f %s" : "%.0f %s",
        value, *units);
}

static void put_signed(
    struct wndl_buf *out, int64_t value, const char *const *units)
{
    if (value < 0)
        wndl_buf_byte(out, '-');
    put_scaled(out, value < 0 ? -(double)value : (double)value, 1000, units);
}

void wndl_event_put_size(struct wndl_buf *out, int64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB", NULL};
    put_signed(out, bytes, units);
}

static void put_duration(struct wndl_buf *out, int64_t ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s", NULL};
    put_signed(out, ns, units);
}

static void put_value(struct wndl_buf *out, int64_t value, const char *unit)
{
    if (strcmp(unit, "bytes") == 0)
        wndl_event_put_size(out, value);
    else if (strcmp(unit, "ns") == 0)
        put_duration(out, value);
    else if (strcmp(unit, "address") == 0)
        wndl_buf_printf(out, "0x%" PRIx64, (uint64_t)value);
    else
        wndl_buf_printf(out, "%" PRId64, value);
    if (unit[0] == '\0' || strcmp(unit, "bytes") == 0 ||
        strcmp(unit, "ns") == 0 || strcmp(unit, "address") == 0)
        return;
    wndl_buf_byte(out, ' ');
    put_name(out, unit);
}

/* ---- a line */

/* The fields of the role in its own words. Returns how many those are. */
static size_t put_role(
    struct wndl_buf *out, const struct wndl_event *e, uint32_t role)
{
    if (role == WNDL_MEMLOG_COLLECTION && e->numbers >= 3) {
        wndl_event_put_size(out, e->number_at[0]);
        wndl_buf_text(out, " -> ");
        wndl_event_put_size(out, e->number_at[1]);
        wndl_buf_text(out, ", reclaimed ");
        wndl_event_put_size(out,
            (int64_t)((uint64_t)e->number_at[0] - (uint64_t)e->number_at[1]));
        wndl_buf_text(out, " in ");
        put_duration(out, e->number_at[2]);
        return 3;
    }
    if (role >= WNDL_MEMLOG_MAPPED && role <= WNDL_MEMLOG_DISCARDED &&
        e->numbers >= 2) {
        wndl_event_put_size(out, e->number_at[1]);
        wndl_buf_printf(out, " at 0x%" PRIx64, (uint64_t)e->number_at[0]);
        return 2;
    }
    return 0;
}

static const struct wndl_memlog_stored_field *field_of(
    const struct wndl_event_type *type, size_t index)
{
    static const struct wndl_memlog_stored_field none;
    return index < type->fields ? &type->field[index] : &none;
}

static void put_numbers(struct wndl_buf *out,
    const struct wndl_event_type *type, const struct wndl_event *e)
{
    for (size_t i = put_role(out, e, type->role); i < e->numbers; i++) {
        const struct wndl_memlog_stored_field *field = field_of(type, i);
        wndl_buf_text(out, i == 0 ? "" : ", ");
        if (field->name[0] != '\0') {
            put_name(out, field->name);
            wndl_buf_byte(out, ' ');
        }
        put_value(out, e->number_at[i], field->unit);
    }
}

static const char *phase_of(const struct wndl_event *event)
{
    return (event->flags & WNDL_MEMLOG_BEGIN) != 0 ? "begin"
           : (event->flags & WNDL_MEMLOG_END) != 0 ? "end"
                                                   : NULL;
}

void wndl_event_put_text(struct wndl_buf *out, const struct wndl_event_log *log,
    const struct wndl_event *event)
{
    const struct wndl_event_type *type = wndl_event_type_of(log, event);
    const char *phase = phase_of(event);
    put_name(out, type->name);
    if (phase != NULL)
        wndl_buf_printf(out, " %s", phase);
    if (event->numbers != 0 || event->text.size != 0)
        wndl_buf_text(out, ": ");
    put_numbers(out, type, event);
    if (event->text.size == 0)
        return;
    wndl_buf_text(out, event->numbers == 0 ? "" : ", ");
    wndl_event_put_tame(out, event->text);
}

void wndl_event_put_line(struct wndl_buf *out, const struct wndl_event_log *log,
    const struct wndl_event *event)
{
    const struct wndl_event_process *process =
        wndl_event_process_of(log, event);
    char time[WNDL_EVENT_TIME_SIZE];
    wndl_buf_printf(out, "%s ", wndl_event_time(event->real, false, time));
    put_name(out, process->name);
    wndl_buf_printf(out, "[%" PRIu32 "] ", process->process);
    wndl_event_put_text(out, log, event);
    wndl_buf_byte(out, '\n');
}

/* ---- JSON */

static void put_json_process(
    struct wndl_buf *out, const struct wndl_event_process *process)
{
    wndl_buf_text(out, "\"process\":");
    wndl_json_text(out, process->name);
    wndl_buf_printf(out, ",\"pid\":%" PRIu32, process->process);
}

static void put_json_fields(struct wndl_buf *out,
    const struct wndl_event_type *type, const struct wndl_event *event)
{
    wndl_buf_text(out, ",\"fields\":[");
    for (size_t i = 0; i < event->numbers; i++) {
        const struct wndl_memlog_stored_field *field = field_of(type, i);
        wndl_buf_text(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        wndl_json_text(out, field->name);
        wndl_buf_text(out, ",\"unit\":");
        wndl_json_text(out, field->unit);
        wndl_buf_printf(out, ",\"value\":%" PRId64 "}", event->number_at[i]);
    }
    wndl_buf_byte(out, ']');
}

static void put_json_frames(
    struct wndl_buf *out, const struct wndl_event *event)
{
    wndl_buf_text(out, ",\"frames\":[");
    for (size_t i = 0; i < event->frame_count; i++)
        wndl_buf_printf(
            out, "%s\"0x%" PRIx64 "\"", i == 0 ? "" : ",", event->frames[i]);
    wndl_buf_byte(out, ']');
}

void wndl_event_put_json(struct wndl_buf *out, const struct wndl_event_log *log,
    const struct wndl_event *event)
{
    const struct wndl_event_type *type = wndl_event_type_of(log, event);
    const char *phase = phase_of(event);
    wndl_buf_printf(out, "{\"time\":%" PRIu64 ".%09" PRIu64 ",",
        event->real / 1000000000, event->real % 1000000000);
    put_json_process(out, wndl_event_process_of(log, event));
    wndl_buf_printf(out,
        ",\"thread\":%" PRIu32 ",\"number\":%" PRIu64 ",\"type\":",
        event->thread, event->number);
    wndl_json_text(out, type->name);
    wndl_buf_printf(out, ",\"role\":\"%s\"", wndl_event_role_name(type->role));
    if (phase != NULL)
        wndl_buf_printf(out, ",\"phase\":\"%s\"", phase);
    put_json_fields(out, type, event);
    if (event->text.size != 0) {
        wndl_buf_text(out, ",\"text\":");
        wndl_json_string(out, event->text);
    }
    if (event->frame_count != 0)
        put_json_frames(out, event);
    wndl_buf_text(out, "}\n");
}

/* ---- a summary */

static void put_growth(struct wndl_buf *out, const struct wndl_event_summary *s)
{
    static const char *const things[WNDL_EVENT_ROLES] = {
        [WNDL_MEMLOG_MAPPED] = "mapping",
        [WNDL_MEMLOG_CODE] = "mapping of code",
        [WNDL_MEMLOG_LOADED] = "load",
    };
    char from[WNDL_EVENT_TIME_SIZE];
    char to[WNDL_EVENT_TIME_SIZE];
    const uint64_t grown = s->high - s->low;
    wndl_buf_text(out, "RSS grew ");
    wndl_event_put_size(out, (int64_t)grown);
    wndl_buf_printf(out, " between %s and %s",
        wndl_event_time(s->low_at, true, from),
        wndl_event_time(s->high_at, true, to));
    if (s->cause == WNDL_MEMLOG_OTHER)
        return;
    const uint64_t part = s->cause_bytes < grown ? s->cause_bytes : grown;
    const char *end = s->cause_count == 1 ? "" : "s";
    wndl_buf_printf(out, "; %.0f %% of it in %" PRIu64 " ",
        100.0 * (double)part / (double)grown, s->cause_count);
    if (s->cause == WNDL_MEMLOG_CODE)
        wndl_buf_printf(out, "mapping%s of code", end);
    else
        wndl_buf_printf(out, "%s%s", things[s->cause], end);
    if (s->most.bytes == 0)
        return;
    wndl_buf_text(out, " (");
    wndl_event_put_tame(out, s->most.text);
    wndl_buf_text(out, ": ");
    wndl_event_put_size(out, (int64_t)s->most.bytes);
    wndl_buf_byte(out, ')');
}

static void put_sum(
    struct wndl_buf *out, const struct wndl_event_summary *s, uint32_t role)
{
    if (s->count[role] == 0)
        return;
    wndl_buf_printf(out, "; %s ", wndl_event_role_name(role));
    wndl_event_put_size(out, (int64_t)s->bytes[role]);
    wndl_buf_printf(out, " in %" PRIu64, s->count[role]);
}

static void put_collections(
    struct wndl_buf *out, const struct wndl_event_summary *s)
{
    char at[WNDL_EVENT_TIME_SIZE];
    const uint64_t count = s->count[WNDL_MEMLOG_COLLECTION];
    if (count == 0)
        return;
    wndl_buf_printf(out, "; %" PRIu64 " collection%s reclaimed ", count,
        count == 1 ? "" : "s");
    wndl_event_put_size(out, (int64_t)s->reclaimed);
    if (s->reclaimed_at == 0)
        wndl_buf_text(out, ", none more than 10 MB");
    else
        wndl_buf_printf(out, ", the last one more than 10 MB at %s",
            wndl_event_time(s->reclaimed_at, true, at));
}

void wndl_event_put_summary(struct wndl_buf *out,
    const struct wndl_event_process *process,
    const struct wndl_event_summary *s)
{
    put_name(out, process->name);
    wndl_buf_printf(out, "[%" PRIu32 "]: ", process->process);
    if (s->high > s->low)
        put_growth(out, s);
    else
        wndl_buf_text(out,
            s->reports == 0 ? "no report of its size" : "RSS did not grow");
    for (uint32_t role = WNDL_MEMLOG_MAPPED; role <= WNDL_MEMLOG_LOADED; role++)
        put_sum(out, s, role);
    put_collections(out, s);
    wndl_buf_byte(out, '\n');
}

void wndl_event_put_summary_json(struct wndl_buf *out,
    const struct wndl_event_process *process,
    const struct wndl_event_summary *s)
{
    wndl_buf_byte(out, '{');
    put_json_process(out, process);
    wndl_buf_printf(out,
        ",\"listed\":%" PRIu64 ",\"overwritten\":%" PRIu64
        ",\"dropped\":%" PRIu64 ",\"grown\":%" PRIu64 ",\"from\":%" PRIu64
        ",\"to\":%" PRIu64 ",\"cause\":\"%s\",\"cause_bytes\":%" PRIu64
        ",\"cause_count\":%" PRIu64 ",\"cause_text_bytes\":%" PRIu64
        ",\"cause_text\":",
        process->listed, process->overwritten, process->dropped,
        s->high - s->low, s->low_at / 1000000000, s->high_at / 1000000000,
        wndl_event_role_name(s->cause), s->cause_bytes, s->cause_count,
        s->most.bytes);
    wndl_json_string(out, s->most.text);
    wndl_buf_printf(out, ",\"reclaimed\":%" PRIu64 "}\n", s->reclaimed);
}
