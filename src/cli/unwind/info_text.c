/* SPDX-License-Identifier: MIT */
#include "cli/unwind/info_text.h"

#include "base/json.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* For text, and for JSON. */
static const char *const way_names[WNDL_WAYS][2] = {
    [WNDL_WAY_FAST] = {"by the stack or frame pointer", "fast"},
    [WNDL_WAY_REALIGNED] = {"by a saved address (realigned stacks)",
        "realigned"},
    [WNDL_WAY_SIGNAL] = {"signal frames", "signal_frame"},
    [WNDL_WAY_OUTERMOST] = {"outermost frames", "outermost"},
    [WNDL_WAY_FULL] = {"by all registers (slow)", "full"},
};

static const char *const reject_names[WNDL_REJECTS][2] = {
    [WNDL_REJECT_DAMAGED_RECORD] = {"damaged records", "damaged_record"},
    [WNDL_REJECT_UNSUPPORTED_RECORD] = {"records of an unsupported kind",
        "unsupported_record"},
    [WNDL_REJECT_DAMAGED_PROGRAM] = {"damaged programs", "damaged_program"},
    [WNDL_REJECT_NO_CFA] = {"rows without a CFA", "no_cfa"},
    [WNDL_REJECT_NO_CODE] = {"records without code", "no_code"},
    [WNDL_REJECT_OVERLAP] = {"overlapping functions", "overlap"},
    [WNDL_REJECT_LIMIT] = {"programs that take too long", "limit"},
    [WNDL_REJECT_CANTUNWIND] = {"entries that forbid unwinding", "cantunwind"},
};

/* Rounded down: 100.0 % means all of it. */
static uint32_t tenths(const struct wndl_unwind_section *s)
{
    unsigned __int128 share = (unsigned __int128)s->covered * 1000;
    return s->size == 0 ? 0 : (uint32_t)(share / s->size);
}

static void say_coverage(
    struct wndl_buf *out, const struct wndl_unwind_section *s)
{
    uint32_t share = tenths(s);
    wndl_buf_printf(out,
        "CFI covers %" PRIu32 ".%" PRIu32 " %% of %s (%" PRIu64 " of %" PRIu64
        " bytes)\n",
        share / 10, share % 10, s->name, s->covered, s->size);
}

struct wndl_unwind_info_share wndl_unwind_info_share(
    const struct wndl_unwind_info *info)
{
    const struct wndl_unwind_section *best = NULL;
    for (size_t i = 0; i < info->sections.len; i++) {
        const struct wndl_unwind_section *s = wndl_vec_at(&info->sections, i);
        bool is_text = strcmp(s->name, ".text") == 0;
        if (best == NULL || is_text || s->size > best->size)
            best = s;
        if (is_text)
            break;
    }
    if (best == NULL)
        return (struct wndl_unwind_info_share){0};
    return (struct wndl_unwind_info_share){best->name, tenths(best)};
}

static void say_rejected(struct wndl_buf *out,
    const struct wndl_unwind_info *info, enum wndl_unwind_reject reason)
{
    const struct wndl_unwind_rejected *r = &info->rejected[reason];
    char text[600];
    if (r->count == 0)
        return;
    wndl_buf_printf(out, "  %s: %" PRIu64, reject_names[reason][0], r->count);
    if (r->bytes != 0)
        wndl_buf_printf(out, ", %" PRIu64 " bytes of code", r->bytes);
    if (r->first.status != WNDL_OK)
        wndl_buf_printf(
            out, "; first: %s", wndl_error_text(&r->first, text, sizeof text));
    wndl_buf_byte(out, '\n');
}

static uint64_t rejected_count(const struct wndl_unwind_info *info)
{
    uint64_t count = 0;
    for (size_t i = 0; i < WNDL_REJECTS; i++)
        count += info->rejected[i].count;
    return count;
}

