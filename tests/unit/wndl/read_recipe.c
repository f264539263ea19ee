/* SPDX-License-Identifier: MIT */
#include "read_recipe.h"

#include "recipe.h"
#include "wndl/read.h"

#include <stdio.h>

const char golden[] = "meta 1000000 2 1 box /home/me app -x\n"
                      "process 0 100 /bin/app app -x\n"
                      "image /bin/app a1b2c3\n"
                      "image /lib/libc.so.6 -\n"
                      "map 0 0 555000 556000 555000\n"
                      "thread 0 100 app\n"
                      "sample 0 2 0 0:10 1:20 0:30!\n"
                      "process 1 101 /bin/kid kid a b\n"
                      "thread 1 101 kid\n"
                      "rename 1 kid_worker\n"
                      "sample 1 1 1 0:10 1:20\n"
                      "sample 1 1 2 0:10 -:7fff0!\n"
                      "sample 1 1 0\n"
                      "chunk XTRA hello\n"
                      "exit 1 1 1 5 6 2 99 1\n"
                      "exit 0 1 1 1\n"
                      "done 3 1\n";

const char golden_11[] = "limits 300 10000000\n"
                         "meta 1000000 1 7 box /home/me app\n"
                         "process 0 100 /bin/app app\n"
                         "process 1 101 /bin/kid kid\n"
                         "image /bin/app a1b2c3\n"
                         "image /lib/libc.so.6 -\n"
                         "thread 0 100 app\n"
                         "thread 0 102 io\n"
                         "thread 1 101 kid\n"
                         "pause 1\n"
                         "wait 2000000\n"
                         "pause 0\n"
                         "sample 0 2 0 0:10 0:20!\n"
                         "block 1 2 30000000 0 0 0:10 1:70\n"
                         "block 1 1 400000 1 0\n"
                         "block 2 1 5000000 0 1 0:10 -:7f00\n"
                         "mark 0 0 0 frame_1\n"
                         "mark 2 1500 1 too_late\n"
                         "unfollowed 2 103 4 /usr/bin/go go run x\n"
                         "unfollowed 0 104 99 /bin/?\n"
                         "ended 1 777\n"
                         "wait 1000000\n"
                         "exit 1 1\n"
                         "pause 1\n"
                         "wait 1000000\n"
                         "done 0 3 44 5\n";

struct wndl_buf cook(const char *recipe)
{
    struct wndl_buf file;
    wndl_buf_init(&file, wndl_mem_libc());
    assert_true(recipe_cook(recipe, &file));
    return file;
}

struct wndl_bytes content(const struct wndl_buf *buf)
{
    return (struct wndl_bytes){buf->data, buf->size};
}

void read_recipe(const char *recipe, struct wndl_profile *p)
{
    struct wndl_buf file = cook(recipe);
    assert_true(wndl_profile_init(p, wndl_mem_libc()));
    assert_int_equal(wndl_reader_read(p, content(&file), NULL), WNDL_OK);
    wndl_buf_free(&file);
}

void spell_stack(
    const struct wndl_profile *p, uint32_t node, char *text, size_t size)
{
    text[0] = '\0';
    while (node != 0) {
        const struct wndl_node *n = wndl_vec_at(&p->nodes, node);
        const struct wndl_frame_key *f = wndl_vec_at(&p->frames, n->frame);
        size_t used = strlen(text);
        snprintf(text + used, size - used, "%s%d:%llx%s", used ? " " : "",
            (int)f->image, (unsigned long long)f->address,
            f->exact == WNDL_EXACT_INTERRUPTED ? "!" : "");
        assert_true(n->parent < node);
        node = n->parent;
    }
}

const struct wndl_sample *sample_at(const struct wndl_profile *p, size_t i)
{
    return wndl_vec_at(&p->samples, i);
}

const struct wndl_block *block_at(const struct wndl_profile *p, size_t i)
{
    return wndl_vec_at(&p->blocks, i);
}
