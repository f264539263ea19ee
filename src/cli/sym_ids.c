/* SPDX-License-Identifier: MIT */
#include "cli/sym_ids.h"

#include "cli/command.h"
#include "dbg/breakpad.h"
#include "obj/debug_id.h"
#include "obj/macho.h"
#include "obj/zip.h"

#include <stdio.h>

static void print_hex(const char *label, struct wndl_bytes bytes)
{
    printf("%s", label);
    for (size_t i = 0; i < bytes.size; i++)
        printf("%02x", bytes.data[i]);
    putchar('\n');
}

/* With dashes, as Microsoft writes it or Apple does. */
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
    printf("file      %s\n", path);
    printf(
        "breakpad  %.*s\n", (int)module.id.size, (const char *)module.id.data);
    return WNDL_EXIT_OK;
}

static int print_of_binary(
    struct wndl_bytes bytes, const char *path, struct wndl_error *err)
{
    char text[WNDL_DEBUG_ID_TEXT];
    struct wndl_debug_id id;
    struct wndl_object *object;
    if (wndl_object_open(bytes, path, wndl_mem_libc(), &object, err) != WNDL_OK)
        return WNDL_EXIT_FAILURE;
    struct wndl_bytes build_id = wndl_object_build_id(object);
    char arch[WNDL_MACHO_ARCH];
    bool is_apple = wndl_macho_arch_of(object, arch);
    printf("file      %s\n", path);
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

int wndl_sym_print_ids(const char *path)
{
    char text[600];
    struct wndl_error err = {0};
    struct wndl_file file = {0};
    struct wndl_bytes bytes;
    int exit_code = WNDL_EXIT_FAILURE;
    if (wndl_zip_open_path(path, &file, &bytes, &err) == WNDL_OK) {
        wndl_error_set_file(&err, path);
        exit_code = wndl_breakpad_is(bytes)
                        ? print_of_symbols(bytes, path, &err)
                        : print_of_binary(bytes, path, &err);
    }
    wndl_file_close(&file);
    if (exit_code != WNDL_EXIT_OK)
        wndl_cli_error("%s", wndl_error_text(&err, text, sizeof text));
    return exit_code;
}
