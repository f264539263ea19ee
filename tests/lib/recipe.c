/* SPDX-License-Identifier: MIT */
#include "recipe.h"

#include "rec/chunk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 512, MAX_LINE = 16 * 1024, MAX_NODES = 8192, MAX_IDS = 256 };
#define REALTIME UINT64_C(1763719200000000000) /* 2025-11-21 10:00:00 UTC */

/* A process has two trees: of samples and of blocks. */
struct node {
    unsigned process, parent;
    bool outside;
    char frame[40];
};

struct cook {
    struct wndl_buf *out;
    char *words[MAX_WORDS];
    size_t count;
    uint64_t interval, now, max_frames, blocked_interval;
    bool with_limits;
    unsigned processes, threads, images, nodes;
    unsigned process_of[MAX_IDS], tid_of[MAX_IDS], pid_of[MAX_IDS];
    unsigned pairs_of[MAX_IDS], snapshots_of[MAX_IDS], tags_of[MAX_IDS];
    struct node tree[MAX_NODES]; /* of all processes, in order of making */
};

static struct wndl_bytes word_text(char *word)
{
    for (char *c = word; *c != '\0'; c++) {
        if (*c == '_')
            *c = ' ';
    }
    return (struct wndl_bytes){(const uint8_t *)word, strlen(word)};
}

static uint64_t number(const struct cook *k, size_t word)
{
    return word < k->count ? strtoull(k->words[word], NULL, 10) : 0;
}

static bool finish(struct wndl_chunk_writer *w)
{
    return wndl_chunk_finish(w) == WNDL_OK;
}

static bool cook_meta(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_META);
    k->interval = number(k, 1);
    wndl_buf_uleb(w.out, 1000);
    wndl_buf_uleb(w.out, REALTIME);
    wndl_buf_uleb(w.out, k->interval);
    wndl_buf_uleb(w.out, number(k, 2));
    wndl_buf_uleb(w.out, number(k, 3));
    wndl_chunk_str(w.out, (struct wndl_bytes){(const uint8_t *)"0.1.0", 5});
    wndl_chunk_str(w.out, word_text(k->words[4]));
    wndl_chunk_str(w.out, word_text(k->words[5]));
    wndl_buf_uleb(w.out, k->count - 6);
    for (size_t i = 6; i < k->count; i++)
        wndl_chunk_str(w.out, word_text(k->words[i]));
    if (k->with_limits) {
        wndl_buf_uleb(w.out, k->max_frames);
        wndl_buf_uleb(w.out, k->blocked_interval);
    }
    return finish(&w);
}

static bool cook_limits(struct cook *k)
{
    k->with_limits = true;
    k->max_frames = number(k, 1);
    k->blocked_interval = number(k, 2);
    return true;
}

/* The rest of the words from `first` on, each with its NUL, as one text. */
static void put_command(
    struct cook *k, struct wndl_chunk_writer *w, size_t first)
{
    struct wndl_buf command;
    wndl_buf_init(&command, k->out->mem);
    for (size_t i = first; i < k->count; i++) {
        struct wndl_bytes text = word_text(k->words[i]);
        wndl_buf_add(&command, text.data, text.size + 1);
    }
    wndl_chunk_str(w->out, (struct wndl_bytes){command.data, command.size});
    wndl_buf_free(&command);
}

static bool cook_process(struct cook *k)
{
    unsigned pid = (unsigned)number(k, 2);
    unsigned generation = 0;
    for (unsigned i = 0; i < k->processes; i++)
        generation += k->pid_of[i] == pid;
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_PROC);
    wndl_buf_uleb(w.out, k->processes);
    wndl_buf_uleb(w.out, number(k, 1));
    wndl_buf_uleb(w.out, pid);
    wndl_buf_uleb(w.out, generation);
    wndl_buf_uleb(w.out, k->now);
    wndl_chunk_str(w.out, word_text(k->words[3]));
    put_command(k, &w, 4);
    k->pid_of[k->processes++] = pid;
    return k->processes < MAX_IDS && finish(&w);
}

static bool thread_chunk(struct cook *k, unsigned thread, char *name)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_THRD);
    wndl_buf_uleb(w.out, k->process_of[thread]);
    wndl_buf_uleb(w.out, thread);
    wndl_buf_uleb(w.out, k->tid_of[thread]);
    wndl_buf_uleb(w.out, k->now);
    wndl_chunk_str(w.out, word_text(name));
    return finish(&w);
}

