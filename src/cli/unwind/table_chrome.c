/* SPDX-License-Identifier: MIT */
#include "cli/unwind/table_chrome.h"

#include "cli/core/command.h"
#include "cli/core/output.h"
#include "cli/shared/binary.h"
#include "cli/unwind/table_verify.h"
#include "unwind_tables/chrome/chrome_v2.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool parse_hex(const char *text, uint64_t *value)
{
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 16);
    if (end != text && *end == '\0' && errno == 0 && *text != '-')
        return true;
    wndl_cli_error(
        "'%s' is not a hexadecimal number; see 'windlass unwind-table --help'",
        text);
    return false;
}

static void say_hex(struct wndl_bytes bytes)
{
    for (size_t i = 0; i < bytes.size; i++)
        printf(i == 0 ? "%02x" : " %02x", bytes.data[i]);
    putchar('\n');
}

/* ---- build */

static void say_built(const struct wndl_chrome_v2_stats *s, size_t size)
{
    wndl_cli_note("%" PRIu64 " functions, %" PRIu64 " addresses of %s in %zu "
                  "bytes",
        s->functions, s->addresses, s->source, size);
    if (s->refused != 0 || s->uncovered != 0)
        wndl_cli_note("functions without rules: %" PRIu64
                      ", not to their end: %" PRIu64 "; they cannot be unwound",
            s->refused, s->uncovered);
    if (s->dropped != 0)
        wndl_cli_note("warning: functions left out, as the layout holds 64 KiB "
                      "of distinct offsets: %" PRIu64 ", with %.2f %% of the "
                      "addresses; they cannot be unwound",
            s->dropped_functions,
            100 * (double)s->dropped / (double)s->addresses);
    if (s->lost != 0)
        wndl_cli_note("warning: records that are damaged or not read: %" PRIu64
                      "; see 'windlass unwind-info'",
            s->lost);
}

int wndl_chrome_v2_cmd_build(const char *path, const char *out, bool design)
{
    struct wndl_binary binary;
    struct wndl_chrome_v2_stats stats;
    struct wndl_buf bytes;
    struct wndl_error err = {0};
    if (!wndl_output_may_write(out, path))
        return WNDL_EXIT_FAILURE;
    if (!wndl_binary_open(&binary, path, &err))
        return wndl_cli_fail(&err);
    wndl_buf_init(&bytes, wndl_mem_libc());
    int exit_code;
    if (wndl_chrome_v2_build(binary.object, design, &bytes, &stats, &err) !=
        WNDL_OK) {
        wndl_error_set_file(&err, path);
        exit_code = wndl_cli_fail(&err);
    } else {
        const struct wndl_output output = {
            .path = out, .write = wndl_output_bytes, .context = &bytes};
        exit_code = wndl_output_write(&output);
        if (exit_code == WNDL_EXIT_OK)
            say_built(&stats, bytes.size);
    }
    wndl_buf_free(&bytes);
    wndl_binary_close(&binary);
    return exit_code;
}

/* ---- show */

static bool open_table(struct wndl_file *file, struct wndl_chrome_v2 *table,
    const char *path, struct wndl_error *err)
{
    if (wndl_file_open(path, file, err) != WNDL_OK)
        return false;
    if (wndl_chrome_v2_open(file->bytes, table, err) == WNDL_OK)
        return true;
    wndl_error_set_file(err, path);
    wndl_file_close(file);
    return false;
}

static void say_part(const char *name, size_t size, size_t all)
{
    printf("%-20s %10zu bytes %5.1f %%\n", name, size,
        100.0 * (double)size / (double)all);
}

static int say_counts(
    const struct wndl_chrome_v2 *t, size_t size, struct wndl_error *err)
{
    struct wndl_chrome_v2_counts c;
    if (wndl_chrome_v2_count(t, &c, wndl_mem_libc(), err) != WNDL_OK)
        return wndl_cli_fail(err);
    printf("Chromium unwind info v2 of 32-bit Arm, header as %s\n",
        t->design ? "designed (ten words)" : "shipped (eight words)");
    printf("%" PRIu64 " functions, %" PRIu64 " addresses, %" PRIu32
           " pages of 128 KiB\n",
        c.functions, c.addresses, t->page_count);
    printf("%" PRIu64 " distinct lists of offsets, %" PRIu64
           " distinct sequences of instructions\n",
        c.offset_sequences, c.sequences);
    say_part("pages", t->pages.size, size);
    if (t->design)
        say_part("continued pages", t->continued.size, size);
    say_part("functions", t->functions.size, size);
    say_part("function offsets", t->offsets.size, size);
    say_part("instructions", t->instructions.size, size);
    say_part("all", size, size);
    printf("%.2f bytes for each function, %.2f for each address\n",
        (double)size / (double)(c.functions == 0 ? 1 : c.functions),
        (double)size / (double)(c.addresses == 0 ? 1 : c.addresses));
    printf("naive layout (4 bytes and its instructions for each address): "
           "%" PRIu64 " bytes\n",
        c.naive);
    return wndl_cli_flush();
}

