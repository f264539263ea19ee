/* SPDX-License-Identifier: MIT */
/* Any bytes as the XML of Valgrind's checkers; the list that is made of it. */
#include "analyze/check/findings.h"
#include "in/valgrind_xml.h"
#include "out/check/check_html.h"
#include "out/check/check_json.h"
#include "out/check/check_text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void list_it(const struct wndl_check *check)
{
    static const char *const none[] = {NULL};
    struct wndl_arena arena;
    struct wndl_finding_list list = {.check = check,
        .runs = 1,
        .tool = "memcheck",
        .command = "a",
        .notes = none};
    struct wndl_buf text;
    wndl_arena_init(&arena, wndl_mem_libc());
    wndl_vec_init(&list.known, &arena, sizeof(struct wndl_known_finding));
    wndl_buf_init(&text, wndl_mem_libc());
    if (!wndl_findings_list(&list, NULL) || !wndl_check_text(&text, &list, 5) ||
        !wndl_check_html(&text, &list) || !wndl_check_json(&text, &list) ||
        list.findings.len > check->errors.len)
        __builtin_trap();
    wndl_buf_free(&text);
    wndl_arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_check check;
    struct wndl_error err = {0};
    if (!wndl_check_init(&check, wndl_mem_libc()))
        return 0;
    if (wndl_valgrind_xml_read(
            &check, (struct wndl_bytes){data, size}, 0, &err) == WNDL_OK)
        list_it(&check);
    wndl_check_free(&check);
    return 0;
}
