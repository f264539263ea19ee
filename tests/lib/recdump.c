/* SPDX-License-Identifier: MIT */
/*
 * recdump [-s] FILE: a recording as lines of words, for test scripts.
 *
 *   process INDEX PARENT PID GENERATION HOW SAMPLES EXECUTABLE
 *   thread INDEX PROCESS TID SAMPLES CPU_NS NAME
 *   image INDEX BUILD_ID PATH
 *   lost REASON COUNT         end HOW COUNT
 *   done FINISHED STATUS UNFOLLOWED DAMAGED
 *   stack COUNT FRAME...      leaf first, FRAME is IMAGE+RVA or an address
 *   incomplete HOW FRAME...   a sample's whose stack did not end at a root
 *
 * and of what came with version 1.1, where there is any (times in ns since
 * the recording's start):
 *
 *   limits ENGINE BY_TICKS MAX_FRAMES BLOCKED_INTERVAL       always
 *   times THREAD CPU BLOCKED WAITING UNSAMPLED START END NAME   each thread:
 *       CPU is all that is known: that of its samples, and UNSAMPLED
 *   block THREAD START DURATION KIND NODE END
 *       KIND is "blocked" or "waiting"; NODE 0: without a stack
 *   blocked COUNT DURATION FRAME...                          -s
 *       those of one stack, as in `stack`; "waiting" ones are left out
 *   mark THREAD TIME DURATION plain|deadline TEXT
 *   ended THREAD TIME CPU                                    by its own end
 *   unfollowed PID REASON TIME PARENT EXECUTABLE
 *   paused START END
 *   more DISCARDED INTERRUPTED_CALLS BLOCKS_LOST             always
 *   parts COUNT      samples beyond those taken, of long ones in the kernel
 *
 * Only with -s are the stacks told.
 */
#include "os/file.h"
#include "wndl/read.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void say_bytes(struct wndl_bytes b)
{
    fwrite(b.data, 1, b.size, stdout);
    putchar('\n');
}

static uint64_t *count_samples(const struct wndl_profile *p, uint64_t **cpu)
{
    uint64_t *counts = calloc(p->threads.len + 1, sizeof *counts);
    *cpu = calloc(p->threads.len + 1, sizeof **cpu);
    for (size_t i = 0; i < p->samples.len; i++) {
        const struct wndl_sample *s = wndl_vec_at(&p->samples, i);
        counts[s->thread]++;
        (*cpu)[s->thread] += s->cpu;
    }
    return counts;
}

static void say_processes(const struct wndl_profile *p, const uint64_t *counts)
{
    for (size_t i = 0; i < p->processes.len; i++) {
        const struct wndl_process *process = wndl_vec_at(&p->processes, i);
        uint64_t samples = 0;
        for (size_t t = 0; t < p->threads.len; t++) {
            const struct wndl_thread *thread = wndl_vec_at(&p->threads, t);
            samples += thread->process == i ? counts[t] : 0;
        }
        printf("process %zu %" PRId32 " %" PRIu32 " %" PRIu32 " %d %" PRIu64
               " ",
            i, (int32_t)process->parent, process->pid, process->generation,
            process->how_ended, samples);
        say_bytes(process->executable);
    }
}

static void say_threads(
    const struct wndl_profile *p, const uint64_t *counts, const uint64_t *cpu)
{
    for (size_t i = 0; i < p->threads.len; i++) {
        const struct wndl_thread *thread = wndl_vec_at(&p->threads, i);
        printf("thread %zu %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRIu64 " ", i,
            thread->process, thread->tid, counts[i], cpu[i]);
        say_bytes(thread->name);
    }
}

static void say_images(const struct wndl_profile *p)
{
    for (size_t i = 0; i < p->images.len; i++) {
        const struct wndl_image *image = wndl_vec_at(&p->images, i);
        printf("image %zu ", i);
        for (size_t b = 0; b < image->build_id.size; b++)
            printf("%02x", image->build_id.data[b]);
        printf("%s ", image->build_id.size == 0 ? "-" : "");
        say_bytes(image->path);
    }
}

static void say_counts(const struct wndl_profile *p)
{
    for (unsigned i = 0; i < WNDL_LOST_REASONS; i++) {
        if (p->lost[i] != 0)
            printf("lost %u %" PRIu64 "\n", i, p->lost[i]);
    }
    for (unsigned i = 0; i < WNDL_WALK_ENDS; i++) {
        if (p->ends[i] != 0)
            printf("end %u %" PRIu64 "\n", i, p->ends[i]);
    }
    printf("more %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", p->discarded,
        p->interrupted_calls, p->blocks_lost);
    printf("parts %" PRIu64 "\n", p->parts);
    printf("done %d %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", p->finished,
        p->status, p->unrecorded, p->chunks_damaged);
}

static void say_times(const struct wndl_profile *p, const uint64_t *cpu)
{
    uint64_t(*off)[2] = calloc(p->threads.len + 1, sizeof *off);
    for (size_t i = 0; i < p->blocks.len; i++) {
        const struct wndl_block *b = wndl_vec_at(&p->blocks, i);
        off[b->thread][b->waiting] += b->duration;
    }
    for (size_t i = 0; i < p->threads.len; i++) {
        const struct wndl_thread *t = wndl_vec_at(&p->threads, i);
        printf("times %zu %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64
               " %" PRIu64 " %" PRIu64 " ",
            i, cpu[i] + t->unsampled_cpu, off[i][0], off[i][1],
            t->unsampled_cpu, t->start, t->end);
        say_bytes(t->name);
        if (t->ended)
            printf("ended %zu %" PRIu64 " %" PRIu64 "\n", i, t->end,
                t->unsampled_cpu);
    }
    free(off);
}

