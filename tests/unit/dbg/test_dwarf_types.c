/* SPDX-License-Identifier: MIT */
/* Types: members, paths, declarations, pointers in scope, damage. */
#include "dwarf_fixture.h"

#include "dbg/dwarf/types.h"

/* Abbreviations of the sample. */
enum {
    UNIT = 1,
    STRUCT,
    MEMBER,
    BITS,
    BASE,
    POINTER,
    ARRAY,
    RANGE,
    ALIAS,
    DECLARED,
    INHERITS,
    FUNCTION,
    VARIABLE,
};

struct world {
    struct wndl_dwarf *d;
    struct wndl_types *types;
    struct wndl_mem *mem;
};

/* Forms. */
enum {
    ADDR = 1,
    STRING = 8,
    BLOCK1 = 0xa,
    DATA1 = 0xb,
    FLAG = 0xc,
    REF = 0x10
};

static void make_abbrevs(struct dwarfmake *m)
{
    const bool is_old = m->how.version < 4;
    const uint16_t at = is_old ? BLOCK1 : DATA1;
    const uint16_t unit[] = {0x11, ADDR, 0x12, ADDR, 0};
    const uint16_t sized[] = {0x3, STRING, 0xb, DATA1, 0};
    const uint16_t member[] = {0x3, STRING, 0x49, REF, 0x38, at, 0};
    const uint16_t old_bits[] = {0x3, STRING, 0x49, REF, 0x38, at, 0xb, DATA1,
        0xd, DATA1, 0xc, DATA1, 0};
    const uint16_t bits[] = {
        0x3, STRING, 0x49, REF, 0xd, DATA1, 0x6b, DATA1, 0};
    const uint16_t base[] = {0x3, STRING, 0xb, DATA1, 0x3e, DATA1, 0};
    const uint16_t type[] = {0x49, REF, 0};
    const uint16_t range[] = {0x2f, DATA1, 0};
    const uint16_t alias[] = {0x3, STRING, 0x49, REF, 0};
    const uint16_t declared[] = {0x3, STRING, 0x3c, FLAG, 0};
    const uint16_t inherits[] = {0x49, REF, 0x38, at, 0};
    const uint16_t function[] = {0x3, STRING, 0x11, ADDR, 0x12, ADDR, 0};
    const uint16_t variable[] = {0x3, STRING, 0x49, REF, 0x3b, DATA1, 0};
    dw_abbrev(m, UNIT, 0x11, true, unit);
    dw_abbrev(m, STRUCT, 0x13, true, sized);
    dw_abbrev(m, MEMBER, 0xd, false, member);
    dw_abbrev(m, BITS, 0xd, false, is_old ? old_bits : bits);
    dw_abbrev(m, BASE, 0x24, false, base);
    dw_abbrev(m, POINTER, 0xf, false, type);
    dw_abbrev(m, ARRAY, 0x1, true, type);
    dw_abbrev(m, RANGE, 0x21, false, range);
    dw_abbrev(m, ALIAS, 0x16, false, alias);
    dw_abbrev(m, DECLARED, 0x13, false, declared);
    dw_abbrev(m, INHERITS, 0x1c, false, inherits);
    dw_abbrev(m, FUNCTION, 0x2e, true, function);
    dw_abbrev(m, VARIABLE, 0x34, false, variable);
    wndl_buf_byte(&m->abbrev, 0);
}

/* Begins a DIE; returns its offset. */
static size_t die(struct dwarfmake *m, unsigned code, const char *name)
{
    const size_t at = m->info.size;
    wndl_buf_byte(&m->info, (uint8_t)code);
    if (name != NULL)
        dw_string(&m->info, name);
    return at;
}

static size_t sized(
    struct dwarfmake *m, unsigned code, const char *name, unsigned size)
{
    const size_t at = die(m, code, name);
    wndl_buf_byte(&m->info, (uint8_t)size);
    if (code == BASE)
        wndl_buf_byte(&m->info, 5);
    return at;
}

/* DW_FORM_ref_addr is as large as an address in DWARF 2. */
static void refer(struct dwarfmake *m, size_t to)
{
    dw_uint(m, &m->info, to,
        m->how.version == 2 ? m->how.address_size : m->how.offset_size);
}

static void place(struct dwarfmake *m, unsigned at)
{
    if (m->how.version < 4) {
        wndl_buf_byte(&m->info, 2);
        wndl_buf_byte(&m->info, 0x23);
    }
    wndl_buf_byte(&m->info, (uint8_t)at);
}

static void member(
    struct dwarfmake *m, const char *name, size_t type, unsigned at)
{
    die(m, MEMBER, name);
    refer(m, type);
    place(m, at);
}

