/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "os/loader_list.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>

static uint64_t address_of(const void *p)
{
    return (uintptr_t)p;
}

/* Both ways find the same at `pc`. */
static void assert_same(uint64_t pc, size_t *count)
{
    struct wndl_dlmodule expected;
    struct wndl_dlmodule module;
    if (!wndl_dlfind(pc, &expected))
        return;
    (*count)++;
    assert_true(wndl_loader_list_find(pc, &module));
    assert_int_equal(module.map_start, expected.map_start);
    assert_true(pc < module.map_end);
    assert_true(module.map_end <= expected.map_end);
    assert_int_equal(module.bias.v, expected.bias.v);
    assert_ptr_equal(module.name, expected.name);
    assert_ptr_equal(module.link_map, expected.link_map);
    assert_ptr_equal(module.eh_frame_hdr, expected.eh_frame_hdr);
    assert_ptr_equal(module.exidx.data, expected.exidx.data);
}

static int compare_module(struct dl_phdr_info *info, size_t size, void *count)
{
    (void)size;
    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *ph = &info->dlpi_phdr[i];
        const uint64_t start = info->dlpi_addr + ph->p_vaddr;
        if (ph->p_type != PT_LOAD || ph->p_memsz == 0)
            continue;
        assert_same(start, count);
        assert_same(start + ph->p_memsz - 1, count);
    }
    return 0;
}

static void every_segment_is_found_as_by_glibc(void **state)
{
    (void)state;
    size_t count = 0;
    dl_iterate_phdr(compare_module, &count);
    assert_true(count > 8);
}

static void a_library_is_found_while_it_is_loaded(void **state)
{
    (void)state;
    struct wndl_dlmodule module;
    void *library = dlopen("libanl.so.1", RTLD_NOW);
    if (library == NULL)
        SKIP("there is no libanl.so.1");
    struct link_map *map;
    assert_int_equal(dlinfo(library, RTLD_DI_LINKMAP, &map), 0);
    const uint64_t inside = address_of(map->l_ld);
    assert_true(wndl_loader_list_find(inside, &module));
    assert_ptr_equal(module.link_map, map);
    dlclose(library);
    assert_false(wndl_loader_list_find(inside, &module));
}

static void memory_of_no_module_is_not_found(void **state)
{
    (void)state;
    struct wndl_dlmodule module;
    int on_the_stack = 0;
    assert_false(wndl_loader_list_find(address_of(&on_the_stack), &module));
    assert_false(wndl_loader_list_find(0, &module));
    assert_false(wndl_loader_list_find(8, &module));
    assert_false(wndl_loader_list_find(UINT64_MAX, &module));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_segment_is_found_as_by_glibc),
        cmocka_unit_test(a_library_is_found_while_it_is_loaded),
        cmocka_unit_test(memory_of_no_module_is_not_found),
    };
    return cmocka_run_group_tests_name("loader_list", tests, NULL, NULL);
}
