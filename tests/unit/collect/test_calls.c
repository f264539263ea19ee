/* SPDX-License-Identifier: MIT */
/*
 * collect/code/calls.h on assembly in this program, and what comes of it:
 * collect/process/callers.h.
 */
#include "collect/code/calls.h"

#include "testlib.h"

#include "collect/process/process.h"
#include "obj/core/object.h"
#include "os/maps.h"
#include "wndl/read.h"

#include <elf.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/*
 * Functions without CFI. Those with a symbol have its size; the others are
 * known by the code that leads to them alone. A label NAME_ra is a return
 * address, NAME_in is in the function's middle.
 */
__asm__(".pushsection .text\n"
        ".macro place name\n"
        ".globl calls_\\name\n"
        ".hidden calls_\\name\n"
        ".set calls_\\name, .\n"
        ".endm\n"
        ".macro function name\n"
        ".type calls_f_\\name, @function\n"
        "calls_f_\\name:\n"
        ".endm\n"
        ".macro ends name\n"
        ".size calls_f_\\name, . - calls_f_\\name\n"
        "int3\n"
        ".endm\n"

        "function callee\n nop\n place callee_in\n nop\n ret\n ends callee\n"
        "function other\n nop\n place other_in\n nop\n ret\n ends other\n"
        ".Lplain: test %edi, %edi\n jne .Lplain_far\n ret\n int3\n"
        ".Lbetween: nop\n place between_in\n nop\n ret\n int3\n"
        ".Lplain_far: nop\n place plain_in\n nop\n ret\n int3\n"
        ".Ltail: test %edi, %edi\n je calls_f_callee\n ret\n int3\n"
        "function tail\n nop\n jmp calls_f_callee\n ends tail\n"
        "function switch\n mov (%rdx,%rax,8), %rax\n jmp *%rax\n"
        " ends switch\n"
        "function method\n mov 8(%rdi), %rax\n jmp *%rax\n ends method\n"
        "function memory\n jmp *8(%rdi)\n ends memory\n"

        "function caller\n"
        " call calls_f_callee\n place direct_ra\n"
        " call .Lplain\n place plain_ra\n"
        " call .Ltail\n place tail_unnamed_ra\n"
        " call calls_f_tail\n place tail_ra\n"
        " call calls_f_switch\n place switch_ra\n"
        " call calls_f_method\n place method_ra\n"
        " call calls_f_memory\n place memory_ra\n"
        " call *%rax\n place register_ra\n"
        " call *16(%rbx)\n place element_ra\n"
        " call *.Lslot(%rip)\n place slot_ra\n"
        " call getppid@plt\n place plt_ra\n"
        " mov $0xe8, %eax\n place no_call_ra\n"
        " ret\n ends caller\n"
        ".popsection\n"
        ".pushsection .data\n .Lslot: .quad 0\n .popsection\n");

#define LABEL(name) extern const char calls_##name[]
LABEL(callee_in);
LABEL(other_in);
LABEL(between_in);
LABEL(plain_in);
LABEL(direct_ra);
LABEL(plain_ra);
LABEL(tail_unnamed_ra);
LABEL(tail_ra);
LABEL(switch_ra);
LABEL(method_ra);
LABEL(memory_ra);
LABEL(register_ra);
LABEL(element_ra);
LABEL(slot_ra);
LABEL(plt_ra);
LABEL(no_call_ra);

extern const char __executable_start[];

static struct wndl_binaries binaries;
static struct wndl_binary *own, *libc;

static bool take_mapping(void *context, const struct wndl_mapping *m)
{
    const struct wndl_binaries_user user = {getpid(), EM_X86_64};
    const uint64_t ours = (uintptr_t)__executable_start;
    const uint64_t theirs = (uintptr_t)&getppid;
    (void)context;
    struct wndl_binary *binary = wndl_binaries_get(&binaries, user, m);
    if (ours >= m->start && ours < m->end)
        own = binary;
    if (theirs >= m->start && theirs < m->end)
        libc = binary;
    return true;
}

static int open_all(void **state)
{
    uint8_t room[64 * 1024];
    (void)state;
    return wndl_binaries_init(&binaries, "", NULL) &&
                   wndl_maps_each("/proc/self/maps",
                       (struct wndl_bytes){room, sizeof room}, take_mapping,
                       NULL) &&
                   own != NULL && libc != NULL
               ? 0
               : -1;
}

