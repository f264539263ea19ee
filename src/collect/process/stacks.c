/* SPDX-License-Identifier: MIT */
/*
 * stacks: modules from shared memory to chunks, then the nodes of stacks, which
 * refer to them.
 */
#include "collect/process/process.h"

#include "collect/proc/jit_descriptor.h"
#include "collect/proc/proc.h"
#include "collect/process/callers.h"
#include "model/profile.h"
#include "os/maps.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NODES_PER_CHUNK = 2048, MAPS_ROOM = PATH_MAX + 256 };

/* ---- modules */

static struct wndl_bytes path_of(
    const struct wndl_collector_process *p, const struct wndl_shm_module *row)
{
    struct wndl_bytes strings = {p->shm->strings, WNDL_SHM_STRINGS};
    return wndl_bytes_slice(strings, row->path_offset, row->path_size);
}

struct path_search {
    uint64_t address;
    char *path; /* PATH_MAX */
    bool found;
};

static bool look_for_path(void *context, const struct wndl_mapping *m)
{
    struct path_search *s = context;
    if (s->address < m->start || s->address >= m->end)
        return true;
    if (m->path.size != 0 && m->path.size < PATH_MAX) {
        memcpy(s->path, m->path.data, m->path.size);
        s->path[m->path.size] = '\0';
        s->found = s->path[0] == '/';
    }
    return false;
}

/* The kernel's name for the mapping, to replace a relative one. */
static bool path_from_maps(
    const struct wndl_collector_process *p, uint64_t address, char *path)
{
    uint8_t room[MAPS_ROOM];
    char maps[32];
    struct path_search s = {.address = address, .path = path};
    snprintf(maps, sizeof maps, "/proc/%d/maps", (int)p->pid);
    return wndl_maps_each(maps, (struct wndl_bytes){room, sizeof room},
               look_for_path, &s) &&
           s.found;
}

/* Whether both paths end in the same file name. */
static bool same_file_name(struct wndl_bytes name, const char *path)
{
    struct wndl_bytes a = wndl_path_name(name);
    struct wndl_bytes b = wndl_path_name(
        (struct wndl_bytes){(const uint8_t *)path, strlen(path)});
    return wndl_bytes_equal(a, b);
}

/*
 * The loader's name may be relative to the program's directory. If the module
 * is no longer mapped (another may be there by now), the program's current
 * directory completes the name.
 */
static void absolute_path(const struct wndl_collector_process *p,
    const struct wndl_shm_module *row, char path[PATH_MAX])
{
    struct wndl_bytes name = path_of(p, row);
    if (name.size == 0) {
        snprintf(path, PATH_MAX, "%s", p->executable);
        return;
    }
    bool relative = name.data[0] != '/' && name.data[0] != '[';
    if (relative && path_from_maps(p, row->start, path) &&
        same_file_name(name, path))
        return;
    if (relative && name.size > 2 && memcmp(name.data, "./", 2) == 0)
        name = wndl_bytes_slice(name, 2, name.size - 2);
    snprintf(path, PATH_MAX, "%s%s%.*s", relative ? p->directory : "",
        relative ? "/" : "", (int)name.size, (const char *)name.data);
}

/*
 * Replaces links, so that the path is the kernel's, as reads from outside see
 * it. Not if the process, in a root of its own, sees another file there.
 */
static void follow_links(pid_t pid, char path[PATH_MAX])
{
    char real[PATH_MAX], seen[PATH_MAX + 32];
    struct stat ours, theirs;
    if (path[0] != '/' || realpath(path, real) == NULL)
        return;
    snprintf(seen, sizeof seen, "/proc/%d/root%s", (int)pid, path);
    if (stat(seen, &theirs) == 0 && stat(real, &ours) == 0 &&
        (theirs.st_dev != ours.st_dev || theirs.st_ino != ours.st_ino))
        return;
    snprintf(path, PATH_MAX, "%s", real);
}

/* Gives the descriptor's address to the process, once for each place. */
static void give_descriptor(struct wndl_collector_process *p, uint64_t address)
{
    for (size_t i = 0; i < WNDL_SHM_DESCRIPTORS; i++) {
        _Atomic uint64_t *place = &p->shm->descriptors[i];
        uint64_t before = atomic_load(place);
        if (before == 0)
            atomic_store(place, address);
        if (before == 0 || before == address)
            return;
    }
}

static void look_for_descriptor(struct wndl_collector_process *p,
    uint32_t index, const char *path, struct wndl_bytes build_id)
{
    struct wndl_recording_image *image =
        wndl_recording_announced(p->recording, p->images[index] - 1);
    if (image == NULL)
        return;
    if (!image->is_searched)
        image->descriptor = wndl_descriptor_find(p->pid, path, build_id);
    image->is_searched = true;
    if (image->descriptor != 0)
        give_descriptor(p, p->shm->modules[index].bias + image->descriptor);
}

