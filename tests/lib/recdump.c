/* SPDX-License-Identifier: MIT */
/*
 * recdump FILE: a recording as lines of words, for test scripts.
 *
 *   process INDEX PARENT PID GENERATION HOW SAMPLES EXECUTABLE
 *   thread INDEX PROCESS TID SAMPLES CPU_NS NAME
 *   image INDEX BUILD_ID PATH
 *   lost REASON COUNT         end HOW COUNT
 *   done FINISHED STATUS UNFOLLOWED DAMAGED
 *   stack COUNT FRAME...      leaf first, FRAME is IMAGE+RVA or an address
 *
 * Only with -s are the stacks told.
 */
#include "in/wndl.h"
#include "os/file.h"

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
    printf("done %d %" PRIu32 " %" PRIu32 " %" PRIu32 "\n", p->finished,
        p->status, p->unfollowed, p->chunks_damaged);
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
        for (size_t n = i; n != 0;) {
            const struct wndl_node *node = wndl_vec_at(&p->nodes, n);
            const struct wndl_frame_key *f =
                wndl_vec_at(&p->frames, node->frame);
            if (f->image == WNDL_NO_INDEX)
                printf(" 0x%" PRIx64, f->address);
            else
                printf(" %" PRIu32 "+0x%" PRIx64, f->image, f->address);
            n = node->parent;
        }
        putchar('\n');
    }
    free(leaves);
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
        wndl_recording_read(&p, file.bytes, &err) != WNDL_OK) {
        fprintf(
            stderr, "recdump: %s\n", wndl_error_text(&err, text, sizeof text));
        return 1;
    }
    uint64_t *cpu;
    uint64_t *counts = count_samples(&p, &cpu);
    say_processes(&p, counts);
    say_threads(&p, counts, cpu);
    say_images(&p);
    say_counts(&p);
    if (stacks)
        say_stacks(&p);
    free(counts);
    free(cpu);
    wndl_profile_free(&p);
    wndl_file_close(&file);
    return 0;
}
