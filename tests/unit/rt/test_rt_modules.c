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
    atomic_store(&wndl_rt.epoch, 3);
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
    uint32_t epoch = 0;
    assert_true(wndl_rt_module_note(address_of_code(), &epoch));
    assert_int_equal(epoch, 3);
    atomic_store(&wndl_rt.epoch, 4);
    assert_true(wndl_rt_module_note(address_of_code() + 1, &epoch));
    assert_int_equal(epoch, 3);
    assert_int_equal(rows(), 1);
}

static void row_has_the_place_and_the_path(void **state)
{
    (void)state;
    uint64_t address = (uintptr_t)&getpid;
    struct wndl_dlmodule module;
    uint32_t epoch;
    assert_true(wndl_dlfind(address, &module));
    assert_true(wndl_rt_module_note(address, &epoch));
    const struct wndl_shm_module *row = &wndl_rt.shm->modules[0];
    assert_true(row->start == module.map_start && row->end == module.map_end);
    assert_true(row->bias == module.bias.v);
    assert_int_equal(row->path_size, strlen(module.name));
    assert_memory_equal(
        wndl_rt.shm->strings + row->path_offset, module.name, row->path_size);
    assert_int_equal(row->ready, 1);
    assert_int_equal(row->last_epoch, WNDL_SHM_EPOCHS);
}

static void code_of_no_module_is_not_listed(void **state)
{
    (void)state;
    uint32_t epoch = 77;
    assert_true(wndl_rt_module_note(16, &epoch));
    assert_int_equal(epoch, 77);
    assert_int_equal(rows(), 0);
}

static void full_list_is_told(void **state)
{
    (void)state;
    uint32_t epoch;
    atomic_store(&wndl_rt.shm->module_count, WNDL_SHM_MODULES);
    assert_false(wndl_rt_module_note(address_of_code(), &epoch));
}

static void full_memory_of_paths_is_told(void **state)
{
    (void)state;
    uint32_t epoch;
    atomic_store(&wndl_rt.shm->string_bytes, WNDL_SHM_STRINGS);
    assert_false(wndl_rt_module_note((uintptr_t)&getpid, &epoch));
}

static void recheck_leaves_what_is_still_there(void **state)
{
    (void)state;
    uint32_t epoch;
    assert_true(wndl_rt_module_note(address_of_code(), &epoch));
    wndl_rt_modules_recheck();
    assert_int_equal(wndl_rt.epoch, 3);
    assert_int_equal(wndl_rt.shm->modules[0].last_epoch, WNDL_SHM_EPOCHS);
}

static void unloaded_module_ends_its_epoch(void **state)
{
    (void)state;
    uint32_t epoch, age = atomic_load(&wndl_rt.rules_age);
    void *plugin = dlopen(PLUGIN, RTLD_NOW);
    assert_non_null(plugin);
    const struct link_map *map = plugin;
    assert_true(wndl_rt_module_note((uintptr_t)map->l_ld, &epoch));
    assert_true(wndl_rt_module_note(address_of_code(), &epoch));
    assert_int_equal(rows(), 2);
    assert_int_equal(dlclose(plugin), 0);
    wndl_rt_modules_recheck();
    assert_int_equal(wndl_rt.shm->modules[0].last_epoch, 3);
    assert_int_equal(wndl_rt.shm->modules[1].last_epoch, WNDL_SHM_EPOCHS);
    assert_int_equal(wndl_rt.epoch, 4);
    assert_int_equal(wndl_rt.rules_age, age + 1);
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
        TEST(unloaded_module_ends_its_epoch),
        TEST(build_id_is_the_notes_contents),
        TEST(note_of_another_type_or_name_is_no_build_id),
        TEST(program_of_gos_linker_has_its_note),
        TEST(note_that_ends_after_its_segment_is_none),
        TEST(path_is_the_mapped_files),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