void wndl_collector_process_look(struct wndl_collector_process *p)
{
    char now[PATH_MAX];
    if (wndl_proc_link(p->pid, "cwd", now))
        memcpy(p->directory, now, sizeof now);
}

static void take_module(struct wndl_collector_process *p, uint32_t index)
{
    const struct wndl_shm_module *row = &p->shm->modules[index];
    char path[PATH_MAX];
    wndl_collector_process_look(p);
    absolute_path(p, row, path);
    follow_links(p->pid, path);
    struct wndl_bytes id = wndl_bytes_slice(
        (struct wndl_bytes){row->build_id, sizeof row->build_id}, 0,
        row->build_id_size);
    uint32_t image = wndl_recording_image(p->recording, path, id);
    p->images[index] = image + 1;
    look_for_descriptor(p, index, path, id);
    const struct wndl_recording_mapping mapping = {
        .process = p->index,
        .image = image,
        .time = row->time,
        .start = row->start,
        .end = row->end,
        .bias = row->bias,
    };
    if (mapping.start < mapping.end)
        wndl_recording_mapping(p->recording, &mapping);
    else
        p->totals->damaged++;
}

/* After that, stacks that are read from outside may be in other code. */
static void look_for_changes(struct wndl_collector_process *p)
{
    uint32_t come = atomic_load(&p->shm->modules_come);
    if (come != p->modules_come && p->offcpu != NULL)
        wndl_offcpu_modules_changed(p->offcpu);
    if (come != p->modules_come && p->lost != NULL)
        wndl_lost_modules_changed(p->lost);
    p->modules_come = come;
}

/* A row may be ready before those in front of it are. */
static void take_modules(struct wndl_collector_process *p)
{
    look_for_changes(p);
    p->module_count = atomic_load(&p->shm->module_count);
    if (p->module_count > WNDL_SHM_MODULES)
        p->module_count = WNDL_SHM_MODULES;
    for (uint32_t i = p->modules_done; i < p->module_count; i++) {
        bool ready = atomic_load(&p->shm->modules[i].ready) != 0;
        if (ready && p->images[i] == 0)
            take_module(p, i);
        if (ready && i == p->modules_done)
            p->modules_done++;
    }
}

/* ---- nodes */

/* A node's place, as the file has it. */
struct place {
    uint64_t image; /* index + 1, 0: none */
    uint64_t address;
};

/* The module's row is its key's owner; a damaged key may lie outside of it. */
static struct place place_in_modules(
    const struct wndl_collector_process *p, uint64_t key)
{
    uint64_t address = key & ((UINT64_C(1) << WNDL_KEY_INTERRUPTED_SHIFT) - 1);
    uint32_t owner = (uint32_t)(key >> WNDL_KEY_OWNER_SHIFT);
    if (owner == 0 || owner > p->module_count || p->images[owner - 1] == 0)
        return (struct place){0, address};
    const struct wndl_shm_module *row = &p->shm->modules[owner - 1];
    if (address < row->start || address >= row->end)
        return (struct place){0, address};
    return (struct place){p->images[owner - 1], address - row->start};
}

/* Nodes on their way to the file. */
struct placed {
    struct wndl_stacknode node; /* zeroes for one that is not there */
    struct place place;
};

/* Announces images of code that the loader does not know. */
static void place_unlisted(
    struct wndl_collector_process *p, struct placed *nodes, uint32_t count)
{
    struct wndl_code_place found;
    if (p->emulated)
        return;
    for (uint32_t i = 0; i < count; i++) {
        struct place *place = &nodes[i].place;
        if (place->image != 0)
            continue;
        wndl_unlisted_code_meet(&p->unlisted, place->address);
        if (wndl_unlisted_code_find(&p->unlisted, place->address, &found))
            *place = (struct place){found.image + 1, found.rva};
    }
}

static uint64_t how_of(uint64_t key)
{
    return key >> WNDL_KEY_HOW_SHIFT & 7;
}

static uint64_t is_interrupted(uint64_t key)
{
    return key >> WNDL_KEY_INTERRUPTED_SHIFT & 1;
}

/*
 * Whether the node's caller was found by rules. The outermost one has no
 * caller: it may be where the walk was lost.
 */
static bool has_rules(
    const struct wndl_collector_process *p, const struct wndl_stacknode *node)
{
    struct wndl_stacknode caller;
    return node->key == 0 ||
           (node->parent != 0 &&
               (!wndl_stackreader_get(&p->tree, node->parent, &caller) ||
                   how_of(caller.key) == WNDL_HOW_CFI));
}

