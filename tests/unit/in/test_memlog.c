/* SPDX-License-Identifier: MIT */
/* The writer of public headers, and the reader that it was made for. */
#include "testlib.h"

#include "in/memlog.h"
#include "out/event_log.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <windlass/memlog.h>

_Static_assert(offsetof(struct wndl_memlog_ring, anchors) == 2048, "");
_Static_assert(offsetof(struct wndl_memlog_ring, head) == 4096, "");
_Static_assert(offsetof(struct wndl_memlog_ring, lanes) == 8192, "");
_Static_assert(sizeof(struct wndl_memlog_ring) == WNDL_MEMLOG_TYPES_AT, "");
_Static_assert(
    sizeof(struct wndl_memlog_stored_type) <= WNDL_MEMLOG_TYPE_BYTES, "");
_Static_assert(sizeof(struct wndl_memlog_slot) == WNDL_MEMLOG_SLOT, "");
_Static_assert(sizeof(struct wndl_memlog_further) == WNDL_MEMLOG_SLOT, "");

static char folder[] = "/tmp/test_memlog.XXXXXX";

static struct wndl_memlog_type collected = {
    "gc", WNDL_MEMLOG_COLLECTION, 0, {{"generation", ""}}, {0, 0}};
static struct wndl_memlog_type loaded = {
    "extension", WNDL_MEMLOG_LOADED, 0, {{NULL, NULL}}, {0, 0}};
static struct wndl_memlog_type limited = {
    "limited", WNDL_MEMLOG_OTHER, 3, {{"n", "things"}}, {0, 0}};

/* ---- the log of this process, or of `process` */

static struct wndl_bytes map_log(pid_t process)
{
    char path[400];
    char start[32];
    struct stat st;
    void *at = NULL;
    snprintf(path, sizeof path, "%s/windlass", folder);
    snprintf(start, sizeof start, "%d-", (int)process);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        if (strncmp(entry->d_name, start, strlen(start)) != 0)
            continue;
        const int fd = openat(dirfd(dir), entry->d_name, O_RDONLY);
        assert_true(fd >= 0 && at == NULL);
        assert_int_equal(fstat(fd, &st), 0);
        assert_int_equal(st.st_mode & 0777, 0600);
        at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
        assert_true(at != MAP_FAILED);
        close(fd);
    }
    closedir(dir);
    assert_non_null(at);
    return (struct wndl_bytes){at, (size_t)st.st_size};
}

static void read_bytes(struct wndl_event_log *log, struct wndl_bytes bytes)
{
    struct wndl_error err = {0};
    wndl_event_log_init(log, wndl_mem_libc());
    assert_int_equal(wndl_memlog_read_ring(log, bytes, NULL, &err), WNDL_OK);
    wndl_memlog_sort(log);
}

static void read_log(struct wndl_event_log *log, pid_t process)
{
    const struct wndl_bytes bytes = map_log(process);
    read_bytes(log, bytes);
    munmap((void *)(uintptr_t)bytes.data, bytes.size);
}

static const struct wndl_event *last_event(const struct wndl_event_log *log)
{
    assert_true(log->events.len > 0);
    return wndl_vec_at(&log->events, log->events.len - 1);
}

/* ---- the tests */

static void what_was_appended_is_read(void **state)
{
    (void)state;
    const int64_t numbers[] = {812000000, 640000000, 38000000, 2};
    struct wndl_event_log log;
    errno = 77;
    wndl_memlog_append(&collected, numbers, 4);
    assert_int_equal(errno, 77);
    read_log(&log, getpid());
    const struct wndl_event *e = last_event(&log);
    const struct wndl_event_type *type = wndl_event_type_of(&log, e);
    assert_string_equal(type->name, "gc");
    assert_int_equal(type->role, WNDL_MEMLOG_COLLECTION);
    assert_int_equal(type->fields, 4);
    assert_string_equal(type->field[3].name, "generation");
    assert_int_equal(e->numbers, 4);
    assert_memory_equal(e->number_at, numbers, sizeof numbers);
    assert_int_equal(e->thread, getpid());
    wndl_event_log_free(&log);
}

