/* SPDX-License-Identifier: MIT */
#include "analyze/fix/batch.h"
#include "base/json.h"
#include "in/frame_text/control.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* A module is reported as slow if it takes longer than that. */
static const uint64_t ns_to_say = 1000000000;

/* After one in so many addresses, the time for the others is estimated. */
enum { SHARE_TO_JUDGE = 8 };

/* A frame's place in the order of lookups. */
struct place {
    uint64_t rva;
    uint32_t module;
    uint32_t frame;
};

/* False if it is no valid path: bad escapes, NUL bytes. */
static bool unescape_path(
    struct wndl_fix *fix, struct wndl_bytes raw, struct wndl_bytes *path)
{
    *path = raw;
    if (fix->options.json && memchr(raw.data, '\\', raw.size) != NULL) {
        wndl_buf_clear(&fix->path);
        if (!wndl_json_unescaped(&fix->path, raw))
            return false;
        *path = (struct wndl_bytes){fix->path.data, fix->path.size};
    }
    return path->size != 0 && memchr(path->data, '\0', path->size) == NULL;
}

/* Makes a copy in the arena without control sequences, if there are any. */
static bool strip_controls(struct wndl_fix_batch *batch,
    const struct wndl_fix *fix, struct wndl_bytes *text, struct wndl_vec *cuts)
{
    bool json = fix->options.json;
    bool complete;
    if (!wndl_frame_has_controls(*text, json))
        return true;
    uint8_t *copy = wndl_arena_alloc(&batch->arena, text->size);
    if (copy == NULL)
        return false;
    text->size = wndl_frame_strip_controls(*text, json, copy, cuts, &complete);
    text->data = copy;
    return complete;
}

/* From the copy to the text. No frame is empty. */
static void uncut_frame(
    const struct wndl_vec *cuts, struct wndl_frame_text *frame)
{
    if (cuts->len == 0)
        return;
    frame->start = wndl_frame_uncut(cuts, frame->start);
    frame->end = wndl_frame_uncut(cuts, frame->end - 1) + 1;
}

void wndl_fix_scan_init(const struct wndl_fix *fix,
    struct wndl_frame_scan *scan, struct wndl_bytes text)
{
    const char *kernel = fix->options.kernel;
    wndl_frame_scan_init(scan, text, fix->options.json);
    if (kernel != NULL)
        scan->kernel =
            (struct wndl_bytes){(const uint8_t *)kernel, strlen(kernel)};
}

/* Whether a table of images in the text may say where the frame is. */
static bool needs_image(const struct wndl_frame_text *frame)
{
    struct wndl_bytes path = frame->path;
    return frame->base == WNDL_FRAME_PROCESS ||
           (frame->form >= WNDL_FRAME_SPACED &&
               memchr(path.data, '/', path.size) == NULL);
}

/* By the tables of images: the address in the file, or the file's path. */
static void use_images(struct wndl_fix *fix, struct wndl_frame_text *frame)
{
    const struct wndl_frame_image *image;
    if (!needs_image(frame))
        return;
    if (frame->form == WNDL_FRAME_IPS) {
        image =
            wndl_frame_images_listed(&fix->images, frame->image, frame->start);
        frame->base = WNDL_FRAME_RVA;
    } else if (frame->base != WNDL_FRAME_PROCESS) {
        image =
            wndl_frame_images_named(&fix->images, frame->path, frame->start);
    } else {
        image =
            wndl_frame_images_find(&fix->images, frame->address, frame->start);
        if (image != NULL) {
            frame->base = image->base;
            frame->address += image->offset - image->start;
        }
    }
    if (image == NULL)
        return;
    frame->path = image->path;
    frame->build_id = image->build_id;
    frame->arch = image->arch;
}

/* The module of the frame, whose path is in the text or a table of images. */
static bool find_module(struct wndl_fix *fix, struct wndl_fix_frame *frame)
{
    struct wndl_bytes path;
    if (frame->text.path.size == 0 ||
        !unescape_path(fix, frame->text.path, &path))
        return !fix->path.failed;
    if (frame->text.form == WNDL_FRAME_KERNEL &&
        path.data != (const uint8_t *)fix->options.kernel) {
        wndl_buf_clear(&fix->path);
        wndl_buf_add(&fix->path, path.data, path.size);
        wndl_buf_text(&fix->path, ".ko");
        path = (struct wndl_bytes){fix->path.data, fix->path.size};
    }
    return !fix->path.failed && wndl_fix_module_of(&fix->modules, path,
                                    &frame->text, &frame->module);
}

/* Finds the frames, and notes whether tables of images are needed. */
static bool scan_frames(struct wndl_fix_batch *batch,
    const struct wndl_fix *fix, struct wndl_bytes text, bool *images)
{
    struct wndl_frame_scan scan;
    struct wndl_frame_text found;
    *images = wndl_frame_has_markup(text);
    wndl_fix_scan_init(fix, &scan, text);
    while (wndl_frame_scan_next(&scan, &found)) {
        struct wndl_fix_frame *frame = wndl_vec_push(&batch->frames);
        if (frame == NULL)
            return false;
        frame->text = found;
        *images |= needs_image(&found);
    }
    return true;
}

