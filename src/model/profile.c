/* SPDX-License-Identifier: MIT */
#include "model/profile.h"

#include "model/heap.h"

bool wndl_profile_init(struct wndl_profile *p, struct wndl_mem *mem)
{
    *p = (struct wndl_profile){.wanted_snapshot = WNDL_LAST_SNAPSHOT};
    wndl_arena_init(&p->arena, mem);
    wndl_vec_init(&p->images, &p->arena, sizeof(struct wndl_image));
    wndl_vec_init(&p->processes, &p->arena, sizeof(struct wndl_process));
    wndl_vec_init(&p->threads, &p->arena, sizeof(struct wndl_thread));
    wndl_vec_init(&p->frames, &p->arena, sizeof(struct wndl_frame_key));
    wndl_vec_init(&p->nodes, &p->arena, sizeof(struct wndl_node));
    wndl_vec_init(&p->samples, &p->arena, sizeof(struct wndl_sample));
    wndl_vec_init(&p->blocks, &p->arena, sizeof(struct wndl_block));
    wndl_vec_init(&p->marks, &p->arena, sizeof(struct wndl_mark));
    wndl_vec_init(&p->sizes, &p->arena, sizeof(struct wndl_size));
    wndl_vec_init(&p->unrecorded_processes, &p->arena,
        sizeof(struct wndl_unrecorded_process));
    wndl_vec_init(&p->pauses, &p->arena, sizeof(struct wndl_pause));
    wndl_vec_init(&p->kernel_names, &p->arena, sizeof(struct wndl_kernel_name));
    wndl_vec_init(&p->heaps, &p->arena, sizeof(struct wndl_process_heap));
    wndl_vec_init(&p->libraries, &p->arena, sizeof(struct wndl_tag_library));
    wndl_vec_init(&p->tag_names, &p->arena, sizeof(struct wndl_bytes));
    wndl_vec_init(&p->arguments, &p->arena, sizeof(struct wndl_bytes));
    wndl_map_init(&p->frame_index, &p->arena);
    wndl_map_init(&p->node_index, &p->arena);
    struct wndl_node *root = wndl_vec_push(&p->nodes);
    if (root == NULL || !wndl_intern_init(&p->strings, &p->arena)) {
        wndl_profile_free(p);
        return false;
    }
    *root = (struct wndl_node){WNDL_NO_INDEX, WNDL_NO_INDEX};
    return true;
}

void wndl_profile_free(struct wndl_profile *p)
{
    wndl_arena_free(&p->arena);
}

static bool same_frame(
    const struct wndl_frame_key *a, const struct wndl_frame_key *b)
{
    return a->address == b->address && a->image == b->image &&
           a->process == b->process && a->exact == b->exact && a->how == b->how;
}

bool wndl_profile_frame(
    struct wndl_profile *p, struct wndl_frame_key key, uint32_t *index)
{
    uint64_t rest =
        (uint64_t)key.image << 16 | (uint64_t)key.how << 8 | key.exact;
    uint64_t hash = wndl_hash_u64(
        key.address ^ wndl_hash_u64(rest ^ (uint64_t)key.process << 48));
    /*
     * The map holds (hash, index + 1); if another frame has the hash, try the
     * next one.
     */
    for (;; hash = wndl_hash_u64(hash + 1)) {
        uint64_t *found = wndl_map_put(&p->frame_index, hash);
        if (found == NULL || p->frames.len >= WNDL_NO_INDEX)
            return false;
        if (*found != 0) {
            *index = (uint32_t)(*found - 1);
            if (same_frame(wndl_vec_at(&p->frames, *index), &key))
                return true;
            continue;
        }
        struct wndl_frame_key *fresh = wndl_vec_push(&p->frames);
        if (fresh == NULL)
            return false;
        *fresh = key;
        *index = (uint32_t)(p->frames.len - 1);
        *found = p->frames.len;
        return true;
    }
}

bool wndl_profile_node(
    struct wndl_profile *p, uint32_t parent, uint32_t frame, uint32_t *index)
{
    uint64_t key = (uint64_t)parent << 32 | frame;
    uint64_t *found = wndl_map_put(&p->node_index, key);
    if (found == NULL || p->nodes.len >= WNDL_NO_INDEX)
        return false;
    if (*found == 0) { /* the root, which is nobody's child: so it is new */
        struct wndl_node *fresh = wndl_vec_push(&p->nodes);
        if (fresh == NULL)
            return false;
        *fresh = (struct wndl_node){parent, frame};
        *found = p->nodes.len - 1;
    }
    *index = (uint32_t)*found;
    return true;
}

bool wndl_profile_text(
    struct wndl_profile *p, struct wndl_bytes s, struct wndl_bytes *copy)
{
    uint32_t id;
    if (!wndl_intern_add(&p->strings, s, &id))
        return false;
    *copy = wndl_intern_get(&p->strings, id);
    return true;
}

struct wndl_bytes wndl_path_name(struct wndl_bytes path)
{
    size_t start = path.size;
    while (start > 0 && path.data[start - 1] != '/')
        start--;
    if (start == path.size)
        return path;
    return wndl_bytes_slice(path, start, path.size - start);
}

const char *wndl_loss_name(unsigned reason)
{
    static const char *const names[WNDL_LOST_REASONS] = {
        "the recording is damaged",
        "the buffer was full",
        "too many different stacks",
        "too many threads",
        "too many modules",
        "another sample was in progress",
        "the stack was not found",
        "ticks came too fast",
    };
    return reason < WNDL_LOST_OTHER ? names[reason] : "another reason";
}

const char *wndl_walk_end_text(unsigned end)
{
    static const char *const names[WNDL_WALK_ENDS] = {
        "complete",
        "too deep",
        "no unwind information",
        "left the stack",
        "the stack goes in circles",
        "damaged unwind information",
        "the return address is not in code",
        "guessed",
    };
    return end < WNDL_WALK_OTHER ? names[end] : "another end";
}

const char *wndl_unrecorded_text(unsigned reason)
{
    static const char *const texts[] = {
        "reason not known",
        "statically linked",
        "set-user-ID or with capabilities",
        "another libc",
        "a Go program",
        "emulated",
        "started without our environment",
        "for another machine",
        "no file descriptor was free",
        "no memory for it",
        "sandboxed",
        "made by a bare clone()",
        "with the recorder of another version of windlass",
        "windlass did not answer in time",
        "a child of vfork() that started no program",
    };
    return texts[reason < sizeof texts / sizeof texts[0] ? reason : 0];
}
