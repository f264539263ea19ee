/* SPDX-License-Identifier: MIT */
/*
 * Visits all functions in the order of their addresses. In each, every place
 * where the answer may change is looked up; the lookups are a stream. FILE and
 * INLINE_ORIGIN records come first in the file but are complete only at the
 * end: FUNC records wait for them in memory.
 */
#include "analyze/binary/breakpad_dump.h"

#include "analyze/binary/breakpad_text.h"
#include "analyze/binary/unwind_info.h"
#include "dbg/pdb/pdb.h"
#include "obj/find/debug_id.h"
#include "obj/macho/macho.h"
#include "obj/packed/zip.h"
#include "obj/pe/pe.h"
#include "obj/wasm/wasm.h"
#include "symbolize/symbolizer.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { PIECE = 1 << 20 };

/* The code between two places where the answer may change. */
struct part {
    uint64_t start;
    uint64_t end;
};

struct dump {
    const char *path;
    const char *arch;
    const char *const *debug_dirs;
    struct wndl_mem *mem;
    const struct wndl_breakpad_sink *sink;
    struct wndl_arena arena;
    struct wndl_symbolizer *symbols;
    struct wndl_breakpad_text text;
    struct wndl_vec pieces;  /* struct wndl_bytes: of FUNC records */
    struct wndl_vec code;    /* struct wndl_symbol_range, ascending */
    struct wndl_vec publics; /* struct wndl_symbol_function */
    size_t at;               /* in `code` */
    struct wndl_vec changes; /* uint64_t: of code[at - 1] */
    size_t at_change;
    struct wndl_vec parts; /* struct part, requested and not answered yet */
    size_t at_part;
    bool is_pdb;
    bool has_stacks;         /* STACK WIN records */
    enum wndl_status status; /* set by failures that the stream cannot report */
};

/* ---- which code */

static int compare_ranges(const void *left, const void *right)
{
    const struct wndl_symbol_range *a = left;
    const struct wndl_symbol_range *b = right;
    return (a->rva > b->rva) - (a->rva < b->rva);
}

/* Sorts the code, without overlaps. */
static void put_in_order(struct wndl_vec *code)
{
    struct wndl_symbol_range *list = code->data;
    size_t kept = 0;
    uint64_t end = 0;
    if (code->len > 1)
        qsort(list, code->len, sizeof *list, compare_ranges);
    for (size_t i = 0; i < code->len; i++) {
        struct wndl_symbol_range range = list[i];
        uint64_t range_end = range.rva + range.size;
        if (range_end <= end || range_end < range.rva)
            continue;
        if (range.rva < end)
            range.rva = end;
        range.size = range_end - range.rva;
        end = range_end;
        list[kept++] = range;
    }
    code->len = kept;
}

static bool add_code(
    struct dump *d, const struct wndl_symbol_function *function)
{
    for (size_t i = 0; i < function->range_count; i++) {
        if (function->ranges[i].size == 0)
            continue;
        struct wndl_symbol_range *range = wndl_vec_push(&d->code);
        if (range == NULL)
            return false;
        *range = function->ranges[i];
    }
    return true;
}

/*
 * A symbol without a size becomes a PUBLIC record, unless lines are known for
 * the code up to `end`.
 */
static enum wndl_status add_label(
    struct dump *d, const struct wndl_symbol_function *function, uint64_t end)
{
    struct wndl_symbols answer;
    uint64_t start = function->ranges[0].rva;
    enum wndl_status status =
        wndl_symbolizer_lookup(d->symbols, start, &answer, NULL);
    if (status != WNDL_OK)
        return status == WNDL_NOT_FOUND ? WNDL_OK : status;
    bool has_lines = end > start && answer.frames[0].file[0] != '\0';
    void *slot = wndl_vec_push(has_lines ? &d->code : &d->publics);
    if (slot == NULL)
        return WNDL_NOMEM;
    if (has_lines)
        *(struct wndl_symbol_range *)slot =
            (struct wndl_symbol_range){start, end - start};
    else
        *(struct wndl_symbol_function *)slot = *function;
    return WNDL_OK;
}