static bool cook_thread(struct cook *k)
{
    unsigned thread = k->threads++;
    k->process_of[thread] = (unsigned)number(k, 1);
    k->tid_of[thread] = (unsigned)number(k, 2);
    return k->threads < MAX_IDS && k->process_of[thread] < k->processes &&
           thread_chunk(k, thread, k->words[3]);
}

static bool cook_rename(struct cook *k)
{
    return number(k, 1) < k->threads &&
           thread_chunk(k, (unsigned)number(k, 1), k->words[2]);
}

static bool cook_image(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_IMAG);
    wndl_buf_uleb(w.out, k->images++);
    wndl_chunk_str(w.out, word_text(k->words[1]));
    const char *hex = k->words[2];
    size_t size = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
    wndl_buf_uleb(w.out, size);
    for (size_t i = 0; i < size; i++) {
        char digits[3] = {hex[2 * i], hex[2 * i + 1], '\0'};
        wndl_buf_byte(w.out, (uint8_t)strtoul(digits, NULL, 16));
    }
    return finish(&w);
}

static bool cook_map(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_MMAP);
    wndl_buf_uleb(w.out, number(k, 1));
    wndl_buf_uleb(w.out, number(k, 2));
    wndl_buf_uleb(w.out, k->now);
    for (size_t i = 3; i < 6; i++)
        wndl_buf_uleb(w.out, strtoull(k->words[i], NULL, 16));
    return finish(&w);
}

/* How it was found, and whether it is interrupted code. */
static uint64_t node_flags(const char *frame)
{
    enum { CFI = 1, SCAN = 3, CHECKED = 6 };
    switch (frame[strlen(frame) - 1]) {
    case '!':
        return 1;
    case '?':
        return CHECKED << 1;
    case '~':
        return SCAN << 1;
    default:
        return CFI << 1;
    }
}

static void node_fields(struct wndl_buf *out, const char *frame)
{
    const char *colon = strchr(frame, ':');
    wndl_buf_uleb(out, node_flags(frame));
    wndl_buf_uleb(out, frame[0] == '-' ? 0 : strtoull(frame, NULL, 10) + 1);
    wndl_buf_sleb(out, (int64_t)strtoull(colon + 1, NULL, 16));
}

static unsigned find_node(
    const struct cook *k, const struct node *wanted, bool *found)
{
    unsigned own = 0;
    *found = false;
    for (unsigned i = 0; i < k->nodes && !*found; i++) {
        const struct node *n = &k->tree[i];
        if (n->process != wanted->process || n->outside != wanted->outside)
            continue;
        own++;
        *found =
            n->parent == wanted->parent && strcmp(n->frame, wanted->frame) == 0;
    }
    return own;
}

/* The node's number in its tree, written as a chunk if it is new. */
static unsigned node_number(
    struct cook *k, struct node *wanted, const char *frame)
{
    bool found;
    snprintf(wanted->frame, sizeof wanted->frame, "%s", frame);
    unsigned own = find_node(k, wanted, &found);
    if (found)
        return own;
    k->tree[k->nodes++] = *wanted;
    own++;
    struct wndl_chunk_writer w;
    wndl_chunk_begin(
        &w, k->out, wanted->outside ? WNDL_CHUNK_OSTK : WNDL_CHUNK_STAK);
    wndl_buf_uleb(w.out, wanted->process);
    wndl_buf_uleb(w.out, own);
    wndl_buf_uleb(w.out, 1);
    wndl_buf_uleb(w.out, own - wanted->parent);
    node_fields(w.out, frame);
    return finish(&w) && k->nodes < MAX_NODES ? own : 0;
}

/* The leaf of the frames from word `first` on. */
static bool leaf_of(
    struct cook *k, struct node at, size_t first, unsigned *leaf)
{
    if (at.process >= k->processes)
        return false;
    for (size_t i = first; i < k->count; i++) {
        if (strchr(k->words[i], ':') == NULL)
            return false;
        at.parent = node_number(k, &at, k->words[i]);
        if (at.parent == 0)
            return false;
    }
    *leaf = at.parent;
    return true;
}

static bool leaf_node(
    struct cook *k, unsigned thread, bool outside, size_t first, unsigned *leaf)
{
    if (thread >= k->threads)
        return false;
    struct node at = {.process = k->process_of[thread], .outside = outside};
    return leaf_of(k, at, first, leaf);
}

static bool cook_sample(struct cook *k)
{
    unsigned thread = (unsigned)number(k, 1);
    unsigned node;
    if (!leaf_node(k, thread, false, 4, &node))
        return false;
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_SAMP);
    wndl_buf_uleb(w.out, thread);
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 2));
    for (uint64_t i = 0; i < number(k, 2); i++) {
        wndl_buf_uleb(w.out, k->interval);
        wndl_buf_uleb(w.out, k->interval);
        wndl_buf_uleb(w.out, node);
        wndl_buf_uleb(w.out, number(k, 3));
        k->now += k->interval;
    }
    return finish(&w);
}

