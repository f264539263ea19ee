/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "write.h"

#include "sites.h"

#include "pub_tool_libcproc.h"

/* The bits that a value of so many bytes has. */
static ULong mask_of(UInt size)
{
    return size == 8 ? ~(ULong)0 : ((ULong)1 << 8 * size) - 1;
}

static void write_site(const struct site *site, const struct site_sums *sums)
{
    if ((site->flags & SITE_WIDE) != 0) {
        VG_(fprintf)
        (results_file, "wide %lx %u %u %llu %llu %llu\n", site->ip,
            (UInt)site->index, (UInt)site->size, sums->loads, sums->sectors,
            sums->pages);
        return;
    }
    const ULong mask = mask_of(site->size);
    VG_(fprintf)
    (results_file, "load %lx %u %u %llu %llu %llu %llx %llx %llx\n", site->ip,
        (UInt)site->index, (UInt)site->size, sums->loads, sums->sectors,
        sums->pages, site->first & mask, ~site->constant & mask,
        site->signs & mask);
}

static void write_all(Bool is_running)
{
    VG_(fprintf)(results_file, "windlass-mvp 1\n");
    results_put_command();
    VG_(fprintf)(results_file, "pid %d\n", VG_(getpid)());
    if (is_running)
        VG_(fprintf)(results_file, "running\n");
    results_put_code();
    sites_visit(write_site);
    VG_(fprintf)(results_file, "end\n");
}

struct results write_results(void)
{
    return (struct results){"mvp", "--mvp-out-file", opt.out, write_all};
}