/* In storage of 4 bytes at byte 8. */
static void bits(struct dwarfmake *m, const char *name, size_t type,
    unsigned from, unsigned count)
{
    die(m, BITS, name);
    refer(m, type);
    if (m->how.version >= 4) {
        wndl_buf_byte(&m->info, (uint8_t)count);
        wndl_buf_byte(&m->info, (uint8_t)(64 + from));
        return;
    }
    place(m, 8);
    wndl_buf_byte(&m->info, 4);
    wndl_buf_byte(&m->info, (uint8_t)count);
    wndl_buf_byte(
        &m->info, (uint8_t)(m->how.big_endian ? from : 32 - from - count));
}

static size_t typed(
    struct dwarfmake *m, unsigned code, const char *name, size_t type)
{
    const size_t at = die(m, code, name);
    refer(m, type);
    return at;
}

/*
 * struct pair { char a; int b; };
 * struct node { node *next; int low:3, mid:7; list tail[4]; other *o; };
 *   with typedef pair list, and `other` declared here, complete in unit 2
 * struct derived : node { int more; };
 * f() at [0x1000, 0x1010) has `node *p`, at line 7
 */
static void make_types(struct dwarfmake *m)
{
    make_abbrevs(m);
    size_t begun = dw_begin_unit(m, 0);
    die(m, UNIT, NULL);
    dw_address(m, &m->info, 0x1000);
    dw_address(m, &m->info, 0x1010);
    const size_t number = sized(m, BASE, "int", 4);
    const size_t character = sized(m, BASE, "char", 1);
    const size_t pair = sized(m, STRUCT, "pair", 8);
    member(m, "a", character, 0);
    member(m, "b", number, 4);
    die(m, 0, NULL);
    const size_t list = typed(m, ALIAS, "list", pair);
    const size_t tail = typed(m, ARRAY, NULL, list);
    die(m, RANGE, NULL);
    wndl_buf_byte(&m->info, 3);
    die(m, 0, NULL);
    const size_t other = sized(m, DECLARED, "other", 1);
    const size_t to_other = typed(m, POINTER, NULL, other);
    /* The pointer to node comes first, so node's place is written later. */
    const size_t to_node = typed(m, POINTER, NULL, 0);
    const size_t node = sized(m, STRUCT, "node", 56);
    const size_t size =
        m->how.version == 2 ? m->how.address_size : m->how.offset_size;
    dw_patch(m, &m->info, to_node + 1, node, size);
    member(m, "next", to_node, 0);
    bits(m, "low", number, 0, 3);
    bits(m, "mid", number, 3, 7);
    member(m, "tail", tail, 16);
    member(m, "o", to_other, 48);
    die(m, 0, NULL);
    sized(m, STRUCT, "derived", 60);
    typed(m, INHERITS, NULL, node);
    place(m, 0);
    member(m, "more", number, 56);
    die(m, 0, NULL);
    die(m, FUNCTION, "f");
    dw_address(m, &m->info, 0x1000);
    dw_address(m, &m->info, 0x1010);
    typed(m, VARIABLE, "p", to_node);
    wndl_buf_byte(&m->info, 7);
    typed(m, VARIABLE, "n", number);
    wndl_buf_byte(&m->info, 8);
    die(m, 0, NULL);
    die(m, 0, NULL);
    dw_end(m, &m->info, begun);
    begun = dw_begin_unit(m, 0);
    die(m, UNIT, NULL);
    dw_address(m, &m->info, 0x2000);
    dw_address(m, &m->info, 0x2010);
    const size_t inner = sized(m, BASE, "long", 8);
    sized(m, STRUCT, "other", 24);
    member(m, "x", inner, 16);
    die(m, 0, NULL);
    die(m, 0, NULL);
    dw_end(m, &m->info, begun);
}

static struct world open_world(const struct dwarfmake *m)
{
    struct world w = {.d = open_made(m), .mem = wndl_mem_libc()};
    assert_int_equal(wndl_types_open(w.d, w.mem, &w.types), WNDL_OK);
    return w;
}

static void close_world(struct world *w)
{
    wndl_types_close(w->types);
    wndl_dwarf_close(w->d);
}

static const struct wndl_type *find(struct world *w, const char *name)
{
    const struct wndl_type *type = NULL;
    assert_int_equal(
        wndl_types_find(w->types, name, (wndl_svma){0}, &type), WNDL_OK);
    return type;
}

/* "" where there is no member. */
static void check_path(struct world *w, const char *type, const char *expected,
    uint64_t offset, uint64_t size)
{
    struct wndl_buf out;
    wndl_buf_init(&out, w->mem);
    const enum wndl_status status =
        wndl_types_path(w->types, find(w, type), offset, size, &out);
    wndl_buf_byte(&out, 0);
    assert_string_equal((const char *)out.data, expected);
    assert_int_equal(status, expected[0] == '\0' ? WNDL_NOT_FOUND : WNDL_OK);
    wndl_buf_free(&out);
}

