/* SPDX-License-Identifier: MIT */
#include "wndl/write.h"

#include "os/clock.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>
#include <windlass/version.h>

static struct wndl_bytes bytes_of(const char *text)
{
    return (struct wndl_bytes){(const uint8_t *)text, strlen(text)};
}

void wndl_recording_begin(
    struct wndl_recording *r, struct wndl_chunk_writer *chunk, uint32_t type)
{
    wndl_chunk_begin(chunk, &r->out, type);
}

static uint32_t samples_in(struct wndl_bytes payload)
{
    struct wndl_cursor c = wndl_cursor_at(payload, 0, false);
    (void)wndl_get_samp(&c);
    return (uint32_t)wndl_get_list(&c, WNDL_LEAST_SAMPLE);
}

/*
 * Removes the last chunk of `out`, unless other chunks refer to it: moves it to
 * the tail buffer, if there is one.
 */
static void take_if_of_threads(struct wndl_recording *r, size_t start)
{
    enum { HEAD = 8 };
    struct wndl_bytes chunk = {r->out.data + start, r->out.size - start};
    struct wndl_cursor c = wndl_cursor_at(chunk, 0, false);
    uint32_t type = wndl_cursor_u32(&c);
    bool sampled = type == WNDL_CHUNK_SAMP;
    if (!sampled && type != WNDL_CHUNK_BLOK && type != WNDL_CHUNK_MARK &&
        type != WNDL_CHUNK_KSMP)
        return;
    uint32_t samples =
        sampled ? samples_in(wndl_bytes_slice(chunk, HEAD, chunk.size - HEAD))
                : 0;
    if (r->tail.bytes != NULL)
        wndl_tail_buffer_add(&r->tail, chunk, samples);
    else
        r->unwritten += samples;
    r->out.size = start;
}

void wndl_recording_finish(
    struct wndl_recording *r, struct wndl_chunk_writer *chunk)
{
    enum wndl_status status = wndl_chunk_finish(chunk);
    if (status != WNDL_OK && r->status == WNDL_OK)
        r->status = wndl_fail(&r->err, status, "a chunk could not be made");
    if (status == WNDL_OK && (r->tail.bytes != NULL || r->write_error != 0))
        take_if_of_threads(r, chunk->start);
}

static void put_command(struct wndl_buf *out, char **command)
{
    size_t count = 0;
    while (command[count] != NULL)
        count++;
    wndl_put_list(out, count);
    for (size_t i = 0; i < count; i++) {
        const struct wndl_fields_argument argument = {bytes_of(command[i])};
        wndl_put_argument(out, &argument);
    }
}

