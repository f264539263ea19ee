/* SPDX-License-Identifier: MIT */
#include "testlib.h"

#include "os/dlfind.h"

#include <elf.h>
#include <link.h>
#include <sys/mman.h>

enum { PAGE = 4096, PAGES = 4 };

static uint64_t address_of(const void *p)
{
    return (uintptr_t)p;
}

/*
 * An image as the loader leaves it: its first page is mapped, and after a
 * hole the last one. The table of program headers is at `table` of it.
 */
static uint8_t *map_image(uint64_t table)
{
    uint8_t *image = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_true(image != MAP_FAILED);
    const ElfW(Ehdr) header = {
        .e_ident = ELFMAG,
        .e_phoff = table,
        .e_phentsize = sizeof(ElfW(Phdr)),
        .e_phnum = 1,
    };
    const ElfW(Phdr) load = {
        .p_type = PT_LOAD,
        .p_flags = PF_R,
        .p_filesz = PAGE,
    };
    memcpy(image, &header, sizeof header);
    memcpy(image + table, &load, sizeof load);
    assert_int_equal(mprotect(image + PAGE, (PAGES - 2) * PAGE, PROT_NONE), 0);
    return image;
}

static struct wndl_dlmodule module_of(const uint8_t *image)
{
    return (struct wndl_dlmodule){
        .map_start = address_of(image),
        .map_end = address_of(image) + PAGES * PAGE,
        .bias = {address_of(image)},
        .name = "image",
    };
}

static void own_code_is_found_with_its_segment(void **state)
{
    (void)state;
    struct wndl_dlmodule module;
    uint64_t pc = (uintptr_t)&own_code_is_found_with_its_segment;
    assert_true(wndl_dlfind(pc, &module));
    assert_string_equal(module.name, "");
    assert_true(module.map_start <= pc && pc < module.map_end);
    struct wndl_bytes rest = wndl_dlmodule_from(&module, pc);
    assert_true(address_of(rest.data) == pc && rest.size != 0);
    assert_true(pc + rest.size <= module.map_end);
    int on_the_stack = 0;
    assert_false(wndl_dlfind(address_of(&on_the_stack), &module));
}

static void bytes_reach_to_the_end_of_the_segment(void **state)
{
    (void)state;
    uint8_t *image = map_image(sizeof(ElfW(Ehdr)));
    struct wndl_dlmodule module = module_of(image);
    struct wndl_bytes rest = wndl_dlmodule_from(&module, address_of(image) + 9);
    assert_true(rest.data == image + 9 && rest.size == PAGE - 9);
    rest = wndl_dlmodule_from(&module, address_of(image) + PAGE);
    assert_true(rest.size == 0);
    munmap(image, PAGES * PAGE);
}

/* Tools that add segments move the table to a segment of their own. */
static void headers_that_may_not_be_mapped_are_not_read(void **state)
{
    (void)state;
    for (uint64_t table = PAGE - 8; table < (PAGES - 1) * PAGE; table += PAGE) {
        uint8_t *image = map_image(table);
        struct wndl_dlmodule module = module_of(image);
        struct wndl_bytes rest = wndl_dlmodule_from(&module, address_of(image));
        assert_true(rest.size == 0);
        munmap(image, PAGES * PAGE);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_code_is_found_with_its_segment),
        cmocka_unit_test(bytes_reach_to_the_end_of_the_segment),
        cmocka_unit_test(headers_that_may_not_be_mapped_are_not_read),
    };
    return cmocka_run_group_tests_name("dlfind", tests, NULL, NULL);
}
