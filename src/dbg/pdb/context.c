/* SPDX-License-Identifier: MIT */
/* context: damage of the file, and names that last. */
#include "dbg/pdb/internal.h"

void wndl_pdb_damage(struct wndl_pdb *pdb, enum wndl_status status,
    const char *section, uint64_t offset, const char *what)
{
    if (pdb->stats.damaged++ != 0)
        return;
    wndl_error_set_file(&pdb->stats.first_damage, pdb->in.path);
    (void)wndl_fail_at(&pdb->stats.first_damage, status, section, offset, what);
}

bool wndl_pdb_intern(
    struct wndl_pdb *pdb, struct wndl_bytes text, struct wndl_bytes *kept)
{
    uint32_t id = 0;
    if (text.size > WNDL_PDB_LONGEST_NAME)
        text.size = WNDL_PDB_LONGEST_NAME;
    if (!wndl_intern_add(&pdb->names, text, &id))
        return false;
    *kept = wndl_intern_get(&pdb->names, id);
    return true;
}
