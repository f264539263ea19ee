/* SPDX-License-Identifier: MIT */
#include "in/memlog.h"

#include "in/memlog_clock.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* A ring that is being read. */
struct reading {
    struct wndl_event_log *log;
    struct wndl_bytes file;
    struct wndl_memlog_ring head; /* a copy */
    struct wndl_memlog_clockwork clock;
    struct wndl_event_process *process;
    uint32_t index; /* of `process` */
    bool no_memory;
};

/* A block that cannot change any more. */
struct block {
    uint64_t owner;
    uint8_t bytes[WNDL_MEMLOG_BLOCK];
};

bool wndl_memlog_is_ring(struct wndl_bytes file)
{
    return file.size >= sizeof WNDL_MEMLOG_MAGIC - 1 &&
           memcmp(file.data, WNDL_MEMLOG_MAGIC, sizeof WNDL_MEMLOG_MAGIC - 1) ==
               0;
}

/* ---- the head */

static bool is_power(uint64_t n, uint64_t least, uint64_t most)
{
    return n >= least && n <= most && (n & (n - 1)) == 0;
}

static const char *problem_of(const struct wndl_memlog_ring *r)
{
    if (r->block_slots != WNDL_MEMLOG_BLOCK_SLOTS ||
        !is_power(r->blocks, WNDL_MEMLOG_LEAST / WNDL_MEMLOG_BLOCK,
            WNDL_MEMLOG_MOST / WNDL_MEMLOG_BLOCK))
        return "the size of its blocks is wrong";
    if (!is_power(r->owned, 1, WNDL_MEMLOG_OWNED) ||
        !is_power(r->shared, 1, WNDL_MEMLOG_LANES - WNDL_MEMLOG_OWNED))
        return "the number of its lanes is wrong";
    if (r->clock > WNDL_MEMLOG_TSC)
        return "its clock is not known";
    if (r->command_size > sizeof r->command)
        return "its command line is too long";
    return NULL;
}

static enum wndl_status read_head(struct reading *r, struct wndl_error *err)
{
    static const char no_magic[sizeof r->head.magic];
    const struct wndl_bytes start =
        wndl_bytes_slice(r->file, 0, sizeof no_magic);
    if (start.size != 0 && memcmp(start.data, no_magic, start.size) == 0)
        return wndl_fail_at(err, WNDL_MALFORMED, "head", 0,
            "the log was not finished when its process ended");
    if (!wndl_memlog_is_ring(r->file))
        return wndl_fail(err, WNDL_UNSUPPORTED, "this is no memory event log");
    if (r->file.size < sizeof r->head)
        return wndl_fail_at(err, WNDL_TRUNCATED, "head", r->file.size,
            "the file ends in the head of the log");
    memcpy(&r->head, r->file.data, sizeof r->head);
    if (r->head.version != WNDL_MEMLOG_VERSION)
        return wndl_fail(err, WNDL_UNSUPPORTED,
            "the log is of version %" PRIu32 ", this windlass reads version %d",
            r->head.version, WNDL_MEMLOG_VERSION);
    const char *problem = problem_of(&r->head);
    if (problem != NULL)
        return wndl_fail_at(err, WNDL_MALFORMED, "head", 8, problem);
    if (r->file.size < wndl_memlog_blocks_at(r->head.blocks) +
                           r->head.blocks * WNDL_MEMLOG_BLOCK)
        return wndl_fail_at(err, WNDL_TRUNCATED, "blocks", r->file.size,
            "the file ends before the last block");
    return WNDL_OK;
}

static void copy_text(char *to, size_t size, const char *from)
{
    const size_t used = strnlen(from, size - 1);
    memcpy(to, from, used);
    memset(to + used, 0, size - used);
}