static void long_events_are_read(void **state)
{
    (void)state;
    char text[400];
    uint64_t frames[20];
    const int64_t numbers[10] = {1, -2, 3, -4, 5, -6, 7, -8, 9, 10};
    struct wndl_event_log log;
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    for (size_t i = 0; i < 20; i++)
        frames[i] = 0x1000 + i;
    const struct wndl_memlog_parts parts = {numbers, text, frames, 10, 20};
    wndl_memlog_put_all(&loaded, &parts, 0);
    read_log(&log, getpid());
    const struct wndl_event *e = last_event(&log);
    assert_int_equal(e->numbers, 8);
    assert_memory_equal(e->number_at, numbers, 8 * sizeof *numbers);
    assert_int_equal(e->text.size, WNDL_MEMLOG_TEXT);
    assert_int_equal(e->frame_count, WNDL_MEMLOG_FRAMES);
    assert_memory_equal(e->frames, frames, 16 * sizeof *frames);
    wndl_event_log_free(&log);
    wndl_memlog_append(&loaded, numbers, 10);
    read_log(&log, getpid());
    e = last_event(&log);
    assert_int_equal(e->numbers, 8);
    assert_memory_equal(e->number_at, numbers, 8 * sizeof *numbers);
    assert_int_equal(e->text.size, 0);
    wndl_event_log_free(&log);
}

static void a_limit_keeps_back_and_counts(void **state)
{
    (void)state;
    struct wndl_event_log log;
    uint64_t kept = 0;
    size_t passed = 0;
    for (int64_t i = 0; i < 1000; i++)
        wndl_memlog_append(&limited, &i, 1);
    read_log(&log, getpid());
    const struct wndl_event *events = log.events.data;
    for (size_t i = 0; i < log.events.len; i++) {
        const struct wndl_event_type *type =
            wndl_event_type_of(&log, &events[i]);
        if (strcmp(type->name, "limited") == 0) {
            passed++;
            kept = type->kept_back;
        }
    }
    assert_int_equal(passed + kept, 1000);
    assert_in_range(passed, 3, 900);
    wndl_event_log_free(&log);
}

/* Many laps of the ring; all that is not there is counted. */
static void the_oldest_are_overwritten_and_counted(void **state)
{
    (void)state;
    enum { COUNT = 200 * 1000 };
    struct wndl_event_log before;
    struct wndl_event_log log;
    read_log(&before, getpid());
    for (int64_t i = 0; i < COUNT; i++)
        wndl_memlog_append(&collected, &i, 1);
    read_log(&log, getpid());
    const struct wndl_event_process *was = before.processes.data;
    const struct wndl_event_process *is = log.processes.data;
    assert_int_equal(
        is->listed + is->overwritten - was->listed - was->overwritten, COUNT);
    assert_int_equal(is->dropped, 0);
    assert_int_equal(is->unfinished, 0);
    assert_int_equal(is->damaged, 0);
    assert_in_range(is->listed, 700, 1024);
    const struct wndl_event *events = log.events.data;
    for (size_t i = 1; i < log.events.len; i++)
        assert_true(events[i].number_at[0] == events[i - 1].number_at[0] + 1);
    assert_int_equal(last_event(&log)->number_at[0], COUNT - 1);
    wndl_event_log_free(&before);
    wndl_event_log_free(&log);
}