static enum wndl_status list_code(struct dump *d)
{
    const struct wndl_symbol_function *functions;
    size_t count;
    if (wndl_symbolizer_functions(d->symbols, &functions, &count, NULL) !=
        WNDL_OK)
        return WNDL_NOMEM;
    for (size_t i = 0; i < count; i++) {
        const struct wndl_symbol_function *next =
            i + 1 < count ? &functions[i + 1] : NULL;
        bool is_label =
            functions[i].range_count == 1 && functions[i].ranges[0].size == 0;
        if (!add_code(d, &functions[i]))
            return WNDL_NOMEM;
        if (is_label && add_label(d, &functions[i],
                            next == NULL ? 0 : next->ranges[0].rva) != WNDL_OK)
            return WNDL_NOMEM;
    }
    if (!wndl_symbolizer_add_stubs(d->symbols, &d->code))
        return WNDL_NOMEM;
    put_in_order(&d->code);
    return WNDL_OK;
}

/* ---- FUNC records */

static bool next_range(struct dump *d)
{
    if (d->at == d->code.len || d->status != WNDL_OK)
        return false;
    d->at_change = 0;
    d->status = wndl_symbolizer_changes(
        d->symbols, wndl_vec_at(&d->code, d->at++), &d->changes);
    return d->status == WNDL_OK;
}

/* Gives the next place to look up. */
static bool next_part(void *context, uint64_t *rva)
{
    struct dump *d = context;
    while (d->at == 0 || d->at_change == d->changes.len)
        if (!next_range(d))
            return false;
    const uint64_t *changes = d->changes.data;
    const struct wndl_symbol_range *range = wndl_vec_at(&d->code, d->at - 1);
    struct part *part = wndl_vec_push(&d->parts);
    if (part == NULL) {
        d->status = WNDL_NOMEM;
        return false;
    }
    *rva = changes[d->at_change++];
    *part = (struct part){*rva, d->at_change == d->changes.len
                                    ? range->rva + range->size
                                    : changes[d->at_change]};
    return true;
}

/* Moves the finished records to their list. */
static bool keep_piece(struct dump *d)
{
    struct wndl_buf *out = &d->text.out;
    struct wndl_bytes *piece = wndl_vec_push(&d->pieces);
    if (piece == NULL || out->failed)
        return false;
    piece->data =
        (const uint8_t *)wndl_arena_copy(&d->arena, out->data, out->size);
    piece->size = out->size;
    wndl_buf_clear(out);
    return piece->data != NULL;
}

static bool add_part(struct dump *d, const struct wndl_symbols *answer)
{
    struct part part = *(struct part *)wndl_vec_at(&d->parts, d->at_part++);
    if (d->at_part == d->parts.len)
        d->at_part = d->parts.len = 0;
    return wndl_breakpad_text_add(&d->text, part.start, part.end, answer) &&
           (d->text.out.size < PIECE || keep_piece(d));
}

static enum wndl_status make_functions(struct dump *d)
{
    struct wndl_symbol_stream *stream;
    struct wndl_symbols answer;
    uint64_t rva;
    enum wndl_status status =
        wndl_symbol_stream_open(d->symbols, next_part, d, &stream, NULL);
    if (status != WNDL_OK)
        return status;
    while ((status = wndl_symbol_stream_next(stream, &rva, &answer, NULL)) ==
           WNDL_OK)
        if (!add_part(d, &answer)) {
            status = WNDL_NOMEM;
            break;
        }
    wndl_symbol_stream_close(stream);
    wndl_breakpad_text_end(&d->text);
    if (status == WNDL_NOMEM || d->status != WNDL_OK || !keep_piece(d))
        return WNDL_NOMEM;
    return WNDL_OK;
}

/* ---- the file */