static void read_facts(struct reading *r)
{
    struct wndl_event_process *p = r->process;
    const struct wndl_memlog_ring *h = &r->head;
    p->process = h->process;
    p->parent = h->parent;
    p->user = h->user;
    p->watcher = h->watcher;
    p->clock = h->clock;
    p->start = h->start;
    p->size = h->blocks * WNDL_MEMLOG_BLOCK;
    p->overwritten = h->overwritten.value;
    p->dropped = h->dropped.value;
    p->given_up = h->given_up.value;
    p->has_rate = r->clock.has_rate;
    p->set_back = r->clock.set_back;
    p->first = r->clock.count == 0 ? 0 : r->clock.anchors[0].real;
    copy_text(p->boot, sizeof p->boot, h->boot);
    p->boot[strcspn(p->boot, "\n")] = '\0';
    copy_text(p->name, sizeof p->name, h->name);
    const char *copy =
        wndl_arena_copy(&r->log->arena, h->command, h->command_size);
    r->no_memory |= copy == NULL;
    p->command =
        (struct wndl_bytes){(const uint8_t *)copy, copy ? h->command_size : 0};
}

/* ---- types */

static bool read_type(
    struct reading *r, uint64_t index, struct wndl_event_type *type)
{
    struct wndl_memlog_stored_type s;
    const struct wndl_bytes at = wndl_bytes_slice(r->file,
        WNDL_MEMLOG_TYPES_AT + index * WNDL_MEMLOG_TYPE_BYTES, sizeof s);
    *type = (struct wndl_event_type){0};
    if (at.data == NULL)
        return false;
    memcpy(&s, at.data, sizeof s);
    if (s.whole != 1 || s.fields > WNDL_MEMLOG_NUMBERS)
        return false;
    type->role = s.role;
    type->limit = s.limit;
    type->kept_back = s.kept_back;
    type->fields = s.fields;
    copy_text(type->name, sizeof type->name, s.name);
    for (size_t i = 0; i < s.fields; i++) {
        copy_text(type->field[i].name, sizeof s.field[i].name, s.field[i].name);
        copy_text(type->field[i].unit, sizeof s.field[i].unit, s.field[i].unit);
    }
    return true;
}

/* A type that is damaged keeps its place, without a name. */
static void read_types(struct reading *r)
{
    uint64_t count = r->head.types.value;
    count = count > WNDL_MEMLOG_TYPES ? WNDL_MEMLOG_TYPES : count;
    for (uint64_t i = 0; i < count && !r->no_memory; i++) {
        struct wndl_event_type *type = wndl_vec_push(&r->process->types);
        r->no_memory |= type == NULL;
        if (type != NULL)
            (void)read_type(r, i, type);
    }
}

/* ---- events */

/* The bytes of an event, put together from its slots. */
struct packed {
    uint8_t bytes[WNDL_MEMLOG_FIRST_BYTES +
                  WNDL_MEMLOG_FURTHER_BYTES * (WNDL_MEMLOG_EVENT_SLOTS - 1)];
    size_t size;
};

static const uint8_t *slot_at(const struct block *b, size_t index)
{
    return b->bytes + index * WNDL_MEMLOG_SLOT;
}

static uint64_t number_of(const struct block *b, size_t index)
{
    return b->owner * WNDL_MEMLOG_BLOCK_SLOTS + index;
}

/* Adds all slots that may belong to the event at `index`. */
static void pack(const struct block *b, size_t index, struct packed *to)
{
    memcpy(to->bytes,
        slot_at(b, index) + offsetof(struct wndl_memlog_slot, bytes),
        WNDL_MEMLOG_FIRST_BYTES);
    to->size = WNDL_MEMLOG_FIRST_BYTES;
    for (size_t i = index + 1;
         i < WNDL_MEMLOG_BLOCK_SLOTS && i < index + WNDL_MEMLOG_EVENT_SLOTS &&
         wndl_load_u64(slot_at(b, i)) == (number_of(b, i) | WNDL_MEMLOG_INNER);
         i++) {
        memcpy(to->bytes + to->size,
            slot_at(b, i) + offsetof(struct wndl_memlog_further, bytes),
            WNDL_MEMLOG_FURTHER_BYTES);
        to->size += WNDL_MEMLOG_FURTHER_BYTES;
    }
}

