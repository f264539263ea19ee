/* SPDX-License-Identifier: MIT */
/*
 * Entries of .ARM.exidx refer to their personality routines, that linkers bring
 * them along; unwinders take their own, by number. Without these here the
 * runtime would need libgcc_s.
 */
void __aeabi_unwind_cpp_pr0(void);
void __aeabi_unwind_cpp_pr1(void);

void __aeabi_unwind_cpp_pr0(void)
{
}

void __aeabi_unwind_cpp_pr1(void)
{
}
