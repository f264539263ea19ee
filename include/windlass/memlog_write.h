/* SPDX-License-Identifier: MIT */
/*
 * windlass/memlog_write.h: the writer below windlass/memlog.h. Include that
 * one.
 *
 * A slot has one writer: the thread whose addition to the word of a lane
 * returned it. A lane has a block, and a block has one lane: the one that made
 * it the owner's number, for which all slots of the owner before had to be
 * whole. So no slot is written while another thread still writes to it; the
 * number of a block whose memory is not free is given up.
 */
#ifndef WINDLASS_MEMLOG_WRITE_H
#define WINDLASS_MEMLOG_WRITE_H

#include <string.h>
#include <windlass/memlog_open.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Private: the page of the process, if its events are logged now. */
static inline struct wndl_memlog_page *wndl_memlog_page_now(void)
{
    const uint32_t *gate =
        __atomic_load_n(&wndl_memlog_state.gate, __ATOMIC_ACQUIRE);
    struct wndl_memlog_page *page;
    uint32_t turn;
    if (gate == NULL)
        return wndl_memlog_open();
    turn = __atomic_load_n(gate, __ATOMIC_RELAXED);
    if (turn == __atomic_load_n(&wndl_memlog_state.off_at, __ATOMIC_RELAXED))
        return NULL;
    /* It is there before the gate is. */
    page = __atomic_load_n(&wndl_memlog_state.page, __ATOMIC_RELAXED);
    if (__builtin_expect(
            __atomic_load_n(&page->seen, __ATOMIC_ACQUIRE) != turn + 1, 0))
        return wndl_memlog_open();
    return page;
}

/* ---- blocks */

/* Private. */
static inline struct wndl_memlog_slot *wndl_memlog_slot_of(
    const struct wndl_memlog_page *page, uint64_t number)
{
    return (
        struct wndl_memlog_slot *)(void *)(page->blocks +
                                           (size_t)(number & page->slot_mask) *
                                               WNDL_MEMLOG_SLOT);
}

/*
 * Private: whether all slots of the block `owner` are whole; `events` is how
 * many begin there.
 */
static inline int wndl_memlog_block_is_whole(
    const struct wndl_memlog_page *page, uint64_t owner, uint64_t *events)
{
    const uint64_t first = owner * WNDL_MEMLOG_BLOCK_SLOTS;
    unsigned i;
    *events = 0;
    for (i = 0; i < WNDL_MEMLOG_BLOCK_SLOTS && owner != 0; i++) {
        const uint64_t number = __atomic_load_n(
            &wndl_memlog_slot_of(page, first + i)->number, __ATOMIC_ACQUIRE);
        if ((number & ~WNDL_MEMLOG_INNER) != first + i)
            return 0;
        *events += number == first + i;
    }
    return 1;
}

/* Private: makes slots whole that hold no event. */
static inline void wndl_memlog_fill(
    const struct wndl_memlog_page *page, uint64_t first, unsigned count)
{
    unsigned i;
    for (i = 0; i < count; i++)
        __atomic_store_n(&wndl_memlog_slot_of(page, first + i)->number,
            (first + i) | WNDL_MEMLOG_INNER, __ATOMIC_RELEASE);
}

/* Private: one number of a block is given up. */
static inline void wndl_memlog_give_up(
    struct wndl_memlog_ring *ring, uint64_t count)
{
    __atomic_fetch_add(&ring->given_up.value, count, __ATOMIC_RELAXED);
}

/*
 * Private: memory for the block at `index`. Without it a store would end the
 * program (SIGBUS) if the file system is full. False: there is none, and the
 * numbers up to the first block are given up.
 */