/* Makes binaries wanted whose code was met without rules. */
static void look_for_holes(struct wndl_collector_process *p,
    const struct placed *nodes, uint32_t count)
{
    for (uint32_t i = 0; i < count && p->lost != NULL; i++) {
        const struct wndl_stacknode *node = &nodes[i].node;
        const uint64_t address =
            node->key & ((UINT64_C(1) << WNDL_KEY_INTERRUPTED_SHIFT) - 1);
        if (!has_rules(p, node))
            wndl_lost_meet(p->lost, address - !is_interrupted(node->key));
    }
}

static uint64_t flags_of(uint64_t key, bool checks)
{
    return is_interrupted(key) | how_of(key) << 1 |
           (uint64_t)checks << WNDL_NODE_CHECKS_SHIFT;
}

static struct wndl_placed_node placed_of(const struct placed *of)
{
    return (struct wndl_placed_node){
        of->node.key, of->place.image, of->place.address};
}

/* Whether the node's caller was found without rules, and passes the check. */
static bool checks_caller(struct wndl_collector_process *p, uint32_t number,
    const struct placed *node)
{
    struct placed caller = {0};
    struct wndl_code_place found;
    const uint32_t parent = node->node.parent;
    if (parent != 0 && parent < number &&
        wndl_stackreader_get(&p->tree, parent, &caller.node))
        caller.place = place_in_modules(p, caller.node.key);
    if (caller.place.image == 0 && !p->emulated &&
        wndl_unlisted_code_find(&p->unlisted, caller.place.address, &found))
        caller.place = (struct place){found.image + 1, found.rva};
    const struct wndl_placed_node from = placed_of(node);
    const struct wndl_placed_node to = placed_of(&caller);
    return wndl_callers_meet(
        p, number, parent < number ? parent : 0, &from, &to);
}

static void put_nodes(struct wndl_collector_process *p,
    const struct placed *nodes, uint32_t count)
{
    struct wndl_node_list list;
    const struct wndl_fields_stak head = {p->index, p->nodes + 1};
    wndl_recording_nodes(&list, p->recording, WNDL_CHUNK_STAK, &head, count);
    for (uint32_t i = 0; i < count; i++) {
        const struct wndl_fields_node fields = {
            .parent = nodes[i].node.parent,
            .flags = flags_of(nodes[i].node.key,
                checks_caller(p, p->nodes + 1 + i, &nodes[i])),
            .image = nodes[i].place.image,
            .address = (int64_t)nodes[i].place.address,
        };
        wndl_node_list_add(&list, &fields);
    }
    wndl_node_list_finish(&list);
}

/*
 * Reads the next nodes, up to `end` and up to the first that is not published
 * yet. At the end it reads up to the last: a gap is then a node that its thread
 * did not live to finish.
 */
static uint32_t read_nodes(const struct wndl_collector_process *p,
    struct placed *nodes, uint32_t end, bool last)
{
    uint32_t left = end > p->nodes ? end - p->nodes : 0;
    uint32_t most = left < NODES_PER_CHUNK ? left : NODES_PER_CHUNK;
    for (uint32_t i = 0; i < most; i++) {
        struct wndl_stacknode *node = &nodes[i].node;
        if (!wndl_stackreader_get(&p->tree, p->nodes + 1 + i, node)) {
            if (!last)
                return i;
            *node = (struct wndl_stacknode){0};
        }
        nodes[i].place = place_in_modules(p, node->key);
    }
    return most;
}

static void take_nodes(
    struct wndl_collector_process *p, uint32_t end, bool last)
{
    struct placed nodes[NODES_PER_CHUNK];
    uint32_t count;
    while ((count = read_nodes(p, nodes, end, last)) != 0) {
        place_unlisted(p, nodes, count);
        look_for_holes(p, nodes, count);
        put_nodes(p, nodes, count);
        p->nodes += count;
    }
}

/* The rest of the block can be anything if the tree's header is damaged. */
bool wndl_collector_process_is_intact(struct wndl_collector_process *p)
{
    if (wndl_stacktree_intact(p->tree.tree, p->tree.max_nodes))
        return true;
    p->totals->damaged++;
    return false;
}

/*
 * A node's module is listed before the node. A module that arrives while
 * modules are taken waits for the next time: by then another module may be
 * mapped at its address.
 */
void wndl_collector_process_take_intact(
    struct wndl_collector_process *p, bool last)
{
    uint32_t end = wndl_stackreader_count(&p->tree);
    take_modules(p);
    take_nodes(p, end, last);
}

void wndl_collector_process_take_stacks(
    struct wndl_collector_process *p, bool last)
{
    if (wndl_collector_process_is_intact(p))
        wndl_collector_process_take_intact(p, last);
}
