/* SPDX-License-Identifier: MIT */
/* analyze/vm/vm_code_map.h: files whose addresses overlap. */
#include "analyze/vm/vm_code_map.h"

#include "testlib.h"

enum { NOWHERE = -1 };

static void add_code(struct wndl_vm *vm, uint64_t start, uint64_t end)
{
    struct wndl_vm_code *code = wndl_vec_push(&vm->code);
    *code = (struct wndl_vm_code){.start = start, .end = end, .path = "/f"};
}

static int code_at(const struct wndl_vm_code_map *map, uint64_t ip)
{
    const struct wndl_vm_piece *piece = wndl_vm_code_map_find(map, ip);
    return piece == NULL ? NOWHERE : (int)piece->code;
}

/* The last code that covers `ip`, by a search of all. */
static int slow_code_at(const struct wndl_vm *vm, uint64_t ip)
{
    for (size_t i = vm->code.len; i-- > 0;) {
        const struct wndl_vm_code *code = wndl_vec_at(&vm->code, i);
        if (ip >= code->start && ip < code->end)
            return (int)i;
    }
    return NOWHERE;
}

static void later_code_stands_for_all_at_its_addresses(void **state)
{
    (void)state;
    struct wndl_vm vm;
    struct wndl_vm_code_map map;
    wndl_vm_init(&vm, wndl_mem_libc());
    add_code(&vm, 0x1000, 0x5000);
    add_code(&vm, 0x2000, 0x3000); /* inside of the first */
    assert_true(wndl_vm_code_map_fill(&map, &vm.arena, &vm.code));
    assert_int_equal(map.pieces.len, 3);
    assert_int_equal(code_at(&map, 0xfff), NOWHERE);
    assert_int_equal(code_at(&map, 0x1000), 0);
    assert_int_equal(code_at(&map, 0x2000), 1);
    assert_int_equal(code_at(&map, 0x2fff), 1);
    assert_int_equal(code_at(&map, 0x3000), 0);
    assert_int_equal(code_at(&map, 0x5000), NOWHERE);
    wndl_vm_free(&vm);
}

static void any_code_is_found_as_by_a_search_of_all(void **state)
{
    (void)state;
    uint32_t random = 35;
    for (int round = 0; round < 200; round++) {
        struct wndl_vm vm;
        struct wndl_vm_code_map map;
        wndl_vm_init(&vm, wndl_mem_libc());
        for (int i = 0; i < round % 12; i++) {
            random = random * 1103515245u + 12345u;
            const uint64_t start = random >> 8 & 63;
            add_code(&vm, start, start + (random >> 16 & 31));
        }
        assert_true(wndl_vm_code_map_fill(&map, &vm.arena, &vm.code));
        for (uint64_t ip = 0; ip < 100; ip++)
            assert_int_equal(code_at(&map, ip), slow_code_at(&vm, ip));
        wndl_vm_free(&vm);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(later_code_stands_for_all_at_its_addresses),
        cmocka_unit_test(any_code_is_found_as_by_a_search_of_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