static void say_code(struct wndl_buf *out, const struct wndl_code_rules *code)
{
    const uint64_t parts[] = {
        code->made, code->disagree, code->lost, code->unreached};
    static const char *const names[] = {"rules from code", "ways disagree",
        "nothing known leads to the caller", "not reached"};
    wndl_buf_printf(out, "code without other rules: %" PRIu64 " bytes%s\n",
        code->bytes, code->is_cut ? ", not all of it was followed" : "");
    for (size_t i = 0; i < sizeof parts / sizeof *parts && code->bytes; i++)
        wndl_buf_printf(out, "  %s: %" PRIu64 " bytes, %.1f %%\n", names[i],
            parts[i], 100.0 * (double)parts[i] / (double)code->bytes);
}

void wndl_unwind_info_say(
    struct wndl_buf *out, const struct wndl_unwind_info *info)
{
    wndl_buf_printf(out,
        "%s: %zu functions, %" PRIu64 " rows, %zu ranges, %" PRIu32
        " distinct rules\n",
        info->source, info->functions.len, info->rows, info->ranges.len,
        wndl_intern_count(&info->rules) - 1);
    for (size_t i = 0; i < info->sections.len; i++)
        say_coverage(out, wndl_vec_at(&info->sections, i));
    if (info->from_code)
        say_code(out, &info->code);
    if (info->knows_ways)
        wndl_buf_text(out, "rows, by how the caller is found:\n");
    for (size_t i = 0; i < WNDL_WAYS && info->knows_ways; i++)
        if (info->ways[i] != 0)
            wndl_buf_printf(
                out, "  %s: %" PRIu64 "\n", way_names[i][0], info->ways[i]);
    wndl_buf_text(
        out, rejected_count(info) == 0 ? "rejected: nothing\n" : "rejected:\n");
    for (unsigned i = 0; i < WNDL_REJECTS; i++)
        say_rejected(out, info, (enum wndl_unwind_reject)i);
}

void wndl_unwind_info_say_range(struct wndl_buf *out,
    const struct wndl_unwind_info *info, const struct wndl_unwind_range *range)
{
    wndl_buf_printf(out, "[0x%" PRIx64 " .. 0x%" PRIx64 "]: ", range->start,
        range->end - 1);
    wndl_buf_text(out, wndl_intern_text(&info->rules, range->rule));
    wndl_buf_byte(out, '\n');
}

void wndl_unwind_info_say_at(
    struct wndl_buf *out, const struct wndl_unwind_info *info, uint64_t svma)
{
    const struct wndl_unwind_function *f =
        wndl_unwind_info_function(info, svma);
    const struct wndl_unwind_range *range = wndl_unwind_info_find(info, svma);
    wndl_buf_printf(out, "0x%" PRIx64 ": ", svma);
    if (f == NULL)
        wndl_buf_text(out, "no call frame information\n");
    else
        wndl_buf_printf(out,
            "function [0x%" PRIx64 " .. 0x%" PRIx64 "], %s+0x%" PRIx64 "\n",
            f->start, f->end - 1,
            info->by_exidx ? info->source
                           : wndl_cfi_source_section(&info->cfi, f->fde),
            wndl_cfi_source_origin(&info->cfi, f->fde));
    if (range != NULL)
        wndl_unwind_info_say_range(out, info, range);
    else if (f != NULL)
        wndl_buf_text(out, "its rule here is rejected\n");
}

/* ---- JSON */

static void json_number(struct wndl_buf *out, const char *name, uint64_t value)
{
    wndl_json_text(out, name);
    wndl_buf_printf(out, ":%" PRIu64, value);
}

static void json_sections(
    struct wndl_buf *out, const struct wndl_unwind_info *info)
{
    wndl_buf_text(out, ",\n\"sections\":[");
    for (size_t i = 0; i < info->sections.len; i++) {
        const struct wndl_unwind_section *s = wndl_vec_at(&info->sections, i);
        wndl_buf_text(out, i == 0 ? "{\"name\":" : ",{\"name\":");
        wndl_json_text(out, s->name);
        wndl_buf_byte(out, ',');
        json_number(out, "start", s->start);
        wndl_buf_byte(out, ',');
        json_number(out, "bytes", s->size);
        wndl_buf_byte(out, ',');
        json_number(out, "covered", s->covered);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, ']');
}