static bool find_frames(
    struct wndl_fix_batch *batch, struct wndl_fix *fix, struct wndl_bytes text)
{
    struct wndl_vec cuts;
    bool images;
    wndl_vec_init(&cuts, &batch->arena, sizeof(struct wndl_frame_cut));
    if (!strip_controls(batch, fix, &text, &cuts) ||
        !scan_frames(batch, fix, text, &images) ||
        (images && !wndl_frame_images_read(&fix->images, text)))
        return false;
    for (size_t i = 0; i < batch->frames.len; i++) {
        struct wndl_fix_frame *frame = wndl_fix_frame_at(batch, i);
        use_images(fix, &frame->text);
        uncut_frame(&cuts, &frame->text);
        if (!find_module(fix, frame))
            return false;
    }
    return true;
}

/* Warns of a binary that was made after the text. */
static void warn_of_age(
    struct wndl_fix *fix, const struct wndl_fix_module *module)
{
    enum { NS_PER_S = 1000000000 };
    struct stat st;
    if (fix->options.text_ns == 0 || module->symbols == NULL ||
        module->build_id_size != 0 || stat(module->opened, &st) != 0)
        return;
    uint64_t changed =
        (uint64_t)st.st_mtim.tv_sec * NS_PER_S + (uint64_t)st.st_mtim.tv_nsec;
    if (changed > fix->options.text_ns)
        fix->listener.newer(fix->listener.context, module->opened);
}

static void warn_of_module(struct wndl_fix *fix, struct wndl_fix_module *module,
    const struct wndl_fix_frame *frame)
{
    bool perhaps = frame->text.perhaps && module->trouble.status == WNDL_IO;
    bool is_there = module->symbols != NULL || module->is_resting;
    if (is_there || module->complained || perhaps)
        return;
    module->complained = true;
    fix->listener.failed(
        fix->listener.context, module->opened, &module->trouble);
}

/*
 * A call is a byte before its return address; an interrupted frame did not
 * call, and nobody called before the start of a function that no call ends at.
 */
static void step_back(struct wndl_fix *fix, struct wndl_fix_module *module,
    struct wndl_fix_frame *frame)
{
    bool interrupted = fix->interrupted;
    if (!frame->text.return_address)
        return;
    fix->interrupted = wndl_fix_module_is_sigreturn(module, frame->rva);
    if (!fix->interrupted && !interrupted && frame->rva != 0 &&
        !wndl_fix_module_is_entry(module, frame->rva))
        frame->rva--;
}

/* Sets frame->rva; *known says whether it can be looked up. */
static enum wndl_status place_frame(
    struct wndl_fix *fix, struct wndl_fix_frame *frame, bool *known)
{
    struct wndl_fix_module *module =
        wndl_fix_module_at(&fix->modules, frame->module);
    uint64_t before = fix->listener.clock_ns();
    bool fresh = !module->tried;
    *known = false;
    frame->offset = frame->text.address;
    if (!wndl_fix_module_open(&fix->modules, module))
        return WNDL_NOMEM;
    if (fresh) {
        module->ns += fix->listener.clock_ns() - before;
        warn_of_age(fix, module);
    }
    warn_of_module(fix, module, frame);
    if (module->symbols == NULL && !module->is_resting)
        return WNDL_OK;
    enum wndl_status status =
        wndl_fix_module_rva(&fix->modules, module, &frame->text, &frame->rva);
    *known = status == WNDL_OK;
    frame->offset = frame->rva;
    if (*known)
        step_back(fix, module, frame);
    return status == WNDL_NOMEM ? status : WNDL_OK;
}

static enum wndl_status place_frames(
    struct wndl_fix_batch *batch, struct wndl_fix *fix, struct wndl_vec *places)
{
    for (size_t i = 0; i < batch->frames.len; i++) {
        struct wndl_fix_frame *frame = wndl_fix_frame_at(batch, i);
        bool known = false;
        if (frame->module != 0 && place_frame(fix, frame, &known) != WNDL_OK)
            return WNDL_NOMEM;
        if (!known) {
            if (frame->text.return_address)
                fix->interrupted = false;
            continue;
        }
        struct place *place = wndl_vec_push(places);
        if (place == NULL)
            return WNDL_NOMEM;
        *place = (struct place){frame->rva, frame->module, (uint32_t)i};
    }
    return WNDL_OK;
}

static int compare_places(const void *left, const void *right)
{
    const struct place *a = left, *b = right;
    if (a->module != b->module)
        return a->module < b->module ? -1 : 1;
    return a->rva < b->rva ? -1 : a->rva > b->rva;
}

/*
 * `done` of `count` addresses have been looked up. The estimate for each of the
 * others is half of the mean so far, without the first one's start-up time,
 * since more and more of what they need is known.
 */
