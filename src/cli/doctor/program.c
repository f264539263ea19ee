/* SPDX-License-Identifier: MIT */
#include "cli/doctor/doctor.h"

#include "cli/core/find_program.h"
#include "cli/shared/debug_dirs.h"
#include "cli/shared/runtime.h"
#include "collect/proc/unrecordable.h"
#include "collect/start/engine.h"
#include "obj/find/debugfile.h"
#include "obj/macho/macho.h"
#include "obj/pe/pe.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- finding it */

/*
 * The interpreter that "#!" names, else false. It may be one of itself: the
 * kernel follows a few, and so does the caller.
 */
static bool interpreter_of(
    struct wndl_doctor *d, const char *path, char interpreter[PATH_MAX])
{
    if (wndl_program_interpreter(path, interpreter))
        return true;
    if (errno != 0)
        wndl_doctor_note_errno(d, path);
    return false;
}

/* Leaves in `path` what the kernel will run in the end. */
static void follow_scripts(struct wndl_doctor *d, char path[PATH_MAX])
{
    enum { FOLLOWED = 4 };
    char interpreter[PATH_MAX];
    for (int i = 0; i < FOLLOWED && interpreter_of(d, path, interpreter); i++) {
        wndl_doctor_find(d, "script", WNDL_DOCTOR_OK,
            "%.100s is run by %.100s; the next lines are about that", path,
            interpreter);
        snprintf(path, PATH_MAX, "%s", interpreter);
    }
}

/* ---- whether it can be recorded */

static const struct {
    const char *found, *advice;
} refusals[WNDL_UNRECORDED_REASONS] = {
    [WNDL_UNRECORDED_STATIC] =
        {"statically linked: nothing can be loaded into it",
            "link it dynamically"},
    [WNDL_UNRECORDED_SETUID] =
        {"started with other rights (set-user-ID, set-group-ID or "
         "capabilities): the loader refuses to preload into it",
            "record as the user whose rights it gets, or a copy of it"},
    [WNDL_UNRECORDED_LIBC] = {"made for another C library than glibc (musl?)",
        "build it for glibc 2.31 or newer"},
    [WNDL_UNRECORDED_GO] = {"written in Go, whose runtime owns all signals",
        "Go has a profiler of its own: runtime/pprof"},
    [WNDL_UNRECORDED_MACHINE] = {"made for another processor",
        "record it on a machine of its kind"},
};

/* Whether `windlass record` samples such a program from outside. */
static bool is_sampled(enum wndl_unrecorded_reason why)
{
    struct wndl_collector_engine engine;
    wndl_collector_probe(&engine);
    return engine.engine == WNDL_ENGINE_PERF &&
           (why == WNDL_UNRECORDED_STATIC || why == WNDL_UNRECORDED_LIBC ||
               why == WNDL_UNRECORDED_GO ||
               (why == WNDL_UNRECORDED_SETUID && geteuid() == 0));
}

static void check_refusal(struct wndl_doctor *d, const char *path)
{
    enum wndl_unrecorded_reason why = wndl_unrecordable_executable(path);
    if (why == WNDL_UNRECORDED_NONE || refusals[why].found == NULL) {
        wndl_doctor_find(
            d, "program", WNDL_DOCTOR_OK, "%s can be recorded", path);
        return;
    }
    const bool sampled = is_sampled(why);
    struct wndl_doctor_finding *f = wndl_doctor_find(d, "program",
        sampled ? WNDL_DOCTOR_LIMITED : WNDL_DOCTOR_NO, "%.100s is %s", path,
        refusals[why].found);
    f->stops = !sampled;
    wndl_doctor_advise(f, "%s%s",
        sampled ? "it is sampled from outside; for its heap: " : "",
        refusals[why].advice);
}

/* ---- names and unwind information of its code */

static bool has_section(
    struct wndl_doctor *d, struct wndl_object *object, const char *name)
{
    struct wndl_bytes bytes;
    struct wndl_error err = {0};
    const enum wndl_status status =
        wndl_object_section_bytes(object, name, &bytes, NULL, &err);
    wndl_doctor_note(d, &err);
    return status == WNDL_OK && bytes.size != 0;
}

static bool has_symbols(const struct wndl_object *object)
{
    for (size_t i = 0; i < wndl_object_section_count(object); i++) {
        if (wndl_object_section(object, i).type == SHT_SYMTAB)
            return true;
    }
    return false;
}