static int close_all(void **state)
{
    (void)state;
    wndl_binaries_free(&binaries);
    return 0;
}

static struct wndl_call_place place_of(const char *label)
{
    return (struct wndl_call_place){
        own, own->start + (uint64_t)(label - __executable_start)};
}

static bool leads(const char *ra, const char *to)
{
    const struct wndl_call_step step = {place_of(ra), place_of(to)};
    const bool answer = wndl_calls_lead(&binaries, &step);
    assert_true(wndl_calls_lead(&binaries, &step) == answer); /* kept */
    return answer;
}

static bool leads_only(const char *ra, const char *to, const char *elsewhere)
{
    return leads(ra, to) && !leads(ra, elsewhere);
}

static void a_direct_call_leads_to_its_function_only(void **state)
{
    (void)state;
    assert_true(leads_only(calls_direct_ra, calls_callee_in, calls_other_in));
    assert_false(leads(calls_direct_ra, calls_plain_in));
}

/* Where neither symbol nor CFI says where it ends, its branches do. */
static void a_function_without_a_name_is_what_its_code_reaches(void **state)
{
    (void)state;
    assert_true(leads_only(calls_plain_ra, calls_plain_in, calls_between_in));
    assert_false(leads(calls_plain_ra, calls_other_in));
}

static void jumps_lead_on(void **state)
{
    (void)state;
    assert_true(leads_only(calls_tail_ra, calls_callee_in, calls_other_in));
    assert_true(
        leads_only(calls_tail_unnamed_ra, calls_callee_in, calls_other_in));
}

static bool leads_by_variable(const char *ra)
{
    return leads(ra, calls_callee_in) && leads(ra, calls_between_in);
}

static void a_variable_may_lead_anywhere(void **state)
{
    (void)state;
    assert_true(leads_by_variable(calls_register_ra));
    assert_true(leads_by_variable(calls_element_ra));
    assert_true(leads_by_variable(calls_slot_ra));
    assert_true(leads_by_variable(calls_method_ra));
    assert_true(leads_by_variable(calls_memory_ra));
}

static void a_switch_stays_in_its_function(void **state)
{
    (void)state;
    assert_false(leads(calls_switch_ra, calls_callee_in));
}

static void a_stub_leads_to_the_function_of_its_name(void **state)
{
    struct wndl_call_step step = {.to = place_of(calls_plt_ra)};
    const struct wndl_symbol *all;
    size_t count = 0;
    struct wndl_file file;
    struct wndl_object *object;
    (void)state;
    assert_true(wndl_binary_open_again(libc, &file));
    assert_int_equal(
        wndl_object_open(file.bytes, "libc", wndl_mem_libc(), &object, NULL),
        WNDL_OK);
    assert_int_equal(
        wndl_object_functions(object, &all, &count, NULL), WNDL_OK);
    unsigned right = 0;
    for (size_t i = 0; i < count; i++) {
        step.from = (struct wndl_call_place){libc, all[i].addr.v};
        if (wndl_bytes_is(all[i].name, "getppid"))
            right += wndl_calls_lead(&binaries, &step);
        if (wndl_bytes_is(all[i].name, "qsort"))
            assert_false(wndl_calls_lead(&binaries, &step));
    }
    assert_int_equal(right, 1);
    wndl_object_close(object);
    wndl_file_close(&file);
}

static void what_is_in_no_file_is_not_known(void **state)
{
    struct wndl_call_step step = {
        .to = place_of(calls_direct_ra), .from = {NULL, 0x1000}};
    (void)state;
    assert_false(wndl_calls_lead(&binaries, &step));
    step.to = place_of(calls_register_ra);
    assert_true(wndl_calls_lead(&binaries, &step));
    step.from = place_of(calls_callee_in);
    step.to.binary = NULL;
    assert_false(wndl_calls_lead(&binaries, &step));
    assert_false(leads(calls_no_call_ra, calls_callee_in));
}

/* ---- the stacks of a process */

struct bench {
    char path[32];
    int fd;
    struct wndl_recording recording;
    struct wndl_collector_totals totals;
    struct wndl_collector_process *process;
};