static int say_place(const struct wndl_chrome_v2 *t, uint64_t offset)
{
    struct wndl_chrome_v2_place place;
    const enum wndl_status status = wndl_chrome_v2_find(t, offset, &place);
    if (status == WNDL_MALFORMED)
        return wndl_cli_error(
            "the table is damaged where 0x%" PRIx64 " is looked up", offset);
    if (status != WNDL_OK) {
        printf("0x%" PRIx64 ": no information\n", offset);
        return wndl_cli_flush();
    }
    printf("0x%" PRIx64 ": function %" PRIu32 " at 0x%" PRIx32
           ", from +0x%" PRIx32 ", instruction %" PRIu32 ": ",
        offset, place.function, place.start, place.offset, place.instruction);
    say_hex(wndl_chrome_v2_sequence(t, place.instruction));
    return wndl_cli_flush();
}

int wndl_chrome_v2_cmd_show(const char *path, const char *offset)
{
    struct wndl_file file;
    struct wndl_chrome_v2 table;
    struct wndl_error err = {0};
    uint64_t at = 0;
    if (offset != NULL && !parse_hex(offset, &at))
        return WNDL_EXIT_USAGE;
    if (!open_table(&file, &table, path, &err))
        return wndl_cli_fail(&err);
    wndl_error_set_file(&err, path);
    const int exit_code = offset == NULL
                              ? say_counts(&table, file.bytes.size, &err)
                              : say_place(&table, at);
    wndl_file_close(&file);
    return exit_code;
}

/* ---- verify */

static bool open_checked(struct wndl_file *file, void *table, const char *path,
    struct wndl_error *err)
{
    return open_table(file, table, path, err);
}

static enum wndl_status check_table(const void *table,
    struct wndl_object *object, struct wndl_table_verdict *verdict,
    struct wndl_error *err)
{
    struct wndl_chrome_v2_verdict of;
    const enum wndl_status status =
        wndl_chrome_v2_verify(table, object, &of, err);
    if (status == WNDL_OK)
        *verdict = (struct wndl_table_verdict){
            of.rows, of.looked_up, of.wrong, of.first_wrong};
    if (status == WNDL_OK && of.left_out != 0)
        wndl_cli_note("refused, though the binary has a rule: %" PRIu64
                      " of %" PRIu64 " addresses",
            of.left_out, of.looked_up);
    return status;
}

int wndl_chrome_v2_cmd_verify(const char *binary, const char *path)
{
    struct wndl_chrome_v2 table;
    const struct wndl_checked_table checked = {
        &table, open_checked, check_table, .owns_damage = false};
    return wndl_unwind_table_verify(&checked, binary, path);
}

/* ---- encode */

struct encoding {
    uint64_t address;
    bool found;
};

static bool say_function(void *context, const struct wndl_chrome_v2_function *f)
{
    struct encoding *e = context;
    struct wndl_buf step;
    if (e->address < f->start || e->address >= f->end)
        return true;
    e->found = true;
    wndl_buf_init(&step, wndl_mem_libc());
    printf("function [0x%" PRIx64 " .. 0x%" PRIx64 "]\n", f->start, f->end - 1);
    for (size_t i = 0; i < f->row_count; i++) {
        wndl_buf_clear(&step);
        if (!wndl_chrome_v2_encode_step(
                &step, i == 0 ? NULL : &f->rows[i - 1], &f->rows[i]))
            break;
        printf("+0x%" PRIx64 ":%s", i == 0 ? 0 : f->rows[i].start - f->start,
            step.size == 0 ? "" : " ");
        say_hex((struct wndl_bytes){step.data, step.size});
    }
    if (f->row_count == 0 || f->rows_end < f->end)
        printf("+0x%" PRIx64 ": 80 00\n",
            f->row_count == 0 ? 0 : f->rows_end - f->start);
    wndl_buf_free(&step);
    return false;
}