static void check_bits(struct wndl_doctor *d, const struct wndl_object *object)
{
    unsigned bits = 8 * wndl_object_address_size(object);
    struct wndl_error err = {0};
    char *runtime = wndl_runtime_find(wndl_runtime_name(false), &err);
    bool taken = bits == 64 || runtime == NULL ||
                 wndl_runtime_is_for(runtime, "lib32", &err);
    free(runtime);
    wndl_doctor_note(d, &err);
    struct wndl_doctor_finding *f = wndl_doctor_find(d, "word size",
        taken ? WNDL_DOCTOR_OK : WNDL_DOCTOR_NO, "%u bits", bits);
    f->stops = !taken;
}

static void check_names(struct wndl_doctor *d, struct wndl_object *object)
{
    struct wndl_debugfile debug = {0};
    struct wndl_debug_dirs dirs;
    struct wndl_doctor_finding *f;
    struct wndl_error err = {0};
    wndl_debug_dirs_init(&dirs, NULL);
    bool separate = wndl_debugfile_find(object, dirs.list, wndl_mem_libc(),
                        &debug, &err) == WNDL_OK;
    wndl_doctor_note(d, &err);
    if (has_section(d, object, ".debug_info"))
        wndl_doctor_find(d, "names", WNDL_DOCTOR_OK,
            "functions, inlined functions and lines: it has debug information");
    else if (separate && has_section(d, debug.object, ".debug_info"))
        wndl_doctor_find(d, "names", WNDL_DOCTOR_OK,
            "functions, inlined functions and lines: debug information is in "
            "%.150s",
            wndl_object_path(debug.object));
    else if (has_symbols(object) || (separate && has_symbols(debug.object))) {
        f = wndl_doctor_find(d, "names", WNDL_DOCTOR_LIMITED,
            "functions, but no lines and no inlined functions: it has symbols, "
            "but no debug information");
        wndl_doctor_advise(f, "compile with -g, or install its -dbgsym "
                              "package");
    } else {
        f = wndl_doctor_find(d, "names", WNDL_DOCTOR_LIMITED,
            "exported functions only: it is stripped");
        wndl_doctor_advise(f, "install its -dbgsym package, or record a build "
                              "that is not stripped");
    }
    wndl_debugfile_close(&debug);
}

void wndl_doctor_code(struct wndl_doctor *d, const char *path, bool runs)
{
    struct wndl_file file;
    struct wndl_object *object = NULL;
    struct wndl_error err = {0};
    enum wndl_status status = wndl_file_open(path, &file, &err);
    if (status == WNDL_OK)
        status =
            wndl_object_open(file.bytes, path, wndl_mem_libc(), &object, &err);
    if (status == WNDL_OK) {
        check_bits(d, object);
        check_names(d, object);
        wndl_doctor_rules(d, object, path);
        if (!runs)
            wndl_doctor_heap(d, object);
        wndl_object_close(object);
    } else {
        char text[200];
        wndl_doctor_note(d, &err);
        wndl_doctor_find(d, "names", WNDL_DOCTOR_LIMITED, "%s",
            wndl_error_text(&err, text, sizeof text));
    }
    wndl_file_close(&file);
}

/* Reports a program of another system. */
static bool is_foreign(struct wndl_doctor *d, const char *path)
{
    struct wndl_file file;
    struct wndl_error err = {0};
    if (wndl_file_open(path, &file, &err) != WNDL_OK) {
        wndl_doctor_note(d, &err);
        return false;
    }
    bool pe = wndl_pe_is(file.bytes);
    bool foreign = pe || wndl_macho_is(file.bytes);
    wndl_file_close(&file);
    if (foreign)
        wndl_doctor_find(d, "program", WNDL_DOCTOR_NO,
            "%.150s is not a Linux program: it is a %s file", path,
            pe ? "PE" : "Mach-O")
            ->stops = true;
    return foreign;
}

void wndl_doctor_program(struct wndl_doctor *d, const char *command)
{
    char path[PATH_MAX];
    if (!wndl_program_find(command, path)) {
        struct wndl_doctor_finding *f = wndl_doctor_find(d, "program",
            WNDL_DOCTOR_NO, "cannot find the program '%.150s'", command);
        f->stops = true;
        return;
    }
    follow_scripts(d, path);
    if (is_foreign(d, path))
        return;
    check_refusal(d, path);
    wndl_doctor_code(d, path, false);
}
