/* SPDX-License-Identifier: MIT */
#include "out/report_json/annotated.h"

#include "out/core/json_put.h"

enum { SCHEMA_VERSION = 1 };

struct writing {
    struct wndl_json j;
    const struct wndl_annotation *of;
    const struct wndl_annotated *a;
};

static void put_self(struct writing *w, const struct wndl_cost *self)
{
    wndl_json_put_number(&w->j, "self", self->samples);
    wndl_json_put_number(
        &w->j, w->of->of_heap ? "self_bytes" : "self_ns", self->time);
}

static void put_total(struct writing *w, const struct wndl_cost *total)
{
    wndl_json_put_number(&w->j, "total", total->samples);
    wndl_json_put_number(
        &w->j, w->of->of_heap ? "total_bytes" : "total_ns", total->time);
}

static void put_place(struct writing *w, uint32_t file, uint32_t line)
{
    if (file != 0)
        wndl_json_put_id(&w->j, "file", file);
    if (line != 0)
        wndl_json_put_number(&w->j, "line", line);
}

static void open_list(struct writing *w, const char *name)
{
    wndl_json_put_key(&w->j, name);
    wndl_json_put_open(&w->j, '[');
}

/* ---- lists */

static void put_files(struct writing *w)
{
    const struct wndl_annotated_file *files = w->a->files.data;
    open_list(w, "files");
    for (size_t i = 0; i < w->a->files.len; i++) {
        wndl_json_put_open_line(&w->j);
        wndl_json_put_id(&w->j, "file", files[i].file);
        wndl_json_put_text(&w->j, "path", files[i].path);
        if (files[i].problem != NULL)
            wndl_json_put_text(&w->j, "problem", files[i].problem);
        if (files[i].is_newer)
            wndl_json_put_truth(&w->j, "changed", true);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

static void put_source(struct writing *w, uint32_t file, uint32_t line)
{
    const struct wndl_annotated_file *of = wndl_annotated_file(w->a, file);
    if (of != NULL && of->problem == NULL && line != 0 &&
        line <= of->line_count)
        wndl_json_put_string(&w->j, "source", wndl_annotated_source(of, line));
}

static void put_lines(struct writing *w)
{
    const struct wndl_annotated_line *lines = w->a->lines.data;
    open_list(w, "lines");
    for (size_t i = 0; i < w->a->lines.len; i++) {
        wndl_json_put_open_line(&w->j);
        put_place(w, lines[i].file, lines[i].line);
        put_self(w, &lines[i].self);
        put_total(w, &lines[i].total);
        put_source(w, lines[i].file, lines[i].line);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

/* The name, file and line of a place in the code. */
static void put_location(struct writing *w, uint32_t index)
{
    const struct wndl_symbolized *s = w->of->symbolized;
    const struct wndl_location *at = wndl_vec_at(&s->locations, index);
    const struct wndl_function *f = wndl_vec_at(&s->functions, at->function);
    const struct wndl_module *module = wndl_vec_at(&s->modules, f->module);
    wndl_json_put_id(&w->j, "function", f->name);
    wndl_json_put_id(&w->j, "module", module->path);
    put_place(w, at->file, at->line);
}

static void put_inlined(struct writing *w)
{
    const struct wndl_annotated_inlined *inlined = w->a->inlined.data;
    open_list(w, "inlined");
    for (size_t i = 0; i < w->a->inlined.len; i++) {
        const struct wndl_location *at =
            wndl_vec_at(&w->of->symbolized->locations, inlined[i].location);
        wndl_json_put_open_line(&w->j);
        wndl_json_put_id(&w->j, "at_file", inlined[i].file);
        wndl_json_put_number(&w->j, "at_line", inlined[i].line);
        put_location(w, inlined[i].location);
        put_self(w, &inlined[i].self);
        put_source(w, at->file, at->line);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

static void put_code(struct writing *w)
{
    const struct wndl_annotated_code *code = w->a->code.data;
    if (w->a->code_problem != NULL)
        wndl_json_put_text(&w->j, "code_problem", w->a->code_problem);
    open_list(w, "instructions");
    for (size_t i = 0; i < w->a->code.len; i++) {
        wndl_json_put_open_line(&w->j);
        wndl_json_put_number(&w->j, "address", w->a->image_base + code[i].rva);
        wndl_json_put_number(&w->j, "size", code[i].size);
        wndl_json_put_text(&w->j, "text", code[i].text);
        wndl_json_put_id(&w->j, "function", code[i].function);
        put_place(w, code[i].file, code[i].line);
        put_self(w, &code[i].self);
        put_total(w, &code[i].total);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

static void put_callers(struct writing *w)
{
    const struct wndl_annotated_caller *callers = w->a->callers.data;
    open_list(w, "callers");
    for (size_t i = 0; i < w->a->callers.len; i++) {
        wndl_json_put_open_line(&w->j);
        if (callers[i].location != WNDL_NO_INDEX)
            put_location(w, callers[i].location);
        put_total(w, &callers[i].total);
        wndl_json_put_close(&w->j, '}');
    }
    wndl_json_put_close(&w->j, ']');
}

/* ---- the whole */

static void put_function(struct writing *w)
{
    const struct wndl_symbolized *s = w->of->symbolized;
    const struct wndl_function *f = wndl_vec_at(&s->functions, w->a->function);
    const struct wndl_module *module = wndl_vec_at(&s->modules, f->module);
    wndl_json_put_open_line(&w->j);
    wndl_json_put_id(&w->j, "function", f->name);
    wndl_json_put_id(&w->j, "module", module->path);
    put_place(w, f->file, f->line);
    put_self(w, &w->a->self);
    put_total(w, &w->a->total);
    put_files(w);
    put_lines(w);
    put_inlined(w);
    put_code(w);
    put_callers(w);
    wndl_json_put_close(&w->j, '}');
}

static const char *kind_of(const struct wndl_annotation *of)
{
    static const char *const times[] = {
        [WNDL_TIME_CPU] = "cpu",
        [WNDL_TIME_BLOCKED] = "blocked",
        [WNDL_TIME_WALL] = "wall",
    };
    return of->of_heap ? "heap" : times[of->time];
}

void wndl_annotated_json(const struct wndl_annotation *of, size_t max_functions,
    struct wndl_buf *out)
{
    struct writing w = {.j = {.out = out, .s = of->symbolized}, .of = of};
    wndl_json_put_open(&w.j, '{');
    wndl_json_put_text(&w.j, "format", "windlass-annotate");
    wndl_json_put_number(&w.j, "version", SCHEMA_VERSION);
    wndl_json_recording(&w.j);
    wndl_json_put_text(&w.j, "costs", kind_of(of));
    put_total(&w, &of->all);
    wndl_json_put_number(&w.j, "function_count", of->functions.len);
    open_list(&w, "functions");
    for (size_t i = 0; i < of->functions.len && i < max_functions; i++) {
        w.a = wndl_vec_at(&of->functions, i);
        put_function(&w);
    }
    wndl_json_put_close(&w.j, ']');
    wndl_json_put_close(&w.j, '}');
    wndl_buf_byte(out, '\n');
}