static void put_module(struct wndl_shm *shm)
{
    struct wndl_shm_module *row = &shm->modules[0];
    *row = (struct wndl_shm_module){.start = (uintptr_t)__executable_start,
        .end = (uintptr_t)__executable_start + (own->end - own->start),
        .path_size = (uint32_t)strlen(own->path),
        .build_id_size = (uint8_t)own->build_id.size};
    memcpy(shm->strings, own->path, strlen(own->path));
    if (own->build_id.size != 0)
        memcpy(row->build_id, own->build_id.data, own->build_id.size);
    atomic_store(&shm->module_count, 1);
    atomic_store(&row->mapped, 1);
    atomic_store(&row->ready, 1);
}

static void set_up(struct bench *b)
{
    char command[] = "test";
    char *list[] = {command, NULL};
    const struct wndl_recording_meta meta = {
        .interval = 1000000, .engine = WNDL_ENGINE_PERF, .command = list};
    const struct wndl_collector_heap_request none = {0};
    int memfd = -1;
    *b = (struct bench){.path = "/tmp/wndl-calls-XXXXXX"};
    b->fd = mkstemp(b->path);
    assert_true(b->fd >= 0);
    wndl_recording_open(&b->recording, b->fd, &meta);
    const struct wndl_recording_process origin = {
        .pid = (uint32_t)getpid(), .time = b->recording.time_base};
    b->process = wndl_collector_process_new(
        &b->recording, &b->totals, &origin, &none, &memfd);
    assert_non_null(b->process);
    b->process->binaries = &binaries;
    b->process->machine = EM_X86_64;
    wndl_collector_process_announce(b->process, &origin);
    put_module(b->process->shm);
    close(memfd);
}

static uint32_t insert(struct bench *b, uint32_t parent, const char *label,
    unsigned how, bool interrupted)
{
    const uint64_t key = (uint64_t)(uintptr_t)label |
                         (uint64_t)interrupted << WNDL_KEY_INTERRUPTED_SHIFT |
                         (uint64_t)how << WNDL_KEY_HOW_SHIFT |
                         UINT64_C(1) << WNDL_KEY_OWNER_SHIFT;
    return wndl_stacktree_insert(
        (struct wndl_stacktree *)b->process->shm->tree, parent, key);
}

static void put(struct bench *b, struct wndl_event event)
{
    uint8_t bytes[WNDL_EVENT_MAX];
    const size_t size = wndl_event_put(bytes, &event);
    atomic_fetch_or(&b->process->shm->ring_used[0], 1);
    assert_true(wndl_ring_put(&b->process->shm->rings[0], bytes, size));
}

static void put_sample(struct bench *b, uint32_t node)
{
    put(b, (struct wndl_event){.kind = WNDL_EVENT_SAMPLE,
               .node = node,
               .time = 500,
               .end = WNDL_END_COMPLETE});
}

static void read_back(struct bench *b, struct wndl_profile *profile)
{
    const struct wndl_recording_done done = {.processes = 1};
    struct wndl_file file;
    wndl_collector_process_drain(b->process, false);
    wndl_collector_process_end(b->process, WNDL_ENDED_EXIT);
    wndl_collector_process_free(b->process);
    assert_int_equal(wndl_recording_close(&b->recording, &done, NULL), WNDL_OK);
    wndl_recording_free(&b->recording);
    close(b->fd);
    assert_true(wndl_profile_init(profile, wndl_mem_libc()));
    assert_int_equal(wndl_file_open(b->path, &file, NULL), WNDL_OK);
    assert_int_equal(wndl_reader_read(profile, file.bytes, NULL), WNDL_OK);
    wndl_file_close(&file);
    unlink(b->path);
}

/* How the frame `back` callers from the sample's leaf was found. */
static unsigned how_at(
    const struct wndl_profile *p, const struct wndl_sample *s, unsigned back)
{
    const struct wndl_node *node = wndl_vec_at(&p->nodes, s->node);
    while (back-- > 0)
        node = wndl_vec_at(&p->nodes, node->parent);
    return ((const struct wndl_frame_key *)wndl_vec_at(&p->frames, node->frame))
        ->how;
}

/*
 * A caller that is right for one callee and false for another; and a stack in
 * which a guess is further out.
 */