static void check_types(struct world *w, bool is_big)
{
    check_path(w, "struct node", "next", 0, 8);
    check_path(w, "node", "next+4", 4, 4);
    check_path(w, "node", "low,mid", 8, is_big ? 4 : 2);
    check_path(w, "node", "", 12, 4);
    check_path(w, "node", "tail[0].a", 16, 1);
    check_path(w, "node", "tail[3].b", 16 + 3 * 8 + 4, 4);
    check_path(w, "node", "tail[1..2]", 24, 16);
    check_path(w, "node", "", 17, 1);
    check_path(w, "node", "o", 48, 8);
    check_path(w, "node", "", 56, 8);
    check_path(w, "derived", "node::tail[1].b", 28, 4);
    check_path(w, "derived", "more", 56, 4);
    check_path(w, "list", "b", 4, 4);
    check_path(w, "node", "", UINT64_MAX, 8);
}

static void check_declared(struct world *w)
{
    const struct wndl_type_member *members;
    const struct wndl_type *target;
    size_t count;
    assert_int_equal(
        wndl_types_members(w->types, find(w, "node"), &members, &count),
        WNDL_OK);
    assert_int_equal(count, 5);
    assert_int_equal(members[1].bits, 3);
    assert_int_equal(members[2].bit_at, 67);
    assert_int_equal(
        wndl_types_target(w->types, members[4].type, &target), WNDL_OK);
    assert_true(target->is_declaration);
    assert_int_equal(wndl_types_strip(w->types, target, &target), WNDL_OK);
    assert_int_equal(target->size, 24);
}

static void check_scope(struct world *w)
{
    struct wndl_arena arena;
    struct wndl_vec pointers;
    wndl_arena_init(&arena, w->mem);
    wndl_vec_init(&pointers, &arena, sizeof(struct wndl_type_pointer));
    assert_int_equal(
        wndl_types_pointers_at(w->types, (wndl_svma){0x1004}, &pointers),
        WNDL_OK);
    assert_int_equal(pointers.len, 1);
    const struct wndl_type_pointer *p = wndl_vec_at(&pointers, 0);
    assert_int_equal(p->line, 7);
    assert_int_equal(p->depth, 0);
    assert_int_equal(p->target->size, 56);
    assert_int_equal(
        wndl_types_pointers_at(w->types, (wndl_svma){0x3000}, &pointers),
        WNDL_NOT_FOUND);
    wndl_arena_free(&arena);
}

static void types_of_all_versions(void **state)
{
    (void)state;
    for (unsigned version = 2; version <= 5; version++)
        for (unsigned i = 0; i < 8; i++) {
            const struct dwarf_recipe how = {version, i & 1 ? 8 : 4,
                i & 2 && version > 2 ? 8 : 4, (i & 4) != 0, false};
            struct dwarfmake m;
            struct wndl_error damage;
            dwarfmake_init(&m, &how);
            make_types(&m);
            struct world w = open_world(&m);
            if (how.address_size == 8)
                check_types(&w, how.big_endian);
            check_declared(&w);
            check_scope(&w);
            assert_int_equal(wndl_types_damage(w.types, &damage), 0);
            close_world(&w);
            dwarfmake_free(&m);
        }
}

static void a_name_that_is_nowhere_is_not_found(void **state)
{
    (void)state;
    struct dwarfmake m;
    const struct wndl_type *type;
    dwarfmake_init(&m, &plain);
    make_types(&m);
    struct world w = open_world(&m);
    assert_int_equal(
        wndl_types_find(w.types, "nothing", (wndl_svma){0x1000}, &type),
        WNDL_NOT_FOUND);
    assert_int_equal(
        wndl_types_find(w.types, "p", (wndl_svma){0}, &type), WNDL_NOT_FOUND);
    close_world(&w);
    dwarfmake_free(&m);
}

/* A member whose type is in no unit is lost alone, and counted. */
static void damage_is_counted(void **state)
{
    (void)state;
    struct dwarfmake m;
    struct wndl_error damage;
    dwarfmake_init(&m, &plain);
    make_abbrevs(&m);
    size_t begun = dw_begin_unit(&m, 0);
    die(&m, UNIT, NULL);
    dw_address(&m, &m.info, 0x1000);
    dw_address(&m, &m.info, 0x1010);
    const size_t number = sized(&m, BASE, "int", 4);
    sized(&m, STRUCT, "hurt", 8);
    member(&m, "gone", 0x7777, 0);
    member(&m, "kept", number, 4);
    die(&m, 0, NULL);
    die(&m, 0, NULL);
    dw_end(&m, &m.info, begun);
    struct world w = open_world(&m);
    check_path(&w, "hurt", "kept", 4, 4);
    check_path(&w, "hurt", "", 0, 4);
    assert_int_equal(wndl_types_damage(w.types, &damage), 1);
    assert_string_equal(damage.section, ".debug_info");
    close_world(&w);
    dwarfmake_free(&m);
}

