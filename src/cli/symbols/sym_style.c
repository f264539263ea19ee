/* SPDX-License-Identifier: MIT */
#include "cli/symbols/sym_style.h"

#include "base/json.h"
#include "symbolize/demangle/msvc.h"

#include <inttypes.h>
#include <string.h>

/* The version of docs/formats/sym-json.md. */
#define JSON_HEAD "{\"format\":\"windlass-sym\",\"version\":1"

static const char *or_unknown(const char *text)
{
    return text[0] == '\0' ? "??" : text;
}

static const char *name_of(
    const struct wndl_sym_style *style, const struct wndl_symbol_frame *frame)
{
    return style->demangled ? frame->function : frame->mangled;
}

static const char *file_of(
    const struct wndl_sym_style *style, const struct wndl_symbol_frame *frame)
{
    const char *slash = strrchr(frame->file, '/');
    return style->basenames && slash != NULL ? slash + 1 : frame->file;
}

/* ---- GNU */

/* The version after the name of a symbol: "f@@V2". The '@' in names of Windows
 * begins no version: "?f@@YAHH@Z", "@f@8", "_f@8". */
static const char *version_of(const char *symbol)
{
    const char *at = strchr(symbol, '@');
    if (at == NULL || at == symbol ||
        wndl_msvc_is_mangled(
            (struct wndl_bytes){(const uint8_t *)symbol, strlen(symbol)}))
        return "";
    return at[1 + strspn(at + 1, "0123456789")] == '\0' ? "" : at;
}

/* A name that only the symbol table has gets its version there, as in
 * "f(int)@@V2". */
static void gnu_name(struct wndl_buf *out, const struct wndl_sym_style *style,
    const struct wndl_symbol_frame *frame)
{
    const char *name = name_of(style, frame);
    wndl_buf_text(out, or_unknown(name));
    if (style->demangled && frame->language == 0 && strchr(name, '@') == NULL)
        wndl_buf_text(out, version_of(frame->mangled));
}

static void gnu_frame(struct wndl_buf *out, const struct wndl_sym_style *style,
    const struct wndl_symbol_frame *frame)
{
    if (style->functions) {
        gnu_name(out, style, frame);
        wndl_buf_text(out, style->pretty ? " at " : "\n");
    }
    wndl_buf_text(out, or_unknown(file_of(style, frame)));
    if (frame->line == 0)
        wndl_buf_text(out, ":?\n");
    else
        wndl_buf_printf(out, ":%" PRIu32 "\n", frame->line);
}

static void gnu_answer(struct wndl_buf *out, const struct wndl_sym_style *style,
    const struct wndl_sym_query *query, const struct wndl_symbols *answer)
{
    if (style->addresses)
        wndl_buf_printf(out, "0x%0*" PRIx64 "%s", (int)style->digits,
            query->address, style->pretty ? ": " : "\n");
    if (answer->count == 0 && style->functions)
        wndl_buf_text(out, style->pretty ? "?? " : "??\n");
    if (answer->count == 0)
        wndl_buf_text(out, "??:0\n");
    size_t count = style->inlines || answer->count == 0 ? answer->count : 1;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && style->pretty)
            wndl_buf_text(out, " (inlined by) ");
        gnu_frame(out, style, &answer->frames[i]);
    }
}

/* ---- LLVM */

static void llvm_frame(struct wndl_buf *out, const struct wndl_sym_style *style,
    const struct wndl_symbol_frame *frame)
{
    wndl_buf_text(out, or_unknown(name_of(style, frame)));
    wndl_buf_text(out, style->pretty ? " at " : "\n");
    wndl_buf_printf(out, "%s:%" PRIu32 ":%" PRIu32 "\n",
        or_unknown(file_of(style, frame)), frame->line, frame->column);
}

static void llvm_answer(struct wndl_buf *out,
    const struct wndl_sym_style *style, const struct wndl_sym_query *query,
    const struct wndl_symbols *answer)
{
    static const struct wndl_symbol_frame unknown = {
        .function = "", .mangled = "", .file = ""};
    if (style->addresses && query->has_address)
        wndl_buf_printf(out, "0x%" PRIx64 "%s", query->address,
            style->pretty ? ": " : "\n");
    if (answer->count == 0)
        llvm_frame(out, style, &unknown);
    for (size_t i = 0; i < answer->count; i++) {
        if (i > 0 && style->pretty)
            wndl_buf_text(out, " (inlined by) ");
        llvm_frame(out, style, &answer->frames[i]);
    }
    wndl_buf_byte(out, '\n');
}

