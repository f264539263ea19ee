/* SPDX-License-Identifier: MIT */
/*
 * fuzz_offcpu_stack: any bytes as the stack of a blocked thread, which is read
 * from outside. The same stack is known again without a walk. Two 16-bit
 * numbers, the offsets of PC in this program's code and of SP in the stack, are
 * followed by the stack; its words below 0x10000 are offsets in the code, and
 * those below 0x20000 in the stack.
 */
#include "collect/offcpu/stack.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { STACK = 16 * 4096, GUARD = 1 << 24, FRAMES = 64, NOW = 1 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct wndl_binaries binaries;
static struct wndl_recording recording;
static struct wndl_offcpu_shared *shared;
static struct wndl_offcpu_subject subject;
static uint8_t *stack;

static void require(bool holds)
{
    if (!holds)
        abort();
}

static void begin(void)
{
    static char command[] = "fuzz";
    static char *list[] = {command, NULL};
    const struct wndl_recording_meta meta = {.command = list};
    const struct wndl_offcpu_request request = {
        .binaries = &binaries, .max_frames = FRAMES, .wanted = ""};
    wndl_recording_open(
        &recording, open("/dev/null", O_WRONLY | O_CLOEXEC), &meta);
    require(wndl_binaries_init(&binaries, "", NULL));
    shared = wndl_offcpu_shared_new(&request);
    /* What is above could change between two looks. */
    stack = mmap(NULL, STACK + GUARD, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    require(shared != NULL && stack != MAP_FAILED &&
            mprotect(stack + STACK, GUARD, PROT_NONE) == 0);
    subject = (struct wndl_offcpu_subject){
        .pid = getpid(), .shared = shared, .recording = &recording};
    wndl_offcpu_code_init(&subject.code, subject.pid);
}

static uint64_t code_at(uint64_t offset)
{
    return (uint64_t)(uintptr_t)LLVMFuzzerTestOneInput + offset;
}

static void fill(struct wndl_bytes bytes)
{
    memset(stack, 0, STACK);
    for (size_t i = 0; i + sizeof(uint64_t) <= bytes.size && i < STACK;
         i += sizeof(uint64_t)) {
        uint64_t word;
        memcpy(&word, bytes.data + i, sizeof word);
        if (word != 0 && word < 0x10000)
            word = code_at(word);
        else if (word >= 0x10000 && word < 0x20000)
            word += (uintptr_t)stack - 0x10000;
        memcpy(stack + i, &word, sizeof word);
    }
}

static void take(uint64_t pc, uint64_t sp)
{
    struct wndl_offcpu_stack taken;
    wndl_offcpu_stack_init(&taken);
    wndl_offcpu_tree_init(&subject.tree, WNDL_CHUNK_OSTK);
    require(wndl_offcpu_stack_take(&subject, &taken, pc, sp, NOW));
    const uint32_t node = taken.last.node, ended = taken.last.ended;
    require(node != 0 && wndl_offcpu_stack_take(&subject, &taken, pc, sp, NOW));
    require(taken.last.node == node && taken.last.ended == ended);
    require(!taken.is_new);
    wndl_offcpu_tree_free(&subject.tree);
    wndl_offcpu_stack_free(&taken);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct wndl_cursor c =
        wndl_cursor_at((struct wndl_bytes){data, size}, 0, false);
    const uint64_t pc = code_at(wndl_cursor_u16(&c));
    const uint64_t at = wndl_cursor_u16(&c) % STACK;
    if (c.failed)
        return 0;
    if (shared == NULL)
        begin();
    fill((struct wndl_bytes){c.next, wndl_cursor_left(&c)});
    take(pc, (uintptr_t)stack + at);
    return 0;
}
