/* SPDX-License-Identifier: MIT */
/* Every function of windlass/annotate.h, in any C and C++. */
#include <windlass/annotate.h>

static int lock, counter;
static char block[64];

int main(void)
{
    wndl_annotate_lock_create(&lock, sizeof lock);
    wndl_annotate_lock_acquired(&lock, WNDL_LOCK_EXCLUSIVE);
    wndl_annotate_lock_releasing(&lock, WNDL_LOCK_EXCLUSIVE);
    wndl_annotate_lock_acquired(&lock, WNDL_LOCK_SHARED);
    wndl_annotate_lock_releasing(&lock, WNDL_LOCK_SHARED);
    wndl_annotate_lock_destroy(&lock, sizeof lock);
    wndl_annotate_shared(&counter, sizeof counter);
    wndl_annotate_unshared(&counter, sizeof counter);
    wndl_annotate_benign_race(&counter, sizeof counter, "it only counts");
    wndl_annotate_ref_dropping(&counter);
    wndl_annotate_ref_last(&counter);
    wndl_annotate_happens_before(block);
    wndl_annotate_happens_after(block);
    wndl_annotate_happens_forget(block);
    wndl_annotate_pool_create(&lock, 0, false);
    wndl_annotate_pool_alloc(&lock, block, 16);
    wndl_annotate_pool_free(&lock, block);
    wndl_annotate_pool_destroy(&lock);
    wndl_annotate_block_alloc(block + 32, 16, 0, false);
    wndl_annotate_block_free(block + 32, 0);
    wndl_annotate_no_access(block, sizeof block);
    wndl_annotate_undefined(block, sizeof block);
    wndl_annotate_defined(block, sizeof block);
    return block[0] + counter + lock;
}
