/* SPDX-License-Identifier: MIT */
#include "coremake.h"

#include "collect/stop/regs.h"

#include <elf.h>
#include <string.h>

unsigned core_word(uint16_t machine)
{
    return machine == EM_386 || machine == EM_ARM ? 4 : 8;
}

static void put_number(struct wndl_buf *buf, uint64_t value, unsigned size)
{
    for (unsigned i = 0; i < size; i++)
        wndl_buf_byte(buf, (uint8_t)(value >> 8 * i));
}

static void put_zeros(struct wndl_buf *buf, size_t count)
{
    for (size_t i = 0; i < count; i++)
        wndl_buf_byte(buf, 0);
}

static void put_bytes(struct wndl_buf *buf, struct wndl_bytes bytes)
{
    if (bytes.size != 0)
        wndl_buf_add(buf, bytes.data, bytes.size);
}

static struct wndl_bytes all_of(const struct wndl_buf *buf)
{
    return (struct wndl_bytes){buf->data, buf->size};
}

/* ---- notes */

void put_note_of(struct wndl_buf *notes, const char *owner, uint32_t type,
    struct wndl_bytes desc)
{
    const size_t size = strlen(owner) + 1;
    put_number(notes, size, 4);
    put_number(notes, desc.size, 4);
    put_number(notes, type, 4);
    wndl_buf_add(notes, owner, size);
    put_zeros(notes, -size & 3);
    put_bytes(notes, desc);
    put_zeros(notes, -desc.size & 3);
}

static void put_note(
    struct wndl_buf *notes, uint32_t type, struct wndl_buf *desc)
{
    put_note_of(notes, "CORE", type, all_of(desc));
    wndl_buf_free(desc);
}

static uint64_t value_of(const char *name, const struct made_thread *thread)
{
    static const struct {
        const char *name;
        int what;
    } places[] = {{"rip", 0}, {"eip", 0}, {"pc", 0}, {"rsp", 1}, {"esp", 1},
        {"sp", 1}, {"rbp", 2}, {"ebp", 2}, {"x29", 2}, {"r11", 2},
        {"orig_rax", 3}, {"orig_eax", 3}};
    const uint64_t values[] = {
        thread->ip, thread->sp, thread->fp, (uint64_t)thread->call};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        if (strcmp(name, places[i].name) == 0)
            return values[places[i].what];
    }
    return 0;
}

void put_thread(
    struct wndl_buf *notes, uint16_t machine, const struct made_thread *thread)
{
    const unsigned word = core_word(machine);
    struct wndl_buf desc;
    const char *name;
    wndl_buf_init(&desc, wndl_mem_libc());
    put_zeros(&desc, 12);
    put_number(&desc, thread->signal, 2);
    put_zeros(&desc, 2 + 2 * word); /* pending, held */
    put_number(&desc, thread->tid, 4);
    put_zeros(&desc, 12 + 8 * word); /* other numbers, times */
    for (size_t i = 0; (name = wndl_regs_name(machine, i)) != NULL; i++)
        put_number(&desc, value_of(name, thread), word);
    put_zeros(&desc, word);
    put_note(notes, NT_PRSTATUS, &desc);
}

static void put_text(struct wndl_buf *desc, const char *text, size_t size)
{
    const size_t length = strnlen(text, size);
    put_bytes(desc, (struct wndl_bytes){(const uint8_t *)text, length});
    put_zeros(desc, size - length);
}

void put_process(struct wndl_buf *notes, uint16_t machine, uint32_t pid,
    const char *name, const char *command)
{
    const unsigned word = core_word(machine);
    struct wndl_buf desc;
    wndl_buf_init(&desc, wndl_mem_libc());
    put_zeros(&desc, word == 8 ? 24 : 12);
    put_number(&desc, pid, 4);
    put_zeros(&desc, 12);
    put_text(&desc, name, 16);
    put_text(&desc, command, 80);
    put_note(notes, NT_PRPSINFO, &desc);
}

void put_signal(
    struct wndl_buf *notes, uint16_t machine, const struct made_signal *signal)
{
    const unsigned word = core_word(machine);
    struct wndl_buf desc;
    wndl_buf_init(&desc, wndl_mem_libc());
    put_number(&desc, (uint32_t)signal->number, 4);
    put_zeros(&desc, 4);
    put_number(&desc, (uint32_t)signal->code, 4);
    put_zeros(&desc, word - 4);
    if (signal->code > 0) {
        put_number(&desc, signal->first, word);
    } else {
        put_number(&desc, signal->first, 4);
        put_number(&desc, signal->second, 4);
    }
    put_zeros(&desc, 128 - desc.size);
    put_note(notes, NT_SIGINFO, &desc);
}

