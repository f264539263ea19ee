/* SPDX-License-Identifier: MIT */
#include "cli/check/examine.h"

#include "cli/core/command.h"
#include "cli/core/find_program.h"
#include "cli/valgrind/launch.h"
#include "obj/core/object.h"
#include "os/file.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FOLLOWED = 4, NOTE_SIZE = 600 };

/* Forms of DWARF 5 (7.5.6). */
enum {
    FORM_STRX = 0x1a,
    FORM_ADDRX = 0x1b,
    FORM_IMPLICIT_CONST = 0x21,
    FORM_LOCLISTX = 0x22,
    FORM_RNGLISTX = 0x23,
    FORM_STRX1 = 0x25,
    FORM_ADDRX4 = 0x2c,
};

void wndl_check_note(struct wndl_vec *notes, const char *format, ...)
{
    char text[NOTE_SIZE];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    for (size_t i = 0; i < notes->len; i++) {
        if (strcmp(*(const char **)wndl_vec_at(notes, i), text) == 0)
            return;
    }
    const char *copy = wndl_arena_copy(notes->arena, text, strlen(text));
    const char **slot = copy == NULL ? NULL : wndl_vec_push(notes);
    if (slot != NULL)
        *slot = copy;
}

/* ---- the file */

static bool find(struct wndl_check_program *program, const char *command,
    struct wndl_vec *notes)
{
    char path[PATH_MAX], next[PATH_MAX];
    if (!wndl_program_find(command, path)) {
        wndl_cli_error("cannot find the program '%s'", command);
        return false;
    }
    for (int i = 0; i < FOLLOWED && wndl_program_interpreter(path, next); i++) {
        wndl_check_note(notes,
            "%s is a script, and %s is what is checked; --wrap PATTERN checks "
            "programs that it starts instead",
            path, next);
        snprintf(path, sizeof path, "%s", next);
    }
    if (realpath(path, program->path) == NULL)
        snprintf(program->path, sizeof program->path, "%s", path);
    return true;
}

/* Whether Valgrind can start it. */
static bool can_run(const char *path, struct wndl_vec *notes)
{
    bool is_static;
    if (!wndl_valgrind_can_run(path, &is_static))
        return false;
    if (is_static)
        wndl_check_note(notes,
            "%s is statically linked: Valgrind cannot replace its malloc, so "
            "that no error of the heap and no leak is found, and functions of "
            "its libc may be reported; link it dynamically",
            path);
    return true;
}

/* ---- debug information */

/* Forms of DWARF 5 that Valgrind 3.19 has no reader for. */
static bool is_unread_form(uint64_t form)
{
    return form == FORM_STRX || form == FORM_ADDRX || form == FORM_LOCLISTX ||
           form == FORM_RNGLISTX || (form >= FORM_STRX1 && form <= FORM_ADDRX4);
}

/* Whether an abbreviation has such a form (DWARF 5, 7.5.3). */
static bool has_unread_forms(struct wndl_bytes abbreviations)
{
    struct wndl_cursor c = wndl_cursor_at(abbreviations, 0, false);
    while (!c.failed && wndl_cursor_left(&c) != 0) {
        if (wndl_cursor_uleb(&c) == 0)
            continue; /* the end of one unit's */
        wndl_cursor_uleb(&c);
        wndl_cursor_u8(&c);
        for (bool more = true; more && !c.failed;) {
            const uint64_t name = wndl_cursor_uleb(&c);
            const uint64_t form = wndl_cursor_uleb(&c);
            if (form == FORM_IMPLICIT_CONST)
                wndl_cursor_sleb(&c);
            if (is_unread_form(form))
                return true;
            more = name != 0 || form != 0;
        }
    }
    return false;
}

static void examine_debug_info(struct wndl_check_program *program,
    struct wndl_object *object, struct wndl_vec *notes)
{
    struct wndl_bytes bytes;
    if (wndl_object_section_bytes(
            object, ".debug_abbrev", &bytes, NULL, NULL) != WNDL_OK ||
        !has_unread_forms(bytes))
        return;
    program->reads_no_inline = true;
    wndl_check_note(notes,
        "%s has DWARF 5 in forms that Valgrind 3.19 cannot read (clang's "
        "default): inlined functions are not shown; compile with -gdwarf-4",
        program->path);
}

/* ---- allocators */

/* Allocators whose functions may have names of their own. */
static void examine_allocators(
    const char *path, struct wndl_object *object, struct wndl_vec *notes)
{
    static const char *const others[] = {
        "je_malloc", "rpmalloc", "mi_malloc", "tc_malloc", "dlmalloc"};
    const struct wndl_symbol *symbols;
    size_t count;
    if (wndl_object_functions(object, &symbols, &count, NULL) != WNDL_OK)
        return;
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
            if (wndl_bytes_is(symbols[i].name, others[k]))
                wndl_check_note(notes,
                    "%s has %s, which Valgrind does not take for an allocator: "
                    "its blocks are not checked unless they are annotated "
                    "(windlass/annotate.h)",
                    path, others[k]);
        }
    }
}

static void examine_object(
    struct wndl_check_program *program, struct wndl_vec *notes)
{
    struct wndl_file file;
    struct wndl_object *object;
    if (wndl_file_open(program->path, &file, NULL) != WNDL_OK)
        return;
    if (wndl_object_open(file.bytes, program->path, wndl_mem_libc(), &object,
            NULL) == WNDL_OK) {
        examine_debug_info(program, object, notes);
        examine_allocators(program->path, object, notes);
        wndl_object_close(object);
    }
    wndl_file_close(&file);
}

bool wndl_check_examine(struct wndl_check_program *program, const char *command,
    struct wndl_vec *notes)
{
    *program = (struct wndl_check_program){0};
    if (!find(program, command, notes) || !can_run(program->path, notes))
        return false;
    examine_object(program, notes);
    return true;
}