/* The frames and the text after the numbers. False: they contradict. */
static bool read_more(
    struct reading *r, struct wndl_cursor *c, struct wndl_event *event)
{
    const uint16_t text = wndl_cursor_u16(c);
    const uint16_t frames = wndl_cursor_u16(c);
    wndl_cursor_skip(c, 4);
    const uint8_t *at = wndl_cursor_take(c, (uint64_t)frames * 8);
    const uint8_t *words = wndl_cursor_take(c, text);
    if (c->failed || text > WNDL_MEMLOG_TEXT || frames > WNDL_MEMLOG_FRAMES)
        return false;
    event->frame_count = frames;
    event->frames = frames == 0 ? NULL
                                : (void *)wndl_arena_copy(
                                      &r->log->arena, at, (size_t)frames * 8);
    event->text.data =
        text == 0 ? NULL : (void *)wndl_arena_copy(&r->log->arena, words, text);
    event->text.size = text;
    r->no_memory |= (frames != 0 && event->frames == NULL) ||
                    (text != 0 && event->text.data == NULL);
    return true;
}

static bool is_known(const struct reading *r, uint16_t type)
{
    const struct wndl_event_type *t;
    if (type == 0 || type > r->process->types.len)
        return false;
    t = wndl_vec_at(&r->process->types, type - 1u);
    return t->name[0] != '\0';
}

static bool read_event(struct reading *r, const struct block *b, size_t index,
    struct wndl_event *event)
{
    struct wndl_memlog_slot slot;
    struct packed packed;
    memcpy(&slot, slot_at(b, index), sizeof slot);
    if (!is_known(r, slot.type) || slot.numbers > WNDL_MEMLOG_NUMBERS)
        return false;
    pack(b, index, &packed);
    struct wndl_cursor c = wndl_cursor_at(
        (struct wndl_bytes){packed.bytes, packed.size}, 0, false);
    *event = (struct wndl_event){
        .number = slot.number,
        .real = wndl_memlog_clockwork_real(&r->clock, slot.time),
        .process = r->index,
        .thread = slot.thread,
        .type = slot.type - 1u,
        .numbers = slot.numbers,
        .flags = slot.flags,
    };
    for (size_t i = 0; i < slot.numbers; i++) {
        const uint8_t *at = wndl_cursor_take(&c, 8);
        event->number_at[i] = at == NULL ? 0 : (int64_t)wndl_load_u64(at);
    }
    if (c.failed)
        return false;
    return (slot.flags & WNDL_MEMLOG_LONG) == 0 || read_more(r, &c, event);
}

static void add_event(struct reading *r, const struct block *b, size_t index)
{
    struct wndl_event event;
    if (!read_event(r, b, index, &event)) {
        r->process->damaged++;
        return;
    }
    struct wndl_event *added = wndl_vec_push(&r->log->events);
    r->no_memory |= added == NULL;
    if (added == NULL)
        return;
    *added = event;
    r->process->listed++;
}

/* ---- blocks */

/* A number that another process may write; what follows is read later. */
static uint64_t load_first(const uint8_t *at)
{
    const uint64_t value = wndl_load_u64(at);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
#ifdef __aarch64__
    __asm__ volatile("dmb ishld" ::: "memory");
#endif
    return value;
}

static uint64_t owner_of(const struct reading *r, uint64_t index)
{
    const struct wndl_bytes at = wndl_bytes_slice(
        r->file, WNDL_MEMLOG_OWNERS_AT + index * 8, sizeof(uint64_t));
    return at.data == NULL ? 0 : load_first(at.data);
}

/* The slots of a block that a lane still has; all, if none has it. */
static unsigned taken_slots(const struct reading *r, uint64_t owner)
{
    for (size_t i = 0; i < WNDL_MEMLOG_LANES; i++) {
        const uint64_t word = r->head.lanes[i].value;
        if (word >> 16 == owner && (word & 0xffff) < WNDL_MEMLOG_BLOCK_SLOTS)
            return (unsigned)(word & 0xffff);
    }
    return WNDL_MEMLOG_BLOCK_SLOTS;
}