static bool write_out(struct dump *d)
{
    struct wndl_buf *out = &d->text.out;
    bool taken = !out->failed && d->sink->write(d->sink->context,
                                     (struct wndl_bytes){out->data, out->size});
    wndl_buf_clear(out);
    return taken;
}

/* The reason why write_out failed. */
static enum wndl_status status_of(const struct dump *d)
{
    return d->text.out.failed ? WNDL_NOMEM : WNDL_IO;
}

static const char *machine_name(const struct wndl_object *object)
{
    bool wide = wndl_object_address_size(object) == 8;
    switch (wndl_object_machine(object)) {
    case EM_386:
        return "x86";
    case EM_X86_64:
        return "x86_64";
    case EM_ARM:
        return "arm";
    case EM_AARCH64:
        return "arm64";
    case EM_PPC:
        return "ppc";
    case EM_PPC64:
        return "ppc64";
    case EM_MIPS:
        return wide ? "mips64" : "mips";
    case EM_RISCV:
        return wide ? "riscv64" : "riscv";
    case EM_S390:
        return "s390";
    default:
        return wndl_object_is_wasm(object) ? "wasm32" : "unknown";
    }
}

static const char *pdb_machine_name(const struct wndl_pdb *pdb)
{
    switch (wndl_pdb_machine(pdb)) {
    case WNDL_PDB_X86:
        return "x86";
    case WNDL_PDB_X64:
        return "x86_64";
    case WNDL_PDB_ARM:
        return "arm";
    case WNDL_PDB_ARM64:
        return "arm64";
    default:
        return "unknown";
    }
}

/* Other tools request symbols of a Windows binary by its PDB file's name. */
static void add_name(struct dump *d, const struct wndl_object *object)
{
    struct wndl_bytes name =
        object == NULL ? (struct wndl_bytes){0} : wndl_pe_pdb_name(object);
    if (name.size == 0) {
        const char *slash = strrchr(d->path, '/');
        const char *file = slash == NULL ? d->path : slash + 1;
        name = (struct wndl_bytes){(const uint8_t *)file, strlen(file)};
    }
    wndl_breakpad_text_name(&d->text.out, name);
    wndl_buf_byte(&d->text.out, '\n');
}

/* Writes the module record of a PDB file that is read instead of a binary. */
static void add_pdb_module(struct dump *d, const struct wndl_pdb *pdb)
{
    char text[WNDL_DEBUG_ID_TEXT];
    const struct wndl_pdb_id *from = wndl_pdb_id(pdb);
    struct wndl_debug_id id = wndl_debug_id_of_build_id(
        (struct wndl_bytes){from->guid, sizeof from->guid}, false);
    id.age = from->age;
    wndl_buf_printf(&d->text.out, "MODULE windows %s %s ",
        pdb_machine_name(pdb), wndl_debug_id_text(&id, text));
    add_name(d, NULL);
}

static void add_module(struct dump *d, struct wndl_object *object)
{
    char text[WNDL_DEBUG_ID_TEXT];
    struct wndl_debug_id id = {.age = 0};
    struct wndl_buf *out = &d->text.out;
    struct wndl_bytes build_id = wndl_object_build_id(object);
    (void)wndl_object_debug_id(object, &id);
    char arch[WNDL_MACHO_ARCH];
    bool is_apple = wndl_macho_arch_of(object, arch);
    wndl_buf_printf(out, "MODULE %s %s %s ",
        is_apple                      ? "mac"
        : wndl_object_is_pe(object)   ? "windows"
        : wndl_object_is_wasm(object) ? "wasm"
                                      : "Linux",
        machine_name(object), wndl_debug_id_text(&id, text));
    add_name(d, object);
    if (build_id.size == 0 || is_apple || wndl_object_is_pe(object))
        return;
    wndl_buf_text(out, "INFO CODE_ID ");
    for (size_t i = 0; i < build_id.size; i++)
        wndl_buf_printf(out, "%02X", build_id.data[i]);
    wndl_buf_byte(out, '\n');
}