static void json_rejected(
    struct wndl_buf *out, const struct wndl_unwind_info *info)
{
    char text[600];
    wndl_buf_text(out, ",\n\"rejected\":{");
    for (size_t i = 0; i < WNDL_REJECTS; i++) {
        const struct wndl_unwind_rejected *r = &info->rejected[i];
        wndl_buf_text(out, i == 0 ? "" : ",");
        wndl_json_text(out, reject_names[i][1]);
        wndl_buf_text(out, ":{");
        json_number(out, "count", r->count);
        wndl_buf_byte(out, ',');
        json_number(out, "bytes", r->bytes);
        if (r->first.status != WNDL_OK) {
            wndl_buf_text(out, ",\"first\":");
            wndl_json_text(out, wndl_error_text(&r->first, text, sizeof text));
        }
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, '}');
}

static void json_ways(struct wndl_buf *out, const struct wndl_unwind_info *info)
{
    if (!info->knows_ways)
        return;
    wndl_buf_text(out, ",\n\"rows_by\":{");
    for (size_t i = 0; i < WNDL_WAYS; i++) {
        wndl_buf_text(out, i == 0 ? "" : ",");
        json_number(out, way_names[i][1], info->ways[i]);
    }
    wndl_buf_byte(out, '}');
}

static void json_code(struct wndl_buf *out, const struct wndl_unwind_info *info)
{
    const struct wndl_code_rules *code = &info->code;
    if (!info->from_code)
        return;
    wndl_buf_text(out, ",\n\"code\":{");
    json_number(out, "bytes", code->bytes);
    wndl_buf_byte(out, ',');
    json_number(out, "made", code->made);
    wndl_buf_byte(out, ',');
    json_number(out, "disagree", code->disagree);
    wndl_buf_byte(out, ',');
    json_number(out, "lost", code->lost);
    wndl_buf_byte(out, ',');
    json_number(out, "unreached", code->unreached);
    wndl_buf_byte(out, '}');
}

static void json_lookup(
    struct wndl_buf *out, const struct wndl_unwind_info *info, uint64_t svma)
{
    const struct wndl_unwind_function *f =
        wndl_unwind_info_function(info, svma);
    const struct wndl_unwind_range *range = wndl_unwind_info_find(info, svma);
    wndl_buf_byte(out, '{');
    json_number(out, "address", svma);
    if (f != NULL) {
        wndl_buf_text(out, ",\"function\":{");
        json_number(out, "start", f->start);
        wndl_buf_byte(out, ',');
        json_number(out, "end", f->end);
        wndl_buf_byte(out, ',');
        json_number(out, "fde", wndl_cfi_source_origin(&info->cfi, f->fde));
        wndl_buf_byte(out, '}');
    }
    if (range != NULL) {
        wndl_buf_byte(out, ',');
        json_number(out, "start", range->start);
        wndl_buf_byte(out, ',');
        json_number(out, "end", range->end);
        wndl_buf_text(out, ",\"rule\":");
        wndl_json_text(out, wndl_intern_text(&info->rules, range->rule));
    }
    wndl_buf_byte(out, '}');
}

void wndl_unwind_info_json(struct wndl_buf *out,
    const struct wndl_unwind_info *info, const uint64_t *addresses,
    size_t count)
{
    wndl_buf_text(out, "{\"file\":");
    wndl_json_text(out, wndl_object_path(info->object));
    wndl_buf_text(out, ",\"section\":");
    wndl_json_text(out, info->source);
    wndl_buf_text(out, ",\n");
    json_number(out, "functions", info->functions.len);
    wndl_buf_byte(out, ',');
    json_number(out, "rows", info->rows);
    wndl_buf_byte(out, ',');
    json_number(out, "ranges", info->ranges.len);
    wndl_buf_byte(out, ',');
    json_number(out, "rules", wndl_intern_count(&info->rules) - 1);
    json_sections(out, info);
    json_ways(out, info);
    json_code(out, info);
    json_rejected(out, info);
    for (size_t i = 0; i < count; i++) {
        wndl_buf_text(out, i == 0 ? ",\n\"lookups\":[" : ",\n");
        json_lookup(out, info, addresses[i]);
    }
    wndl_buf_text(out, count == 0 ? "}\n" : "]}\n");
}