/*
 * Copies a block. The numbers of slots are read before and after: what is
 * written later than its number does not change while the owner stays.
 */
static bool copy_block(
    const struct reading *r, uint64_t index, struct block *block)
{
    const struct wndl_bytes at = wndl_bytes_slice(r->file,
        wndl_memlog_blocks_at(r->head.blocks) + index * WNDL_MEMLOG_BLOCK,
        WNDL_MEMLOG_BLOCK);
    if (at.data == NULL)
        return false;
    uint64_t numbers[WNDL_MEMLOG_BLOCK_SLOTS];
    for (size_t i = 0; i < WNDL_MEMLOG_BLOCK_SLOTS; i++)
        numbers[i] = load_first(at.data + i * WNDL_MEMLOG_SLOT);
    memcpy(block->bytes, at.data, sizeof block->bytes);
    (void)load_first(at.data);
    for (size_t i = 0; i < WNDL_MEMLOG_BLOCK_SLOTS; i++)
        memcpy(block->bytes + i * WNDL_MEMLOG_SLOT, &numbers[i],
            sizeof numbers[i]);
    return owner_of(r, index) == block->owner;
}

static void read_slots(struct reading *r, const struct block *b)
{
    const unsigned taken = taken_slots(r, b->owner);
    for (size_t i = 0; i < WNDL_MEMLOG_BLOCK_SLOTS && !r->no_memory; i++) {
        const uint64_t number = wndl_load_u64(slot_at(b, i));
        if (number == number_of(b, i))
            add_event(r, b, i);
        else if (number != (number_of(b, i) | WNDL_MEMLOG_INNER) && i < taken)
            r->process->unfinished++;
    }
}

static void read_block(struct reading *r, uint64_t index)
{
    struct block block = {.owner = owner_of(r, index)};
    if (block.owner == 0)
        return;
    if ((block.owner & (r->head.blocks - 1)) != index ||
        block.owner >= UINT64_C(1) << 48)
        r->process->damaged += WNDL_MEMLOG_BLOCK_SLOTS;
    else if (!copy_block(r, index, &block))
        r->process->replaced += WNDL_MEMLOG_BLOCK_SLOTS;
    else
        read_slots(r, &block);
}

enum wndl_status wndl_memlog_read_ring(struct wndl_event_log *log,
    struct wndl_bytes file, const struct wndl_memlog_anchor *now,
    struct wndl_error *err)
{
    struct reading *r = wndl_arena_calloc(&log->arena, 1, sizeof *r);
    if (r == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    r->log = log;
    r->file = file;
    const enum wndl_status status = read_head(r, err);
    if (status != WNDL_OK)
        return status;
    r->index = (uint32_t)log->processes.len;
    r->process = wndl_vec_push(&log->processes);
    if (r->process == NULL)
        return wndl_fail(err, WNDL_NOMEM, "out of memory");
    wndl_vec_init(
        &r->process->types, &log->arena, sizeof(struct wndl_event_type));
    wndl_memlog_clockwork_init(&r->clock, &r->head, now);
    read_facts(r);
    read_types(r);
    for (uint64_t i = 0; i < r->head.blocks && !r->no_memory; i++)
        read_block(r, i);
    return r->no_memory ? wndl_fail(err, WNDL_NOMEM, "out of memory") : WNDL_OK;
}

static int compare_events(const void *a, const void *b)
{
    const struct wndl_event *x = a;
    const struct wndl_event *y = b;
    if (x->real != y->real)
        return x->real < y->real ? -1 : 1;
    if (x->process != y->process)
        return x->process < y->process ? -1 : 1;
    return x->number < y->number ? -1 : x->number > y->number;
}

void wndl_memlog_sort(struct wndl_event_log *log)
{
    if (log->events.len != 0)
        qsort(log->events.data, log->events.len, sizeof(struct wndl_event),
            compare_events);
}
