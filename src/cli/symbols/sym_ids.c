/* SPDX-License-Identifier: MIT */
#include "cli/symbols/sym_ids.h"

#include "base/utf8.h"
#include "cli/core/command.h"
#include "dbg/breakpad/breakpad.h"
#include "dbg/pdb/pdb.h"
#include "obj/find/debug_id.h"
#include "obj/macho/macho.h"
#include "obj/packed/zip.h"

#include <stdio.h>
#include <string.h>

/* A file's name, or what it says of itself, may hold anything. */
static void print_plain(struct wndl_bytes text)
{
    struct wndl_buf plain;
    wndl_buf_init(&plain, wndl_mem_libc());
    wndl_utf8_plain(&plain, text);
    printf("%.*s", (int)plain.size, (const char *)plain.data);
    wndl_buf_free(&plain);
}

static void print_text(const char *label, struct wndl_bytes text)
{
    printf("%s", label);
    print_plain(text);
    putchar('\n');
}

static struct wndl_bytes text_of(const char *path)
{
    return (struct wndl_bytes){(const uint8_t *)path, strlen(path)};
}

static void print_path(const char *path)
{
    print_text("file      ", text_of(path));
}

static void print_hex(const char *label, struct wndl_bytes bytes)
{
    printf("%s", label);
    for (size_t i = 0; i < bytes.size; i++)
        printf("%02x", bytes.data[i]);
    putchar('\n');
}

/* Prints a GUID with dashes, in Microsoft's form or Apple's. */
static void print_guid(const struct wndl_debug_id *id, bool is_apple)
{
    printf(is_apple ? "uuid      " : "guid      ");
    for (size_t i = 0; i < WNDL_GUID_SIZE; i++)
        printf(is_apple ? "%s%02X" : "%s%02x",
            i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id->guid[i]);
    if (is_apple)
        putchar('\n');
    else
        printf(", age %u\n", id->age);
}

static int print_of_symbols(
    struct wndl_bytes text, const char *path, struct wndl_error *err)
{
    struct wndl_breakpad_module module;
    if (wndl_breakpad_read_module(text, &module, err) != WNDL_OK)
        return WNDL_EXIT_FAILURE;
    print_path(path);
    print_text("breakpad  ", module.id);
    return WNDL_EXIT_OK;
}

static int print_of_one(
    const struct wndl_object_source *source, struct wndl_error *err)
{
    char text[WNDL_DEBUG_ID_TEXT];
    struct wndl_debug_id id;
    struct wndl_object *object;
    if (wndl_object_open_source(source, wndl_mem_libc(), &object, err) !=
        WNDL_OK)
        return WNDL_EXIT_FAILURE;
    struct wndl_bytes build_id = wndl_object_build_id(object);
    char arch[WNDL_MACHO_ARCH];
    bool is_apple = wndl_macho_arch_of(object, arch);
    print_path(source->path);
    if (is_apple)
        printf("arch      %s\n", arch);
    if (build_id.size != 0 && !is_apple)
        print_hex("build-id  ", build_id);
    if (wndl_object_debug_id(object, &id)) {
        printf("breakpad  %s\n", wndl_debug_id_text(&id, text));
        print_guid(&id, is_apple);
    }
    wndl_object_close(object);
    return WNDL_EXIT_OK;
}

static int print_of_pdb(
    const struct wndl_object_source *source, struct wndl_error *err)
{
    char text[WNDL_DEBUG_ID_TEXT];
    struct wndl_pdb *pdb;
    const struct wndl_pdb_source in = {
        .file = source->bytes, .path = source->path};
    if (wndl_pdb_open(&in, wndl_mem_libc(), &pdb, err) != WNDL_OK)
        return WNDL_EXIT_FAILURE;
    struct wndl_bytes guid = {wndl_pdb_id(pdb)->guid, WNDL_GUID_SIZE};
    struct wndl_debug_id id = wndl_debug_id_of_build_id(guid, false);
    id.age = wndl_pdb_id(pdb)->age;
    print_path(source->path);
    printf("breakpad  %s\n", wndl_debug_id_text(&id, text));
    print_guid(&id, false);
    wndl_pdb_close(pdb);
    return WNDL_EXIT_OK;
}

/* All that there are, unless one is asked for. */
static int print_of_binary(
    const struct wndl_object_source *source, struct wndl_error *err)
{
    char arch[WNDL_MACHO_ARCH];
    int exit_code = WNDL_EXIT_OK;
    if (source->arch != NULL || !wndl_macho_is_fat(source->bytes))
        return print_of_one(source, err);
    for (size_t i = 0; exit_code == WNDL_EXIT_OK &&
                       wndl_macho_arch_at(source->bytes, i, arch);
         i++) {
        struct wndl_object_source one = *source;
        one.arch = arch;
        exit_code = print_of_one(&one, err);
    }
    return exit_code;
}

static int print_each_arch(const struct wndl_object_source *source,
    bool is_named, struct wndl_error *err)
{
    char arch[WNDL_MACHO_ARCH];
    if (!wndl_macho_is(source->bytes)) {
        (void)wndl_fail(err, WNDL_UNSUPPORTED, "not a Mach-O file");
        return WNDL_EXIT_FAILURE;
    }
    for (size_t i = 0; wndl_macho_arch_at(source->bytes, i, arch); i++) {
        if (is_named)
            print_plain(text_of(source->path));
        printf("%s%s\n", is_named ? ": " : "", arch);
    }
    return WNDL_EXIT_OK;
}

static int print_arches(
    const struct wndl_object_source *source, struct wndl_error *err)
{
    return print_each_arch(source, false, err);
}

static int print_named_arches(
    const struct wndl_object_source *source, struct wndl_error *err)
{
    return print_each_arch(source, true, err);
}

static int print_of_symbols_or_binary(
    const struct wndl_object_source *source, struct wndl_error *err)
{
    if (wndl_pdb_is(source->bytes))
        return print_of_pdb(source, err);
    return wndl_breakpad_is(source->bytes)
               ? print_of_symbols(source->bytes, source->path, err)
               : print_of_binary(source, err);
}

typedef int print_file(
    const struct wndl_object_source *source, struct wndl_error *err);

static int print_one(const char *path, const char *arch, print_file *of)
{
    struct wndl_error err = {0};
    struct wndl_file file = {0};
    struct wndl_object_source source = {.path = path, .arch = arch};
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_zip_open_path(path, &file, &source.bytes, &err) == WNDL_OK) {
        wndl_error_set_file(&err, path);
        exit_code = of(&source, &err);
    }
    wndl_file_close(&file);
    if (exit_code != WNDL_EXIT_OK)
        wndl_cli_fail(&err);
    return exit_code;
}

int wndl_sym_print_ids(const char *path, const char *arch)
{
    return print_one(path, arch, print_of_symbols_or_binary);
}

int wndl_sym_print_arches(const char *path, bool of_several)
{
    return print_one(
        path, NULL, of_several ? print_named_arches : print_arches);
}