static void aliases_in_a_circle_end(void **state)
{
    (void)state;
    struct dwarfmake m;
    struct wndl_error damage;
    const struct wndl_type *stripped;
    dwarfmake_init(&m, &plain);
    make_abbrevs(&m);
    size_t begun = dw_begin_unit(&m, 0);
    die(&m, UNIT, NULL);
    dw_address(&m, &m.info, 0x1000);
    dw_address(&m, &m.info, 0x1010);
    const size_t loop = typed(&m, ALIAS, "loop", 0);
    dw_patch(&m, &m.info, loop + 1 + sizeof "loop", loop, 4);
    die(&m, 0, NULL);
    dw_end(&m, &m.info, begun);
    struct world w = open_world(&m);
    assert_int_equal(
        wndl_types_strip(w.types, find(&w, "loop"), &stripped), WNDL_NOT_FOUND);
    assert_int_equal(wndl_types_damage(w.types, &damage), 1);
    close_world(&w);
    dwarfmake_free(&m);
}

/* Asks for all that there is; any answer will do. */
static enum wndl_status ask_all(
    const struct wndl_dwarf_sections *in, struct wndl_mem *mem)
{
    static const char *const names[] = {"node", "derived", "other", "list"};
    struct wndl_dwarf *d;
    struct wndl_types *types;
    struct wndl_buf out;
    struct wndl_error err = {0};
    enum wndl_status worst = wndl_dwarf_open(in, mem, &d, &err);
    if (worst != WNDL_OK)
        return worst;
    worst = wndl_types_open(d, mem, &types);
    if (worst != WNDL_OK) {
        wndl_dwarf_close(d);
        return worst;
    }
    wndl_buf_init(&out, mem);
    for (size_t i = 0; i < sizeof names / sizeof *names && worst == WNDL_OK;
         i++) {
        const struct wndl_type *type;
        enum wndl_status status =
            wndl_types_find(types, names[i], (wndl_svma){0x1000}, &type);
        for (uint64_t at = 0; at < 64 && status == WNDL_OK; at += 4) {
            status = wndl_types_path(types, type, at, 4, &out);
            status = status == WNDL_NOT_FOUND ? WNDL_OK : status;
        }
        worst = status == WNDL_NOMEM ? status : WNDL_OK;
    }
    struct wndl_arena arena;
    struct wndl_vec pointers;
    wndl_arena_init(&arena, mem);
    wndl_vec_init(&pointers, &arena, sizeof(struct wndl_type_pointer));
    if (worst == WNDL_OK && wndl_types_pointers_at(types, (wndl_svma){0x1004},
                                &pointers) == WNDL_NOMEM)
        worst = WNDL_NOMEM;
    wndl_arena_free(&arena);
    wndl_buf_free(&out);
    wndl_types_close(types);
    wndl_dwarf_close(d);
    return worst;
}

static void ask_cut_info(struct wndl_bytes prefix, void *context)
{
    struct wndl_dwarf_sections in = dwarfmake_sections(context);
    in.info = prefix;
    (void)ask_all(&in, wndl_mem_libc());
}

static void ask_cut_abbrev(struct wndl_bytes prefix, void *context)
{
    struct wndl_dwarf_sections in = dwarfmake_sections(context);
    in.abbrev = prefix;
    (void)ask_all(&in, wndl_mem_libc());
}

static void cut_at_every_byte(void **state)
{
    (void)state;
    struct dwarfmake m;
    dwarfmake_init(&m, &plain);
    make_types(&m);
    const struct wndl_dwarf_sections in = dwarfmake_sections(&m);
    for_each_truncation(in.info, ask_cut_info, &m);
    for_each_truncation(in.abbrev, ask_cut_abbrev, &m);
    dwarfmake_free(&m);
}

/* Each allocation fails once: no leak, and NOMEM. */
static void memory_runs_out(void **state)
{
    (void)state;
    struct dwarfmake m;
    struct failing_mem f;
    enum wndl_status status = WNDL_NOMEM;
    dwarfmake_init(&m, &plain);
    make_types(&m);
    const struct wndl_dwarf_sections in = dwarfmake_sections(&m);
    for (long budget = 0; status == WNDL_NOMEM; budget++) {
        failing_mem_init(&f, budget);
        status = ask_all(&in, &f.mem);
        assert_int_equal(f.live, 0);
    }
    assert_int_equal(status, WNDL_OK);
    dwarfmake_free(&m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(types_of_all_versions),
        cmocka_unit_test(a_name_that_is_nowhere_is_not_found),
        cmocka_unit_test(damage_is_counted),
        cmocka_unit_test(aliases_in_a_circle_end),
        cmocka_unit_test(cut_at_every_byte),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