static inline int wndl_memlog_populate(
    const struct wndl_memlog_page *page, uint64_t index)
{
    struct wndl_memlog_ring *ring = page->ring;
    const uint64_t step = WNDL_MEMLOG_LEAST / WNDL_MEMLOG_BLOCK;
    const uint64_t from = index & ~(step - 1);
    uint64_t have = __atomic_load_n(&ring->populated.value, __ATOMIC_ACQUIRE);
    if (index < have)
        return 1;
    if (wndl_memlog_populate_range(
            page->blocks + from * WNDL_MEMLOG_BLOCK, WNDL_MEMLOG_LEAST) != 0) {
        const uint64_t skipped = page->block_mask - index;
        __atomic_fetch_add(&ring->head.value, skipped, __ATOMIC_RELAXED);
        wndl_memlog_give_up(ring, skipped);
        return 0;
    }
    /* Steps come in order, but for those of threads at the same moment. */
    if (have == from)
        __atomic_compare_exchange_n(&ring->populated.value, &have, from + step,
            0, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
    return 1;
}

/* Private: makes `block` the owner of its place. */
static inline int wndl_memlog_own(
    const struct wndl_memlog_page *page, uint64_t block)
{
    uint64_t *place = page->owners + (block & page->block_mask);
    uint64_t owner = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    uint64_t events;
#ifdef WNDL_MEMLOG_TEST_NO_CLAIM
    /* For the test that has to fail without the claim. */
    (void)wndl_memlog_block_is_whole(page, owner, &events);
    __atomic_store_n(place, block, __ATOMIC_SEQ_CST);
#else
    if (owner >= block || !wndl_memlog_block_is_whole(page, owner, &events) ||
        !__atomic_compare_exchange_n(
            place, &owner, block, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
        return 0;
#endif
    if (events != 0)
        __atomic_fetch_add(
            &page->ring->overwritten.value, events, __ATOMIC_RELAXED);
        /* Stores to the block come after that of its owner. */
#ifdef __aarch64__
    __asm__ volatile("dmb ish" ::: "memory");
#endif
    return 1;
}

/* Private: a block for a lane, or 0. */
static inline uint64_t wndl_memlog_take_block(
    const struct wndl_memlog_page *page)
{
    struct wndl_memlog_ring *ring = page->ring;
    unsigned tries;
    for (tries = 0; tries < 2 * WNDL_MEMLOG_LANES; tries++) {
        const uint64_t block =
            __atomic_fetch_add(&ring->head.value, 1, __ATOMIC_RELAXED);
        if (wndl_memlog_populate(page, block & page->block_mask) &&
            wndl_memlog_own(page, block))
            return block;
        wndl_memlog_give_up(ring, 1);
    }
    return 0;
}

/* ---- lanes */

/*
 * Private: replaces the block `old` of a lane by `block`, of which `count`
 * slots are taken. False: another block is there.
 */
static inline int wndl_memlog_install(
    uint64_t *lane, uint64_t old, uint64_t block, unsigned count)
{
    uint64_t word = __atomic_load_n(lane, __ATOMIC_RELAXED);
    unsigned tries;
    for (tries = 0; tries < 64 && word >> 16 == old; tries++) {
        if (__atomic_compare_exchange_n(lane, &word, block << 16 | count, 0,
                __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
            return 1;
    }
    return 0;
}

/*
 * Private: the first number of `count` slots, of which an addition to `lane`
 * got `word` and found too few; 0 if there are none.
 */
static __attribute__((noinline, cold, unused)) uint64_t wndl_memlog_refill(
    const struct wndl_memlog_page *page, uint64_t *lane, uint64_t word,
    unsigned count)
{
    unsigned tries;
    wndl_memlog_anchor_if_due(page);
    for (tries = 0; tries < 8; tries++) {
        const uint64_t old = word >> 16;
        const unsigned used = (unsigned)(word & 0xffff);
        uint64_t block;
        if (used + count <= WNDL_MEMLOG_BLOCK_SLOTS)
            return old * WNDL_MEMLOG_BLOCK_SLOTS + used;
        if (used < WNDL_MEMLOG_BLOCK_SLOTS)
            wndl_memlog_fill(page, old * WNDL_MEMLOG_BLOCK_SLOTS + used,
                WNDL_MEMLOG_BLOCK_SLOTS - used);
        block = wndl_memlog_take_block(page);
        if (block == 0)
            break;
        if (wndl_memlog_install(lane, old, block, count))
            return block * WNDL_MEMLOG_BLOCK_SLOTS;
        wndl_memlog_fill(
            page, block * WNDL_MEMLOG_BLOCK_SLOTS, WNDL_MEMLOG_BLOCK_SLOTS);
        word = __atomic_fetch_add(lane, count, __ATOMIC_ACQ_REL);
    }
    /* The count of the lane must not run into its block. */
    word = __atomic_load_n(lane, __ATOMIC_RELAXED);
    if ((word & 0xffff) > WNDL_MEMLOG_BLOCK_SLOTS)
        __atomic_compare_exchange_n(lane, &word,
            (word & ~UINT64_C(0xffff)) | WNDL_MEMLOG_BLOCK_SLOTS, 0,
            __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
    __atomic_fetch_add(&page->ring->dropped.value, 1, __ATOMIC_RELAXED);
    return 0;
}

/* Private: finds the lane of a thread, or gives it one. */
static inline unsigned wndl_memlog_find_lane(
    const struct wndl_memlog_page *page, uint64_t thread, uint32_t hash)
{
    struct wndl_memlog_ring *ring = page->ring;
    unsigned i;
    for (i = 0; i < 4; i++) {
        const uint32_t lane = (hash + i) & page->lane_mask;
        uint64_t owner =
            __atomic_load_n(&ring->threads[lane], __ATOMIC_RELAXED);
        if (owner == 0 &&
            __atomic_compare_exchange_n(&ring->threads[lane], &owner, thread, 0,
                __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return lane;
        if (owner == thread)
            return lane;
    }
    return page->lane_mask + 1 + ((hash >> 8) & page->shared_mask);
}

/*
 * Private: adds `count` to the word of a lane that only this thread uses, its
 * signal handlers included: one instruction, which needs no lock.
 */
static inline uint64_t wndl_memlog_add_own(uint64_t *word, unsigned count)
{
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
    uint64_t value = count;
    __asm__ volatile("xaddq %0, %1" : "+r"(value), "+m"(*word)::"memory", "cc");
    return value;
#else
    return __atomic_fetch_add(word, count, __ATOMIC_ACQ_REL);
#endif
}

/* Private: the first number of `count` slots that an addition returned. */
static inline uint64_t wndl_memlog_taken(const struct wndl_memlog_page *page,
    uint64_t *lane, uint64_t word, unsigned count)
{
    const unsigned used = (unsigned)(word & 0xffff);
    if (__builtin_expect(used + count > WNDL_MEMLOG_BLOCK_SLOTS, 0))
        return wndl_memlog_refill(page, lane, word, count);
    return (word >> 16) * WNDL_MEMLOG_BLOCK_SLOTS + used;
}

/* Private: the same for a thread whose lane is not where it is sought first. */
static __attribute__((noinline, unused)) uint64_t wndl_memlog_claim_elsewhere(
    const struct wndl_memlog_page *page, uint64_t thread, uint32_t hash,
    unsigned count)
{
    const unsigned lane = wndl_memlog_find_lane(page, thread, hash);
    uint64_t *place = &page->ring->lanes[lane].value;
    const uint64_t word =
        lane <= page->lane_mask
            ? wndl_memlog_add_own(place, count)
            : __atomic_fetch_add(place, count, __ATOMIC_ACQ_REL);
    return wndl_memlog_taken(page, place, word, count);
}

/* Private: the first number of `count` slots, or 0. */
static inline uint64_t wndl_memlog_claim(
    const struct wndl_memlog_page *page, unsigned count)
{
    const uint64_t thread = wndl_memlog_thread_pointer();
    const uint32_t hash =
        (uint32_t)((thread * UINT64_C(0x9e3779b97f4a7c15)) >> 32);
    struct wndl_memlog_ring *ring = page->ring;
    const uint32_t lane = hash & page->lane_mask;
    uint64_t *place = &ring->lanes[lane].value;
    if (__builtin_expect(
            __atomic_load_n(&ring->threads[lane], __ATOMIC_RELAXED) != thread,
            0))
        return wndl_memlog_claim_elsewhere(page, thread, hash, count);
    return wndl_memlog_taken(
        page, place, wndl_memlog_add_own(place, count), count);
}

/* ---- types */

/* Private. */
static inline void wndl_memlog_copy_text(
    char *to, size_t size, const char *text)
{
    size_t i;
    for (i = 0; text != NULL && i + 1 < size && text[i] != '\0'; i++)
        to[i] = text[i];
    for (; i < size; i++)
        to[i] = '\0';
}

/* Private: the fields of a role. */
static inline unsigned wndl_memlog_role_fields(
    uint32_t role, struct wndl_memlog_field fields[3])
{
    static const struct wndl_memlog_field address = {"address", "address"};
    static const struct wndl_memlog_field size = {"size", "bytes"};
    static const struct wndl_memlog_field duration = {"duration", "ns"};
    static const struct wndl_memlog_field before = {"before", "bytes"};
    static const struct wndl_memlog_field after = {"after", "bytes"};
    static const struct wndl_memlog_field resident = {"resident", "bytes"};
    fields[0] = role == WNDL_MEMLOG_COLLECTION ? before
                : role == WNDL_MEMLOG_LOADED   ? size
                : role == WNDL_MEMLOG_IDLE     ? duration
                : role == WNDL_MEMLOG_REPORT   ? resident
                                               : address;
    fields[1] = role == WNDL_MEMLOG_COLLECTION ? after : size;
    fields[2] = duration;
    return role == WNDL_MEMLOG_COLLECTION                                ? 3
           : role >= WNDL_MEMLOG_MAPPED && role <= WNDL_MEMLOG_DISCARDED ? 2
           : role == WNDL_MEMLOG_OTHER || role == WNDL_MEMLOG_ACTION     ? 0
                                                                         : 1;
}

/* Private: `type` as it is stored. */
static inline void wndl_memlog_describe(
    const struct wndl_memlog_type *type, struct wndl_memlog_stored_type *stored)
{
    struct wndl_memlog_field fields[3];
    unsigned count = wndl_memlog_role_fields((uint32_t)type->role, fields);
    const unsigned of_role = count;
    unsigned i;
    memset(stored, 0, sizeof *stored);
    while (count < WNDL_MEMLOG_NUMBERS && type->fields[count - of_role].name)
        count++;
    for (i = 0; i < count; i++) {
        const struct wndl_memlog_field *field =
            i < of_role ? &fields[i] : &type->fields[i - of_role];
        wndl_memlog_copy_text(
            stored->field[i].name, sizeof stored->field[i].name, field->name);
        wndl_memlog_copy_text(
            stored->field[i].unit, sizeof stored->field[i].unit, field->unit);
    }
    wndl_memlog_copy_text(stored->name, sizeof stored->name, type->name);
    stored->role = (uint32_t)type->role;
    stored->limit = type->limit;
    stored->fields = count;
}

/* Private: whether two stored types are one. */
static inline int wndl_memlog_is_same_type(
    const struct wndl_memlog_stored_type *a,
    const struct wndl_memlog_stored_type *b)
{
    const size_t from = offsetof(struct wndl_memlog_stored_type, role);
    return memcmp((const char *)a + from, (const char *)b + from,
               sizeof *a - from) == 0;
}

/*
 * Private: the id of `type` in this ring, which another library may have given
 * it; 0: there is no room.
 */
static inline uint32_t wndl_memlog_store_type(
    const struct wndl_memlog_page *page, const struct wndl_memlog_type *type)
{
    struct wndl_memlog_stored_type stored;
    struct wndl_memlog_stored_type *at;
    uint64_t taken =
        __atomic_load_n(&page->ring->types.value, __ATOMIC_ACQUIRE);
    uint32_t id;
    wndl_memlog_describe(type, &stored);
    for (id = 1; id <= taken && id <= WNDL_MEMLOG_TYPES; id++) {
        at = wndl_memlog_type_at(page->ring, id);
        if (__atomic_load_n(&at->whole, __ATOMIC_ACQUIRE) == 1 &&
            wndl_memlog_is_same_type(at, &stored))
            return id;
    }
    if (taken >= WNDL_MEMLOG_TYPES)
        return 0;
    taken = __atomic_fetch_add(&page->ring->types.value, 1, __ATOMIC_ACQ_REL);
    if (taken >= WNDL_MEMLOG_TYPES)
        return 0;
    id = (uint32_t)taken + 1;
    at = wndl_memlog_type_at(page->ring, id);
    if (wndl_memlog_populate_range(at, sizeof *at) != 0)
        return 0;
    memcpy(&at->role, &stored.role,
        sizeof stored - offsetof(struct wndl_memlog_stored_type, role));
    __atomic_store_n(&at->whole, 1, __ATOMIC_RELEASE);
    return id;
}

/* Private: a type whose id is not all there is to know has this bit in it. */
enum { WNDL_MEMLOG_LIMITED = 0x10000 };

/*
 * Private: the id for the ring of the page, with WNDL_MEMLOG_LIMITED if the
 * type has a limit; 0: events of it are dropped.
 */
static inline uint32_t wndl_memlog_register(
    const struct wndl_memlog_page *page, struct wndl_memlog_type *type)
{
    const int kept = errno;
    uint32_t id = wndl_memlog_store_type(page, type);
    errno = kept;
    if (id != 0 && type->limit != 0)
        id |= WNDL_MEMLOG_LIMITED;
    wndl_memlog_share(type->state, sizeof type->state);
    __atomic_store_n(&type->state[0], page->stamp | id, __ATOMIC_RELAXED);
    return id;
}

/*
 * Private: whether the limit of a type lets one more event pass. The state is
 * second << 32 | events in it.
 */
static __attribute__((noinline, cold, unused)) int wndl_memlog_passes(
    const struct wndl_memlog_page *page, struct wndl_memlog_type *type,
    uint32_t id)
{
    struct wndl_memlog_time now = {0, 0};
    uint64_t window = __atomic_load_n(&type->state[1], __ATOMIC_RELAXED);
    wndl_memlog_clock_gettime(WNDL_MEMLOG_CLOCK_COARSE, &now);
    if (window >> 32 != (uint32_t)now.seconds &&
        __atomic_compare_exchange_n(&type->state[1], &window,
            (uint64_t)(uint32_t)now.seconds << 32 | 1, 0, __ATOMIC_RELAXED,
            __ATOMIC_RELAXED))
        return 1;
    if ((uint32_t)window < type->limit) {
        window = __atomic_fetch_add(&type->state[1], 1, __ATOMIC_RELAXED);
        if ((uint32_t)window < type->limit)
            return 1;
    }
    __atomic_fetch_add(
        &wndl_memlog_type_at(page->ring, id)->kept_back, 1, __ATOMIC_RELAXED);
    return 0;
}

/* ---- events */

/* Private: the same for types that are new to the ring, or have a limit. */
static __attribute__((noinline, unused)) uint32_t wndl_memlog_admit_rare(
    const struct wndl_memlog_page *page, struct wndl_memlog_type *type)
{
    const uint64_t known =
        __atomic_load_n(&type->state[0], __ATOMIC_RELAXED) ^ page->stamp;
    const uint32_t found =
        known >> 32 == 0 ? (uint32_t)known : wndl_memlog_register(page, type);
    const uint32_t id = found & (WNDL_MEMLOG_LIMITED - 1);
    if (id == 0)
        __atomic_fetch_add(&page->ring->dropped.value, 1, __ATOMIC_RELAXED);
    return found == id || wndl_memlog_passes(page, type, id) ? id : 0;
}

/*
 * Private: the id of a type of which an event is to be logged now; 0: it is
 * not, and counted.
 */
static inline uint32_t wndl_memlog_admit(
    const struct wndl_memlog_page *page, struct wndl_memlog_type *type)
{
    const uint64_t id =
        __atomic_load_n(&type->state[0], __ATOMIC_RELAXED) ^ page->stamp;
    return __builtin_expect(id - 1 < WNDL_MEMLOG_TYPES, 1)
               ? (uint32_t)id
               : wndl_memlog_admit_rare(page, type);
}

/* Private: time and thread of a slot, where they take a call. */
static __attribute__((noinline, cold, unused)) void wndl_memlog_sign_slowly(
    const struct wndl_memlog_page *page, struct wndl_memlog_slot *slot)
{
    slot->time = wndl_memlog_clock_ticks(page->clock);
    slot->thread = wndl_memlog_thread(page);
}

/* Private: time and thread of a slot. */
static inline void wndl_memlog_sign(
    const struct wndl_memlog_page *page, struct wndl_memlog_slot *slot)
{
#if defined(__x86_64__)
    if (__builtin_expect(page->is_plain != 0, 1)) {
        uint32_t id;
        slot->time = __builtin_ia32_rdtsc();
        __asm__("movl %%fs:(%1), %0" : "=r"(id) : "r"(page->thread_offset));
        slot->thread = id;
        return;
    }
#endif
    wndl_memlog_sign_slowly(page, slot);
}

#ifndef WNDL_MEMLOG_TEST_PAUSE
#define WNDL_MEMLOG_TEST_PAUSE()
#endif

/* Private: writes all of a slot but its number. */
static inline void wndl_memlog_write_head(const struct wndl_memlog_page *page,
    struct wndl_memlog_slot *slot, uint32_t id, unsigned numbers,
    unsigned flags)
{
    wndl_memlog_sign(page, slot);
    slot->type = (uint16_t)id;
    slot->numbers = (uint8_t)numbers;
    slot->flags = (uint8_t)flags;
}

/* Private: puts the parts into bytes, and returns how many those are. */
static inline size_t wndl_memlog_pack(
    const struct wndl_memlog_parts *parts, uint8_t *to)
{
    struct wndl_memlog_more more = {0, 0, 0};
    const size_t numbers = parts->count * sizeof *parts->numbers;
    size_t text = 0;
    size_t used = numbers + sizeof more;
    while (parts->text != NULL && text < WNDL_MEMLOG_TEXT &&
           parts->text[text] != '\0')
        text++;
    more.text_size = (uint16_t)text;
    more.frames = (uint16_t)parts->depth;
    if (numbers != 0)
        memcpy(to, parts->numbers, numbers);
    memcpy(to + numbers, &more, sizeof more);
    if (parts->depth != 0)
        memcpy(to + used, parts->frames, parts->depth * 8);
    used += parts->depth * 8;
    if (text != 0)
        memcpy(to + used, parts->text, text);
    return used + text;
}

/* Private: writes the slots after the first one. */
static inline void wndl_memlog_write_further(
    const struct wndl_memlog_page *page, uint64_t number, const uint8_t *from,
    size_t size)
{
    while (size > 0) {
        const size_t part = size < WNDL_MEMLOG_FURTHER_BYTES
                                ? size
                                : (size_t)WNDL_MEMLOG_FURTHER_BYTES;
        struct wndl_memlog_further *slot =
            (struct wndl_memlog_further *)(void *)wndl_memlog_slot_of(
                page, ++number);
        memcpy(slot->bytes, from, part);
        __atomic_store_n(
            &slot->number, number | WNDL_MEMLOG_INNER, __ATOMIC_RELEASE);
        from += part;
        size -= part;
    }
}

/* Private: logs an event of any number of slots. */
static __attribute__((noinline, unused)) void wndl_memlog_put_parts(
    const struct wndl_memlog_page *page, uint32_t id,
    const struct wndl_memlog_parts *parts, unsigned flags)
{
    uint8_t bytes[WNDL_MEMLOG_NUMBERS * 8 + 8 + WNDL_MEMLOG_FRAMES * 8 +
                  WNDL_MEMLOG_TEXT + WNDL_MEMLOG_FIRST_BYTES];
    const size_t size = wndl_memlog_pack(parts, bytes);
    const size_t further =
        size <= WNDL_MEMLOG_FIRST_BYTES ? 0 : size - WNDL_MEMLOG_FIRST_BYTES;
    const unsigned slots =
        1 + (unsigned)((further + WNDL_MEMLOG_FURTHER_BYTES - 1) /
                       WNDL_MEMLOG_FURTHER_BYTES);
    const uint64_t number = wndl_memlog_claim(page, slots);
    struct wndl_memlog_slot *slot;
    if (number == 0)
        return;
    slot = wndl_memlog_slot_of(page, number);
    wndl_memlog_write_head(
        page, slot, id, parts->count, flags | WNDL_MEMLOG_LONG);
    memcpy(slot->bytes, bytes, size - further);
    WNDL_MEMLOG_TEST_PAUSE();
    wndl_memlog_write_further(
        page, number, bytes + WNDL_MEMLOG_FIRST_BYTES, further);
    __atomic_store_n(&slot->number, number, __ATOMIC_RELEASE);
}

/* Private: logs an event with all that it may have. */
static __attribute__((noinline, unused)) void wndl_memlog_put_all(
    struct wndl_memlog_type *type, const struct wndl_memlog_parts *given,
    unsigned flags)
{
    struct wndl_memlog_page *page = wndl_memlog_page_now();
    struct wndl_memlog_parts parts = *given;
    uint32_t id;
    if (page == NULL)
        return;
    if (parts.count > WNDL_MEMLOG_NUMBERS)
        parts.count = WNDL_MEMLOG_NUMBERS;
    if (parts.depth > WNDL_MEMLOG_FRAMES)
        parts.depth = WNDL_MEMLOG_FRAMES;
    id = wndl_memlog_admit(page, type);
    if (id != 0)
        wndl_memlog_put_parts(page, id, &parts, flags);
}

/*
 * Private: numbers one by one. A memcpy() would load two at once, and wait for
 * the stores of one that just made the caller's array.
 */
static inline void wndl_memlog_copy_numbers(
    struct wndl_memlog_slot *slot, const int64_t *numbers, unsigned count)
{
    int64_t *to = (int64_t *)(void *)slot->bytes;
    if (count > 0)
        __atomic_store_n(&to[0], numbers[0], __ATOMIC_RELAXED);
    if (count > 1)
        __atomic_store_n(&to[1], numbers[1], __ATOMIC_RELAXED);
    if (count > 2)
        __atomic_store_n(&to[2], numbers[2], __ATOMIC_RELAXED);
    if (count > 3)
        __atomic_store_n(&to[3], numbers[3], __ATOMIC_RELAXED);
    if (count > 4)
        __atomic_store_n(&to[4], numbers[4], __ATOMIC_RELAXED);
}

/* Private: logs numbers, which fit one slot in most cases. */
static inline void wndl_memlog_put(struct wndl_memlog_type *type,
    const int64_t *numbers, unsigned count, unsigned flags)
{
    struct wndl_memlog_page *page = wndl_memlog_page_now();
    struct wndl_memlog_slot *slot;
    uint64_t number;
    uint32_t id;
    if (page == NULL)
        return;
    if (count * sizeof *numbers > WNDL_MEMLOG_FIRST_BYTES) {
        const struct wndl_memlog_parts parts = {numbers, NULL, NULL, count, 0};
        wndl_memlog_put_all(type, &parts, flags);
        return;
    }
    id = wndl_memlog_admit(page, type);
    if (id == 0)
        return;
    number = wndl_memlog_claim(page, 1);
    if (number == 0)
        return;
    slot = wndl_memlog_slot_of(page, number);
    wndl_memlog_write_head(page, slot, id, count, flags);
    WNDL_MEMLOG_TEST_PAUSE();
    wndl_memlog_copy_numbers(slot, numbers, count);
    __atomic_store_n(&slot->number, number, __ATOMIC_RELEASE);
}

#ifdef __cplusplus
}
#endif

#endif