static void put_meta(
    struct wndl_recording *r, const struct wndl_recording_meta *meta)
{
    struct wndl_chunk_writer chunk;
    struct utsname name;
    char cwd[PATH_MAX];
    const struct wndl_fields_meta fields = {
        .time_base = r->time_base,
        .realtime =
            meta->realtime != 0 ? meta->realtime : wndl_clock_realtime_ns(),
        .interval = meta->interval,
        .engine = meta->engine,
        .flags = (meta->kernel_sampled ? WNDL_META_KERNEL_SAMPLED : 0u) |
                 (meta->by_ticks ? WNDL_META_BY_TICKS : 0u) |
                 (meta->kernel_stacks ? WNDL_META_KERNEL_STACKS : 0u) |
                 (meta->offcpu_interval != 0 ? WNDL_META_BLOCKED : 0u),
        .version = bytes_of(wndl_version()),
        .host = bytes_of(uname(&name) == 0 ? name.nodename : ""),
        .cwd = bytes_of(getcwd(cwd, sizeof cwd) == NULL ? "" : cwd),
    };
    const struct wndl_fields_meta_end end = {
        .max_frames = meta->max_frames,
        .blocked_interval = meta->offcpu_interval,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_META);
    wndl_put_meta(&r->out, &fields);
    put_command(&r->out, meta->command);
    wndl_put_meta_end(&r->out, &end);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_continue(struct wndl_recording *r, int fd)
{
    *r = (struct wndl_recording){.fd = fd};
    wndl_buf_init(&r->out, wndl_mem_libc());
    wndl_arena_init(&r->arena, wndl_mem_libc());
    wndl_vec_init(
        &r->announced, &r->arena, sizeof(struct wndl_recording_image));
    wndl_vec_init(&r->numbers, &r->arena, sizeof(uint32_t));
    if (!wndl_intern_init(&r->images, &r->arena))
        r->status = wndl_fail(&r->err, WNDL_NOMEM, "out of memory");
}

void wndl_recording_open(
    struct wndl_recording *r, int fd, const struct wndl_recording_meta *meta)
{
    wndl_recording_continue(r, fd);
    r->time_base =
        meta->time_base != 0 ? meta->time_base : wndl_clock_monotonic_ns();
    r->kernel_stacks = meta->kernel_stacks;
    wndl_chunk_file_header(&r->out);
    put_meta(r, meta);
    wndl_recording_flush(r);
}

void wndl_recording_process(
    struct wndl_recording *r, const struct wndl_recording_process *process)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_proc fields = {
        .process = process->index,
        .parent = process->parent,
        .pid = process->pid,
        .generation = process->generation,
        .time = wndl_recording_time(r, process->time),
        .executable = bytes_of(process->executable),
        .command = process->command,
        .age = process->age,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_PROC);
    wndl_put_proc(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_title(struct wndl_recording *r, uint32_t process,
    uint64_t time, struct wndl_bytes command)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_titl fields = {
        .process = process,
        .time = wndl_recording_time(r, time),
        .command = command,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_TITL);
    wndl_put_titl(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_process_cpu(struct wndl_recording *r, uint32_t process,
    uint64_t loading, uint64_t starting)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_pcpu fields = {
        .process = process,
        .loading = loading,
        .starting = starting,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_PCPU);
    wndl_put_pcpu(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_thread(
    struct wndl_recording *r, const struct wndl_recording_thread *thread)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_thrd fields = {
        .process = thread->process,
        .thread = thread->index,
        .tid = thread->tid,
        .time = wndl_recording_time(r, thread->time),
        .name = bytes_of(thread->name),
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_THRD);
    wndl_put_thrd(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_thread_end(
    struct wndl_recording *r, uint32_t thread, uint64_t time, uint64_t cpu)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_tend fields = {
        .thread = thread,
        .time = wndl_recording_time(r, time),
        .cpu = cpu,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_TEND);
    wndl_put_tend(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_mark(
    struct wndl_recording *r, const struct wndl_recording_mark *mark)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_mark fields = {
        .thread = mark->thread,
        .time = wndl_recording_time(r, mark->time),
        .duration = mark->duration,
        .kind = mark->kind,
        .text = mark->text,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_MARK);
    wndl_put_mark(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_sizes(struct wndl_recording *r, uint32_t process,
    const struct wndl_recording_size *sizes, uint32_t count)
{
    enum { AT_ONCE = 100 * 1000 }; /* a chunk has a limit */
    struct wndl_chunk_writer chunk;
    for (uint32_t at = 0; at < count; at += AT_ONCE) {
        const uint32_t part = count - at < AT_ONCE ? count - at : AT_ONCE;
        uint64_t last = wndl_recording_time(r, sizes[at].time);
        const struct wndl_fields_size head = {process, last};
        wndl_recording_begin(r, &chunk, WNDL_CHUNK_SIZE);
        wndl_put_size(&r->out, &head);
        wndl_put_list(&r->out, part);
        for (uint32_t i = at; i < at + part; i++) {
            const uint64_t time = wndl_recording_time(r, sizes[i].time);
            const struct wndl_fields_resident fields = {
                time - last, sizes[i].resident};
            wndl_put_resident(&r->out, &fields);
            last = time;
        }
        wndl_recording_finish(r, &chunk);
    }
}

void wndl_recording_unrecorded(
    struct wndl_recording *r, const struct wndl_recording_unrecorded *process)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_unfo fields = {
        .parent = process->parent,
        .pid = process->pid,
        .time = wndl_recording_time(r, process->time),
        .reason = process->reason,
        .executable = bytes_of(process->executable),
        .command = process->command,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_UNFO);
    wndl_put_unfo(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_paused(struct wndl_recording *r, uint64_t time, bool paused)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_paus fields = {
        .time = wndl_recording_time(r, time),
        .state = paused,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_PAUS);
    wndl_put_paus(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_mapping(
    struct wndl_recording *r, const struct wndl_recording_mapping *mapping)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_mmap fields = {
        .process = mapping->process,
        .image = mapping->image,
        .time = wndl_recording_time(r, mapping->time),
        .start = mapping->start,
        .end = mapping->end,
        .bias = mapping->bias,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_MMAP);
    wndl_put_mmap(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
}

/* ---- images */

/* False when memory is out. */
static bool announce_image(struct wndl_recording *r, const char *path,
    struct wndl_bytes build_id, uint32_t *number)
{
    struct wndl_chunk_writer chunk;
    size_t index = r->announced.len;
    const struct wndl_fields_imag fields = {
        .image = index,
        .path = bytes_of(path),
        .build_id = build_id,
    };
    struct wndl_recording_image *image = wndl_vec_push(&r->announced);
    if (image == NULL)
        return false;
    *number = (uint32_t)index + 1;
    image->path = wndl_arena_copy(&r->arena, path, strlen(path));
    const char *id = wndl_arena_copy(&r->arena, build_id.data, build_id.size);
    if (id != NULL)
        image->build_id =
            (struct wndl_bytes){(const uint8_t *)id, build_id.size};
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_IMAG);
    wndl_put_imag(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
    return image->path != NULL;
}

/* The number of the image with that key. NULL when memory is out. */
static uint32_t *number_of(
    struct wndl_recording *r, const char *path, struct wndl_bytes build_id)
{
    bool named = build_id.size == 0;
    uint32_t id = 0;
    struct wndl_buf key;
    wndl_buf_init(&key, wndl_mem_libc());
    wndl_buf_byte(&key, named);
    if (named)
        wndl_buf_text(&key, path);
    wndl_buf_add(&key, build_id.data, build_id.size);
    bool added =
        !key.failed && wndl_intern_add(&r->images,
                           (struct wndl_bytes){key.data, key.size}, &id);
    wndl_buf_free(&key);
    while (added && r->numbers.len <= id)
        added = wndl_vec_push(&r->numbers) != NULL;
    return added ? wndl_vec_at(&r->numbers, id) : NULL;
}

static bool can_open(const char *path)
{
    return path[0] == '/' && access(path, R_OK) == 0;
}

static bool is_better(const char *path, const struct wndl_recording_image *kept)
{
    return kept->path != NULL && strcmp(path, kept->path) != 0 &&
           !can_open(kept->path) && can_open(path);
}

uint32_t wndl_recording_image(
    struct wndl_recording *r, const char *path, struct wndl_bytes build_id)
{
    uint32_t *number = number_of(r, path, build_id);
    bool known = number != NULL && *number != 0 &&
                 !is_better(path, wndl_vec_at(&r->announced, *number - 1));
    if (!known &&
        (number == NULL || !announce_image(r, path, build_id, number)))
        r->status = wndl_fail(&r->err, WNDL_NOMEM, "out of memory");
    return number == NULL || *number == 0 ? 0 : *number - 1;
}

/* ---- stacks, samples and spans */

void wndl_recording_nodes(struct wndl_node_list *list, struct wndl_recording *r,
    uint32_t type, const struct wndl_fields_stak *head, uint32_t count)
{
    *list = (struct wndl_node_list){.r = r, .number = (uint32_t)head->first};
    wndl_recording_begin(r, &list->chunk, type);
    wndl_put_stak(&r->out, head);
    wndl_put_list(&r->out, count);
}

/*
 * Counts a node of a stack for its image, the one with this index + 1, if any.
 */
static void count_node(struct wndl_recording *r, uint64_t image)
{
    struct wndl_recording_image *all = r->announced.data;
    if (image != 0 && image <= r->announced.len)
        all[image - 1].nodes++;
}

void wndl_node_list_add(
    struct wndl_node_list *list, const struct wndl_fields_node *node)
{
    uint32_t own = list->number++;
    struct wndl_fields_node fields = *node;
    uint64_t address = (uint64_t)node->address;
    fields.parent = node->parent < own ? own - node->parent : own;
    fields.address = (int64_t)(address - list->address);
    list->address = address;
    wndl_put_node(&list->r->out, &fields);
    count_node(list->r, node->image);
}

void wndl_node_list_finish(struct wndl_node_list *list)
{
    wndl_recording_finish(list->r, &list->chunk);
}

void wndl_recording_series(struct wndl_recording *r, uint32_t type,
    const struct wndl_recording_series *series)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_samp fields = {
        .thread = series->thread,
        .time = wndl_recording_time(r, series->time),
    };
    const size_t before = r->out.size;
    wndl_recording_begin(r, &chunk, type);
    wndl_put_samp(&r->out, &fields);
    wndl_put_list(&r->out, series->count);
    wndl_buf_add(&r->out, series->bytes.data, series->bytes.size);
    wndl_recording_finish(r, &chunk);
    if (type == WNDL_CHUNK_SAMP && r->out.size > before)
        r->waiting += series->count;
}

void wndl_recording_kernel_samples(struct wndl_recording *r, uint64_t time,
    uint32_t count, struct wndl_bytes samples)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_ksmp head = {wndl_recording_time(r, time)};
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_KSMP);
    wndl_put_ksmp(&r->out, &head);
    wndl_put_list(&r->out, count);
    wndl_buf_add(&r->out, samples.data, samples.size);
    wndl_recording_finish(r, &chunk);
}

void wndl_recording_kernel_names(struct wndl_recording *r, uint32_t image,
    uint32_t count, struct wndl_bytes names)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_ksym head = {image};
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_KSYM);
    wndl_put_ksym(&r->out, &head);
    wndl_put_list(&r->out, count);
    wndl_buf_add(&r->out, names.data, names.size);
    wndl_recording_finish(r, &chunk);
}

/* ---- the end */

void wndl_recording_end(struct wndl_recording *r, uint32_t process,
    enum wndl_process_end how, const uint64_t lost[WNDL_LOSS_REASONS])
{
    size_t count = 0;
    for (size_t i = 0; i < WNDL_LOSS_REASONS; i++)
        count += lost[i] != 0;
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_pend fields = {
        .process = process,
        .time = wndl_recording_time(r, wndl_clock_monotonic_ns()),
        .how = how,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_PEND);
    wndl_put_pend(&r->out, &fields);
    wndl_put_list(&r->out, count);
    for (size_t i = 0; i < WNDL_LOSS_REASONS; i++) {
        const struct wndl_fields_loss loss = {.reason = i, .count = lost[i]};
        if (lost[i] != 0)
            wndl_put_loss(&r->out, &loss);
    }
    wndl_recording_finish(r, &chunk);
}

/* Writes all of `out`, or nothing. Returns 0 or an errno. */
static int write_out(const struct wndl_recording *r)
{
    for (size_t done = 0; done < r->out.size;) {
        const ssize_t n = pwrite(r->fd, r->out.data + done, r->out.size - done,
            (off_t)(r->bytes + done));
        if (n > 0) {
            done += (size_t)n;
        } else if (n == 0 || errno != EINTR) {
            const int why = n == 0 ? ENOSPC : errno;
            (void)!ftruncate(r->fd, (off_t)r->bytes);
            return why;
        }
    }
    return 0;
}

/* Ends the recording where the file ends. */
static void end_if_failing(struct wndl_recording *r)
{
    if (r->write_error != 0 && r->status == WNDL_OK)
        r->status = wndl_fail_errno(&r->err, r->write_error,
            "cannot write the file; the recording ends there");
}

/* Says what was dropped while the file could not be written. */
static void put_unwritten(struct wndl_recording *r)
{
    struct wndl_chunk_writer chunk;
    const uint64_t now = wndl_clock_monotonic_ns();
    const struct wndl_fields_unwr fields = {
        .time = wndl_recording_time(r, now),
        .duration = now - r->failing,
        .samples = r->unwritten,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_UNWR);
    wndl_put_unwr(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
    r->lost_before += r->unwritten;
    r->unwritten = 0;
}

static void note_failure(struct wndl_recording *r, int why)
{
    enum { WAITING_MAX = 64 * 1024 * 1024 };
    if (r->write_error == 0)
        r->failing = wndl_clock_monotonic_ns();
    r->write_error = why;
    if (r->out.size > WAITING_MAX)
        end_if_failing(r);
}

void wndl_recording_flush(struct wndl_recording *r)
{
    if (r->status == WNDL_OK) {
        const bool failed_before = r->write_error != 0;
        const int why = write_out(r);
        if (why != 0) {
            note_failure(r, why);
            return;
        }
        r->bytes += r->out.size;
        r->written += r->waiting;
        r->waiting = 0;
        r->write_error = 0;
        wndl_buf_clear(&r->out);
        if (failed_before)
            put_unwritten(r); /* with the next flush */
    }
    if (r->status != WNDL_OK)
        wndl_buf_clear(&r->out);
}

void wndl_recording_keep_tail(struct wndl_recording *r, size_t size)
{
    if (!wndl_tail_buffer_init(&r->tail, size) && r->status == WNDL_OK)
        r->status = wndl_fail(&r->err, WNDL_NOMEM, "out of memory");
}

static void put_kept(struct wndl_recording *r)
{
    enum { AT_ONCE = 1024 * 1024 };
    for (size_t at = 0; at < r->tail.used;) {
        at = wndl_tail_buffer_copy(&r->tail, at, &r->out, &r->waiting);
        if (r->out.size >= AT_ONCE) {
            wndl_recording_flush(r);
            end_if_failing(r);
        }
    }
    r->tail.used = r->tail.samples = 0;
}

uint64_t wndl_recording_kept(const struct wndl_recording *r)
{
    return r->status != WNDL_OK ? r->written
                                : r->written + r->waiting + r->tail.samples;
}

static void put_done(
    struct wndl_recording *r, const struct wndl_recording_done *done)
{
    struct wndl_chunk_writer chunk;
    const struct wndl_fields_done fields = {
        .time = wndl_recording_time(
            r, done->time != 0 ? done->time : wndl_clock_monotonic_ns()),
        .status = done->status,
        .processes = done->processes,
        .unrecorded = done->unrecorded,
        .discarded = r->tail.discarded,
        .interrupted_calls = done->interrupted_calls,
        .cpu = done->cpu,
    };
    wndl_recording_begin(r, &chunk, WNDL_CHUNK_DONE);
    wndl_put_done(&r->out, &fields);
    wndl_recording_finish(r, &chunk);
    wndl_recording_flush(r);
    end_if_failing(r);
}

/* Copies what was written to `from`, without the rest of a failed write. */
static bool copy_file(struct wndl_recording *to, int from, uint64_t size)
{
    enum { AT_ONCE = 256 * 1024 };
    for (uint64_t at = 0; at < size && to->status == WNDL_OK;) {
        uint64_t left = size - at;
        uint8_t *room = wndl_buf_reserve(&to->out, AT_ONCE);
        size_t want = left < AT_ONCE ? (size_t)left : AT_ONCE;
        ssize_t n = room == NULL ? -1 : pread(from, room, want, (off_t)at);
        if (n <= 0)
            return false;
        to->out.size += (size_t)n;
        at += (uint64_t)n;
        wndl_recording_flush(to);
        end_if_failing(to);
    }
    return true;
}

enum wndl_status wndl_recording_dump(struct wndl_recording *r, int fd,
    const struct wndl_recording_done *done, struct wndl_error *err)
{
    wndl_recording_flush(r);
    struct wndl_recording copy = *r;
    copy.fd = fd;
    copy.bytes = 0;
    end_if_failing(&copy); /* it would lack what could not be written */
    wndl_buf_init(&copy.out, wndl_mem_libc());
    if (copy.status == WNDL_OK && !copy_file(&copy, r->fd, r->bytes))
        copy.status = wndl_fail_errno(
            &copy.err, errno, "cannot read the recording so far");
    put_kept(&copy);
    put_done(&copy, done);
    wndl_buf_free(&copy.out);
    if (err != NULL)
        *err = copy.err;
    return copy.status;
}

void wndl_recording_free(struct wndl_recording *r)
{
    wndl_buf_free(&r->out);
    wndl_tail_buffer_free(&r->tail);
    wndl_arena_free(&r->arena);
}

enum wndl_status wndl_recording_close_with(
    struct wndl_recording *r, struct wndl_bytes done, struct wndl_error *err)
{
    wndl_buf_add(&r->out, done.data, done.size);
    wndl_recording_flush(r);
    end_if_failing(r);
    if (err != NULL)
        *err = r->err;
    return r->status;
}

enum wndl_status wndl_recording_close(struct wndl_recording *r,
    const struct wndl_recording_done *done, struct wndl_error *err)
{
    wndl_recording_flush(r);
    put_kept(r);
    put_done(r, done);
    if (err != NULL)
        *err = r->err;
    return r->status;
}