static bool cook_block(struct cook *k)
{
    unsigned thread = (unsigned)number(k, 1);
    unsigned node;
    if (!leaf_node(k, thread, true, 6, &node))
        return false;
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_BLOK);
    wndl_buf_uleb(w.out, thread);
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 2));
    for (uint64_t i = 0; i < number(k, 2); i++) {
        wndl_buf_uleb(w.out, i == 0 ? 0 : k->interval);
        wndl_buf_uleb(w.out, number(k, 3));
        wndl_buf_uleb(w.out, number(k, 4));
        wndl_buf_uleb(w.out, node);
        wndl_buf_uleb(w.out, number(k, 5));
        k->now += number(k, 3) + (i == 0 ? 0 : k->interval);
    }
    return finish(&w);
}

static bool cook_wait(struct cook *k)
{
    k->now += number(k, 1);
    return true;
}

static bool cook_mark(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_MARK);
    wndl_buf_uleb(w.out, number(k, 1));
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 2));
    wndl_buf_uleb(w.out, number(k, 3));
    wndl_chunk_str(w.out, word_text(k->words[4]));
    return finish(&w);
}

static bool cook_ended(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_TEND);
    wndl_buf_uleb(w.out, number(k, 1));
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 2));
    return finish(&w);
}

static bool cook_unfollowed(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_UNFO);
    wndl_buf_uleb(w.out, number(k, 1));
    wndl_buf_uleb(w.out, number(k, 2));
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 3));
    wndl_chunk_str(w.out, word_text(k->words[4]));
    put_command(k, &w, 5);
    return finish(&w);
}

static bool cook_pause(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_PAUS);
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 1));
    return finish(&w);
}

static bool cook_exit(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_PEND);
    wndl_buf_uleb(w.out, number(k, 1));
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 2));
    wndl_buf_uleb(w.out, (k->count - 3) / 2);
    for (size_t i = 3; i < k->count; i++)
        wndl_buf_uleb(w.out, number(k, i));
    return finish(&w);
}

/* ---- heaps */

/* Words [first, end) as numbers. */
static void put_numbers(
    struct cook *k, struct wndl_chunk_writer *w, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++)
        wndl_buf_uleb(w->out, number(k, i));
}

static bool cook_heap(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_HEAP);
    put_numbers(k, &w, 1, 4);
    return finish(&w);
}

static bool cook_pair(struct cook *k)
{
    struct node at = {.process = (unsigned)number(k, 1)};
    unsigned node;
    if (!leaf_of(k, at, 5, &node))
        return false;
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_HPAR);
    wndl_buf_uleb(w.out, at.process);
    wndl_buf_uleb(w.out, k->pairs_of[at.process]++);
    wndl_buf_uleb(w.out, 1);
    wndl_buf_uleb(w.out, node);
    put_numbers(k, &w, 2, 5);
    return finish(&w);
}

/* "-" is an empty text. */
static struct wndl_bytes text_or_none(struct cook *k, size_t word)
{
    if (strcmp(k->words[word], "-") == 0)
        k->words[word][0] = '\0';
    return word_text(k->words[word]);
}

static bool cook_tag(struct cook *k)
{
    struct wndl_chunk_writer w;
    struct node at = {.process = (unsigned)number(k, 1)};
    unsigned node;
    if (!leaf_of(k, at, 4, &node))
        return false;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_HTAG);
    wndl_buf_uleb(w.out, at.process);
    wndl_buf_uleb(w.out, ++k->tags_of[at.process]);
    wndl_buf_uleb(w.out, 1);
    wndl_buf_uleb(w.out, node);
    wndl_buf_uleb(w.out, number(k, 2));
    wndl_chunk_str(w.out, text_or_none(k, 3));
    return finish(&w);
}

static bool cook_library(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_HLIB);
    wndl_buf_uleb(w.out, 1);
    wndl_chunk_str(w.out, text_or_none(k, 1));
    wndl_chunk_str(w.out, text_or_none(k, 2));
    return finish(&w);
}

