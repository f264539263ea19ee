/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "os/dlfind.h"
#include "rt/core/rt.h"
#include "rt/walk/modules.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

static int set_up(void **state)
{
    (void)state;
    void *memory = mmap(NULL, wndl_shm_size(1), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return -1;
    wndl_rt.shm = memory;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    return munmap(wndl_rt.shm, wndl_shm_size(1));
}

static uint64_t address_of_code(void)
{
    return (uintptr_t)&address_of_code;
}

static uint32_t rows(void)
{
    return atomic_load(&wndl_rt.shm->module_count);
}

static void module_is_listed_once(void **state)
{
    (void)state;
    uint32_t owner = 0;
    assert_true(wndl_rt_module_note((uintptr_t)&getpid, &owner));
    assert_int_equal(owner, 1);
    assert_true(wndl_rt_module_note(address_of_code(), &owner));
    assert_int_equal(owner, 2);
    assert_true(wndl_rt_module_note(address_of_code() + 1, &owner));
    assert_int_equal(owner, 2);
    assert_true(wndl_rt_module_note((uintptr_t)&getpid, &owner));
    assert_int_equal(owner, 1);
    assert_int_equal(rows(), 2);
    assert_int_equal(wndl_rt.shm->modules_come, 2);
}

static void row_has_the_place_and_the_path(void **state)
{
    (void)state;
    uint64_t address = (uintptr_t)&getpid;
    struct wndl_dlmodule module;
    uint32_t owner;
    assert_true(wndl_dlfind(address, &module));
    assert_true(wndl_rt_module_note(address, &owner));
    const struct wndl_shm_module *row = &wndl_rt.shm->modules[0];
    assert_true(row->start == module.map_start && row->end == module.map_end);
    assert_true(row->bias == module.bias.v);
    assert_int_equal(row->path_size, strlen(module.name));
    assert_memory_equal(
        wndl_rt.shm->strings + row->path_offset, module.name, row->path_size);
    assert_int_equal(row->ready, 1);
    assert_int_equal(row->mapped, 1);
}

static void code_of_no_module_is_not_listed(void **state)
{
    (void)state;
    uint32_t owner = 77;
    assert_true(wndl_rt_module_note(16, &owner));
    assert_int_equal(owner, 77);
    assert_int_equal(rows(), 0);
}

static void full_list_is_told(void **state)
{
    (void)state;
    uint32_t owner;
    atomic_store(&wndl_rt.shm->module_count, WNDL_SHM_MODULES);
    assert_false(wndl_rt_module_note(address_of_code(), &owner));
}

static void full_memory_of_paths_is_told(void **state)
{
    (void)state;
    uint32_t owner;
    atomic_store(&wndl_rt.shm->string_bytes, WNDL_SHM_STRINGS);
    assert_false(wndl_rt_module_note((uintptr_t)&getpid, &owner));
}

static void recheck_leaves_what_is_still_there(void **state)
{
    (void)state;
    uint32_t owner;
    assert_true(wndl_rt_module_note(address_of_code(), &owner));
    wndl_rt_modules_recheck();
    assert_int_equal(wndl_rt.shm->modules[0].mapped, 1);
}

static void unloaded_module_is_mapped_no_more(void **state)
{
    (void)state;
    uint32_t owner, age = atomic_load(&wndl_rt.rules_age);
    void *plugin = dlopen(PLUGIN, RTLD_NOW);
    assert_non_null(plugin);
    const struct link_map *map = plugin;
    assert_true(wndl_rt_module_note((uintptr_t)map->l_ld, &owner));
    assert_true(wndl_rt_module_note(address_of_code(), &owner));
    assert_int_equal(rows(), 2);
    assert_int_equal(dlclose(plugin), 0);
    wndl_rt_modules_recheck();
    assert_int_equal(wndl_rt.shm->modules[0].mapped, 0);
    assert_int_equal(wndl_rt.shm->modules[1].mapped, 1);
    assert_int_equal(wndl_rt.rules_age, age + 1);
}

/* The row of the plugin, which is loaded for this and unloaded again. */
static uint32_t come_and_go(uintptr_t *place)
{
    uint32_t owner = 0;
    void *plugin = dlopen(PLUGIN, RTLD_NOW);
    assert_non_null(plugin);
    const struct link_map *map = plugin;
    *place = map->l_addr;
    assert_true(wndl_rt_module_note((uintptr_t)map->l_ld, &owner));
    assert_int_equal(wndl_rt.shm->modules[owner - 1].mapped, 1);
    assert_int_equal(dlclose(plugin), 0);
    wndl_rt_modules_recheck();
    assert_int_equal(wndl_rt.shm->modules[owner - 1].mapped, 0);
    return owner;
}

static void module_that_comes_back_has_its_row(void **state)
{
    (void)state;
    enum { TIMES = 50 };
    uintptr_t places[TIMES + 1] = {0};
    for (size_t i = 0; i < TIMES; i++) {
        uintptr_t place;
        uint32_t owner = come_and_go(&place);
        assert_in_range(owner, 1, TIMES);
        assert_true(places[owner] == 0 || places[owner] == place);
        for (size_t k = 1; k <= TIMES; k++)
            assert_true(k == owner || places[k] != place);
        places[owner] = place;
    }
    assert_int_equal(wndl_rt.shm->modules_come, TIMES);
}

static void another_module_at_its_place_has_another_row(void **state)
{
    (void)state;
    uintptr_t first, place;
    assert_int_equal(come_and_go(&first), 1);
    wndl_rt.shm->modules[0].build_id[3] ^= 1;
    wndl_rt.shm->modules[0].build_id_size = 20;
    assert_int_equal(come_and_go(&place), 2);
    wndl_rt.shm->strings[wndl_rt.shm->modules[1].path_offset] ^= 1;
    assert_int_equal(come_and_go(&place), 3);
    wndl_rt.shm->modules[2].end += 4096;
    assert_int_equal(come_and_go(&place), 4);
}

/* ---- notes: images in memory whose header has one segment of notes */

struct note {
    ElfW(Nhdr) head;
    char name[4];
    uint8_t contents[8];
};

static struct {
    _Alignas(4096) ElfW(Ehdr) header;
    ElfW(Phdr) segments[2];
    struct note notes[2];
} image;

static struct wndl_dlmodule image_with(uint32_t type, const char name[4])
{
    image.header = (ElfW(Ehdr)){
        .e_ident = ELFMAG, .e_phoff = sizeof image.header, .e_phnum = 2};
    image.header.e_phentsize = sizeof image.segments[0];
    image.segments[0] = (ElfW(Phdr)){.p_type = PT_LOAD,
        .p_flags = PF_R,
        .p_filesz = sizeof image,
        .p_memsz = sizeof image};
    image.segments[1] = (ElfW(Phdr)){.p_type = PT_NOTE,
        .p_vaddr = offsetof(__typeof__(image), notes),
        .p_filesz = sizeof image.notes};
    image.notes[0] = (struct note){{4, 8, 99}, "XYZ", {0}};
    image.notes[1] = (struct note){{4, 8, type}, "", "build-i"};
    memcpy(image.notes[1].name, name, 4);
    return (struct wndl_dlmodule){
        .map_start = (uintptr_t)&image,
        .map_end = (uintptr_t)(&image + 1),
        .bias = {(uintptr_t)&image},
        .name = "image",
    };
}

static void build_id_is_the_notes_contents(void **state)
{
    (void)state;
    struct wndl_dlmodule module = image_with(NT_GNU_BUILD_ID, "GNU");
    struct wndl_bytes id = wndl_rt_module_build_id(&module);
    assert_int_equal(id.size, 8);
    assert_ptr_equal(id.data, image.notes[1].contents);
    assert_false(wndl_rt_module_is_go(&module));
}

static void note_of_another_type_or_name_is_no_build_id(void **state)
{
    (void)state;
    struct wndl_dlmodule module = image_with(NT_GNU_ABI_TAG, "GNU");
    assert_int_equal(wndl_rt_module_build_id(&module).size, 0);
    module = image_with(NT_GNU_BUILD_ID, "GNV");
    assert_int_equal(wndl_rt_module_build_id(&module).size, 0);
}

static void program_of_gos_linker_has_its_note(void **state)
{
    (void)state;
    struct wndl_dlmodule module = image_with(4, "Go\0");
    assert_true(wndl_rt_module_is_go(&module));
}

static void note_that_ends_after_its_segment_is_none(void **state)
{
    (void)state;
    struct wndl_dlmodule module = image_with(NT_GNU_BUILD_ID, "GNU");
    image.notes[1].head.n_descsz = 9;
    assert_int_equal(wndl_rt_module_build_id(&module).size, 0);
}

static void path_is_the_mapped_files(void **state)
{
    (void)state;
    struct wndl_dlmodule module;
    char path[WNDL_RT_MODULE_PATH], mine[WNDL_RT_MODULE_PATH] = "";
    assert_true(readlink("/proc/self/exe", mine, sizeof mine - 1) > 0);
    assert_true(wndl_dlfind(address_of_code(), &module));
    assert_true(wndl_rt_module_path(&module, path));
    assert_string_equal(path, mine);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(module_is_listed_once),
        TEST(row_has_the_place_and_the_path),
        TEST(code_of_no_module_is_not_listed),
        TEST(full_list_is_told),
        TEST(full_memory_of_paths_is_told),
        TEST(recheck_leaves_what_is_still_there),
        TEST(unloaded_module_is_mapped_no_more),
        TEST(module_that_comes_back_has_its_row),
        TEST(another_module_at_its_place_has_another_row),
        TEST(build_id_is_the_notes_contents),
        TEST(note_of_another_type_or_name_is_no_build_id),
        TEST(program_of_gos_linker_has_its_note),
        TEST(note_that_ends_after_its_segment_is_none),
        TEST(path_is_the_mapped_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
