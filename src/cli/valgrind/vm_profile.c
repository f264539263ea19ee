/* SPDX-License-Identifier: MIT */
#include "cli/valgrind/vm_profile.h"

#include "analyze/callgraph/callgraph.h"
#include "analyze/vm/vm_graph.h"
#include "analyze/vm/vm_sites.h"
#include "analyze/vm/vm_startup.h"
#include "cli/core/command.h"
#include "cli/valgrind/profile_show.h"
#include "in/vm.h"
#include "model/graph_stack.h"

#include <inttypes.h>

static bool say_failure(const char *path, const struct wndl_error *err)
{
    char text[512];
    wndl_cli_error("%s: %s", path, wndl_error_text(err, text, sizeof text));
    return false;
}

static bool choose_memory(
    struct wndl_vm_profile *profile, const char *path, uint64_t bytes)
{
    const struct wndl_vm *vm = &profile->vm;
    for (uint32_t i = 0; i < vm->memory_count; i++) {
        const struct wndl_vm_memory *best = &vm->memories[profile->memory];
        if (bytes != 0 && vm->memories[i].bytes == bytes) {
            profile->memory = i;
            return true;
        }
        if (bytes == 0 && vm->memories[i].bytes < best->bytes)
            profile->memory = i;
    }
    if (bytes == 0)
        return true;
    wndl_cli_error(
        "%s: no memory of %" PRIu64 " bytes was simulated", path, bytes);
    return false;
}

static bool find_all(struct wndl_vm_profile *profile,
    const struct wndl_symbol_sources *sources, struct wndl_error *err)
{
    struct wndl_callgraph *g = &profile->graph;
    struct wndl_vm_places places;
    struct wndl_vm_graph graph = {g, &places, &profile->paths};
    enum wndl_status status =
        wndl_vm_graph(&graph, &profile->vm, profile->memory, sources);
    if (status != WNDL_OK) {
        wndl_graph_fail(status, 0, err);
        return false;
    }
    wndl_vec_init(&profile->sites, &g->arena, sizeof(struct wndl_vm_site));
    if (wndl_vm_sites_find(&profile->sites, &places, g, &profile->vm,
            profile->memory) == WNDL_OK &&
        wndl_vm_startup_find(&profile->startup, &profile->vm, sources,
            g->arena.mem) == WNDL_OK &&
        wndl_callgraph_finish(g, true))
        return true;
    wndl_fail(err, WNDL_NOMEM, "out of memory");
    return false;
}

static bool name_code(struct wndl_vm_profile *profile, const char *path,
    const struct wndl_symbol_options *symbols)
{
    struct wndl_error err = {0};
    struct wndl_profile_sources from;
    wndl_profile_sources_init(&from, symbols);
    return find_all(profile, &from.sources, &err) || say_failure(path, &err);
}

bool wndl_vm_profile_open(struct wndl_vm_profile *profile,
    struct wndl_bytes bytes, const char *path, uint64_t memory,
    const struct wndl_symbol_options *symbols)
{
    struct wndl_error err = {0};
    *profile = (struct wndl_vm_profile){0};
    wndl_vm_init(&profile->vm, wndl_mem_libc());
    bool is_open = wndl_callgraph_init(&profile->graph, wndl_mem_libc());
    if (!is_open)
        wndl_cli_error("out of memory");
    else if (wndl_vm_read(&profile->vm, bytes, &err) != WNDL_OK)
        is_open = say_failure(path, &err);
    is_open = is_open && choose_memory(profile, path, memory) &&
              name_code(profile, path, symbols);
    if (!is_open)
        wndl_vm_profile_close(profile);
    return is_open;
}

void wndl_vm_profile_close(struct wndl_vm_profile *profile)
{
    wndl_vm_startup_free(&profile->startup);
    wndl_callgraph_free(&profile->graph);
    wndl_vm_free(&profile->vm);
}

struct wndl_vm_view wndl_vm_profile_view(const struct wndl_vm_profile *profile)
{
    return (struct wndl_vm_view){
        .vm = &profile->vm,
        .graph = &profile->graph,
        .startup = &profile->startup,
        .sites = &profile->sites,
        .paths = &profile->paths,
        .memory = profile->memory,
    };
}