static enum wndl_status read_module(
    struct dump *d, struct wndl_bytes bytes, struct wndl_error *err)
{
    struct wndl_object *object = NULL;
    struct wndl_pdb *pdb = NULL;
    const struct wndl_object_source source = {bytes, d->path, d->arch};
    const struct wndl_pdb_source from = {.file = bytes, .path = d->path};
    d->is_pdb = wndl_pdb_is(bytes);
    enum wndl_status status =
        d->is_pdb ? wndl_pdb_open(&from, d->mem, &pdb, err)
                  : wndl_object_open_source(&source, d->mem, &object, err);
    if (status == WNDL_OK && d->is_pdb)
        add_pdb_module(d, pdb);
    else if (status == WNDL_OK)
        add_module(d, object);
    wndl_pdb_close(pdb);
    wndl_object_close(object);
    return status;
}

static enum wndl_status write_module(struct dump *d, struct wndl_error *err)
{
    struct wndl_file file = {0};
    struct wndl_bytes bytes;
    enum wndl_status status = wndl_zip_open_path(d->path, &file, &bytes, err);
    if (status == WNDL_OK)
        status = read_module(d, bytes, err);
    wndl_file_close(&file);
    if (status == WNDL_OK && !write_out(d))
        status = status_of(d);
    return status;
}

static bool write_strings(struct dump *d, const char *word,
    const struct wndl_breakpad_strings *strings)
{
    struct wndl_buf *out = &d->text.out;
    for (uint32_t i = 1; i < wndl_intern_count(&strings->list); i++) {
        wndl_buf_printf(out, "%s %u ", word, i);
        wndl_breakpad_text_name(out, wndl_intern_get(&strings->list, i));
        wndl_buf_byte(out, '\n');
        if (out->size >= PIECE && !write_out(d))
            return false;
    }
    return write_out(d);
}

static bool write_functions(struct dump *d)
{
    for (size_t i = 0; i < d->pieces.len; i++) {
        const struct wndl_bytes *piece = wndl_vec_at(&d->pieces, i);
        if (!d->sink->write(d->sink->context, *piece))
            return false;
    }
    return true;
}

static bool write_publics(struct dump *d)
{
    struct wndl_buf *out = &d->text.out;
    for (size_t i = 0; i < d->publics.len; i++) {
        const struct wndl_symbol_function *f = wndl_vec_at(&d->publics, i);
        struct wndl_bytes name = {
            (const uint8_t *)f->function, strlen(f->function)};
        if (name.size == 0)
            continue;
        wndl_buf_printf(
            out, "PUBLIC %llx 0 ", (unsigned long long)f->ranges[0].rva);
        wndl_breakpad_text_name(out, name);
        wndl_buf_byte(out, '\n');
    }
    return write_out(d);
}

static bool write_rules(struct dump *d, const struct wndl_unwind_info *info,
    struct wndl_error *refusal)
{
    size_t written = 0;
    struct wndl_buf *out = &d->text.out;
    for (size_t i = 0; i < info->functions.len; i++) {
        const size_t before = out->size;
        wndl_unwind_info_breakpad(out, info, wndl_vec_at(&info->functions, i));
        written += out->size - before;
        if (out->size >= PIECE && !write_out(d))
            return false;
    }
    if (written == 0) {
        wndl_fail(refusal, WNDL_NOT_FOUND,
            "its call frame information (%s) has no usable rule", info->source);
        wndl_error_set_file(refusal, d->path);
    }
    return write_out(d);
}

/* ---- rules */

static enum wndl_status write_stack(
    void *context, const struct wndl_pdb_stack *stack)
{
    struct dump *d = context;
    d->has_stacks = true;
    wndl_breakpad_text_stack(&d->text.out, stack);
    if (d->text.out.size < PIECE || write_out(d))
        return WNDL_OK;
    return status_of(d);
}