static bool cook_snapshot(struct cook *k)
{
    uint64_t process = number(k, 1);
    size_t slash = 4;
    while (slash < k->count && strcmp(k->words[slash], "/") != 0)
        slash++;
    if (process >= k->processes)
        return false;
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_HSNP);
    wndl_buf_uleb(w.out, process);
    wndl_buf_uleb(w.out, k->snapshots_of[process]++);
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 2));
    wndl_chunk_str(w.out, text_or_none(k, 3));
    wndl_buf_uleb(w.out, slash - 4);
    put_numbers(k, &w, 4, slash);
    wndl_buf_uleb(w.out, slash < k->count ? k->count - slash - 1 : 0);
    put_numbers(k, &w, slash + 1, k->count);
    return finish(&w);
}

/* Lists of `width` numbers; of sites, distances to the last one. */
static bool cook_list(
    struct cook *k, uint32_t type, size_t width, bool by_distance)
{
    struct wndl_chunk_writer w;
    uint64_t last = 0;
    wndl_chunk_begin(&w, k->out, type);
    wndl_buf_uleb(w.out, number(k, 1));
    if (type == WNDL_CHUNK_HCNT)
        wndl_buf_uleb(w.out, k->snapshots_of[number(k, 1) % MAX_IDS] - 1);
    if (type == WNDL_CHUNK_HTIM)
        wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, (k->count - 2) / width);
    for (size_t i = 2; i + width <= k->count; i += width) {
        wndl_buf_uleb(w.out, number(k, i) - (by_distance ? last : 0));
        put_numbers(k, &w, i + 1, i + width);
        last = number(k, i);
    }
    return (k->count - 2) % width == 0 && finish(&w);
}

/* Two stacks, the second after a "/", from the word `first` on. */
static bool leaves_of(
    struct cook *k, struct node at, size_t first, unsigned nodes[2])
{
    const size_t count = k->count;
    size_t slash = first;
    nodes[0] = nodes[1] = 0;
    while (slash < count && strcmp(k->words[slash], "/") != 0)
        slash++;
    bool whole = slash == count || leaf_of(k, at, slash + 1, &nodes[1]);
    k->count = slash;
    whole = leaf_of(k, at, first, &nodes[0]) && whole;
    k->count = count;
    return whole;
}

static bool cook_reported(struct cook *k)
{
    struct wndl_chunk_writer w;
    const struct node at = {.process = (unsigned)number(k, 1)};
    unsigned nodes[2];
    if (!leaves_of(k, at, 5, nodes))
        return false;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_HREP);
    wndl_buf_uleb(w.out, at.process);
    wndl_buf_uleb(w.out, k->snapshots_of[at.process % MAX_IDS] - 1);
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, 0);
    wndl_buf_uleb(w.out, 1);
    put_numbers(k, &w, 2, 5);
    for (size_t i = 0; i < 2; i++) {
        wndl_buf_uleb(w.out, nodes[i]);
        wndl_buf_uleb(w.out, 0);
    }
    return finish(&w);
}

static bool cook_failed(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_HFAL);
    put_numbers(k, &w, 1, 3);
    wndl_chunk_str(w.out, word_text(k->words[3]));
    return finish(&w);
}

/* "memory PROCESS LIVE LIVE_MAPPED PSS MAPPED KIND...", now. */
static bool cook_memory(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_HMEM);
    wndl_buf_uleb(w.out, number(k, 1));
    wndl_buf_uleb(w.out, k->now);
    put_numbers(k, &w, 2, 6);
    wndl_buf_uleb(w.out, k->count - 6);
    put_numbers(k, &w, 6, k->count);
    return finish(&w);
}

/* "growth", "wrong", "mixed", "place": numbers, a last word, and stacks. */
static bool cook_finding(struct cook *k)
{
    const char what = k->words[0][0];
    const size_t first = what == 'g' ? 10 : what == 'w' ? 5 : 6 + (what == 'p');
    struct node at = {.process = (unsigned)number(k, 1)};
    unsigned nodes[2];
    if (!leaves_of(k, at, first, nodes))
        return false;
    struct wndl_chunk_writer w;
    const uint32_t type = what == 'g' ? WNDL_CHUNK_HGRO : WNDL_CHUNK_HWRO;
    wndl_chunk_begin(&w, k->out,
        what == 'p'   ? WNDL_CHUNK_HWHO
        : what == 'm' ? WNDL_CHUNK_HMIX
                      : type);
    wndl_buf_uleb(w.out, at.process);
    wndl_buf_uleb(w.out, 1);
    wndl_buf_uleb(w.out, nodes[0]);
    if (what == 'm')
        wndl_buf_uleb(w.out, nodes[1]);
    put_numbers(k, &w, 2, first - (what != 'g'));
    if (what == 'p')
        wndl_chunk_str(w.out, text_or_none(k, first - 1));
    else if (what != 'g')
        wndl_buf_uleb(w.out, strtoull(k->words[first - 1], NULL, 16));
    return finish(&w);
}