/* ---- JSON */

static void json_member(
    struct wndl_buf *out, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    wndl_buf_printf(out, ",\"%s\":", name);
    wndl_json_text(out, text);
}

static void json_place(
    struct wndl_buf *out, const struct wndl_sym_style *style, uint64_t rva)
{
    wndl_buf_printf(out,
        "\"address\":\"0x%" PRIx64 "\",\"rva\":\"0x%" PRIx64 "\"",
        rva + style->link_base, rva);
}

static void json_frame(struct wndl_buf *out, const struct wndl_sym_style *style,
    const struct wndl_symbol_frame *frame)
{
    wndl_buf_printf(out, "{\"inlined\":%s", frame->inlined ? "true" : "false");
    json_member(out, "function", name_of(style, frame));
    json_member(out, "mangled", frame->mangled);
    json_member(out, "file", file_of(style, frame));
    if (frame->line != 0)
        wndl_buf_printf(out, ",\"line\":%" PRIu32, frame->line);
    if (frame->column != 0)
        wndl_buf_printf(out, ",\"column\":%" PRIu32, frame->column);
    wndl_buf_text(out, ",\"start\":{");
    json_place(out, style, frame->function_rva);
    wndl_buf_byte(out, '}');
    json_member(out, "language", wndl_symbol_language_name(frame->language));
    wndl_buf_byte(out, '}');
}

static void json_answer(struct wndl_buf *out,
    const struct wndl_sym_style *style, const struct wndl_sym_query *query,
    const struct wndl_symbols *answer)
{
    struct wndl_bytes input = {(const uint8_t *)query->text, query->size};
    wndl_buf_text(out, JSON_HEAD ",\"input\":");
    wndl_json_string(out, input);
    if (query->has_address) {
        wndl_buf_byte(out, ',');
        json_place(out, style, query->rva);
    }
    wndl_buf_text(out, ",\"frames\":[");
    for (size_t i = 0; i < answer->count; i++) {
        if (i > 0)
            wndl_buf_byte(out, ',');
        json_frame(out, style, &answer->frames[i]);
    }
    wndl_buf_text(out, "]}\n");
}

void wndl_sym_write_answer(struct wndl_buf *out,
    const struct wndl_sym_style *style, const struct wndl_sym_query *query,
    const struct wndl_symbols *answer)
{
    switch (style->format) {
    case WNDL_SYM_GNU:
        gnu_answer(out, style, query, answer);
        break;
    case WNDL_SYM_LLVM:
        llvm_answer(out, style, query, answer);
        break;
    case WNDL_SYM_JSON:
        json_answer(out, style, query, answer);
        break;
    }
}

/* ---- functions */

static void json_function(struct wndl_buf *out,
    const struct wndl_sym_style *style,
    const struct wndl_symbol_function *function, const char *name)
{
    wndl_buf_text(out, JSON_HEAD);
    json_member(out, "function", name);
    json_member(out, "mangled", function->mangled);
    wndl_buf_text(out, ",\"ranges\":[");
    for (size_t i = 0; i < function->range_count; i++) {
        wndl_buf_text(out, i == 0 ? "{" : ",{");
        json_place(out, style, function->ranges[i].rva);
        if (function->ranges[i].size != 0)
            wndl_buf_printf(
                out, ",\"size\":%" PRIu64, function->ranges[i].size);
        wndl_buf_byte(out, '}');
    }
    wndl_buf_byte(out, ']');
    json_member(out, "language", wndl_symbol_language_name(function->language));
    wndl_buf_text(out, "}\n");
}

/* START-END, or START alone where the end is not known. */
static void text_range(struct wndl_buf *out, const struct wndl_sym_style *style,
    struct wndl_symbol_range range, const char *before)
{
    int digits = (int)style->digits;
    uint64_t start = range.rva + style->image_base;
    wndl_buf_printf(out, "%s0x%0*" PRIx64, before, digits, start);
    if (range.size != 0)
        wndl_buf_printf(out, "-0x%0*" PRIx64, digits, start + range.size);
}

void wndl_sym_write_function(struct wndl_buf *out,
    const struct wndl_sym_style *style,
    const struct wndl_symbol_function *function)
{
    const char *name =
        style->demangled ? function->function : function->mangled;
    if (style->format == WNDL_SYM_JSON) {
        json_function(out, style, function, name);
        return;
    }
    for (size_t i = 0; i < function->range_count; i++)
        text_range(out, style, function->ranges[i], i == 0 ? "" : ",");
    wndl_buf_printf(out, " %s\n", or_unknown(name));
}