static void a_child_has_its_own(void **state)
{
    (void)state;
    struct wndl_event_log log;
    int status;
    const int64_t mine = 4711;
    const pid_t child = fork();
    if (child == 0) {
        wndl_memlog_append(&loaded, &mine, 1);
        _exit(wndl_memlog_active() ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    read_log(&log, child);
    assert_int_equal(log.events.len, 1);
    assert_int_equal(last_event(&log)->number_at[0], mine);
    assert_int_equal(last_event(&log)->thread, child);
    const struct wndl_event_process *p = log.processes.data;
    assert_int_equal(p->process, child);
    assert_int_equal(p->parent, getpid());
    assert_string_equal(p->name, program_invocation_short_name);
    wndl_event_log_free(&log);
    read_log(&log, getpid());
    assert_true(last_event(&log)->number_at[0] != mine);
    wndl_event_log_free(&log);
}

/* ---- threads: all that an event has is a function of one number */

enum { THREADS = 8, EACH = 20 * 1000 };

static int64_t mixed(int64_t n, unsigned field)
{
    return (int64_t)((uint64_t)(n + 1) * (2 * field + 3) * 0x9e3779b97f4a7c15u);
}

static void *append_many(void *first)
{
    const int64_t from = *(const int64_t *)first;
    for (int64_t i = from; i < from + EACH; i++) {
        const int64_t numbers[] = {i, mixed(i, 1), mixed(i, 2), mixed(i, 3),
            mixed(i, 4), mixed(i, 5), mixed(i, 6), mixed(i, 7)};
        struct wndl_memlog_type *type = i % 2 == 0 ? &collected : &loaded;
        wndl_memlog_append(type, numbers, 1 + (unsigned)(i % 8));
    }
    return NULL;
}

static void threads_do_not_mix(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    int64_t firsts[THREADS];
    struct wndl_event_log before;
    struct wndl_event_log log;
    read_log(&before, getpid());
    for (int64_t i = 0; i < THREADS; i++) {
        firsts[i] = i * EACH;
        assert_int_equal(
            pthread_create(&threads[i], NULL, append_many, &firsts[i]), 0);
    }
    for (size_t i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    read_log(&log, getpid());
    const struct wndl_event_process *was = before.processes.data;
    const struct wndl_event_process *is = log.processes.data;
    assert_int_equal(is->listed + is->overwritten + is->dropped - was->listed -
                         was->overwritten - was->dropped,
        THREADS * EACH);
    assert_int_equal(is->unfinished, 0);
    assert_int_equal(is->damaged, 0);
    const struct wndl_event *events = log.events.data;
    for (size_t i = 0; i < log.events.len; i++) {
        const struct wndl_event *e = &events[i];
        if (strcmp(wndl_event_type_of(&log, e)->name, "limited") == 0 ||
            e->thread == (uint32_t)getpid())
            continue;
        assert_int_equal(e->numbers, 1 + e->number_at[0] % 8);
        for (unsigned field = 1; field < e->numbers; field++)
            assert_true(e->number_at[field] == mixed(e->number_at[0], field));
    }
    wndl_event_log_free(&before);
    wndl_event_log_free(&log);
}

/* ---- damage */

static uint8_t *copy_log(struct wndl_bytes *bytes)
{
    const struct wndl_bytes log = map_log(getpid());
    uint8_t *copy = malloc(log.size);
    assert_non_null(copy);
    memcpy(copy, log.data, log.size);
    munmap((void *)(uintptr_t)log.data, log.size);
    *bytes = (struct wndl_bytes){copy, log.size};
    return copy;
}

static void read_and_write(struct wndl_bytes bytes)
{
    struct wndl_event_log log;
    struct wndl_buf out;
    struct wndl_error err = {0};
    wndl_event_log_init(&log, wndl_mem_libc());
    wndl_buf_init(&out, wndl_mem_libc());
    if (wndl_memlog_read_ring(&log, bytes, NULL, &err) != WNDL_OK)
        assert_true(err.what[0] != '\0');
    wndl_memlog_sort(&log);
    for (size_t i = 0; i < log.events.len && i < 4; i++)
        wndl_event_put_line(&out, &log, wndl_vec_at(&log.events, i));
    wndl_buf_free(&out);
    wndl_event_log_free(&log);
}

static void any_length_is_refused_or_read(void **state)
{
    (void)state;
    struct wndl_bytes bytes;
    uint8_t *copy = copy_log(&bytes);
    struct wndl_event_log log;
    struct wndl_error err;
    for (size_t size = 0; size < bytes.size;
         size += size < sizeof(struct wndl_memlog_ring) ? 1 : 509) {
        uint8_t *cut = malloc(size == 0 ? 1 : size);
        assert_non_null(cut);
        memcpy(cut, copy, size);
        wndl_event_log_init(&log, wndl_mem_libc());
        err = (struct wndl_error){0};
        const enum wndl_status status = wndl_memlog_read_ring(
            &log, (struct wndl_bytes){cut, size}, NULL, &err);
        assert_int_equal(status, size < 8 ? WNDL_UNSUPPORTED : WNDL_TRUNCATED);
        wndl_event_log_free(&log);
        free(cut);
    }
    free(copy);
}

/* Each byte of what decides is wrong once, in all its bits. */
static void any_wrong_byte_is_borne(void **state)
{
    (void)state;
    struct wndl_bytes bytes;
    uint8_t *copy = copy_log(&bytes);
    const size_t blocks = WNDL_MEMLOG_OWNERS_AT + 4096;
    for (size_t at = 0; at < bytes.size;) {
        copy[at] ^= 0xff;
        read_and_write(bytes);
        copy[at] ^= 0xff;
        at += at < 1160                                    ? 1
              : at < 4096 + 3 * 4096                       ? 13
              : at < WNDL_MEMLOG_TYPES_AT + 3 * 512        ? 3
              : at >= WNDL_MEMLOG_OWNERS_AT && at < blocks ? 7
                                                           : 997;
    }
    free(copy);
}

static void other_versions_are_refused(void **state)
{
    (void)state;
    struct wndl_bytes bytes;
    uint8_t *copy = copy_log(&bytes);
    struct wndl_event_log log;
    struct wndl_error err = {0};
    copy[8] = 2;
    wndl_event_log_init(&log, wndl_mem_libc());
    assert_int_equal(
        wndl_memlog_read_ring(&log, bytes, NULL, &err), WNDL_UNSUPPORTED);
    assert_string_equal(
        err.what, "the log is of version 2, this windlass reads version 1");
    wndl_event_log_free(&log);
    free(copy);
}

/* ---- lines, of a log that is made here */

static void put(struct wndl_bytes bytes, const char *expected)
{
    struct wndl_event_log log;
    struct wndl_buf out;
    struct wndl_event_summary summary;
    read_bytes(&log, bytes);
    wndl_buf_init(&out, wndl_mem_libc());
    for (size_t i = 0; i < log.events.len; i++)
        wndl_event_put_line(&out, &log, wndl_vec_at(&log.events, i));
    wndl_event_put_json(&out, &log, last_event(&log));
    wndl_event_summarize(&log, 0, &summary);
    wndl_event_put_summary(&out, log.processes.data, &summary);
    wndl_buf_byte(&out, '\0');
    assert_string_equal((const char *)out.data, expected);
    wndl_buf_free(&out);
    wndl_event_log_free(&log);
}

static uint8_t *new_log(struct wndl_bytes *bytes)
{
    const uint64_t blocks = WNDL_MEMLOG_LEAST / WNDL_MEMLOG_BLOCK;
    const size_t size =
        (size_t)(wndl_memlog_blocks_at(blocks) + WNDL_MEMLOG_LEAST);
    struct wndl_memlog_anchor a = {.ticks = 1000,
        .monotonic = 1000,
        .real = UINT64_C(1764165731000000000)};
    struct wndl_memlog_ring *ring = calloc(1, size);
    assert_non_null(ring);
    memcpy(ring->magic, WNDL_MEMLOG_MAGIC, sizeof ring->magic);
    ring->version = WNDL_MEMLOG_VERSION;
    ring->block_slots = WNDL_MEMLOG_BLOCK_SLOTS;
    ring->blocks = blocks;
    ring->owned = ring->shared = 4;
    ring->process = 4711;
    memcpy(ring->name, "fire\033fox", 9);
    a.check = wndl_memlog_anchor_check(&a);
    ring->anchors[0] = a;
    *bytes = (struct wndl_bytes){(const uint8_t *)ring, size};
    return (uint8_t *)ring;
}

/* The slot at `index` of block 1; ns after the anchor. */
static struct wndl_memlog_slot *slot_at(uint8_t *log, unsigned index)
{
    struct wndl_memlog_slot *slots =
        (void *)(log + wndl_memlog_blocks_at(64) + WNDL_MEMLOG_BLOCK);
    ((uint64_t *)(void *)(log + WNDL_MEMLOG_OWNERS_AT))[1] = 1;
    slots[index].number = 16 + index;
    slots[index].thread = 4712;
    return &slots[index];
}

static void add_type(uint8_t *log, struct wndl_memlog_type *type)
{
    struct wndl_memlog_ring *ring = (void *)log;
    struct wndl_memlog_stored_type *at =
        wndl_memlog_type_at(ring, (uint32_t)++ring->types.value);
    wndl_memlog_describe(type, at);
    at->whole = 1;
}

static void add_event(uint8_t *log, unsigned index, uint64_t seconds,
    uint16_t type, const int64_t numbers[4])
{
    struct wndl_memlog_slot *slot = slot_at(log, index);
    slot->time = 1000 + seconds * 1000000000;
    slot->type = type;
    slot->numbers = 4;
    memcpy(slot->bytes, numbers, 4 * sizeof *numbers);
}

static void lines_say_what_happened(void **state)
{
    (void)state;
    static struct wndl_memlog_type types[] = {
        {"gc", WNDL_MEMLOG_COLLECTION, 0, {{"generation", ""}}, {0, 0}},
        {"jit", WNDL_MEMLOG_CODE, 0, {{"of", "functions"}}, {0, 0}},
        {"size", WNDL_MEMLOG_REPORT, 0, {{"pss", "bytes"}}, {0, 0}},
    };
    struct wndl_bytes bytes;
    uint8_t *log = new_log(&bytes);
    for (size_t i = 0; i < 3; i++)
        add_type(log, &types[i]);
    add_event(log, 0, 0, 3, (const int64_t[]){400000000, 1500, 0, 7});
    add_event(log, 1, 60, 2, (const int64_t[]){0x7f0000, 972000000, 12, -1});
    add_event(
        log, 2, 61, 1, (const int64_t[]){812000000, 640000000, 38000000, 2});
    slot_at(log, 2)->flags = WNDL_MEMLOG_END;
    add_event(log, 4, 120, 3, (const int64_t[]){1600000000, 0, -5, 7});
    put(bytes,
        "14:02:11.000 fire\\x1bfox[4711] size: resident 400 MB, pss 1.5 kB, "
        "0, 7\n"
        "14:03:11.000 fire\\x1bfox[4711] jit: 972 MB at 0x7f0000, of 12 "
        "functions, -1\n"
        "14:03:12.000 fire\\x1bfox[4711] gc end: 812 MB -> 640 MB, reclaimed "
        "172 MB in 38 ms, generation 2\n"
        "14:04:11.000 fire\\x1bfox[4711] size: resident 1.6 GB, pss 0 B, -5, "
        "7\n"
        "{\"time\":1764165851.000000000,\"process\":\"fire\\u001bfox\","
        "\"pid\":4711,\"thread\":4712,\"number\":20,\"type\":\"size\","
        "\"role\":\"report\",\"fields\":[{\"name\":\"resident\",\"unit\":"
        "\"bytes\",\"value\":1600000000},{\"name\":\"pss\",\"unit\":\"bytes\","
        "\"value\":0},{\"name\":\"\",\"unit\":\"\",\"value\":-5},{\"name\":"
        "\"\",\"unit\":\"\",\"value\":7}]}\n"
        "fire\\x1bfox[4711]: RSS grew 1.2 GB between 14:02 and 14:04; 81 % of "
        "it in 1 mapping of code; code 972 MB in 1; 1 collection reclaimed "
        "172 MB, the last one more than 10 MB at 14:03\n");
    free(log);
}

static void add_anchor(
    uint8_t *log, unsigned index, uint64_t seconds, uint64_t real_seconds)
{
    struct wndl_memlog_ring *ring = (void *)log;
    struct wndl_memlog_anchor a = {.ticks = 1000 + seconds * 1000000000,
        .monotonic = 1000 + seconds * 1000000000,
        .real = UINT64_C(1764165731000000000) + real_seconds * 1000000000};
    a.check = wndl_memlog_anchor_check(&a);
    ring->anchors[index] = a;
}

/* Set forward, or asleep: the order is kept. Set back: it is counted. */
static void a_clock_that_was_set_is_seen(void **state)
{
    (void)state;
    for (unsigned is_back = 0; is_back < 2; is_back++) {
        struct wndl_event_log read;
        struct wndl_bytes bytes;
        const int64_t numbers[4] = {1, 2, 3, 4};
        uint8_t *log = new_log(&bytes);
        add_type(log, &collected);
        add_anchor(log, 1, 100, 3700);
        add_anchor(log, 2, 200, is_back ? 100 : 3800);
        add_event(log, 0, 50, 1, numbers);
        add_event(log, 1, 210, 1, numbers);
        read_bytes(&read, bytes);
        const struct wndl_event_process *p = read.processes.data;
        const struct wndl_event *events = read.events.data;
        assert_int_equal(p->set_back, is_back ? UINT64_C(3700000000000) : 0);
        assert_int_equal(read.events.len, 2);
        assert_int_equal(events[1].real - events[0].real,
            (is_back ? 60 : 3760) * UINT64_C(1000000000));
        wndl_event_log_free(&read);
        free(log);
    }
}

/* A block whose owner is another one's number, and a slot of another lap. */
static void slots_of_others_do_not_count(void **state)
{
    (void)state;
    static struct wndl_memlog_type type = {
        "t", WNDL_MEMLOG_OTHER, 0, {{NULL, NULL}}, {0, 0}};
    struct wndl_bytes bytes;
    struct wndl_event_log log;
    uint8_t *file = new_log(&bytes);
    add_type(file, &type);
    add_event(file, 0, 1, 1, (const int64_t[]){1, 2, 3, 4});
    add_event(file, 1, 1, 1, (const int64_t[]){1, 2, 3, 4});
    slot_at(file, 1)->number = 64 * 16 + 17;
    add_event(file, 2, 1, 9, (const int64_t[]){1, 2, 3, 4});
    read_bytes(&log, bytes);
    const struct wndl_event_process *p = log.processes.data;
    assert_int_equal(p->listed, 1);
    assert_int_equal(p->damaged, 1);
    assert_int_equal(p->unfinished, 14);
    wndl_event_log_free(&log);
    ((uint64_t *)(void *)(file + WNDL_MEMLOG_OWNERS_AT))[1] = 2;
    read_bytes(&log, bytes);
    assert_int_equal(log.events.len, 0);
    wndl_event_log_free(&log);
    free(file);
}

static int make_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) == NULL ||
           setenv("XDG_RUNTIME_DIR", folder, 1) != 0 ||
           setenv("WINDLASS_MEMLOG", "64k", 1) != 0;
}

static int remove_folder(void **state)
{
    (void)state;
    char command[200];
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_was_appended_is_read),
        cmocka_unit_test(long_events_are_read),
        cmocka_unit_test(a_limit_keeps_back_and_counts),
        cmocka_unit_test(any_length_is_refused_or_read),
        cmocka_unit_test(the_oldest_are_overwritten_and_counted),
        cmocka_unit_test(a_child_has_its_own),
        cmocka_unit_test(threads_do_not_mix),
        cmocka_unit_test(any_wrong_byte_is_borne),
        cmocka_unit_test(other_versions_are_refused),
        cmocka_unit_test(lines_say_what_happened),
        cmocka_unit_test(slots_of_others_do_not_count),
        cmocka_unit_test(a_clock_that_was_set_is_seen),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