static bool cook_chunk(struct cook *k)
{
    const char *t = k->words[1];
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_TYPE(t[0], t[1], t[2], t[3]));
    wndl_buf_text(w.out, k->words[2]);
    return strlen(t) == 4 && finish(&w);
}

static bool cook_done(struct cook *k)
{
    struct wndl_chunk_writer w;
    wndl_chunk_begin(&w, k->out, WNDL_CHUNK_DONE);
    wndl_buf_uleb(w.out, k->now);
    wndl_buf_uleb(w.out, number(k, 1));
    wndl_buf_uleb(w.out, k->processes);
    wndl_buf_uleb(w.out, number(k, 2));
    for (size_t i = 3; i < k->count; i++)
        wndl_buf_uleb(w.out, number(k, i));
    return finish(&w);
}

static bool cook_cut(struct cook *k)
{
    bool fits = number(k, 1) <= k->out->size;
    k->out->size -= fits ? number(k, 1) : 0;
    return fits;
}

static bool cook_flip(struct cook *k)
{
    uint64_t back = number(k, 1);
    if (back == 0 || back > k->out->size)
        return false;
    k->out->data[k->out->size - back] ^= 0x40;
    return true;
}

static bool cook_statement(struct cook *k)
{
    static const struct {
        const char *word;
        size_t min_words;
        bool (*cook)(struct cook *k);
    } statements[] = {
        {"limits", 3, cook_limits},
        {"meta", 7, cook_meta},
        {"process", 4, cook_process},
        {"thread", 4, cook_thread},
        {"rename", 3, cook_rename},
        {"image", 3, cook_image},
        {"map", 6, cook_map},
        {"sample", 4, cook_sample},
        {"block", 6, cook_block},
        {"wait", 2, cook_wait},
        {"mark", 5, cook_mark},
        {"ended", 3, cook_ended},
        {"unfollowed", 5, cook_unfollowed},
        {"pause", 2, cook_pause},
        {"exit", 3, cook_exit},
        {"heap", 4, cook_heap},
        {"site", 5, cook_pair},
        {"tag", 4, cook_tag},
        {"library", 3, cook_library},
        {"snapshot", 4, cook_snapshot},
        {"growth", 10, cook_finding},
        {"wrong", 5, cook_finding},
        {"mixed", 6, cook_finding},
        {"reported", 5, cook_reported},
        {"failed", 4, cook_failed},
        {"memory", 6, cook_memory},
        {"place", 7, cook_finding},
        {"chunk", 3, cook_chunk},
        {"done", 3, cook_done},
        {"cut", 2, cook_cut},
        {"flip", 2, cook_flip},
    };
    static const struct {
        const char *word;
        uint32_t type, width;
        bool by_distance;
    } lists[] = {
        {"owners", WNDL_CHUNK_HOWN, 2, true},
        {"counts", WNDL_CHUNK_HCNT, 6, true},
        {"live", WNDL_CHUNK_HTIM, 3, false},
        {"leaks", WNDL_CHUNK_HLEK, 4, true},
        {"together", WNDL_CHUNK_HTOG, 3, false},
    };
    if (k->count == 0)
        return true;
    for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
        if (strcmp(statements[i].word, k->words[0]) == 0)
            return k->count >= statements[i].min_words && statements[i].cook(k);
    }
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        if (strcmp(lists[i].word, k->words[0]) == 0)
            return k->count >= 2 && cook_list(k, lists[i].type, lists[i].width,
                                        lists[i].by_distance);
    }
    return false;
}

static bool cook_line(struct cook *k, const char *line, size_t size)
{
    char text[MAX_LINE];
    if (size >= sizeof text)
        return false;
    memcpy(text, line, size);
    text[size] = '\0';
    char *rest = NULL;
    k->count = 0;
    for (char *word = strtok_r(text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        if (k->count == MAX_WORDS)
            return false;
        k->words[k->count++] = word;
    }
    return cook_statement(k);
}

bool recipe_cook(const char *recipe, struct wndl_buf *out)
{
    struct cook *k = calloc(1, sizeof *k);
    if (k == NULL)
        return false;
    k->out = out;
    wndl_chunk_file_header(out);
    bool well = true;
    while (*recipe != '\0' && well) {
        size_t size = strcspn(recipe, "\n");
        well = cook_line(k, recipe, size);
        if (!well)
            fprintf(stderr, "recipe: wrong: %.*s\n", (int)size, recipe);
        recipe += size + (recipe[size] == '\n');
    }
    free(k);
    return well && !out->failed;
}