static void say_if_slow(struct wndl_fix *fix, struct wndl_fix_module *module,
    size_t done, size_t count)
{
    uint64_t rest = module->ns - module->ns_to_begin;
    uint64_t each = done == 1 ? 0 : rest / (done - 1);
    uint64_t all = module->ns + each * (count - done) / 2;
    if (module->said_slow || all < ns_to_say)
        return;
    module->said_slow = true;
    fix->listener.slow(fix->listener.context, module->opened, count);
}

/*
 * Looks up the distinct addresses in ascending order: one, then a share for the
 * estimate, then the rest.
 */
static enum wndl_status ask_module(struct wndl_fix *fix,
    struct wndl_fix_module *module, const struct wndl_vec *rvas,
    struct wndl_symbols *answers)
{
    size_t size;
    for (size_t done = 0; done < rvas->len; done += size) {
        uint64_t before = fix->listener.clock_ns();
        size = done == 0   ? 1
               : done == 1 ? rvas->len / SHARE_TO_JUDGE + 1
                           : rvas->len - done;
        if (size > rvas->len - done)
            size = rvas->len - done;
        if (wndl_symbolizer_lookup_batch(module->symbols,
                wndl_vec_at(rvas, done), size, answers + done, NULL) != WNDL_OK)
            return WNDL_NOMEM;
        module->ns += fix->listener.clock_ns() - before;
        if (done == 0)
            module->ns_to_begin = module->ns;
        say_if_slow(fix, module, done + size, rvas->len);
    }
    return WNDL_OK;
}

/* The places of one module, in the order of their addresses. */
static enum wndl_status look_up_module(struct wndl_fix *fix,
    struct wndl_fix_batch *batch, const struct place *places, size_t count)
{
    struct wndl_vec rvas;
    wndl_vec_init(&rvas, &batch->arena, sizeof(uint64_t));
    if (!wndl_vec_reserve(&rvas, count))
        return WNDL_NOMEM;
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || places[i].rva != places[i - 1].rva)
            *(uint64_t *)wndl_vec_push(&rvas) = places[i].rva;
    }
    struct wndl_symbols *answers =
        wndl_arena_calloc(&batch->arena, rvas.len, sizeof *answers);
    struct wndl_fix_module *module =
        wndl_fix_module_at(&fix->modules, places[0].module);
    if (answers == NULL || !wndl_fix_module_wake(&fix->modules, module))
        return WNDL_NOMEM;
    if (module->symbols == NULL)
        return WNDL_OK;
    if (ask_module(fix, module, &rvas, answers) != WNDL_OK)
        return WNDL_NOMEM;
    for (size_t i = 0; i < rvas.len && fix->modules.is_tight; i++)
        if (!wndl_fix_keep_answer(&batch->arena, &answers[i]))
            return WNDL_NOMEM;
    size_t at = 0;
    for (size_t i = 0; i < count; i++) {
        at += i != 0 && places[i].rva != places[i - 1].rva;
        wndl_fix_frame_at(batch, places[i].frame)->answer = answers[at];
    }
    return WNDL_OK;
}

/* The places, sorted. If memory is out, modules rest before one is opened. */
static enum wndl_status look_up_places(struct wndl_fix *fix,
    struct wndl_fix_batch *batch, const struct wndl_vec *places)
{
    const struct place *all = places->data;
    enum wndl_status status = WNDL_OK;
    size_t end;
    for (size_t i = 0; i < places->len && status == WNDL_OK; i = end) {
        end = i;
        while (end < places->len && all[end].module == all[i].module)
            end++;
        status = look_up_module(fix, batch, all + i, end - i);
        if (status != WNDL_OK && fix->modules.is_tight &&
            wndl_fix_modules_rest(&fix->modules, NULL))
            status = look_up_module(fix, batch, all + i, end - i);
    }
    return status;
}

/*
 * If memory is out for the first time, it begins anew: answers that are not
 * copied yet are lost when modules rest.
 */
static enum wndl_status look_up(struct wndl_fix *fix,
    struct wndl_fix_batch *batch, const struct wndl_vec *places)
{
    if (places->len != 0)
        qsort(places->data, places->len, places->element, compare_places);
    bool was_tight = fix->modules.is_tight;
    enum wndl_status status = look_up_places(fix, batch, places);
    if (was_tight || (status == WNDL_OK && !fix->modules.is_tight))
        return status;
    (void)wndl_fix_modules_rest(&fix->modules, NULL);
    return look_up_places(fix, batch, places);
}

enum wndl_status wndl_fix_batch_fill(
    struct wndl_fix_batch *batch, struct wndl_fix *fix, struct wndl_bytes text)
{
    struct wndl_vec places;
    wndl_arena_init(&batch->arena, fix->mem);
    wndl_vec_init(&batch->frames, &batch->arena, sizeof(struct wndl_fix_frame));
    wndl_vec_init(&places, &batch->arena, sizeof(struct place));
    if (!find_frames(batch, fix, text) || batch->frames.len > UINT32_MAX ||
        place_frames(batch, fix, &places) != WNDL_OK)
        return WNDL_NOMEM;
    return look_up(fix, batch, &places);
}

void wndl_fix_batch_free(struct wndl_fix_batch *batch)
{
    wndl_arena_free(&batch->arena);
}