/* STACK WIN, for i386: readers ignore them for other code. */
static enum wndl_status write_stacks(struct dump *d)
{
    struct wndl_pdb *pdb = wndl_symbolizer_pdb(d->symbols);
    if (pdb == NULL || wndl_pdb_machine(pdb) != WNDL_PDB_X86)
        return WNDL_OK;
    const enum wndl_status status = wndl_pdb_visit_stacks(pdb, write_stack, d);
    return status != WNDL_OK || write_out(d) ? status : status_of(d);
}

static enum wndl_status write_unwinding(
    struct dump *d, struct wndl_error *refusal)
{
    struct wndl_unwind_info info;
    enum wndl_status status = write_stacks(d);
    if (status != WNDL_OK)
        return status;
    if (d->is_pdb) {
        wndl_fail(refusal, WNDL_NOT_FOUND,
            "only PDB files of i386 code hold unwind rules, and not all of "
            "them");
        wndl_error_set_file(refusal, d->path);
    } else {
        const struct wndl_unwind_info_request request = {
            d->path, d->arch, d->debug_dirs, false};
        status =
            wndl_unwind_info_open_request(&info, &request, d->mem, refusal);
        /* The same records are not written again in another form. */
        const bool is_written =
            d->has_stacks && status == WNDL_OK &&
            strcmp(info.source, WNDL_STACK_RECORD_SECTION) == 0;
        if (status == WNDL_OK && !is_written && !write_rules(d, &info, refusal))
            status = status_of(d);
        else if (status != WNDL_NOMEM)
            status = WNDL_OK;
        wndl_unwind_info_close(&info);
    }
    if (d->has_stacks)
        *refusal = (struct wndl_error){0};
    return status;
}

static enum wndl_status write_file(
    struct dump *d, struct wndl_breakpad_report *report, struct wndl_error *err)
{
    enum wndl_status status = list_code(d);
    if (status == WNDL_OK)
        status = make_functions(d);
    if (status == WNDL_OK)
        status = write_module(d, err);
    if (status != WNDL_OK)
        return status;
    if (!write_strings(d, "FILE", &d->text.files) ||
        !write_strings(d, "INLINE_ORIGIN", &d->text.origins) ||
        !write_functions(d) || !write_publics(d))
        return status_of(d);
    return write_unwinding(d, &report->no_unwinding);
}

static void init_dump(struct dump *d)
{
    wndl_arena_init(&d->arena, d->mem);
    wndl_vec_init(&d->pieces, &d->arena, sizeof(struct wndl_bytes));
    wndl_vec_init(&d->code, &d->arena, sizeof(struct wndl_symbol_range));
    wndl_vec_init(&d->publics, &d->arena, sizeof(struct wndl_symbol_function));
    wndl_vec_init(&d->changes, &d->arena, sizeof(uint64_t));
    wndl_vec_init(&d->parts, &d->arena, sizeof(struct part));
}

enum wndl_status wndl_breakpad_dump(const struct wndl_breakpad_request *request,
    struct wndl_breakpad_report *report, struct wndl_error *err)
{
    struct dump d = {.path = request->path,
        .arch = request->options == NULL ? NULL : request->options->arch,
        .debug_dirs =
            request->options == NULL ? NULL : request->options->debug_dirs,
        .mem = request->mem,
        .sink = &request->sink};
    *report = (struct wndl_breakpad_report){0};
    init_dump(&d);
    enum wndl_status status = wndl_symbolizer_open_with(
        d.mem, d.path, request->options, &d.symbols, err);
    if (status == WNDL_OK) {
        status = wndl_breakpad_text_init(&d.text, &d.arena, d.mem)
                     ? write_file(&d, report, err)
                     : WNDL_NOMEM;
        wndl_symbolizer_get_info(d.symbols, &report->symbols);
        wndl_breakpad_text_free(&d.text);
    }
    wndl_symbolizer_close(d.symbols);
    wndl_arena_free(&d.arena);
    if (status == WNDL_NOMEM)
        return wndl_fail(err, status, "out of memory");
    return status;
}