int wndl_chrome_v2_cmd_encode(const char *path, const char *address)
{
    struct wndl_binary binary;
    struct wndl_chrome_v2_binary facts;
    struct encoding e = {0};
    struct wndl_error err = {0};
    if (!parse_hex(address, &e.address))
        return WNDL_EXIT_USAGE;
    if (!wndl_binary_open(&binary, path, &err))
        return wndl_cli_fail(&err);
    int exit_code = WNDL_EXIT_OK;
    if (wndl_chrome_v2_functions(
            binary.object, &facts, say_function, &e, &err) != WNDL_OK) {
        wndl_error_set_file(&err, path);
        exit_code = wndl_cli_fail(&err);
    } else if (!e.found) {
        exit_code = wndl_cli_error(
            "%s: no function of .text is at 0x%" PRIx64, path, e.address);
    }
    wndl_binary_close(&binary);
    return exit_code == WNDL_EXIT_OK ? wndl_cli_flush() : exit_code;
}

/* ---- run */

enum { BYTES_MAX = 1024 };

/* Pairs of digits; spaces between them do not matter. */
static bool parse_bytes(
    const char *text, uint8_t bytes[BYTES_MAX], size_t *size)
{
    *size = 0;
    for (const char *c = text; *c != '\0';) {
        char digits[3] = {c[0], c[0] == '\0' ? '\0' : c[1], '\0'};
        if (*c == ' ') {
            c++;
            continue;
        }
        if (*size == BYTES_MAX ||
            strspn(digits, "0123456789abcdefABCDEF") != 2) {
            wndl_cli_error(
                "'%s' is not a list of at most %d bytes in hexadecimal", text,
                BYTES_MAX);
            return false;
        }
        bytes[(*size)++] = (uint8_t)strtoul(digits, NULL, 16);
        c += 2;
    }
    return true;
}

static const char *const names[WNDL_ARM_REGS] = {"r0", "r1", "r2", "r3", "r4",
    "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr", "pc"};

/* Reads "sp=1000" up to a comma or the end; returns the rest, or NULL. */
static const char *parse_register(
    const char *text, uint32_t regs[WNDL_ARM_REGS])
{
    for (unsigned reg = 0; reg < WNDL_ARM_REGS; reg++) {
        const size_t size = strlen(names[reg]);
        char *end;
        if (strncmp(text, names[reg], size) != 0 || text[size] != '=')
            continue;
        regs[reg] = (uint32_t)strtoul(text + size + 1, &end, 16);
        if (end == text + size + 1 || (*end != ',' && *end != '\0'))
            return NULL;
        return *end == ',' ? end + 1 : end;
    }
    return NULL;
}

static bool parse_registers(const char *text, uint32_t regs[WNDL_ARM_REGS])
{
    for (const char *c = text; *c != '\0';) {
        c = parse_register(c, regs);
        if (c == NULL) {
            wndl_cli_error("'%s' is not a list of registers, such as "
                           "r4=1,sp=7f00,lr=10001",
                text);
            return false;
        }
    }
    return true;
}

int wndl_chrome_v2_cmd_run(
    const char *instructions, const char *registers, const char *stack)
{
    uint8_t code[BYTES_MAX], words[BYTES_MAX];
    struct wndl_bytes bytes = {code, 0};
    struct wndl_chrome_v2_frame frame = {.stack = {words, 0}};
    if (!parse_bytes(instructions, code, &bytes.size) ||
        !parse_registers(registers, frame.regs) ||
        !parse_bytes(stack, words, &frame.stack.size))
        return WNDL_EXIT_USAGE;
    frame.stack_addr = frame.regs[WNDL_ARM_SP];
    switch (wndl_chrome_v2_run(bytes, &frame)) {
    case WNDL_OK:
        break;
    case WNDL_NOT_FOUND:
        return wndl_cli_error("the instructions refuse to unwind");
    default:
        return wndl_cli_error("the instructions are not valid, or lead out of "
                              "the stack");
    }
    for (unsigned reg = WNDL_ARM_R4; reg < WNDL_ARM_REGS; reg++)
        printf("%s%s=%" PRIx32, reg == WNDL_ARM_R4 ? "" : ",", names[reg],
            frame.regs[reg]);
    putchar('\n');
    return wndl_cli_flush();
}