static void a_stack_is_complete_if_its_guesses_were_checked(void **state)
{
    struct bench b;
    struct wndl_profile p;
    (void)state;
    set_up(&b);
    const uint32_t root = insert(&b, 0, calls_register_ra, WNDL_HOW_CFI, false);
    const uint32_t caller =
        insert(&b, root, calls_direct_ra, WNDL_HOW_FP, false);
    const uint32_t right = insert(&b, caller, calls_callee_in, 0, true);
    const uint32_t wrong = insert(&b, caller, calls_other_in, 0, true);
    const uint32_t deep = insert(&b, wrong, calls_tail_ra, WNDL_HOW_FP, false);
    const uint32_t leaf = insert(&b, deep, calls_callee_in, 0, true);
    put(&b, (struct wndl_event){.kind = WNDL_EVENT_THREAD,
                .tid = 1,
                .time = b.recording.time_base + 1000});
    put_sample(&b, right);
    put_sample(&b, wrong);
    put_sample(&b, leaf);
    read_back(&b, &p);
    assert_int_equal(p.samples.len, 3);
    const struct wndl_sample *s = wndl_vec_at(&p.samples, 0);
    assert_int_equal(s[0].end, WNDL_END_COMPLETE);
    assert_int_equal(how_at(&p, &s[0], 1), WNDL_HOW_CHECKED);
    assert_int_equal(how_at(&p, &s[0], 2), WNDL_HOW_CFI);
    assert_int_equal(s[1].end, WNDL_END_FP_ROOT);
    assert_int_equal(how_at(&p, &s[1], 1), WNDL_HOW_FP);
    assert_int_equal(s[2].end, WNDL_END_FP_ROOT);
    assert_int_equal(how_at(&p, &s[2], 1), WNDL_HOW_CHECKED);
    assert_int_equal(how_at(&p, &s[2], 3), WNDL_HOW_FP);
    assert_int_equal(b.totals.ends[WNDL_END_COMPLETE], 1);
    assert_int_equal(b.totals.ends[WNDL_END_FP_ROOT], 2);
    wndl_profile_free(&p);
}

/* Walks of other address spaces: threads that are blocked, windlass stack. */
static struct wndl_call_place find_place(void *context, uint64_t address)
{
    (void)context;
    return (struct wndl_call_place){
        own, own->start + (address - (uintptr_t)__executable_start)};
}

static void a_walk_of_another_process_is_checked_too(void **state)
{
    struct wndl_frame frames[] = {
        {.address = (uintptr_t)calls_callee_in & ((UINT64_C(1) << 48) - 1),
            .interrupted = true},
        {.address = (uintptr_t)calls_direct_ra & ((UINT64_C(1) << 48) - 1),
            .how = WNDL_HOW_FP},
        {.address = (uintptr_t)calls_tail_ra & ((UINT64_C(1) << 48) - 1),
            .how = WNDL_HOW_FP},
        {.address = (uintptr_t)calls_register_ra & ((UINT64_C(1) << 48) - 1),
            .how = WNDL_HOW_SCAN}};
    struct wndl_walk walk = {.frames = frames, .max_frames = 4, .count = 4};
    const struct wndl_call_places places = {find_place, NULL};
    (void)state;
    wndl_calls_check_walk(&binaries, &places, &walk);
    assert_int_equal(frames[1].how, WNDL_HOW_CHECKED);
    assert_int_equal(frames[2].how, WNDL_HOW_FP);
    assert_int_equal(frames[3].how, WNDL_HOW_SCAN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_direct_call_leads_to_its_function_only),
        cmocka_unit_test(a_function_without_a_name_is_what_its_code_reaches),
        cmocka_unit_test(jumps_lead_on),
        cmocka_unit_test(a_variable_may_lead_anywhere),
        cmocka_unit_test(a_switch_stays_in_its_function),
        cmocka_unit_test(a_stub_leads_to_the_function_of_its_name),
        cmocka_unit_test(what_is_in_no_file_is_not_known),
        cmocka_unit_test(a_stack_is_complete_if_its_guesses_were_checked),
        cmocka_unit_test(a_walk_of_another_process_is_checked_too),
    };
    return cmocka_run_group_tests(tests, open_all, close_all);
}