static void say_blocks(const struct wndl_profile *p)
{
    for (size_t i = 0; i < p->blocks.len; i++) {
        const struct wndl_block *b = wndl_vec_at(&p->blocks, i);
        printf("block %" PRIu32 " %" PRIu64 " %" PRIu64 " %s %" PRIu32 " %d\n",
            b->thread, b->start, b->duration,
            b->waiting ? "waiting" : "blocked", b->node, b->end);
    }
}

static void say_marks(const struct wndl_profile *p)
{
    for (size_t i = 0; i < p->marks.len; i++) {
        const struct wndl_mark *m = wndl_vec_at(&p->marks, i);
        printf("mark %" PRIu32 " %" PRIu64 " %" PRIu64 " %s ", m->thread,
            m->time, m->duration, m->missed_deadline ? "deadline" : "plain");
        say_bytes(m->text);
    }
}

static void say_others(const struct wndl_profile *p)
{
    printf("limits %" PRIu32 " %d %" PRIu32 " %" PRIu64 "\n", p->engine,
        p->by_ticks, p->max_frames, p->blocked_interval);
    for (size_t i = 0; i < p->unrecorded_processes.len; i++) {
        const struct wndl_unrecorded_process *u =
            wndl_vec_at(&p->unrecorded_processes, i);
        printf("unfollowed %" PRIu32 " %" PRIu32 " %" PRIu64 " %" PRId32 " ",
            u->pid, u->reason, u->time, (int32_t)u->parent);
        say_bytes(u->executable);
    }
    for (size_t i = 0; i < p->pauses.len; i++) {
        const struct wndl_pause *pause = wndl_vec_at(&p->pauses, i);
        printf("paused %" PRIu64 " %" PRIu64 "\n", pause->start, pause->end);
    }
}

static void say_stack(const struct wndl_profile *p, size_t leaf)
{
    for (size_t n = leaf; n != 0;) {
        const struct wndl_node *node = wndl_vec_at(&p->nodes, n);
        const struct wndl_frame_key *f = wndl_vec_at(&p->frames, node->frame);
        if (f->image == WNDL_NO_INDEX)
            printf(" 0x%" PRIx64, f->address);
        else
            printf(" %" PRIu32 "+0x%" PRIx64, f->image, f->address);
        n = node->parent;
    }
    putchar('\n');
}

static void say_stacks(const struct wndl_profile *p)
{
    uint64_t *leaves = calloc(p->nodes.len, sizeof *leaves);
    for (size_t i = 0; i < p->samples.len; i++) {
        const struct wndl_sample *s = wndl_vec_at(&p->samples, i);
        leaves[s->node]++;
    }
    for (size_t i = 0; i < p->nodes.len; i++) {
        if (leaves[i] == 0)
            continue;
        printf("stack %" PRIu64, leaves[i]);
        say_stack(p, i);
    }
    free(leaves);
}

static void say_incomplete(const struct wndl_profile *p)
{
    for (size_t i = 0; i < p->samples.len; i++) {
        const struct wndl_sample *s = wndl_vec_at(&p->samples, i);
        if (s->end == WNDL_WALK_COMPLETE)
            continue;
        printf("incomplete %u", s->end);
        say_stack(p, s->node);
    }
}

static void say_blocked_stacks(const struct wndl_profile *p)
{
    uint64_t(*leaves)[2] = calloc(p->nodes.len, sizeof *leaves);
    for (size_t i = 0; i < p->blocks.len; i++) {
        const struct wndl_block *b = wndl_vec_at(&p->blocks, i);
        leaves[b->node][0] += !b->waiting;
        leaves[b->node][1] += b->waiting ? 0 : b->duration;
    }
    for (size_t i = 0; i < p->nodes.len; i++) {
        if (leaves[i][0] == 0)
            continue;
        printf("blocked %" PRIu64 " %" PRIu64, leaves[i][0], leaves[i][1]);
        say_stack(p, i);
    }
    free(leaves);
}

static void say_all(const struct wndl_profile *p)
{
    uint64_t *cpu;
    uint64_t *counts = count_samples(p, &cpu);
    say_processes(p, counts);
    say_threads(p, counts, cpu);
    say_images(p);
    say_times(p, cpu);
    say_marks(p);
    say_others(p);
    say_counts(p);
    say_blocks(p);
    free(counts);
    free(cpu);
}

int main(int argc, char **argv)
{
    bool stacks = argc == 3 && strcmp(argv[1], "-s") == 0;
    struct wndl_file file;
    struct wndl_profile p;
    struct wndl_error err = {0};
    char text[512];
    if (argc != 2 && !stacks)
        return 2;
    if (!wndl_profile_init(&p, wndl_mem_libc()) ||
        wndl_file_open(argv[argc - 1], &file, &err) != WNDL_OK ||
        wndl_reader_read(&p, file.bytes, &err) != WNDL_OK) {
        fprintf(
            stderr, "recdump: %s\n", wndl_error_text(&err, text, sizeof text));
        return 1;
    }
    say_all(&p);
    if (stacks) {
        say_stacks(&p);
        say_incomplete(&p);
        say_blocked_stacks(&p);
    }
    wndl_profile_free(&p);
    wndl_file_close(&file);
    return 0;
}