void put_auxiliary(
    struct wndl_buf *notes, uint16_t machine, uint64_t type, uint64_t value)
{
    const unsigned word = core_word(machine);
    struct wndl_buf desc;
    wndl_buf_init(&desc, wndl_mem_libc());
    put_number(&desc, type, word);
    put_number(&desc, value, word);
    put_zeros(&desc, 2 * word);
    put_note(notes, NT_AUXV, &desc);
}

void put_files(struct wndl_buf *notes, uint16_t machine,
    const struct made_file *files, size_t count)
{
    const unsigned word = core_word(machine);
    struct wndl_buf desc;
    wndl_buf_init(&desc, wndl_mem_libc());
    put_number(&desc, count, word);
    put_number(&desc, 4096, word);
    for (size_t i = 0; i < count; i++) {
        put_number(&desc, files[i].start, word);
        put_number(&desc, files[i].end, word);
        put_number(&desc, files[i].page, word);
    }
    for (size_t i = 0; i < count; i++)
        wndl_buf_add(&desc, files[i].path, strlen(files[i].path) + 1);
    put_note(notes, NT_FILE, &desc);
}

/* ---- the file */

/* The sizes of its parts, and where the sections are. */
struct layout {
    unsigned word;
    uint64_t head, header, section, count, sections;
};

static struct layout layout_of(const struct core_recipe *recipe)
{
    const unsigned word = core_word(recipe->machine);
    struct layout l = {.word = word,
        .head = word == 8 ? sizeof(Elf64_Ehdr) : sizeof(Elf32_Ehdr),
        .header = word == 8 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr),
        .section = word == 8 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr),
        .count = recipe->memory_count + 1};
    l.sections = l.head + l.count * l.header + recipe->notes->size;
    for (size_t i = 0; i < recipe->memory_count; i++)
        l.sections += recipe->memory[i].data.size;
    return l;
}

static void put_head(struct wndl_buf *out, const struct core_recipe *recipe,
    const struct layout *l)
{
    const uint8_t ident[EI_NIDENT] = {ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3,
        l->word == 8 ? ELFCLASS64 : ELFCLASS32, ELFDATA2LSB, EV_CURRENT};
    const bool extended = recipe->extended;
    wndl_buf_add(out, ident, sizeof ident);
    put_number(out, ET_CORE, 2);
    put_number(out, recipe->machine, 2);
    put_number(out, EV_CURRENT, 4);
    put_number(out, 0, l->word);
    put_number(out, l->head, l->word);
    put_number(out, extended ? l->sections : 0, l->word);
    put_number(out, 0, 4);
    put_number(out, l->head, 2);
    put_number(out, l->header, 2);
    put_number(out, extended ? PN_XNUM : l->count, 2);
    put_number(out, extended ? l->section : 0, 2);
    put_number(out, extended ? 1 : 0, 2);
    put_number(out, 0, 2);
}

static void put_header(struct wndl_buf *out, const struct layout *l,
    uint32_t type, uint64_t offset, const struct made_memory *memory)
{
    put_number(out, type, 4);
    if (l->word == 8)
        put_number(out, memory->flags, 4);
    put_number(out, offset, l->word);
    put_number(out, memory->addr, l->word);
    put_number(out, 0, l->word);
    put_number(out, memory->data.size, l->word);
    put_number(out, memory->mem_size, l->word);
    if (l->word == 4)
        put_number(out, memory->flags, 4);
    put_number(out, 1, l->word);
}

struct wndl_bytes make_core(const struct core_recipe *recipe)
{
    const struct layout l = layout_of(recipe);
    const struct made_memory notes = {.data = all_of(recipe->notes)};
    uint64_t at = l.head + l.count * l.header;
    struct wndl_buf out;
    wndl_buf_init(&out, wndl_mem_libc());
    put_head(&out, recipe, &l);
    put_header(&out, &l, PT_NOTE, at, &notes);
    at += notes.data.size;
    for (size_t i = 0; i < recipe->memory_count; i++) {
        put_header(&out, &l, PT_LOAD, at, &recipe->memory[i]);
        at += recipe->memory[i].data.size;
    }
    put_bytes(&out, notes.data);
    for (size_t i = 0; i < recipe->memory_count; i++)
        put_bytes(&out, recipe->memory[i].data);
    if (recipe->extended) {
        put_zeros(&out, l.word == 8 ? offsetof(Elf64_Shdr, sh_info)
                                    : offsetof(Elf32_Shdr, sh_info));
        put_number(&out, l.count, 4);
        put_zeros(&out, l.section - (out.size - l.sections));
    }
    return all_of(&out);
}
